"""The sheets for partners, compared with the analyses that each is built from.

`SHEETS` declares the calls for both. The analyses are called with the sheet's own arguments.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import duckdb
import narwhals.stable.v2 as nw

from billframes import analysis
from tests.benchmarks import _firm
from tests.benchmarks._firm import Firm

__all__ = ["LIMIT", "SHEETS", "Sheet", "computed"]

LIMIT = 2.0

START, END, AS_OF = map(dt.date.fromisoformat, (_firm.START, _firm.END, _firm.AS_OF))
LAST_QUARTERS = {"2026-Q1": "2026-Q1", "2026-Q2": "2026-Q2", "2026-Q3": "2026-Q3"}
SPAN: dict[str, Any] = {"start": START, "end": END}


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet, and the functions that make it and its parts from a firm."""

    name: str
    parts: str
    ours: Callable[[Firm], list[Any]]
    of_parts: Callable[[Firm], list[Any]]


def computed(frames: list[Any]) -> None:
    """Compute frames that are still lazy."""
    for frame in frames:
        if isinstance(frame, duckdb.DuckDBPyRelation):
            nw.from_native(frame).collect()


def _items(firm: Firm) -> dict[str, Any]:
    return {"time_entries": firm.time_entries, "expenses": firm.expenses, "fixed_fees": firm.fixed_fees}


def _work(firm: Firm) -> dict[str, Any]:
    return _items(firm) | {"invoices": firm.invoices}


def _all(firm: Firm) -> dict[str, Any]:
    return _work(firm) | {"matters": firm.matters, "users": firm.users}


def _people(firm: Firm) -> dict[str, Any]:
    return {"time_entries": firm.time_entries, "matters": firm.matters, "users": firm.users}


def _realized(firm: Firm, periods: list[str]) -> list[Any]:
    return [analysis.realization(**_work(firm), by="client", start=each, matters=firm.matters) for each in periods]


def _of_scorecard(firm: Firm) -> list[Any]:
    return [
        analysis.utilization(**_people(firm), **SPAN, by="user"),
        analysis.realization(**_all(firm), **SPAN, by="user"),
        analysis.wip(**_all(firm), as_of=AS_OF, by="user"),
        analysis.aging(**_all(firm), as_of=AS_OF, by="user"),
        analysis.timekeeping_lag(**_people(firm), **SPAN, by="user"),
        analysis.missing_time(**_people(firm), **SPAN),
    ]


SHEETS = (
    Sheet(
        "exposure by client",
        "wip and aging by client",
        lambda firm: [analysis.exposure(**_all(firm), as_of=AS_OF)],
        lambda firm: [
            analysis.wip(**_all(firm), as_of=AS_OF, by="client"),
            analysis.aging(**_all(firm), as_of=AS_OF, by="client"),
        ],
    ),
    Sheet(
        "scorecard by user",
        "the six analyses of people it shows",
        lambda firm: [analysis.scorecard(**_all(firm), **SPAN)],
        _of_scorecard,
    ),
    Sheet(
        "bridge by client",
        "realization of both years",
        lambda firm: [analysis.bridge(*_realized(firm, ["2025", "2026"]), by="client")],
        lambda firm: _realized(firm, ["2025", "2026"]),
    ),
    Sheet(
        "compare of three quarters by client",
        "realization of each",
        lambda firm: [analysis.compare(dict(zip(LAST_QUARTERS, _realized(firm, [*LAST_QUARTERS]), strict=True)))],
        lambda firm: _realized(firm, [*LAST_QUARTERS]),
    ),
    Sheet(
        "write_downs by responsible lawyer",
        "realization by the same",
        lambda firm: [analysis.write_downs(**_all(firm), **SPAN)],
        lambda firm: [analysis.realization(**_all(firm), **SPAN, by="responsible")],
    ),
    Sheet(
        "overdue_invoices",
        "aging by matter, spread over entries",
        lambda firm: [analysis.overdue_invoices(**_work(firm), as_of=AS_OF, matters=firm.matters)],
        lambda firm: [analysis.aging(**_work(firm), as_of=AS_OF, by="matter", matters=firm.matters)],
    ),
    Sheet(
        "prebill_review of 5,000 prebills",
        "reconcile, duplicates, aging",
        lambda firm: [analysis.prebill_review(**_work(firm), as_of=AS_OF, matters=firm.matters)],
        lambda firm: [
            analysis.reconcile(**_work(firm)),
            analysis.duplicates(firm.time_entries),
            analysis.aging(firm.invoices, as_of=AS_OF, by="client"),
        ],
    ),
    Sheet(
        "effective_rates by user and year",
        "realization by the same",
        lambda firm: [analysis.effective_rates(**_all(firm), **SPAN, by=("user", "year"))],
        lambda firm: [analysis.realization(**_all(firm), **SPAN, by=("user", "year"))],
    ),
    Sheet(
        "new_business by practice area",
        "contribution by the same",
        lambda firm: [analysis.new_business(**_all(firm), start="2026")],
        lambda firm: [analysis.contribution(**_all(firm), start="2026", by="practice_area")],
    ),
    Sheet(
        "stale",
        "wip by fixed fee and aging, both by matter",
        lambda firm: [analysis.stale(**_all(firm), as_of=AS_OF)],
        lambda firm: [
            analysis.wip(**_work(firm), as_of=AS_OF, by=["matter", "fixed_fee_id"], matters=firm.matters),
            analysis.aging(**_work(firm), as_of=AS_OF, by="matter", matters=firm.matters),
        ],
    ),
)
