"""What commands print fits a terminal of 80 columns."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

from billframes.cli import COMMANDS, main

AGING = str(Path(__file__).parents[1] / "ledger" / "samples" / "qbo_ar_aging_detail.csv")
CALLS = (
    ["apply", "none.xlsx"],
    ["doctor"],
    ["export", "time_entries", "2026-10", "-o", "october.csv"],
    ["export", "time_entries", "2026-10", "-o", "october.csv", "--client", "Nobody of this name"],
    ["guidelines"],
    ["ledes", "--check"],
    ["ledes", "11835", "--check"],
    ["review", "--responsible", "Miriam Harrow"],
    ["sync", "copy"],
    ["sync", "copy", "--status"],
    ["tie-out", AGING],
    *([name, "--help"] for name in COMMANDS),
    ["--help"],
)


def test_no_line_is_longer_than_80_columns(sandbox, monkeypatch, tmp_path, capsys):
    """A path may be longer, and so may the one sentence of an error, which a terminal breaks."""
    monkeypatch.setenv("BILLFRAMES_BASE_URL", sandbox.base_url)
    monkeypatch.setenv("BILLFRAMES_TOKEN", sandbox.tokens["full"])
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    printed = []
    for words in CALLS:
        with suppress(SystemExit):
            main(words)
        shown = capsys.readouterr().out.replace(str(tmp_path), "~")
        printed.append(bool(shown))
        long = [line for line in shown.splitlines() if len(line) > 80]
        assert not long, words
    assert sum(printed) >= len(CALLS) - 3
