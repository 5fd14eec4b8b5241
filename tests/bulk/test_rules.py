"""Each refusal of the API, and each LEDES requirement of a matter, is a row of the plan before anything is sent."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pandas as pd
import pytest

ZERO = "c0ffee00-1b5c-4f7a-9c1d-2f6f0c3e8a11"


def reason(plan: Any, column: str) -> str:
    """Why a column is invalid; the plan sends nothing of the row."""
    row = plan.frame[plan.frame["column"] == column].iloc[0]
    assert row["status"] == "invalid", row.to_dict()
    assert plan._sent == []
    return str(row["reason"])


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("description", "", "can't be emptied"),
        ("hours", None, "can't be emptied"),
        ("hours", "two", "is not a number"),
        ("date", "31/10/2026", "is not a date such as '2026-10-31'"),
        ("date", None, "can't be emptied"),
        ("time", "noon", "is not a time such as '09:30'"),
        ("billing_type", "free", "takes one of nonBillable, billable, fixedFee"),
        ("matter_id", ZERO, "there is no matter with this id"),
        ("user_id", ZERO, "there is no user with this id"),
        ("fixed_fee_id", ZERO, "there is no fixed fee with this id"),
        ("task_code", "L999", "there is no such task code"),
        ("activity_code", "A999", "there is no such activity code"),
        ("task_code", "L100", "is a heading, which can't be assigned"),
    ],
)
def test_a_value_that_the_api_would_refuse_is_invalid_with_the_rule(firm, entries, column, value, message):
    matters = firm.client.matters()
    open_matter = matters[matters["ledes_enabled"] == False]["matter_id"]  # noqa: E712
    plain = entries[entries["matter_id"].isin(open_matter)].head(1).astype({column: object})
    plan = firm.client.time_entries.plan(plain.assign(**{column: [value]}))
    assert message in reason(plan, column)


def test_an_invalid_cell_holds_the_whole_row_back(firm, entries):
    plan = firm.client.time_entries.plan(entries.head(1).assign(description="Fine", hours="two"))
    assert plan.frame["status"].tolist() == ["invalid", "invalid"]
    assert "because hours of this row is invalid" in plan.frame["reason"].tolist()[0]
    plan = firm.client.time_entries.plan(entries.head(1).assign(description="Fine", hours="two", date="soon"))
    assert any("because date and hours of this row are invalid" in reason for reason in plan.frame["reason"])


def test_a_rate_is_only_for_billable_time(firm, entries):
    unpaid = entries[entries["billing_type"] == "nonBillable"].head(1)
    plan = firm.client.time_entries.plan(unpaid.assign(rate=300.0))
    assert "only billable time has a rate" in reason(plan, "rate")


def test_a_fixed_fee_must_be_of_the_entrys_matter(firm, entries):
    fee = firm.client.fixed_fees(limit=1).iloc[0]
    other = entries[entries["matter_id"] != fee["matter_id"]].head(1)
    plan = firm.client.time_entries.plan(other.assign(fixed_fee_id=fee["fixed_fee_id"]))
    assert "of another matter" in reason(plan, "fixed_fee_id")


def ledes(firm: Any, flag: str) -> Any:
    matters = firm.client.matters(archived=False)
    return matters[(matters["ledes_enabled"] == True) & (matters[flag] == True)]  # noqa: E712


def test_a_matter_that_requires_codes_takes_no_entry_without_them(firm, entries):
    matter = ledes(firm, "ledes_task_code_required").iloc[0]
    new = pd.DataFrame(
        [
            {
                "time_entry_id": None,
                "matter_id": matter["matter_id"],
                "date": dt.date(2026, 10, 9),
                "hours": 1.0,
                "description": "Draft",
            }
        ]
    )
    assert "requires a task code" in reason(firm.client.time_entries.plan(new), "task_code")


def test_a_code_outside_the_matters_code_sets_is_invalid(firm):
    matter = ledes(firm, "ledes_task_code_required").iloc[0]
    codes = firm.client.codes()
    outside = codes[
        (codes["code_type"] == "task") & codes["selectable"] & ~codes["code_set_id"].isin(matter["ledes_code_set_ids"])
    ]
    entry = firm.client.time_entries(matter_id=matter["matter_id"], billed=False, limit=1)
    plan = firm.client.time_entries.plan(entry.assign(task_code=outside["code"].iloc[0]))
    assert "none of the matter's code sets has this task code" in reason(plan, "task_code")


def test_a_narrative_can_be_corrected_although_a_required_code_is_missing(firm):
    matter = ledes(firm, "ledes_task_code_required").iloc[0]["matter_id"]
    id_ = firm.client.time_entries(matter_id=matter, billed=False, limit=1)["time_entry_id"].item()
    firm.client.time_entries.update(id_, task_code=None)
    entry = firm.client.time_entries(matter_id=matter, billed=False)
    entry = entry[entry["time_entry_id"] == id_]
    assert firm.client.time_entries.plan(entry.assign(description="Corrected")).counts["update"] == 1
    plan = firm.client.time_entries.plan(entry.assign(activity_code="A105"))
    assert plan.counts["update"] == 1


def test_codes_of_expenses_are_read_one_by_one_because_lists_lack_them(firm):
    expenses = firm.client.expenses("2026-10", billed=False, limit=5)
    codes = [firm.client.expenses.get(id_).expense_code for id_ in expenses["expense_id"]]
    plan = firm.client.expenses.plan(expenses.assign(expense_code=codes))
    assert set(plan.frame["status"]) == {"no change"}
    plan = firm.client.expenses.plan(expenses.assign(expense_code="E999"))
    assert set(plan.frame["reason"]) == {"there is no such expense code"}


@pytest.mark.parametrize("resource", ["time_entries", "expenses", "fixed_fees", "matters", "clients"])
def test_a_new_record_needs_what_the_api_requires(firm, resource):
    id_ = {"time_entries": "time_entry_id", "fixed_fees": "fixed_fee_id"}.get(resource, f"{resource[:-1]}_id")
    column = "reference" if resource in {"matters", "clients"} else "description"
    plan = getattr(firm.client, resource).plan(pd.DataFrame({id_: [None], column: ["x"]}))
    missing = set(plan.frame[plan.frame["before"].isna() & plan.frame["after"].isna()]["column"])
    assert (
        missing
        == {
            "time_entries": {"matter_id", "date", "hours"},
            "expenses": {"matter_id", "date", "amount"},
            "fixed_fees": {"matter_id", "date", "amount"},
            "matters": {"name", "client_id", "responsible_id"},
            "clients": {"name", "contact_company_name"},
        }[resource]
    )
    assert plan._sent == []


def test_deletions_that_the_api_refuses_say_why(firm):
    client = firm.client
    billed = client.time_entries("2026-09", billed=True, limit=1)["time_entry_id"].iloc[0]
    assert client.time_entries.plan(delete=billed).frame["status"].tolist() == ["billed"]
    fee = client.time_entries(billing_type="fixedFee", billed=False, limit=50)["fixed_fee_id"].dropna()
    free = next(id_ for id_ in fee if not client.fixed_fees.get(id_).billed)
    for loader, id_, message in [
        (client.clients, client.clients(limit=1)["client_id"].iloc[0], "matters"),
        (client.matters, client.matters(limit=1)["matter_id"].iloc[0], "Archive it instead."),
        (client.fixed_fees, free, "time entries, so it can't be deleted. Take it off them first."),
    ]:
        row = loader.plan(delete=id_).frame.iloc[0]
        assert row["status"] == "invalid"
        assert message in row["reason"]


def test_a_fixed_fee_with_time_entries_stays_in_its_matter(firm):
    client = firm.client
    fees = client.time_entries(billing_type="fixedFee", billed=False, limit=50)["fixed_fee_id"].dropna().unique()
    id_ = next(each for each in fees if not client.fixed_fees.get(each).billed)
    other = client.matters(limit=1)["matter_id"].iloc[0]
    frame = pd.DataFrame({"fixed_fee_id": [id_], "matter_id": [other]})
    assert "are assigned to the fixed fee" in reason(client.fixed_fees.plan(frame), "matter_id")


@pytest.mark.slow
def test_what_the_plan_lets_through_the_api_takes(firm, entries):
    """Values of every editable column, changed on many entries: the API refuses none that the plan would send."""
    part = entries.iloc[60:140].copy()
    part["hours"] = part["hours"] + 0.1
    part["date"] = part["date"] - pd.Timedelta(days=1)
    part["description"] = "ünïcode – “narrative” \n second line"
    part["billing_type"] = ["billable", "nonBillable"] * 40
    part["activity_code"] = "A104"
    plan = firm.client.time_entries.plan(part)
    outcomes = plan.apply()
    assert outcomes["outcome"].astype(str).unique().tolist() == ["done"]
    assert len(outcomes) == plan.counts["update"] > 0
