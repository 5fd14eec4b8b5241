"""The command line prints errors as one sentence, and returns 0 only if the work was done."""

from __future__ import annotations

import argparse
import importlib
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

import billframes
from billframes import cli
from billframes._shared.messages import DEBUG_VARIABLE, say, warn
from billframes.cli import COMMANDS, main

PACKAGE = Path(billframes.__file__).parent


def test_help_names_the_commands(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert "report" in shown
    assert "sandbox" in shown


@pytest.mark.parametrize("command", ["report", "sandbox"])
def test_each_command_has_help(capsys, command):
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert "--debug" in capsys.readouterr().out


def test_python_m_is_the_same():
    done = subprocess.run([sys.executable, "-m", "billframes", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"billframes {billframes.__version__}"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["report", "2026-13"], "2026-13"),
        (["report", "2026-10"], "No billing API is configured"),
    ],
)
def test_an_error_is_one_sentence_on_stderr(capsys, arguments, said):
    assert main(arguments) == 2
    shown = capsys.readouterr()
    lines = [line for line in shown.err.splitlines() if line.startswith("billframes: ")]
    assert len(lines) == 1
    assert said in lines[0]
    assert "Traceback" not in shown.err


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (OSError(28, "No space left on device"), 1, "A file can't be read or written: No space left on device.\n"),
        (
            PermissionError(13, "Permission denied", "/x.csv"),
            1,
            "can't be read or written: Permission denied (/x.csv).\n",
        ),
        (KeyError("hours"), 1, "A bug in billframes: KeyError: 'hours'. Add --debug to see where, and report it.\n"),
    ],
)
def test_an_error_of_the_machine_or_a_bug_shows_a_traceback_only_with_debug(monkeypatch, capsys, error, code, said):
    def fail(_args):
        raise error

    monkeypatch.setattr("billframes.commands.doctor.run", fail)
    assert main(["doctor"]) == code
    shown = capsys.readouterr().err
    assert shown.startswith("billframes: ")
    assert shown.endswith(said)
    assert main(["doctor", "--debug"]) == code
    assert capsys.readouterr().err.startswith("Traceback")


@pytest.mark.parametrize("words", [["report", "2026-13", "--debug"], ["--debug", "report", "2026-13"]])
def test_debug_shows_the_traceback_of_an_error(capsys, words):
    assert main(words) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("Traceback")
    assert "ParameterError: '2026-13' is not a month" in shown


@pytest.mark.parametrize("words", [[], ["--debug"]])
def test_a_debug_variable_set_by_the_user_is_kept(monkeypatch, words):
    monkeypatch.setenv(DEBUG_VARIABLE, "yes")
    monkeypatch.setattr("billframes.commands.doctor.run", lambda _args: 0)
    main(["doctor", *words])
    assert os.environ[DEBUG_VARIABLE] == "yes"


@pytest.mark.parametrize("words", [[], ["--debug"]])
def test_debug_also_shows_whole_tracebacks_of_kernels(monkeypatch, words):
    asked = []
    monkeypatch.setattr("billframes.commands.doctor.run", lambda _args: asked.append(DEBUG_VARIABLE in os.environ) or 0)
    main(["doctor", *words])
    assert asked == [bool(words)]
    assert DEBUG_VARIABLE not in os.environ


@pytest.mark.parametrize("words", [[], ["--debug"]])
@pytest.mark.parametrize("kind", [billframes.errors.RefusedError, ValueError])
def test_no_error_has_terminal_commands(monkeypatch, capsys, kind, words):
    def fail(_args):
        raise kind("Acme\x1b[2J\x1b]0;pwned\x07\x9b31m\r\u202eInc") from OSError("\x1b[31mserver")

    monkeypatch.setattr("billframes.commands.doctor.run", fail)
    assert main(["doctor", *words]) in {1, 2}
    shown = capsys.readouterr().err
    assert "Acme" in shown
    assert "Inc" in shown
    assert not set(shown) & set("\x1b\x07\x9b\r\u202e")


