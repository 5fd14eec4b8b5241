"""Rows of Arrow give what Narwhals gives, compute equal parts once, and only the columns that are used."""

from __future__ import annotations

import datetime as dt
import math

import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from billframes.analysis.data.arrow import ArrowRows, _Expressions
from billframes.analysis.data.arrow_steps import STEPS
from billframes.analysis.data.engine import stack
from billframes.analysis.data.expressions import as_float, columns_or_null, null_column, value_if

C = nw.col

TABLE = pa.table(
    {
        "kind": pa.array(["time", None, "fees", "time", ""]).dictionary_encode(),
        "text": ["a", None, "b", "", "a"],
        "hours": [1.5, None, math.nan, -2.0, 0.0],
        "amount": [0.0, 3.0, None, -1e9, 1e-9],
        "number": [1, 2, None, -4, 5],
        "flag": [True, None, False, True, None],
        "date": pa.array([dt.datetime(2026, 10, day) if day else None for day in (1, 0, 3, 31, 5)], pa.timestamp("us")),
    }
)
TIME = C("kind") == "time"

EXPRESSIONS = {
    "compared text": TIME,
    "compared text, negated": ~(C("kind") != "time"),
    "listed": C("kind").is_in(["time", "fees"]) | C("text").is_in(["a"]),
    "numbers": (C("hours") + C("amount") * 2 - 1 / C("hours")) / C("number"),
    "of two integers": C("number") / C("number"),
    "whole division": C("number") // 2,
    "1 less": 1 - C("hours"),
    "the same number of another type": (C("number") + 1) * (C("hours") + 1.0),
    "conditions": (C("hours") <= 0) & ~(C("amount") > 0) | C("flag"),
    "dates": (C("date") >= dt.datetime(2026, 10, 3)) & (C("date") < dt.datetime(2026, 10, 31)),
    "weekday": C("date").dt.weekday() > 5,
    "day of the year": C("date").dt.year() * 1000 + C("date").dt.ordinal_day(),
    "missing": C("hours").is_null() & ~C("text").is_null(),
    "not a number": C("hours").is_nan().fill_null(False),
    "filled": C("hours").fill_null(0.0) + C("number").fill_null(0),
    "filled text": C("text").fill_null("none"),
    "filled before": C("number").fill_null(strategy="forward"),
    "as number": as_float(C("flag")) + C("flag").cast(nw.Float64),
    "as text": C("kind").cast(nw.String),
    "as day": C("date").cast(nw.Date),
    "if": value_if(TIME & C("flag"), "hours"),
    "if without otherwise": nw.when(C("flag")).then(C("amount")),
    "text if": nw.when(C("flag")).then(nw.lit("yes")).otherwise(nw.when(TIME).then(C("text")).otherwise(nw.lit("no"))),
    "a missing text if": nw.when(C("flag")).then(nw.lit("yes")),
    "the first that is there": nw.coalesce("amount", "hours"),
    "all": nw.all_horizontal(C("flag"), C("hours") > 0, ignore_nulls=False),
    "any": nw.any_horizontal(C("flag"), C("hours") > 0, ignore_nulls=True),
    "sum of columns": nw.sum_horizontal("hours", "amount"),
    "one of several columns": nw.min_horizontal(C("hours", "amount")),
    "rounded": C("amount").abs().round(2),
    "less the least": C("amount") - C("amount").min(),
    "counted": C("hours") + nw.len(),
    "running": C("amount").fill_null(0.0).cum_sum(),
    "literal": nw.lit(1) == nw.lit(1),
    "none": null_column(nw.Float64),
    "no flag": null_column(nw.Boolean),
}
ADDED_UP = {
    "sum": C("hours").sum(),
    "sum of some": value_if(TIME, "amount").sum(),
    "least": C("date").min(),
    "greatest": C("amount").max() - C("amount").min(),
    "rows": nw.len() - C("kind").n_unique(),
    "mean": C("number").mean(),
}


def _same(ours: nw.DataFrame, theirs: nw.DataFrame) -> None:
    assert type(ours) is ArrowRows
    one, two = ours.to_native(), theirs.to_native()
    assert one.column_names == two.column_names
    assert [str(each) for each in one.schema.types] == [str(each) for each in two.schema.types]
    assert repr(one.to_pylist()) == repr(two.to_pylist())
    assert len(ours) == len(theirs)


@pytest.mark.parametrize("rows", [TABLE, TABLE[:1], TABLE[:0]], ids=["rows", "one row", "no rows"])
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_a_column_is_what_narwhals_computes(name, rows):
    ours, theirs = ArrowRows.of(rows), nw.from_native(rows)
    _same(*(each.with_columns(new=EXPRESSIONS[name]) for each in (ours, theirs)))
    _same(*(each.select("text", new=EXPRESSIONS[name]) for each in (ours, theirs)))


@pytest.mark.parametrize("name", ADDED_UP)
def test_a_sum_is_what_narwhals_computes(name):
    _same(*(each.select(new=ADDED_UP[name]) for each in (ArrowRows.of(TABLE), nw.from_native(TABLE))))


