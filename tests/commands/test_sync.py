"""`billframes sync` refreshes a mirror and prints one line; other commands read the mirror without requests."""

from __future__ import annotations

import re

import pandas as pd
import pytest

import billframes as bf
from billframes import _session
from billframes.cli import main


@pytest.fixture
def connected(sandbox, monkeypatch):
    monkeypatch.setenv("BILLFRAMES_BASE_URL", sandbox.base_url)
    monkeypatch.setenv("BILLFRAMES_TOKEN", sandbox.tokens["full"])


@pytest.fixture
def default(monkeypatch):
    """Restore the default client afterwards."""
    monkeypatch.setattr(_session, "_default", list(_session._default))


@pytest.mark.slow
def test_sync_creates_a_mirror_and_prints_one_line(connected, tmp_path, capsys):
    path = tmp_path / "firm"
    assert main(["sync", str(path)]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("2026-10-31T20:")
    assert f"{path} version 1: " in line
    assert main(["sync", str(path), "--status"]) == 0
    status = capsys.readouterr().out
    assert f"Mirror     {path}\nVersion    1 of 31 October 2026, 20:" in status
    assert re.search(r"^Time entries +25,721 +\d", status, re.MULTILINE)


def test_a_failed_sync_ends_with_code_2_and_one_sentence(connected, tmp_path, capsys):
    (tmp_path / "file").write_text("x")
    assert main(["sync", str(tmp_path / "file")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["sync", str(tmp_path / "none"), "--status"]) == 2
    assert "is not a mirror" in capsys.readouterr().err


def test_export_reads_a_mirror_without_a_request(refreshed_mirror, tmp_path, monkeypatch):
    out = tmp_path / "clients.csv"
    assert main(["export", "clients", "--mirror", refreshed_mirror.path, "-o", str(out)]) == 0
    assert len(pd.read_csv(out)) == len(refreshed_mirror.clients())


@pytest.mark.parametrize("command", [["report", "2026-09"], ["dashboard", "2026-09"]])
def test_a_folder_that_is_not_a_mirror_is_refused_before_any_work(tmp_path, capsys, command):
    assert main([*command, "--mirror", str(tmp_path)]) == 2
    assert "is not a mirror" in capsys.readouterr().err


@pytest.mark.slow
def test_a_workbook_is_written_from_a_mirror(refreshed_mirror, tmp_path):
    out = tmp_path / "report.xlsx"
    words = ["report", "2026-09", "--format", "xlsx", "--out", str(out), "--mirror", refreshed_mirror.path]
    assert main(words) == 0
    assert out.stat().st_size > 10_000


@pytest.mark.slow
def test_a_mirror_can_be_the_default_source(refreshed_mirror, default, monkeypatch):
    assert bf.connect(mirror=refreshed_mirror.path).version == 1
    assert len(bf.time_entries("2026-10")) == len(refreshed_mirror.time_entries("2026-10"))
    assert bf.time_entries("2026-10").attrs["load"]["proof"] == "mirror"
    assert "matter_type" in bf.enrich(bf.time_entries("2026-10", limit=5), by="matter").columns
    assert bf.book("2026-09").utilization()["total_hours"].sum() > 0
    with pytest.raises(bf.errors.MirrorError, match="default client is itself a mirror"):
        bf.mirror(refreshed_mirror.path).refresh()
    monkeypatch.setattr(_session, "_default", [])
    monkeypatch.setenv("BILLFRAMES_MIRROR", refreshed_mirror.path)
    assert bf.clients().attrs["load"]["proof"] == "mirror"


@pytest.fixture(scope="module")
def refreshed_mirror(client, tmp_path_factory):
    opened = bf.mirror(tmp_path_factory.mktemp("sync") / "firm", client=client)
    opened.refresh()
    return opened


@pytest.mark.slow
def test_sync_tags_the_version_that_closes_a_month(connected, refreshed_mirror, tmp_path, capsys):
    path = refreshed_mirror.path
    assert main(["sync", path, "--close", "2026-09"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "Version 2 is tagged '2026-09 close'."
    assert bf.mirror(path).as_of("2026-09 close").version == 2
    assert main(["sync", str(tmp_path / "none"), "--close", "September"]) == 2
    assert capsys.readouterr().err == "billframes: --close September is not a month, such as 2026-10.\n"
    assert not (tmp_path / "none").exists()
