"""Duplicates: time entries that seem to have been entered twice."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import Any, cast

import narwhals.stable.v2 as nw
import pyarrow as pa

from billframes._shared.names import closest
from billframes.analysis.data.call import Call
from billframes.analysis.data.engine import to_arrow
from billframes.analysis.data.expressions import C, in_period, map_values
from billframes.analysis.data.native import select_columns
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.declare.key_words import PEOPLE_AND_MATTERS
from billframes.analysis.declare.metrics import Measure
from billframes.analysis.declare.spec import Analysis, FromBook
from billframes.analysis.keys.by import names_in
from billframes.analysis.rules.loads import ITEM_FILTERS, need_period
from billframes.errors import ParameterError
from billframes.periods import DateLike

SAME = ("user_id", "matter_id", "date", "hours", "description")
# Equal hours can differ in the last digits of a float.
_DIGITS = 6
_NOT_WORD = re.compile(r"[\W_]+")


@sheet("time_entries", settings=False)
def duplicates(
    call: Call, *, by: str | Sequence[str] = SAME, start: DateLike | None = None, end: DateLike | None = None
) -> Frame:
    """
    Time entries that seem to have been entered twice, with the number of their group.

    Groups are numbered by their first date and id. To keep one entry of each group, keep its first row.

    Parameters
    ----------
    time_entries : frame
        With `time_entry_id`, `date` and the columns of `by`.
    by : str or list of str
        Columns that have equal values in all entries of a group. Short names such as "user" and "matter" mean their
        ids. Case, spaces and punctuation of a description are ignored, numbers are rounded to a millionth, and other
        columns are compared exactly. Two missing values are equal.

    Examples
    --------
    >>> entries = pd.DataFrame({
    ...     "time_entry_id": ["t1", "t2", "t3"], "date": pd.to_datetime(["2026-10-01"] * 3), "user_id": ["u1"] * 3,
    ...     "matter_id": ["m1"] * 3, "hours": [0.5, 0.5, 0.7],
    ...     "description": ["Call with court", "call  with court.", "Call with court"],
    ... })
    >>> duplicates(entries)[["duplicate_group", "time_entry_id", "hours"]]
       duplicate_group time_entry_id  hours
    0                1            t1    0.5
    1                1            t2    0.5
    """
    entries = call.whole("time_entries")
    there = column_names(entries)
    columns = _columns(by, there)
    call.require("time_entries", "time_entry_id", "date")
    period = call.period(start, end)
    need_period(call, ("time_entries",), period, ITEM_FILTERS)
    # The result has the ids as they are, which can be numbers.
    entries = entries.with_columns(_id=C("time_entry_id").cast(nw.String))
    compared = select_columns(entries, "time_entries", ("_id", "date", *columns))[0]
    numbers = _numbers(_suspects(in_period(compared, "date", period), columns), columns)
    found = entries.with_columns(duplicate_group=map_values("_id", numbers, None, nw.Float64))
    found = found.filter(~C("duplicate_group").is_null()).sort("duplicate_group", "date", "time_entry_id")
    return found.select(C("duplicate_group").cast(nw.Int64), *there)


def _columns(by: str | Sequence[str], there: Sequence[str]) -> list[str]:
    names = names_in(by)
    columns = [PEOPLE_AND_MATTERS.get(name, (name,))[0] for name in names]
    for name in columns or [""]:
        if name not in there:
            raise ParameterError(
                f"by={by!r} names {name!r}, which is not a column of time_entries.{closest(name, there)} "
                f"It takes {', '.join(there)}."
            )
    return list(dict.fromkeys(columns))


def _suspects(entries: Frame, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Collect the entries that are equal to another in all compared columns but the description."""
    table = to_arrow(entries)
    lists = {field.name for field in table.schema if pa.types.is_list(field.type)}
    compared = [name for name in columns if name != "description" and name not in lists]
    if compared:
        values = table.select(compared).to_pandas()
        values = values.assign(**values.select_dtypes("float").round(_DIGITS))
        table = table.filter(pa.array(values.duplicated(keep=False).to_numpy()))
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def _numbers(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> dict[str, int]:
    """Give each group of more than one entry a number, in order of date and id; return it by the entries' ids."""
    groups: dict[Hashable, list[str]] = {}
    for row in sorted(rows, key=lambda row: (row["date"] is None, row["date"], row["_id"] or "")):
        groups.setdefault(tuple(_normalized(name, row[name]) for name in columns), []).append(row["_id"])
    several = (ids for ids in groups.values() if len(ids) > 1)
    return {id_: number for number, ids in enumerate(several, start=1) for id_ in ids}


def _normalized(name: str, value: Any) -> Hashable:
    if name == "description" and value is not None:
        return _NOT_WORD.sub(" ", value).strip().casefold()
    if isinstance(value, float):
        return round(value, _DIGITS)
    return tuple(value) if isinstance(value, list) else cast("Hashable", value)


ANALYSIS = Analysis(
    function=duplicates,
    question="Which time entries seem to have been entered twice?",
    summary=(
        "It lists time entries with the same person, matter, date, hours and description. Case, spaces and "
        "punctuation make no difference."
    ),
    example=(
        'Of three calls on one day, two have 0.5 hours and the description "Call with court". They are listed; the '
        "call with 0.7 hours is not."
    ),
    formula="same person, matter, date, hours and description; case, spaces and punctuation are ignored",
    left_out=(
        "time entered twice with different descriptions: compare fewer columns, such as "
        "`by=['user', 'matter', 'date', 'hours']`",
    ),
    cannot_tell=("whether time was entered twice or the work was done twice",),
    own=("by",),
    rows="the entries of groups with at least two, sorted by group, date and id, with all their columns after",
    columns=(Measure("duplicate_group", "Group", "count", "Number of the group of equal entries, starting at 1."),),
    book=FromBook(ends_with_load=False),
)
