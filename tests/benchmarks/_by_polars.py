"""The analyses as a good analyst writes them in Polars: one lazy query each, without checks of the frames."""

from __future__ import annotations

import datetime as dt

import polars as pl

from tests.benchmarks._firm import Firm

__all__ = ["aging", "aging_by_matter", "realization", "utilization", "wip"]

C = pl.col
TIMEKEEPERS = ["principal", "attorney", "paralegal", "timekeeper"]
LEFT_OUT = ["contingency", "probono", "internal"]
PREBILL = ["draft", "review", "approved"]


def utilization(firm: Firm, start: dt.date, end: dt.date, capacity: float) -> pl.DataFrame:
    hours, kind = C("hours"), C("billing_type")
    client = kind.is_in(["billable", "fixedFee"]) & (C("matter_type") != "internal")
    worked = (
        firm.time_entries.lazy()
        .filter(C("date").is_between(start, end))
        .join(firm.matters.lazy().select("matter_id", "matter_type"), on="matter_id", how="left")
        .group_by("user_id")
        .agg(
            billable_hours=hours.filter(kind == "billable").sum(),
            fixed_fee_hours=hours.filter(kind == "fixedFee").sum(),
            non_billable_hours=hours.filter(kind == "nonBillable").sum(),
            total_hours=hours.sum(),
            client_hours=hours.filter(client).sum(),
            client_rows=client.sum(),
        )
    )
    figures = ["billable_hours", "fixed_fee_hours", "non_billable_hours", "total_hours", "client_hours"]
    return (
        firm.users.lazy()
        .join(worked, on="user_id", how="left")
        .filter(C("role").is_in(TIMEKEEPERS) | (C("client_rows") > 0))
        .with_columns(C(figures).fill_null(0.0), capacity_hours=pl.lit(capacity))
        .with_columns(utilization=C("client_hours") / C("capacity_hours"))
        .sort("name", "user_id")
        .select("user_id", C("name").alias("user_name"), *figures, "capacity_hours", "utilization")
        .collect()
    )


def realization(firm: Firm, start: dt.date, end: dt.date) -> pl.DataFrame:
    work = (
        firm.time_entries.lazy()
        .filter((C("billing_type") == "billable") & C("invoice_id").is_not_null())
        .select("invoice_id", "matter_id", "client_id", "hours", worth="amount")
    )
    types = firm.matters.lazy().select("matter_id", "matter_type")
    bills = _fees(firm, work.group_by("invoice_id").agg(C("worth").sum(), C("hours").sum())).filter(
        C("invoice_date").is_between(start, end)
    )
    left_out = C("matter_type").is_in(LEFT_OUT)
    rows = (
        work.join(bills.select("invoice_id", "per_worth", "settled"), on="invoice_id")
        .join(types, on="matter_id", how="left")
        .with_columns(billed=C("worth") * C("per_worth"))
    )
    by_client = rows.group_by("client_id").agg(
        worked_amount=C("worth").filter(~left_out).sum(),
        billed_amount=C("billed").filter(~left_out).sum(),
        settled_amount=(C("billed") * C("settled")).filter(~left_out).sum(),
        billable_hours=C("hours").filter(~left_out).sum(),
        left_out_hours=C("hours").filter(left_out).sum(),
        left_out_amount=C("worth").filter(left_out).sum(),
        left_out_billed_amount=C("billed").filter(left_out).sum(),
    )
    beside = (
        bills.filter(C("worth").is_null())
        .group_by("client_id")
        .agg(more=C("net").sum(), more_settled=(C("net") * C("settled")).sum())
    )
    names = firm.invoices.lazy().select("client_id", "client_name").unique("client_id")
    measures = ["worked_amount", "billed_amount", "settled_amount", "billable_hours"]
    left = ["left_out_hours", "left_out_amount", "left_out_billed_amount"]
    return (
        by_client.join(beside, on="client_id", how="full", coalesce=True)
        .join(names, on="client_id", how="left")
        .with_columns(C(*measures, *left, "more", "more_settled").fill_null(0.0))
        .with_columns(C("billed_amount") + C("more"), C("settled_amount") + C("more_settled"))
        .with_columns(
            write_down_amount=C("worked_amount") - C("billed_amount"),
            billing_realization=C("billed_amount") / C("worked_amount"),
            settlement_ratio=C("settled_amount") / C("billed_amount"),
            effective_rate=C("billed_amount") / C("billable_hours"),
        )
        .with_columns(overall_realization=C("billing_realization") * C("settlement_ratio"))
        .sort("client_name", "client_id")
        .select(
            "client_id",
            "client_name",
            *measures,
            "write_down_amount",
            "billing_realization",
            "settlement_ratio",
            "overall_realization",
            "effective_rate",
            *left,
        )
        .collect()
    )


def aging(firm: Firm, as_of: dt.date) -> pl.DataFrame:
    return _aged(_owed(firm, as_of), "client_id", C("client_name").first()).sort("client_name", "client_id").collect()


