"""The wings: packages that the core never imports, and that can be deleted one by one."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from billframes import wings
from tests.test_public import ROOT, imports_of, name_of

WINGS = tuple(wings._WINGS)
PAIRS = list(itertools.combinations(range(5), 2))
CORE = [path for path in ROOT.rglob("*.py") if not {*path.relative_to(ROOT).parts} & {*WINGS}]


def test_core_imports_no_wing():
    strays = {(name_of(path), each) for path in CORE for each in imports_of(path, everywhere=True, typing=False)}
    assert {
        each for each in strays if f"{each[1]}.".startswith(tuple(f"billframes.{name}." for name in WINGS))
    } == set()


def test_each_module_that_a_wing_names_is_there():
    for name, wing in wings._WINGS.items():
        modules = [*wing.analyses, wing.methods, wing.report, *(module for module, _ in wing.commands.values())]
        for module in filter(None, modules):
            assert (ROOT / name / f"{module.replace('.', '/')}.py").is_file(), (name, module)
        assert {*wing.needs} <= wings._WINGS.keys()


def test_what_a_deleted_wing_has_is_refused_in_a_sentence(monkeypatch):
    monkeypatch.setattr(wings, "wings", dict)
    with pytest.raises(wings.ConfigError, match=r"has no billframes\.mirror; install it again"):
        wings.module_of("mirror")


# It runs in a copy of the package: load from the sandbox, analyse, report, and show the command's help.
SCRIPT = """
import sys
import billframes as bf
from billframes import report
from billframes.analysis.declare.lookup import analyses
from billframes.cli import main
from billframes.report.outline import OUTLINE
from billframes.report.sheet_plan import planned
from billframes.report.to_do import to_do
from billframes.sandbox import Sandbox
from billframes.wings import wings

client = bf.Client(sys.argv[1], sys.argv[2], profile="")
settings = str(Sandbox.__init__.__code__.co_filename).replace("server.py", "firm.toml")
month = report.load("2026-10", settings=settings, client=client)
assert len(month.book.realization(by="client"))
month.book.figures("client_hours", "billed_amount", by="practice_area")
shown = [each.name for each in OUTLINE if not each.narratives and (each(month) if each.on_page else each.made(month))]
assert planned(month) and to_do(month)
assert not {*sys.argv[3:]} & {*dir(bf)}
print(",".join(wings()), ",".join(analyses()), ",".join(shown), sep="\\n")
main(["--help"])
"""


@pytest.fixture(scope="module")
def copied(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT, folder / "billframes", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def run(folder: Path, firm, *gone: str) -> tuple[set[str], set[str], set[str], str]:
    command = [sys.executable, "-c", SCRIPT, firm.base_url, firm.tokens["full"], *gone]
    env = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.split("\n", 3)
    return ({*lines[0].split(",")}, {*lines[1].split(",")}, {*lines[2].split(",")}, lines[3])


# Each wing is deleted in two of five copies, and no wing in all the copies in which another is: if one uses another
# without naming it in `needs`, one of the copies shows it.
DELETED = [tuple(itertools.compress(WINGS, (place in pair for pair in PAIRS))) for place in range(5)]


@pytest.mark.slow
@pytest.mark.parametrize("gone", DELETED, ids="-".join)
def test_without_some_wings_the_rest_works(gone, copied, sandbox, tmp_path):
    for name in gone:
        shutil.move(copied / "billframes" / name, tmp_path / name)
    try:
        there, analyses, sections, help_text = run(copied, sandbox, *gone)
    finally:
        for name in gone:
            shutil.move(tmp_path / name, copied / "billframes" / name)
    assert not there & {*gone}
    assert there >= {name for name in WINGS if not {name, *wings._WINGS[name].needs} & {*gone}}
    assert "realization" in analyses
    assert {"cover", "page_one", "realization", "receivables", "notes"} <= sections
    assert "\n    report " in help_text
    for name in gone:
        wing = wings._WINGS[name]
        assert not analyses & {*wing.analyses}
        own = getattr(wings.module_of(name, wing.report), "SECTIONS", {}) if wing.report else {}
        assert not sections & {each.name for group in own.values() for each in group}
        assert [command for command in wing.commands if f"\n    {command} " in help_text] == []
