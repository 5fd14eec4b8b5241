"""A few of the mutants of `python -m tests.faults.files`."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.slow
def test_mutated_files_are_read_or_refused():
    command = [sys.executable, "-m", "tests.faults.files", "--rounds", "6"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    # Workbooks, e-bills in text and in XML, reports in CSV and Excel, journals and mirrors.
    assert done.stdout.count("| 6 |") >= 7
