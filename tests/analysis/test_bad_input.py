"""Each analysis answers a bad column with one sentence, or with a figure: never with an error of another library.

Used columns of every frame are dropped, repeated, and given values of each wrong type. A part of the cases is tried.
"""

from __future__ import annotations

import datetime as dt
import uuid
import warnings
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

from billframes import analysis
from billframes.analysis.data.data import Table
from billframes.analysis.declare.columns import REQUIRED_NUMBERS
from billframes.errors import BillframesError, BillframesWarning, ParameterError
from tests.analysis.conftest import ENGINES
from tests.firms import CALLS, FIRMS, make_firm, on

# One of so many cases is tried.
_PART = 30


def all_are(make: Callable[[], Any]) -> Callable[[pd.DataFrame, str], pd.DataFrame]:
    return lambda frame, column: frame.assign(**{column: [make() for _ in range(len(frame))]})


def first_is(value: Any) -> Callable[[pd.DataFrame, str], pd.DataFrame]:
    def change(frame: pd.DataFrame, column: str) -> pd.DataFrame:
        values = [value, *frame[column].astype(object)[1:]][: len(frame)]
        return frame.assign(**{column: pd.Series(values, frame.index, dtype=object)})

    return change


class Thing:
    """A value of a kind that no library knows."""


BAD: dict[str, Callable[[pd.DataFrame, str], pd.DataFrame]] = {
    "dropped": lambda frame, column: frame.drop(columns=column),
    "twice": lambda frame, column: pd.concat([frame, frame[[column]]], axis="columns"),
    "missing": lambda frame, column: frame.assign(**{column: None}),
    "not a number": lambda frame, column: frame.assign(**{column: np.nan}),
    "infinite": lambda frame, column: frame.assign(**{column: np.inf}),
    "text": lambda frame, column: frame.assign(**{column: "one and a half"}),
    "whole numbers": lambda frame, column: frame.assign(**{column: range(len(frame))}),
    "fractions": lambda frame, column: frame.assign(**{column: np.arange(len(frame)) + 0.5}),
    "complex": lambda frame, column: frame.assign(**{column: 1j}),
    "flags": lambda frame, column: frame.assign(**{column: True}),
    "instants": lambda frame, column: frame.assign(**{column: pd.Timestamp("2026-10-01", tz="UTC")}),
    "durations": lambda frame, column: frame.assign(**{column: pd.Timedelta(hours=1)}),
    "periods": lambda frame, column: frame.assign(**{column: pd.Period("2026-10")}),
    "intervals": lambda frame, column: frame.assign(**{column: pd.Interval(0, 1)}),
    "times": all_are(lambda: dt.time(9)),
    "UUIDs": all_are(uuid.uuid4),
    "lists": all_are(lambda: [1, "a"]),
    "things": all_are(Thing),
    "one thing": first_is(Thing()),
    "one dict": first_is({"a": 1}),
    "bytes": first_is(b"x"),
}


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> set[tuple[str, str]]:
    """The columns that a call used, each with its frame."""
    found: set[tuple[str, str]] = set()
    select = Table.select

    def spy(table: Table, *columns: Any) -> Any:
        rows, names = select(table, *columns)
        found.update((table.name, name) for name in names)
        return rows, names

    monkeypatch.setattr(Table, "select", spy)
    return found


def answer(call: Callable[[Mapping[str, Any]], Any], frames: Mapping[str, Any]) -> list[str]:
    """Return the error or the notes of a call; errors and warnings that are not of billframes are raised."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        warnings.simplefilter("always", BillframesWarning)
        try:
            call(frames)
        except BillframesError as error:
            return [str(error)]
    return [str(each.message) for each in caught]


@pytest.mark.slow
@pytest.mark.sweep(keep=7)
@pytest.mark.parametrize("name", CALLS)
def test_a_bad_column_is_answered(name, used):
    firm = FIRMS["fixed fees only" if "fixed" in name else "two people"]()
    frames = on(firm, ENGINES["pandas"])
    answer(CALLS[name], frames)
    for frame, column in sorted(used):
        for bad, change in BAD.items():
            if zlib.crc32(f"{name} {frame} {column} {bad}".encode()) % _PART or column not in frames[frame]:
                continue
            said = answer(CALLS[name], frames | {frame: change(frames[frame], column)})
            needed = column in REQUIRED_NUMBERS.get(frame, ()) and len(frames[frame])
            if needed and bad in ("missing", "not a number", "infinite", "text", "twice"):
                assert any(column in each for each in said), (frame, column, bad, said)


def test_a_key_can_have_intervals():
    frames = on(make_firm(), ENGINES["pandas"])
    sizes = pd.cut(frames["time_entries"]["hours"], [0, 1, 9])
    for each in (sizes, sizes.astype(object)):
        frames["time_entries"] = frames["time_entries"].assign(size=each)
        names = ("time_entries", "matters", "users")
        rows = analysis.utilization(**{name: frames[name] for name in names}, by="size", start="2026-10")
        assert rows["size"].tolist() == ["(0, 1]", "(1, 9]"]


@pytest.mark.parametrize("engine", ["pandas", "pyarrow"])
def test_a_column_that_is_there_twice_is_refused(engine):
    frames = on(make_firm(), ENGINES[engine])
    hours = frames["time_entries"]
    if engine == "pandas":
        frames["time_entries"] = pd.concat([hours, hours[["hours"]]], axis="columns")
    else:
        frames["time_entries"] = hours.append_column("hours", hours["hours"])
    with pytest.raises(ParameterError, match="time_entries has the column 'hours' more than once"):
        CALLS["utilization"](frames)