def test_all_output_of_commands_is_printed_by_one_function():
    printing = [
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if re.search(r"^\s*(print\(|sys\.std(out|err)\.write)", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert printing == ["_shared/messages.py"]


def test_the_sandbox_prints_one_line_of_json_and_ends_cleanly():
    command = [sys.executable, "-m", "billframes", "sandbox", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            ready = json.loads(server.stdout.readline())
            assert set(ready) == {"base_url", "tokens"}
            assert set(ready["tokens"]) == {"full", "norates", "service"}
            request = urllib.request.Request(
                ready["base_url"] + "/v2/practice-areas", headers={"Authorization": f"Bearer {ready['tokens']['full']}"}
            )
            with urllib.request.urlopen(request, timeout=60) as answer:
                assert json.load(answer)["data"]
        finally:
            server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0
        assert server.stdout.read() == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_each_command_has_valid_examples(capsys, command):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    examples = [shlex.split(line) for line in capsys.readouterr().out.splitlines() if line.startswith("  billframes ")]
    assert len(examples) >= 2
    for _, name, *words in examples:
        assert name == command
        assert cli._parser([name, *words]).parse_args([name, *words]).run


LOADING = [name for name in COMMANDS if name not in {"login", "sandbox", "watch"}]


def options_of(command: str) -> dict[str, argparse.Action]:
    """Return a command's options from its own parser."""
    parser = argparse.ArgumentParser()
    importlib.import_module(COMMANDS[command][0]).add_arguments(parser)
    return {word: action for action in parser._actions for word in action.option_strings}


@pytest.mark.parametrize("command", LOADING)
def test_every_command_that_loads_takes_a_profile_or_the_demonstration(command):
    options = options_of(command)
    assert (options["--profile"].dest, options["--profile"].metavar) == ("connection", "NAME")
    assert "to connect with" in options["--profile"].help
    assert options["--demo"].const is True


def test_only_these_commands_load_nothing_or_have_no_profile_yet():
    """`login` makes a profile, `sandbox` is the demonstration's server, and `watch` reads a mirror."""
    assert {name for name in COMMANDS if "--demo" not in options_of(name)} == {"login", "sandbox", "watch"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["reprot"], "there is no command 'reprot'; it takes apply, credits, dashboard, "),
        (["reprot"], "Did you mean 'report'?"),
        (["report", "--narrative", "--formatt=pdf"], "unrecognized arguments: --formatt=pdf. Did you mean '--format'?"),
    ],
)
def test_an_unknown_command_or_option_suggests_the_nearest(capsys, words, said):
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


NEEDED = {"export": ["users", "-o", "u.csv"], "sync": ["m"], "apply": ["edits.xlsx"], "ledes": ["--check"]}


@pytest.mark.parametrize("command", [[name, *NEEDED.get(name, [])] for name in LOADING])
def test_only_one_source_of_data_can_be_chosen(capsys, command):
    with pytest.raises(SystemExit) as ended:
        main([*command, "--demo", "--profile", "firm"])
    assert ended.value.code == 2
    assert "not allowed with" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", [["report", "2026-10"], ["export", "users", "-o", "u.csv"], ["sync", "m"], ["doctor"]]
)
def test_a_missing_profile_is_named(capsys, command):
    assert main([*command, "--profile", "nonesuch"]) == 2
    assert "There is no profile 'nonesuch'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["export", "invoices", "soon", "-o", "x.csv"], "billframes: PERIOD 'soon' is not a date or period; it takes"),
        (
            ["export", "invoices", "10/26", "-o", "x.csv"],
            "billframes: PERIOD '10/26' is not a date or period. It",
        ),
        (["ledes", "--check", "soon"], "billframes: --check 'soon' is not a date or period"),
        (["dashboard", "soon"], "billframes: PERIOD 'soon' is not a date or period"),
    ],
)
def test_a_message_names_the_typed_option_and_not_a_python_argument(monkeypatch, sandbox, capsys, command, said):
    monkeypatch.setenv("BILLFRAMES_BASE_URL", sandbox.base_url)
    monkeypatch.setenv("BILLFRAMES_TOKEN", sandbox.tokens["full"])
    main(command)
    assert capsys.readouterr().err.startswith(said)


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "latin-1", "gbk", "shift_jis", "cp437", "utf-8"])
def test_amounts_are_readable_in_every_encoding_of_the_output(monkeypatch, encoding):
    for error, name in ((False, "stdout"), (True, "stderr")):
        stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        monkeypatch.setattr(sys, name, stream)
        say("Ödland … −400.00; £5 → \u20ac6 \U000f0000", error=error)
        shown = stream.buffer.getvalue().decode(encoding)
        assert re.search(r"(?<![\d\w\\])[-−]400\.00;", shown)
        assert not re.search(r"\\[xu]", shown)
        if encoding == "ascii":
            assert shown == "Odland ... -400.00; GBP5 > EUR6 ?\n"
    with pytest.warns(UserWarning, match=r" [-−]24 hours"):
        warn("below −24 hours", UserWarning)


@pytest.mark.parametrize("command", [*COMMANDS, "--help"])
def test_help_is_readable_in_ascii(monkeypatch, command):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert b"usage: billframes" in stream.buffer.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("command", [["ledes", "--demo", "--check", "2026-10"], ["--help"], ["report", "--help"]])
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_closed_pipe_is_quiet(command, stream):
    """As with `| head -1`, but closed from the beginning."""
    reading, writing = os.pipe()
    os.close(reading)
    line = [sys.executable, "-m", "billframes", *command]
    done = subprocess.run(line, text=True, check=False, **{"stdout": -1, "stderr": -1, stream: writing})
    os.close(writing)
    assert done.returncode == (1 if "--check" in command else 0)
    assert not done.stderr
    assert stream == "stdout" or done.stdout


@pytest.mark.slow
def test_a_full_disk_is_not_a_closed_pipe():
    line = [sys.executable, "-m", "billframes", "doctor"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(line, text=True, check=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert "No space left on device" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="closes descriptors as a shell does")
def test_a_report_is_written_also_if_standard_streams_are_closed(tmp_path):
    out = tmp_path / "report.html"
    command = 'exec "$0" -m billframes report 2026-09 --demo --out "$1" 0<&- 1>&- 2>&-'
    assert subprocess.run(["/bin/sh", "-c", command, sys.executable, str(out)], check=False).returncode == 0
    assert "<html" in out.read_text(encoding="utf-8")
