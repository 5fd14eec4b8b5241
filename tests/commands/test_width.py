"""What commands print fits a terminal of 80 columns."""

from __future__ import annotations

import sys
from contextlib import suppress

import pytest

from billframes.cli import COMMANDS, main
from tests.commands.test_guidelines import FOLDER

CALLS = (
    ["doctor"],
    ["export", "time_entries", "2026-10", "-o", "october.csv"],
    ["guidelines", str(FOLDER)],
    ["ledes", "--check"],
    ["ledes", "11835", "--check"],
    ["review", "--responsible", "Miriam Harrow"],
    ["sync", "copy"],
    ["sync", "copy", "--status"],
    *([name, "--help"] for name in COMMANDS),
    ["--help"],
)


@pytest.mark.slow
def test_no_line_is_longer_than_80_columns(sandbox, monkeypatch, tmp_path, capsys):
    """A path may be longer, and so may the one sentence of an error, which a terminal breaks."""
    monkeypatch.setenv("BILLFRAMES_BASE_URL", sandbox.base_url)
    monkeypatch.setenv("BILLFRAMES_TOKEN", sandbox.tokens["full"])
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    for words in CALLS:
        with suppress(SystemExit):
            main(words)
        shown = capsys.readouterr().out.replace(str(tmp_path), "~").replace(str(tmp_path.parent), "~")
        assert shown, words
        long = [line for line in shown.splitlines() if len(line) > 80]
        assert not long, words
