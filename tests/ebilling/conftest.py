"""An independent parser of LEDES files, from PyPI."""

from __future__ import annotations

import importlib.resources
import os
import sys
import types

import pytest


@pytest.fixture(scope="session")
def independent_parser():
    """
    The parser of the package ledes-parser. Without it the tests are skipped, except in CI, where they fail.

    It requires an old lark that other packages can't use, but works with the new one, so install it without its
    dependencies: `pip install --no-deps ledes-parser`. It finds its grammar by a module of setuptools, which
    is replaced.
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