METHODS = {
    "filter": lambda rows: rows.filter(TIME | C("flag")),
    "filters": lambda rows: rows.filter(TIME, C("hours") > 0, text="a"),
    "sums of one value": lambda rows: rows.with_columns(
        C("flag"), one=nw.lit(1.5), none=null_column(nw.Float64)
    ).select(C("one", "none").sum(), most=C("one").max()),
    "filter of none": lambda rows: rows.with_columns(new=nw.lit(2.0)).filter((nw.lit(1) == nw.lit(0)) & C("flag")),
    "several columns": lambda rows: rows.with_columns(C("hours", "amount").fill_null(0.0), nw.lit(1.0).alias("one")),
    "columns or null": lambda rows: rows.select(*columns_or_null(rows, ["hours", "no"], {"no": nw.Float64})),
    "only values": lambda rows: rows.select(one=nw.lit(1.0), two=nw.lit("x")),
    "values and rows": lambda rows: rows.select("text", one=nw.lit(1.0), most=C("hours").max()),
    "different values": lambda rows: rows.select(C("text").unique()).sort("text"),
    "drop and rename": lambda rows: rows.drop("text", "flag").rename({"hours": "time"}),
    "drop what may be absent": lambda rows: rows.drop(["text", "no"], strict=False),
    "sums by key": lambda rows: rows.group_by("kind").agg(C("hours", "amount").sum(), C("date").min()).sort("kind"),
    "sums by two keys": lambda rows: rows.group_by("kind", "text").agg(C("number").max().alias("most")).sort("most"),
    "counts by key": lambda rows: rows.group_by("kind").agg(nw.len().alias("rows")).sort("rows"),
    "rows of some keys": lambda rows: rows.group_by("text", drop_null_keys=True).agg(C("number").sum()).sort("text"),
    "unique": lambda rows: rows.select("text").unique().sort("text"),
    "joined": lambda rows: rows.join(nw.from_native(pa.table({"text": ["a"], "more": [1]})), on="text").sort("hours"),
}


@pytest.mark.parametrize("name", METHODS)
def test_a_step_is_that_of_narwhals(name):
    _same(*(METHODS[name](each) for each in (ArrowRows.of(TABLE), nw.from_native(TABLE))))


def test_parts_of_narwhals_and_of_arrow_are_stacked_as_rows_of_arrow():
    plain = nw.from_native(TABLE)
    rows = stack([plain, ArrowRows.of(TABLE).filter(TIME)])
    assert isinstance(rows, ArrowRows)
    _same(rows, nw.concat([plain, plain.filter(TIME)]))


def test_values_of_one_column_are_added_without_narwhals(monkeypatch):
    rows = ArrowRows.of(TABLE).with_columns(one=nw.lit(1.5), year=C("date").dt.year() // 4)
    monkeypatch.setattr(_Expressions, "_by_narwhals", None)
    assert rows.select(C("one", "year").sum()).rows() == [(7.5, 4 * (2026 // 4))]


def test_columns_have_the_types_of_narwhals():
    rows, plain = (each.with_columns(one=nw.lit(1.0)) for each in (ArrowRows.of(TABLE), nw.from_native(TABLE)))
    assert dict(rows.collect_schema()) == dict(plain.collect_schema())
    assert rows.columns == plain.columns == rows.collect_schema().names()
    assert rows.get_column("hours").to_list()[:2] == [1.5, None]


def test_equal_parts_are_computed_once_and_columns_that_nobody_uses_never(monkeypatch):
    compared, added = [], []
    monkeypatch.setitem(STEPS, "__eq__", lambda *each: compared.append(each) or pc.equal(*each))
    monkeypatch.setitem(STEPS, "__add__", lambda *each: added.append(each) or pc.add(*each))
    is_a = lambda: C("text") == "a"  # noqa: E731
    rows = ArrowRows.of(TABLE).with_columns(
        one=value_if(is_a(), "hours"), two=value_if(is_a() & C("flag"), "amount"), never=C("hours") + 1.0
    )
    totals = rows.filter(C("one") >= 0).select(C("one", "two").sum())
    assert totals.to_native().to_pylist() == [{"one": 1.5, "two": 0.0}]
    assert (len(compared), len(added)) == (1, 0)


def test_ids_are_looked_up():
    left = ArrowRows.of(pa.table({"id": ["x", None, "y", "x"], "n": [1, 2, 3, 4]}))
    right = ArrowRows.of(pa.table({"id": pa.array(["x", "z", None]), "m": [10, 20, 30]})).with_columns(one=nw.lit(1.0))
    found = left.look_up(right, "id", "left").to_native()
    assert found.to_pydict() == {
        "id": ["x", None, "y", "x"],
        "n": [1, 2, 3, 4],
        "m": [10, None, None, 10],
        "one": [1.0, None, None, 1.0],
    }
    assert left.look_up(right, "id", "inner").to_native()["n"].to_pylist() == [1, 4]
