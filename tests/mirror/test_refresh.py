"""After a refresh, the mirror equals the server, whatever happened there."""

from __future__ import annotations

import datetime as dt
import random
import shutil
import sqlite3
import time
from dataclasses import replace

import pytest

import billframes as bf
from billframes import _session, mirror
from billframes.mirror import refresh as refreshing, server_lists
from billframes.mirror.deletions import SAMPLE, confirm_deleted
from billframes.mirror.refresh import ROUNDS, Refresh
from billframes.mirror.server_lists import ServerLists
from billframes.mirror.side_tables import ReferenceCollector
from billframes.mirror.snapshot import Snapshot
from billframes.mirror.stored_table import StoredTable
from billframes.mirror.tables import REFERENCES, TABLES
from billframes.sandbox import Sandbox
from billframes.sandbox.fault_injection import Trouble
from tests.frames import assert_frame_equal

RECORDS = ["time_entries", "expenses", "fixed_fees", "invoices", "clients", "matters"]


@pytest.fixture(scope="module")
def m(writer, tmp_path_factory):
    opened = mirror(tmp_path_factory.mktemp("refresh") / "firm", client=writer)
    opened.refresh()
    return opened


def assert_equal(opened, client, names=tuple(TABLES)):
    for name in names:
        assert_frame_equal(getattr(client, name)(), getattr(opened, name)(), obj=name)


def changes_of(summary, name):
    row = summary.set_index("resource").loc[name]
    return row["added"], row["updated"], row["removed"]


def execute(firm, sql, *values):
    """Change the firm's database directly, without the API."""
    connection = sqlite3.connect(firm.database, timeout=30)
    with connection:
        done = connection.execute(sql, values)
    connection.close()
    return done.rowcount


def now():
    return f"{dt.datetime.now(dt.UTC):%Y-%m-%dT%H:%M:%S.%fZ}"


def unbilled_ids(client, number, seed=1):
    entries = client.time_entries(billed=False)["time_entry_id"].tolist()
    return random.Random(seed).sample(entries, number)


def test_a_refresh_of_an_unchanged_firm_writes_nothing(m):
    tables = dict(m._open_snapshot().version.tables)
    summary = m.refresh()
    assert summary["resource"].tolist()[0] == "custom_fields"
    assert summary[["added", "updated", "removed"]].to_numpy().sum() == 0
    assert dict(m._open_snapshot().version.tables) == tables
    assert m.version == 2


@pytest.mark.slow
def test_added_changed_and_deleted_records_are_stored(m, writer):
    first, second, third = unbilled_ids(writer, 3)
    writer.time_entries.update(first, description="Called about the appeal", hours=7.25)
    writer.time_entries.update(second, date="2024-02-02")
    writer.time_entries.delete(third)
    made = writer.time_entries.get(first)
    writer.time_entries.create(
        matter_id=made.matter_id, user_id=made.user_id, date="2026-10-30", description="New", hours=1
    )
    summary = m.refresh()
    assert changes_of(summary, "time_entries") == (1, 2, 1)
    assert_equal(m, writer, RECORDS)


def test_a_change_that_becomes_visible_minutes_after_its_date_is_stored(m, writer, firm):
    (entry,) = writer.time_entries("2026-09", billed=False, limit=1)["time_entry_id"]
    dated = m.time - dt.timedelta(minutes=14)
    changed = "UPDATE time_entry SET description = 'Late', modified_at = ? WHERE time_entry_id = ?"
    assert execute(firm, changed, f"{dated:%Y-%m-%dT%H:%M:%S.%fZ}", entry) == 1
    assert changes_of(m.refresh(), "time_entries") == (0, 1, 0)
    assert "Late" in set(m.time_entries("2026-09")["description"])


