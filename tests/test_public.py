"""The public names: sorted, documented, cheap to import, and without cycles."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import pkgutil
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import billframes as bf
from billframes.analysis.declare.lookup import analyses
from billframes.book.methods import FRAME_NAMES

ROOT = Path(bf.__file__).parent
MODULES = [
    each.name for each in pkgutil.walk_packages([str(ROOT)], "billframes.") if not each.name.endswith("__main__")
]


def test_the_all_of_every_module_has_names_that_are_there_once():
    for module in map(importlib.import_module, MODULES):
        names = list(getattr(module, "__all__", ()))
        assert len({*names}) == len(names), module.__name__
        assert [each for each in names if not hasattr(module, each)] == [], module.__name__


def test_every_public_name_is_there_and_documented():
    for name in bf.__all__:
        thing = getattr(bf, name)
        assert inspect.getdoc(thing), name
        if hasattr(thing, "_resource"):
            assert "Returns\n-------" in inspect.getdoc(thing), name


@pytest.mark.parametrize("package", ["billframes", "billframes.bulk", "billframes.forecast"])
def test_importing_a_module_does_not_replace_the_function_of_its_name(package):
    """Such as `billframes.bulk.resume`, the module of `bf.bulk.resume`."""
    space = importlib.import_module(package)
    named = [name for _, name, _ in pkgutil.iter_modules(space.__path__) if name in space.__all__]
    functions = [each for each in named if each not in bf.__all__ or not inspect.ismodule(getattr(bf, each))]
    assert functions
    for name in functions:
        importlib.import_module(f"{package}.{name}")
        assert callable(getattr(space, name)), name


def test_importing_billframes_loads_no_plots_widgets_or_extras():
    """Nor does a book's method read other analyses, and a table needs no library of tables."""
    heavy = [
        "matplotlib",
        "ipywidgets",
        "IPython",
        "polars",
        "duckdb",
        "deltalake",
        "nbconvert",
        "starlette",
        "uvicorn",
        "mcp",
        "billframes.assistant",
        "great_tables",
    ]
    script = f"""
import sys, billframes
print([each for each in {heavy} if each in sys.modules])
from billframes.book.book import Book
Book.realization
print([each for each in sys.modules if each.startswith("billframes.analysis.sheets.")])
billframes.tables.aging
print([each for each in ("great_tables", "matplotlib") if each in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["[]", "['billframes.analysis.sheets.realization']", "[]", ""]


@functools.cache
def imports_of(path: Path, *, everywhere: bool = False, typing: bool | None = None) -> set[str]:
    """What importing a module imports; with `everywhere`, also in functions, and with `typing` for type checkers."""
    typing = everywhere if typing is None else typing
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for node in ast.walk(block)
    }
    found: set[str] = set()
    for node in tree.body:
        for each in ast.walk(node) if everywhere or not isinstance(node, ast.FunctionDef | ast.ClassDef) else ():
            if id(each) in typing_only and not typing:
                continue
            if isinstance(each, ast.ImportFrom) and each.module:
                names = {f"{each.module}.{alias.name}" for alias in each.names}
                # A module taken from its package is not an import of the package's own names.
                found |= names if names <= set(MODULES) else names | {each.module}
            elif isinstance(each, ast.Import):
                found |= {alias.name for alias in each.names}
    return found


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_imports_run_one_way():
    """No module needs itself through others, even in functions or for type checkers."""
    paths = {name_of(path): path for path in ROOT.rglob("*.py")}
    graph = {name: (imports_of(path, everywhere=True) & paths.keys()) - {name} for name, path in paths.items()}
    TopologicalSorter(graph).prepare()


OPTIONAL = {
    *("deltalake", "duckdb", "great_tables", "ipykernel", "jinja2", "jupyter_client", "jupyter_core", "jupyter_server"),
    *("keyring", "markupsafe", "mcp", "nbconvert", "nbformat", "openpyxl", "playwright", "polars"),
    *("pyspark", "pytest", "starlette", "tornado", "uvicorn", "voila", "xlsxwriter"),
}
NEED_AN_EXTRA = {
    *("widgets.dashboard.server", "sandbox.pytest_plugin"),
    *(
        "sandbox.app",
        "sandbox.earlier_months",
        "sandbox.fault_injection",
        "sandbox.server",
        "sandbox.throttle",
    ),
}


def test_only_these_modules_need_an_extra_to_be_imported():
    """Other modules import extras inside functions, so that a missing extra raises an error of one sentence."""
    imports = {name_of(path): imports_of(path) for path in ROOT.rglob("*.py")}
    need = set()
    while more := {
        name
        for name, found in imports.items()
        if name not in need and (found & need or {each.partition(".")[0] for each in found} & OPTIONAL)
    }:
        need |= more
    assert {each.removeprefix("billframes.") for each in need} == NEED_AN_EXTRA


LAYERS = (
    "errors",
    "days",
    "periods",
    "wings",
    "config",
    "schema",
    "transport",
    "paging",
    "loading",
    "loaders",
    "client_options",
    "client",
    "sandbox",
    "analysis",
    "tables",
    "plots",
    "book",
    "_session",
    "report",
    "commands",
    "bulk",
    "mirror",
    "watch",
    "ledger",
    "forecast",
    "ebilling",
    "guidelines",
    "credits",
    "widgets",
    "assistant",
)


@pytest.mark.parametrize("place", range(len(LAYERS)))
def test_each_layer_imports_only_from_those_before_it(place):
    below = {name for path in ROOT.rglob("*.py") for name in imports_of(path) if _part(name_of(path)) == LAYERS[place]}
    assert {_part(name) for name in below}.isdisjoint(LAYERS[place + 1 :])


FLOORS = ("declare", "data", "facts", "keys", "rules", "results", "sheets")


@pytest.mark.parametrize("place", range(len(FLOORS)))
def test_each_folder_of_the_analyses_imports_only_from_those_before_it(place):
    paths = (ROOT / "analysis" / FLOORS[place]).glob("*.py")
    below = {name for path in paths for name in imports_of(path, everywhere=True) if "billframes.analysis." in name}
    assert {name.split(".")[2] for name in below} <= {*FLOORS[: place + 1]}
    # What two analyses share is in a fact or a rule.
    of_sheets = tuple(f"{each.function.__module__}." for each in analyses().values())
    assert {name for name in below if name.startswith(of_sheets)} <= {f"{each}ANALYSIS" for each in of_sheets}


def _part(name):
    return name.split(".")[1] if name.startswith("billframes.") else ""


@pytest.mark.parametrize(
    ("part", "unknown"),
    [
        ("_shared", "billframes.(?!_shared|errors|days|periods)"),
        ("errors", "billframes.(?!_shared)"),
        ("days", "billframes.(?!errors)"),
        ("periods", "billframes.(?!errors|days|_shared)"),
        (
            "analysis",
            "billframes.(transport|paging|loading\\.(?!load_info|stamp)|loaders|client|sandbox|report|plots|book)",
        ),
        ("loaders", "billframes.(analysis|sandbox|report|plots|_session|book)"),
        ("sandbox", "billframes.(book|analysis|transport|paging|load|client|report|schema\\.(?!rec|resources))"),
        ("plots", "billframes.(transport|paging|loading|loaders|client|sandbox|_session|report|widgets)"),
        ("widgets.panel", "billframes.(transport|paging|loaders|client|sandbox|_session|widgets.dashboard)"),
        ("widgets.explorer", "billframes.(transport|paging|loaders|client|sandbox|_session|widgets.dashboard)"),
    ],
)
def test_each_part_imports_nothing_from_above_it(part, unknown):
    import re

    paths = [path for path in ROOT.rglob("*.py") if f"{name_of(path)}.".startswith(f"billframes.{part}.")]
    assert paths
    strays = {(name_of(path), each) for path in paths for each in imports_of(path) if re.match(unknown, each + " ")}
    assert strays == set()


LOADERS = frozenset(name for name in bf.__all__ if hasattr(getattr(bf, name), "_resource"))
OF_LOADERS = frozenset({"count", "create", "get", "update", "delete", "plan", "archive", "unarchive"})
SHOWN = {
    "Client": "base_url check close fiscal_year limits options profile select_names settings sources",
    "Mirror": "age as_of book changes close fiscal_year history implied_receipts path refresh restated scan settings "
    "sizes tag time vacuum version",
    "Book": "client credits fact figures first_day in_period loaded_on payments period rows settings week",
    "Plan": "apply counts frame journal notes requests reverse",
}


def test_objects_show_only_what_users_call(client, october_book, tmp_path):
    """What only the inside uses has a name with an underscore, so that completion shows what users call."""
    plan = client.expenses.plan(client.expenses("2026-10", limit=1))
    shown = {
        type(each).__name__: {name for name in dir(each) if not name.startswith("_")}
        for each in (client, bf.mirror(tmp_path, client=client), october_book, plan)
    }
    shown["Book"] -= {*analyses(), *FRAME_NAMES}
    assert {name: names - LOADERS for name, names in shown.items()} == {k: {*v.split()} for k, v in SHOWN.items()}
    for name in LOADERS:
        assert {each for each in dir(getattr(client, name)) if not each.startswith("_")} <= OF_LOADERS
