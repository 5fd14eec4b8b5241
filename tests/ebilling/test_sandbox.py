"""E-bills of the sandbox's clients: of one client they pass, of others they would be rejected."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest

import billframes as bf
import billframes.sandbox
from billframes.ebilling import LedesProfile, ledes, ledes_check
from billframes.errors import LedesError, NotFoundError

PROFILES = Path(billframes.sandbox.__file__).parent / "profiles"


@pytest.fixture(scope="module")
def book(october_book):
    return october_book


def profile(name):
    return LedesProfile.load(PROFILES / f"{name}.toml")


def on_matter(book, name):
    matters = book.matters.query("ledes_enabled and name.str.startswith(@name)", local_dict={"name": name})
    of_matter = book.invoices["matter_id"].isin(matters["matter_id"])
    return book.invoices[of_matter & (book.invoices["invoice_state"] == "final")]


def rejected(findings):
    return findings[findings["severity"] == "rejected"]


def test_bills_of_one_client_pass_and_agree_with_the_invoices(book):
    numbers = on_matter(book, "Handbook revision")["invoice_number"].tolist()
    bad = rejected(ledes_check(book, numbers, profile=profile("ironbridge")))["invoice_number"].unique()
    good = [number for number in numbers if number not in bad]
    assert (len(good), len(numbers)) == (12, 16)
    file = ledes(book, good, profile=profile("ironbridge"))
    amounts = book.invoices.set_index("invoice_number")["amount"]
    assert file.totals == {number: Decimal(f"{amounts[number]:.2f}") for number in good}
    assert set(file.lines["client_id"]) == {"1092"}


@pytest.mark.slow
def test_an_insurers_bills_lack_codes_and_have_its_matter_numbers(book):
    numbers = on_matter(book, "Castellane")["invoice_number"].tolist()
    found = rejected(ledes_check(book, numbers, profile=profile("granite")))
    assert {"15 LINE_ITEM_TASK_CODE", "16 LINE_ITEM_EXPENSE_CODE", "17 LINE_ITEM_ACTIVITY_CODE"} <= set(found["field"])
    assert "24 CLIENT_MATTER_ID" not in set(found["field"])
    with pytest.raises(LedesError, match="No LEDES file was made"):
        ledes(book, numbers, profile=profile("granite"))
    file = ledes(book, "11819", profile=profile("granite"))
    assert set(file.lines["client_matter_id"]) == {"GM-1004-003"}
    assert file.lines["exp_fee_inv_adj_type"].iloc[-1] == "IF"


def test_a_client_with_its_own_timekeeper_ids_needs_all_of_them(book):
    invoices = on_matter(book, "Workplace investigation")["invoice_number"].tolist()
    found = rejected(ledes_check(book, invoices, profile=profile("greywater")))
    ids = found[found["field"] == "18 TIMEKEEPER_ID"]
    assert set(ids["value"]) == {"Daniel O’Rourke"}
    good = [number for number in invoices if number not in set(found["invoice_number"])]
    file = ledes(book, good, profile=profile("greywater"))
    assert set(file.lines["timekeeper_id"].dropna()) <= {"GW-301", "GW-302", "GW-303"}
    assert set(file.lines["law_firm_matter_id"]) == {"1089-001"}


@pytest.mark.slow
def test_the_check_of_a_month_reads_only_required_codes_and_each_once(sandbox, monkeypatch):
    with bf.Client(sandbox.base_url, sandbox.tokens["full"]) as client:
        reads = []
        fetch = client._connection.fetch
        monkeypatch.setattr(
            client._connection, "fetch", lambda path, *args, **more: reads.append(path) or fetch(path, *args, **more)
        )
        book = bf.book("2026-10", client=client)
        first = ledes_check(book)
        singles = [path for path in reads if path.startswith(("/v2/expenses/", "/v2/fixed-fees/"))]
        assert 0 < len(singles) == len(set(singles)) <= items_that_require_codes(sandbox)
        told = []
        assert ledes_check(book, progress=lambda done, total: told.append((done, total))).equals(first)
        assert len([path for path in reads if path.startswith("/v2/expenses/")]) == len(singles)
        assert told == []


def items_that_require_codes(sandbox):
    """October's expenses and fixed fees on matters that require a code of them, counted in the sandbox's database."""
    query = """
        SELECT (SELECT count(*) FROM expense JOIN matter USING (matter_id)
                WHERE date BETWEEN '2026-10-01' AND '2026-10-31' AND ledes_enabled AND ledes_expense_required)
             + (SELECT count(*) FROM fixed_fee JOIN matter USING (matter_id)
                WHERE date BETWEEN '2026-10-01' AND '2026-10-31' AND ledes_enabled
                AND (ledes_task_required OR ledes_activity_required))
    """
    with closing(sqlite3.connect(sandbox.database)) as connection:
        return connection.execute(query).fetchone()[0]


@pytest.mark.slow
def test_a_mirror_remembers_codes_for_checks_without_a_server(client, book, tmp_path, monkeypatch):
    mirror = bf.mirror(tmp_path / "firm", client=client)
    mirror.refresh()
    from_client = ledes_check(book)
    unread = ledes_check(mirror.book("2026-10"))
    assert unread["problem"].str.contains("its code is not known").sum() > 0
    assert ledes_check(mirror.book("2026-10"), client=client).equals(from_client)
    monkeypatch.setattr(client._connection, "fetch", None)
    again = bf.mirror(tmp_path / "firm")
    assert ledes_check(again.book("2026-10")).equals(from_client)
    assert ledes_check(again.book("2026-10"), client=client).equals(from_client)


@pytest.mark.slow
def test_codes_of_items_without_a_modified_date_are_read_each_time(sandbox, monkeypatch):
    with bf.Client(sandbox.base_url, sandbox.tokens["full"]) as client:
        book = bf.book("2026-10", client=client)
        names = ("time_entries", "fixed_fees", "invoices", "matters", "users", "codes", "expenses")
        frames = {name: getattr(book, name) for name in names}
        frames |= {name: frames[name].drop(columns="modified_at") for name in ("expenses", "fixed_fees")}
        reads = []
        get = client.expenses.get
        monkeypatch.setattr(client.expenses, "get", lambda id_: reads.append(id_) or get(id_))
        ledes_check(frames, start="2026-10", client=client)
        once = len(reads)
        ledes_check(frames, start="2026-10", client=client)
        assert len(reads) == 2 * once > 0


def test_a_deleted_record_ends_the_check_with_its_own_error(book, client):
    lost = book.expenses.assign(expense_id="00000000-0000-4000-8000-000000000000")
    names = ("time_entries", "fixed_fees", "invoices", "matters", "users", "codes")
    frames = {name: getattr(book, name) for name in names} | {"expenses": lost.tail(0)}
    frames["expenses"] = lost[lost["invoice_id"].notna()].head(1)
    number = frames["expenses"]["invoice_number"].item()
    with pytest.raises(NotFoundError):
        ledes_check(frames, number, client=client)


@pytest.mark.slow
def test_hidden_rates_are_reported_for_an_invoice(sandbox):
    with bf.Client(sandbox.base_url, sandbox.tokens["norates"]) as client, pytest.warns(bf.errors.RatesHiddenWarning):
        found = ledes_check(bf.book("2026-10", client=client), "11819", profile=profile("granite"))
    assert "rates are hidden" in set(found["problem"])


def test_frames_of_one_period_are_refused_with_the_reason(book, client):
    names = ("expenses", "fixed_fees", "invoices", "matters", "users", "codes")
    frames = {name: getattr(book, name) for name in names}
    frames["time_entries"] = client.time_entries("2026-09-15", "2026-10-31")
    found = rejected(ledes_check(frames, "11819", profile=profile("ironbridge"), client=client))
    assert found["problem"].str.contains("time entries were loaded from 2026-09-15 to 2026-10-31 only").any()


def test_findings_in_unbilled_work_name_the_responsible_lawyer(book):
    found = rejected(ledes_check(book))
    assert found["responsible_name"].tolist() == ["Thomas Whitfield"] * len(found)
    assert found["date"].dropna().between(pd.Timestamp("2026-10-01"), pd.Timestamp("2026-10-31")).all()
    assert "take it off first" in found["fix"].iloc[0]


ITEMS = ("time_entries", "expenses", "fixed_fees")


@pytest.fixture
def loads(client, monkeypatch):
    """The lists of items that are requested, each with the client whose items they are; None is all clients."""
    seen = set()
    fetch = client._connection.fetch

    def spy(path, query=(), **more):
        asked = dict(query)
        # The last request of a load looks for changes.
        if path in ("/v2/time-entries", "/v2/expenses", "/v2/fixed-fees") and "modifiedSince" not in asked:
            seen.add((path, asked.get("clientId")))
        return fetch(path, query, **more)

    monkeypatch.setattr(client._connection, "fetch", spy)
    return seen


def of_clients(*client_ids):
    return {(path, id_) for path in ("/v2/time-entries", "/v2/expenses", "/v2/fixed-fees") for id_ in client_ids}


def invoice_numbers(book, wanted, few=3):
    """Numbers of a few final or approved invoices whose items `wanted` chooses, and that have a number of their own."""
    items = pd.concat([getattr(book, name)[["invoice_id", "matter_id", "amount"]] for name in ITEMS])
    invoices = book.invoices[book.invoices["invoice_state"].isin(["final", "approved"])]
    chosen = invoices["invoice_id"].isin(wanted(items.dropna(subset="invoice_id"), invoices))
    return invoices.loc[chosen, "invoice_number"].drop_duplicates(keep=False).head(few).tolist()


@pytest.mark.slow
@pytest.mark.parametrize(
    "wanted",
    [
        lambda items, _: items.groupby("invoice_id")["matter_id"].nunique().loc[lambda matters: matters > 1].index,
        lambda items, _: items.loc[items["amount"] < 0, "invoice_id"],
        lambda items, invoices: invoices.loc[invoices["invoice_state"] == "approved", "invoice_id"],
        lambda items, _: items["invoice_id"],
    ],
    ids=["several matters", "negative items", "approved", "any"],
)
def test_the_items_of_the_invoices_client_make_the_same_file(book, client, loads, wanted):
    numbers = invoice_numbers(book, wanted)
    assert numbers
    assert len(book.time_entries)
    loads.clear()
    for number in numbers:
        few = bf.book("2026-10", client=client)
        assert result(few, number) == result(book, number)
        assert "time_entries" not in few._frames
    assert loads == of_clients(*book.invoices.loc[book.invoices["invoice_number"].isin(numbers), "client_id"])


def result(book, number):
    """The file and what was found, or why there is no file."""
    terms = LedesProfile(law_firm_id="06-1234567", adjustments="invoice")
    found = ledes_check(book, number, profile=terms).to_csv()
    try:
        file = ledes(book, number, profile=terms)
    except LedesError as error:
        return str(error), found
    return file.text, found, file.left_out.to_csv(), file.changed.to_csv()


def test_a_book_that_has_all_items_loads_none_for_an_invoice(book, loads):
    for name in ITEMS:
        assert len(getattr(book, name))
    loads.clear()
    ledes_check(book, "11819")
    assert loads == set()


def test_an_invoice_of_a_matter_that_moved_to_another_client_has_items_of_both(book, client, loads):
    few = bf.book("2026-10", client=client)
    invoice = book.invoices.query("invoice_number == '11561'").iloc[0]
    other = book.clients.loc[book.clients["client_id"] != invoice["client_id"], "client_id"].iloc[0]
    matters = book.matters.copy()
    matters.loc[matters["matter_id"] == invoice["matter_id"], "client_id"] = other
    few.matters = matters
    ledes_check(few, "11561")
    assert loads == of_clients(invoice["client_id"], other)


@pytest.mark.slow
def test_an_invoice_above_its_clients_items_is_checked_with_all_items(book, client, loads):
    few = bf.book("2026-10", client=client)
    whole = bf.book("2026-10", client=client)
    raised = book.invoices.assign(amount=book.invoices["amount"] + 1_000_000)
    for each in (few, whole):
        each.invoices = raised
    for name in ITEMS:
        setattr(whole, name, getattr(book, name))
    loads.clear()
    assert ledes_check(few, "11561").equals(ledes_check(whole, "11561"))
    owner = book.invoices.query("invoice_number == '11561'")["client_id"].item()
    assert loads == of_clients(owner, None)


@pytest.mark.slow
def test_invoices_of_many_clients_are_checked_with_all_items(book, client, loads):
    numbers = book.invoices.query("invoice_state == 'final'").drop_duplicates("client_id")["invoice_number"].head(6)
    all_items = ledes_check(book, numbers)
    loads.clear()
    assert ledes_check(bf.book("2026-10", client=client), numbers).equals(all_items)
    assert loads == of_clients(None)


@pytest.mark.slow
@pytest.mark.parametrize(
    "error", [bf.errors.ParameterError("client_id='1092' is not an id"), bf.errors.DecodeError("ignored")]
)
def test_items_that_a_server_can_not_filter_by_client_are_all_loaded(book, client, monkeypatch, error):
    few = bf.book("2026-10", client=client)
    load = client.time_entries

    def without_clients(**given):
        if "client_id" in given:
            raise error
        return load(**given)

    monkeypatch.setattr(client, "time_entries", without_clients)
    assert ledes_check(few, "11819").equals(ledes_check(book, "11819"))
    assert "time_entries" in few._frames


@pytest.mark.slow
def test_a_mirror_reads_the_items_of_the_invoices_client(client, book, tmp_path):
    mirror = bf.mirror(tmp_path / "firm", client=client)
    mirror.refresh()
    few = mirror.book("2026-10")
    assert ledes_check(few, "11819", client=client).equals(ledes_check(book, "11819"))
    assert "time_entries" not in few._frames


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::billframes.errors.RatesHiddenWarning")
def test_with_hidden_rates_all_other_findings_stay_and_no_other_comes(sandbox, client):
    fields = ["field", "severity", "problem"]
    invoices, matters = client.invoices(invoice_state="final"), client.matters()
    enabled = matters.loc[matters["ledes_enabled"], "matter_id"]
    numbers = invoices.loc[invoices["matter_id"].isin(enabled), "invoice_number"].tail(6).tolist()
    # A difference from the items is known only with rates.
    terms = LedesProfile(law_firm_id="06-1234567", adjustments="invoice", credit_notes=True)
    with bf.Client(sandbox.base_url, sandbox.tokens["norates"]) as other:
        book, without_rates = (bf.book("2026-10", client=each) for each in (client, other))
        for given in (*({"invoice": number} for number in numbers), {}):
            full = bf.ebilling.ledes_check(book, **given, profile=terms)[fields]
            hidden = bf.ebilling.ledes_check(without_rates, **given, profile=terms)[fields]
            extra = hidden["problem"] == "rates are hidden"
            assert extra.sum() >= 1
            assert sorted(map(tuple, hidden[~extra].to_numpy())) == sorted(map(tuple, full.to_numpy()))
