"""Old versions and unfinished refreshes are removed without any space, and whatever happens, the rest can be read."""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import billframes as bf
from billframes import mirror
from billframes.mirror import cleanup, command as sync, server_lists
from billframes.mirror.catalogue import Catalogue, Firm, Version, _rows_of
from billframes.mirror.cleanup import is_due, versions_to_keep
from billframes.mirror.storage import Storage
from tests.frames import assert_frame_equal

NOW = dt.datetime(2026, 11, 26, 12, tzinfo=dt.UTC)
MONTH = dt.timedelta(days=30)


def version(number, day, *tags):
    instant = dt.datetime.fromisoformat(f"{day}T12:00+00:00")
    return Version(number, instant, instant, {}, Firm("http://127.0.0.1:1", True, instant), tags=tags)


def kept_numbers(versions, span=MONTH, **options):
    return [each.number for each in versions_to_keep(versions, span, NOW, month_ends=True, **options)]


def test_tags_the_last_version_of_each_month_and_those_of_the_span_are_kept():
    days = [
        "2026-08-03",
        "2026-08-30",
        "2026-09-01",
        "2026-09-02",
        "2026-10-26",
        "2026-10-27",
        "2026-10-31",
        "2026-11-02",
    ]
    versions = [version(number, day, *(["close"] if number == 3 else [])) for number, day in enumerate(days, 1)]
    assert kept_numbers(versions) == [2, 3, 4, 6, 7, 8]
    assert kept_numbers(versions, dt.timedelta(0)) == [2, 3, 4, 7, 8]
    assert [each.number for each in versions_to_keep(versions, MONTH, NOW, month_ends=False)] == [3, 6, 7, 8]
    assert versions_to_keep([], MONTH, NOW, month_ends=True) == []


@pytest.mark.parametrize(("day", "due"), [("2026-10-26", False), ("2026-10-25", True)])
def test_a_removal_is_due_if_a_version_is_a_day_older_than_the_span(day, due):
    versions = [version(1, day), version(2, "2026-10-31")]
    assert is_due(versions, versions[1:], MONTH, NOW) == due
    assert not is_due(versions, versions, MONTH, NOW)
    assert is_due(versions, versions[1:], dt.timedelta(0), NOW)


@pytest.fixture(scope="module")
def small(firm, writer):
    """A client of a firm with few records."""
    with contextlib.closing(sqlite3.connect(firm.database)) as connection, connection:
        connection.execute("DELETE FROM time_entry WHERE billed OR rowid % 40")
        connection.execute("DELETE FROM expense WHERE rowid % 20")
    return writer


@pytest.fixture(scope="module")
def five_versions(small, tmp_path_factory):
    """The folder of a mirror with five versions, and the entries of each."""
    path = tmp_path_factory.mktemp("cleanup") / "firm"
    m = mirror(path, client=small)
    frames = {}
    for number in range(1, 6):
        entry = small.time_entries(billed=False, limit=1)["time_entry_id"].iloc[0]
        small.time_entries.update(entry, description=f"Version {number}")
        m.refresh()
        frames[number] = m.time_entries()
    m.tag("close", 2)
    return path, frames


@pytest.fixture
def place(five_versions, tmp_path):
    """A copy of that mirror whose versions began 100, 70, 65, 40 and 0 days ago."""
    path, frames = five_versions
    shutil.copytree(path, tmp_path / "firm")
    storage = Storage(tmp_path / "firm")
    now = dt.datetime.now(dt.UTC)
    days = {1: 100, 2: 70, 3: 65, 4: 40, 5: 0}
    # The months of the server's time: versions 1 and 4 are the last of theirs.
    months = {1: "2026-06-30", 2: "2026-08-30", 3: "2026-08-30", 4: "2026-08-31", 5: "2026-10-31"}
    versions = [
        replace(
            each,
            began=now - dt.timedelta(days=days[each.number]),
            time=dt.datetime.fromisoformat(f"{months[each.number]}T12:00+00:00"),
        )
        for each in Catalogue(storage).read()
    ]
    storage.replace_if_at("versions", _rows_of(versions), storage.version("versions"))
    return tmp_path / "firm", frames


def files_of(path):
    return {each for each in path.rglob("*") if each.is_file()}


def assert_readable(path, frames, numbers):
    m = mirror(path)
    for number in numbers:
        assert_frame_equal(m.as_of(number).time_entries(), frames[number])


def no_space(monkeypatch):
    """Fill the disk, as the check before each write sees it, until files are removed."""
    removed = []
    unlink = Path.unlink

    def remove(path, **options):
        if path.suffix == ".parquet":
            removed.append(path)
        unlink(path, **options)

    monkeypatch.setattr(Path, "unlink", remove)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=10**9 if removed else 0))
    return removed