@pytest.mark.slow
def test_items_that_were_billed_without_a_new_modified_date_are_stored(m, writer, firm):
    invoice = writer.invoices(invoice_state="final", limit=1)["invoice_id"].iloc[0]
    for table in ("time_entry", "expense", "fixed_fee"):
        unbilled = f"SELECT rowid FROM {table} WHERE invoice_id IS NULL LIMIT 2"
        assert execute(firm, f"UPDATE {table} SET invoice_id = ? WHERE rowid IN ({unbilled})", invoice) == 2
    assert execute(firm, "UPDATE invoice SET modified_at = ? WHERE invoice_id = ?", now(), invoice) == 1
    summary, items = m.refresh(), ["time_entries", "expenses", "fixed_fees"]
    assert [changes_of(summary, name) for name in items] == [(0, 2, 0)] * 3
    assert_equal(m, writer, items)


def test_a_server_that_ignores_the_filter_by_billed_is_not_loaded_again(m, writer, firm, monkeypatch):
    count = ServerLists.count
    monkeypatch.setattr(ServerLists, "count", lambda server, name, *period, **_: count(server, name, *period))
    monkeypatch.setattr(refreshing, "reload_table", lambda *_: pytest.fail("a whole list was loaded"))
    execute(firm, "UPDATE invoice SET balance = 1, modified_at = ? WHERE invoice_state = 'draft'", now())
    assert changes_of(m.refresh(), "invoices")[1] > 0


def test_a_small_change_leaves_other_files_alone(m, writer):
    before = {
        part.uri for part in m._storage.data_files("time_entries", m._open_snapshot().version.tables["time_entries"])
    }
    (entry,) = writer.time_entries("2026-10", billed=False, limit=1)["time_entry_id"]
    writer.time_entries.update(entry, description="Once more")
    m.refresh()
    after = {
        part.uri for part in m._storage.data_files("time_entries", m._open_snapshot().version.tables["time_entries"])
    }
    assert len(after - before) == len(before - after) == 1


@pytest.mark.slow
def test_a_rename_shows_on_every_record(m, writer):
    client = writer.clients(limit=1).iloc[0]
    writer.clients.update(client["client_id"], name="Renamed & Partners")
    m.refresh()
    assert set(m.time_entries(client_id=client["client_id"])["client_name"]) == {"Renamed & Partners"}
    assert_equal(m, writer, RECORDS)


@pytest.mark.slow
def test_deletions_hidden_by_as_many_additions_are_found(m, writer):
    gone = unbilled_ids(writer, 5, seed=2)
    made = writer.time_entries.get(gone[0])
    for id_ in gone:
        writer.time_entries.delete(id_)
        writer.time_entries.create(
            matter_id=made.matter_id, user_id=made.user_id, date="2025-05-05", description="Instead", hours=2
        )
    assert changes_of(m.refresh(), "time_entries") == (5, 0, 5)
    assert_equal(m, writer, RECORDS)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.01, 0.04])
def test_deletions_of_a_share_of_a_table_are_found(m, writer, firm, share):
    number = int(len(m.expenses()) * share)
    gone = execute(
        firm,
        "DELETE FROM expense WHERE expense_id IN ("
        "SELECT expense_id FROM expense WHERE invoice_id IS NULL ORDER BY random() LIMIT ?)",
        number,
    )
    assert gone == number
    assert changes_of(m.refresh(), "expenses") == (0, 0, number)
    assert_equal(m, writer, ["expenses"])


@pytest.mark.slow
def test_deletions_are_found_in_windows_and_few_requests(m, writer, firm, monkeypatch):
    monkeypatch.setattr(ServerLists, "page_size", 50)
    execute(firm, "DELETE FROM time_entry WHERE time_entry_id IN (?, ?)", *unbilled_ids(writer, 2, seed=3))
    summary = m.refresh()
    assert changes_of(summary, "time_entries") == (0, 0, 2)
    assert summary.set_index("resource").loc["time_entries", "requests"] < 40
    assert_equal(m, writer, ["time_entries"])


