"""Loads from the sandbox agree with its database, and always have the same columns."""

from __future__ import annotations

import datetime as dt
import functools
import pickle

import httpx
import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pytest

import billframes as bf
from tests.conftest import entries, entry, paged
from tests.frames import assert_frame_equal

PAGED = ["time_entries", "expenses", "fixed_fees", "invoices", "clients", "matters"]
TABLES = {
    "time_entries": "time_entry",
    "expenses": "expense",
    "fixed_fees": "fixed_fee",
    "invoices": "invoice",
    "clients": "client",
    "matters": "matter",
}
ALL = [*PAGED, "users", "practice_areas", "codes", "code_sets", "custom_fields", "client_balances", "health"]


@pytest.mark.parametrize("name", [*PAGED, "users", "codes", "code_sets", "practice_areas", "custom_fields"])
def test_every_column_is_an_attribute_of_the_frame(client, name):
    """A column with the name of a method or property of pandas would not be."""
    assert not set(dir(pd.DataFrame)).intersection(getattr(client, name)(**{"limit": 1} if name in PAGED else {}))


@pytest.mark.parametrize("name", PAGED)
def test_every_row_of_the_server_is_loaded_once(client, sql, name):
    table = TABLES[name]
    frame = getattr(client, name)()
    ids = [row[0] for row in sql(f"select {table}_id from {table}")]
    assert sorted(frame.iloc[:, 0]) == sorted(ids)


def test_hours_and_money_are_the_databases(client, sql):
    frame = client.time_entries("2026-09", billing_type="billable")
    ((hours, amount),) = sql(
        "select sum(hours), sum(amount) from time_entry "
        "where date between '2026-09-01' and '2026-09-30' and billing_type = 'billable'"
    )
    assert frame["hours"].sum() == pytest.approx(hours / 10_000, abs=1e-9)
    assert frame["amount"].sum() == pytest.approx(amount / 10_000, abs=1e-6)


@pytest.mark.sweep
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("to", ["pandas", "arrow", "polars"])
def test_every_loader_returns_the_requested_kind_of_frame(client, name, to):
    frame = getattr(client, name)(to=to)
    assert type(frame).__module__.partition(".")[0] == {"arrow": "pyarrow"}.get(to, to)


@pytest.mark.parametrize("name", PAGED)
@pytest.mark.filterwarnings("ignore::billframes.errors.DetailsMissingWarning")
def test_columns_and_dtypes_depend_only_on_the_call(client, name):
    loader = getattr(client, name)
    full, one, none = loader(), loader(limit=1), loader(limit=0)
    assert dtypes(full) == dtypes(one) == dtypes(none)
    assert isinstance(full.index, pd.RangeIndex)
    assert isinstance(none.index, pd.RangeIndex)


def dtypes(frame: pd.DataFrame) -> dict[str, str]:
    return {
        name: f"category {list(dtype.categories)}" if isinstance(dtype, pd.CategoricalDtype) else str(dtype)
        for name, dtype in frame.dtypes.items()
    }


@pytest.mark.parametrize("data", [None, [], [entry()]])
def test_null_data_and_no_rows_and_rows_have_the_same_dtypes(fake, connect, data):
    fake.answers["/v2/time-entries"] = {
        "data": data,
        "pagination": {"limit": 1000, "offset": 0, "total": len(data or ())},
    }
    frame = connect().time_entries(select="")
    assert dtypes(frame) == {
        "time_entry_id": "str",
        "date": "datetime64[us]",
        "time": "time64[us][pyarrow]",
        "client_id": "str",
        "matter_id": "str",
        "user_id": "str",
        "description": "str",
        "hours": "float64",
        "billing_type": "category ['nonBillable', 'billable', 'fixedFee']",
        "rate": "float64",
        "amount": "float64",
        "billed": "bool",
        "invoice_id": "str",
        "invoice_number": "str",
        "invoice_date": "datetime64[us]",
        "invoice_state": "category ['draft', 'review', 'approved', 'final']",
        "invoice_amount": "float64",
        "invoice_balance": "float64",
        "fixed_fee_id": "str",
        "activity_code": "str",
        "task_code": "str",
    }


@pytest.mark.parametrize("to", ["pandas", "arrow", "polars"])
def test_an_empty_text_in_place_of_an_optional_id_is_missing(fake, connect, to):
    rows = [
        entry(1, invoiceId="", fixedFeeId="f1"),
        entry(2, invoiceId="i1", invoice={"invoiceNumber": "7"}, fixedFeeId=""),
    ]
    fake.answers["/v2/time-entries"] = paged(rows)
    frame = connect().time_entries(select="", to=to)
    missing = nw.from_native(frame, eager_only=True).select(nw.col("invoice_id", "fixed_fee_id").is_null())
    assert missing.rows() == [(True, False), (False, True)]


