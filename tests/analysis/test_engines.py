"""Engines return the same rows as pandas, in their own kind of frame; lazy engines only collect sums."""

from __future__ import annotations

import datetime as dt
import functools
import itertools

import duckdb
import ibis
import narwhals.stable.v2 as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from billframes import plots, tables
from billframes.analysis.data import native
from billframes.errors import ParameterError
from tests.analysis.calls import CALLS, ENGINE_CALLS, QUERIES, edge_case_frames
from tests.analysis.conftest import ENGINES, Firm, pandas as to_pandas, rows_of

# The firm has all edge cases, so all warnings are given. Other tests check each warning.
pytestmark = [
    pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning"),
    pytest.mark.filterwarnings("ignore::billframes.errors.RatesHiddenWarning"),
]


@pytest.fixture(scope="module")
def frames_of():
    """The firm's frames, made once per engine, because analyses do not change their input."""
    return functools.cache(lambda engine: edge_case_frames(Firm(OTHERS.get(engine, to_pandas))))


def assert_like_pandas(result, frames, wanted):
    assert type(result) is type(frames["invoices"])
    assert_same_rows(rows_of(result), wanted)


def assert_same_rows(rows, wanted):
    assert [list(row) for row in rows] == [list(row) for row in wanted]
    for row, other in zip(rows, wanted, strict=True):
        assert {key: day(value) for key, value in row.items()} == {key: near(value) for key, value in other.items()}


def day(value):
    """Convert a date to a datetime: rows that are returned unchanged have the dates of their engine."""
    return dt.datetime.combine(value, dt.time()) if type(value) is dt.date else value


def near(value):
    return pytest.approx(value, rel=1e-9, abs=1e-9) if isinstance(value, float) else value


def record_collected(lazy, patch):
    """Return a list to which everything that lazy frames collect is appended."""
    collected, collect = [], lazy.collect

    def spy(frame, *args, **options):
        collected.append(collect(frame, *args, **options))
        return collected[-1]

    patch.setattr(lazy, "collect", spy)
    return collected


# The type whose method collects the lazy frames of an engine.
LAZY = {"polars lazy": pl.LazyFrame, "duckdb": nw.LazyFrame}


OTHERS = {name: make for name, make in ENGINES.items() if name != "pandas"} | {"ibis": ibis.memtable}


@pytest.mark.slow
@pytest.mark.parametrize(
    # Ibis, the slowest, runs DuckDB's queries.
    "engine",
    [pytest.param(each, marks=[pytest.mark.sweep(keep=2)] if each == "ibis" else []) for each in OTHERS],
)
@pytest.mark.parametrize("name", ENGINE_CALLS)
def test_engines_return_the_rows_of_pandas_and_lazy_ones_run_few_queries(
    name, engine, frames_of, rows_on_pandas, monkeypatch
):
    frames = frames_of(engine)
    counted = engine in LAZY and name in QUERIES
    with monkeypatch.context() as patch:
        collected = record_collected(LAZY[engine], patch) if counted else []
        result = CALLS[name](frames)
    if counted:
        assert len(collected) == QUERIES[name]
    assert_like_pandas(result, frames, rows_on_pandas(name))


def _more(frames, copies):
    """Return the frames with copies of their rows under other ids."""
    more = dict(frames)
    for name, id_ in {"time_entries": "time_entry_id", "invoices": "invoice_id"}.items():
        own = frames[name].with_columns(pl.col(id_).cast(pl.String))
        more[name] = pl.concat([own, *(own.with_columns(pl.col(id_) + f"-{n}") for n in range(copies))])
    return more


@pytest.mark.parametrize(
    "name", ["utilization by role and month", "aging by matter and user", "wip by originator", "exposure by client"]
)
def test_lazy_frames_collect_as_many_rows_whatever_their_size(name, frames_of, monkeypatch):
    """Only sums and counts are collected."""
    # Copies of an invoice have no time, and of rows that disagree, three are named: so both frames have two copies.
    few, many = (_more(frames_of("polars lazy"), copies) for copies in (2, 5))
    with monkeypatch.context() as patch:
        collected = record_collected(pl.LazyFrame, patch)
        CALLS[name](few)
        at_first = len(collected)
        CALLS[name](many)
    # Single rows are counts, which can be more for wrong values.
    sums = [[len(each) for each in some if len(each) > 1] for some in (collected[:at_first], collected[at_first:])]
    assert sums[0] == sums[1]


