"""A version is complete or does not exist, whoever else uses the mirror and whatever is wrong with its folder."""

from __future__ import annotations

import shutil
import stat
import subprocess
import sys
import threading

import pyarrow as pa
import pytest

import billframes as bf
from billframes import mirror
from billframes.mirror.catalogue import Catalogue
from billframes.mirror.firm_check import check_firm
from billframes.mirror.server_lists import ServerLists
from billframes.mirror.storage import Storage
from billframes.sandbox import Sandbox
from tests.mirror.kills import kills


@pytest.fixture(scope="module")
def m(writer, tmp_path_factory):
    opened = mirror(tmp_path_factory.mktemp("versions") / "firm", client=writer)
    opened.refresh()
    return opened


# Forks after the imports, which take longer than the rest; each child ends as an interpreter does.
READERS = """
import os, sys
import billframes as bf
import billframes.mirror.mirror, billframes.analysis.sheets.aging, deltalake
for _ in range(int(sys.argv[2])):
    child = os.fork()
    if child:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        continue
    m = bf.mirror(sys.argv[1])
    m.time_entries()
    m.book("2026-09").aging()
    break
"""


def change(client, text):
    (entry,) = client.time_entries("2026-10", billed=False, limit=1)["time_entry_id"]
    client.time_entries.update(entry, description=text)


@pytest.mark.slow
def test_a_refresh_that_is_killed_is_finished_by_the_next():
    done = kills(4)
    assert (done.killed, done.ended) == (4, [])


