"""List the items of draft bills, and flag doubtful ones, column by column: this is fast for thousands of items."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from billframes.analysis.data.call import Call
from billframes.analysis.data.engine import eager_from_arrow, ids_frame, join_by_id, sum_by, to_arrow, to_dicts
from billframes.analysis.declare.columns import IDS, Frame
from billframes.errors import ParameterError

_TEXT = pa.string()
# `entered` is the time of creation in the firm's time zone.
ITEM_SCHEMA = {
    **dict.fromkeys(("invoice_id", "matter_id", "matter_name", "item", "item_id"), _TEXT),
    **dict.fromkeys(("date", "entered"), pa.timestamp("us")),
    **dict.fromkeys(("user_id", "user_name", "description", "billing_type", "activity_code", "task_code"), _TEXT),
    **dict.fromkeys(("hours", "rate", "item_amount"), pa.float64()),
}
_ITEM_COLUMNS = ("date", "user_id", "user_name", "matter_id", "matter_name", "description")
_TIME_COLUMNS = ("billing_type", "hours", "rate", "amount", "activity_code", "task_code", "created_at")
# The most days between work and entry that are not flagged, as in `timekeeping_lag`.
_LATE = 7
# A letter or a digit of any script.
_WORD = r"[\p{L}\p{N}]"


def items_on(prebills: Mapping[str, Any], call: Call, name: str, zone: str) -> pa.Table:
    """List the items of one frame that are on the draft bills."""
    id_ = IDS[name]
    needed = ("invoice_id", "matter_id", *(("hours", "billing_type") if name == "time_entries" else ()), "amount")
    rows = call.select(name, needed, (id_, *_ITEM_COLUMNS, *_TIME_COLUMNS))
    found = to_arrow(join_by_id(rows, ids_frame(rows, "invoice_id", prebills), "invoice_id", "inner"))
    renamed = {"item_id": id_, "item_amount": "amount", "entered": "created_at"}
    if "created_at" in found.column_names and getattr(found["created_at"].type, "tz", None) is not None:
        entered = pc.local_timestamp(found["created_at"].cast(pa.timestamp("us", zone), safe=False))
        found = found.drop_columns("created_at").append_column("created_at", entered)
    columns = {column: _column(found, renamed.get(column, column), kind) for column, kind in ITEM_SCHEMA.items()}
    columns["item"] = pa.repeat(pa.scalar(id_.removesuffix("_id")), len(found))
    return pa.table(columns, pa.schema(ITEM_SCHEMA))


def _column(table: pa.Table, name: str, kind: pa.DataType) -> pa.ChunkedArray:
    """Return a column with this type and without a dictionary; missing values if the table does not have it."""
    if name not in table.column_names:
        return pa.chunked_array([pa.nulls(len(table), kind)])
    column = table[name]
    if pa.types.is_dictionary(column.type):
        column = pa.chunked_array([each.dictionary_decode() for each in column.chunks], column.type.value_type)
    return column.cast(kind, safe=False)


class GuidelineFindings:
    """The findings of `Guidelines.check` by item: their texts and amounts at risk, and the items of each rule."""

    def __init__(self, findings: Any) -> None:
        names = ("item_id", "rule", "name", "clause", "at_risk")
        if findings is not None and not set(names) <= set(getattr(findings, "columns", ())):
            raise ParameterError(
                "guidelines= takes the result of Guidelines.check; pass bf.Guidelines.read(folder).check(book)."
            )
        self.texts: dict[str, str] = {}
        self.at_risk: dict[str, float] = {}
        self.rules: dict[str, set[str]] = defaultdict(set)
        for row in [] if findings is None else findings.dropna(subset=["item_id"])[[*names]].to_dict("records"):
            id_, risk = row["item_id"], row["at_risk"]
            clause = f" ({row['clause']})" if isinstance(row["clause"], str) else ""
            text = f"{row['name']}{clause}" + (f", at risk {risk:,.2f}" if risk else "")
            self.texts[id_] = f"{self.texts[id_]}; {text}" if id_ in self.texts else text
            self.rules[row["rule"]].add(id_)
            if risk is not None:
                # That of the largest finding.
                self.at_risk[id_] = max(float(risk), self.at_risk.get(id_, 0.0))


def flags(items: pa.Table, call: Call, most: float, guidelines: GuidelineFindings) -> pa.Array:
    """
    Return the flags of each item, separated by "; "; missing if it has none.

    `most` is the highest number of hours of one person on one day that is not flagged. What client guidelines also find
    is said once, in their words. An invoice without items has a row without flags.
    """
    is_time = pc.equal(items["item"], "time_entry")
    time, ids = items.filter(is_time), pc.if_else(is_time, items["item_id"], None)
    has_words = pc.fill_null(pc.match_substring_regex(items["description"], _WORD), False)
    hidden = pc.and_(pc.equal(items["billing_type"], "billable"), pc.is_null(items["item_amount"]))
    unpaid = pc.and_(hidden, pc.not_equal(pc.fill_null(items["hours"], 1.0), 0.0))
    # If no entry on a draft bill has an amount, rates are hidden, which one warning says.
    shows_rates = time["item_amount"].null_count < len(time)

    def unless(rule: str, texts: pa.Array) -> pa.Array:
        found = pc.is_in(items["item_id"], value_set=pa.array(sorted(guidelines.rules[rule]), _TEXT), skip_nulls=True)
        return pc.if_else(found, pa.scalar(None, _TEXT), texts)

    duplicates = pc.is_in(ids, value_set=_duplicate_ids(time, call), skip_nulls=True)
    texts = [
        _flag("no narrative", pc.and_(pc.is_valid(items["item"]), pc.invert(has_words))),
        _flag("dated after the invoice", pc.greater(items["date"], items["invoice_date"])),
        unless("duplicates", _flag("possible duplicate", duplicates)),
        unless("day_hours", pc.if_else(is_time, look_up(_person_days(items), _long_days(time, call, most)), None)),
        _flag("no amount", pc.and_(pc.and_(is_time, unpaid), shows_rates)),
        unless("recording", pc.if_else(is_time, _late_flags(items), None)),
        unless("codes", look_up(ids, _wrong_codes(time, call))),
        look_up(items["item_id"], guidelines.texts),
    ]
    # Arrow's option to skip missing texts returns no text for rows without any.
    parts = [pc.fill_null(pc.binary_join_element_wise("; ", text, ""), "") for text in texts]
    joined = pc.utf8_slice_codeunits(pc.binary_join_element_wise(*parts, ""), 2)
    return pc.if_else(pc.equal(joined, ""), None, joined)


def look_up(values: pa.Array, known: Mapping[Any, Any], kind: pa.DataType = _TEXT) -> pa.Array:
    """Look up each value; it is missing for those that are not in `known`."""
    found = pc.index_in(values, value_set=pa.array(list(known), _TEXT), skip_nulls=True)
    return pa.array(list(known.values()), kind).take(found)


def _flag(text: str, condition: pa.Array) -> pa.Array:
    return pc.if_else(pc.fill_null(condition, False), pa.scalar(text), pa.scalar(None, _TEXT))


def _wrong_codes(time: pa.Table, call: Call) -> dict[str, str]:
    """Return the findings of `code_check` in words, by the id of the time entry."""
    if "codes" not in call or "matters" not in call:
        return {}
    names = ("time_entry_id", "date", "matter_id", "activity_code", "task_code")
    entries = time.select(["item_id", *names[1:]]).rename_columns(names)
    found = call.ask_of(
        {"time_entries": eager_from_arrow(call["time_entries"], entries)}, "code_check", "matters", "codes", "code_sets"
    )
    words = {"unknown": "is unknown", "not selectable": "can't be selected"}
    texts: dict[str, list[str]] = defaultdict(list)
    for row in to_dicts(found):
        texts[row["item_id"]].append(f"{row['field'].replace('_', ' ')} {words.get(row['problem'], row['problem'])}")
    return {id_: "; ".join(each) for id_, each in texts.items()}


def _comparable_entries(time: pa.Table, call: Call, key: str, columns: Iterable[str]) -> Frame:
    """Select the time entries of the same matters, or of the same people, as those on draft bills."""
    rows = call.select("time_entries", columns)
    return join_by_id(rows, ids_frame(rows, key, sorted(time[key].unique().drop_null().to_pylist())), key, "inner")


def _duplicate_ids(time: pa.Table, call: Call) -> pa.Array:
    if not len(time):
        return pa.array([], _TEXT)
    columns = ("time_entry_id", "user_id", "matter_id", "date", "hours", "description")
    entries = _comparable_entries(time, call, "matter_id", columns)
    return to_arrow(call.ask_of({"time_entries": entries}, "duplicates"))["time_entry_id"].cast(_TEXT).combine_chunks()


def _long_days(time: pa.Table, call: Call, most: float) -> dict[str, str]:
    if not len(time):
        return {}
    entries = _comparable_entries(time, call, "user_id", ("user_id", "date", "hours"))
    days = to_arrow(sum_by(entries, ["user_id", "date"], ["hours"]))
    days = days.filter(pc.fill_null(pc.greater(pc.round(days["hours"], 6), most), False))
    hours = pc.round(days["hours"], 6).to_pylist()
    return dict(zip(_person_days(days).to_pylist(), (f"{each:g} hours on that day" for each in hours), strict=True))


def _person_days(rows: pa.Table) -> pa.ChunkedArray:
    """Return one text per row for its person and day; missing if either is missing."""
    numbers = rows["date"].cast(pa.timestamp("us")).cast(pa.int64()).cast(_TEXT)
    return pc.binary_join_element_wise(rows["user_id"].cast(_TEXT), numbers, " ")


def _late_flags(items: pa.Table) -> pa.Array:
    days = pc.subtract(_day_numbers(items["entered"]), _day_numbers(items["date"]))
    late = pc.binary_join_element_wise("entered", days.cast(_TEXT), "days later", " ")
    return pc.if_else(pc.fill_null(pc.greater(days, _LATE), False), late, pa.scalar(None, _TEXT))


def _day_numbers(instants: pa.ChunkedArray) -> pa.ChunkedArray:
    return instants.cast(pa.date32(), safe=False).cast(pa.int32())
