"""Earlier versions open unchanged, and the changes between them are listed."""

from __future__ import annotations

import datetime as dt
import re
import shutil
from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import billframes as bf
from billframes import mirror
from billframes.mirror.balances import unreconciled_clients
from billframes.mirror.comparison import cells, falls, versions_to_compare
from billframes.mirror.stored_table import StoredTable
from billframes.mirror.tables import PARTITION, TABLES, partition_of
from billframes.periods import Period
from tests.frames import assert_frame_equal


@pytest.fixture(scope="module")
def changed_mirror(firm, writer, tmp_path_factory):
    """A mirror with three versions, and the changes between them."""
    m = mirror(tmp_path_factory.mktemp("history") / "firm", client=writer)
    m.refresh()
    m.tag("before")
    first = {name: getattr(m, name)() for name in ("time_entries", "invoices", "clients")}
    entries = writer.time_entries("2026-10", billed=False)["time_entry_id"].tolist()
    writer.time_entries.update(entries[0], description="Another text", hours=9.5)
    writer.time_entries.delete(entries[1])
    renamed = writer.clients(limit=1)["client_id"][0]
    writer.clients.update(renamed, name="Another Name LLP")
    m.refresh()
    final = writer.invoices(invoice_state="final")
    open_ = final[(final["balance"] > 500) & (final["amount"] > 0)].sort_values(["client_id", "invoice_date"])
    paid, partly = open_["invoice_id"].iloc[0], open_[open_["client_id"] != open_["client_id"].iloc[0]].iloc[0]
    owed = float(open_["balance"].iloc[0])
    firm.admin.pay(paid)
    firm.admin.pay(partly["invoice_id"], 120.0)
    m.refresh()
    done = {"first": first, "entries": entries, "renamed": renamed, "paid": {paid: owed, partly["invoice_id"]: 120.0}}
    return m, done


@pytest.mark.slow
def test_an_earlier_version_is_as_it_was(changed_mirror):
    m, done = changed_mirror
    for name, frame in done["first"].items():
        assert_frame_equal(getattr(m.as_of("before"), name)(), frame)
        assert_frame_equal(getattr(m.as_of(1), name)(), frame)
    # The server's time has whole seconds: two refreshes within one differ only by their number.
    then, versions = m.as_of(2).time, m.history()
    assert m.as_of(then).version == versions.loc[versions["time"] <= then, "version"].max()
    assert m.as_of(dt.date(2026, 10, 31)).version == 3


def test_history_has_one_row_per_version(changed_mirror):
    m, _ = changed_mirror
    history = m.history()
    assert history["version"].tolist() == [1, 2, 3]
    assert history["tags"].tolist() == ["before", "", ""]
    assert history["removed"].tolist() == [0, 1, 0]
    assert history["time"].dtype == "datetime64[us, UTC]"
    assert m.as_of(1).history()["version"].tolist() == [1]


def test_changes_are_listed_cell_by_cell(changed_mirror):
    m, done = changed_mirror
    changes = m.changes("before")
    of_entry = changes[changes["id"] == done["entries"][0]].set_index("column")
    assert of_entry.loc["hours", "after"] == "9.5"
    assert of_entry.loc["description", "after"] == "Another text"
    assert set(of_entry["version"]) == {2}
    assert changes[changes["id"] == done["entries"][1]]["change"].tolist() == ["removed"]
    renames = changes[changes["after"] == "Another Name LLP"]
    assert renames[["resource", "id", "column"]].to_numpy().tolist() == [["clients", done["renamed"], "name"]]
    assert m.changes(3).empty
    assert set(m.changes(1, "expenses")["resource"]) <= {"expenses"}
    assert m.changes(3).dtypes.equals(changes.dtypes)


def test_receipts_are_the_amounts_by_which_balances_fell(changed_mirror):
    m, done = changed_mirror
    receipts = m.implied_receipts("2026-10")
    found = dict(receipts[["invoice_id", "implied_receipt_amount"]].itertuples(index=False, name=None))
    assert found == pytest.approx(done["paid"])
    assert (receipts["fall_amount"] == receipts["balance_before"] - receipts["balance_after"]).all()
    assert receipts["client_name"].notna().all()
    with pytest.raises(bf.errors.MirrorError, match="no two versions.*see bf.sandbox.replay"):
        m.as_of(1).implied_receipts("2026-10")


