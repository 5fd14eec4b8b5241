"""What type checkers make of a user's calls; never run, only checked."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any, assert_type

import pandas as pd
import polars as pl
import pyarrow as pa

import billframes as bf
from billframes.book import Book
from billframes.loading.record import Record
from billframes.mirror import Mirror


def loaders(client: bf.Client) -> None:
    assert_type(bf.time_entries("2026-10"), pd.DataFrame)
    assert_type(bf.time_entries("2026-10", to="pandas"), pd.DataFrame)
    assert_type(bf.time_entries("2026-10", to="arrow"), pa.Table)
    assert_type(bf.time_entries("2026-10", to="polars"), pl.DataFrame)
    assert_type(client.time_entries("2026-10", to="polars", billing_type="BILLABLE", billed=False), pl.DataFrame)
    assert_type(bf.expenses(dt.date(2026, 10, 1), matter_id=[uuid.uuid4()], limit=5), pd.DataFrame)
    assert_type(bf.expenses(to="arrow"), pa.Table)
    assert_type(client.time_entries(invoice_id=uuid.uuid4(), billed=True), pd.DataFrame)
    assert_type(bf.fixed_fees("2026", invoice_id="i", to="polars"), pl.DataFrame)
    assert_type(bf.expenses.count(invoice_id="i"), int)
    assert_type(bf.expenses(to="polars"), pl.DataFrame)
    assert_type(bf.fixed_fees(end=pd.Timestamp("2026-10-31"), select=["client", "-user"]), pd.DataFrame)
    assert_type(bf.fixed_fees(to="arrow"), pa.Table)
    assert_type(bf.fixed_fees(to="polars"), pl.DataFrame)
    assert_type(bf.invoices("2026-Q3", invoice_state="final", sort="-balance"), pd.DataFrame)
    assert_type(bf.invoices(to="arrow"), pa.Table)
    assert_type(bf.invoices(to="polars"), pl.DataFrame)
    assert_type(bf.clients("acme", modified_since="2026-10-31"), pd.DataFrame)
    assert_type(bf.clients(to="arrow"), pa.Table)
    assert_type(bf.clients(to="polars"), pl.DataFrame)
    assert_type(bf.matters(archived=False, params={"new": 1}, progress=True), pd.DataFrame)
    assert_type(bf.matters(to="arrow"), pa.Table)
    assert_type(bf.matters(to="polars"), pl.DataFrame)
    assert_type(bf.users(role="attorney"), pd.DataFrame)
    assert_type(bf.users(to="arrow"), pa.Table)
    assert_type(bf.users(to="polars"), pl.DataFrame)
    assert_type(bf.custom_fields("matter"), pd.DataFrame)
    assert_type(bf.custom_fields(to="arrow"), pa.Table)
    assert_type(bf.custom_fields(to="polars"), pl.DataFrame)
    assert_type(bf.client_balances(["a"]), pd.DataFrame)
    assert_type(bf.client_balances(to="arrow"), pa.Table)
    assert_type(bf.client_balances(to="polars"), pl.DataFrame)
    assert_type(bf.practice_areas(), pd.DataFrame)
    assert_type(bf.practice_areas(to="arrow"), pa.Table)
    assert_type(bf.practice_areas(to="polars"), pl.DataFrame)
    assert_type(bf.codes(), pd.DataFrame)
    assert_type(bf.codes(to="arrow"), pa.Table)
    assert_type(bf.codes(to="polars"), pl.DataFrame)
    assert_type(bf.code_sets(), pd.DataFrame)
    assert_type(bf.code_sets(to="arrow"), pa.Table)
    assert_type(bf.code_sets(to="polars"), pl.DataFrame)
    assert_type(bf.health(), pd.DataFrame)
    assert_type(bf.health(to="arrow"), pa.Table)
    assert_type(bf.health(to="polars"), pl.DataFrame)
    assert_type(bf.time_entries.count("2026-10", billed=True), int)


def connections() -> None:
    assert_type(bf.connect(select_names={"matters": "client", "expenses": ["invoice"]}), bf.Client)
    assert_type(bf.Client(profile="firm").check(remember=True).requests, int)


def verbs(client: bf.Client) -> None:
    assert_type(bf.matters.get("m"), Record)
    assert_type(bf.matters.archive(uuid.uuid4()), Record | None)
    assert_type(client.time_entries.update("t", description=None, fixed_fee_id=bf.CLEAR), Record | None)
    assert_type(client.expenses.create(matter_id="m", date="2026-10-30", description="Copies", amount=1), Record | None)
    assert_type(client.matters.get("m").to_dict(), dict[str, Any])
    assert_type(bf.clients.update("c", contact=bf.bulk.set_fields(phone="1", fax=None)), Record | None)
    assert_type(bf.clients.update("c", contact={"phone": "1"}), Record | None)
    assert_type(bf.clients.create(name="Bolt", contact=bf.clients.get("c").contact), Record | None)
    assert_type(bf.matters.update("m", conflict_information=bf.bulk.set_fields(adverse="Nut")), Record | None)
    assert_type(bf.practice_areas.create(label="Tax", default=True), Record | None)
    assert_type(bf.practice_areas.update("p", label="Tax"), Record | None)
    assert_type(bf.practice_areas.delete("p"), None)


def books_and_mirrors() -> None:
    """The functions have the names of modules, which type checkers must not see in their place."""
    book, mirror = bf.book("2026-10"), bf.mirror("firm")
    assert_type(book, Book)
    assert_type(mirror, Mirror)
    assert_type(bf.book("2026-10", settings=bf.FirmSettings()).utilization(), pd.DataFrame)
    assert_type(book.time_entries, pd.DataFrame)
    assert_type(book.in_period("invoices"), pd.DataFrame)
    assert_type(mirror.time_entries("2026-10"), pd.DataFrame)
    assert_type(mirror.refresh(), pd.DataFrame)
    assert_type(mirror.as_of("2026-10-31").book("2026-10"), Book)


def analyses(book: Book) -> None:
    assert_type(book.realization("client", basis="work_date", matter_types=["hourly"]), pd.DataFrame)
    assert_type(book.aging(by=["client", "user"], as_of="2026-10-31"), pd.DataFrame)
    assert_type(bf.analysis.aging(book.invoices, as_of="2026-10-31"), pd.DataFrame)
    bf.plots.aging(book.aging())
    bf.tables.aging(book.aging())


def mistakes() -> None:
    bf.time_entries("2026-10", biled=True)  # type: ignore[call-overload]
    bf.time_entries("2026-10", billed="yes")  # type: ignore[call-overload]
    bf.time_entries("2026-10", to="numpy")  # type: ignore[call-overload]
    bf.clients.create()  # type: ignore[call-arg]
    bf.connect(timeot=3)  # type: ignore[call-arg]
    bf.Client("https://billing.example.com", page_size="all")  # type: ignore[arg-type]
    bf.time_entries.count(biled=True)  # type: ignore[call-arg]
    bf.expenses.update("e", amount="1")  # type: ignore[arg-type]
    bf.clients.create(name="Bolt", contact=bf.bulk.set_fields(company_name="Bolt"))  # type: ignore[arg-type]
    bf.book("2026-10").realization(basis="worked")  # type: ignore[arg-type]
    bf.book("2026-10").realization(bassis="work_date")  # type: ignore[call-arg]
    bf.book("2026-10").ageing()  # type: ignore[attr-defined]
    bf.book("2026-10").in_period("matters")  # type: ignore[arg-type]
    bf.plots.ageing()  # type: ignore[attr-defined]
    bf.tables.ageing()  # type: ignore[attr-defined]