@pytest.mark.slow
def test_deletions_in_many_places_load_few_of_the_billed_rows(m, writer, firm, monkeypatch):
    monkeypatch.setattr(ServerLists, "page_size", 100)
    loaded, load = [], ServerLists.load

    def counted(server, name, *period, **options):
        frame = load(server, name, *period, **options)
        loaded.append((name, bool(period), frame.num_rows))
        return frame

    monkeypatch.setattr(ServerLists, "load", counted)
    for id_ in unbilled_ids(writer, 20, seed=4):
        execute(firm, "DELETE FROM time_entry WHERE time_entry_id = ?", id_)
    assert changes_of(m.refresh(), "time_entries") == (0, 0, 20)
    through = sum(rows for name, windowed, rows in loaded if name == "time_entries" and windowed)
    assert through <= writer.time_entries.count(billed=False)
    assert_equal(m, writer, ["time_entries"])


@pytest.mark.slow
def test_a_silently_billed_entry_is_not_removed_with_many_deletions(m, writer, firm, monkeypatch):
    """Another entry became unbilled, so as many unbilled entries are missing as entries in total."""
    monkeypatch.setattr(ServerLists, "page_size", 100)
    *gone, flipped = unbilled_ids(writer, 15, seed=6)
    other = writer.time_entries("2024-03", billed=True, limit=1).iloc[0]
    execute(firm, "UPDATE time_entry SET invoice_id = ? WHERE time_entry_id = ?", other["invoice_id"], flipped)
    execute(firm, "UPDATE time_entry SET invoice_id = NULL WHERE time_entry_id = ?", other["time_entry_id"])
    for id_ in gone:
        execute(firm, "DELETE FROM time_entry WHERE time_entry_id = ?", id_)
    assert changes_of(m.refresh(), "time_entries")[2] == 14
    assert {flipped, other["time_entry_id"]} <= set(m.time_entries()["time_entry_id"])
    m.refresh(full="time_entries")
    assert_equal(m, writer, ["time_entries"])


@pytest.mark.slow
def test_a_deletion_that_a_silent_move_hides_in_the_totals_is_found(m, writer, firm):
    """The day of the deletion has as many rows as before, and the row that another day lacks still exists."""
    place = writer.time_entries("2024-03", billed=False).iloc[0]
    (moved,) = writer.time_entries("2026-10", billed=False, limit=1)["time_entry_id"]
    execute(firm, "UPDATE time_entry SET date = ? WHERE time_entry_id = ?", f"{place['date']:%Y-%m-%d}", moved)
    execute(firm, "DELETE FROM time_entry WHERE time_entry_id = ?", place["time_entry_id"])
    assert changes_of(m.refresh(), "time_entries") == (0, 1, 1)
    assert_equal(m, writer, ["time_entries"])


@pytest.mark.slow
def test_when_much_seems_to_vanish_nothing_is_removed(m, writer, firm):
    execute(firm, "CREATE TABLE vanished AS SELECT * FROM expense LIMIT 300")
    execute(firm, "DELETE FROM expense WHERE expense_id IN (SELECT expense_id FROM vanished)")
    version, rows = m.version, len(m.expenses())
    with pytest.raises(bf.errors.MirrorError, match=r"expenses: 300 of .* vanished .* refresh\(full=\['expenses'\]\)"):
        m.refresh()
    again = mirror(m.path, client=writer)
    assert (again.version, len(again.expenses())) == (version, rows)
    assert changes_of(m.refresh(full="expenses"), "expenses") == (0, 0, 300)
    assert_equal(m, writer, ["expenses"])
    execute(firm, "INSERT INTO expense SELECT * FROM vanished")
    m.refresh()
    assert_equal(m, writer, ["expenses"])


