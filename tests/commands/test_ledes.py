"""`billframes ledes` writes a complete file, or prints why not and ends with exit code 1."""

from __future__ import annotations

from pathlib import Path

import pytest

import billframes as bf
from billframes import sandbox as sandbox_package
from billframes.cli import main
from billframes.ebilling.command import EXAMPLES

PROFILE = 'law_firm_id = "06-1234567"\nadjustments = "lines"\n'


@pytest.fixture(autouse=True)
def configured(sandbox, monkeypatch, tmp_path):
    monkeypatch.setenv("BILLFRAMES_BASE_URL", sandbox.base_url)
    monkeypatch.setenv("BILLFRAMES_TOKEN", sandbox.tokens["full"])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "firm.toml").write_text(PROFILE, encoding="utf-8")
    (tmp_path / "there.txt").write_text("kept", encoding="utf-8")


def test_a_file_is_written_and_passes_its_own_check(tmp_path, capsys):
    assert main(["ledes", "11819", "--ledes-profile", "firm.toml", "-o", "11819.txt"]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "11819.txt")
    assert bf.ebilling.ledes_check(tmp_path / "11819.txt").empty


@pytest.mark.slow
def test_the_example_of_the_help_writes_a_file(tmp_path):
    profile = Path(sandbox_package.__file__).with_name("profiles") / "granite.toml"
    (tmp_path / profile.name).write_bytes(profile.read_bytes())
    assert main(EXAMPLES[1].split()[1:]) == 0
    assert (tmp_path / "granite.txt").exists()


@pytest.mark.parametrize("given", [["--profile", "firm.toml"], ["--profile=firm.toml"]])
def test_a_profile_that_is_a_file_is_the_ledes_profile(tmp_path, given):
    assert main(["ledes", "11819", *given, "-o", "11819.txt"]) == 0
    assert (tmp_path / "11819.txt").exists()


def test_a_profile_that_is_a_name_is_the_connections_profile(capsys):
    assert main(["ledes", "--check", "--profile", "firm.toml", "--profile", "trial"]) == 1
    assert "There is no profile 'trial'" in capsys.readouterr().err


@pytest.mark.slow
def test_the_months_unbilled_work_is_checked(capsys):
    assert main(["ledes", "--check", "2026-10"]) == 1
    shown = capsys.readouterr().out
    assert "15 LINE_ITEM_TASK_CODE" in shown
    assert "2 findings that portals reject, 0 that they often reject." in shown
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.slow
def test_an_invoice_is_checked_without_a_profile(capsys):
    for words in (["11819", "--check"], ["--check", "11819"]):
        assert main(["ledes", *words]) == 1
        assert "1 finding that portals reject" in (said := capsys.readouterr().out)
        assert "Set adjustments in the profile" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["11835", "--profile", "firm.toml", "-o", "x.txt"], "the invoice's state is draft"),
        (["99999", "--profile", "firm.toml", "-o", "x.txt"], "There is no invoice '99999'"),
        (["11819", "--profile", "no.toml", "-o", "x.txt"], "no.toml can't be read as a LEDES profile"),
        (["11819", "-o", "x.txt"], 'One line is enough: law_firm_id = "06-1234567"'),
        (["--check", "99999"], "There is no invoice '99999'"),
        (["11819", "--profile", "trial", "-o", "x.txt"], "--ledes-profile FILE is needed"),
        (["11819", "--profile", "firm.toml"], "--out FILE is needed"),
        (["11819", "--profile", "firm.toml", "-o", "there.txt"], "already exists"),
        (["11819", "--profile", "firm.toml", "-o", "x.csv"], "must end with .txt"),
        (["11819", "--profile", "firm.toml", "-o", "no/x.txt"], "there is no folder"),
        (["--profile", "firm.toml", "-o", "x.txt"], "Give the number or id of an invoice"),
        (["--check", "2026-10", "-o", "x.txt"], "--check writes no file"),
        (["--check", "2026-13"], "2026-13"),
    ],
)
def test_invalid_arguments_are_refused_with_one_sentence_and_leave_no_file(tmp_path, capsys, words, said):
    assert main(["ledes", *words]) == 1
    lines = [line for line in capsys.readouterr().err.splitlines() if line]
    assert len(lines) == 1
    assert lines[0].startswith("billframes: ")
    assert said in lines[0]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["firm.toml", "there.txt"]
    assert (tmp_path / "there.txt").read_text(encoding="utf-8") == "kept"


def test_hidden_rates_are_an_error_of_one_sentence(sandbox, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("BILLFRAMES_TOKEN", sandbox.tokens["norates"])
    with pytest.warns(bf.errors.RatesHiddenWarning):
        assert main(["ledes", "11819", "--profile", "firm.toml", "-o", "x.txt"]) == 1
    assert "rates are hidden" in capsys.readouterr().err
    assert not (tmp_path / "x.txt").exists()


def test_debug_shows_the_traceback(capsys):
    assert main(["ledes", "--debug"]) == 1
    assert capsys.readouterr().err.startswith("Traceback")