def aging_by_matter(firm: Firm, as_of: dt.date) -> pl.DataFrame:
    billable = firm.time_entries.lazy().filter((C("billing_type") == "billable") & C("invoice_id").is_not_null())
    time = billable.group_by("invoice_id", "matter_id").agg(worth=C("amount").sum(), hours=C("hours").sum())
    bills = _fees(firm, time.group_by("invoice_id").agg(C("worth").sum(), C("hours").sum()))
    items = [
        time.join(bills.select("invoice_id", "per_worth"), on="invoice_id").select(
            "invoice_id", "matter_id", billed=C("worth") * C("per_worth")
        ),
        *(
            each.lazy().filter(C("invoice_id").is_not_null()).select("invoice_id", "matter_id", billed="amount")
            for each in (firm.expenses, firm.fixed_fees)
        ),
    ]
    shares = pl.concat(items).group_by("invoice_id", "matter_id").agg(C("billed").sum())
    owed = _owed(firm, as_of).join(bills.select("invoice_id", "amount"), on="invoice_id")
    spread = owed.join(shares, on="invoice_id").with_columns(balance=C("balance") * C("billed") / C("amount"))
    names = firm.matters.lazy().select("matter_id", matter_name="name")
    return _aged(spread, "matter_id").join(names, on="matter_id", how="left").sort("matter_name", "matter_id").collect()


def wip(firm: Firm, as_of: dt.date) -> pl.DataFrame:
    invoices = firm.invoices.lazy().select("invoice_id", "invoice_state", "invoice_date")
    open_ = [
        each.lazy()
        .filter(C("date") <= as_of)
        .join(invoices, on="invoice_id", how="left")
        .filter(~((C("invoice_state") == "final") & (C("invoice_date") <= as_of)).fill_null(False))
        .select(
            "client_id", "client_name", "invoice_id", "invoice_state", "date", age=pl.lit(as_of) - C("date"), **columns
        )
        for each, columns in _wip_items(firm)
    ]
    amount, days = C("amount"), C("age").dt.total_days()
    unbilled, found = C("invoice_id").is_null(), C("invoice_state").is_not_null()
    return (
        pl.concat(open_)
        .group_by("client_id")
        .agg(
            C("client_name").first(),
            amount.filter(days <= 30).sum().alias("0-30"),
            amount.filter(days.is_between(31, 60)).sum().alias("31-60"),
            amount.filter(days.is_between(61, 90)).sum().alias("61-90"),
            amount.filter(days > 90).sum().alias("91+"),
            total=amount.sum(),
            unbilled_amount=amount.filter(unbilled).sum(),
            prebill_amount=amount.filter(found).sum(),
            unknown_amount=amount.filter(~unbilled & ~found).sum(),
            time_amount=amount.filter(C("item") == 0).sum(),
            expense_amount=amount.filter(C("item") == 1).sum(),
            fixed_fee_amount=amount.filter(C("item") == 2).sum(),
            hours=C("hours").sum(),
            fixed_fee_hours=C("fee_hours").sum(),
            oldest_date=C("date").min(),
        )
        .sort("client_name", "client_id")
        .collect()
    )


def _wip_items(firm: Firm) -> list[tuple[pl.DataFrame, dict[str, pl.Expr]]]:
    nothing = pl.lit(0.0)

    def of(kind: str, column: str) -> pl.Expr:
        return pl.when(C("billing_type") == kind).then(C(column)).otherwise(nothing)

    time = firm.time_entries.filter(C("billing_type") != "nonBillable")
    worked = {
        "amount": of("billable", "amount"),
        "hours": of("billable", "hours"),
        "fee_hours": of("fixedFee", "hours"),
    }
    paid = {"amount": C("amount"), "hours": nothing, "fee_hours": nothing}
    return [
        (time, worked | {"item": pl.lit(0)}),
        (firm.expenses, paid | {"item": pl.lit(1)}),
        (firm.fixed_fees, paid | {"item": pl.lit(2)}),
    ]


def _fees(firm: Firm, worked: pl.LazyFrame) -> pl.LazyFrame:
    """Return the net billed time fees of final invoices, and their ratio to the value of the time."""
    costs = [
        each.lazy().group_by("invoice_id").agg(C("amount").sum().alias(name))
        for name, each in (("expenses", firm.expenses), ("fees", firm.fixed_fees))
    ]
    return (
        firm.invoices.lazy()
        .filter(C("invoice_state") == "final")
        .join(worked, on="invoice_id", how="left")
        .join(costs[0], on="invoice_id", how="left")
        .join(costs[1], on="invoice_id", how="left")
        .with_columns(net=(C("amount") - C("expenses").fill_null(0.0) - C("fees").fill_null(0.0)).round(6))
        .with_columns(
            per_worth=C("net") / C("worth"),
            settled=pl.when(C("amount") != 0).then((C("amount") - C("balance")) / C("amount")).otherwise(0.0),
        )
    )


def _owed(firm: Firm, as_of: dt.date) -> pl.LazyFrame:
    return (
        firm.invoices.lazy()
        .filter((C("invoice_state") == "final") & (C("invoice_date") <= as_of) & (C("balance") != 0))
        .select(
            "invoice_id", "client_id", "client_name", "balance", late=(pl.lit(as_of) - C("due_date")).dt.total_days()
        )
    )


def _aged(owed: pl.LazyFrame, key: str, *labels: pl.Expr) -> pl.LazyFrame:
    balance, late = C("balance"), C("late")
    debit = balance.clip(lower_bound=0.0)
    return (
        owed.group_by(key)
        .agg(
            *labels,
            debit.filter(late <= 0).sum().alias("current"),
            debit.filter(late.is_between(1, 30)).sum().alias("1-30"),
            debit.filter(late.is_between(31, 60)).sum().alias("31-60"),
            debit.filter(late.is_between(61, 90)).sum().alias("61-90"),
            debit.filter(late > 90).sum().alias("91+"),
            credit_amount=(balance - debit).sum(),
            total=balance.sum(),
            overdue=debit.filter(late > 0).sum(),
            days=(debit * late).filter(late > 0).sum(),
        )
        .with_columns(weighted_days_overdue=pl.when(C("overdue") != 0).then(C("days") / C("overdue")))
        .drop("days")
    )
