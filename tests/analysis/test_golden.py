"""Every analysis returns and says what it did before, by every key, on three firms and three engines."""

from __future__ import annotations

import pytest

import billframes as bf
from billframes import FirmSettings
from billframes.loading.load_info import attach_load_info
from tests.analysis import golden


@pytest.mark.slow
@pytest.mark.parametrize("engine", golden.ENGINES)
def test_figures_and_notes_are_as_before(sandbox, client, engine):
    settings = FirmSettings.load(sandbox.firm_settings)
    found = golden.results(client, settings, engine, golden.PARTS[engine])
    changes = list(golden.differences(found, golden.read()))
    more = "If they are intended: python -m tests.analysis.golden --write"
    assert not changes, "\n".join([f"{len(changes)} changes. {more}", *changes[:40]])


@pytest.fixture(scope="module")
def calls():
    """The calls of all analyses of the mixed firm: without expenses, and with the work of one month."""
    firm = {name: table for name, table in golden.mixed_firm().items() if name not in ("expenses", "fixed_fees")}
    settings = FirmSettings(**golden.SETTINGS)
    frames = golden.frames_of(firm, "pandas")
    period = {"period": {"start": "2026-10-01", "end": "2026-10-31"}}
    month = frames | {name: attach_load_info(frames[name].copy(), period) for name in ("time_entries", "invoices")}
    return [golden.calls(each, settings) for each in (frames, month)]


@pytest.mark.parametrize(
    "name",
    [
        *("scorecard", "exposure", "stale", "overdue_invoices", "prebill_review", "write_downs", "effective_rates"),
        *("profitability", "origination", "contribution", "new_business", "realization", "wip"),
    ],
)
def test_a_note_and_a_refusal_name_the_analysis_that_was_asked(name, calls):
    (call, _), (of_month, _) = (each[name] for each in calls)
    with pytest.warns():
        subjects = {each["subject"] for each in bf.notes(call())}
    assert name in subjects
    assert subjects <= {name, "time_entries", "invoices", "settings"}
    with pytest.raises(bf.ParameterError, match=f"^{name} needs all "):
        of_month()
