"""The special words of the analyses, each defined once: `bf.explain("worth")`, `bf.explain("glossary")`."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

from billframes.analysis.explanation import as_html, definition_list

__all__ = ["GLOSSARY", "Glossary", "Term", "term"]

_WIDTH = 100


@dataclass(frozen=True, slots=True, repr=False)
class Term:
    """
    One special word.

    Parameters
    ----------
    name : str
        The word, such as "worth".
    meaning : str
        What it means, one to three sentences.
    also : tuple of str
        Other words for the same.
    """

    name: str
    meaning: str
    also: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return "\n".join([self.name.capitalize(), *textwrap.wrap(self.meaning, _WIDTH, initial_indent="  ",
                                                                 subsequent_indent="  ")])  # fmt: skip

    def _repr_markdown_(self) -> str:
        return f"**{self.name.capitalize()}**: {self.meaning}"

    def _repr_html_(self) -> str:
        return f"<p><strong>{as_html(self.name.capitalize())}</strong>: {as_html(self.meaning)}</p>"


class Glossary(tuple[Term, ...]):
    """All special words, in alphabetical order."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self))

    def _repr_markdown_(self) -> str:
        return "\n".join(f"- {each._repr_markdown_()}" for each in self)

    def _repr_html_(self) -> str:
        return definition_list({each.name: (each.meaning,) for each in self})


def term(name: str) -> Term | None:
    """
    Look a word up, whatever its case, spaces and hyphens; None if it is not in the glossary.

    Examples
    --------
    >>> term("Lock up").name
    'lock-up'
    """
    return _BY_NAME.get(_plain(name))


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).lower()


_TERMS = (
    Term(
        "available hours",
        "The hours a person could work: working days × hours a day, less leave and days not in the firm. In results, "
        "`capacity_hours`.",
        ("capacity",),
    ),
    Term("aging", "Sorting amounts by the days since they were due, or since the work was done, into buckets."),
    Term("basis", "The date that puts a figure into a period: the invoice's date, or the date of the work."),
    Term(
        "fees billed",
        "What time was billed at: net billed time fees; `billed_amount`. Of fixed fees and expenses, billed is their "
        "amount.",
        ("billed",),
    ),
    Term("budget", "The fees that a matter may cost, as the firm's settings give it."),
    Term("bucket", "A range of days by which amounts are sorted, such as `31-60`, both ends inclusive."),
    Term(
        "client hours",
        "Hours worked for clients: billable and fixed-fee time, except on internal matters. Pro bono time counts on "
        "request.",
    ),
    Term("contingency", "A matter whose fee depends on its outcome, so its hourly worth is not what will be billed."),
    Term("cost rate", "What an hour of a person costs the firm, as its settings give it."),
    Term("credit note", "A final invoice of a negative amount. It usually has no items, so it belongs to no matter."),
    Term("current", "Not past due. An invoice due today is current."),
    Term(
        "due",
        "An invoice whose due date is on or before the day asked for. Only invoices that are due can be expected to be "
        "settled.",
    ),
    Term("effective rate", "What an hour brought: fees billed ÷ hours."),
    Term(
        "all fees",
        "Net billed time fees and fixed fees on final invoices; `fees_amount`. Expenses are not fees.",
        ("fees",),
    ),
    Term(
        "fees worked",
        "Worth of the billable time dated in a period, invoiced or not; `cohort_amount`. It covers other work than the "
        "worth of billed work of the same period.",
        ("cohort", "all worked"),
    ),
    Term("final", "Of an invoice: sent. Only final invoices are owed and count as billed."),
    Term(
        "fixed fee",
        "An agreed amount for work. Time under it has hours and no worth of its own, as its fee carries it.",
    ),
    Term(
        "idle hours",
        "Available hours of people on the roster who have no entry at all in the period; they may have left.",
    ),
    Term("item", "What an invoice bills: a time entry, an expense or a fixed fee."),
    Term("lag", "Days that pass from the work to its entry, or to its invoice."),
    Term("left out", "What a figure does not count on purpose. It is shown in columns of its own."),
    Term("leverage", "Client hours, or heads, of non-principals for each of principals."),
    Term(
        "lock-up",
        "Days of fees tied up in work in progress and receivables: how long the firm finances its clients.",
    ),
    Term(
        "mixed",
        "Of an invoice: it bills both time and fixed fees. Its whole discount falls on time, unless `discounts` says "
        "that it falls on fixed fees too.",
    ),
    Term(
        "net billed time fees",
        "An invoice's amount less its expenses and fixed fees, spread over its billable time entries in proportion to "
        "their worth, or to their hours if rates are hidden.",
    ),
    Term("originator", "Who brought a matter to the firm and is credited with its fees.", ("origination",)),
    Term("overdue", "At least one day past the due date."),
    Term("pace", "Client hours ÷ target hours, for people who have a target."),
    Term(
        "prebill",
        "A draft invoice, or one in review or approved: not sent yet. Work on it is not billed, although the billing "
        "system calls it billed.",
        ("on prebills",),
    ),
    Term(
        "realization",
        "Fees billed ÷ worth of billed work: how much of what the work is worth was charged.",
        ("billing realization",),
    ),
    Term("receivables", "Open balances of final invoices: what clients owe."),
    Term("responsible", "The lawyer who answers for a matter, whoever works on it.", ("responsible lawyer",)),
    Term(
        "roster",
        "The people whose available hours count: principals, attorneys, paralegals and timekeepers, and anyone else "
        "with client hours.",
    ),
    Term(
        "settled",
        "No longer open: amount less balance. The billing system does not tell payments from credits and write-offs, "
        "so settled is not the same as collected.",
        ("settlement",),
    ),
    Term("standard rate", "The firm's own rate of a person, as its settings give it; the billing system has none."),
    Term("target", "Client hours that a person should reach in a month or a year, prorated by working days."),
    Term("timekeeper", "Whoever enters time: a principal, attorney, paralegal or timekeeper by role."),
    Term(
        "unassigned", "The row of what has no such key, such as a fee without a user. It is kept, so that rows add up."
    ),
    Term("unbilled", "On no invoice at all."),
    Term(
        "unknown",
        "Of an invoice or a type: not among the frames passed, so its state cannot be told. It is counted apart and "
        "warned of.",
    ),
    Term(
        "unpriced",
        "Billable time without an amount while other entries show theirs: it has hours, and no money counts it.",
    ),
    Term("utilization", "Client hours ÷ available hours."),
    Term(
        "work in progress",
        "Time, expenses and fixed fees that are not on a final invoice yet, at their worth.",
        ("wip",),
    ),
    Term(
        "worth",
        "What a time entry would bring at its own rate: hours × rate, the entry's amount before any discount. Of "
        "expenses and fixed fees, their amount.",
    ),
    Term(
        "worth of billed work",
        "Worth of the billable time on the final invoices counted, whenever it was done; `worked_amount`. Fees billed "
        "are compared with it.",
        ("worked",),
    ),
    Term(
        "write-down",
        "Worth of billed work − fees billed. Negative is a write-up.",
        ("written down", "write-up", "discount"),
    ),
)

GLOSSARY = Glossary(sorted(_TERMS, key=lambda each: each.name))
"""Every special word."""

_BY_NAME = {_plain(name): each for each in GLOSSARY for name in (each.name, *each.also)}