READERS = {
    "pandas": pd.read_parquet,
    "pandas[pyarrow]": lambda path: pd.read_parquet(path, dtype_backend="pyarrow"),
    "polars": pl.read_parquet,
    "duckdb": lambda path: duckdb.read_parquet(str(path)),
}


def without_texts(table, kind=None):
    """Replace all texts by missing values, of a type if it is given."""
    kinds = {name: kind or table[name].type for name in table.column_names if is_text(table[name].type)}
    nulls = {name: pa.nulls(table.num_rows, each) for name, each in kinds.items() if name != "time_entry_id"}
    return pa.table({name: nulls.get(name, table[name]) for name in table.column_names})


def is_text(kind):
    return pa.types.is_string(kind) or pa.types.is_dictionary(kind)


@pytest.fixture(scope="module")
def rows_without_texts():
    """The rows of some calls if all texts are missing."""
    frames = edge_case_frames(Firm(without_texts))
    names = ("utilization by client", "realization by originator", "aging by matter and user", "code check")
    return {name: rows_of(CALLS[name](frames)) for name in names}


@pytest.mark.slow
@pytest.mark.sweep
@pytest.mark.parametrize("kind", [pa.null(), pa.dictionary(pa.int32(), pa.null())], ids=["null", "dictionary"])
@pytest.mark.parametrize("engine", READERS)
def test_texts_without_a_value_may_come_from_a_parquet_file(engine, kind, rows_without_texts, tmp_path):
    numbers = itertools.count()

    def stored(table):
        path = tmp_path / f"{next(numbers)}.parquet"
        pq.write_table(without_texts(table, kind), path)
        return READERS[engine](path)

    frames = edge_case_frames(Firm(stored))
    for name, wanted in rows_without_texts.items():
        assert_same_rows(rows_of(CALLS[name](frames)), wanted)


@pytest.fixture(params=["dask.dataframe.dask_expr._collection", "dask_expr._collection"])
def dask_frame(request):
    """A stand-in for a Dask frame, which is recognized by the module of its type."""
    return type("DataFrame", (), {"__module__": request.param})()


DASK = r"is a Dask frame, and Dask is not supported\. Use DuckDB or Polars for data larger than memory, or Spark for"


def test_dask_frames_are_refused_by_every_analysis(dask_frame, frames_of):
    for call in CALLS.values():
        with pytest.raises(ParameterError, match=DASK):
            call(dict.fromkeys(frames_of("pandas"), dask_frame))


def test_one_dask_frame_among_others_is_refused(dask_frame, pandas_firm):
    frames = edge_case_frames(pandas_firm)
    with pytest.raises(ParameterError, match=f"^users {DASK}"):
        CALLS["contribution by originator"](frames | {"users": dask_frame})


def test_dask_frames_are_refused_by_every_chart_and_table(dask_frame):
    for shown in (plots, tables):
        for name in set(shown.__all__) - {"TableOf"}:
            with pytest.raises(ParameterError, match=f"^result {DASK}"):
                getattr(shown, name)(dask_frame)


def test_frames_of_an_old_duckdb_are_refused(monkeypatch, frames_of):
    """DuckDB 1.5 computes wrong figures in some analyses, such as 3.8e-07 instead of 380."""
    frames = frames_of("duckdb")
    monkeypatch.setattr(native, "version", {"duckdb": "1.5.6"}.__getitem__)
    with pytest.raises(ParameterError, match=r"is a frame of DuckDB 1\.5\.6.*pip install 'duckdb>=2'"):
        CALLS["reconcile by month and state"](frames)


def test_originators_written_to_a_csv_file_as_text_are_refused(pandas_firm, tmp_path):
    matters = pandas_firm.matters()
    matters.to_csv(tmp_path / "matters.csv", index=False)
    frames = edge_case_frames(pandas_firm) | {"matters": pd.read_csv(tmp_path / "matters.csv")}
    with pytest.raises(
        ParameterError, match="matters: originator_ids is of the type String, such as .*, not lists of text"
    ):
        CALLS["contribution by originator"](frames)


def test_an_engine_that_is_not_supported_is_refused_by_name(monkeypatch):
    monkeypatch.setattr(native, "SUPPORTED", frozenset())
    with pytest.raises(ParameterError, match="invoices is a frame of pyarrow, which is not supported"):
        CALLS["aging by client"]({"invoices": pa.table({"invoice_id": ["i1"]})})
