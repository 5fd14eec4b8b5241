"""Check the codes of items as `code_check` does, with what the profile requires."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from billframes.analysis.sheets.code_check import code_check
from billframes.ebilling.bill_lines import Bill, Line
from billframes.ebilling.findings import Finding
from billframes.ebilling.profile import LedesProfile
from billframes.ebilling.source import CODES, KINDS, OPEN_STATES, BillItem, BillSource
from billframes.schema.records import LEDES_CODES

CODE_FIELDS = {"task_code": 15, "expense_code": 16, "activity_code": 17}
_TAKE_OFF = " It is on an invoice that is not final: take it off first, because billed items can't be changed."


def needs_code(item: BillItem, source: BillSource, profile: LedesProfile) -> bool:
    """Tell whether the matter or the client requires a code of an item."""
    matter = source.matters.get(item.matter_id or "", {})
    enabled = matter.get("ledes_enabled") is True
    return any(
        kind in profile.require or (enabled and matter[flag] is True)
        for kind, flag in (LEDES_CODES[name] for name in CODES[item.kind])
    )


def code_findings(
    bills: Sequence[Bill],
    lines: Sequence[tuple[Bill, Line]],
    source: BillSource,
    profile: LedesProfile,
    *,
    of_bills: bool,
) -> Iterator[Finding]:
    """Check codes as `code_check` does, also of items without an amount, and report those that could not be read."""
    items = {line.item.id: (bill, line.item) for bill, line in lines if line.item is not None}
    items |= {item.id: (bill, item) for bill in bills for item in bill.unpriced}
    for bill, item in items.values():
        if not item.has_codes and (of_bills or needs_code(item, source, profile)):
            number = 16 if item.kind == "expense" else 15
            fix = "Pass client=, or a book: codes of expenses and fixed fees are read one by one."
            yield _item_finding(bill, item, number, "its code is not known: the API's lists have none", "", fix)
    checked = [item for _, item in items.values() if item.has_codes and item.matter_id in source.matters]
    if not checked:
        return
    tables = {kind: _table(kind, [item for item in checked if item.kind == kind]) for kind in KINDS}
    found = code_check(
        tables["time_entry"],
        expenses=tables["expense"],
        fixed_fees=tables["fixed_fee"],
        matters=_code_settings({item.matter_id for item in checked}, source, profile),
        codes=_codes(source),
    )
    for row in found.to_pylist():
        bill, item = items[row["item_id"]]
        fix = "Add the code." if row["problem"] == "missing" else "Choose a code from the matter's code sets."
        yield _item_finding(bill, item, CODE_FIELDS[row["field"]], row["problem"], row["code"] or "", fix)


def _item_finding(bill: Bill, item: BillItem, number: int, problem: str, value: str, fix: str) -> Finding:
    is_open = bill.invoice is None or bill.invoice["invoice_state"] in OPEN_STATES
    fix += _TAKE_OFF if item.invoice_id is not None and is_open else ""
    return bill.rejection(number, problem, value, fix, item)


def _table(kind: str, items: Sequence[BillItem]) -> pa.Table:
    columns = {f"{kind}_id": [item.id for item in items], "matter_id": [item.matter_id for item in items]}
    columns |= {name: [getattr(item, name) for item in items] for name in CODES[kind]}
    arrays = {name: pa.array(values, pa.string()) for name, values in columns.items()}
    return pa.table({**arrays, "date": pa.array([item.date for item in items], pa.timestamp("us"))})


def _code_settings(matter_ids: Iterable[str | None], source: BillSource, profile: LedesProfile) -> pa.Table:
    """Return the matters' settings for codes, and require those that the profile requires, too."""
    rows = [source.matters[each] for each in matter_ids if each is not None]
    required = {LEDES_CODES[f"{kind}_code"][1] for kind in profile.require}
    table = {"matter_id": pa.array([row["matter_id"] for row in rows], pa.string())}
    enabled = [row["ledes_enabled"] is True or bool(required) for row in rows]
    table["ledes_enabled"] = pa.array(enabled, pa.bool_())
    for _, name in LEDES_CODES.values():
        table[name] = pa.array([name in required or row[name] is True for row in rows], pa.bool_())
    # A matter without LEDES billing has no code sets, so codes of any set are accepted.
    sets = [row["ledes_code_set_ids"] if row["ledes_enabled"] is True else None for row in rows]
    table["ledes_code_set_ids"] = pa.array(sets, pa.list_(pa.string()))
    return pa.table(table)


def _codes(source: BillSource) -> pa.Table:
    columns = source.codes
    types = {"selectable": pa.bool_()}
    return pa.table({name: pa.array(values, types.get(name, pa.string())) for name, values in columns.items()})
