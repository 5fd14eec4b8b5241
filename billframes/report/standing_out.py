"""When a further section is on the page: the sentence of one rule each.

A function returns the sentence that says what stands out, or nothing for a quiet month. The workbook has the tables in
any month. A comparison with the year before needs data of those days.
"""

from __future__ import annotations

import math
from typing import Any

from billframes._shared.format import format_number, money
from billframes.periods import Period
from billframes.report import rules
from billframes.report.month import Month
from billframes.report.month_days import YEAR


def late_bills(month: Month) -> str:
    """Tell whether work was billed 5 days later than a year ago, on average."""
    now, then = (_figure(month, "billing_lag", "hours_weighted_lag_days", back) for back in (0, YEAR))
    if not rules.LATE_BILLS.holds(now - then):
        return ""
    return (
        f"An hour of work was billed after {format_number(now, 'days')} days on average "
        f"({_year_ago(month)}: {format_number(then, 'days')})."
    )


def late_time(month: Month) -> str:
    """Tell whether a tenth of the time entries was entered more than a week after the work."""
    share = _figure(month, "timekeeping_lag", "late_ratio")
    if not rules.LATE_TIME.holds(share):
        return ""
    return f"{format_number(share, 'ratio')} of the month’s time entries were entered more than 7 days after the work."


def rates(month: Month) -> str:
    """Tell whether the firm's effective rate differs by 5% from a year ago."""
    now, then = (_figure(month, "effective_rates", "effective_rate", back) for back in (0, YEAR))
    if not (then > 0 and rules.RATES.holds(now / then - 1)):
        return ""
    by, before = format_number(abs(now / then - 1), "ratio"), f"{_year_ago(month)}: {money(then)}"
    return rules.moved("The effective rate", now - then, now, "money", by=by, then=before)


def origination(month: Month) -> str:
    """Tell whether an originator's share of fees differs by 10 points from a year ago."""
    now, then = (_rows(month, "contribution", back, by="originator") for back in (0, YEAR))
    if now is None or then is None:
        return ""
    shares = [each.set_index("originator_id")["fees_amount"] / each["fees_amount"].sum() for each in (now, then)]
    changes = (shares[0].reindex(shares[0].index.union(shares[1].index)).fillna(0) - shares[1]).dropna()
    if changes.empty or not rules.ORIGINATION.holds(changes.abs().max()):
        return ""
    id_ = changes.abs().idxmax()
    names = {row["originator_id"]: row["originator_name"] for each in (then, now) for row in each.to_dict("records")}
    before, after = (format_number(float(each.get(id_, 0.0)), "ratio") for each in (shares[1], shares[0]))
    return f"{after} of the fees come from clients of {names[id_]} ({_year_ago(month)}: {before})."


def concentration(month: Month) -> str:
    """Tell whether a client has 15% of the fees of twelve months, and more than 1.5 times an equal share."""
    if not month.is_known(twelve_months(month)):
        return ""
    days = twelve_months(month)
    rows = month.with_distinct_names(month.result("contribution", by="client", start=days.start, end=days.end))
    rows = rows[rows["share"] > 0].sort_values("share", ascending=False, kind="stable")
    if rows.empty:
        return ""
    first: Any = rows.iloc[0]
    if not (rules.CONCENTRATION.holds(first["share"]) and rules.UNEVEN.holds(first["share"] * len(rows))):
        return ""
    return f"{first['client_name']} was billed {format_number(first['share'], 'ratio')} of the fees of twelve months."


def new_business(month: Month) -> str:
    """Tell whether new clients have a tenth of the fees."""
    share = _figure(month, "new_business", "new_client_share") if month.is_known(twelve_months(month)) else math.nan
    if not rules.NEW_CLIENTS.holds(share):
        return ""
    return f"Clients who are new within twelve months were billed {format_number(share, 'ratio')} of the fees."


def twelve_months(month: Month) -> Period:
    """Return the twelve months that end with this month."""
    return Period(month.earlier(YEAR - 1), month.last)


def _rows(month: Month, analysis: str, back: int, by: str | None = None) -> Any:
    """Return an analysis of the month, or of the same days so many months earlier; None if they are not known."""
    span = month.same_days(back)
    if back and not month.is_known(span):
        return None
    return month.with_distinct_names(month.result(analysis, by=by, start=span.start, end=span.end))


def _figure(month: Month, analysis: str, name: str, back: int = 0) -> float:
    rows = _rows(month, analysis, back)
    return math.nan if rows is None else float(rows[name].iloc[0])


def _year_ago(month: Month) -> str:
    return month.same_days_name(YEAR, short=False)