@pytest.mark.slow
def test_versions_are_removed_on_a_full_disk_and_the_rest_is_complete(place, monkeypatch):
    path, frames = place
    m = mirror(path)
    removed = no_space(monkeypatch)
    with pytest.raises(bf.errors.MirrorError, match="the disk is full"):
        m.tag("without space")
    left = m.vacuum(keep="0 days", month_ends=True)
    assert left["version"].tolist() == [1, 2, 4, 5]
    assert removed
    assert left.attrs["vacuum"]["versions"] == 1
    assert left.attrs["vacuum"]["bytes"] > 1000
    assert_readable(path, frames, [1, 2, 4, 5])
    assert mirror(path).as_of("close").version == 2
    assert mirror(path).as_of("2026-06-30").version == 1
    with pytest.raises(bf.errors.MirrorError, match="has no version 3"):
        mirror(path).as_of(3)
    assert mirror(path).vacuum(keep="0 days")["version"].tolist() == [2, 5]


@pytest.mark.slow
def test_if_removed_files_give_no_space_the_error_says_what_was_freed(place, monkeypatch):
    path, frames = place
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    with pytest.raises(
        bf.errors.MirrorError, match=r"[0-9,]{5,} bytes were freed, but the list of versions could not be"
    ):
        mirror(path).vacuum(keep="0 days")
    assert_readable(path, frames, [2, 5])
    monkeypatch.undo()
    assert mirror(path).vacuum(keep="0 days")["version"].tolist() == [2, 5]


def interrupt_after(number, monkeypatch):
    """Interrupt the process after it has removed that many files."""
    unlink, left = Path.unlink, iter(range(number))

    def remove(path, **options):
        if path.suffix == ".parquet" and next(left, None) is None:
            raise KeyboardInterrupt
        unlink(path, **options)

    monkeypatch.setattr(Path, "unlink", remove)


@pytest.mark.slow
@pytest.mark.parametrize("full", [False, True])
def test_a_removal_that_is_interrupted_leaves_all_kept_versions_and_the_next_one_finishes(place, monkeypatch, full):
    path, frames = place
    expected = None
    for number in (1, 8):
        here = path.parent / f"copy{number}"
        shutil.copytree(path, here)
        removed = no_space(monkeypatch) if full else []
        interrupt_after(number, monkeypatch)
        with contextlib.suppress(KeyboardInterrupt):
            mirror(here).vacuum(keep="0 days")
        monkeypatch.undo()
        removed.clear()
        assert_readable(here, frames, [2, 5])
        assert mirror(here).vacuum(keep="0 days")["version"].tolist() == [2, 5]
        left = {each.relative_to(here).parts[0] for each in files_of(here)}, len(list(here.rglob("part-*.parquet")))
        expected = expected or left
        assert left == expected


@pytest.mark.slow
def test_a_refresh_that_fails_leaves_no_file(place, small, monkeypatch):
    path, frames = place
    before = files_of(path)
    m = mirror(path, client=small)
    monkeypatch.setattr(Catalogue, "commit", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        m.refresh(full=True)
    entry = small.time_entries(billed=False, limit=1)["time_entry_id"].iloc[0]
    small.time_entries.update(entry, description="After a failure")
    with pytest.raises(ZeroDivisionError):
        m.refresh()
    assert {each for each in files_of(path) if each.name != ".lock"} <= before
    assert_readable(path, frames, [1, 2, 3, 4, 5])
    monkeypatch.undo()
    m.refresh()
    assert_frame_equal(small.time_entries(), m.time_entries())


@pytest.mark.slow
def test_a_first_refresh_that_fails_leaves_no_file_and_its_error_says_that_there_is_no_version(
    small, tmp_path, monkeypatch
):
    monkeypatch.setattr(server_lists, "WINDOW_ROWS", 100)
    free = iter([10**9] * 12)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=next(free, 0)))
    m = mirror(tmp_path / "firm", client=small)
    with pytest.raises(
        bf.errors.MirrorError, match=r"disk is full\. It has no version yet, and no file of this refresh was"
    ):
        m.refresh()
    assert next(free, None) is None
    assert {each.name for each in (tmp_path / "firm").iterdir()} == {".lock"}


def killed(m, monkeypatch):
    """Refresh a mirror as if the process were killed before the version is written."""
    with monkeypatch.context() as patched:
        patched.setattr(Catalogue, "commit", lambda *_: 1 / 0)
        patched.setattr(cleanup, "undo_unfinished", lambda *_: 0)
        with pytest.raises(ZeroDivisionError):
            m.refresh(full=True)


