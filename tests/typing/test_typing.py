"""Type checkers know what a call returns: mypy and pyright agree on every call in `calls.py`."""

from __future__ import annotations

import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path
from typing import get_overloads, get_type_hints

import pytest

import billframes as bf
from billframes.loaders import options as declared

HERE = Path(__file__).parent
LOADERS = [type(getattr(bf, name)) for name in bf.__all__ if hasattr(getattr(bf, name), "resource")]


def check(*command):
    line = [sys.executable, "-m", *command]
    return subprocess.run(line, cwd=HERE.parents[1], capture_output=True, text=True, check=False)


def test_mypy_knows_the_package_and_its_frames():
    done = check("mypy", "billframes", str(HERE / "calls.py"))
    assert done.returncode == 0, done.stdout


@pytest.mark.skipif(not importlib.util.find_spec("pyright"), reason="pip install 'pyright[nodejs]'")
def test_pyright_knows_the_frames():
    done = check("pyright", "-p", str(HERE), "--pythonpath", sys.executable)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("loader", LOADERS, ids=lambda each: each.__name__)
def test_a_loaders_overloads_take_what_it_takes(loader):
    """Overloads name their keywords by a TypedDict; the signature itself is spelled out."""
    call = inspect.signature(loader.__call__)
    assert not any(each.kind is each.VAR_KEYWORD for each in call.parameters.values())
    overloads = get_overloads(loader.__call__)
    assert [inspect.signature(each).parameters["to"].annotation for each in overloads] == [
        "Literal['pandas']",
        "Literal['arrow']",
        "Literal['polars']",
    ]
    own = {name: each.annotation for name, each in call.parameters.items() if name != "to"}
    for each in overloads:
        taken = {name: one.annotation for name, one in inspect.signature(each).parameters.items() if name != "to"}
        options = taken.pop("options", None)
        if options:
            taken |= written(getattr(declared, options.removeprefix("Unpack[").removesuffix("]")))
        assert taken == own


def written(options):
    """A TypedDict's annotations as they are written, those of its bases with them."""
    assert get_type_hints(options)
    return {name: annotation.__forward_arg__ for name, annotation in options.__annotations__.items()}
