"""Blocks of Python without a prompt, which doctest skips, run without an error."""

from __future__ import annotations

import logging
import re
import warnings
from pathlib import Path
from types import SimpleNamespace

import certifi
import pytest

import billframes as bf
from billframes import _session
from billframes.sandbox import Sandbox

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "analyses").glob("*.md"))]
WITHOUT_PROMPT = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [
    pytest.param(block, id=f"{page.name}-{place}")
    for page in PAGES
    for place, block in enumerate(WITHOUT_PROMPT.findall(page.read_text(encoding="utf-8")))
    if ">>>" not in block
]
# Blocks that need a cluster or a killed process are run by other tests.
ELSEWHERE = {"local-cluster": "tests/analysis/test_spark.py", 'bf.bulk.resume("': "tests/bulk/test_apply.py"}
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def names():
    """The names that the blocks use: a client of its own sandbox, some records, and the reader's own function."""
    before = list(_session._default)
    with Sandbox() as sandbox, bf.connect(sandbox.base_url, sandbox.tokens["full"]) as client:
        entries = bf.time_entries("2026-10", billed=False)
        made = bf.time_entries.get(entries["time_entry_id"].iloc[0])
        yield {
            "bf": bf,
            "sandbox": sandbox,
            "client": client,
            "entries": entries.head(20),
            "made": made,
            "some": made.matter_id,
            "matter": made.matter_id,
            "user": made.user_id,
            "client_id": made.client_id,
            "expense": bf.expenses("2026-10", billed=False)["expense_id"].iloc[0],
            "my_report": lambda client, month: SimpleNamespace(total=client.time_entries(month)["hours"].sum()),
        }
    _session._default[:] = before


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_of_python_runs(block, names, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    where = next((file for part, file in ELSEWHERE.items() if part in block), "")
    if where:
        part = next(part for part in ELSEWHERE if part in block)
        assert part.rstrip('"') in (ROOT / where).read_text(encoding="utf-8")
        return
    sandbox, logger = names["sandbox"], logging.getLogger("billframes")
    code = block.replace("https://billing.example.com", sandbox.base_url).replace("…", sandbox.tokens["full"])
    code = code.replace("/etc/ssl/firm-ca.pem", certifi.where())
    level, defined = logger.level, dict(names)
    with warnings.catch_warnings():
        exec(compile(code, "block", "exec"), defined)
        names |= {name: each for name, each in defined.items() if name in {"panel", "draft"}}
        for name in [name for name in defined if name.startswith("test_")]:
            defined[name](SimpleNamespace(client=names["client"]))
    logger.setLevel(level)
