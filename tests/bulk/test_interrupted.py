"""An apply that is interrupted says how to finish it, and so do the calls after it."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import platformdirs
import pytest

import billframes as bf
from billframes import cli
from billframes.bulk import apply as applying
from billframes.bulk.journal import Journal
from billframes.bulk.plan import Plan
from tests.bulk.conftest import Firm


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(applying, "SETTLE_SECONDS", 0.0)


def plan_of(firm: Firm, number: int, text: str) -> Plan:
    """Plan to change the description of some time entries as they are now."""
    loaded = firm.client.time_entries("2026-10", billed=False, limit=number)
    return firm.client.time_entries.plan(loaded.assign(description=text))


def interrupted(firm: Firm, text: str, journal: Path | None = None) -> tuple[Plan, str]:
    """Apply 40 changes until Ctrl-C; return the plan and the note."""

    def press(done: int, _: int) -> None:
        if done >= 21:
            raise KeyboardInterrupt

    plan = plan_of(firm, 40, text)
    with pytest.raises(KeyboardInterrupt) as raised:
        plan.apply(journal, progress=press)
    [note] = raised.value.__notes__
    return plan, note


@pytest.mark.slow
def test_ctrl_c_says_how_far_it_came_and_how_to_finish(firm, journal):
    at = firm.position()
    plan, note = interrupted(firm, "Interrupted", journal)
    sent = len(firm.changes(at))
    assert 21 <= sent < 40
    assert note == f"{sent} of 40 changes have an outcome. Finish with bf.bulk.resume({str(journal)!r})."
    assert plan.journal == journal
    for call in (plan.apply, plan.reverse):
        with pytest.raises(bf.errors.ParameterError, match=re.escape(f"bf.bulk.resume({str(journal)!r}) finishes it")):
            call()
    outcomes = bf.bulk.resume(journal, client=firm.client)
    assert outcomes["outcome"].tolist() == ["done"] * 40
    assert outcomes.reverse().counts["update"] == plan.reverse().counts["update"] == 40
    with pytest.raises(bf.errors.ParameterError, match="has been applied. Plan again"):
        plan.apply()


def test_a_plan_has_no_journal_before_it_is_applied(firm, journal):
    plan = plan_of(firm, 1, "Once")
    assert plan.journal is None
    with pytest.raises(bf.errors.ParameterError, match="has not been applied"):
        plan.reverse()
    assert plan.apply(journal).journal == plan.journal == journal
    with pytest.raises(bf.errors.ParameterError, match="has been applied. Plan again"):
        plan.apply()


def test_a_credential_that_is_not_accepted_names_the_journal(firm, journal):
    plan = plan_of(firm, 3, "Without a key")
    with bf.Client(firm.sandbox.base_url, "wrong", progress=False) as other:
        plan._connection = other._connection
        with pytest.raises(bf.errors.AuthenticationError) as raised:
            plan.apply(journal)
    assert raised.value.__notes__ == [f"0 of 3 changes have an outcome. Finish with bf.bulk.resume({str(journal)!r})."]


@pytest.fixture
def journals(tmp_path, monkeypatch):
    """An empty folder of journals."""
    monkeypatch.setattr(platformdirs, "user_state_path", lambda *_, **__: tmp_path)
    return tmp_path / "journals"


@pytest.mark.slow
def test_resume_without_a_journal_takes_the_newest_unfinished_one(firm, journals, capsys):
    older, newer = (interrupted(firm, f"Edit {text}")[0].journal for text in ("older", "newer"))
    plan_of(firm, 1, "Finished").apply()
    finished = next(each for each in journals.glob("*.journal") if each not in (older, newer))
    (journals / "damaged.journal").write_text("nothing " * 100)
    for time, path in enumerate((older, newer, finished, journals / "damaged.journal"), 1_700_000_000):
        os.utime(path, (time, time))
    for path in (newer, older):
        assert bf.bulk.resume(client=firm.client).journal == path
        assert capsys.readouterr().err == f"Resuming {path}\n"
    with pytest.raises(bf.errors.ParameterError, match=re.escape(f"No journal in {journals} is unfinished for http")):
        bf.bulk.resume(client=firm.client)


def test_resume_leaves_journals_of_another_server_and_of_a_running_apply_alone(firm, journals):
    path = interrupted(firm, "Elsewhere")[0].journal
    other = bf.Client("https://other.example.com", "token")
    for client, opened in ((other, contextlib.nullcontext()), (firm.client, Journal.open(path))):
        with opened, pytest.raises(bf.errors.ParameterError, match="is unfinished for .*gave `journal=` a name"):
            bf.bulk.resume(client=client)


def test_a_command_that_is_interrupted_says_the_note(monkeypatch, capsys):
    def run(_: object) -> int:
        error = KeyboardInterrupt()
        error.add_note("21 of 40 changes have an outcome.")
        raise error

    monkeypatch.setattr(cli, "_parse", lambda _: SimpleNamespace(run=run, debug=False))
    assert cli.main([]) == cli.INTERRUPTED
    assert capsys.readouterr().err == "billframes: 21 of 40 changes have an outcome.\n"


def test_outcomes_are_read_in_a_terminal_of_80_columns(firm, journal):
    outcomes = plan_of(firm, 2, "Narrow").apply(journal)
    with pd.option_context("display.width", 80, "display.max_columns", 0):
        assert "outcome" in str(outcomes).splitlines()[0]
        assert outcomes.columns.tolist()[1] == "outcome"