@pytest.mark.slow
def test_invoices_of_many_clients_that_still_exist_are_not_taken_as_deleted(refreshed, client):
    """The API has no request for one invoice, so the lists of a sample of their clients are looked through."""
    version = refreshed._open_snapshot().version.tables["invoices"]
    stored = StoredTable(refreshed._storage, TABLES["invoices"], version)
    ids = refreshed.invoices().drop_duplicates("client_id")["invoice_id"].tolist()
    assert len(ids) > SAMPLE
    server = ServerLists(client)
    assert confirm_deleted(server, stored, ids, SAMPLE) == []
    assert confirm_deleted(server, stored, ["lost", *ids], SAMPLE) == ["lost"]


@pytest.mark.slow
def test_an_invoice_that_becomes_final_or_is_paid_shows_on_its_items(m, writer, firm):
    # Each refresh in the next 15 minutes loads all of its items again.
    waiting = writer.time_entries(billed=False, billing_type="billable")["client_id"].value_counts()
    invoice = firm.admin.create_invoice(waiting[waiting >= 10].index[-1])
    m.refresh()
    assert set(m.time_entries(invoice_id=invoice["invoiceId"])["invoice_state"]) == {"draft"}
    firm.admin.move(invoice["invoiceId"], "final")
    firm.admin.pay(invoice["invoiceId"], 100.0)
    m.refresh()
    assert set(m.time_entries(invoice_id=invoice["invoiceId"])["invoice_state"]) == {"final"}
    assert_equal(m, writer)
    firm.admin.void(invoice["invoiceId"])
    m.refresh()
    assert_equal(m, writer)


@pytest.mark.slow
def test_payments_that_leave_the_modified_date_alone_are_found_by_the_balances(m, writer, firm):
    execute(
        firm,
        "UPDATE invoice SET balance = balance / 2 WHERE invoice_id IN"
        " (SELECT invoice_id FROM invoice WHERE invoice_state = 'final' AND balance > 0 LIMIT 3)",
    )
    assert changes_of(m.refresh(), "invoices") == (0, 3, 0)
    assert_equal(m, writer)


@pytest.mark.slow
def test_edits_that_leave_the_date_alone_are_found_by_a_full_refresh(m, writer, firm):
    changed = execute(firm, "UPDATE time_entry SET description = 'Silent' WHERE rowid % 199 = 0")
    # Entries that were changed within the overlap are loaded anyway.
    found = changes_of(m.refresh(), "time_entries")[1]
    assert 0 <= found < changed
    assert changes_of(m.refresh(full=("time_entries",)), "time_entries") == (0, changed - found, 0)
    assert changes_of(m.refresh(full=True), "time_entries") == (0, 0, 0)
    assert_equal(m, writer)


def test_a_record_in_no_list_keeps_its_last_shown_name(refreshed, tmp_path):
    # A copy, because other tests read the tables as the refresh left them.
    refreshed = mirror(shutil.copytree(refreshed.path, tmp_path / "firm"))
    at = dict(refreshed._open_snapshot().version.tables)
    people = refreshed._open_snapshot().read("users")
    rows = refreshed.time_entries("2026-10", user_id=people.column("user_id")[0].as_py(), to="arrow")
    listed = StoredTable(refreshed._storage, TABLES["users"], at["users"])
    listed.replace_all(people.slice(1))
    seen = ReferenceCollector(refreshed._storage, at[REFERENCES.name])
    seen.collect(rows, TABLES["time_entries"])
    tables = {**at, "users": listed.current_version, REFERENCES.name: 0}
    tables[REFERENCES.name] = seen.commit(tables)
    shown = Snapshot(refreshed._storage, replace(refreshed._open_snapshot().version, tables=tables)).lookup("users")
    assert shown.num_rows == people.num_rows
    assert people.column("name")[0] in shown.column("name")


