"""Analyses that share what was found in frames say and count the same as without it."""

from __future__ import annotations

import gc
import warnings

import pandas as pd
import pytest

from billframes.analysis import guards, utilization
from billframes.analysis.checked_frames import CheckedFrames, share_checks


@pytest.fixture
def looked(monkeypatch) -> list[str]:
    """The names of the frames that were looked through, in order."""
    names: list[str] = []
    of = guards._FrameChecks.of
    monkeypatch.setattr(
        guards._FrameChecks, "of", lambda name, *given, **how: (names.append(name), of(name, *given, **how))[1]
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


def asked(frame: pd.DataFrame) -> tuple[list[dict], list[str]]:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        rows = utilization(frame, start="2026-10").to_dict("records")
    return rows, [str(each.message) for each in said]


@pytest.mark.parametrize(
    "columns",
    [{}, {"hours": [3.0, None]}, {"billing_type": ["billable", "free"]}],
    ids=["in another case", "missing", "unknown"],
)
def test_each_analysis_warns_and_counts_alike(columns, looked):
    frame = entries(**columns)
    alone = asked(frame)
    assert bool(alone[1]) == bool(columns)
    with share_checks(CheckedFrames()):
        assert repr([asked(frame), asked(frame)]) == repr([alone, alone])
    # Alone, and once for both: checks outside of the block are not shared.
    assert looked == ["time_entries"] * 2


def test_repeated_rows_are_said_each_time(looked):
    frame = pd.concat([entries(), entries().head(1)], ignore_index=True)
    alone = asked(frame)
    assert "t1" in alone[1][0]
    with share_checks(CheckedFrames()):
        assert [asked(frame), asked(frame)] == [alone, alone]


def test_a_frame_that_is_gone_is_forgotten():
    memory = CheckedFrames()
    with share_checks(memory):
        for hours in (1.0, 2.0):
            rows, _said = asked(entries(hours=[hours, hours]))
            assert sum(row["client_hours"] for row in rows) == 2 * hours
    gc.collect()
    assert memory._checked == {}
