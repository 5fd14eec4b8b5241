"""The firms of the golden results, and the calls of all analyses that are made on them."""

from __future__ import annotations

import functools
import inspect
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa

import billframes as bf
from billframes import analysis
from billframes.analysis.data.call import run
from billframes.analysis.data.data import Data
from billframes.analysis.declare.lookup import analyses
from billframes.ledger import read_ledger
from billframes.ledger.writing import write_report
from tests.analysis.calls import OF_LEDGERS
from tests.analysis.conftest import rows_of
from tests.firms import make_firm

KEYS: tuple[str, ...] = (
    *("", "user", "client", "matter", "practice_area", "responsible", "originator", "matter_type", "role"),
    *("month", "quarter", "year", "client_cf_industry", "matter_archived", "billing_type"),
    *("practice_area user", "client month"),
)
ENGINES: dict[str, Callable[[pa.Table], Any]] = {
    "pandas": lambda table: table.to_pandas(date_as_object=False),
    "polars": pl.from_arrow,
    "duckdb": duckdb.from_arrow,
}
LISTS = ("time_entries", "expenses", "fixed_fees", "invoices", "matters", "users", "clients", "codes", "code_sets")

SETTINGS: dict[str, Any] = {
    "targets": {"u0": {"hours": 1800, "period": "year"}},
    "standard_rates": {"u0": {"2025-01-01": 280.0, "2026-08-15": 310.0}, "u1": 260.0, "u2": 210.0},
    "cost_rates": {"u0": 150.0, "u1": 100.0, "u2": 60.0},
    "budgets": {"m0": 100_000.0, "m1": 400.0},
    "originator_weights": {"m0": {"u0": 0.25, "u1": 0.75}},
    "time_zone": "Europe/Berlin",
}
TAXES = [
    {"name": "HST", "rate": 0.13, "on": ["time", "expenses"], "clients": ["c0"]},
    {"name": "VAT", "rate": 0.05, "on": ["time", "fixed_fees", "expenses"], "except_clients": ["c0"]},
]


def altered(table: pa.Table, change: Callable[[dict[str, Any], int], dict[str, Any]]) -> pa.Table:
    """Change each row by a function that also takes a number from 0 to 19, which depends on the row's first column."""
    rows = [row | change(row, zlib.crc32(str(next(iter(row.values()))).encode()) % 20) for row in table.to_pylist()]
    kinds = {each.name: pa.string() if pa.types.is_dictionary(each.type) else each.type for each in table.schema}
    return pa.Table.from_pylist(rows, pa.schema({name: kinds.get(name, pa.string()) for name in rows[0]}))


def mixed_firm() -> dict[str, pa.Table]:
    """Return a firm with all types of matters, billed time on contingency, and unknown states, types and invoices."""
    firm = make_firm(3, taxes=(0.0,) * 4)
    types = {"m0": "hourly", "m1": "contingency", "m2": "probono", "m3": "fixedFee"}
    areas = {"m0": "Sales", "m1": "Tax"}
    originators = {"m0": ["u0", "u1"], "m2": ["u2"]}
    fees = firm["expenses"].slice(0, 5)

    def entry(row: dict[str, Any], number: int) -> dict[str, Any]:
        kind = {0: "fixedFee", 1: "nonBillable", 2: "unheard"}.get(number, row["billing_type"])
        bill = {3: "lost", 4: None}.get(number, row["invoice_id"])
        return {"billing_type": kind, "invoice_id": bill, "fixed_fee_id": "f0" if kind == "fixedFee" else None}

    def invoice(row: dict[str, Any], number: int) -> dict[str, Any]:
        state = {0: "void", 1: "review", 2: None}.get(number, row["invoice_state"])
        return {"invoice_state": state, "due_date": None if number == 5 else row["due_date"]}

    def matter(row: dict[str, Any], _number: int) -> dict[str, Any]:
        id_ = row["matter_id"]
        area = {"practice_area_id": areas.get(id_), "practice_area_label": areas.get(id_)}
        names = {"originator_ids": originators.get(id_, []), "originator_names": originators.get(id_, [])}
        return {"matter_type": types.get(id_, row["matter_type"]), "archived": id_ == "m3", **area, **names}

    firm["time_entries"] = altered(firm["time_entries"], entry)
    firm["invoices"] = altered(firm["invoices"], invoice)
    firm["matters"] = altered(firm["matters"], matter)
    firm["expenses"] = altered(
        firm["expenses"], lambda row, number: {"user_id": None if number < 5 else row["user_id"]}
    )
    fees = fees.rename_columns(["fixed_fee_id", *fees.column_names[1:]])
    fees = altered(fees, lambda row, _: {"amount": 700.0})
    firm["fixed_fees"] = fees.set_column(0, "fixed_fee_id", pa.array([f"f{nth}" for nth in range(len(fees))]))
    return firm


def firms(client: bf.Client, settings: bf.FirmSettings) -> Iterator[tuple[str, Callable[[str], Any], bf.FirmSettings]]:
    """Yield each firm: its name, a function that returns its frames on an engine, and its settings."""
    to = {"pandas": "pandas", "polars": "polars", "duckdb": "arrow"}

    def of_sandbox(engine: str) -> dict[str, Any]:
        loaded = {name: getattr(client, name)(to=to[engine]) for name in LISTS}
        return {name: duckdb.from_arrow(each) for name, each in loaded.items()} if engine == "duckdb" else loaded

    yield "sandbox", of_sandbox, settings
    for name, tables, more in (
        ("mixed", mixed_firm(), {}),
        ("taxed", make_firm(2, taxes=(0.13, 0.05)), {"taxes": TAXES, "payment_order": ("tax", "expenses", "fees")}),
    ):
        industry = [None, "Steel", "Banking", None]
        clients = tables["clients"].append_column("cf_industry", pa.array(industry[: len(tables["clients"])]))
        frames = functools.partial(frames_of, tables | {"clients": clients})
        yield name, frames, bf.FirmSettings(**SETTINGS, **more)


