"""`billframes report`: the calls of `build`, and refused arguments."""

from __future__ import annotations

import argparse
import datetime as dt
import os

import pytest

from billframes import _session
from billframes.cli import main
from billframes.commands import report as command
from billframes.errors import ConfigError, ParameterError
from billframes.periods import Period, parse_period
from billframes.report import workbook as workbook_module


@pytest.fixture
def built(monkeypatch, tmp_path):
    """The calls of `build`, which here writes nothing."""
    calls = []

    def build(parameters, outs, *, client, step, format):  # noqa: A002
        step("Building")
        calls.append((parameters, outs, client, format))

    monkeypatch.setattr(command, "build", build)
    monkeypatch.chdir(tmp_path)
    return calls


@pytest.fixture
def unconfigured(monkeypatch, tmp_path):
    for name in [each for each in os.environ if each.startswith("BILLFRAMES_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr("billframes.config.profiles.config_file", lambda: tmp_path / "none.toml")
    monkeypatch.setattr(_session, "_default", [])


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.run(parser.parse_args(words))


def test_the_demo_reports_october_2026_of_its_own_sandbox(built, tmp_path, capsys):
    assert run("--demo") == 0
    ((parameters, outs, client, kind),) = built
    assert parameters["month"] == parse_period("2026-10")
    assert outs == {"": tmp_path / "billframes-2026-10.html"}
    assert client.base_url.startswith("http://127.0.0.1:")
    assert client.profile is None
    assert kind == "html"
    printed = capsys.readouterr()
    assert printed.out == f"{outs['']}\n"
    steps, (workbook, pdf) = printed.err.splitlines()[:-2], printed.err.splitlines()[-2:]
    assert "--demo --format xlsx" in workbook
    assert "'billframes[report]' and Chromium" in pdf
    assert [line.split("s  ")[1] for line in steps] == [
        "Starting the sandbox with its made-up firm",
        "Building",
        "Done",
    ]


def test_the_defaults_are_last_month_and_the_configured_connection(built, monkeypatch, out):
    monkeypatch.setenv("BILLFRAMES_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("BILLFRAMES_TOKEN", "secret")
    assert run("--out", str(out)) == 0
    ((parameters, outs, client, _),) = built
    last = dt.datetime.now().astimezone().date().replace(day=1) - dt.timedelta(days=1)
    assert parameters["month"] == Period(last.replace(day=1), last)
    assert parameters["as_of"] == last.isoformat()
    assert (outs, client.base_url) == ({"": out}, "http://127.0.0.1:9")


def test_the_current_month_is_counted_up_to_today(built, monkeypatch):
    monkeypatch.setenv("BILLFRAMES_BASE_URL", "http://127.0.0.1:9")
    run("this month")
    assert built[0][0]["as_of"] == dt.datetime.now().astimezone().date().isoformat()


@pytest.mark.parametrize("month", ["2026-13", "2026-W41", "October", "2026-10-05"])
def test_a_text_that_is_not_a_month_is_refused(built, month):
    with pytest.raises(ParameterError, match="is not a month, quarter or year; give one such as 2026-10"):
        run(month, "--demo")
    assert not built


def test_a_month_that_has_not_begun_is_refused(built, monkeypatch):
    monkeypatch.setenv("BILLFRAMES_BASE_URL", "https://billing.example.com")
    monkeypatch.setenv("BILLFRAMES_TOKEN", "not-sent")
    with pytest.raises(ParameterError, match="The period begins on 1 January 2999, after today, "):
        run("2999-01")


def test_a_missing_configuration_is_an_error_before_any_work(built, unconfigured):
    with pytest.raises(ConfigError, match="No billing API is configured"):
        run("2024-10")
    assert not built


@pytest.mark.parametrize("out", ["nowhere/october.html", "nowhere/", "nowhere/october.xlsx"])
def test_a_folder_that_does_not_exist_is_refused_before_any_work(built, tmp_path, capsys, out):
    with pytest.raises(ParameterError) as caught:
        run("--demo", "--out", out)
    assert str(caught.value) == f"--out {out} can't be written: there is no folder {tmp_path / 'nowhere'}."
    assert not built
    assert not capsys.readouterr().err


def test_an_unknown_format_is_refused_and_the_message_lists_the_formats(built):
    with pytest.raises(ParameterError, match="--format docx is not known; it takes html, xlsx, pdf"):
        run("2026-10", "--format", "docx")
    assert not built


@pytest.mark.parametrize(
    ("name", "kind"), [("r.pdf", "pdf"), ("r.XLSX", "xlsx"), ("r.htm", "html"), ("report", "html")]
)
def test_the_ending_of_the_file_decides_the_format(built, name, kind):
    assert run("--demo", "--out", name) == 0
    assert [each[3] for each in built] == [kind]


@pytest.mark.parametrize("kind", ["html", "pdf"])
def test_a_file_without_an_ending_gets_that_of_its_format(built, tmp_path, capsys, kind):
    assert run("--demo", "--out", "october", "--format", kind) == 0
    assert built[0][1] == {"": tmp_path / f"october.{kind}"}
    assert capsys.readouterr().out == f"{tmp_path / f'october.{kind}'}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--out", "r.pdf", "--format", "html"), "--out r.pdf contradicts --format html"),
        (("--out", "r.docx"), "--out r.docx must end with one of .html, .xlsx, .pdf"),
    ],
)
def test_an_ending_that_does_not_match_the_format_is_refused(built, words, said):
    with pytest.raises(ParameterError, match=said):
        run("--demo", *words)
    assert not built


