"""Compute Narwhals expressions over Arrow tables: only the columns that are used, and equal parts once.

Narwhals computes each expression by itself: ten sums over the rows of one kind compare the kinds ten times, and its
bookkeeping takes longer than a step over 25,000 rows. A frame of `ArrowRows` computes a column when it is first used,
so that a fact costs what its callers use, and compares coded text by its few values. All methods that are not here are
those of Narwhals, which also computes the steps that this module does not know.

A column is a chunked array here, and a value that is the same in all rows is a scalar.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, cast

import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.compute as pc

from billframes.analysis.data.arrow_steps import STEPS, is_all

# Fewer rows are grouped sooner by one thread.
_SEVERAL_THREADS = 100_000
_ZERO = pa.scalar(0.0)
# To copy it takes a tenth of the time of `from_native`.
_NO_ROWS: Any = nw.from_native(pa.table({}))._compliant_frame


class _Later:
    """A value that is computed when it is first used."""

    __slots__ = ("_make", "_value")

    def __init__(self, make: Callable[[], Any] | None, value: Any = None) -> None:
        self._make, self._value = make, value

    def get(self) -> Any:
        if (make := self._make) is not None:
            # Two threads may compute it, with the same result.
            self._value, self._make = make(), None
        return self._value


class ArrowRows(nw.DataFrame[pa.Table]):
    """Rows of Arrow, as a frame of Narwhals."""

    def __init__(self, df: Any, *, level: Any = "full") -> None:
        table = df.native
        self._level, self._whole, self._size = level, df, _Later(None, table.num_rows)
        self._values = {name: _Later(None, each) for name, each in zip(table.column_names, table.columns, strict=True)}

    @classmethod
    def of(cls, table: pa.Table) -> ArrowRows:
        """Return the rows of a table."""
        return cls(_NO_ROWS._with_native(table, validate_column_names=False))

    @classmethod
    def later(cls, columns: Mapping[str, Callable[[], pa.ChunkedArray]], size: int) -> ArrowRows:
        """Return rows whose columns are made when they are first used."""
        return cls._of({name: _Later(make) for name, make in columns.items()}, _Later(None, size))

    @classmethod
    def _of(cls, values: dict[str, _Later], size: _Later) -> ArrowRows:
        rows = object.__new__(cls)
        rows._level, rows._whole, rows._values, rows._size = "full", None, values, size
        return rows

    def _table(self, names: Iterable[str]) -> pa.Table:
        columns = {name: _as_column(self._values[name].get(), self._size) for name in names}
        return pa.Table.from_arrays([*columns.values()], names=[*columns])

    @property
    def _compliant_frame(self) -> Any:  # type: ignore[override]
        if self._whole is None:
            self._whole = _NO_ROWS._with_native(self._table(self._values), validate_column_names=False)
        return self._whole

    def _extract_compliant_frame(self, other: Any, /) -> Any:
        return other._compliant_frame if isinstance(other, nw.DataFrame) else super()._extract_compliant_frame(other)

    @property
    def implementation(self) -> Any:  # type: ignore[override]
        """The engine."""
        return nw.Implementation.PYARROW

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [*self._values]

    def __len__(self) -> int:
        return cast("int", self._size.get())

    def collect_schema(self) -> Any:
        """Return the types of the columns by name, each found when it is asked for."""
        return _Types(self._values)

    def get_column(self, name: str) -> Any:
        """Return a column."""
        return super(ArrowRows, self.of(self._table([name]))).get_column(name)

    def _plain(self) -> nw.DataFrame[pa.Table]:
        return cast("nw.DataFrame[pa.Table]", nw.from_native(self.to_native()))

    def select(self, *exprs: Any, **named_exprs: Any) -> Any:
        """Select columns."""
        pairs = _named(exprs, named_exprs)
        if pairs is None:
            return super().select(*exprs, **named_exprs)
        of = _Expressions(self)
        later = {name: of.later(expr) for name, expr in pairs}
        if any(_has_rows(expr) for _, expr in pairs) and all(_is_known(expr) for _, expr in pairs):
            return self._of(later, self._size)
        try:
            is_one_row = all(isinstance(each, pa.Scalar) for each in [each.get() for each in later.values()])
        except _OtherRowsError:
            return super().select(*exprs, **named_exprs)
        return self._of(later, _Later(None, 1) if is_one_row else self._size)

    def with_columns(self, *exprs: Any, **named_exprs: Any) -> Any:
        """Add or replace columns."""
        pairs = _named(exprs, named_exprs)
        if pairs is None:
            return super().with_columns(*exprs, **named_exprs)
        of = _Expressions(self)
        return self._of(self._values | {name: of.later(expr) for name, expr in pairs}, self._size)

    def with_values(self, values: Mapping[str, tuple[Any, Any]]) -> ArrowRows:
        """Add columns of values; those with a condition are 0 in the rows in which it does not hold."""
        of = _Expressions(self)

        def made(value: Any, condition: Any) -> Any:
            found = of.value(value)
            return found if condition is None else STEPS["when_then"](of.value(condition), found, _ZERO)

        later = {name: _Later(partial(made, *each)) for name, each in values.items()}
        return self._of(self._values | later, self._size)

    def filter(self, *predicates: Any, **constraints: Any) -> Any:
        """Keep the rows in which all predicates hold."""
        of = _Expressions(self)
        conditions = [*_flat(predicates), *(nw.col(name) == each for name, each in constraints.items())]
        return self._kept(_Later(lambda: functools.reduce(pc.and_kleene, [of.value(each) for each in conditions])))

    def _kept(self, mask: _Later) -> ArrowRows:
        whole = _Later(lambda: _as_column(mask.get(), self._size))
        every = _Later(lambda: is_all(whole.get()))
        values = {name: _Later(partial(_filtered, each, whole, every)) for name, each in self._values.items()}
        return self._of(values, _Later(lambda: pc.sum(whole.get(), min_count=0).as_py()))

    def drop(self, *columns: Any, strict: bool = True) -> Any:
        """Leave out columns."""
        without = {*_flat(columns)}
        if strict and not without <= self._values.keys():
            return super().drop(*columns, strict=strict)
        return self._of({name: each for name, each in self._values.items() if name not in without}, self._size)

    def rename(self, mapping: Mapping[str, str]) -> Any:
        """Rename columns."""
        return self._of({mapping.get(name, name): each for name, each in self._values.items()}, self._size)

    def group_by(self, *keys: Any, **options: Any) -> Any:
        """Group by columns."""
        names = [*_flat(keys)]
        is_plain = not options and all(isinstance(each, str) for each in names)
        return _Groups(self, names) if is_plain else super().group_by(*keys, **options)

    def add_up(self, by: Sequence[str], totals: Sequence[tuple[str, str]]) -> ArrowRows:
        """Add up columns, or find their least or greatest values, by others: "sum", "min" or "max" of each."""
        table = self._table(dict.fromkeys([*by, *(name for name, _ in totals)]))
        groups = table.group_by([*by], use_threads=table.num_rows > _SEVERAL_THREADS)
        added = groups.aggregate([(name, how, _SUMS[how]) for name, how in totals])
        return ArrowRows.of(added.rename_columns([*by, *(name for name, _ in totals)]))

    def without_nan(self) -> ArrowRows:
        """Replace NaN by null."""
        return self._of({name: _Later(partial(_nan_to_null, each)) for name, each in self._values.items()}, self._size)

    def look_up(self, other: ArrowRows, on: str, how: str) -> ArrowRows:
        """Join a frame in which each id is unique; a missing id matches nothing."""
        at = _Later(lambda: _positions(*(_as_column(each._values[on].get(), each._size) for each in (self, other))))
        rows = self
        if how == "inner":
            found = at
            rows = self._kept(_Later(lambda: found.get().is_valid()))
            at = _Later(lambda: found.get().drop_null())
        others = {name: each for name, each in other._values.items() if name != on}
        joined = {name: _Later(partial(_taken, each, other._size, at)) for name, each in others.items()}
        return self._of(rows._values | joined, rows._size)

    def beside(self, *others: ArrowRows) -> ArrowRows:
        """Add the columns of others, which have the same rows in the same order."""
        return self._of({name: each for rows in (self, *others) for name, each in rows._values.items()}, self._size)

    @classmethod
    def stack(cls, parts: Sequence[ArrowRows]) -> ArrowRows:
        """Return the rows of all parts, which have the same columns, one part after the other."""
        values = {name: _Later(partial(_stacked, parts, name)) for name in parts[0]._values}
        return cls._of(values, _Later(lambda: sum(map(len, parts))))


class _Types(Mapping[str, Any]):
    def __init__(self, values: Mapping[str, _Later]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Any:
        return _dtype(self._values[name].get().type)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def names(self) -> list[str]:
        return [*self._values]


@functools.lru_cache
def _dtype(kind: pa.DataType) -> Any:
    return nw.from_native(pa.table({"": pa.array([], kind)})).schema[""]


def _as_column(value: Any, size: _Later) -> pa.ChunkedArray:
    return pa.chunked_array([pa.repeat(value, size.get())]) if isinstance(value, pa.Scalar) else value


def _filtered(value: _Later, mask: _Later, every: _Later) -> Any:
    found = value.get()
    return found if isinstance(found, pa.Scalar) or every.get() else found.filter(mask.get())


def _nan_to_null(value: _Later) -> Any:
    found = value.get()
    is_nan = pc.is_nan(found) if pa.types.is_floating(found.type) else None
    has_any = is_nan is not None and (is_nan if isinstance(is_nan, pa.Scalar) else pc.any(is_nan)).as_py()
    return pc.if_else(is_nan, pa.scalar(None, found.type), found) if has_any else found


def _positions(ids: pa.ChunkedArray, among: pa.ChunkedArray) -> pa.ChunkedArray:
    of = among.combine_chunks()
    of = of.dictionary_decode() if pa.types.is_dictionary(of.type) else of
    return pc.index_in(ids, value_set=of, skip_nulls=True)


def _taken(value: _Later, size: _Later, at: _Later) -> pa.ChunkedArray:
    return _as_column(value.get(), size).combine_chunks().take(at.get())


def _stacked(parts: Sequence[ArrowRows], name: str) -> pa.ChunkedArray:
    columns = [_as_column(each._values[name].get(), each._size) for each in parts]
    return pa.chunked_array([chunk for each in columns for chunk in each.chunks], columns[0].type)


class _Groups:
    """Rows that are grouped by columns, to be added up."""

    def __init__(self, rows: ArrowRows, keys: list[str]) -> None:
        self.rows, self.keys = rows, keys

    def agg(self, *exprs: Any, **named_exprs: Any) -> Any:
        """Add up, or find the least or greatest value of, columns; let Narwhals compute the rest."""
        pairs = _named(exprs, named_exprs)
        sums = [_simple_sum(expr) for _, expr in pairs or ()]
        if not sums or not all(sums):
            return ArrowRows(self.rows._plain().group_by(self.keys).agg(*exprs, **named_exprs)._compliant_frame)
        added = self.rows.add_up(self.keys, [each for each in sums if each])
        names = [name for name, _ in pairs or ()]
        return ArrowRows.of(added.to_native().rename_columns([*self.keys, *names]))


def _simple_sum(expr: Any) -> tuple[str, str] | None:
    column, *others = expr._nodes
    names = [each.name for each in others if each.name != "alias"]
    if column.name != "col" or len(names) != 1 or names[0] not in _SUMS:
        return None
    return column.kwargs["names"][0], names[0]


_SUMS = {"sum": pc.ScalarAggregateOptions(min_count=0), "min": None, "max": None}


class _Expressions:
    """The expressions of one step over rows: equal parts of them are computed once."""

    def __init__(self, rows: ArrowRows) -> None:
        self.rows = rows
        self.known: dict[Any, Any] = {}

    def later(self, expr: Any) -> _Later:
        """Return an expression that is computed when it is used."""
        return self.rows._values[expr] if isinstance(expr, str) else _Later(lambda: self.value(expr))

    def value(self, expr: Any) -> Any:
        """Compute an expression."""
        try:
            return self._value(expr)
        except _SeveralColumnsError:
            return self._by_narwhals(expr._nodes)

    def _value(self, expr: Any, is_text: bool = False) -> Any:
        if isinstance(expr, str) and not is_text:
            return self.rows._values[expr].get()
        if not _is_expr(expr):
            return self._step("lit", [], {"value": expr, "dtype": None}, nw.lit(expr)._nodes)
        value: list[Any] = []
        for at, node in enumerate(expr._nodes):
            values = [*value, *[self._value(each, node.str_as_lit) for each in node.exprs]]
            value = [self._step(node.name, values, node.kwargs, expr._nodes[: at + 1])]
        return value[0]

    def _step(self, name: str, values: list[Any], options: Mapping[str, Any], nodes: Any) -> Any:
        if name == "col":
            if len(options["names"]) != 1:
                raise _SeveralColumnsError
            return self.rows._values[options["names"][0]].get()
        # All values are kept, so that each has an id of its own.
        key = (name, *map(id, values), *map(_key, options.values()))
        if key not in self.known:
            if name in _SUMS and nodes[-2].name == "col":
                # A column can have one value, which each row adds.
                values = [_as_column(each, self.rows._size) for each in values]
            found = STEPS[name](*values, **options) if name in STEPS else None
            self.known[key] = self._by_narwhals(nodes) if found is None else found
        return self.known[key]

    def _by_narwhals(self, nodes: Iterable[Any]) -> Any:
        nodes = [*nodes]
        table = self.rows._table(dict.fromkeys(_columns_of(nodes)) or [*self.rows._values][:1])
        column = nw.from_native(table).select(_=nw.Expr(*nodes)).to_native()["_"]
        if len(column) not in (1, len(self.rows)):
            raise _OtherRowsError
        return column if len(column) == len(self.rows) else column[0]


class _SeveralColumnsError(Exception):
    """An expression that names several columns is a part of another one."""


class _OtherRowsError(Exception):
    """An expression has neither one value nor a value for each row."""


def _columns_of(nodes: Iterable[Any]) -> Iterator[str]:
    for node in nodes:
        yield from node.kwargs["names"] if node.name == "col" else ()
        for each in node.exprs:
            if _is_expr(each):
                yield from _columns_of(each._nodes)
            elif isinstance(each, str) and not node.str_as_lit:
                yield each


def _flat(exprs: Iterable[Any]) -> Iterator[Any]:
    for each in exprs:
        if isinstance(each, str) or _is_expr(each):
            yield each
        else:
            yield from _flat(each)


def _named(exprs: Iterable[Any], named: Mapping[str, Any]) -> list[tuple[str, Any]] | None:
    """Return expressions by name, one for each column; None if Narwhals has to name them."""
    names = [_names(expr) for expr in _flat(exprs)]
    return [*chain.from_iterable(names), *named.items()] if all(names) else None


def _names(expr: Any) -> list[tuple[str, Any]]:
    if isinstance(expr, str):
        return [(expr, expr)]
    first, *others = expr._nodes
    if given := [each.kwargs["name"] for each in others if each.name == "alias"]:
        return [(given[-1], expr)]
    if first.name != "col":
        return []
    return [(name, nw.Expr(*nw.col(name)._nodes, *others)) for name in first.kwargs["names"]]


def _has_rows(expr: Any) -> bool:
    """Tell whether an expression has a value for each row, because it is of a column, and adds nothing up."""
    if isinstance(expr, str):
        return True
    first, *others = getattr(expr, "_nodes", [None])
    if first is None or any(each.name in _SUMS for each in others):
        return False
    return first.name == "col" or any(map(_has_rows, first.exprs))


def _is_known(expr: Any) -> bool:
    return isinstance(expr, str) or all(each.name in STEPS or each.name == "col" for each in expr._nodes)


def _is_expr(value: Any) -> bool:
    return hasattr(value, "_nodes")


def _key(value: Any) -> Any:
    """Return what is equal for equal arguments; of values without a hash, only the same one is."""
    # 1, 1.0 and True are equal.
    return (type(value), value) if getattr(value, "__hash__", None) else id(value)
