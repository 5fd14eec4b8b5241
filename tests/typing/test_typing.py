"""Type checkers infer the types that calls return: mypy and pyright check every call in `calls.py`."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import os
import subprocess
import sys
from pathlib import Path

import mypy
import pytest

import billframes as bf
from billframes.analysis.declare.docstrings import documented_arguments
from billframes.analysis.declare.lookup import analyses
from tests.typing.make_analysis_stubs import stubs
from tests.typing.make_stub import FRAMES, STUB, stub

HERE = Path(__file__).parent
LOADERS = [type(getattr(bf, name)) for name in bf.__all__ if hasattr(getattr(bf, name), "_resource")]
WRITTEN = {each.name: each for each in ast.parse(STUB.read_text(encoding="utf-8")).body if hasattr(each, "name")}


def check(*command):
    line = [sys.executable, "-m", *command]
    return subprocess.run(line, cwd=HERE.parents[1], capture_output=True, text=True, check=False)


# In CI no later run uses the cache, and writing it takes a tenth of the time.
NO_CACHE = ("--cache-dir", os.devnull) if os.environ.get("CI") else ()


@pytest.mark.slow
def test_mypy_infers_the_types_of_frames():
    done = check("mypy", *NO_CACHE, "billframes", str(HERE / "calls.py"))
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_no_module_uses_what_windows_lacks():
    """Only the modules are checked that import a module of Python's library with other names on Windows."""
    library = Path(mypy.__file__).parent / "typeshed" / "stdlib"
    stubs = [path for path in library.rglob("*.pyi") if "sys.platform" in path.read_text(encoding="utf-8")]
    differing = {path.relative_to(library).parts[0].removesuffix(".pyi") for path in stubs}
    package = sorted(Path(bf.__file__).parent.rglob("*.py"))
    modules = [path for path in package if not differing.isdisjoint(imported(path))]
    alone = ("--config-file=", "--follow-imports=skip", "--ignore-missing-imports", "--platform", "win32")
    lines = check("mypy", *NO_CACHE, *alone, *map(str, modules)).stdout.splitlines()
    assert f"{len(modules)} source files" in lines[-1]
    assert [line for line in lines if "has no attribute" in line and "Module" in line] == []


def imported(path):
    for each in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(each, ast.Import | ast.ImportFrom):
            named = [getattr(each, "module", None) or "", *(alias.name for alias in each.names)]
            yield from (name.partition(".")[0] for name in named)


@pytest.mark.slow
@pytest.mark.skipif(not importlib.util.find_spec("pyright"), reason="pip install 'pyright[nodejs]'")
def test_pyright_infers_the_types_of_frames():
    done = check("pyright", "-p", str(HERE), "--pythonpath", sys.executable)
    assert done.returncode == 0, done.stdout


def test_the_stub_is_up_to_date():
    assert STUB.read_text(encoding="utf-8") == stub(), "run python -m tests.typing.make_stub"


def test_the_stubs_of_the_analyses_are_up_to_date():
    for path, text in stubs().items():
        assert path.read_text(encoding="utf-8") == text, "run python -m tests.typing.make_analysis_stubs"


@pytest.mark.parametrize("loader", LOADERS, ids=lambda each: each.__name__)
def test_a_loaders_overloads_have_its_arguments(loader):
    """Overloads have their keywords in a TypedDict; the signature at run time has them as parameters."""
    call = inspect.signature(loader.__call__)
    assert not any(each.kind is each.VAR_KEYWORD for each in call.parameters.values())
    overloads = methods(loader, "__call__")
    assert [taken(each)["to"] for each in overloads] == [f"Literal[{kind!r}]" for kind in FRAMES]
    assert [ast.unparse(each.returns) for each in overloads] == list(FRAMES.values())
    for each in overloads:
        assert {**taken(each), "to": "str"} == annotations(call)


@pytest.mark.parametrize("loader", LOADERS, ids=lambda each: each.__name__)
def test_the_stubs_of_a_loaders_methods_have_their_arguments(loader):
    names = [name for name in ("count", "create", "get", "update", "delete") if hasattr(loader, name)]
    for name in names:
        (method,) = methods(loader, name)
        signature = inspect.signature(getattr(loader, name))
        assert taken(method) == annotations(signature)
        required = [each for each, one in signature.parameters.items() if one.default is one.empty and each != "self"]
        assert without_default(method) == required


def methods(loader, name):
    found = [each for kind in bases(loader.__name__) for each in kind.body if getattr(each, "name", "") == name]
    return [each for each in found if name == "__call__" or each is found[0]]


def bases(name):
    """The class of the stub with this name, and those that it inherits from."""
    if name in WRITTEN:
        yield WRITTEN[name]
        for each in WRITTEN[name].bases:
            yield from bases(each.id)


def taken(method):
    """The annotation of each argument in the stub, including those of the TypedDict and its bases."""
    given = {each.arg: ast.unparse(each.annotation) for each in arguments(method)}
    if method.args.kwarg:
        options = ast.unparse(method.args.kwarg.annotation).removeprefix("Unpack[").removesuffix("]")
        lines = [line for kind in bases(options) for line in kind.body if isinstance(line, ast.AnnAssign)]
        given |= {each.target.id: ast.unparse(each.annotation) for each in lines}
    return given


def arguments(method):
    return [*method.args.args[1:], *method.args.kwonlyargs]


def without_default(method):
    positional = method.args.args[1:]
    required = positional[: len(positional) - len(method.args.defaults)]
    keywords = zip(method.args.kwonlyargs, method.args.kw_defaults, strict=True)
    return [each.arg for each in (*required, *(name for name, default in keywords if default is None))]


def annotations(signature):
    return {name: each.annotation for name, each in signature.parameters.items() if name != "self"}


def test_the_help_of_an_analysis_names_all_its_arguments_what_it_returns_and_what_it_raises():
    for name, each in analyses().items():
        text = inspect.getdoc(getattr(bf.analysis, name))
        assert [*documented_arguments(text)] == [*inspect.signature(each.function).parameters], name
        assert "\nReturns\n-------\n" in text, name
        assert "\nRaises\n------\n" in text, name


def test_the_help_of_an_analysis_fits_two_screens():
    """A screen has 46 lines. An argument of the signature takes one of them, and the names around them three."""
    lines = {
        name: len(inspect.signature(each.function).parameters) + 3 + len(inspect.getdoc(each.function).splitlines())
        for name, each in analyses().items()
    }
    assert {name: count for name, count in lines.items() if count > 92} == {}