@pytest.mark.parametrize(
    ("start", "end", "days"),
    [
        (None, "2026-09-29", ["2026-08-31", "2026-09-15"]),
        ("2026-09-30", None, ["2026-09-15", "2026-09-30", "2026-10-31"]),
        ("2026-10-01", "2026-10-31", ["2026-09-30", "2026-10-31"]),
        ("2026-08-31", "2026-09-15", ["2026-08-31", "2026-09-15"]),
    ],
)
def test_the_refreshes_of_a_period_count_each_with_the_one_before(start, end, days):
    refreshes = ["2026-08-31", "2026-09-15", "2026-09-30", "2026-10-31"]
    versions = [SimpleNamespace(time=dt.datetime.fromisoformat(f"{day}T12:00Z")) for day in refreshes]
    span = Period(*(day and dt.date.fromisoformat(day) for day in (start, end)))
    chosen = versions_to_compare(versions, span, "m")
    assert [f"{each.time:%Y-%m-%d}" for each in chosen] == days


@pytest.mark.slow
def test_the_part_of_a_fall_that_a_credit_explains_is_not_a_receipt(changed_mirror, firm):
    m, _ = changed_mirror
    final = m.invoices(invoice_state="final")
    both = final[(final["balance"] > 300)].groupby("client_id").filter(lambda rows: len(rows) > 1)
    one, other = both[both["client_id"] == both["client_id"].iloc[0]].sort_values("invoice_date").iloc[:2].itertuples()
    firm.admin.pay(one.invoice_id, one.balance + 200)
    m.refresh()
    # The bookkeeper uses the credit for the other invoice.
    firm.admin.pay(one.invoice_id, -200.0)
    firm.admin.pay(other.invoice_id, 250.0)
    m.refresh()
    last = m.implied_receipts("2026-10").query("until == until.max()").set_index("invoice_id")
    assert last.loc[other.invoice_id, "fall_amount"] == pytest.approx(250)
    assert last.loc[other.invoice_id, "credited_amount"] == pytest.approx(200)
    assert last.loc[other.invoice_id, "implied_receipt_amount"] == pytest.approx(50)


@pytest.mark.slow
def test_an_earlier_version_has_the_receivables_and_work_in_progress_of_its_time(changed_mirror):
    m, done = changed_mirror
    then = m.as_of("before").book("2026-10")
    first = done["first"]
    assert_frame_equal(
        then.aging(as_of="2026-10-31"), bf.analysis.aging(first["invoices"], as_of="2026-10-31"), check_names=False
    )
    total = float(then.aging(as_of="2026-10-31")["total"].iloc[0])
    now = float(m.as_of(3).book("2026-10").aging(as_of="2026-10-31")["total"].iloc[0])
    assert total - now == pytest.approx(sum(done["paid"].values()))
    assert then.wip(as_of="2026-10-31")["total"].iloc[0] > 0
    owed = {"2026-09": then.aging(as_of="2026-10-31"), "2026-10": m.as_of(3).book("2026-10").aging(as_of="2026-10-31")}
    compared = bf.analysis.compare(owed, "total", of_each_day=True, as_columns=True)
    assert compared["since_previous_amount"].tolist() == [pytest.approx(now - total)]


@pytest.mark.slow
def test_vacuum_keeps_tagged_versions_and_the_newest(changed_mirror):
    m, done = changed_mirror
    before = done["first"]["time_entries"]
    m.as_of(2).time_entries()
    left = m.vacuum(keep=dt.timedelta(0))
    assert left["version"].tolist() == [1, m.version]
    again = mirror(m.path)
    assert_frame_equal(again.as_of("before").time_entries(), before)
    assert len(again.time_entries()) == len(before) - 1
    with pytest.raises(bf.errors.MirrorError, match="has no version 2"):
        again.as_of(2)
    assert m.vacuum(keep=dt.timedelta.max)["version"].tolist() == left["version"].tolist()


@pytest.mark.parametrize("keep", ["a while", 30, "30", None, "NaT", -1, "-1 day", dt.timedelta(days=-1)])
def test_what_is_no_span_of_time_removes_no_version(changed_mirror, keep):
    m, _ = changed_mirror
    before = m.history()["version"].tolist()
    with pytest.raises(bf.errors.ParameterError, match=re.escape(f"keep={keep!r} is not a span of time")):
        m.vacuum(keep=keep)
    assert m.history()["version"].tolist() == before


@pytest.mark.parametrize("name", ["2026-10-31", "20261031", " 2026-10-31", "2026-10-31 18:00", "2026-10-31T18:00Z"])
def test_a_date_is_not_a_tag(changed_mirror, name):
    m, _ = changed_mirror
    with pytest.raises(bf.errors.ParameterError, match=re.escape(f"name={name!r} is a date")):
        m.tag(name)