def test_without_chromium_a_pdf_is_refused_before_any_work(built, monkeypatch):
    monkeypatch.delenv("BILLFRAMES_CHROMIUM", raising=False)
    monkeypatch.setattr("shutil.which", lambda _name: None)
    with pytest.raises(ConfigError, match="printed by Chromium, which is not on the PATH. Install it"):
        run("--demo", "--format", "pdf")
    monkeypatch.setenv("BILLFRAMES_CHROMIUM", "/nowhere/chromium")
    with pytest.raises(ConfigError, match="there is no such file"):
        run("--demo", "--format", "pdf")


def test_the_file_of_one_lawyer_has_the_lawyers_name_and_the_narratives_option_is_passed_on(built, tmp_path):
    assert run("--demo", "--responsible", "chloé marchetti", "--narratives") == 0
    ((parameters, outs, *_),) = built
    assert parameters["narratives"] is True
    ((scope, out),) = outs.items()
    assert scope.startswith("responsible:")
    assert out == tmp_path / "billframes-2026-10-responsible-chloe-marchetti.html"


def test_an_unknown_name_is_refused_before_any_work(built):
    with pytest.raises(ParameterError, match="No responsible lawyer has the name, reference or id 'Nobody'"):
        run("--demo", "--responsible", "Nobody")
    assert not built


def test_reports_of_all_lawyers_are_built_together_and_written_to_a_folder(built, tmp_path, capsys):
    folder = tmp_path / "new" / "reports"
    assert run("--demo", "--all-responsible", "--out", str(folder)) == 0
    assert folder.is_dir()
    ((_, asked, *_),) = built
    names = [path.name for path in asked.values()]
    assert len(names) == 11
    assert names[0] == "billframes-2026-10-responsible-beatriz-fontaine.html"
    assert names[-1] == "billframes-2026-10-responsible-unassigned.html"
    assert capsys.readouterr().out.splitlines() == [str(path) for path in asked.values()]
    (tmp_path / "taken").write_text("")
    with pytest.raises(ParameterError, match="is a file; with --all-responsible, give the folder"):
        run("--demo", "--all-responsible", "--out", str(tmp_path / "taken"))
    with pytest.raises(ParameterError, match="can't be made: Not a directory"):
        run("--demo", "--all-responsible", "--out", str(tmp_path / "taken" / "reports"))


@pytest.mark.slow
def test_a_workbook_can_be_that_of_a_practice_area(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(workbook_module, "workbook", lambda month, **_says: month.scope.title.encode())
    assert run("--demo", "--format", "xlsx", "--practice-area", "Family") == 0
    assert (tmp_path / "billframes-2026-10-practice-area-family.xlsx").read_bytes() == b"Practice area: Family"


@pytest.mark.slow
def test_a_month_without_data_ends_with_one_sentence_and_no_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["report", "2019-01", "--demo", "--format", "xlsx"]) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert said == (
        "billframes: The period ends on 31 January 2019, before the first day of the data, 2 January 2024. Choose a "
        "later period."
    )
    assert list(tmp_path.iterdir()) == []


def test_the_firms_settings_are_checked_and_passed_on(built, tmp_path):
    (tmp_path / "firm.toml").write_text("hours_per_day = 7.5", encoding="utf-8")
    assert run("--demo", "--settings", "firm.toml") == 0
    assert built[0][0]["settings"] == str(tmp_path / "firm.toml")
    (tmp_path / "firm.toml").write_text("hours_a_day = 7.5", encoding="utf-8")
    with pytest.raises(ConfigError, match="hours_a_day"):
        run("--demo", "--settings", "firm.toml")
    assert len(built) == 1
