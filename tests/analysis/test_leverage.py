"""Client hours and numbers of people by role, compared with figures worked out by hand."""

from __future__ import annotations

import pytest

import billframes as bf
from billframes.analysis import leverage, utilization
from billframes.config.firm import FirmSettings
from billframes.errors import IncompleteDataWarning, MissingColumnError, ParameterError

pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{message}:billframes.errors.IncompleteDataWarning")
    for message in (".*before user_start or after user_end", "Without users=", "Nobody recorded time in")
]

WORK = (
    ("2026-10-01", "u1", "c1", "m1", "billable", 10.0, 1000.0, None),
    ("2026-10-02", "u2", "c1", "m1", "fixedFee", 24.0, None, None),
    ("2026-10-02", "u2", "c2", "m2", "billable", 8.0, 800.0, None),
    ("2026-10-02", "u2", "c2", "m2", "billable", -2.0, -200.0, None),
    ("2026-10-05", "u3", "c3", "m5", "billable", 5.0, 500.0, None),
    ("2026-10-05", "u1", "c3", "m4", "billable", 40.0, 4000.0, None),
    ("2026-11-01", "u1", "c1", "m1", "billable", 99.0, 99.0, None),
)
GUEST = ("2026-10-06", "u9", "c1", "m1", "billable", 7.0, 700.0, None)


def run(firm, *more, **options):
    entries = firm.entries(*WORK, *more)
    options = {"start": "2026-10", "users": firm.users(), "matters": firm.matters()} | options
    result = leverage(entries, **options)
    assert type(result) is type(entries)
    return firm.rows(result)


def test_the_worked_table(firm):
    """Internal hours are not client hours; an accountant with client hours is a non-principal."""
    (row,) = run(firm)
    assert row == pytest.approx(
        {
            "principal_hours": 10.0,
            "non_principal_hours": 35.0,
            "unknown_role_hours": 0.0,
            "hours_leverage": 3.5,
            "principals": 1.0,
            "non_principals": 2.0,
            "unknown_role_people": 0.0,
            "heads_leverage": 2.0,
        }
    )


def test_people_of_unknown_role_are_counted_beside(firm):
    with pytest.warns(IncompleteDataWarning, match="7 client hours are of people whose role is unknown"):
        (row,) = run(firm, GUEST)
    assert (row["unknown_role_hours"], row["unknown_role_people"]) == (7.0, 1.0)
    assert (row["hours_leverage"], row["heads_leverage"]) == (3.5, 2.0)
    with pytest.warns(IncompleteDataWarning, match=r"settings name 1 user .*: u9 \(roles\)"):
        (row,) = run(firm, GUEST, settings=FirmSettings(roles={"u9": "principal"}))
    assert (row["principal_hours"], row["principals"]) == (17.0, 2.0)


def test_a_row_without_principals_has_no_leverage(firm):
    """Two clients of one name stay two rows; a person with only internal hours does not count for a client."""
    rows = run(firm, by="client")
    assert [(row["client_id"], row["hours_leverage"], row["heads_leverage"]) for row in rows] == [
        ("c1", pytest.approx(2.4), 1.0),
        ("c2", None, None),
        ("c3", None, None),
    ]
    assert sum(row["non_principal_hours"] for row in rows) == 35.0


def test_hours_that_were_taken_back_count_nobody(firm):
    """The floats 0.1 + 0.2 - 0.3 add up to slightly more than 0."""
    corrected = [("2026-10-06", "u2", "c3", "m5", "billable", hours, 0.0, None) for hours in (0.1, 0.2, -0.3)]
    rows = run(firm, *corrected, by="client")
    assert {row["client_id"]: row["non_principals"] for row in rows} == {"c1": 1.0, "c2": 1.0, "c3": 1.0}


def test_people_count_with_client_hours_only(firm):
    (row,) = run(firm)
    assert (row["principals"], row["non_principals"]) == (1.0, 2.0)
    months = run(firm, end="2026-12-31", start="2026-10-01", by="month")
    assert [(row["month"], row["principals"], row["non_principals"]) for row in months] == [
        ("2026-10", 1.0, 2.0),
        ("2026-11", 1.0, 0.0),
        ("2026-12", 0.0, 0.0),
    ]


def test_without_entries_hours_and_people_are_zero(firm):
    entries = firm.entries()
    (row,) = firm.rows(leverage(entries, start="2026-02", users=firm.users(), matters=firm.matters()))
    assert (row["principal_hours"], row["hours_leverage"], row["heads_leverage"]) == (0.0, None, None)


def test_bad_input(pandas_firm):
    firm = pandas_firm
    with pytest.raises(MissingColumnError, match="leverage needs to know who is a principal"):
        run(firm, users=None)
    with pytest.raises(ParameterError, match="by='clint'"):
        run(firm, by="clint")
    with pytest.raises(ParameterError, match="needs a first and a last day"):
        run(firm, start="2026-10-01")


@pytest.mark.filterwarnings("ignore::billframes.errors.BillframesWarning")
def test_missing_hours_are_no_error_of_a_note(pandas_firm):
    """Ben has no role, and left before he worked; only his known hours are counted in notes."""
    work = [("2026-10-01", "u1", "m1", "billable", 6.0), ("2026-10-02", "u2", "m1", "billable", None)]
    work = [*work, ("2026-10-03", "u2", "m2", "billable", 2.0)]
    entries = pandas_firm.frame("date user_id matter_id billing_type hours", *work)
    matters = pandas_firm.frame("matter_id matter_type", ("m1", "hourly"), ("m2", "hourly"))
    users = pandas_firm.frame("user_id name role", ("u1", "Ada", "principal"), ("u2", "Ben", None))
    left = FirmSettings(user_end={"u2": "2026-10-01"})
    frames = {"matters": matters, "users": users, "start": "2026-10", "settings": left}
    results = leverage(entries, **frames, by="matter"), utilization(entries, **frames)
    amounts = {note["rule"]: note["amount"] for result in results for note in bf.notes(result)}
    assert (amounts["unknown_role"], amounts["days_outside"]) == (2.0, 2.0)
