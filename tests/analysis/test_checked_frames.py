"""A call checks each frame once, however many analyses it asks; equal calls are calculated once."""

from __future__ import annotations

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import pytest

from billframes.analysis import utilization
from billframes.analysis.data import values
from billframes.analysis.results.figures_side_by_side import figures
from billframes.book.kept import KeptResults
from tests.analysis.calls import CALLS, edge_case_frames
from tests.analysis.golden_firms import ENGINES, frames_of
from tests.firms import make_firm


@pytest.fixture
def checked_names(monkeypatch) -> list[str]:
    """The names of the frames that were checked, in order."""
    names: list[str] = []
    of = values._checks_of
    monkeypatch.setattr(
        values, "_checks_of", lambda name, *given, **how: (names.append(name), of(name, *given, **how))[1]
    )
    return names


def entries(**columns) -> pd.DataFrame:
    plain = {
        "time_entry_id": ["t1", "t2"],
        "date": pd.to_datetime(["2026-10-01", "2026-10-02"]),
        "user_id": ["u1", "u2"],
        "user_name": ["Ada", "Ben"],
        "matter_id": ["m1", "m2"],
        "matter_type": ["hourly", "hourly"],
        "billing_type": ["billable", "Billable"],
        "hours": [3.0, 5.0],
    }
    return pd.DataFrame(plain | columns)


def hours_and_warnings(frame: pd.DataFrame) -> tuple[list[dict], list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        users = pd.DataFrame({"user_id": ["u1", "u2"], "name": ["Ada", "Ben"], "role": ["attorney", "attorney"]})
        rows = utilization(frame, users=users, start="2026-10").to_dict("records")
    return rows, [str(each.message) for each in caught]


COMPOSED = (
    *("scorecard by user", "stale", "exposure by client", "leverage of the firm", "profitability by user"),
    *("rates of years by user", "write-downs by responsible", "overdue_invoices", "missing time"),
    *("new business by client", "effective rates by user"),
)


@pytest.mark.filterwarnings("ignore::billframes.errors.BillframesWarning")
@pytest.mark.parametrize("name", COMPOSED)
def test_a_call_checks_each_frame_once_however_many_analyses_it_calls(name, checked_names, firm):
    CALLS[name](edge_case_frames(firm))
    assert sorted(set(checked_names)) == sorted(checked_names)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_figures_of_several_analyses_check_each_frame_once(engine, checked_names):
    frames = {name: each for name, each in frames_of(make_firm(), engine).items() if not name.startswith("code")}
    figures("client_hours", "billed_amount", "wip", "receivables", by="client", start="2026-09", **frames)
    assert {"time_entries", "invoices"} <= {*checked_names}
    assert sorted(set(checked_names)) == sorted(checked_names)


def test_repeated_rows_are_warned_of_each_time():
    frame = pd.concat([entries(), entries().head(1)], ignore_index=True)
    first, second = hours_and_warnings(frame), hours_and_warnings(frame)
    assert "t1" in first[1][0]
    assert first == second


@pytest.mark.parametrize("value", [lambda: pd.DataFrame({"amount": [1.0] * 999}), lambda: np.ones(9999), object])
def test_results_of_arguments_that_look_alike_are_kept_apart(value):
    """The text of a long frame or array leaves out its middle, and a new object can have a deleted one's address."""
    kept, calls = KeptResults(), 3
    found = [kept.get(("fees_collected", {"payments": value()}), lambda nth=nth: nth) for nth in range(calls)]
    assert found == list(range(calls))
    for words in ("1", 1, 1.0, True, [1], (1,), None, {"a": 1}, {"a": 1.0}):
        assert kept.get(words, lambda words=words: words) is words
        assert words in kept


def test_results_of_equal_arguments_are_calculated_once():
    kept, frame = KeptResults(), pd.DataFrame({"amount": [1.0]})
    call = {"payments": frame, "end": dt.date(2026, 10, 31)}
    assert [kept.get(("fees_collected", {**call, "by": ["user"]}), lambda nth=nth: nth) for nth in range(2)] == [0, 0]
