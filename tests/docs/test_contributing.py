"""The diffs in CONTRIBUTING.md apply to the current code, and their additions work."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
USE = """
import inspect
import sys
import warnings

import billframes as bf
import httpx
from billframes import report
from billframes.report.notebook import new_notebook
from billframes.report.sheet_plan import planned

with bf.Client(*sys.argv[1:]) as client:
    entries = client.time_entries("2026-10")
    coded = client.time_entries("2026-10", task_code="L110")
    assert 0 < len(coded) == (entries["task_code"] == "L110").sum()
    assert str(client.practice_areas().dtypes["color"]) == "str"
    row = bf.book("2026-10", client=client).weekend_work(by=None).iloc[0]
    hours = entries.loc[entries["date"].dt.day_of_week >= 5, "hours"].sum()
    assert hours > 0 and abs(hours - row["weekend_hours"]) < 1e-6, (hours, row)
    assert bf.explain("weekend_work").question == "Who works at weekends?"
    work = bf.book("2026-10", client=client).wip("client")
    assert (work["prebill_share"] - work["prebill_amount"] / work["total"]).abs().max() < 1e-9
    assert "On draft bills ÷ total." in str(bf.explain("wip"))
    month = report.load("2026-10", client=client)
    page = report.leverage(month)._repr_html_()
    assert all(words in page for words in ("Leverage by practice area", ">Total<", "Litigation"))
    assert "Leverage by practice area" in [table.title for each in planned(month) for table in each.tables]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        missing = bf.book("2026-10", client=client).missing_time()
    (found,) = bf.notes(missing)
    assert (found["rule"], found["amount"]) == ("many_missing_days", len(missing))
    assert found["plain"].endswith("Add them to the firm's settings.") and found["text"] in str(caught[0].message)
    assert "report.leverage(firm)" in [cell["source"] for cell in new_notebook()["cells"]]

assert "user_agent" in inspect.signature(bf.connect).parameters and "user_agent : str" in bf.Client.__doc__
sent = []
server = httpx.MockTransport(lambda request: sent.append(request.headers["user-agent"]) or httpx.Response(404))
try:
    bf.Client(sys.argv[1], "t", user_agent="month-end", transport=server, retries=0).practice_areas()
except bf.errors.BillframesError:
    pass
assert set(sent) == {"month-end"}
"""


@pytest.mark.slow
def test_the_additions_of_the_diffs_can_be_used(sandbox, tmp_path):
    shutil.copytree(ROOT / "billframes", tmp_path / "billframes", ignore=shutil.ignore_patterns("__pycache__"))
    diffs = re.findall(r"^```diff\n(.*?)^```$", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert len(diffs) == 7
    subprocess.run(["git", "apply"], cwd=tmp_path, input="".join(diffs), text=True, check=True)
    env = os.environ | {"PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", USE, sandbox.base_url, sandbox.tokens["full"]]
    subprocess.run(command, env=env, cwd=tmp_path, check=True)
