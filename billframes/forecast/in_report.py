"""The outlook on cash: a sentence with its range, its record, and the tables of the workbook.

The forecast is made from the day of the load, because balances are of that day. So the report of a month that ended
long before has none, and neither has that of a part of the firm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from billframes._shared.format import format_number, long_date, short_date
from billframes.analysis.declare.lookup import analyses
from billframes.errors import ParameterError
from billframes.forecast.rows import WORK_TO_COME
from billframes.report.month import Month
from billframes.report.page_table import PageTable, range_table
from billframes.report.section_spec import SectionSpec
from billframes.report.table_spec import MakeTable, ReportTable, Table

# A report is read in the weeks after its month.
_LATEST = 62
_WEEKS = 8
_DIGITS = 2


def outlook(month: Month) -> str:
    """Return the outlook on cash; empty for a part of the firm, long after the month, or without a forecast."""
    rows = forecast(month)
    if rows is None:
        return ""
    first: Any = rows.iloc[0]
    end = long_date(first["end"]).rpartition(" ")[0]
    if pd.isna(first["cash_amount"]):
        return f"Of the open invoices, about {_about(first['open_cash_amount'])} are expected by {end}."
    low, cash, high = (_about(first[name]) for name in ("low_amount", "cash_amount", "high_amount"))
    return f"By {end} about {cash} may come in; in four of five cases {low} to {high}."


def forecast(month: Month) -> pd.DataFrame | None:
    """Return the forecast of three horizons; None if the report has none."""
    try:
        return _forecast(month) if _is_shown(month) else None
    except ParameterError:
        return None


def _range_notes(rows: pd.DataFrame, size: float) -> Iterator[str]:
    yield f"Cumulative, rounded to {size:,.0f}. In four of five cases it lies within the range."
    if _checked(rows):
        yield record_sentence(rows)


def _is_shown(month: Month) -> bool:
    loaded = month.loaded_on
    return not (month.scope or month.is_empty or loaded is None) and (loaded - month.last).days <= _LATEST


def forecast_of(call: Callable[..., pd.DataFrame], horizons: Any = (4, 8, 13)) -> pd.DataFrame:
    """Return the forecast of some horizons; of those from 8 weeks on if a firm has few invoices."""
    try:
        return call(horizons=horizons)
    except ParameterError:
        return call(horizons=(8, 13))


def _forecast(month: Month, horizons: Any = (4, 8, 13), **options: Any) -> pd.DataFrame:
    return forecast_of(partial(month.result, "cash_forecast", **options), horizons)


def why_not(error: ParameterError) -> str:
    """Return the first sentence of a refusal; the others are for programmers."""
    reason = str(error).split(". ")[0].rstrip(".")
    return f"Cash is not forecast: {reason[:1].lower()}{reason[1:]}."


def _about(amount: float) -> str:
    if not amount > 0:
        return "0"
    size = 10 ** (math.floor(math.log10(amount)) - _DIGITS + 1)
    return format_number(round(amount / size) * size, "money")


def _checked(rows: pd.DataFrame) -> dict[str, Any] | None:
    """Return the record of the first horizon; None if no forecast could be checked."""
    record: dict[str, Any] = rows.attrs["record"][0]
    return record if record["forecasts"] else None


def record_sentence(rows: pd.DataFrame) -> str:
    """Say how good earlier forecasts of the first horizon were, if any could be checked, and what the rule gives."""
    rule = f"12 months’ billing × the share of it that is paid gives {_about(rows['naive_amount'].iloc[0])}."
    record = _checked(rows)
    if record is None:
        return f"A simple rule, {rule}"
    number, inside = record["forecasts"], record["inside"]
    return (
        f"Of {number} earlier {'forecast' if number == 1 else 'forecasts'} of {record['weeks']:.0f} weeks, {inside} "
        f"{'was' if inside == 1 else 'were'} inside the range and {number - inside} outside; they were off by "
        f"{format_number(record['error'], 'ratio')} on average (12 months’ billing: "
        f"{format_number(record['naive_error'], 'ratio')}). {rule}"
    )


def _by_week(month: Month) -> ReportTable | None:
    """Return the parts of the cash by week; without rows, and with the reason, if nothing can be forecast."""
    if not _is_shown(month):
        return None
    try:
        rows = _forecast(month, "weeks")
    except ParameterError as error:
        nothing = pd.DataFrame({"horizon": []})
        return ReportTable(
            title="Cash forecast", label="horizon", rows=nothing, total=nothing, columns=(), notes=(why_not(error),)
        )
    return (_WEEKLY if len(rows) > 2 else _LONG)(month)


def _weekly(horizons: Any) -> Table:
    return Table(
        analysis="cash_forecast",
        title="Cash expected by week" if horizons == "weeks" else "Cash expected",
        label="horizon",
        options=lambda _month: {"horizons": horizons},
        top=0,
    )


_WEEKLY, _LONG = _weekly("weeks"), _weekly((8, 13))
_CLIENTS = Table(
    analysis="cash_forecast",
    by="client",
    title=f"Cash expected in {_WEEKS} weeks by {{by}}",
    label="client_name",
    order=("cash_amount", "open_cash_amount"),
    options=lambda _month: {"horizons": (_WEEKS,)},
    top=6,
    apart=WORK_TO_COME,
)
_RECORD = Table(
    analysis="cash_forecast_record",
    title=f"Forecasts of {_WEEKS} weeks beside what came",
    label="forecast",
    options=lambda _month: {"horizons": (_WEEKS,)},
    top=0,
)


def _if_known(table: Table) -> MakeTable:
    def make(month: Month) -> ReportTable | None:
        try:
            made = table(month) if _is_shown(month) else None
        except ParameterError:
            return None
        return made if made and len(made.rows) else None

    return make


def about_receivables(month: Month) -> Iterator[str]:
    """Say what would change the forecast, if there is one."""
    if forecast(month) is not None:
        known = [f"{each[:1].lower()}{each[1:]}" for each in analyses()["cash_forecast"].cannot_tell]
        yield f"What would change the forecast, and is not in the data: {'; '.join(known)}."


def beside_receivables(month: Month) -> PageTable | None:
    """Return the cash that may come in, with its ranges; None if it is not forecast."""
    rows = forecast(month)
    if rows is None or rows["cash_amount"].isna().any():
        return None
    amounts = rows[["low_amount", "cash_amount", "high_amount", "open_cash_amount"]].astype("float64")
    size = 10 ** (math.floor(math.log10(max(amounts["cash_amount"].max(), 1.0))) - 2)
    about = (amounts / size).round() * size
    found = [
        (
            f"by {short_date(row['end'])}",
            f"{format_number(near['open_cash_amount'], 'money')} on open invoices",
            *(float(near[name]) for name in ("low_amount", "cash_amount", "high_amount")),
        )
        for row, near in zip(rows.to_dict("records"), about.to_dict("records"), strict=True)
    ]
    made = range_table("Cash that may come in", found)  # type: ignore[arg-type]
    return replace(made, notes=tuple(_range_notes(rows, size)))


SECTIONS = {
    "receivables": (
        SectionSpec(name="cash_expected", tables=(_by_week, _if_known(_CLIENTS), _if_known(_RECORD)), on_page=False),
    )
}
