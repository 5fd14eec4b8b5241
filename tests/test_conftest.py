"""A plain `pytest` runs no slow test and some cases of each sweep, in each of its processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Only the hooks of this project, because its fixtures would start a sandbox.
CONFTEST = """
import importlib.util
spec = importlib.util.spec_from_file_location("root_conftest", {path!r})
root = importlib.util.module_from_spec(spec)
spec.loader.exec_module(root)
pytest_addoption, pytest_cmdline_main = root.pytest_addoption, root.pytest_cmdline_main
pytest_collection_modifyitems = root.pytest_collection_modifyitems
# One process is enough to show that tests are not run in the first process.
root.PROCESSES = 1
"""
PROJECT = """
[pytest]
testpaths = tests
markers =
    slow
    sweep
addopts = --strict-markers
"""
TESTS = """
import os
import pytest

def test_in_a_process_of_xdist():
    assert os.environ["PYTEST_XDIST_WORKER"]

@pytest.mark.slow
def test_slow():
    pass

@pytest.mark.sweep(keep=2)
@pytest.mark.parametrize("case", range(5))
def test_of_five_cases(case):
    assert os.environ.get("ALL") or case in (0, 4)

@pytest.mark.sweep
@pytest.mark.parametrize("engine", range(2))
@pytest.mark.parametrize("key", range(3))
def test_of_each_value_of_two_parameters(engine, key):
    assert os.environ.get("ALL") or (engine, key) in ((0, 0), (1, 1), (0, 2))
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "conftest.py").write_text(CONFTEST.format(path=str(ROOT / "conftest.py")))
    (tmp_path / "pytest.ini").write_text(PROJECT)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_both.py").write_text(TESTS)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(("word", "passed"), [("", 6), ("--slow", 7), ("--everything", 13)])
def test_slow_tests_and_cases_are_left_out_in_every_process_unless_they_are_requested(project, word, passed):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)}
    environment["ALL"] = "yes" if word == "--everything" else ""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "xdist.plugin", "-p", "no:cacheprovider", *word.split()]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert f"{passed} passed in" in done.stdout, done.stdout + done.stderr
