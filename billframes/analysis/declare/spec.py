"""Declare an analysis once, beside its function, for all other code.

`aging.py` has the function `aging` and its declaration `ANALYSIS`: the question that it answers and how, the columns of
its result, its table, its chart, and how a book calls it. `bf.explain`, `bf.tables`, `bf.plots`, the methods of a book,
the report, the explorer and the docs read the declaration. CONTRIBUTING says how to add one.

Charts and tables are declared as data, so that an analysis imports neither matplotlib nor great-tables.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import pyarrow as pa

from billframes._shared.names import closest
from billframes.analysis.declare.columns import DATES
from billframes.analysis.declare.docstrings import whole_docstring
from billframes.analysis.declare.explanation import Explanation
from billframes.analysis.declare.metrics import Measure, bucket_measure
from billframes.errors import ParameterError

PACKAGE = "billframes.analysis.sheets"

ChartKind = Literal["bars", "stacks", "points", "ages", "ranges", "running_share", "waterfall"]
FilterKind = Literal["items", "time_entries", "matters", "clients", "payments", "forecast"]
# The records that filters are about. For each kind of tab, those whose filters count, and a sentence that says so.
_FILTERED = ("client", "matter", "user", "entry")
_FILTERS: Mapping[FilterKind, tuple[tuple[str, ...], str]] = {
    "items": (_FILTERED, "All filters count here."),
    "time_entries": (_FILTERED, "All filters count here."),
    "matters": (
        _FILTERED[:3],
        "Filters on clients, matters and timekeepers, and on their fields, count here. Filters on single entries, such "
        "as billing type, do not.",
    ),
    "clients": (_FILTERED[:1], "Only filters on clients and their fields count here."),
    "payments": (_FILTERED[:1], "Only filters on clients and their fields count here."),
    "forecast": ((), "Neither the period nor filters count here: the whole firm is forecast from the day of the load."),
}

BUCKETS = "buckets"
"""A placeholder among a table's columns for the buckets of days that the result has."""
PERIODS = "periods"
"""A placeholder among a table's columns for the columns of periods that the result has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSpec:
    """The table of a result, as `billframes.tables` shows it."""

    # The title. The table adds how the rows are grouped, such as " by client".
    title: str
    # The measures shown, in order, with `BUCKETS` and `PERIODS` as placeholders. If empty, all measures of the analysis
    # in its order, except `without`.
    columns: tuple[str, ...] = ()
    # Measures of the analysis that are not shown if `columns` is empty.
    without: tuple[str, ...] = ()
    # The columns that only some results have. If all columns are optional, a result must have at least one of them. If
    # several rows have no value in an optional column, it is not shown.
    optional: tuple[str, ...] = ()
    # The columns for which a page in portrait has room. If empty, all columns.
    brief: tuple[str, ...] = ()
    # The key columns shown if the result has the first of them. If not, the columns by which it is grouped are shown.
    keys: tuple[str, ...] = ()
    # The columns that a page shows only if one of their amounts is not 0.
    if_any: tuple[str, ...] = ()
    # Whether money is shown to the cent.
    cents: bool = False
    # Whether there is a total below the rows.
    adds_up: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartSpec:
    """The chart of a result, as `billframes.plots` draws it."""

    # The function of `billframes.plots.drawing` that draws it.
    kind: ChartKind
    # The title. The chart adds how the rows are grouped, such as " by client".
    title: str
    # The measures drawn. If empty, the buckets of days that the result has. The legend shows their titles.
    columns: tuple[str, ...]
    # Templates for the text beside each row. The first template with a figure is used; if there is none, a dash.
    # `{column}` is the figure in its unit, and `{column:axis}` the figure as on the axis.
    words: Sequence[str]
    # The chart in one sentence, and more sentences about it, for the docstring.
    shows: str
    more: str = ""
    # The columns that are left out if all their values are 0 or missing.
    unless_zero: tuple[str, ...] = ()
    # Names for the legend, by column, if a column's title is clear only inside the table.
    legend: Mapping[str, str] = field(default_factory=dict)
    # A column drawn as a mark over the bars; empty for no mark.
    mark: str = ""
    # The columns with the ends of a range, drawn as a line over a stack; empty for none.
    span: tuple[str, ...] = ()
    # Whether the first part of a stack is the darkest.
    darkest_first: bool = False
    # The units of the buckets, such as "days past due": the first for a result with `current`, the last for others.
    age: tuple[str, ...] = ()
    # A column that some results have without any values. For these, the parameters in `instead` are used.
    hidden: str = ""
    # Values that replace these parameters.
    instead: Mapping[str, Any] = field(default_factory=dict)
    # The columns that only some results have. If all columns are optional, a result must have at least one of them. Of
    # the columns present, those with the unit of the first one are drawn.
    optional: tuple[str, ...] = ()
    # The measures at both ends of a waterfall. The first pair that the result has is used.
    ends: tuple[tuple[str, str], ...] = ()
    # The column by which rows are sorted, largest first; by default the sum of a stack, the longest bar, or else the
    # first column.
    order: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TabSpec:
    """
    The tab of the explorer that shows the analysis.

    The tab shows the columns of the table, and the chart, the records and the explanation of the analysis.
    """

    # Tabs are sorted by this number.
    place: int
    title: str
    # The measures of the total that are shown large. Empty if the rows don't add up.
    tiles: tuple[str, ...]
    # The measure by which rows are sorted, largest first. Rows by month, quarter or year keep their order, and so do
    # all if it is empty.
    order: str
    # The records that filters select. "items": time entries, expenses and fixed fees. "time_entries": time entries,
    # with their shares of the invoices. "matters": clients, matters and people, with their shares of the invoices.
    # "clients": the rows of the result, by their client. "payments": payments, by their client; there is no such tab
    # without payments. "forecast": nothing, because the book is forecast from the day of the load.
    filters: FilterKind
    # The keys that the user can group by; the first is the default. Empty if the analysis has no `by`.
    by: tuple[str, ...] = ()
    # The sum whose rows a click on a row lists, as "total" or, of another analysis, "aging.total". If empty, rows do
    # not open.
    opens: str = ""
    # The tiles that are compared with the period before. Left out are figures that still change after their period, and
    # balances, which have no history.
    compared: tuple[str, ...] = ()
    # More sentences about what filters mean here, after the one that says which filters count.
    note: str = ""

    @property
    def counted(self) -> tuple[str, ...]:
        """The records whose filters count, of "client", "matter", "user" and "entry"."""
        return _FILTERS[self.filters][0]

    @property
    def about_filters(self) -> str:
        """Which filters count, and what they mean here."""
        return f"{_FILTERS[self.filters][1]} {self.note}".rstrip()


@dataclass(frozen=True, slots=True)
class BookArgument:
    """The value that a book passes for an argument that the caller omits."""

    # Takes the book and the period, and returns the value.
    value: Callable[[Any, Any], Any]
    # A sentence about the value, for the method's docstring.
    meaning: str
    # The key that `by` must name; empty if the value does not depend on `by`.
    only_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FromBook:
    """
    How a book calls the analysis.

    A book passes its frames and settings to the arguments with the same names, its period as `start` and `end`, and, as
    `as_of` without a default, the last day of the period or the day of the load if that is earlier. Only differences
    from this rule are declared here.
    """

    # The argument that can be passed by position; empty for none.
    first: str = "by"
    # Arguments that have the name of a frame, and that only the caller passes.
    not_passed: tuple[str, ...] = ()
    # Takes `by` and returns the names of the frames to pass. By default, all frames are passed. A book does not load
    # the others.
    needs: Callable[[Any], Collection[str]] | None = None
    # The values of other arguments that the caller omits.
    defaults: Mapping[str, BookArgument] = field(default_factory=dict)
    # The method itself, for an analysis that takes no frames. It takes the book and the method's arguments.
    method: Callable[..., Any] | None = None
    # Whether a period that is not over ends on the day of the load. False for lists of single entries, which can be
    # dated ahead by mistake, and for analyses that take the last day as `as_of`.
    ends_with_load: bool = True
    # A sentence for the method's docstring.
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Analysis(Explanation):
    """
    One analysis.

    It is declared as `ANALYSIS` in the module of the function; both have the name of the analysis. Its repr is its
    explanation.
    """

    name: str = field(init=False)
    # Its name is that of the analysis. Its docstring gets what several analyses say alike (see `docstrings`).
    function: Callable[..., Any]
    # The measures of the result in order, without the keys. The measures that several analyses have are declared in
    # `metrics`. An analysis in which such a column counts something else declares its own title (`retitled`).
    columns: tuple[Measure, ...]
    table: TableSpec | None = None
    chart: ChartSpec | None = None
    # What the workbook and the explorer list behind its figures: "entry", "item", or "invoice", whose items are added
    # up. If empty, the workbook has no sheet of them.
    records: str = ""
    tab: TabSpec | None = None
    book: FromBook = FromBook()
    # The name of its column `total` among the figures of other analyses, and other words for it.
    short: tuple[str, ...] = ()
    # Whether its figures are only known for the day of the load, because balances are as loaded.
    as_loaded: bool = False
    # Whether a call by month gives the same rows and notes as a call for each month.
    by_period: bool = True
    # What an argument means here, after the text that all share (`docstrings`). `start` stands for the period.
    arguments: Mapping[str, str] = field(default_factory=dict)
    # The arguments that have a shared name and another meaning here, which the function's docstring says itself.
    own: tuple[str, ...] = ()
    # The order of the rows, for the docstring, and the keys before the columns if they are not in `keys`.
    rows: str = "sorted by label: the keys, then"
    # The columns before the others, of an analysis that is a list.
    keys: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.function.__name__)
        titles = {each.name: each.title for each in self.columns}
        columns = tuple(
            each if each.meaning else replace(each, meaning=_of_ratio(each, titles)) for each in self.columns
        )
        object.__setattr__(self, "columns", columns)
        if self.table is not None and not self.table.columns:
            shown = tuple(each.name for each in self.columns if each.name not in self.table.without)
            object.__setattr__(self, "table", replace(self.table, columns=shown))
        if self.function.__doc__:
            self.function.__doc__ = whole_docstring(
                self.function, self.own, self.arguments, self._returns, self.example
            )
        kinds = get_args(ChartKind)
        if self.chart is not None and self.chart.kind not in kinds:
            raise ParameterError(
                f"The analysis {self.name!r} declares a chart of the kind {self.chart.kind!r}; "
                f"a chart is one of {', '.join(map(repr, kinds))}.{closest(self.chart.kind, kinds)}"
            )

    @property
    def _returns(self) -> str:
        names = ", ".join(f"`{name}`" for name in dict.fromkeys((*self.keys, *self.measure_names)))
        return f'Of the kind of the input, {self.rows} {names}. `bf.explain("{self.name}")` says what each is.'

    @property
    def rows_of(self) -> Callable[..., Any] | None:
        """The calculation, which takes the call and the options; None if the function is not made by `sheet`."""
        found: Callable[..., Any] | None = getattr(self.function, "__wrapped__", None)
        return found

    @property
    def shown_parts(self) -> dict[str, tuple[str, ...]]:
        """The texts by heading, with the meaning of each column."""
        return self.parts | {"Columns": tuple(f"`{each.name}` ({each.unit}): {each.meaning}" for each in self.columns)}

    @property
    def measure_names(self) -> list[str]:
        """The names of the columns, in order."""
        return [each.name for each in self.columns]

    @property
    def schema(self) -> pa.Schema:
        """The columns of a list: its keys, which are dates or text, and the others, typed by their unit."""
        units = dict.fromkeys(self.keys, "text") | {each.name: each.unit for each in self.columns}
        dates = {name for name, unit in units.items() if name in DATES or unit == "date"}
        kinds = {name: pa.string() if unit == "text" else pa.float64() for name, unit in units.items()}
        return pa.schema(kinds | dict.fromkeys(dates, pa.timestamp("us")))

    def columns_with(self, buckets: Sequence[str]) -> list[str]:
        """Return the names of the columns, in order, with these buckets of days instead of the declared ones."""
        own = [*buckets, *(name for name in self.measure_names if bucket_measure(name))]
        first = next(place for place, name in enumerate(self.measure_names) if name in own)
        return [
            *self.measure_names[:first],
            *buckets,
            *(each for each in self.measure_names[first:] if each not in own),
        ]

    @property
    def needs_payments(self) -> bool:
        """Whether it counts payments, which the billing system does not have."""
        return self.book.first == "payments"

    @property
    def is_forecast(self) -> bool:
        """Whether its figures are of the time after the data."""
        return "horizons" in self.takes

    @property
    def takes(self) -> frozenset[str]:
        """The names of the function's arguments."""
        return frozenset(parameters(self.function))


@functools.cache
def parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a function by name."""
    return inspect.signature(function).parameters


def _of_ratio(measure: Measure, titles: Mapping[str, str]) -> str:
    """Return the meaning of a ratio: the title of its numerator ÷ that of its denominator."""
    part, whole = (titles[name] for name in measure.ratios[0])
    return f"{part} ÷ {whole[0].lower()}{whole[1:]}."