@pytest.mark.slow
def test_redefined_custom_fields_change_the_columns(m, writer, firm):
    old = m.clients().filter(like="cf_").columns
    execute(firm, "UPDATE custom_field SET name = 'Another name' WHERE id = ?", m.custom_fields("client")["id"][0])
    m.refresh()
    assert list(m.clients().filter(like="cf_").columns) != list(old)
    assert_equal(m, writer, ["clients", "matters", "custom_fields"])
    assert list(m.as_of(1).clients().filter(like="cf_").columns) == list(old)


@pytest.mark.slow
def test_custom_fields_keep_their_columns_if_the_server_lists_them_in_another_order(m, writer, firm):
    fields = m.custom_fields("client")
    first, second = fields["id"][:2]
    column = next(name for name, each in m.clients().attrs["custom_fields"].items() if each["id"] == first)
    before = m.clients()[column]
    # The second field gets the first one's name, in capitals; then the server lists it first.
    name = fields["name"][0].upper()
    execute(firm, "UPDATE custom_field SET name = ? WHERE id = ?", name, second)
    with pytest.warns(bf.errors.UnknownValueWarning, match=f"{column}_"):
        m.refresh()
    execute(firm, "UPDATE custom_field SET position = -1 WHERE id = ?", second)
    with pytest.warns(bf.errors.UnknownValueWarning, match=f"{column}_"):
        m.refresh()
    assert m.custom_fields("client")["id"][:2].tolist() == [second, first]
    with pytest.warns(bf.errors.UnknownValueWarning, match=f"{column}_"):
        clients = m.clients()
    assert clients.attrs["custom_fields"][column]["id"] == first
    assert clients[column].equals(before)
    execute(firm, "UPDATE custom_field SET name = 'Another field' WHERE id = ?", second)
    m.refresh()
    assert {column, "cf_another_field"} <= set(m.clients())


@pytest.mark.slow
def test_a_first_refresh_in_many_windows_is_equal(writer, tmp_path, monkeypatch):
    monkeypatch.setattr(server_lists, "WINDOW_ROWS", 600)
    opened = mirror(tmp_path / "firm", client=writer)
    opened.refresh()
    assert_equal(opened, writer, ["time_entries", "expenses"])


@pytest.mark.slow
def test_silent_moves_between_windows_are_not_deletions(m, writer, firm, tmp_path, monkeypatch):
    monkeypatch.setattr(ServerLists, "page_size", 100)
    opened = mirror(tmp_path / "firm", client=writer)
    opened.refresh()
    (moved,) = unbilled_ids(writer, 1, seed=5)
    execute(firm, "UPDATE time_entry SET date = '2024-03-03' WHERE time_entry_id = ?", moved)
    opened.refresh()
    assert moved in set(opened.time_entries()["time_entry_id"])
    for each in (opened, m):
        each.refresh(full="time_entries")
        assert_equal(each, writer, ["time_entries"])


@pytest.mark.slow
def test_refreshes_while_a_colleague_writes_end_equal(thin, tmp_path):
    trouble = Trouble(writes_per_second=50, late_commits=0.2, late_seconds=0.5)
    path = shutil.copyfile(thin, tmp_path / "firm.db")
    with Sandbox(db=path, trouble=trouble) as sandbox, bf.Client(sandbox.base_url, sandbox.tokens["full"]) as client:
        opened = mirror(tmp_path / "firm", client=client)
        for _ in range(2):
            opened.refresh()
        sandbox._writer.stop()
        time.sleep(0.6)
        opened.refresh()
        assert_equal(opened, client, RECORDS)


@pytest.mark.slow
def test_a_deletion_in_a_quiet_moment_after_busy_ones_is_no_error(m, writer, firm, monkeypatch):
    """If there are changes all the time, totals are compared only at the end."""
    (gone,) = unbilled_ids(writer, 1, seed=7)
    writer.time_entries.delete(gone)
    take, calls = Refresh._store_changes, []

    def busy(run, stored):
        calls.append(stored.table.name)
        return take(run, stored) or calls.count("time_entries") <= 1 + ROUNDS

    monkeypatch.setattr(Refresh, "_store_changes", busy)
    assert changes_of(m.refresh(), "time_entries")[2] == 1
    assert gone not in set(m.time_entries()["time_entry_id"])
    assert_equal(m, writer, ["time_entries"])


