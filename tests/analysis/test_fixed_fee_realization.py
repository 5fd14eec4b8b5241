"""Fixed fees and the hours under them, compared with figures worked out by hand."""

from __future__ import annotations

import warnings

import pytest

from billframes.analysis import fixed_fee_realization
from billframes.config.firm import FirmSettings
from billframes.errors import IncompleteDataWarning, MissingColumnError, ParameterError

RATES = FirmSettings(standard_rates={"u1": 400.0, "u2": 200.0})
FEES = (
    ("f1", "2026-10-01", "m1", "c1", None, 3000.0),
    ("f2", "2026-10-31", "m2", "c2", "u2", 500.0),
    ("f3", "2026-09-30", "m2", "c2", "u2", 900.0),
    ("f4", "2026-10-02", "m1", "c1", None, 50.0),
)
WORK = (
    ("2026-09-30", "u1", "m1", "c1", "fixedFee", 6.0, "f1"),
    ("2026-11-02", "u2", "m1", "c1", "fixedFee", 8.0, "f1"),
    ("2026-10-02", "u2", "m2", "c2", "fixedFee", 5.0, "f3"),
    ("2026-10-03", "u2", "m2", "c2", "fixedFee", 2.0, None),
    ("2026-10-03", "u2", "m2", "c2", "billable", 7.0, None),
    ("2026-10-04", "u1", "m1", "c1", "fixedFee", 1.0, "f4"),
    ("2026-10-04", "u1", "m1", "c1", "fixedFee", -1.0, "f4"),
)


def run(firm, work=WORK, fees=FEES, **options):
    entries = firm.frame("date user_id matter_id client_id billing_type hours fixed_fee_id", *work)
    options = {"start": "2026-10", "settings": RATES, "matters": firm.matters(), "users": firm.users()} | options
    frame = firm.frame("fixed_fee_id date matter_id client_id user_id amount", *fees)
    result = fixed_fee_realization(entries, fixed_fees=frame, **options)
    assert type(result) is type(entries)
    return firm.rows(result)


def test_the_worked_table(firm):
    """f1 is compared with all its time, of any date; f2 has no time, and the hours of f4 add up to 0."""
    (row,) = run(firm)
    assert row == pytest.approx(
        {
            "fee_amount": 3000.0,
            "linked_hours": 14.0,
            "effective_rate": 3000 / 14,
            "standard_amount": 4000.0,
            "fixed_fee_realization": 0.75,
            "unrated_hours": 0.0,
            "unlinked_fee_amount": 550.0,
            "unlinked_hours": 2.0,
        }
    )


def test_a_fee_is_shared_by_hours_by_the_people_who_worked_under_it(firm):
    rows = {row["user_name"]: row for row in run(firm, by="user")}
    assert [rows[name]["fee_amount"] for name in ("Ada", "Ben")] == pytest.approx([3000 * 6 / 14, 3000 * 8 / 14])
    assert [rows[name]["fixed_fee_realization"] for name in ("Ada", "Ben")] == pytest.approx(
        [1.25 * 6 / 14, 1.875 * 8 / 14]
    )
    assert [rows[name]["unlinked_fee_amount"] for name in ("Ada", "Ben", "Unassigned")] == [0.0, 500.0, 50.0]
    months = run(firm, by="month", start="2026")
    assert [(row["month"], row["fee_amount"]) for row in months] == [("2026-09", 900.0), ("2026-10", 3000.0)]


def test_without_rates_the_effective_rate_is_known(firm):
    (row,) = run(firm, settings=None)
    assert (row["standard_amount"], row["fixed_fee_realization"]) == (None, None)
    assert row["effective_rate"] == pytest.approx(3000 / 14)


def test_someone_without_a_rate_is_named(firm):
    with pytest.warns(IncompleteDataWarning, match=r"8 hours of 1 person have no standard rate .*user_id u2"):
        rows = {row["user_name"]: row for row in run(firm, by="user", settings=FirmSettings(standard_rates={"u1": 1}))}
    assert rows["Ada"]["fee_amount"] == pytest.approx(3000 * 6 / 14)
    assert (rows["Ben"]["standard_amount"], rows["Ben"]["unrated_hours"]) == (None, 8.0)


def test_time_of_a_fee_that_was_not_passed_is_unlinked(firm):
    with pytest.warns(IncompleteDataWarning, match="2 time entries name a fixed fee"):
        (row,) = run(firm, fees=FEES[:3])
    assert row["unlinked_hours"] == 2.0
    assert row["unlinked_fee_amount"] == 500.0


def test_no_fees_no_realization(firm):
    (row,) = run(firm, [], [])
    assert (row["fee_amount"], row["effective_rate"], row["fixed_fee_realization"]) == (0.0, None, None)
    assert run(firm, [], [], by="client") == []


def test_bad_input(pandas_firm):
    firm = pandas_firm
    with pytest.raises(ParameterError, match="by='usr'"):
        run(firm, by="usr")
    with pytest.raises(MissingColumnError, match="fixed_fee_id"):
        fixed_fee_realization(firm.entries(), fixed_fees=firm.items())


@pytest.mark.parametrize(("rates", "unrated"), [({"u1": 400.0, "u2": 200.0}, 0.0), ({"u1": 400.0}, 8.0), ({}, None)])
def test_missing_hours_of_someone_with_a_rate_are_not_without_a_rate(pandas_firm, rates, unrated):
    work = [(*row[:5], None, "f1") if row[1] == "u1" and row[6] == "f1" else row for row in WORK]
    settings = FirmSettings(standard_rates=rates)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        (row,) = run(pandas_firm, work, settings=settings)
    assert (row["standard_amount"], row["unrated_hours"]) == (None, unrated)
    assert sum("have no standard rate" in str(each.message) for each in caught) == (unrated == 8.0)