def test_columns_of_details_that_are_not_selected_are_left_out(client):
    assert "client_name" not in client.expenses("2026-09", select=["matter", "user"])
    assert "client_name" not in client.expenses("2026-09", select="-client")
    assert "matter_name" in client.expenses("2026-09", select="-client")


def test_days_are_read_without_offsets(fake, connect):
    fake.answers["/v2/time-entries"] = paged(entries(25))
    frame = connect(page_size=10).time_entries(select="")
    assert {request.url.params["offset"] for request in fake.requests} == {"0"}
    assert frame["time_entry_id"].is_unique
    assert len(frame) == 25


def test_limit_is_the_number_of_rows_over_all_pages(fake, connect):
    fake.answers["/v2/time-entries"] = paged(entries(25))
    assert len(connect(page_size=10).time_entries(select="", limit=12)) == 12
    assert len(fake.requests) == 2


def test_limit_0_sends_no_request(fake, connect):
    assert connect().time_entries(limit=0).empty
    assert fake.requests == []


def test_a_load_that_fits_one_page_is_one_request(fake, connect):
    fake.answers["/v2/time-entries"] = paged([entry()])
    frame = connect().time_entries("2026-10", select="")
    assert len(fake.requests) == 1
    assert frame.attrs["load"]["proof"] == "snapshot"


@pytest.mark.parametrize(
    ("name", "options", "proof"),
    [
        ("time_entries", {}, "snapshot"),
        ("time_entries", {"modified_since": "2026-06-01"}, "snapshot"),
        ("time_entries", {"limit": 100_000}, "snapshot"),
        ("time_entries", {"sort": "-hours,description"}, "snapshot"),
        ("expenses", {"billed": True}, "snapshot"),
        ("invoices", {}, "snapshot"),
        ("matters", {"sort": "client.reference"}, "snapshot"),
        ("time_entries", {"limit": 600}, "counted"),
        ("time_entries", {"select": ""}, "counted"),
        ("invoices", {"select": "meta", "sort": "client.name"}, "counted"),
        ("time_entries", {"params": {"billed": True}}, "counted"),
    ],
)
@pytest.mark.filterwarnings("ignore::billframes.errors.DetailsMissingWarning")
def test_a_load_states_its_proof(sandbox, client, name, options, proof):
    if name == "time_entries":
        options = {"start": "2026-Q3", **options}
    with bf.Client(sandbox.base_url, sandbox.tokens["full"], page_size=150) as small:
        frame = getattr(small, name)(**options)
    whole = getattr(client, name)(**options)
    assert frame.attrs["load"]["proof"] == proof
    assert sorted(frame.iloc[:, 0]) == sorted(whole.iloc[:, 0]) or "limit" in options


def test_lists_of_ids_are_complete_and_need_a_catch_up(client):
    matters = client.time_entries("2026-09")["matter_id"].unique()[:5].tolist()
    load = client.time_entries("2026-09", matter_id=matters).attrs["load"]
    assert load["proof"] == "complete"
    assert load["requests"] <= 5 + 2


def test_a_list_of_ids_sends_one_query_each_and_has_no_duplicates(client, sql):
    matters = [row[0] for row in sql("select matter_id from time_entry group by 1 order by count(*) desc limit 3")]
    frame = client.time_entries(matter_id=[*matters, matters[0]])
    ((count,),) = sql("select count(*) from time_entry where matter_id in (?, ?, ?)", *matters)
    assert len(frame) == count
    assert frame["time_entry_id"].is_unique


def test_an_empty_list_of_ids_gives_no_rows_and_sends_no_request(fake, connect):
    assert connect().time_entries(matter_id=[]).empty
    assert fake.requests == []


def test_both_ends_of_a_period_are_inclusive(client, sql):
    frame = client.time_entries("2026-09-01", "2026-09-30")
    ((count,),) = sql("select count(*) from time_entry where date >= '2026-09-01' and date <= '2026-09-30'")
    assert len(frame) == count
    assert frame["date"].min() >= pd.Timestamp("2026-09-01")
    assert frame["date"].max() <= pd.Timestamp("2026-09-30")


def test_rows_are_sorted_by_date_then_id(client):
    frame = client.time_entries("2026-09")
    ordered = frame.sort_values(["date", "time_entry_id"], ignore_index=True)
    assert_frame_equal(frame, ordered)


