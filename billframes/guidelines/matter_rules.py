"""Rules of whole matters and invoices: budgets, invoices in time, and the dates of a matter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from billframes._shared.format import month_name
from billframes.guidelines import keys as read
from billframes.guidelines.declare import BEYOND, ITEM_KINDS, LEAST, GuidelineRule, RuleKind, found
from billframes.guidelines.work import Work


@RuleKind(
    title="dates of the matter",
    keys={"archived": read.flag, "before_opened": read.flag, "closed_field": read.text, "days_after": read.whole},
    needs=("archived", "before_opened", "closed_field"),
    on=("time_entry", "expense"),
    problem="the work does not fit the dates of the matter",
    fix="Check the date and the matter.",
)
def matter(rule: GuidelineRule, rows: pd.DataFrame, work: Work) -> pd.DataFrame:
    """Find work before a matter was opened, after it was closed, or on an archived matter."""
    value = pd.Series("", index=rows.index, dtype=object)
    if rule.get("before_opened"):
        value = value.mask(rows["date"] < pd.to_datetime(rows["opened"]), "before the matter was opened")
    if field := rule.get("closed_field"):
        closed = pd.to_datetime(rows["matter_id"].map({id_: row[field] for id_, row in work.source.matters.items()}))
        late = rows["date"] > closed + pd.Timedelta(days=rule.get("days_after", 0))
        value = value.mask((value == "") & late, "after the matter was closed")
    if rule.get("archived"):
        value = value.mask((value == "") & rows["archived"].fillna(False).astype(bool), "the matter is archived")
    return found(rows, value != "", value)


@RuleKind(
    title="budget of the matter",
    keys={"amount": read.number, "field": read.text, "tasks": read.texts, "warn_at": read.shares},
    needs=("amount", "field"),
    on=("time_entry", "fixed_fee"),
    problem="the fees of the matter are near or above its budget",
    fix="Tell the client, and ask for a larger budget before more work is done.",
    sums=True,
    history=True,
    refuses=BEYOND,
)
def budget(rule: GuidelineRule, rows: pd.DataFrame, work: Work) -> pd.DataFrame:
    """Find matters whose fees reach a share of the budget. The part beyond it is at risk, newest work first."""
    rows = rows[rule.covers(rows["date"])]
    if rule.get("tasks"):
        rows = rows[rows["task_code"].fillna("").str.startswith(tuple(rule.get("tasks")))]
    field, hits = rule.get("field"), []
    for matter_id, items in rows.groupby("matter_id"):
        amount = rule.get("amount") if field is None else work.source.matters[str(matter_id)].get(field)
        if amount is None or pd.isna(amount) or not amount or not items["chosen"].any():
            continue
        fees = items["amount"].sum(min_count=1, skipna=False)
        reached = [share for share in (*rule.get("warn_at", ()), 1.0) if fees >= share * amount - LEAST]
        if not reached:
            continue
        over, open_ = fees - amount, items.loc[items["chosen"], "amount"].sum()
        value = f"{fees:,.2f} of {amount:,.2f} ({fees / amount:.0%})"
        severity = rule.get("severity") if over > LEAST else "review"
        hits.append(_row_of(items, value=value, excess=min(max(over, 0.0), open_), severity=severity, amount=open_))
    return pd.DataFrame(hits)


def _row_of(items: pd.DataFrame, **more: Any) -> dict[str, Any]:
    names = ("client_id", "is_open", "is_unbilled", "matter_id", "invoice_number")
    return {name: items[name].iloc[0] for name in names if len(items[name].unique()) == 1} | more


@RuleKind(
    title="invoices",
    keys={
        "one_matter": read.flag,
        "one_month": read.flag,
        "max_days_after_month": read.whole,
        "every": read.choice("month", "quarter"),
    },
    needs=("one_matter", "one_month", "max_days_after_month"),
    on=ITEM_KINDS,
    fix="Bill each matter by itself, and each month on time.",
    sums=True,
    history=True,
    by_invoice=True,
)
def invoice(rule: GuidelineRule, rows: pd.DataFrame, work: Work) -> pd.DataFrame:
    """Find invoices of several matters or months, late invoices, and months that should have been billed."""
    rows = rows[rows["date"].notna()]
    return pd.DataFrame(
        [
            *_invoices(rule, rows[rows["invoice_id"].notna()], work),
            *_unbilled(rule, rows[rows["is_unbilled"] & rows["chosen"]], work),
        ]
    )


def _invoices(rule: GuidelineRule, rows: pd.DataFrame, work: Work) -> Iterator[dict[str, Any]]:
    chosen = rows.loc[rows["chosen"], "invoice_id"].unique()
    amounts = {row["invoice_id"]: row["amount"] for row in work.source.invoices}
    for invoice_id, items in rows[rows["invoice_id"].isin(chosen)].groupby("invoice_id"):
        first = items.iloc[0]
        row = _row_of(
            items, invoice_number=first["invoice_number"], date=first["invoice_date"], amount=amounts[invoice_id]
        )
        months = items["date"].dt.to_period("M")
        if rule.get("one_matter") and (count := len(items["matter_id"].unique())) > 1:
            yield row | {"problem": "the invoice has several matters", "value": f"{count} matters"}
        if rule.get("one_month") and (count := len(months.unique())) > 1:
            yield row | {"problem": "the invoice has work of several months", "value": f"{count} months"}
        limit = _limit(rule, items["date"].min())
        if limit is not None and first["invoice_date"] > limit:
            problem = f"the invoice is dated after the limit for its oldest work, {limit:%Y-%m-%d}"
            yield row | {"problem": problem, "value": f"{first['invoice_date']:%Y-%m-%d}"}


def _limit(rule: GuidelineRule, day: pd.Timestamp) -> pd.Timestamp | None:
    days = rule.get("max_days_after_month")
    if days is None:
        return None
    return day.to_period(_PERIODS[rule.get("every", "month")]).end_time.normalize() + pd.Timedelta(days=days)


_PERIODS = {"month": "M", "quarter": "Q"}


def _unbilled(rule: GuidelineRule, rows: pd.DataFrame, work: Work) -> Iterator[dict[str, Any]]:
    """Yield a row for each matter and period whose work should have been billed."""
    period = rows["date"].dt.to_period(_PERIODS[rule.get("every", "month")])
    for key, items in rows.groupby(["matter_id", period]):
        each: Any = key[1]
        limit = _limit(rule, items["date"].min())
        if limit is not None and pd.Timestamp(work.as_of) > limit:
            name = month_name(each.start_time.date()) if each.freqstr == "M" else str(each)
            problem = f"work of {name} is unbilled; the limit was {limit:%Y-%m-%d}"
            amount = items["amount"].sum(skipna=False)
            yield _row_of(
                items,
                date=items["date"].min(),
                amount=amount,
                problem=problem,
                value="1 item" if len(items) == 1 else f"{len(items):,} items",
            )
