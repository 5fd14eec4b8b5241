"""Time entries that seem to have been entered twice."""

from __future__ import annotations

import pytest

from billframes.analysis import duplicates
from billframes.errors import MissingColumnError, ParameterError

HEADER = "time_entry_id date user_id matter_id hours description activity_code"
WORK = (
    ("t9", "2026-10-01", "u1", "m1", 0.3, "Call with court", "A106"),
    ("t2", "2026-10-02", "u1", "m1", 0.5, "Draft brief", None),
    ("t1", "2026-10-01", "u1", "m1", 0.1 + 0.2, "call  with  Court.", None),
    ("t3", "2026-10-02", "u1", "m1", 0.5, "Draft reply", None),
    ("t4", "2026-10-02", "u2", "m1", 0.5, "Draft brief", None),
    ("t6", "2026-09-02", "u2", "m1", -0.5, "Draft brief", None),
    ("t5", "2026-09-02", "u2", "m1", -0.5, "DRAFT BRIEF", None),
    ("t7", "2026-09-02", "u2", "m1", 0.5, "Draft brief", None),
)


def run(firm, work=WORK, **options):
    entries = firm.frame(HEADER, *work)
    result = duplicates(entries, **options)
    assert type(result) is type(entries)
    rows = firm.rows(result)
    return [(row["duplicate_group"], row["time_entry_id"]) for row in rows]


def test_the_worked_table(firm):
    """Case, spaces and punctuation are ignored; another person's entry, or a correction, is not a duplicate."""
    assert run(firm) == [(1, "t5"), (1, "t6"), (2, "t1"), (2, "t9")]


def test_rows_have_all_columns_of_the_input(firm):
    first = firm.rows(duplicates(firm.frame(HEADER, *WORK)))[0]
    assert list(first) == ["duplicate_group", *HEADER.split()]
    assert (first["description"], first["hours"], first["activity_code"]) == ("DRAFT BRIEF", -0.5, None)


def test_other_columns_can_be_compared(firm):
    """Two missing values are equal."""
    assert run(firm, by=["user", "matter", "date", "hours"])[2:] == [(2, "t1"), (2, "t9"), (3, "t2"), (3, "t3")]
    assert run(firm, by=["description", "activity_code"], start="2026-10") == [(1, "t2"), (1, "t4")]
    assert run(firm, by="description", start="2026-10-01", end="2026-10-01") == [(1, "t1"), (1, "t9")]


def test_without_duplicates_the_frame_is_empty_and_has_all_columns(firm):
    assert run(firm, []) == []
    assert run(firm, WORK[1:2]) == []


def test_bad_input(pandas_firm):
    with pytest.raises(ParameterError, match="Did you mean 'hours'"):
        run(pandas_firm, by=["user", "hour"])
    with pytest.raises(ParameterError, match="names ''"):
        run(pandas_firm, by=[])
    with pytest.raises(MissingColumnError, match="'time_entry_id'"):
        duplicates(pandas_firm.entries(), by="hours")
