"""Note missing, hidden and unknown amounts of billed work."""

from __future__ import annotations

import narwhals.stable.v2 as nw

from billframes.analysis.declare.columns import Frame
from billframes.analysis.frames.engine import collect_counts
from billframes.analysis.frames.expressions import value_if
from billframes.analysis.frames.frames import Frames
from billframes.analysis.model.arguments import MATTER_TYPES
from billframes.analysis.model.billed_work_choice import UNDATED, UNSPREAD, BilledWork, has_mark
from billframes.analysis.model.keys import UNKNOWN
from billframes.analysis.model.missing_work import (
    count_on_unknown_invoices,
    count_work_not_passed,
    note_unknown_invoices,
    note_work_not_passed,
)
from billframes.analysis.rules.amounts import HIDDEN_RATES, note_high_rates
from billframes.analysis.rules.cancelled_work import count_cancelled, note_cancelled
from billframes.analysis.rules.invoices import HIDDEN_BESIDE_FEES, NO_DUE_DATE_OF_WORK
from billframes.analysis.rules.loads import is_whole
from billframes.analysis.rules.people import UNKNOWN_TYPE

__all__ = ["note_billed_work"]

C = nw.col


def note_billed_work(frames: Frames, work: Frame, invoices: Frame, of: BilledWork) -> None:
    """Note missing, hidden and unknown amounts, with all counts in one query."""
    queries = [(work, _counts(of))]
    for n, period in enumerate(of.periods):
        rows, counted = count_work_not_passed(invoices, of.counts(period))
        counted |= count_cancelled(of.counts(period))
        if of.basis == "invoice_date":
            counted["on_unknown"] = count_on_unknown_invoices(invoices, period)
        queries.append((rows, {f"{n} {name}": each for name, each in counted.items()}))
    found, notes, settings = collect_counts(*queries), frames.notes, of.grouping.settings
    if "priced" in found:
        note_high_rates(notes, "standard", settings.standard_rates, found["priced"], found["hours"])
    for n in range(len(of.periods)):
        counts = {name.removeprefix(f"{n} "): each for name, each in found.items() if name.startswith(f"{n} ")}
        note_unknown_invoices(frames, counts.get("on_unknown", 0.0))
        whole = is_whole(frames.natives)
        note_work_not_passed(notes, counts, rows, taxed=bool(settings.taxes), whole=whole)
        note_cancelled(notes, counts, of.grouping.base)
    if not of.typed:
        so = "the fees of their invoices are allocated by hours, and the value of the time is missing"
        notes.add(HIDDEN_RATES, found["hidden"], which="", consequence=so)
        return
    note_unknown_invoices(frames, found["unknown"], "counted in `unknown_amount`")
    so = "the value of time and realization are missing in the rows in which they count"
    notes.add(HIDDEN_RATES, found["hidden"], which="", consequence=so)
    types = of.matter_types
    if types is None or not types >= frozenset(MATTER_TYPES):
        words = {"one": "time entry", "several": "time entries"}
        words["counted"] = "counted" if types is None or UNKNOWN in types else "left out"
        notes.add(UNKNOWN_TYPE, found["unknown_type"], **words)
    if not frames.unknown_values("invoices", "due_date"):
        notes.add(NO_DUE_DATE_OF_WORK, found["undated"])
    notes.add(HIDDEN_BESIDE_FEES, found["unspread"])


def _counts(of: BilledWork) -> dict[str, nw.Expr]:
    """Return the counts of rows for the notes."""
    counts = {"hidden": C("_hidden").sum()}
    if not of.typed:
        return counts
    final, rows = C("_state") == "final", C("_rows")
    counts["unknown"] = value_if(C("_state") == "unknown", rows).sum()
    counts["unknown_type"] = value_if(C("_type") == UNKNOWN, rows).sum()
    counts["undated"] = value_if(final & has_mark(UNDATED), rows).sum()
    counts["unspread"] = value_if(final & has_mark(UNSPREAD), rows).sum()
    if of.grouping.settings.standard_rates:
        priced = (C("_hidden") == 0) & (C("worth") != 0)
        counts |= {name: value_if(priced, column).sum() for name, column in (("priced", "worth"), ("hours", "hours"))}
    return counts
