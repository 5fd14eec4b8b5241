"""Days from the work to its entry, in the firm's time zone."""

from __future__ import annotations

import numpy as np
import pytest

from billframes.analysis import timekeeping_lag
from billframes.config.firm import FirmSettings
from billframes.errors import IncompleteDataWarning, MissingColumnError, ParameterError

# Days late in New York, where the clocks went back on 1 November 2026: 0, 1, 8, -1, 2 and 0.
WORK = (
    ("2026-10-01", "u1", "m1", "2026-10-02T03:30:00+00:00"),
    ("2026-10-01", "u1", "m1", "2026-10-02T04:30:00+00:00"),
    ("2026-10-01", "u1", "m2", "2026-10-09T12:00:00+00:00"),
    ("2026-10-10", "u1", "m2", "2026-10-09T12:00:00+00:00"),
    ("2026-10-30", "u2", "m2", "2026-11-02T04:30:00+00:00"),
    ("2026-10-31", "u2", "m2", "2026-10-31T23:30:00+00:00"),
)
NEW_YORK = FirmSettings(time_zone="America/New_York")
HEADER = "date user_id matter_id created_at"


def run(firm, work=WORK, **options):
    entries = firm.frame(HEADER, *work)
    options = {"settings": NEW_YORK, "users": firm.users(), "matters": firm.matters()} | options
    result = timekeeping_lag(entries, **options)
    assert type(result) is type(entries)
    return firm.rows(result)


def test_the_worked_table(firm):
    rows = {row.pop("user_name"): row for row in run(firm)}
    assert rows["Ada"] == pytest.approx(
        {
            "user_id": "u1",
            "entries": 4.0,
            "median_lag_days": 0.5,
            "p90_lag_days": float(np.quantile([-1, 0, 1, 8], 0.9)),
            "same_day_entries": 2.0,
            "same_day_ratio": 0.5,
            "next_day_entries": 3.0,
            "next_day_ratio": 0.75,
            "late_entries": 1.0,
            "late_ratio": 0.25,
            "future_dated_entries": 1.0,
            "unknown_entries": 0.0,
        }
    )
    assert (rows["Ben"]["median_lag_days"], rows["Ben"]["p90_lag_days"]) == pytest.approx((1.0, 1.8))


def test_the_time_zone_decides_the_day(firm):
    (row,) = run(firm, by=None, settings=None)
    assert row["median_lag_days"] == 1.0
    assert (row["same_day_entries"], row["late_entries"]) == (2.0, 1.0)


def test_any_key_and_both_ends_of_the_period(firm):
    rows = run(firm, by=["month", "practice_area"], start="2026-10-01", end="2026-10-30")
    assert [(row["month"], row["practice_area_label"], row["entries"]) for row in rows] == [
        ("2026-10", "Corporate", 2.0),
        ("2026-10", "Unassigned", 3.0),
    ]


def test_originators_share_an_entry(firm):
    rows = {row["originator_name"]: row for row in run(firm, by="originator")}
    assert {name: row["entries"] for name, row in rows.items()} == {"Ada": 1.0, "Ben": 5.0}
    assert rows["Ada"]["median_lag_days"] == 0.0


def test_entries_of_unknown_age_are_counted_beside(firm):
    with pytest.warns(IncompleteDataWarning, match="1 time entry has no created_at"):
        (row,) = run(firm, [*WORK, ("2026-10-01", "u1", "m1", None)], by=None)
    assert (row["entries"], row["unknown_entries"]) == (6.0, 1.0)


def test_no_entries_no_lag(firm):
    (row,) = run(firm, [], by=None)
    assert (row["entries"], row["median_lag_days"], row["late_ratio"]) == (0.0, None, None)
    assert run(firm, []) == []


def test_bad_input(pandas_firm):
    with pytest.raises(MissingColumnError, match="'created_at'"):
        timekeeping_lag(pandas_firm.entries())
    with pytest.raises(ParameterError, match="by='usr'"):
        run(pandas_firm, by="usr")
