"""A watch that is killed at any moment forgets nothing and says nothing twice, and two watches take turns."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter

import pytest

from billframes.cli import main
from billframes.mirror.lock import folder_lock
from billframes.watch import command

HEAD = 'currency = "USD"\ntime_zone = "America/New_York"\n'
RULE = '[[watch]]\nfigure = "wip"\nby = "responsible"\nabove = {}\n'
# Kills itself before or after the nth of these calls: reading, looking, writing, printing, marking as printed.
SCRIPT = """
import os, signal, sys, threading
from pathlib import Path
from billframes.cli import main
from billframes.watch import command
moment, options = float(sys.argv[1]), sys.argv[2:]
calls = 0
def killing(function):
    def call(*args, **kwargs):
        global calls
        calls += 1
        at = calls
        if at == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        result = function(*args, **kwargs)
        if at + 0.5 == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    return call
for name in ("read_state", "look", "write_state", "say"):
    setattr(command, name, killing(getattr(command, name)))
Path.replace = killing(Path.replace)
if moment > 20:
    threading.Timer(moment - 20, os.kill, (os.getpid(), signal.SIGKILL)).start()
sys.exit(main(["watch", *options]))
"""


class _Killed(BaseException):
    pass


class Nights:
    """Watches whose rule is another each night, so that all that holds is new and all before has ended."""

    def __init__(self, mirror, folder, capsys) -> None:
        self.settings, self.printed, self._capsys = folder / "firm.toml", [], capsys
        self.options = ["--mirror", mirror.path, "--settings", str(self.settings), "--state", str(folder / "state")]
        self.options += ["--json"]

    def night(self, number: int) -> None:
        self.settings.write_text(HEAD + RULE.format(100_000 + number))

    def watch(self) -> int:
        try:
            return main(["watch", *self.options])
        finally:
            self.printed += self._capsys.readouterr().out.splitlines()

    def check(self) -> None:
        """Each finding of each night is new in one report and ended in one, and reports of one number are one."""
        reports = {}
        for line in self.printed:
            if line.endswith("}"):
                report = {**json.loads(line), "again": False}
                assert reports.setdefault(report["watch"], report) == report
        assert sorted(reports) == list(range(1, len(reports) + 1))
        times = {name: Counter(_of(reports.values(), name)) for name in ("new", "ended")}
        assert {*times["new"].values(), *times["ended"].values()} == {1}
        before: set = set()
        for number in sorted(reports):
            new, still, ended = ({*_of([reports[number]], name)} for name in ("new", "still", "ended"))
            assert before == still | ended
            before = new | still


def _of(reports, name):
    return [(str(each["rule"]), each["key"]) for report in reports for each in report[name]]


@pytest.fixture
def nights(watched, tmp_path, capsys):
    return Nights(watched, tmp_path, capsys)


@pytest.mark.slow
def test_a_watch_that_ends_at_any_step_is_finished_by_the_next(nights, monkeypatch):
    seen = {}
    look = command.look

    def once(mirror, settings, *given):
        # The look itself keeps nothing, so each rule is looked at once.
        if settings.watch not in seen:
            seen[settings.watch] = look(mirror, settings, *given)
        return seen[settings.watch]

    monkeypatch.setattr(command, "look", once)
    for number, (name, nth, is_before) in enumerate(
        (name, nth, is_before)
        for name, calls in {"read_state": 1, "look": 1, "write_state": 2, "say": 1}.items()
        for nth in range(calls)
        for is_before in (True, False)
    ):
        nights.night(number % 2)
        with monkeypatch.context() as patch:
            left, function = [nth], getattr(command, name)

            def call(*args, _left=left, _function=function, _is_before=is_before, **kwargs):
                _left[0] -= 1
                if _left[0] < 0 and _is_before:
                    raise _Killed
                result = _function(*args, **kwargs)
                if _left[0] < 0:
                    raise _Killed
                return result

            patch.setattr(command, name, call)
            with pytest.raises(_Killed):
                nights.watch()
        nights.watch()
        assert nights.watch() == 0
    reports = [json.loads(line) for line in nights.printed]
    assert [each["again"] for each in reports].count(True) == 4
    numbers = {each["watch"] for each in reports}
    assert numbers == set(range(1, len(numbers) + 1))
    by_number = {each["watch"]: each for each in reports}
    before: set = set()
    for number in sorted(numbers):
        new, still, ended = ({*_of([by_number[number]], name)} for name in ("new", "still", "ended"))
        assert before == still | ended
        before = new | still


@pytest.mark.slow
@pytest.mark.sweep(keep=3)
@pytest.mark.parametrize("kill", range(50))
def test_nothing_is_forgotten_or_repeated_after_a_kill(nights, kill):
    """Kills at each call, and at moments between them."""
    nights.night(0)
    nights.watch()
    nights.night(1)
    moment = kill * 0.5 + 1 if kill < 18 else 20.4 + kill * 0.06
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(moment), *nights.options], check=False, capture_output=True, text=True
    )
    nights.printed += done.stdout.splitlines()
    nights.watch()
    assert nights.watch() == 0
    nights.check()


@pytest.mark.slow
def test_two_watches_at_once_say_it_once(nights, watched, tmp_path, monkeypatch, capsys):
    nights.night(0)
    both = [
        subprocess.Popen([sys.executable, "-m", "billframes", "watch", *nights.options], stdout=-1, text=True)
        for _ in range(2)
    ]
    nights.printed += [line for each in both for line in each.communicate()[0].splitlines()]
    assert sorted(each.returncode for each in both) == [0, 3]
    nights.check()
    monkeypatch.setattr(command, "_WAIT", 0.0)
    with folder_lock(tmp_path / "state", 1.0):
        assert nights.watch() == 1
    nights.watch()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "state.json is damaged. Restore it, or remove it"),
        ('{"format": 1, "printed": true}', "state.json is damaged"),
        ("[" * 100_000, "state.json is damaged"),
        ('{"format": 2}', "written by a later release of billframes (format 2, this one reads up to 1)"),
    ],
)
def test_a_state_that_can_not_be_used_is_refused(nights, tmp_path, capsys, content, message):
    nights.night(0)
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "state.json").write_text(content)
    assert main(["watch", *nights.options]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert (tmp_path / "state" / "state.json").read_text() == content
