"""The fees of a period in cents, one row per matter, person and day: as billed, or as collected."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import pandas as pd

from billframes._shared.format import long_span
from billframes.analysis.rules.payments import check_payments, payments_in, short_payments
from billframes.errors import ParameterError
from billframes.periods import Period

_FEE = ("invoice_id", "matter_id", "user_id", "fixed_fee_id")
_ROW = ["matter_id", "user_id", "day", "shared_by"]
# Quotas are sums of floating-point numbers, so remainders that differ less are equal.
_DIGITS = 6
# Smaller sums of fees, in cents, are rests of floating-point numbers.
_NO_FEE = 1e-4


def billed_fees(book: Any, period: Period) -> pd.DataFrame:
    """
    Return the fees on final invoices dated in a period.

    A row has `matter_id`, `user_id`, `day` (of the invoice), `shared_by` and `cents`. `shared_by` says how a fixed fee
    was shared: by "value", "hours" or "responsible"; it is empty for time. Missing ids are those of nobody.
    """
    rows = _fees_of_items(book, book.contribution(by=[*_FEE], start=period.start, end=period.end))
    by_invoice = rows.groupby("invoice_id", sort=True)["quota"].sum()
    days = book.invoices.drop_duplicates("invoice_id").set_index("invoice_id")["invoice_date"]
    rows["day"] = days.reindex(rows["invoice_id"]).to_numpy()
    rows["cents"] = _share_out(rows["quota"], rows["invoice_id"], _whole_cents(by_invoice))
    return _added_up(rows)


def collected_fees(book: Any, period: Period, payments: pd.DataFrame) -> pd.DataFrame:
    """Return the fees paid in cash in a period as `billed_fees`; the day is that of the payment."""
    every = check_payments(payments)
    loaded = book.loaded_on("invoices")
    end = min((each for each in (period.end, loaded) if each is not None), default=None)
    if span := short_payments(every, period.start or book.first_day, end):
        raise ParameterError(
            f"base='collected' needs all payments of {long_span(Period(period.start, end))}; these are from {span}."
        )
    # It notes what is doubtful in the payments.
    book.fees_collected(every, by=None, start=period.start, end=period.end)
    paid = payments_in(every, period, "payment_date", None)
    paid = paid[(paid["kind"] == "cash") & paid["invoice_id"].notna()]
    paid = paid.groupby(["invoice_id", "payment_date"])["fee_amount"].sum().reset_index()
    paid["paid"] = _whole_cents(paid["fee_amount"] * 100)
    items = _fees_of_items(book, book.contribution(by=[*_FEE], start=dt.date(1, 1, 1)))
    fees = paid["invoice_id"].map(items.groupby("invoice_id")["quota"].sum()).fillna(0.0)
    can_spread = fees.abs() > _NO_FEE
    rows = paid[can_spread].assign(fees=fees).merge(items, on="invoice_id")
    rows["quota"] = rows["paid"] * rows["quota"] / rows["fees"]
    # Payments that can't be spread are the client's, without matter and person.
    lost = paid[~can_spread].assign(matter_id=None, user_id=None, shared_by="", quota=paid["paid"].astype(float))
    rows = pd.concat([rows, lost], ignore_index=True).rename(columns={"payment_date": "day"})
    payment = rows.groupby(["invoice_id", "day"]).ngroup()
    rows["cents"] = _share_out(rows["quota"], payment, rows.groupby(payment)["paid"].first())
    return _added_up(rows)


def _fees_of_items(book: Any, fees: pd.DataFrame) -> pd.DataFrame:
    """Return the fees by invoice, matter and person in unrounded cents; fixed fees by the time they cover."""
    if fees["fees_amount"].isna().any():
        raise ParameterError("Credits need all fees, but those of some invoices are not known; the notes say why.")
    time = fees[fees["billed_amount"] != 0].assign(quota=fees["billed_amount"] * 100, shared_by="")
    fixed = (
        fees[fees["fixed_fee_amount"] != 0]
        .drop(columns="user_id")
        .merge(_parts_of_fixed_fees(book), on="fixed_fee_id", how="left")
    )
    responsible = book.matters.drop_duplicates("matter_id").set_index("matter_id")["responsible_id"]
    responsible = responsible.reindex(fixed["matter_id"]).set_axis(fixed.index)
    fixed["user_id"] = fixed["user_id"].where(fixed["part"].notna(), responsible)
    fixed["shared_by"] = fixed["shared_by"].fillna("responsible")
    fixed["quota"] = fixed["fixed_fee_amount"] * 100 * fixed["part"].fillna(1.0)
    keys = ["invoice_id", "matter_id", "user_id", "shared_by"]
    rows = pd.concat([time[[*keys, "quota"]], fixed[[*keys, "quota"]]]).astype(dict.fromkeys(keys, "str"))
    return rows.groupby(keys, dropna=False, sort=True)["quota"].sum().reset_index()


def _parts_of_fixed_fees(book: Any) -> pd.DataFrame:
    """Return each person's part of the time that a fixed fee covers: by value, else by hours; fees without any lack."""
    time = book.time_entries
    time = time[time["fixed_fee_id"].notna()]
    value = time["amount"].fillna(time["hours"] * time["rate"])
    sums = time.assign(value=value).groupby(["fixed_fee_id", "user_id"])[["value", "hours"]].sum(skipna=False)
    sums = sums.reset_index()
    fee = sums.groupby("fixed_fee_id")
    parts = []
    known = pd.Series(False, index=sums.index)
    for name in ("value", "hours"):
        is_whole = (sums[name] >= 0).groupby(sums["fixed_fee_id"]).transform("all")
        total = fee[name].transform("sum")
        counts = is_whole & (total > 0) & ~known
        known |= counts
        parts.append(sums[counts].assign(part=sums[name] / total, shared_by=name))
    found: pd.DataFrame = pd.concat(parts)[["fixed_fee_id", "user_id", "part", "shared_by"]]
    return found


def _whole_cents(quotas: pd.Series[Any]) -> pd.Series[Any]:
    one = pd.Series(0, index=quotas.index)
    return _share_out(quotas, one, pd.Series({0: round(math.fsum(quotas))}))


def _share_out(quotas: pd.Series[Any], groups: pd.Series[Any], totals: pd.Series[Any]) -> pd.Series[Any]:
    """Round quotas to whole cents by the largest remainder, so that those of each group add up to its total."""
    exact = quotas.astype(float).round(_DIGITS)
    cents = exact // 1
    groups = groups.set_axis(exact.index)
    lacking = totals.reindex(groups).set_axis(exact.index) - cents.groupby(groups).transform("sum")
    rank = (cents - exact).round(_DIGITS).groupby(groups).rank(method="first")
    return (cents + (rank <= lacking)).astype("int64")


def _added_up(rows: pd.DataFrame) -> pd.DataFrame:
    added = rows.groupby(_ROW, dropna=False, sort=True)["cents"].sum().reset_index()
    return added[added["cents"] != 0].reset_index(drop=True)
