"""A firm on every engine, small enough to calculate its figures by hand."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Callable
from typing import Any

import duckdb
import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

ENUMS = {
    "billing_type": ["nonBillable", "billable", "fixedFee"],
    "invoice_state": ["draft", "review", "approved", "final"],
    "matter_type": ["hourly", "fixedFee", "contingency", "probono", "internal"],
    "role": ["principal", "attorney", "paralegal", "timekeeper", "operator", "accountant"],
}
DATES = {"date", "invoice_date", "due_date", "opened"}
NUMBERS = {"hours", "amount", "rate", "balance"}
LISTS = {"originator_ids", "originator_names", "ledes_code_set_ids"}
FLAGS = {
    "archived",
    "billed",
    "selectable",
    "ledes_enabled",
    "ledes_activity_code_required",
    "ledes_task_code_required",
    "ledes_expense_code_required",
}

Table = dict[str, list[Any]]


def kind_of(name: str) -> pa.DataType:
    if name in ENUMS:
        return pa.dictionary(pa.int32(), pa.string())
    if name in DATES:
        return pa.date32()
    if name in LISTS:
        return pa.list_(pa.string())
    if name in FLAGS:
        return pa.bool_()
    if name == "created_at":
        return pa.timestamp("us", "UTC")
    return pa.float64() if name in NUMBERS else pa.string()


def _value(name: str, value: Any) -> Any:
    if value is None or name not in DATES | {"created_at"}:
        return value
    return dt.date.fromisoformat(value) if name in DATES else dt.datetime.fromisoformat(value)


def arrow(columns: Table) -> pa.Table:
    arrays = {}
    for name, values in columns.items():
        plain = kind_of(name)
        if name in ENUMS:
            codes = pa.array([None if v is None else ENUMS[name].index(v) for v in values], pa.int32())
            arrays[name] = pa.DictionaryArray.from_arrays(codes, pa.array(ENUMS[name]))
        else:
            arrays[name] = pa.array([_value(name, each) for each in values], plain)
    return pa.table(arrays)


def pandas(table: pa.Table) -> pd.DataFrame:
    series = {}
    for name in table.column_names:
        values = table[name].to_pylist()
        if name in ENUMS:
            series[name] = pd.Series(pd.Categorical(values, categories=ENUMS[name]))
        elif name in DATES:
            series[name] = pd.Series(values, dtype="datetime64[us]")
        elif name in LISTS:
            series[name] = pd.Series(pd.array(table[name], dtype=pd.ArrowDtype(pa.list_(pa.string()))))
        elif name in FLAGS:
            series[name] = pd.Series(values, dtype="bool" if name == "billed" else "boolean")
        elif name == "created_at":
            series[name] = pd.Series(values, dtype="datetime64[us, UTC]")
        else:
            series[name] = pd.Series(values, dtype="float64" if name in NUMBERS else "str")
    return pd.DataFrame(series)


ENGINES: dict[str, Callable[[pa.Table], Any]] = {
    "pandas": pandas,
    "pandas[pyarrow]": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "pyarrow": lambda table: table,
    "polars": lambda table: pl.from_arrow(table),
    "polars lazy": lambda table: pl.from_arrow(table).lazy(),
    "duckdb": lambda table: duckdb.from_arrow(table),
}


@pytest.fixture(scope="session", autouse=True)
def duckdb_on_one_thread():
    """Run DuckDB on one thread: with few rows, two threads take half as long again."""
    before = duckdb.execute("SELECT current_setting('threads')").fetchall()[0][0]
    duckdb.execute("SET threads = 1")
    yield
    duckdb.execute(f"SET threads = {before}")


def rows_of(result: Any) -> list[dict[str, Any]]:
    """Return the rows of a result of any engine as dicts, with None for missing values."""
    if type(result).__module__.startswith("pyspark."):
        result = result.toArrow()
    if isinstance(result, pl.LazyFrame):
        result = result.collect()
    if isinstance(result, pl.DataFrame):
        return result.to_dicts()
    if isinstance(result, duckdb.DuckDBPyRelation):
        result = result.to_arrow_table()
    if isinstance(result, ibis.Table):
        result = result.to_pyarrow()
    if isinstance(result, pa.Table):
        return result.to_pylist()
    assert list(result.index) == list(range(len(result)))
    return [
        {name: None if pd.isna(value) else value for name, value in row.items()} for row in result.to_dict("records")
    ]


def table(header: str, *rows: tuple[Any, ...]) -> Table:
    """Return columns from rows below a header."""
    names = header.split()
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


CLIENTS = {"c1": "Acme", "c2": "Acme", "c3": "Zenith"}
MATTERS = {"m1": "Sale", "m2": "Lease", "m3": "Pro bono", "m4": "Office", "m5": "Contingent"}
USERS = {"u1": "Ada", "u2": "Ben", "u3": "Cy", "u9": "Guest"}


class Firm:
    """Makes frames of one engine from rows."""

    def __init__(self, make: Callable[[pa.Table], Any]) -> None:
        self.make = make

    rows = staticmethod(rows_of)

    def frame(self, header: str, *rows: tuple[Any, ...]) -> Any:
        return self.make(arrow(table(header, *rows)))

    def entries(self, *rows: tuple[Any, ...], **more: list[Any]) -> Any:
        """Return time entries from (date, user, client, matter, type, hours, amount, invoice), and more columns."""
        columns = table("date user_id client_id matter_id billing_type hours amount invoice_id", *rows) | more
        columns |= {
            "user_name": [USERS.get(each) for each in columns["user_id"]],
            "client_name": [CLIENTS.get(each) for each in columns["client_id"]],
            "matter_name": [MATTERS.get(each) for each in columns["matter_id"]],
        }
        return self.make(arrow(columns))

    def invoices(self, *rows: tuple[Any, ...]) -> Any:
        """Return invoices from (id, date, state, due date, client, amount, balance)."""
        columns = table("invoice_id invoice_date invoice_state due_date client_id amount balance", *rows)
        columns["client_name"] = [CLIENTS.get(each) for each in columns["client_id"]]
        return self.make(arrow(columns))

    def items(self, *rows: tuple[Any, ...], **more: list[Any]) -> Any:
        """Return expenses or fixed fees from (matter, user, amount, invoice), and more columns."""
        return self.make(arrow(table("matter_id user_id amount invoice_id", *rows) | more))

    def matters(self, **more: list[Any]) -> Any:
        columns = table(
            "matter_id name matter_type practice_area_id practice_area_label responsible_id responsible_name "
            "originator_ids originator_names cf_tier",
            ("m1", "Sale", "hourly", "p1", "Corporate", "u1", "Ada", ["u1", "u2"], ["Ada", "Ben"], "gold"),
            ("m2", "Lease", "hourly", None, None, "u2", "Ben", ["u2"], ["Ben"], None),
            ("m3", "Pro bono", "probono", "p1", "Corporate", "u1", "Ada", [], [], "gold"),
            ("m4", "Office", "internal", None, None, "u1", "Ada", None, None, None),
            ("m5", "Contingent", "contingency", "p2", "Litigation", "u2", "Ben", [], [], None),
        )
        return self.make(arrow(columns | more))

    def clients(self) -> Any:
        return self.frame(
            "client_id name reference cf_industry cf_tier",
            ("c1", "Acme", "A-1", "Steel", "A"),
            ("c2", "Acme", "A-2", None, "B"),
            ("c3", "Zenith", "Z-1", "Banking", "A"),
        )

    def users(self) -> Any:
        return self.frame(
            "user_id name role email cf_office",
            ("u1", "Ada", "principal", "ada@firm.example", "Bonn"),
            ("u2", "Ben", "attorney", "ben@firm.example", "Kiel"),
            ("u3", "Cy", "accountant", "cy@firm.example", "Bonn"),
        )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test of `firm` on pandas; with `--every-engine`, on all engines. `test_engines.py` compares these."""
    if "firm" in metafunc.fixturenames:
        engines = ENGINES if metafunc.config.getoption("--every-engine") else ["pandas"]
        metafunc.parametrize("firm", engines, indirect=True)


@pytest.fixture
def firm(request: pytest.FixtureRequest) -> Firm:
    """The firm's frames on one engine."""
    return Firm(ENGINES[request.param])


@pytest.fixture(scope="session")
def pandas_firm() -> Firm:
    return Firm(pandas)


@pytest.fixture(scope="session")
def rows_on_pandas(pandas_firm):
    """A function that returns the rows of a call on pandas, with which other engines are compared."""
    from tests.analysis.calls import CALLS, edge_case_frames

    frames = edge_case_frames(pandas_firm)
    return functools.cache(lambda name: rows_of(CALLS[name](frames)))


@pytest.fixture(scope="session")
def whole(client):
    """All frames of the sandbox's firm, without dates or filters, by kind of frame."""
    names = ("time_entries", "invoices", "expenses", "fixed_fees", "matters", "users")
    return {to: {name: getattr(client, name)(to=to) for name in names} for to in ("pandas", "arrow", "polars")}
