"""A full disk, and folders that can't be written: each raises a clear error, and no data are lost."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import pwd
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import billframes as bf
from billframes import mirror
from billframes.mirror import server_lists
from billframes.mirror.lock import folder_lock
from tests.frames import assert_frame_equal

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="mounts file systems and changes accounts: root on Linux only"
)


@pytest.fixture
def disk(tmp_path):
    """A small disk."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(place)]
    if (done := subprocess.run(mount, capture_output=True, text=True, check=False)).returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr}")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def change(client, text):
    for entry in client.time_entries("2026-10", billed=False, limit=1)["time_entry_id"]:
        client.time_entries.update(entry, description=text)


def fill(path):
    with path.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def assert_equal(opened, client):
    for name in ("time_entries", "invoices", "client_balances"):
        assert_frame_equal(getattr(client, name)(), getattr(opened, name)(), obj=name)


@pytest.mark.slow
def test_a_full_disk_keeps_the_last_version_and_the_next_refresh_finishes(writer, disk, capfd):
    m = mirror(disk / "firm", client=writer)
    m.refresh()
    before = m.time_entries("2026-10")
    change(writer, "While the disk is full")
    filler = disk / "filler"
    with pytest.raises(OSError, match="No space left"):
        fill(filler)
    with pytest.raises(
        bf.errors.MirrorError,
        match=r"the disk is full. Its last version, 1 of 2026-10-31 \d\d:\d\d UTC, is complete. Free some space",
    ) as caught:
        m.refresh()
    assert "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""
    assert mirror(disk / "firm").time_entries("2026-10").equals(before)
    filler.unlink()
    m.refresh()
    assert_equal(m, writer)


def used(disk):
    """Return the bytes of the disk that are used."""
    about = os.statvfs(disk)
    return (about.f_blocks - about.f_bfree) * about.f_frsize


def resize(disk, size):
    subprocess.run(["mount", "-o", f"remount,size={size}", str(disk)], check=True)


@pytest.mark.slow
def test_a_first_refresh_on_a_small_disk_leaves_nothing_and_finishes_on_one_that_is_large_enough(
    writer, disk, capfd, monkeypatch
):
    # Many files before the disk is full.
    monkeypatch.setattr(server_lists, "WINDOW_ROWS", 400)
    m = mirror(disk / "firm", client=writer)
    m.refresh()
    whole = used(disk)
    shutil.rmtree(disk / "firm")
    resize(disk, int(0.6 * whole))
    with pytest.raises(
        bf.errors.MirrorError, match=r"the disk is full\. It has no version yet, and no file of this refresh"
    ):
        mirror(disk / "firm", client=writer).refresh()
    assert capfd.readouterr().err == ""
    assert used(disk) < 10_000
    with pytest.raises(bf.errors.MirrorError, match="its first refresh has not finished"):
        mirror(disk / "firm").clients()
    # A commit needs some space in addition to its rows.
    resize(disk, int(1.3 * whole))
    m = mirror(disk / "firm", client=writer)
    m.refresh()
    assert_equal(m, writer)


@pytest.mark.slow
def test_a_refresh_that_fills_the_disk_leaves_as_much_space_as_before(firm, writer, disk):
    m = mirror(disk / "firm", client=writer)
    m.refresh()
    before, entries = used(disk), m.time_entries()
    resize(disk, before + 600_000)
    with contextlib.closing(sqlite3.connect(firm.database, timeout=30)) as connection, connection:
        connection.execute("UPDATE time_entry SET description = description || ' and more'")
    with pytest.raises(bf.errors.MirrorError, match="the disk is full"):
        m.refresh(full=True)
    assert used(disk) <= before
    assert mirror(disk / "firm").time_entries().equals(entries)


@pytest.mark.slow
def test_a_vacuum_frees_a_full_disk(writer, disk, capfd):
    m = mirror(disk / "firm", client=writer)
    m.refresh()
    for number in range(4):
        change(writer, f"Version {number}")
        m.refresh()
    entries = m.time_entries()
    with pytest.raises(OSError, match="No space left"):
        fill(disk / "filler")
    before = used(disk)
    left = m.vacuum(keep="0 days")
    assert left["version"].tolist() == [5]
    assert capfd.readouterr().err == ""
    assert before - used(disk) > 50_000
    assert mirror(disk / "firm").time_entries().equals(entries)


@pytest.mark.slow
def test_a_read_only_disk_is_read_and_not_refreshed(writer, disk):
    m = mirror(disk / "firm", client=writer)
    m.refresh()
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    assert_equal(mirror(disk / "firm"), writer)
    with pytest.raises(bf.errors.MirrorError, match=r"can't be written: Read-only file system. Nothing was changed"):
        m.refresh()


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EIO, errno.EINVAL])
def test_a_file_system_without_locks_is_not_waited_for(writer, tmp_path, monkeypatch, number):
    def refuse(_handle, _operation):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(bf.errors.MirrorError, match=f"can't be locked, so nothing was changed: {os.strerror(number)}"):
        mirror(tmp_path / "firm", client=writer).refresh()


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.EACCES])
def test_a_lock_of_another_process_is_waited_for(tmp_path, monkeypatch, number):
    def refuse(_handle, _operation):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    busy = pytest.raises(bf.errors.MirrorError, match="Another process has been refreshing")
    with busy, folder_lock(tmp_path, 0.2):
        pytest.fail("it was locked")


@contextlib.contextmanager
def as_nobody():
    """Run as another account."""
    other = pwd.getpwnam("nobody")
    os.setegid(other.pw_gid)
    os.seteuid(other.pw_uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


@pytest.mark.slow
def test_another_account_can_neither_read_nor_write(writer):
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    try:
        m = mirror(folder / "firm", client=writer)
        m.refresh()
        with as_nobody():
            with pytest.raises(bf.errors.MirrorError, match=r"denied"):
                mirror(folder / "firm").clients()
            with pytest.raises(
                bf.errors.MirrorError, match=r"can't be written: Permission denied. Nothing was changed"
            ):
                m.refresh()
        os.chown(folder / "firm", pwd.getpwnam("nobody").pw_uid, -1)
        for each in (folder / "firm").rglob("*"):
            os.chown(each, pwd.getpwnam("nobody").pw_uid, -1)
            each.chmod(0o500 if each.is_dir() else 0o400)
        with as_nobody():
            assert len(mirror(folder / "firm").clients()) == len(m.clients())
            with pytest.raises(
                bf.errors.MirrorError, match=r"can't be written: Permission denied. Nothing was changed"
            ):
                m.refresh()
    finally:
        shutil.rmtree(folder)
