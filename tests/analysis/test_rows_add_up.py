"""Rows add up: by every key, in every firm, a measure that is declared to add up has the firm's sum."""

from __future__ import annotations

import functools
import itertools
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest

from billframes import FirmSettings
from billframes.analysis.data.data import Data
from billframes.analysis.declare.key_words import SHORT_NAMES
from billframes.analysis.declare.lookup import analyses
from billframes.book.methods import FRAME_NAMES
from billframes.errors import MissingColumnError, ParameterError
from tests.analysis.calls import SETTINGS, edge_case_frames, ledger, many_invoices, payments_of
from tests.analysis.conftest import ENGINES, Firm
from tests.analysis.golden_firms import call_kept, kept
from tests.firms import FIRMS, LAST, on

# A person's capacity and target are whole, whatever the matters that the person works on.
OF_PEOPLE = {"capacity_hours", "target_hours", "idle_capacity_hours", "missing_days"}
BY_PEOPLE = {"user", "role", "week", "month", "quarter", "year", "fiscal_quarter", "fiscal_year"}
# Keys that only one analysis has.
OWN_KEYS = {"cash_forecast": ("client", "invoice"), "tie_out": ("reason",), "write_downs": ("size",)}
DAYS = {"start": "2025-10-01", "end": LAST, "as_of": LAST}


def with_credits() -> dict[str, Any]:
    """Return a firm of six years, with credits and work below 0 that is not billed."""
    frames = dict(many_invoices())
    invoices, entries = frames["invoices"].copy(), frames["time_entries"]
    invoices.loc[invoices.index[:20], ["amount", "balance"]] = -900.0
    below = entries[entries["invoice_id"].isna()].head(30).assign(amount=-2500.0)
    return frames | {"invoices": invoices, "time_entries": pd.concat([entries, below], ignore_index=True)}


ALL: dict[str, Callable[[], dict[str, Any]]] = {
    **{name: (lambda make=make: on(make(), lambda table: table.to_pandas())) for name, make in FIRMS.items()},
    "edge cases": lambda: edge_case_frames(Firm(ENGINES["pandas"])),
    "credits": with_credits,
}
frames_of = functools.cache(lambda name: ALL[name]())


@functools.cache
def data_of(firm: str) -> Data:
    return kept({name: each for name, each in frames_of(firm).items() if name in FRAME_NAMES})


def rows_of(name: str, firm: str, by: Any, **options: Any) -> pd.DataFrame:
    """Return the rows of an analysis by a key."""
    takes, frames = analyses()[name].takes, frames_of(firm)
    days = DAYS | {each: frames[each] for each in ("as_of", "since") if each in frames}
    given = {each: value for each, value in {**frames, **days}.items() if each in takes and each not in FRAME_NAMES}
    if "payments" in takes and name != "cash_forecast":
        given["payments"] = payments_of(None)
    if "ledger" in takes:
        given["ledger"] = ledger()
    if "settings" in takes:
        given["settings"] = SETTINGS if firm == "edge cases" else FirmSettings(cost_rates={"u0": 100.0, "u1": 60.0})
    if name == "cash_forecast":
        given["horizons"] = (13,)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call_kept(name, data_of(firm), **given | options, by=by)


NAMES = [name for name, each in analyses().items() if "by" in each.takes and name not in ("bridge", "cash_forecast")]


def cases() -> Iterator[Any]:
    """Yield each analysis with the firm of all edge cases, and with one of the others in turn."""
    # A forecast needs 50 invoices a year, and no other analysis needs so many.
    yield "cash_forecast", "credits"
    yield from ((name, "edge cases") for name in NAMES)
    yield from zip(NAMES, itertools.cycle(FIRMS), strict=False)


@pytest.mark.slow
@pytest.mark.sweep(keep=6)
@pytest.mark.parametrize(("name", "made"), list(cases()))
def test_rows_add_up_to_the_firms_figures(name: str, made: str) -> None:
    try:
        whole = rows_of(name, made, None)
    except ParameterError as error:
        pytest.skip(str(error).split(". ")[0])
    found = 0
    for by in (*OWN_KEYS.get(name, ()), *SHORT_NAMES, ["client", "month"]):
        try:
            rows = rows_of(name, made, by)
        except (MissingColumnError, ParameterError):
            continue
        for measure in analyses()[name].columns:
            if measure.name not in rows or measure.name not in whole or not measure.adds_up:
                continue
            if measure.name in OF_PEOPLE and not BY_PEOPLE.issuperset([by] if isinstance(by, str) else by):
                continue
            total, added = (each[measure.name].sum(skipna=False) for each in (whole, rows))
            if not math.isnan(total) and not math.isnan(added):
                assert added == pytest.approx(total, abs=1e-6), (by, measure.name)
                found += 1
    assert found or whole.empty
