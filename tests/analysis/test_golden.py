"""Every analysis returns and says what it did before, by every key, on three firms."""

from __future__ import annotations

import pytest

import billframes as bf
from billframes import FirmSettings
from billframes.loading.load_info import attach
from tests.analysis import golden, golden_firms

# The calls of `test_engines.py` compare Polars with pandas.
ON_POLARS = [pytest.mark.slow, pytest.mark.sweep(keep=0)]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["pandas", pytest.param("polars", marks=ON_POLARS)])
def test_figures_of_edge_cases_are_as_before(engine):
    compare(engine, golden.results(golden.cases_of_edges(engine)))


@pytest.mark.slow
@pytest.mark.parametrize("engine", [pytest.param(each, marks=ON_POLARS * (each == "polars")) for each in golden.PARTS])
def test_figures_dtypes_and_notes_by_each_key_are_as_before(sandbox, client, engine):
    settings = FirmSettings.load(sandbox.firm_settings)
    compare(engine, golden.results(golden.cases_of_firms(client, settings, engine, golden.PARTS[engine])))


def compare(engine, found):
    changes = list(golden.differences(engine, found))
    more = "If they are intended: python -m tests.analysis.golden --write"
    assert not changes, "\n".join([f"{len(changes)} changes. {more}", *changes[:40]])


def test_a_change_is_told_with_its_column_row_and_both_values(monkeypatch):
    was = {
        "notes": [["hidden_rates", "wip", "", 2.0]],
        "user_name": ["str|String", "Ada", "Ben"],
        "hours": ["float64|Float64", 3.0, 4.5],
    }
    now = {"notes": [], "user_name": ["str", "Ada", "Ben"], "hours": ["int64", 3, 4]}
    monkeypatch.setattr(golden, "read", {"wip": {"mixed by user": was}}.get)
    assert list(golden.differences("pandas", {"wip": {"mixed by user": now}})) == [
        "wip: mixed by user: no longer noted is ('hidden_rates', 'wip', ''): 2.0",
        "wip: mixed by user: hours is of the dtype int64, and was of float64",
        "wip: mixed by user: hours of row 1 (Ben) is 4, and was 4.5",
    ]
    lines = list(
        golden.differences("duckdb", {"wip": {"mixed by user": {"hours": ["", 3.0], "user_name": ["", "Ada"]}}})
    )
    assert lines == [
        "wip: mixed by user: the columns are hours, user_name, and were user_name, hours",
        "wip: mixed by user: user_name has 1 rows, and had 2",
        "wip: mixed by user: hours has 1 rows, and had 2",
    ]


@pytest.fixture(scope="module")
def calls():
    """The calls of all analyses of the mixed firm: without expenses, and with the work of one month."""
    firm = {name: table for name, table in golden_firms.mixed_firm().items() if name not in ("expenses", "fixed_fees")}
    settings = FirmSettings(**golden_firms.SETTINGS)
    frames = golden_firms.frames_of(firm, "pandas")
    period = {"period": {"start": "2026-10-01", "end": "2026-10-31"}}
    month = frames | {name: attach(frames[name].copy(), "load", period) for name in ("time_entries", "invoices")}
    return [golden_firms.calls(each, settings) for each in (frames, month)]


@pytest.mark.parametrize(
    "name",
    [
        *("scorecard", "exposure", "stale", "overdue_invoices", "prebill_review", "write_downs", "effective_rates"),
        *("profitability", "contribution", "new_business", "realization", "wip"),
    ],
)
def test_a_note_and_a_refusal_name_the_analysis_that_was_asked(name, calls):
    (call, _), (of_month, _) = (each[name] for each in calls)
    with pytest.warns():
        subjects = {each["subject"] for each in call().attrs["notes"]}
    assert name in subjects
    assert subjects <= {name, "time_entries", "invoices", "settings"}
    with pytest.raises(bf.errors.ParameterError, match=f"^{name} needs all "):
        of_month()
