"""The week: one page for each timekeeper and responsible lawyer, and one for the firm, also as e-mails ready to send.

All hours are closed on the last working day before a date. A week begins after the last working day of the
week before, so that work at weekends counts in one week. `firm_week` has the figures, which are those of the analyses;
`page` writes them as HTML for mail programs and as text, `command` as files. A person's page has only that person's
hours and the open work of that person's own matters, and no narratives. Nothing is sent.
"""