@pytest.mark.parametrize("sort", ["-hours", "hours,-date", ["-description"], "created"])
def test_rows_are_sorted_by_sort_with_ties_by_id(client, sort):
    frame = client.time_entries("2026-09", sort=sort)
    names = sort.split(",") if isinstance(sort, str) else sort
    columns = [name.lstrip("-").replace("created", "created_at") for name in names]
    ascending = [not name.startswith("-") for name in names]
    ordered = frame.sort_values([*columns, "time_entry_id"], ascending=[*ascending, True], ignore_index=True)
    assert_frame_equal(frame, ordered)


@pytest.mark.parametrize("name", ["clients", "matters"])
def test_clients_and_matters_are_sorted_by_name_then_id(client, name):
    frame = getattr(client, name)()
    key = f"{name[:-1]}_id"
    assert frame[key].tolist() == frame.sort_values(["name", key])[key].tolist()


def test_count_is_one_small_request(client, sql):
    ((count,),) = sql("select count(*) from invoice where invoice_state = 'final'")
    assert client.invoices.count(invoice_state="final") == count
    assert client.clients.count() == len(client.clients())


def test_modified_since_is_sent_in_utc(fake, connect):
    fake.answers["/v2/time-entries"] = paged([])
    connect().time_entries(modified_since=pd.Timestamp("2026-10-31 12:00", tz="America/New_York"))
    assert fake.query()["modifiedSince"] == "2026-10-31T16:00:00Z"


@pytest.mark.parametrize(("modified", "is_taken"), [("12:00:00.4", True), ("11:59:59", True), ("11:59:58.9", False)])
def test_a_record_modified_before_the_given_instant_is_refused(fake, connect, modified, is_taken):
    """A server may compare whole seconds, so a record may be modified up to a second earlier."""
    meta = {"createdAt": "2026-10-01T00:00:00Z", "modifiedAt": f"2026-10-31T{modified}Z"}
    fake.answers["/v2/time-entries"] = paged([entry(meta=meta)])
    load = functools.partial(connect().time_entries, modified_since="2026-10-31T12:00:00Z", select="meta")
    if is_taken:
        assert len(load()) == 1
    else:
        with pytest.raises(bf.errors.DecodeError, match="modifiedSince|modified_since"):
            load()


def test_params_are_sent_unchecked_and_take_precedence(fake, connect):
    fake.answers["/v2/time-entries"] = paged([])
    connect().time_entries(params={"select": "everything", "new": True})
    assert fake.query()["select"] == "everything"
    assert fake.query()["new"] == "true"


def test_every_select_name_is_requested_by_default(fake, connect):
    fake.answers["/v2/time-entries"] = paged([])
    connect().time_entries("2026-10")
    assert fake.query() == {
        "startDate": "2026-10-01",
        "endDate": "2026-10-31",
        "select": "client,matter,user,meta,fixedFee",
        "sort": "date",
        "limit": "1000",
        "offset": "0",
    }


def test_rates_hidden_are_missing_with_one_warning(sandbox):
    with (
        bf.Client(sandbox.base_url, sandbox.tokens["norates"]) as client,
        pytest.warns(bf.errors.RatesHiddenWarning) as given,
    ):
        frame = client.time_entries("2026-09")
    assert frame["rate"].isna().all()
    assert frame["amount"].isna().all()
    assert len(given) == 1
    assert given[0].filename == __file__


def test_rates_hidden_on_some_pages_are_named_with_their_share(fake, connect):
    rows = entries(30)
    for row in rows[20:]:
        del row["rate"], row["amount"]
    fake.answers["/v2/time-entries"] = paged(rows, granted=10)
    with pytest.warns(bf.errors.RatesHiddenWarning, match="missing on 10 of 30 billable entries") as given:
        assert connect().time_entries(select="")["amount"].isna().sum() == 10
    assert len(given) == 1
    # A rate without an amount, or not billable, is not hidden.
    fake.answers["/v2/time-entries"] = paged([entry(1, amount=None), entry(2), entry(3, rate=None)])
    assert len(connect().time_entries(select="")) == 3


def test_client_balances_have_one_row_for_each_client(client, sql):
    frame = client.client_balances()
    ((balance,),) = sql("select sum(balance) from invoice where invoice_state = 'final'")
    assert frame["client_id"].is_unique
    assert len(frame) == len(client.clients())
    assert frame["balance"].sum() == pytest.approx(balance / 10_000)
    assert frame["overdue30"].isna().all()


