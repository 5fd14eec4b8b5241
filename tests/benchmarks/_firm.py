"""Make a firm of any size from a seed: frames like those of the loaders, in Polars, pandas and DuckDB.

Each matter has one invoice for each quarter. The invoices of the quarter before last are drafts, and the last quarter
is not on an invoice yet. Each matter has a team of eight. Ids are UUIDs, and enums have enum types.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, fields
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from billframes.loading.convert import to_pandas, to_polars

__all__ = ["AS_OF", "END", "START", "Firm", "in_duckdb", "make", "typed_by_hand"]

START, END, AS_OF = "2023-10-01", "2026-12-31", "2026-12-31"
QUARTERS = np.arange("2023-10", "2027-01", 3, dtype="datetime64[M]").astype("datetime64[D]")
BILLED = len(QUARTERS) - 1
USERS, TEAM = 200, 8
TYPES = ["hourly", "fixedFee", "contingency", "probono", "internal"]
ROLES = ["principal", "attorney", "paralegal", "timekeeper", "operator", "accountant"]
KINDS = ["nonBillable", "billable", "fixedFee"]
SCRIPTS = ("Baker", "Müller", "Łódź", "Петров", "山田")
STATES = ["draft", "review", "approved", "final"]


@dataclass(frozen=True, slots=True)
class Firm:
    """The frames of a firm in one engine."""

    time_entries: Any
    invoices: Any
    expenses: Any
    fixed_fees: Any
    matters: Any
    users: Any


def make(entries: int = 1_000_000, seed: int = 7, a_matter: int = 200) -> tuple[Firm, Firm]:
    """
    Make one firm twice, in Polars and in pandas.

    A million entries, so many of them a matter, come with 200 users, 5,000 matters, 2,000 clients and 60,000 invoices.
    """
    rng = np.random.default_rng(seed)
    users = _users(rng)
    matters = _matters(rng, entries // a_matter, users)
    work = _time_entries(rng, entries, users, matters)
    expenses, fixed_fees = (
        {f"{kind}_id": _numbered(kind, entries // 25)} | _items(rng, entries // 25, users, matters)
        for kind in ("expense", "fixed_fee")
    )
    invoices = _invoices(rng, matters, (work, expenses, fixed_fees))
    tables = {
        "time_entries": work,
        "invoices": invoices,
        "expenses": expenses,
        "fixed_fees": fixed_fees,
        "matters": matters,
        "users": users,
    }
    made = {name: pa.table(columns) for name, columns in tables.items()}
    return tuple(Firm(**{name: to(table) for name, table in made.items()}) for to in (to_polars, to_pandas))


def typed_by_hand(firm: Firm) -> Firm:
    """Convert pandas frames to the dtypes of a file read by hand: objects for text and enums, dates in ns."""

    def plain(column: pd.Series[Any]) -> pd.Series[Any]:
        if column.dtype == "datetime64[us]":
            return column.astype("datetime64[ns]")
        return column.astype(object) if column.dtype in ("str", "category") else column

    return Firm(**{field.name: getattr(firm, field.name).apply(plain) for field in fields(firm)})


def in_duckdb(firm: Firm) -> Firm:
    """Copy Polars frames to the tables of a new DuckDB database with two threads."""
    connection = duckdb.connect(config={"threads": 2})
    for field in fields(firm):
        given_rows = getattr(firm, field.name).to_arrow()  # noqa: F841 - DuckDB finds it by its name
        connection.execute(f"create table {field.name} as select * from given_rows")
    return Firm(**{field.name: connection.table(field.name) for field in fields(firm)})


def _users(rng: np.random.Generator) -> dict[str, pa.Array]:
    roles = rng.choice(len(ROLES), USERS, p=[0.25, 0.4, 0.15, 0.1, 0.05, 0.05])
    return {"user_id": _ids(rng, USERS), "name": _names("Person", USERS), "role": _enum(roles, ROLES)}


def _matters(rng: np.random.Generator, size: int, users: dict) -> dict[str, pa.Array]:
    clients = rng.integers(0, size * 2 // 5, size)
    areas = rng.integers(0, 12, size)
    return {
        "matter_id": _ids(rng, size),
        "name": _names("Matter", size),
        "client_id": _ids(rng, size * 2 // 5).take(clients),
        "client_name": _names("Client", size * 2 // 5).take(clients),
        "matter_type": _enum(rng.choice(5, size, p=[0.7, 0.12, 0.08, 0.05, 0.05]), TYPES),
        "practice_area_id": _ids(rng, 12).take(areas),
        "practice_area_label": _names("Area", 12).take(areas),
        "responsible_id": users["user_id"].take(lead := _lead(size)),
        "responsible_name": users["name"].take(lead),
        **_originators(users, size),
        "opened": pa.array(np.datetime64(START) + np.arange(size) % 1100),
        "archived": pa.array(np.arange(size) % 10 == 0),
    }


def _originators(users: dict, size: int) -> dict[str, pa.Array]:
    """Return up to three originators for each matter; the first is not the responsible attorney."""
    counts = np.arange(size) % 4
    ends = pa.array(np.append(0, np.cumsum(counts)), pa.int32())
    matter, nth = np.repeat(np.arange(size), counts), np.arange(counts.sum()) % 3
    people = pa.array((matter * 17 + 1 + nth * 61) % USERS)
    columns = {"originator_ids": "user_id", "originator_names": "name"}
    return {name: pa.ListArray.from_arrays(ends, users[column].take(people)) for name, column in columns.items()}


def _lead(size: int) -> pa.Array:
    return pa.array(np.arange(size) * 17 % USERS)


def _time_entries(rng: np.random.Generator, size: int, users: dict, matters: dict) -> dict[str, pa.Array]:
    matter = rng.integers(0, len(matters["matter_id"]), size)
    user = (matter * 17 + rng.integers(0, TEAM, size) * 23) % USERS
    hours = rng.integers(1, 40, size) / 10
    kind = rng.choice(3, size, p=[0.2, 0.7, 0.1])
    rates = rng.integers(20, 80, USERS) * 10.0
    placed = _placed(rng, matter, user, users, matters, kind > 0)
    return {
        "time_entry_id": _numbered("t", size),
        **placed,
        "description": _names("Letter, call and notes on point", 5_000).take(pa.array(np.arange(size) * 7 % 5_000)),
        "billing_type": _enum(kind, KINDS),
        "hours": pa.array(hours),
        "rate": pa.array(rates[user], mask=kind != 1),
        "amount": pa.array(np.round(hours * rates[user], 2), mask=kind != 1),
        "fixed_fee_id": pa.nulls(size, pa.string()),
        "created_at": _entered(placed["date"]),
    }


def _entered(dates: pa.Array) -> pa.Array:
    """Return when entries were created: up to twelve days later, late in the afternoon."""
    late = np.arange(len(dates)) % 13 * 86_400 + 57_600
    return pa.array(dates.to_numpy(zero_copy_only=False).astype("datetime64[s]") + late, pa.timestamp("us")).cast(
        pa.timestamp("us", "UTC")
    )


def _items(rng: np.random.Generator, size: int, users: dict, matters: dict) -> dict[str, pa.Array]:
    matter, user = rng.integers(0, len(matters["matter_id"]), size), rng.integers(0, USERS, size)
    amounts = {"amount": pa.array(rng.integers(500, 50_000, size) / 100)}
    return _placed(rng, matter, user, users, matters, np.full(size, True)) | amounts


def _placed(rng, matter, user, users, matters, billable) -> dict[str, pa.Array]:
    """Return the rows with date, matter, client, user and, for billable ones, the invoice of their quarter."""
    size = len(matter)
    days = np.datetime64(START) + rng.integers(0, (np.datetime64(END) - np.datetime64(START)).astype(int) + 1, size)
    quarter = np.searchsorted(QUARTERS, days, side="right") - 1
    invoice = _invoice_ids(len(matters["matter_id"])).take(np.minimum(quarter, BILLED - 1) + BILLED * matter)
    return {
        "date": pa.array(days),
        "user_id": users["user_id"].take(user),
        "user_name": users["name"].take(user),
        "client_id": matters["client_id"].take(matter),
        "client_name": matters["client_name"].take(matter),
        "matter_id": matters["matter_id"].take(matter),
        "matter_name": matters["name"].take(matter),
        "invoice_id": pc.if_else(billable & (quarter < BILLED), invoice, None),
    }


def _invoices(rng: np.random.Generator, matters: dict, items: tuple[dict, ...]) -> dict[str, pa.Array]:
    """Return one invoice for each matter and quarter except the last: the sum of its items, less a discount on time."""
    ids = _invoice_ids(len(matters["matter_id"]))
    quarter, matter = np.arange(len(ids)) % BILLED, np.arange(len(ids)) // BILLED
    time, *others = [
        np.bincount(at.fill_null(0), each["amount"].fill_null(0.0).to_numpy() * at.is_valid().to_numpy(False), len(ids))
        for each in items
        for at in [pc.index_in(each["invoice_id"], ids)]
    ]
    amount = np.round(time * rng.uniform(0.8, 1.0, len(ids)) + sum(others), 2)
    dates = QUARTERS[quarter + 1] + np.timedelta64(9, "D")
    final = quarter < BILLED - 1
    return {
        "invoice_id": ids,
        "invoice_number": _numbered("", len(ids)),
        "invoice_date": pa.array(dates),
        "due_date": pa.array(dates + np.timedelta64(30, "D"), mask=~final),
        "invoice_state": _enum(np.where(final, 3, rng.integers(0, 3, len(ids))), STATES),
        "client_id": matters["client_id"].take(matter),
        "client_name": matters["client_name"].take(matter),
        "amount": pa.array(amount),
        "balance": pa.array(np.round(amount * rng.choice([0.0, 0.4, 1.0], len(ids), p=[0.8, 0.05, 0.15]), 2)),
    }


def _invoice_ids(matters: int) -> pa.Array:
    return _ids(np.random.default_rng(1), matters * BILLED)


def _ids(rng: np.random.Generator, size: int) -> pa.Array:
    return pa.array([str(uuid.UUID(bytes=rng.bytes(16), version=4)) for _ in range(size)])


def _numbered(prefix: str, size: int) -> pa.Array:
    return pc.binary_join_element_wise(prefix, pc.cast(pa.array(np.arange(10**7, 10**7 + size)), pa.string()), "")


def _names(kind: str, size: int) -> pa.Array:
    return pa.array([f"{kind} {SCRIPTS[number % len(SCRIPTS)]} {number:05}" for number in range(size)])


def _enum(codes: np.ndarray, values: list[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(values))
