"""Records that seem to have vanished, and files of a mirror that have: a refresh says so, and a full one mends it."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3

import pytest

import billframes as bf
from billframes import mirror
from billframes.mirror.server_lists import ServerLists
from tests.frames import assert_frame_equal


@pytest.fixture(scope="module")
def base(writer, tmp_path_factory):
    """A mirror that tests copy."""
    path = tmp_path_factory.mktemp("vanished") / "base"
    mirror(path, client=writer).refresh()
    return path


@pytest.fixture
def m(base, writer, tmp_path):
    return mirror(shutil.copytree(base, tmp_path / "firm"), client=writer)


@pytest.fixture
def execute(firm):
    """Change the firm's database directly; it is restored after the test."""
    with contextlib.closing(sqlite3.connect(firm.database, timeout=30, isolation_level=None)) as connection:
        connection.execute("ATTACH ':memory:' AS kept")
        tables = ("time_entry", "expense", "fixed_fee", "invoice")
        for name in tables:
            connection.execute(f"CREATE TABLE kept.{name} AS SELECT * FROM main.{name}")
        yield lambda sql, *values: connection.execute(sql, values).rowcount
        for name in tables:
            names = ", ".join(
                each[1] for each in connection.execute(f"PRAGMA main.table_xinfo({name})") if each[6] == 0
            )
            connection.execute("BEGIN")
            connection.execute(f"DELETE FROM main.{name}")
            connection.execute(f"INSERT INTO main.{name} ({names}) SELECT {names} FROM kept.{name}")
            connection.execute("COMMIT")


def refuse(m, message):
    version = m.version
    with pytest.raises(bf.errors.MirrorError, match=message):
        m.refresh()
    assert mirror(m.path).version == version


FINAL = "(SELECT invoice_id FROM invoice WHERE invoice_state = 'final')"


@pytest.mark.slow
@pytest.mark.sweep
@pytest.mark.parametrize("number", [1, 40])
@pytest.mark.parametrize(("table", "name"), [("time_entry", "time_entries"), ("expense", "expenses")])
def test_a_billed_record_that_vanished_is_not_removed(m, writer, execute, table, name, number):
    chosen = f"SELECT rowid FROM {table} WHERE invoice_id IN {FINAL} LIMIT ?"
    assert execute(f"DELETE FROM {table} WHERE rowid IN ({chosen})", number) == number
    refuse(m, rf"{name}: {number} billed records, which can't be deleted, .* refresh\(full=\['{name}'\]\), .* --full")
    summary = m.refresh(full=name).set_index("resource")
    assert summary.loc[name, "removed"] == number
    assert_frame_equal(getattr(m, name)(), getattr(writer, name)())


def test_all_records_of_a_small_table_are_not_removed(m, execute):
    number = execute("DELETE FROM fixed_fee")
    assert number < 100
    refuse(m, f"fixed_fees: {number} of {number} records seem to have vanished")


@pytest.mark.slow
@pytest.mark.sweep(keep=2)
@pytest.mark.parametrize("name", ["users", "practice_areas", "codes", "code_sets", "custom_fields"])
def test_half_a_list_is_not_removed(m, monkeypatch, name):
    load = ServerLists.load

    def half(self, asked, *period, **options):
        rows = load(self, asked, *period, **options)
        return rows.slice(0, rows.num_rows // 2) if asked == name else rows

    monkeypatch.setattr(ServerLists, "load", half)
    refuse(m, rf"{name}: \d+ of \d+ records seem to have vanished .* refresh\(full=\['{name}'\]\)")
    m.refresh(full=name)


@pytest.mark.slow
def test_an_entry_that_was_taken_off_a_draft_and_deleted_is_removed(m, writer, execute):
    draft = "SELECT rowid FROM time_entry WHERE invoice_id = ? LIMIT 1"
    entries = writer.time_entries(billed=True)
    bill = entries.loc[entries["invoice_state"] != "final", "invoice_id"].iloc[0]
    assert execute(f"DELETE FROM time_entry WHERE rowid IN ({draft})", bill) == 1
    refuse(m, "time_entries: 1 billed records")
    now = "strftime('%Y-%m-%dT%H:%M:%fZ')"
    execute(f"UPDATE invoice SET amount = amount + 1, modified_at = {now} WHERE invoice_id = ?", bill)
    summary = m.refresh().set_index("resource")
    assert summary.loc["time_entries", "removed"] == 1


def test_one_deleted_record_of_a_list_of_two_is_removed():
    from billframes.mirror.deletions import check_vanished

    check_vanished("practice_areas", 1, 2)
    check_vanished("users", 4, 9)
    with pytest.raises(bf.errors.MirrorError, match="users: 5 of 9"):
        check_vanished("users", 5, 9)


def damage(path, how):
    files = sorted(path.glob("**/*.parquet"), key=lambda each: each.stat().st_size)
    one = next(each for each in reversed(files) if "_delta_log" not in each.parts)
    content = one.read_bytes()
    if how == "lost":
        one.unlink()
    elif how == "cut":
        one.write_bytes(content[:-100])
    elif how == "emptied":
        one.write_bytes(b"")
    else:
        middle = len(content) // 2
        one.write_bytes(content[: middle - 500] + bytes(1000) + content[middle + 500 :])


@pytest.mark.slow
@pytest.mark.sweep(keep=3)
@pytest.mark.parametrize(
    ("name", "how"),
    [
        *(("time_entries", "lost"), ("invoices", "lost"), ("users", "cut")),
        *(("client_balances", "cut"), ("clients", "emptied"), ("custom_fields", "emptied")),
    ],
)
def test_a_lost_or_cut_file_is_named_by_a_refresh_and_a_full_one_mends_it(m, writer, name, how):
    path = m._storage.local / name
    damage(path, how)
    m = mirror(m.path, client=writer)
    refuse(m, "--full")
    m.refresh(full=True)
    for each in ("time_entries", "users", "clients", "invoices", "client_balances", "fixed_fees"):
        assert_frame_equal(getattr(mirror(m.path), each)(), getattr(writer, each)(), obj=each)
    assert m.refresh()[["added", "updated", "removed"]].to_numpy().sum() == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["time_entries", "users"])
def test_a_file_with_other_bytes_is_mended_by_a_full_refresh(m, writer, name):
    damage(m._storage.local / name, "overwritten")
    m = mirror(m.path, client=writer)
    m.refresh(full=True)
    assert_frame_equal(mirror(m.path).time_entries(), writer.time_entries())
    assert_frame_equal(mirror(m.path).users(), writer.users())


@pytest.mark.slow
def test_only_the_damaged_table_need_be_loaded_again(m, writer):
    damage(m._storage.local / "time_entries", "lost")
    damage(m._storage.local / "users", "cut")
    m = mirror(m.path, client=writer)
    refuse(m, "--full")
    m.refresh(full=["time_entries", "users"])
    assert_frame_equal(mirror(m.path).time_entries(), writer.time_entries())