@pytest.mark.parametrize("when", [pd.NaT, None, True, 1.0, pd.NA])
def test_what_names_no_version_is_refused(changed_mirror, when):
    m, _ = changed_mirror
    with pytest.raises(bf.errors.ParameterError, match="names no version"):
        m.as_of(when)


def test_a_version_can_be_a_number_of_the_history(changed_mirror):
    m, _ = changed_mirror
    newest = m.history()["version"].max()
    assert m.as_of(newest).version == newest


def test_receipts_remember_the_references_of_clients_of_one_name(changed_mirror, writer):
    m, done = changed_mirror
    receipts = m.implied_receipts("2026-10")
    ids = receipts.loc[receipts["invoice_id"].isin(done["paid"]), "client_id"].unique()
    for id_ in ids:
        writer.clients.update(id_, name="Namesake LLP")
    m.refresh()
    clients = m.clients(select="reference").set_index("client_id")
    shown = repr(bf.show(m.implied_receipts("2026-10")))
    assert len(ids) == 2
    assert all(f"Namesake LLP ({clients['reference'][id_]})" in shown for id_ in ids)


@pytest.fixture
def copied(refreshed, tmp_path):
    return mirror(shutil.copytree(refreshed.path, tmp_path / "firm"))


def with_value(rows, column, id_, value):
    """Return rows in which a record has another value."""
    name, place = rows.column_names[0], rows.column_names.index(column)
    kind = rows.schema.field(column)
    values = pc.if_else(pc.equal(rows.column(name), id_), pa.scalar(value, kind.type), rows.column(column))
    return rows.set_column(place, kind, values)


def two_versions(m, name, old, new):
    """Return versions of a mirror with other rows of one table, a day apart."""
    now, table = m._open_snapshot().version, TABLES[name]
    at = []
    for each in (old, new):
        partition = partition_of(each.column(table.date), table.partition) if table.partition else None
        at.append(m._storage.write(name, each.append_column(PARTITION, partition) if table.partition else each))
    before, after = (replace(now, tables={**now.tables, name: each}) for each in at)
    return before, replace(after, time=now.time + dt.timedelta(days=1))


def test_an_invoice_is_final_late_only_if_its_date_is_not_after_the_earlier_version(copied):
    rows, day = copied._open_snapshot().read("invoices"), copied.time.date()
    is_final = (pc.field("invoice_state") == "final") & (pc.field("amount") > 0)
    late, new = rows.filter(is_final).column("invoice_id").to_pylist()[:2]
    rows = with_value(with_value(rows, "invoice_date", late, day), "invoice_date", new, day + dt.timedelta(days=1))
    before = rows.filter(~pc.field("invoice_id").isin([late, new]))
    _, finals = falls(copied._storage, two_versions(copied, "invoices", before, rows), {})
    assert finals["invoice_id"].tolist() == [late]


def test_a_credit_that_is_used_is_not_a_receipt(copied):
    rows = copied._open_snapshot().read("invoices")
    is_credit = (pc.field("invoice_state") == "final") & (pc.field("amount") < 0)
    credit = rows.filter(is_credit).column("invoice_id")[0].as_py()
    old, new = (with_value(rows, "balance", credit, balance) for balance in (-100.0, 0.0))
    assert falls(copied._storage, two_versions(copied, "invoices", old, new), {})[0].empty


def test_that_the_server_shows_an_empty_list_is_not_a_change(copied):
    rows = copied._open_snapshot().read("matters")
    one = rows.column("matter_id")[0].as_py()
    old, new = (with_value(rows, "originators_shown", one, shown) for shown in (False, True))
    before, after = two_versions(copied, "matters", old, new)
    assert list(cells(copied._storage, TABLES["matters"], before, after)) == []


def test_a_balance_that_differs_from_the_invoices_by_a_cent_is_noticed(copied):
    invoices = StoredTable(copied._storage, TABLES["invoices"], copied._open_snapshot().version.tables["invoices"])
    balances = copied.client_balances(to="arrow").select(["client_id", "balance"])
    assert unreconciled_clients(invoices, balances) == []
    one = balances.column("client_id")[0].as_py()
    amount = balances.column("balance")[0].as_py() + 0.01
    other = pa.table({"client_id": [one], "balance": [amount]})
    assert unreconciled_clients(invoices, other) == [one]
