"""Working days with less time than expected, by the firm's calendar."""

from __future__ import annotations

import pytest

from billframes.analysis import missing_time
from billframes.config.firm import FirmSettings
from billframes.errors import ParameterError

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*before user_start or after user_end:billframes.errors.IncompleteDataWarning"
)

WORK = (
    ("2026-10-01", "u1", "c1", "m1", "billable", 3.0, 300.0, None),
    ("2026-10-01", "u1", "c1", "m4", "nonBillable", 1.0, None, None),
    ("2026-10-02", "u1", "c1", "m1", "billable", 4.0, 400.0, None),
    ("2026-10-02", "u1", "c1", "m1", "billable", -0.5, -50.0, None),
    ("2026-10-03", "u1", "c1", "m1", "billable", 1.0, 100.0, None),
    ("2026-10-01", "u2", "c1", "m1", "billable", 7.9, 790.0, None),
    ("2026-10-02", "u3", "c1", "m4", "nonBillable", 1.0, None, None),
)


def run(firm, work=WORK, **options):
    entries = firm.entries(*work)
    options = {"start": "2026-10-01", "end": "2026-10-05", "users": firm.users(), "matters": firm.matters()} | options
    result = missing_time(entries, **options)
    assert type(result) is type(entries)
    return firm.rows(result)


def days(rows):
    return [(row["user_name"], f"{row['date']:%m-%d}", row["hours"]) for row in rows]


def test_the_worked_table(firm):
    """4 of 8 hours are enough, internal ones included; weekends and an accountant's days do not count."""
    rows = run(firm)
    assert days(rows) == [("Ada", "10-02", 3.5), ("Ada", "10-05", 0.0), ("Ben", "10-02", 0.0), ("Ben", "10-05", 0.0)]
    row = rows[0]
    assert (row["user_id"], row["threshold_hours"], row["available_hours"]) == ("u1", 4.0, 8.0)
    assert row["missing_hours"] == 4.5


def test_another_threshold(firm):
    assert days(run(firm, threshold=8))[0] == ("Ada", "10-01", 4.0)
    assert len(run(firm, threshold=8)) == 6
    assert len(run(firm, threshold=3.5)) == 3


def test_the_calendar_of_the_settings(firm):
    settings = FirmSettings(
        holidays=["2026-10-05"],
        user_hours={"ada@firm.example": 7.0},
        user_end={"u2": "2026-10-01"},
        leave={"u2": ["2026-10-01"]},
    )
    rows = run(firm, settings=settings)
    assert days(rows) == []
    settings = FirmSettings(working_days=("Sat",), user_start={"u2": "2026-10-04"}, user_hours={"u1": 24.0})
    assert days(run(firm, settings=settings)) == [("Ada", "10-03", 1.0)]
    assert run(firm, settings=FirmSettings(user_hours={"u1": 0.0, "u2": 0.0}), threshold=8) == []


def test_february_without_any_entry(firm):
    rows = run(firm, [], start="2026-02", end=None)
    assert len(rows) == 2 * 20
    assert run(firm, [], start="2026-02", end=None, roster="active") == []


def test_bad_input(pandas_firm):
    for threshold in (0, -1, 25, "4", True):
        with pytest.raises(ParameterError, match="threshold="):
            run(pandas_firm, threshold=threshold)
    with pytest.raises(ParameterError, match="needs a first and a last day"):
        run(pandas_firm, end=None)