@pytest.mark.slow
def test_a_deletion_that_a_silent_move_hides_is_found_at_the_end(m, writer, firm, monkeypatch):
    """Totals are compared only at the end, and the search finds the moved record, which still exists."""
    monkeypatch.setattr(ServerLists, "page_size", 50)
    take, remove, tables, ways = Refresh._store_changes, Refresh._remove_deleted, [], []

    def busy(run, stored):
        tables.append(stored.table.name)
        return take(run, stored) or tables.count("time_entries") <= 1 + ROUNDS

    def noting(run, stored, total, *, thorough):
        ways.append((stored.table.name, thorough, remove(run, stored, total, thorough=thorough)))
        return ways[-1][2]

    # A search that happens to load the day of the deletion finds it, and needs no second search.
    for month in ("2024-04", "2024-09", "2025-02", "2025-07"):
        place = writer.time_entries(month, billed=False).iloc[0]
        (moved,) = writer.time_entries("2026-09", billed=False, limit=1)["time_entry_id"]
        m.refresh()
        execute(firm, "UPDATE time_entry SET date = ? WHERE time_entry_id = ?", f"{place['date']:%Y-%m-%d}", moved)
        execute(firm, "DELETE FROM time_entry WHERE time_entry_id = ?", place["time_entry_id"])
        tables.clear()
        ways.clear()
        with monkeypatch.context() as patched:
            patched.setattr(Refresh, "_store_changes", busy)
            patched.setattr(Refresh, "_remove_deleted", noting)
            assert changes_of(m.refresh(), "time_entries") == (0, 1, 1)
        assert_equal(m, writer, ["time_entries"])
        if ways != [("time_entries", False, True)]:
            break
    assert ways == [("time_entries", False, False), ("time_entries", True, True)]


@pytest.mark.slow
def test_a_mirror_with_an_address_is_refreshed_from_that_server(m, firm, monkeypatch):
    monkeypatch.setattr(_session, "_default", [])
    opened = bf.connect(firm.base_url, firm.tokens["full"], mirror=m.path)
    before = opened.version
    assert opened.refresh()["requests"].sum() > 0
    assert opened.version == before + 1
    assert bf.clients().attrs["load"]["proof"] == "mirror"


def test_a_mirror_has_an_age_and_refuses_old_data(m, writer):
    assert dt.timedelta(0) < m.age < dt.timedelta(minutes=10)
    stale = mirror(m.path, client=writer, max_age=dt.timedelta(0))
    with pytest.raises(bf.errors.MirrorError, match="Refresh it"):
        stale.clients()
    with pytest.raises(bf.errors.ParameterError, match="max_age='soon'"):
        mirror(m.path, max_age="soon")


@pytest.mark.slow
def test_a_mirror_warns_of_unknown_values_as_a_client_does(m, writer, firm):
    user, role = writer.users(query="Whitfield")[["user_id", "role"]].iloc[0]
    execute(firm, "UPDATE user SET role = 'astronaut' WHERE user_id = ?", user)
    try:
        with pytest.warns(bf.errors.UnknownValueWarning, match="users: column role has .*'astronaut'"):
            m.refresh()
        with pytest.warns(bf.errors.UnknownValueWarning) as by_client:
            expected = writer.users()
        with pytest.warns(bf.errors.UnknownValueWarning) as by_mirror:
            assert_frame_equal(m.users(), expected)
        assert [str(each.message) for each in by_mirror] == [str(each.message) for each in by_client]
    finally:
        execute(firm, "UPDATE user SET role = ? WHERE user_id = ?", role, user)
        m.refresh()
