"""A plain `pytest` runs no test that is marked slow, in any of its processes."""

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
# One process is enough to show that tests are not run in the first process.
root.PROCESSES = 1
"""
PROJECT = """
[pytest]
testpaths = tests
markers = slow
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
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "conftest.py").write_text(CONFTEST.format(path=str(ROOT / "conftest.py")))
    (tmp_path / "pytest.ini").write_text(PROJECT)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_both.py").write_text(TESTS)
    return tmp_path


@pytest.mark.parametrize(("words", "passed"), [((), 1), (("--everything",), 2)])
def test_slow_tests_are_skipped_in_every_process_unless_all_are_requested(project, words, passed):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "xdist.plugin", "-p", "no:cacheprovider", *words]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert f"{passed} passed in" in done.stdout, done.stdout + done.stderr
