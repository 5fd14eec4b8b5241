"""Every loader reads the same frame from the mirror as from the API."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import random
import sqlite3
from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings, strategies as st

import billframes as bf
from billframes import mirror
from billframes.mirror.catalogue import Catalogue
from billframes.mirror.tables import TABLES
from tests.frames import assert_frame_equal
from tests.loaders.test_family import RewritingTransport

DATED = ["time_entries", "expenses", "fixed_fees", "invoices"]
SELECTS = {
    "time_entries": ["client", "matter", "user", "meta", "fixedFee"],
    "expenses": ["client", "matter", "user", "meta"],
    "fixed_fees": ["client", "matter", "user", "meta"],
    "invoices": ["client", "matter", "meta"],
    "clients": ["contact", "meta", "customFields"],
    "matters": [
        *("matter", "ledesConfiguration", "responsible", "originator"),
        *("practiceArea", "meta", "customFields"),
    ],
    "users": ["customFields"],
}
SORTS = {
    "time_entries": ["date", "hours", "description", "created"],
    "expenses": ["date", "amount", "description"],
    "fixed_fees": ["date", "amount", "description"],
    "invoices": ["client.name", "client.reference", "invoicedate", "amount", "balance", "invoicenumber", "state"],
    "clients": ["name", "reference"],
    "matters": ["name", "reference", "client.name", "client.reference"],
}
PERIODS = st.sampled_from(
    [("2026-10",), ("2025",), ("2026-Q3",), ("2026-02-11", "2026-03-04"), (None, "2024-02-01"), ("2026-09-15",)]
)


OF_ONE_LOAD = {"requests", "proof", "time", "key"}


def assert_same(one: pd.DataFrame, other: pd.DataFrame) -> None:
    assert_frame_equal(one, other)
    assert one.attrs.get("custom_fields") == other.attrs.get("custom_fields")
    loads = [
        {name: value for name, value in each.attrs.get("load", {}).items() if name not in OF_ONE_LOAD}
        for each in (one, other)
    ]
    assert loads[0] == loads[1]


@pytest.mark.parametrize("name", sorted(TABLES))
def test_a_whole_list_is_equal(client, refreshed, name):
    assert_same(getattr(client, name)(), getattr(refreshed, name)())


def values(table: pa.Table) -> pa.Table:
    """Return a table without dictionaries, whose order may differ."""
    return pa.table({name: table[name].cast(plain(table[name].type)) for name in table.column_names})


def plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


@pytest.mark.slow
@pytest.mark.parametrize("name", ["time_entries", "matters"])
def test_arrow_and_polars_frames_are_equal(client, refreshed, name):
    arrow = [getattr(each, name)(to="arrow") for each in (client, refreshed)]
    assert arrow[0].schema.remove_metadata() == arrow[1].schema.remove_metadata()
    assert values(arrow[0]).equals(values(arrow[1]))
    polars = [getattr(each, name)(to="polars") for each in (client, refreshed)]
    assert polars[0].equals(polars[1])
    assert polars[0].schema == polars[1].schema


def test_no_request_is_sent(client, refreshed, monkeypatch):
    monkeypatch.setattr(client._connection, "fetch", None)
    assert len(refreshed.time_entries("2026-10")) > 0
    assert refreshed.matters.count() == len(refreshed.matters())


@pytest.fixture(scope="session")
def ids(client):
    """Some ids of each kind."""
    entries = client.time_entries("2026-Q3", to="arrow")
    chosen = random.Random(4)
    found = {
        name: sorted(set(entries.column(name).drop_null().to_pylist()))
        for name in ("user_id", "matter_id", "client_id", "invoice_id", "fixed_fee_id")
    }
    return {name: chosen.sample(values, min(6, len(values))) for name, values in found.items()}


def filters_of(draw, name, ids):
    """Draw some filters of a loader, each with a value that fits some rows."""

    def id_of(kind, *, several=False):
        one = st.sampled_from(ids[kind])
        return draw(st.one_of(one, st.lists(one, min_size=1, max_size=3)) if several else one)

    flag = draw(st.booleans())
    possible = {
        "time_entries": {
            "user_id": lambda: id_of("user_id", several=True),
            "matter_id": lambda: id_of("matter_id", several=True),
            "client_id": lambda: id_of("client_id").upper(),
            "fixed_fee_id": lambda: id_of("fixed_fee_id"),
            "billing_type": lambda: draw(st.sampled_from(["billable", "nonbillable", "fixedFee"])),
            "billed": lambda: flag,
            "modified_since": lambda: "2026-08-15T10:00:00",
        },
        "expenses": {"matter_id": lambda: id_of("matter_id", several=True), "billed": lambda: flag},
        "fixed_fees": {"client_id": lambda: id_of("client_id"), "billed": lambda: flag},
        "invoices": {
            "invoice_state": lambda: draw(st.sampled_from(["draft", "final", "approved"])),
            "client_id": lambda: id_of("client_id", several=True),
            "matter_id": lambda: id_of("matter_id"),
        },
        "clients": {"reference": lambda: "C-1004", "modified_since": lambda: "2025-06-01"},
        "matters": {
            "user_id": lambda: id_of("user_id"),
            "responsible_id": lambda: id_of("user_id"),
            "originator_id": lambda: id_of("user_id"),
            "client_id": lambda: id_of("client_id", several=True),
            "archived": lambda: flag,
        },
        "users": {
            "role": lambda: draw(st.sampled_from(["attorney", "principal"])),
            "query": lambda: draw(st.sampled_from(["an", "E", "@"])),
            "query_full_match": lambda: flag,
        },
    }[name]
    if name in ("clients", "matters") and draw(st.booleans()):
        possible = {**possible, "query": lambda: draw(st.sampled_from(["a", "LL", "00", "é"]))}
    wanted = draw(st.lists(st.sampled_from(sorted(possible)), unique=True, max_size=2))
    return {each: possible[each]() for each in wanted}


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_arguments_give_the_frame_that_the_api_gives(client, refreshed, ids, data):
    name = data.draw(st.sampled_from(sorted(SELECTS)))
    draw = data.draw
    options = filters_of(draw, name, ids)
    if draw(st.booleans()):
        options["select"] = draw(st.lists(st.sampled_from(SELECTS[name]), unique=True))
    if name in SORTS and draw(st.booleans()):
        options["sort"] = draw(st.sampled_from(["", "-"])) + draw(st.sampled_from(SORTS[name]))
    if name != "users" and draw(st.integers(0, 3)) == 0:
        options["limit"] = draw(st.sampled_from([0, 3, 2000]))
    period = draw(PERIODS) if name in DATED else ()
    frames = [getattr(each, name)(*period, **options) for each in (client, refreshed)]
    # If rows are sorted by a column that is not selected, they keep the server's order of missing values.
    if options.get("sort"):
        # The server's collation decides which rows are first.
        assume("limit" not in options)
    if set(options.get("select", SELECTS[name])) < set(SELECTS[name]) and options.get("sort"):
        frames = [by_id(each) for each in frames]
    assert_same(*frames)


def by_id(frame):
    ordered = frame.sort_values(frame.columns[0], ignore_index=True)
    ordered.attrs = frame.attrs
    return ordered


@pytest.mark.parametrize("name", DATED)
def test_counts_are_equal(client, refreshed, name):
    assert getattr(client, name).count("2026-Q2") == getattr(refreshed, name).count("2026-Q2")


def test_wrong_arguments_are_refused_as_by_a_client(refreshed):
    with pytest.raises(bf.errors.ParameterError, match="billing_type='free'"):
        refreshed.time_entries(billing_type="free")
    with pytest.raises(bf.errors.ParameterError, match="params= is for servers"):
        refreshed.time_entries(params={"tag": "x"})


def test_requests_that_need_a_server_are_refused(refreshed, client):
    id_ = client.time_entries("2026-10", limit=1)["time_entry_id"][0]
    with pytest.raises(bf.errors.MirrorError, match="can't be written"):
        refreshed.time_entries.delete(id_)
    with pytest.raises(bf.errors.MirrorError, match="Connect to the server"):
        refreshed.time_entries.get(id_)
    with pytest.raises(bf.errors.NotFoundError):
        refreshed.client_balances("00000000-0000-0000-0000-00000000abcd")


def test_stored_tables_hold_no_names_of_other_records(refreshed):
    stored = refreshed._storage.schema("time_entries", refreshed._open_snapshot().version.tables["time_entries"])
    assert "client_id" in stored.names
    assert not {"client_name", "matter_name", "user_name", "invoice_state"} & set(stored.names)
    assert not pa.types.is_dictionary(stored.field("billing_type").type)


def rewrite_originators(shape):
    """Rewrite the lists of originators: empty ones as `shape` says, in responses that have matters."""

    def rewrite(text):
        body = json.loads(text)
        matters = (
            [each for each in body["data"] if "originatorIds" in each] if isinstance(body.get("data"), list) else ()
        )
        for each in matters:
            for name in {"originatorIds", "originators"} & each.keys():
                if not each[name] and name in shape:
                    each[name] = shape[name]
        return json.dumps(body)

    return rewrite


@pytest.fixture
def client_without_lists(firm):
    """A client of a small firm whose server shows no originators where there are none; and its transport."""
    with contextlib.closing(sqlite3.connect(firm.database)) as connection, connection:
        for name in ("time_entry", "expense"):
            connection.execute(f"DELETE FROM {name}")
    transport = RewritingTransport(rewrite_originators({"originators": None}))
    with bf.Client(firm.base_url, firm.tokens["full"], transport=transport, progress=False) as client:
        yield client, transport


@pytest.mark.slow
def test_lists_of_names_are_missing_or_empty_as_the_api_shows_them(client_without_lists, tmp_path):
    client, transport = client_without_lists
    m = mirror(tmp_path / "firm", client=client)
    m.refresh()
    matters = client.matters()
    missing = matters["originator_names"].isna()
    assert 20 < missing.sum() < len(missing)
    assert_same(matters, m.matters())
    for rows in (matters[missing], matters[~missing]):
        client.matters.update(rows["matter_id"].iloc[0], name="Renamed since")
    client.matters.create(**matters.iloc[0][["client_id", "responsible_id", "name"]])
    m.refresh()
    assert_same(client.matters(), m.matters())
    transport.rewrite = rewrite_originators({"originatorIds": None})
    m.refresh(full="matters")
    assert_same(client.matters(), m.matters())
    assert set(m.changes(m.version - 1)["column"]) == {"originator_ids"}

    # A mirror of an earlier release does not know which lists were shown.
    version, storage = m._open_snapshot().version, m._storage
    rows = storage.read("matters", version.tables["matters"]).drop_columns(["originators_shown"])
    tables = {**version.tables, "matters": storage.write("matters", rows)}
    Catalogue(storage).commit(replace(version, number=version.number + 1, tables=tables))
    earlier = mirror(tmp_path / "firm", client=client)
    assert not earlier.matters().equals(client.matters())
    earlier.refresh()
    assert_same(client.matters(), earlier.matters())


def test_books_of_a_mirror_have_the_settings_of_the_client_that_refreshes_it(refreshed):
    assert refreshed.book("2026-10").settings is None
    client = bf.connect("sandbox")
    with_client = bf.mirror(refreshed.path, client=client)
    assert with_client.book("2026-10").settings is client.settings
    assert with_client.as_of(with_client.version).settings is client.settings


def test_a_mirror_has_the_fiscal_year_that_connect_was_given(refreshed):
    try:
        opened = bf.connect(mirror=refreshed.path, fiscal_year_start="07")
        assert opened.invoices("FY2026").attrs["load"]["period"]["start"] == "2025-07-01"
        assert opened.as_of(1).book("FY2026").period.end == dt.date(2026, 6, 30)
    finally:
        bf._session._default.clear()
