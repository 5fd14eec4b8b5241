"""Notes of open work: items whose invoice was not passed, work of unknown type, and entries without an amount."""

from __future__ import annotations

from collections.abc import Callable, Collection

import narwhals.stable.v2 as nw

from billframes._shared.names import first_few, join_names
from billframes.analysis.data.call import Call
from billframes.analysis.data.engine import collect, collect_counts, collect_values, to_dicts
from billframes.analysis.data.expressions import C, as_float
from billframes.analysis.declare.columns import ITEMS, UNKNOWN, Frame
from billframes.analysis.facts.work import is_of_unknown_matter_type
from billframes.analysis.keys.groupby import Keys, Sum, Totals
from billframes.analysis.rules.amounts import HIDDEN_RATES, UNPRICED
from billframes.analysis.rules.details import note_details
from billframes.analysis.rules.invoices import ABSENT_WORK, UNKNOWN_INVOICE
from billframes.analysis.rules.people import UNKNOWN_TYPE

_KINDS = {"time_entries": "time", "expenses": "expense", "fixed_fees": "fixed_fee"}
_ONE = nw.lit(1.0)


def open_marks() -> list[Sum]:
    """Return the counts that work in progress notes; the rows have the columns that `wip` adds."""
    unknown = C("billing") == "unknown"
    return [
        *(Sum(f"_unknown_{name}", _ONE, unknown & (C("kind") == kind)) for name, kind in _KINDS.items()),
        Sum("_unpriced", _ONE, C("unpriced")),
        Sum("_untyped", _ONE, is_of_unknown_matter_type()),
    ]


def has_any_amount(call: Call) -> bool:
    """Tell whether any billable entry, whatever its date, has an amount: if none has, rates are hidden."""
    entries = call.select("time_entries", ("billing_type", "amount"))
    priced = {"rows": as_float((C("billing_type") == "billable") & ~C("amount").is_null()).sum()}
    key = "any amount", call.frames_key
    return bool(call.data.once(key, lambda: collect_counts((entries, priced))["rows"]))


def note_open_work(
    call: Call, keys: Keys, select: Callable[..., Frame], totals: Totals, types: Collection[str] | None
) -> None:
    """Note missing, hidden and unknown amounts; `select` returns the rows of `wip`, with more columns if asked."""
    rows = select()
    absent = [f"`{name}`" for name in ITEMS if name not in call]
    call.notes.add(ABSENT_WORK, len(absent), absent=join_names(absent))
    _note_unknown_invoices(call, rows, totals)
    # `stale` asks for every type, to show work on contingency apart.
    types = None if call.is_inner else types
    if (types is None or UNKNOWN not in types) and {"matter_id", "matter_type"} <= call.columns("matters"):
        words = {"one": "item in progress", "several": "items in progress"}
        words["counted"] = "counted, and may be on contingency" if types is None else "not counted"
        call.notes.add(UNKNOWN_TYPE, totals.total("_untyped") + totals.ungrouped, **words)
    if unpriced := totals.total("_unpriced"):
        if has_any_amount(call):
            _note_unpriced(call, select)
        else:
            so = "amounts that include them are missing"
            call.notes.add(HIDDEN_RATES, unpriced, which=" in progress", consequence=so)
    note_details(keys, rows, dict.fromkeys(("expenses", "fixed_fees"), "amount") | {"time_entries": "charged"})


def _note_unknown_invoices(call: Call, rows: Frame, totals: Totals) -> None:
    counts = {name: totals.total(f"_unknown_{name}") for name in _KINDS}
    unknown = {name: f"{int(count)} `{name}`" for name, count in counts.items() if count}
    if not unknown:
        return
    of_first = rows.filter((C("billing") == "unknown") & (C("kind") == _KINDS[next(iter(unknown))]))
    # An id such as '' or '1.0' shows the cause.
    example = collect_values((of_first, {"id": C("invoice_id").cast(nw.String).min()}))["id"]
    reasons = f" (for example `invoice_id` {example!r})" if example is not None else ""
    reasons += ", or whose state is unknown" if call.unknown_values("invoices", "invoice_state") else ""
    reasons += ", or are of unknown billing type" if call.unknown_values("time_entries", "billing_type") else ""
    words = {"items": ", ".join(unknown.values()), "reasons": reasons}
    call.notes.add(UNKNOWN_INVOICE, sum(counts.values()), consequence="counted in `unknown_amount`", **words)


def _note_unpriced(call: Call, select: Callable[..., Frame]) -> None:
    own = [each for each in ("time_entry_id",) if each in call.columns("time_entries")]
    unpriced = to_dicts(collect(select(*own).filter(C("unpriced")).select(*own, "hours")))
    ids = sorted(str(each["time_entry_id"]) for each in unpriced if each.get("time_entry_id") is not None)
    named = f" (`time_entry_id` {first_few(ids)})" if ids else ""
    call.notes.add(UNPRICED, len(unpriced), ids=named, hours=sum(each["hours"] for each in unpriced))
