"""Rules of LEDES codes and narratives that can't be checked."""

from __future__ import annotations

from billframes._shared.notes import Rule

UNCHECKED_ITEMS = Rule(
    name="unchecked_items",
    seen="{n} {kind} were not checked, because their matters were not {passed} or have no LEDES configuration.",
    remedy="Load all matters, with select='ledesConfiguration'.",
    page="Look for their matters in the billing system: they may have been deleted.",
    unit="items",
)
UNKNOWN_SETS = Rule(
    name="unknown_code_sets",
    seen="Matters have code sets that don't exist: {sets} (for example the `matter_id` {example}). Codes of these "
    "sets count as outside the matter's code sets or as unknown.",
    remedy="Choose existing code sets for these matters in the billing system.",
    page="Choose existing code sets for these matters in the billing system.",
    unit="code sets",
)
UNCHECKED_CODES = Rule(
    name="unchecked_codes",
    seen="{subject}: codes were not checked, because `matters`= was not passed; the matters say which codes are "
    "required.",
    remedy="Pass `matters`= (the loader matters()).",
    unit="items",
)
NO_GUIDELINES = Rule(
    name="no_guidelines",
    seen="Nothing was checked of {n:invoice|invoices} {invoices}: no guideline file is for the client, the matters and "
    "the days of this work.",
    remedy="Guidelines.files lists the guidelines that were read.",
    unit="invoices",
)
NOT_JUDGED = Rule(
    name="not_judged",
    seen="{n} of {total} narratives were not judged: {kinds}.{more}",
    page="Read these narratives before they are sent.",
    unit="narratives",
)
