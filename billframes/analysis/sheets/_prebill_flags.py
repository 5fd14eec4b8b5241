"""List the items of draft bills, and flag doubtful ones, column by column: this is fast for thousands of items."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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


class GuidelineFlags:
    """The findings of `Guidelines.check`: `item_id`, `rule`, `name`, `clause` and `at_risk`."""

    def __init__(self, findings: Any) -> None:
        names = ("item_id", "rule", "name", "clause", "at_risk")
        if findings is not None and not set(names) <= set(getattr(findings, "columns", ())):
            raise ParameterError(
                "guidelines= takes the result of Guidelines.check; pass bf.Guidelines.read(folder).check(book)."
            )
        rows = [] if findings is None else findings.dropna(subset=["item_id"])[[*names]].to_dict("records")
        self._texts: dict[str, list[str]] = defaultdict(list)
        self._rules: dict[str, set[str]] = defaultdict(set)
        self._at_risk: dict[str, float] = {}
        for row in rows:
            id_, risk = row["item_id"], row["at_risk"]
            clause = f" ({row['clause']})" if isinstance(row["clause"], str) else ""
            self._texts[id_].append(f"{row['name']}{clause}" + (f", at risk {risk:,.2f}" if risk else ""))
            self._rules[row["rule"]].add(id_)
            if risk is not None:
                self._at_risk[id_] = max(float(risk), self._at_risk.get(id_, 0.0))

    def texts(self, ids: pa.Array) -> pa.Array:
        """Return the findings of each item, separated by "; "; missing if it has none."""
        return _look_up(ids, pa.array(list(self._texts), _TEXT), pa.array(map("; ".join, self._texts.values()), _TEXT))

    def at_risk(self, ids: pa.Array) -> pa.Array:
        """Return the amount at risk of each item, which is that of its largest finding; missing if it has none."""
        known = pa.array(list(self._at_risk), _TEXT)
        return _look_up(ids, known, pa.array(list(self._at_risk.values()), pa.float64()))

    def unless(self, ids: pa.Array, rule: str, flags: pa.Array) -> pa.Array:
        """Remove the flags of items with a finding of a rule."""
        found = pc.is_in(ids, value_set=pa.array(sorted(self._rules[rule]), _TEXT), skip_nulls=True)
        return pc.if_else(found, pa.scalar(None, _TEXT), flags)


@dataclass(frozen=True, slots=True)
class ReviewedItems:
    """The items on draft bills, in the columns of `prebill_review`, and all entries for comparison."""

    items: pa.Table
    call: Call

    @property
    def _is_time(self) -> pa.Array:
        return pc.equal(self.items["item"], "time_entry")

    @property
    def _shows_rates(self) -> bool:
        """Whether any entry on a draft bill has an amount; if none has, rates are hidden, which one warning says."""
        return bool(self._time["item_amount"].null_count < len(self._time))

    @property
    def _time(self) -> pa.Table:
        return self.items.filter(self._is_time)

    def wrong_codes(self) -> dict[str, str]:
        """Return the findings of `code_check` in words, by the id of the time entry."""
        names = ("time_entry_id", "date", "matter_id", "activity_code", "task_code")
        time = self._time.select(["item_id", *names[1:]]).rename_columns(names)
        problems: dict[str, list[str]] = defaultdict(list)
        rows = {"time_entries": eager_from_arrow(self.call["time_entries"], time)}
        for row in to_dicts(self.call.ask_of(rows, "code_check", "matters", "codes", "code_sets")):
            words = {"unknown": "is unknown", "not selectable": "can't be selected"}
            problem = words.get(row["problem"], row["problem"])
            problems[row["item_id"]].append(f"{row['field'].replace('_', ' ')} {problem}")
        return {id_: "; ".join(each) for id_, each in problems.items()}

    def flags(
        self, invoiced: pa.ChunkedArray, most: float, wrong_codes: Mapping[str, str], guidelines: GuidelineFlags
    ) -> pa.Array:
        """
        Return the flags of each item, separated by "; "; missing if it has none.

        `invoiced` is the date of each item's invoice, and `most` the highest number of hours of one person on one day
        that is not flagged. What client guidelines also find is said once, in their words.
        """
        items, time = self.items, self._is_time
        ids = pc.if_else(time, items["item_id"], None)
        words = pc.fill_null(pc.match_substring_regex(items["description"], _WORD), False)
        hidden = pc.and_(pc.equal(items["billing_type"], "billable"), pc.is_null(items["item_amount"]))
        unpaid = pc.and_(hidden, pc.not_equal(pc.fill_null(items["hours"], 1.0), 0.0))
        unless = functools.partial(guidelines.unless, items["item_id"])
        texts = [
            _flag("no narrative", pc.invert(words)),
            _flag("dated after the invoice", pc.greater(items["date"], invoiced)),
            unless(
                "duplicates",
                _flag("possible duplicate", pc.is_in(ids, value_set=self._duplicate_ids(), skip_nulls=True)),
            ),
            unless("day_hours", self._long_days(most, time)),
            _flag("no amount", pc.and_(pc.and_(time, unpaid), self._shows_rates)),
            unless("recording", pc.if_else(time, _late_flags(items), None)),
            unless(
                "codes", _look_up(ids, pa.array(list(wrong_codes), _TEXT), pa.array(list(wrong_codes.values()), _TEXT))
            ),
            guidelines.texts(items["item_id"]),
        ]
        # Arrow's option to skip missing texts returns no text for rows without any.
        parts = [pc.fill_null(pc.binary_join_element_wise("; ", text, ""), "") for text in texts]
        joined = pc.utf8_slice_codeunits(pc.binary_join_element_wise(*parts, ""), 2)
        return pc.if_else(pc.equal(joined, ""), None, joined)

    def _comparable_entries(self, key: str, columns: Iterable[str]) -> Frame:
        """Select the time entries of the same matters, or of the same people, as those on draft bills."""
        values = self._time[key].unique().drop_null().to_pylist()
        rows = self.call.select("time_entries", columns)
        return join_by_id(rows, ids_frame(rows, key, sorted(values)), key, "inner")

    def _duplicate_ids(self) -> pa.Array:
        if not len(self._time):
            return pa.array([], _TEXT)
        columns = ("time_entry_id", "user_id", "matter_id", "date", "hours", "description")
        rows = {"time_entries": self._comparable_entries("matter_id", columns)}
        found = self.call.ask_of(rows, "duplicates")
        return to_arrow(found)["time_entry_id"].cast(_TEXT).combine_chunks()

    def _long_days(self, most: float, time: pa.Array) -> pa.Array:
        if not len(self._time):
            return pa.nulls(len(self.items), _TEXT)
        entries = self._comparable_entries("user_id", ("user_id", "date", "hours"))
        days = to_arrow(sum_by(entries, ["user_id", "date"], ["hours"]))
        hours = pc.round(days["hours"], 6)
        long = pc.fill_null(pc.greater(hours, most), False)
        texts = [f"{each:g} hours on that day" for each in hours.filter(long).to_pylist()]
        flags = _look_up(_person_days(self.items), _person_days(days.filter(long)), pa.array(texts, _TEXT))
        return pc.if_else(time, flags, None)


def _flag(text: str, condition: pa.Array) -> pa.Array:
    return pc.if_else(pc.fill_null(condition, False), pa.scalar(text), pa.scalar(None, _TEXT))


def _look_up(values: pa.Array, known: pa.Array, texts: pa.Array) -> pa.Array:
    """Return the text of each value that is in `known`, missing for others."""
    known = known.combine_chunks() if isinstance(known, pa.ChunkedArray) else known
    return texts.take(pc.index_in(values, value_set=known, skip_nulls=True))


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