def test_client_balances_of_field_set_b(fake, connect):
    balances = {"balance": 100, "overdue": 60, "overdue30": 30, "overdue60": 20, "overdue90": 10}
    fake.answers["/v2/clients/c1/balances"] = {"data": balances}
    frame = connect().client_balances(["c1"])
    assert frame.loc[0, ["balance", "overdue90"]].tolist() == [100.0, 10.0]
    assert np.isnan(frame.loc[0, "current"])


def test_client_balances_with_two_incomplete_sets_are_an_error(fake, connect):
    fake.answers["/v2/clients/c1/balances"] = {"data": {"balance": 1, "overdue": 1, "current": 0}}
    with pytest.raises(bf.errors.DecodeError, match="c1"):
        connect().client_balances("c1")


def test_health_needs_its_path(fake, connect):
    with pytest.raises(bf.errors.ConfigError, match="health_path"):
        connect().health()
    fake.answers["/up"] = {"status": "healthy", "version": {"build": 7}, "message": None}
    frame = connect(health_path="/up").health()
    assert frame.loc[0, ["status", "version"]].tolist() == ["healthy", '{"build":7}']
    assert frame["message"].isna().all()


def test_codes_are_joined_with_their_sets_and_headings(client):
    codes = client.codes().set_index("code")
    assert codes.loc["L110", "parent_code"] == "L100"
    assert not codes.loc["L100", "selectable"]
    assert codes.loc["L110", "parent_label"] == codes.loc["L100", "label"]
    assert codes["code_set_label"].notna().all()


def test_custom_fields_of_one_entity_and_of_all(client):
    every = client.custom_fields()
    assert set(every["entity"]) == {"client", "matter", "user"}
    assert len(client.custom_fields("matter")) == (every["entity"] == "matter").sum()


def test_a_loaded_frame_is_unchanged_by_parquet_and_pickle(client, tmp_path):
    frame = client.matters()
    assert_frame_equal(pd.read_pickle(dump(frame, tmp_path / "frame.pickle")), frame)


def dump(frame, path):
    frame.to_pickle(path)
    return path


def test_a_frame_has_the_servers_time_of_its_load(client):
    load = client.practice_areas().attrs["load"]
    assert dt.datetime.fromisoformat(load["time"]).date() == dt.date(2026, 10, 31)


def test_the_same_data_give_the_same_frame(client):
    assert_frame_equal(client.invoices(), client.invoices())


def test_a_client_with_other_headers_sends_them(fake, connect):
    fake.answers["/v2/practice-areas"] = {"data": []}
    connect(headers={"X-Firm": "7"}).practice_areas()
    assert fake.requests[-1].headers["x-firm"] == "7"
    assert fake.requests[-1].headers["authorization"] == "Bearer t0ken"


def test_auth_replaces_the_token(fake):
    fake.answers["/v2/practice-areas"] = {"data": []}
    options = {"auth": httpx.BasicAuth("ann", "secret"), "transport": httpx.MockTransport(fake)}
    bf.Client("https://billing.test", **options).practice_areas()
    assert fake.requests[-1].headers["authorization"].startswith("Basic ")


@pytest.mark.parametrize("contact", [None, {}, {"email": None}])
def test_contacts_that_no_client_has_are_warned_of_only_if_they_were_asked_for(fake, connect, contact):
    meta = {"createdAt": "2026-10-01T09:00:00Z", "modifiedAt": "2026-10-01T09:00:00Z"}
    fake.answers["/v2/clients"] = paged([{"clientId": "c1", "name": "Acme", "contact": contact, "meta": meta}])
    assert connect().clients()["contact_email"].isna().all()
    with pytest.warns(bf.errors.DetailsMissingWarning, match="every row: contact"):
        connect().clients(select="contact, meta")
    # A server that ignores the whole clause sends no detail.
    fake.answers["/v2/clients"] = paged([{"clientId": "c1", "name": "Acme"}])
    with pytest.warns(bf.errors.DetailsMissingWarning, match="every row: contact, meta"):
        connect().clients()


def test_what_a_frame_remembers_is_copied_in_little_time_and_pickled_as_a_plain_dict(client):
    frame = client.matters(limit=5)
    copied = frame.copy()
    copied.attrs["load"]["rows"] = 0
    assert frame.attrs["load"]["rows"] == 5
    assert copied.attrs["load"]["period"] is frame.attrs["load"]["period"]
    assert [type(each) for each in pickle.loads(pickle.dumps(frame)).attrs.values()] == [dict, dict]
