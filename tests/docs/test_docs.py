"""Generated tables of the docs are up to date, all public names are mentioned, and targets of links exist."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import inspect
import re
from pathlib import Path

import pytest

import billframes as bf
from billframes import loaders
from billframes.analysis.declare.lookup import analyses
from billframes.cli import COMMANDS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(each for folder in (DOCS, DOCS / "analyses", DOCS / "reference") for each in folder.glob("*.md"))
LOADERS = [name for name in bf.__all__ if hasattr(getattr(bf, name), "_resource")]


def script(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def make_columns():
    return script("make_columns")


@pytest.fixture(scope="session")
def make_analyses():
    return script("make_analyses")


@pytest.fixture(scope="session")
def everything():
    return "\n".join(page.read_text(encoding="utf-8") for page in PAGES)


def test_the_column_tables_are_up_to_date(make_columns):
    committed = make_columns.PAGE.read_text(encoding="utf-8")
    assert make_columns.page(committed) == committed, "run python docs/make_columns.py"


def test_the_pages_of_the_analyses_are_up_to_date(make_analyses):
    for path, text in make_analyses.pages().items():
        assert path.read_text(encoding="utf-8") == text, "run python docs/make_analyses.py"


def test_the_table_of_options_is_up_to_date():
    for name in ("make_options", "make_ledes_fields"):
        make = script(name)
        committed = make.PAGE.read_text(encoding="utf-8")
        assert make.page(committed) == committed, f"run python docs/{name}.py"


@pytest.mark.parametrize("name", sorted(analyses()))
def test_an_analysis_page_lists_the_columns_of_its_result(name, make_analyses):
    declared = bf.explain(name)
    assert declared.columns
    for each in declared.columns:
        assert f"| `{each.name}` |" in make_analyses.section(declared)


def test_a_new_analysis_has_a_page_and_handwritten_text_is_kept(make_analyses):
    new = make_analyses.page("", "exposure", "Exposure", "Made.")
    assert new.startswith("# Exposure\n\n<!-- exposure: begin")
    written = new.replace("# Exposure\n", "# Exposure\n\nBy hand\n") + "\nBy hand, too\n"
    again = make_analyses.page(written, "exposure", "Exposure", "Made anew.")
    assert again == written.replace("Made.", "Made anew.")


def test_every_loader_has_a_table(make_columns):
    assert len(LOADERS) == len(loaders.__all__)
    assert sorted(make_columns.declared()) == sorted(LOADERS)


@pytest.mark.parametrize("name", LOADERS)
def test_the_columns_of_a_loader_are_those_in_its_table(name, client, make_columns):
    loader = getattr(client, name)
    frame = loader(limit=0) if name in {"time_entries", "expenses", "fixed_fees", "invoices"} else loader()
    columns = make_columns.declared()[name]
    own = [column for column in frame.columns if not column.startswith("cf_")]
    assert own == [column.name for column in columns]
    table = make_columns.tables().split(f"## {name}\n")[1].split("\n## ")[0]
    for column in own:
        assert f"| `{column}` | `{frame.dtypes[column]}` |" in table


def test_the_docs_mention_every_public_name(everything):
    assert [name for name in bf.__all__ if not re.search(rf"(`|bf\.){re.escape(name)}\b", everything)] == []


def test_help_describes_every_argument():
    for name in (name for name in bf.__all__ if callable(getattr(bf, name)) and name not in LOADERS):
        described = (inspect.getdoc(getattr(bf, name)) or "").partition("Parameters\n----------\n")[2]
        arguments = inspect.signature(getattr(bf, name)).parameters
        assert [each for each in arguments if described and not re.search(rf"\b{each}\b", described)] == [], name


def test_the_error_page_explains_every_error_and_warning():
    text = (DOCS / "errors.md").read_text(encoding="utf-8")
    kinds = [name for name in bf.__all__ if name.endswith(("Error", "Warning"))]
    undescribed = [name for name in kinds if f"| `{name}` " not in text]
    assert undescribed in ([], ["BillframesWarning"])
    assert "`BillframesWarning`" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_explains_every_option_of_a_command(command):
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--debug", action="store_true")
    importlib.import_module(COMMANDS[command][0]).add_arguments(parser)
    page = {
        "apply": "bulk-edits",
        "credits": "reference/credits",
        "dashboard": "filtering",
        "doctor": "connecting",
        "login": "connecting",
        "ledes": "ebilling",
        "mcp": "ask",
        "sync": "mirror",
        "tie-out": "ledger",
        "watch": "reference/watch",
        "week": "reference/week",
    }.get(command, command)
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    for action in parser._actions:
        word = action.option_strings[-1] if action.option_strings else action.metavar
        assert re.search(rf"^\| `{re.escape(word)}\b", text, re.MULTILINE), word


def test_frames_are_shown_as_pandas_aligns_them():
    """Doctests ignore the number of spaces."""
    for page in PAGES:
        for table in re.findall(r"^( +[\w ]+)\n((?:\d+ .+\n)+)", page.read_text(encoding="utf-8"), re.MULTILINE):
            assert {len(row) for row in table[1].splitlines()} == {len(table[0])}, (page.name, table[0])


def test_the_targets_of_links_exist():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            if not target.startswith(("https://", "http://", "#")):
                assert (page.parent / target.partition("#")[0]).exists(), (page.name, target)


def test_the_page_of_each_task_begins_with_code_that_runs():
    """Doctests run blocks with prompts, and `test_code_blocks` the others."""
    (tasks,) = re.findall(
        r"## How to\n\n```{toctree}\n:maxdepth: 1\n\n(.*?)```", (DOCS / "analysts.md").read_text("utf-8"), re.DOTALL
    )
    openings = {name: (DOCS / f"{name}.md").read_text(encoding="utf-8").partition("\n## ")[0] for name in tasks.split()}
    assert [name for name, text in openings.items() if not re.match(r"# .+\n\n```(pycon|python)\n", text)] == []


def test_the_docs_are_short():
    """Readers step over what they don't need; long tables are pages of the reference."""
    pages = [ROOT / "README.md", *DOCS.glob("*.md")]
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in pages) <= 30_000


def test_an_example_ends_with_an_empty_line_before_its_fence():
    """Otherwise doctest would read the fence as output, or the example as text."""
    for page in PAGES:
        for block in re.findall(r"^```pycon\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
            assert block.endswith("\n\n"), page.name
