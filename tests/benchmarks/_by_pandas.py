"""The analyses as a good analyst writes them in pandas, without loops over rows."""

from __future__ import annotations

import pandas as pd

from tests.benchmarks._firm import Firm

__all__ = ["aging", "aging_by_matter", "realization", "utilization", "wip"]

TIMEKEEPERS = ["principal", "attorney", "paralegal", "timekeeper"]
LEFT_OUT = ["contingency", "probono", "internal"]


def utilization(firm: Firm, start: pd.Timestamp, end: pd.Timestamp, capacity: float) -> pd.DataFrame:
    entries = firm.time_entries
    entries = entries.loc[entries["date"].between(start, end), ["user_id", "matter_id", "billing_type", "hours"]]
    internal = firm.matters.loc[firm.matters["matter_type"] == "internal", "matter_id"]
    kind, hours = entries["billing_type"], entries["hours"]
    client = kind.isin(["billable", "fixedFee"]) & ~entries["matter_id"].isin(internal)
    worked = (
        pd.DataFrame(
            {
                "billable_hours": hours.where(kind == "billable", 0.0),
                "fixed_fee_hours": hours.where(kind == "fixedFee", 0.0),
                "non_billable_hours": hours.where(kind == "nonBillable", 0.0),
                "total_hours": hours,
                "client_hours": hours.where(client, 0.0),
                "client_rows": client,
            }
        )
        .groupby(entries["user_id"])
        .sum()
    )
    figures = ["billable_hours", "fixed_fee_hours", "non_billable_hours", "total_hours", "client_hours"]
    people = firm.users.merge(worked, on="user_id", how="left")
    people = people[people["role"].isin(TIMEKEEPERS) | (people["client_rows"] > 0)].fillna(dict.fromkeys(figures, 0.0))
    people = people.assign(capacity_hours=capacity, utilization=people["client_hours"] / capacity)
    people = people.rename(columns={"name": "user_name"}).sort_values(["user_name", "user_id"], ignore_index=True)
    return people[["user_id", "user_name", *figures, "capacity_hours", "utilization"]]


def realization(firm: Firm, start: pd.Timestamp, end: pd.Timestamp) -> pd.DataFrame:
    entries = firm.time_entries
    on_invoice = (entries["billing_type"] == "billable") & entries["invoice_id"].notna()
    work = entries.loc[on_invoice, ["invoice_id", "matter_id", "client_id", "hours", "amount"]]
    bills = _fees(firm, work)
    bills = bills[bills["invoice_date"].between(start, end)]
    rows = work.merge(bills[["invoice_id", "per_worth", "settled"]], on="invoice_id")
    rows["billed"] = rows["amount"] * rows["per_worth"]
    rows["paid"] = rows["billed"] * rows["settled"]
    types = firm.matters.set_index("matter_id")["matter_type"]
    left_out = rows["matter_id"].isin(types.index[types.isin(LEFT_OUT)])
    names = {"amount": "worked_amount", "billed": "billed_amount", "paid": "settled_amount", "hours": "billable_hours"}
    counted = rows[~left_out].groupby("client_id")[list(names)].sum().rename(columns=names)
    left_names = {"hours": "left_out_hours", "amount": "left_out_amount", "billed": "left_out_billed_amount"}
    left = rows[left_out].groupby("client_id")[list(left_names)].sum().rename(columns=left_names)
    beside = bills[bills["worth"].isna()]
    beside = beside.assign(settled_amount=beside["net"] * beside["settled"], billed_amount=beside["net"])
    more = beside.groupby("client_id")[["billed_amount", "settled_amount"]].sum()
    result = counted.join(left, how="outer").fillna(0.0)
    result = result.add(more, fill_value=0.0).fillna(0.0)
    result["write_down_amount"] = result["worked_amount"] - result["billed_amount"]
    result["billing_realization"] = result["billed_amount"] / result["worked_amount"]
    result["settlement_ratio"] = result["settled_amount"] / result["billed_amount"]
    result["effective_rate"] = result["billed_amount"] / result["billable_hours"]
    result["overall_realization"] = result["billing_realization"] * result["settlement_ratio"]
    names = firm.invoices.drop_duplicates("client_id").set_index("client_id")["client_name"]
    return result.join(names).reset_index().sort_values(["client_name", "client_id"], ignore_index=True)


def aging(firm: Firm, as_of: pd.Timestamp) -> pd.DataFrame:
    owed = _owed(firm, as_of)
    names = owed.drop_duplicates("client_id").set_index("client_id")["client_name"]
    return (
        _aged(owed, "client_id").join(names).reset_index().sort_values(["client_name", "client_id"], ignore_index=True)
    )


