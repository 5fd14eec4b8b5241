"""The judge from PyPI."""

from __future__ import annotations

import importlib.resources
import os
import sys
import types

import pytest


@pytest.fixture(scope="session")
def judge():
    """
    The parser of the package ledes-parser; its tests are skipped where it is not installed, never in CI.

    It pins an old lark that other packages can't use, and works with the new one, so it is installed without its
    dependencies: `pip install --no-deps ledes-parser`. It asks setuptools where its grammar is; Python knows that, too.
    """
    stand_in = types.ModuleType("pkg_resources")
    stand_in.resource_filename = lambda package, path: str(importlib.resources.files("ledes_parser") / path)
    before = sys.modules.get("pkg_resources")
    sys.modules["pkg_resources"] = stand_in
    try:
        from ledes_parser import get_parser
    except ImportError:
        wanted = "no ledes-parser: pip install --no-deps ledes-parser"
        if os.environ.get("CI"):
            pytest.fail(wanted)
        pytest.skip(wanted)
    else:
        return get_parser("LEDES98B")
    finally:
        sys.modules.pop("pkg_resources", None)
        if before is not None:
            sys.modules["pkg_resources"] = before