def frames_of(tables: Mapping[str, pa.Table], engine: str) -> dict[str, Any]:
    return {name: ENGINES[engine](table) for name, table in tables.items()}


def payments_of(invoices: Any) -> pd.DataFrame:
    """Return made-up payments of what is settled: half of them late, some from a trust account, and some credits."""
    rows = []
    for row in rows_of(invoices):
        number = zlib.crc32(str(row["invoice_id"]).encode()) % 20
        paid = row["amount"] - row["balance"] if row["invoice_state"] == "final" else 0.0
        if paid > 0 and row["invoice_date"] is not None:
            day = pd.Timestamp(row["invoice_date"]) + pd.Timedelta(days=10 + 3 * number)
            expenses = 0.0 if number < 15 else round(paid / 8, 2)
            kind = "credit" if number == 7 else "cash"
            rows.append(
                (day, kind, row["invoice_id"], paid, paid - expenses, expenses, 0.0, number == 3, row["client_id"])
            )
    names = "payment_date kind invoice_id amount fee_amount expense_amount tax_amount from_trust client_id"
    frame = pd.DataFrame(rows, columns=names.split())
    others = dict.fromkeys(("invoice_number", "invoice_date", "customer", "matched_by", "reference", "account"))
    return frame.assign(client_name=frame["client_id"], ledger_row=range(len(frame)), **others)


def ledger_of(invoices: Any) -> Any:
    """Return a report of what is open in the books; some invoices are missing there, or have another balance."""
    groups: dict[str, list[list[Any]]] = {}
    for row in rows_of(invoices):
        number = zlib.crc32(str(row["invoice_id"]).encode()) % 20
        cents = round(100 * (row["balance"] or 0)) + (100 if number == 5 else 0)
        if row["invoice_state"] == "final" and cents and number and row["invoice_date"] is not None:
            day = row["invoice_date"]
            groups.setdefault(row["client_name"], []).append([day, "Invoice", row["invoice_number"], day, cents])
    headings = ("Date", "Transaction type", "Num", "Due date", "Open balance")
    return read_ledger(write_report("Open Invoices", "As of Oct 31, 2026", headings, groups, summed=("Open balance",)))


def calls(frames: dict[str, Any], settings: bf.FirmSettings) -> dict[str, tuple[Callable[..., Any], bool]]:
    """Return a call of each analysis that takes frames, and whether it takes `by`."""
    period = {"start": "2026-07-01", "end": "2026-10-31"}
    values = {"settings": settings, **period, "as_of": "2026-10-31"}
    found, data = {}, kept(frames)
    for name in analyses():
        takes = inspect.signature(getattr(analysis, name)).parameters
        given = {each: value for each, value in values.items() if each in takes}
        # The lists of expenses and fixed fees have no codes.
        names = {*frames} - ({"expenses", "fixed_fees"} if name == "code_check" else set())
        if "time_entries" in takes and name not in OF_LEDGERS:
            call = functools.partial(call_kept, name, data, names, **given)
            found[name] = call, "by" in takes and name != "duplicates"
    return found | _calls_of_several(frames, settings, period)


def kept(frames: Mapping[str, Any]) -> Data:
    """Return frames of which facts are kept for several calls, as a book keeps them."""
    data = Data.of_book()
    data.add(**frames)
    return data


def call_kept(
    name: str, data: Data, names: Iterable[str] | None = None, run: Callable[..., Any] = run, **options: Any
) -> Any:
    """Call an analysis with those of the frames that it takes, as its function does with frames made by hand."""
    found = analyses()[name]
    frames = [
        each for each in inspect.signature(found.function).parameters if each in (data if names is None else names)
    ]
    if found.rows_of is None:
        return found.function(**{each: data.natives[each] for each in frames}, **options)
    return run(found, data.view(frames, options.pop("settings", None)), **options)


def _calls_of_several(
    frames: dict[str, Any], settings: bf.FirmSettings, period: dict[str, str]
) -> dict[str, tuple[Callable[..., Any], bool]]:
    """Return calls of the analyses that take payments, the books or results, and of figures side by side."""
    work = {name: each for name, each in frames.items() if name not in ("codes", "code_sets")} | {"settings": settings}
    data = kept(frames)
    bills = {name: frames[name] for name in ("invoices", "clients")} | {"settings": settings}
    paid = payments_of(frames["invoices"])
    names = ("client_hours", "billed_amount", "billing_realization", "wip", "receivables")

    def of_period(by: Any, start: str, end: str | None = None) -> Any:
        return call_kept("realization", data, settings=settings, by=by, start=start, end=end)

    return {
        "fees_collected": (functools.partial(analysis.fees_collected, paid, **work, **period), True),
        "days_to_pay": (functools.partial(analysis.days_to_pay, paid, **bills, **period), True),
        "tie_out": (
            lambda: analysis.tie_out(frames["invoices"], ledger=ledger_of(frames["invoices"]), as_of="2026-10-31"),
            False,
        ),
        "bridge": (lambda by: analysis.bridge(of_period(by, "2026-06"), of_period(by, "2026-09")), True),
        "compare": (
            lambda by: analysis.compare(
                {each: of_period(by, each) for each in ("2026-08", "2026-09")}, "billed_amount"
            ),
            True,
        ),
        "figures": (functools.partial(bf.figures, *names, **work, **period, as_of="2026-10-31"), True),
    }