@pytest.mark.slow
def test_a_first_refresh_that_was_killed_is_removed_by_a_vacuum_or_the_next_refresh(small, tmp_path, monkeypatch):
    m = mirror(tmp_path / "firm", client=small)
    killed(m, monkeypatch)
    assert len(files_of(tmp_path / "firm")) > 30
    left = m.vacuum()
    assert left.empty
    assert left.attrs["vacuum"]["bytes"] > 10_000
    assert {each.name for each in (tmp_path / "firm").iterdir()} == {".lock"}
    with pytest.raises(bf.errors.MirrorError, match="is not a mirror"):
        m.vacuum()


@pytest.mark.slow
def test_a_refresh_that_was_killed_is_undone_by_a_vacuum(place, small, monkeypatch):
    path, frames = place
    m = mirror(path, client=small)
    entry = small.time_entries(billed=False, limit=1)["time_entry_id"].iloc[0]
    small.time_entries.update(entry, description="Before it was killed")
    before = files_of(path)
    killed(m, monkeypatch)
    assert len(files_of(path)) > len(before) + 2
    mirror(path).vacuum(keep="1000 days")
    left = files_of(path)
    assert {each for each in left if "_delta_log" not in each.parts} <= before
    assert_readable(path, frames, [1, 2, 3, 4, 5])
    m.refresh()
    assert_frame_equal(small.time_entries(), m.time_entries())


@pytest.mark.slow
def test_tables_that_were_there_before_are_not_removed(small, tmp_path, monkeypatch):
    own = tmp_path / "firm" / "users" / "own.parquet"
    own.parent.mkdir(parents=True)
    own.write_bytes(b"x")
    monkeypatch.setattr(Catalogue, "commit", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        mirror(tmp_path / "firm", client=small).refresh()
    assert own.exists()


def test_a_vacuum_makes_no_folder(tmp_path):
    with pytest.raises(bf.errors.MirrorError, match="is not a mirror"):
        mirror(tmp_path / "none").vacuum()
    assert not (tmp_path / "none").exists()


def test_a_log_can_not_have_files_outside_the_folder_removed(place, monkeypatch):
    path, _ = place
    outside = path.parent / "outside.parquet"
    outside.write_bytes(b"x")
    listed = ["../../outside.parquet", str(outside)]
    monkeypatch.setattr(Storage, "_vacuum", lambda *_, **__: listed)
    mirror(path).vacuum(keep="0 days")
    assert outside.exists()


def synced(path, capsys, *, keep=None, in_profile=None):
    """Run the part of `billframes sync` that removes versions; return what it logs."""
    capsys.readouterr()
    sync._remove_old(mirror(path), sync._span(keep, in_profile))
    return capsys.readouterr().out


@pytest.mark.slow
def test_sync_keeps_what_the_settings_say_and_logs_what_it_removed(place, capsys):
    path, frames = place
    assert synced(path, capsys, keep="all") == ""
    assert synced(path, capsys, in_profile="200 days") == ""
    line = synced(path, capsys)
    assert f"{path}: 1 old version removed, 0." in line
    assert line.endswith(" MB freed, 4 kept\n")
    assert mirror(path).history()["version"].tolist() == [1, 2, 4, 5]
    assert_readable(path, frames, [1, 2, 4, 5])
    assert synced(path, capsys) == ""
    with pytest.raises(bf.errors.ParameterError, match="mirror_keep=30 is not a span of time"):
        synced(path, capsys, in_profile=30)
    with pytest.raises(bf.errors.ParameterError, match="--keep='soon' is not a span"):
        synced(path, capsys, keep="soon")


@pytest.mark.slow
def test_sync_on_a_full_disk_removes_versions_first_and_refreshes_again(place, small, monkeypatch, capsys):
    path, frames = place
    removed = no_space(monkeypatch)
    monkeypatch.setattr(sync, "connected", lambda _: contextlib.nullcontext(small))
    assert sync.run(argparse.Namespace(path=str(path), status=False, full=False, keep="10 days", close=None)) == 0
    assert removed
    lines = capsys.readouterr().out.splitlines()
    assert "1 old version removed" in lines[0]
    assert f"{path} version 6: " in lines[1]
    assert len(lines) == 2
    assert_readable(path, frames, [1, 2, 4, 5])


def test_sync_on_a_full_disk_without_old_versions_raises(place, small, monkeypatch, capsys):
    path, _ = place
    no_space(monkeypatch)
    monkeypatch.setattr(sync, "connected", lambda _: contextlib.nullcontext(small))
    with pytest.raises(
        bf.errors.MirrorError, match=r"the disk is full\. Its last version, 5 of 2026-10-31 12:00 UTC, is"
    ):
        sync.run(argparse.Namespace(path=str(path), status=False, full=False, keep="all", close=None))
    assert capsys.readouterr().out == ""