def aging_by_matter(firm: Firm, as_of: pd.Timestamp) -> pd.DataFrame:
    entries = firm.time_entries
    on_invoice = (entries["billing_type"] == "billable") & entries["invoice_id"].notna()
    work = entries.loc[on_invoice, ["invoice_id", "matter_id", "hours", "amount"]]
    work = work.groupby(["invoice_id", "matter_id"], as_index=False, sort=False).sum()
    bills = _fees(firm, work)
    time = work.merge(bills[["invoice_id", "per_worth"]], on="invoice_id")
    time["amount"] *= time["per_worth"]
    columns = ["invoice_id", "matter_id", "amount"]
    items = pd.concat(
        [time[columns], *(each.loc[each["invoice_id"].notna(), columns] for each in (firm.expenses, firm.fixed_fees))]
    )
    shares = items.groupby(["invoice_id", "matter_id"], as_index=False, sort=False).sum()
    owed = _owed(firm, as_of).merge(bills[["invoice_id", "amount"]], on="invoice_id")
    spread = owed.merge(shares, on="invoice_id", suffixes=("", "_billed"))
    spread["balance"] *= spread["amount_billed"] / spread["amount"]
    names = firm.matters.set_index("matter_id")["name"].rename("matter_name")
    result = _aged(spread, "matter_id").join(names)
    return result.reset_index().sort_values(["matter_name", "matter_id"], ignore_index=True)


def wip(firm: Firm, as_of: pd.Timestamp) -> pd.DataFrame:
    final = (firm.invoices["invoice_state"] == "final") & (firm.invoices["invoice_date"] <= as_of)
    invoices = firm.invoices[["invoice_id"]].assign(final=final.astype(float))
    columns = ["client_id", "client_name", "invoice_id", "date", "amount"]
    open_ = []
    for item, each in (("time", firm.time_entries), ("expense", firm.expenses), ("fixed_fee", firm.fixed_fees)):
        more = ["billing_type", "hours"] if item == "time" else []
        rows = each.loc[each["date"] <= as_of, [*columns, *more]]
        if item == "time":
            rows = rows[rows["billing_type"] != "nonBillable"]
        rows = rows.merge(invoices, on="invoice_id", how="left")
        open_.append(rows[rows["final"] != 1].assign(item=item))
    rows = pd.concat(open_, ignore_index=True)
    amount, days = rows["amount"].fillna(0.0), (as_of - rows["date"]).dt.days
    kind, item, unbilled = rows["billing_type"], rows["item"], rows["invoice_id"].isna()
    found = rows["final"].notna()
    parts = {
        "0-30": amount.where(days <= 30, 0.0),
        "31-60": amount.where(days.between(31, 60), 0.0),
        "61-90": amount.where(days.between(61, 90), 0.0),
        "91+": amount.where(days > 90, 0.0),
        "total": amount,
        "unbilled_amount": amount.where(unbilled, 0.0),
        "prebill_amount": amount.where(found, 0.0),
        "unknown_amount": amount.where(~unbilled & ~found, 0.0),
        "time_amount": amount.where(item == "time", 0.0),
        "expense_amount": amount.where(item == "expense", 0.0),
        "fixed_fee_amount": amount.where(item == "fixed_fee", 0.0),
        "hours": rows["hours"].where(kind == "billable", 0.0),
        "fixed_fee_hours": rows["hours"].where(kind == "fixedFee", 0.0),
    }
    result = pd.DataFrame(parts).groupby(rows["client_id"]).sum()
    result["oldest_date"] = rows.groupby("client_id")["date"].min()
    names = rows.drop_duplicates("client_id").set_index("client_id")["client_name"]
    return result.join(names).reset_index().sort_values(["client_name", "client_id"], ignore_index=True)


def _fees(firm: Firm, work: pd.DataFrame) -> pd.DataFrame:
    """Return the net billed time fees of final invoices, and their ratio to the value of the time."""
    bills = firm.invoices[firm.invoices["invoice_state"] == "final"].copy()
    at = bills["invoice_id"]
    bills["worth"] = at.map(work.groupby("invoice_id")["amount"].sum())
    costs = [
        at.map(each.groupby("invoice_id")["amount"].sum()).fillna(0.0) for each in (firm.expenses, firm.fixed_fees)
    ]
    bills["net"] = (bills["amount"] - costs[0] - costs[1]).round(6)
    bills["per_worth"] = bills["net"] / bills["worth"]
    bills["settled"] = ((bills["amount"] - bills["balance"]) / bills["amount"]).where(bills["amount"] != 0, 0.0)
    return bills


def _owed(firm: Firm, as_of: pd.Timestamp) -> pd.DataFrame:
    bills = firm.invoices
    open_ = (bills["invoice_state"] == "final") & (bills["invoice_date"] <= as_of) & (bills["balance"] != 0)
    owed = bills.loc[open_, ["invoice_id", "client_id", "client_name", "balance", "due_date"]]
    return owed.assign(late=(as_of - owed["due_date"]).dt.days)


def _aged(owed: pd.DataFrame, key: str) -> pd.DataFrame:
    balance, late = owed["balance"], owed["late"]
    debit = balance.clip(lower=0.0)
    overdue = debit.where(late > 0, 0.0)
    parts = {
        "current": debit.where(late <= 0, 0.0),
        "1-30": debit.where(late.between(1, 30), 0.0),
        "31-60": debit.where(late.between(31, 60), 0.0),
        "61-90": debit.where(late.between(61, 90), 0.0),
        "91+": debit.where(late > 90, 0.0),
        "credit_amount": balance - debit,
        "total": balance,
        "overdue": overdue,
        "days": overdue * late,
    }
    result = pd.DataFrame(parts).groupby(owed[key]).sum()
    result["weighted_days_overdue"] = (result["days"] / result["overdue"]).where(result["overdue"] != 0)
    return result.drop(columns="days")