@pytest.mark.slow
def test_a_refresh_that_ends_before_its_version_is_committed_has_no_effect(m, writer, monkeypatch):
    change(writer, "Half a refresh")
    before = m.time_entries("2026-10")
    monkeypatch.setattr(Catalogue, "commit", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        m.refresh()
    assert mirror(m.path).time_entries("2026-10").equals(before)
    monkeypatch.undo()
    m.refresh()
    assert "Half a refresh" in set(m.time_entries("2026-10")["description"])


@pytest.mark.slow
def test_a_reader_keeps_its_version_during_a_refresh(m, writer):
    reader = mirror(m.path)
    reader.clients()
    change(writer, "Meanwhile")
    m.refresh()
    assert "Meanwhile" not in set(reader.time_entries("2026-10")["description"])
    assert "Meanwhile" in set(mirror(m.path).time_entries("2026-10")["description"])


@pytest.mark.slow
def test_two_refreshes_at_once_both_succeed(m, writer):
    change(writer, "Both at once")
    version, ended = m.version, []

    def refresh():
        ended.append(mirror(m.path, client=writer).refresh())

    threads = [threading.Thread(target=refresh) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(ended) == 2
    assert mirror(m.path).version == version + 2


def test_a_second_commit_of_the_same_version_is_refused(m):
    catalogue = Catalogue(Storage(m.path))
    with pytest.raises(bf.errors.MirrorError, match="finished first"):
        catalogue.commit(catalogue.newest())


def test_only_the_owner_can_read_the_files(m):
    from pathlib import Path

    folder = Path(m.path)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    files = [each for each in folder.rglob("*") if each.is_file()]
    assert len(files) > 50
    assert {stat.S_IMODE(each.stat().st_mode) for each in files} == {0o600}


@pytest.mark.slow
def test_the_interpreter_ends_with_0(m):
    subprocess.run([sys.executable, "-W", "ignore", "-c", READERS, m.path, "3"], check=True)


def test_a_folder_that_is_not_a_mirror_raises_a_clear_error(tmp_path):
    with pytest.raises(bf.errors.MirrorError, match=r"is not a mirror.*billframes sync"):
        mirror(tmp_path).clients()
    (tmp_path / "file").write_text("x")
    with pytest.raises(bf.errors.MirrorError, match="can't be written"):
        mirror(tmp_path / "file" / "below", client=bf.Client("http://127.0.0.1:9", "x")).refresh()


@pytest.mark.slow
def test_another_firms_data_are_refused(m, writer):
    with Sandbox(seed=5) as other, bf.Client(other.base_url, other.tokens["full"]) as client:
        with pytest.raises(bf.errors.MirrorError, match="Keep a mirror for each firm.*see bf.sandbox.replay"):
            mirror(m.path, client=client).refresh()
        known = m._open_snapshot().version.firm
        # One address can serve several firms.
        server = ServerLists(client)
        server.address = known.address
        with pytest.raises(bf.errors.MirrorError, match="holds another firm's data: none of its 19 users"):
            check_firm(m._storage, server, m._open_snapshot().version)
    assert known.address == writer.base_url


def test_a_credential_that_sees_less_is_refused(m, firm):
    with (
        bf.Client(firm.base_url, firm.tokens["norates"]) as client,
        pytest.raises(bf.errors.MirrorError, match=r"lacks the scope read\.rates"),
    ):
        mirror(m.path, client=client).refresh()


def test_a_refresh_that_can_not_tell_whether_rates_are_shown_keeps_what_is_known(m, monkeypatch):
    monkeypatch.setattr(ServerLists, "shows_rates", lambda _server: None)
    m.refresh()
    assert m._open_snapshot().version.firm.rates is True


@pytest.mark.slow
def test_a_credential_that_sees_more_loads_hidden_rates(firm, writer, tmp_path):
    with bf.Client(firm.base_url, firm.tokens["norates"]) as client:
        hidden = mirror(tmp_path / "firm", client=client)
        with pytest.warns(bf.errors.RatesHiddenWarning):
            hidden.refresh()
        with pytest.warns(bf.errors.RatesHiddenWarning):
            assert hidden.time_entries("2026-10")["amount"].isna().all()
    seen = mirror(tmp_path / "firm", client=writer)
    seen.refresh()
    assert seen.time_entries("2026-10").equals(writer.time_entries("2026-10"))


def test_unknown_versions_and_tags_raise_a_clear_error(m):
    with pytest.raises(bf.errors.MirrorError, match="has no version 99; it has 1 to"):
        m.as_of(99)
    with pytest.raises(bf.errors.MirrorError, match=r"has no tag 'close' \(it has none\)"):
        m.as_of("close")
    with pytest.raises(bf.errors.MirrorError, match="goes back to 2026-10-31.*see bf.sandbox.replay"):
        m.as_of("2020-01-01")
    with pytest.raises(bf.errors.ParameterError, match="names no version"):
        m.as_of(1.5)
    with pytest.raises(bf.errors.MirrorError, match="This is the mirror as of"):
        m.as_of(1).refresh()


def test_a_mirror_of_a_later_release_is_left_alone(m, writer, tmp_path):
    shutil.copytree(m.path, tmp_path / "firm")
    storage = Storage(tmp_path / "firm")
    at = storage.version("versions")
    rows = storage.read("versions", at)
    place = rows.column_names.index("format")
    storage.replace_if_at("versions", rows.set_column(place, "format", pa.array([7] * len(rows), pa.int64())), at)
    with pytest.raises(bf.errors.MirrorError, match=r"later release of billframes \(format 7.*Upgrade"):
        mirror(tmp_path / "firm", client=writer).refresh()
    with pytest.raises(bf.errors.MirrorError, match="Upgrade"):
        mirror(tmp_path / "firm").clients()


def test_errors_of_the_storage_become_one_sentence(m):
    storage = Storage(m.path)
    for text, message in [
        ("Generic LocalFileSystem error: Permission denied (os error 13)", "permission denied"),
        ("No space left on device (os error 28)", "the disk is full"),
        ("Read-only file system (os error 30)", "read-only"),
    ]:
        with pytest.raises(bf.errors.MirrorError, match=message) as caught, storage.as_mirror_errors():
            raise OSError(text)
        assert "\n" not in str(caught.value)
    with pytest.raises(bf.errors.ParameterError, match=r"full='expense'.*Did you mean 'expenses'"):
        m.refresh(full="expense")


def test_no_secret_is_stored(m, firm):
    assert firm.tokens["full"] not in repr(m._open_snapshot().version.firm)
