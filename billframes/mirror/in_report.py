"""The mirror in the monthly report: by how much balances fell, and what changed a month since it was closed."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from billframes._shared.format import format_number, long_date, month_name
from billframes.analysis.declare.lookup import measures
from billframes.analysis.declare.metrics import Measure
from billframes.book import Book
from billframes.config.firm import FirmSettings
from billframes.mirror.mirror import Mirror
from billframes.mirror.restated import month_of, restated
from billframes.periods import Period, local_day, resolve
from billframes.report.first_page import Tile
from billframes.report.month import Month
from billframes.report.section_spec import FIRM, SectionSpec
from billframes.report.table_spec import ReportTable

_FEES = "fees_amount"
_FIGURES = ("cohort_amount", "client_hours", _FEES)
_CAUSES = {
    "entered_late": "Entered late",
    "deleted": "Deleted",
    "redated": "Moved to or from the month",
    "retyped": "Made billable or not",
    "hours_changed": "Hours changed",
    "repriced": "Rate or amount changed",
    "moved": "Moved to another matter or client",
    "invoice_changed": "Invoiced, voided, credited or changed",
}
_RECORDS = Measure("records", "Records", "count", "Records that changed for this reason.", adds_up=False)
_COLUMNS = tuple(measures()[name] for name in _FIGURES)
_A_CENT = 0.005


def cash_tile(month: Month, settled: str) -> Tile | None:
    """Return what came in by the balances of the month; None without two versions of a mirror."""
    mirror = month.firm_book.client
    if not isinstance(mirror, Mirror) or len(mirror.history()) < 2:
        return None
    rows = mirror.implied_receipts(month.first, month.last)
    value = format_number(float(rows["implied_receipt_amount"].sum()), "money")
    return Tile("Receipts, from balances", value, "", tuple(filter(None, ("may include write-offs", settled))))


@dataclass(frozen=True)
class Restated:
    """What changed a closed month: its books then and now, and the day of its close."""

    then: Book
    now: Book
    period: Period
    closed: dt.date

    @functools.cached_property
    def parts(self) -> pd.DataFrame:
        """The parts by record; page one does without them."""
        return restated(self.then, self.now, self.period, _FIGURES, None, {}, records=True)

    @property
    def name(self) -> str:
        """The month in words."""
        return month_name(self.period.start or self.closed)

    def for_matters(self, _matters: pd.DataFrame) -> Restated:
        """Return all parts, which only the firm's report shows."""
        return self

    @property
    def changed(self) -> str:
        """The figure that changed: the value of work, or hours if the value is as it was or unknown; else empty."""
        sums = self.parts.groupby("figure")["amount"].sum(skipna=False)
        return next((name for name in _FIGURES if abs(sums.get(name, 0.0)) >= _A_CENT), "")

    def signed(self, amount: float) -> str:
        """Return an amount of the figure with its sign."""
        return f"{_signed(amount, 'hours')} hours" if self.changed == "client_hours" else _signed(amount)


def _signed(amount: float, unit: str = "cents") -> str:
    return f"{'+' if amount > 0 else ''}{format_number(amount, unit)}"


def load(month: Month, _files: Sequence[str]) -> None:
    """Keep what changed the newest closed month, up to the report's own, with the month."""
    mirror = month.firm_book.client
    if not isinstance(mirror, Mirror):
        return
    closed = [
        (name, version)
        for version in mirror._versions()
        for tag in version.tags
        if (name := month_of(tag)) and name <= f"{month.last:%Y-%m}" and version.number < mirror.version
    ]
    if not closed:
        return
    name, version = max(closed, key=lambda each: (each[0], each[1].number))
    period, now = resolve(name), month.firm_book
    then = Book(period, settings=now.settings, client=mirror.as_of(version.number))
    closed_on = local_day(version.time, (now.settings or FirmSettings()).time_zone)
    month.parts["mirror"] = Restated(then, now, period, closed_on)


def _found(month: Month) -> Restated | None:
    found: Restated | None = month.parts.get("mirror")
    return found if found and found.changed else None


def _stands_out(month: Month) -> str:
    found = _found(month)
    if found is None:
        return ""
    name, parts = found.name, found.parts
    amounts = parts[parts["figure"] == found.changed].groupby("cause")["amount"].sum()
    most = str(amounts.abs().idxmax())
    largest = f" Largest part: {_CAUSES[most].lower()}, {found.signed(amounts[most])}." if len(amounts) > 1 else ""
    of_fees = parts.loc[(parts["figure"] == _FEES) & (found.changed != _FEES), "amount"].sum()
    fees = f", and its fees by {_signed(of_fees)}," if abs(of_fees) >= _A_CENT else ""
    what = f"The fees of {name} were" if found.changed == _FEES else f"{name} was"
    return f"{what} restated by {found.signed(amounts.sum())}{fees} since its close.{largest}"


def _by_cause(month: Month) -> ReportTable | None:
    found = _found(month)
    if found is None:
        return None
    rows = _add_up(found.parts, ["cause"])
    rows = rows.loc[[each for each in _CAUSES if each in rows.index]]
    rows["records"] = found.parts.groupby("cause")["record_id"].nunique().astype("float64")
    total = pd.DataFrame([{**rows[[*_FIGURES]].sum(), "records": float(found.parts["record_id"].nunique())}])
    rows = rows.rename(index=_CAUSES).reset_index()
    return _table("Restated by cause", "cause", ("cause",), rows, total, (*_COLUMNS, _RECORDS), _of_close(found))


def _by_record(month: Month) -> ReportTable | None:
    found = _found(month)
    if found is None:
        return None
    labels = ("cause", "kind", "date", "user_name", "client_name", "matter_name")
    ids = ("record_id", "user_id", "client_id", "matter_id")
    rows = _add_up(found.parts, [*labels, *ids]).reset_index()
    rows["cause"] = rows["cause"].map(_CAUSES)
    rows = month.with_distinct_names(rows)
    return _table("Restated records", "record_id", labels, rows, rows.iloc[:0], _COLUMNS, _of_close(found))


def _add_up(parts: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    amounts = {name: parts["amount"].where(parts["figure"] == name, 0.0) for name in _FIGURES}
    return parts.assign(**amounts).groupby(by, dropna=False, sort=False)[[*_FIGURES]].sum(skipna=False)


def _table(
    title: str,
    label: str,
    labels: tuple[str, ...],
    rows: pd.DataFrame,
    total: pd.DataFrame,
    columns: tuple[Measure, ...],
    meaning: str,
) -> ReportTable:
    return ReportTable(
        title=title,
        label=label,
        labels=labels,
        rows=rows,
        total=total,
        columns=columns,
        meaning=(meaning,),
        bar=_FIGURES[0],
        top=0,
    )


def _of_close(found: Restated) -> str:
    return (
        f"Changes of {found.name} since the mirror of {long_date(found.closed)}, with which it was closed. Each is the "
        "change by this cause alone, after those above it. Work on matters of every type counts."
    )


SECTIONS = {
    "trends": (
        SectionSpec(
            name="restated",
            title="Closed months",
            tables=(_by_cause, _by_record),
            stands_out=_stands_out,
            scope=lambda month: f"closed on {long_date(month.parts['mirror'].closed)}",
            notes=lambda _month, table: table.meaning,
            scopes=FIRM,
        ),
    )
}
