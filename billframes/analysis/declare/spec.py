"""Declare an analysis once, beside its function, for all other code.

`aging.py` has the function `aging` and its declaration `ANALYSIS`: the question that it answers and how, the columns of
its result, its table, its chart, and how a book calls it. `bf.explain`, `bf.tables`, `bf.plots`, the methods of a book,
the report, the explorer and the docs read the declaration. To add an analysis, add such a file: `analyses` finds it.
Then `python -m tests.typing.make_analysis_stubs` writes the stubs for type checkers, and
`python docs/make_analyses.py` the docs.

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
from billframes.analysis.declare.tabs import FilterKind, TabSpec
from billframes.errors import ParameterError

__all__ = [
    "BUCKETS",
    "PACKAGE",
    "PERIODS",
    "Analysis",
    "BookArgument",
    "ChartSpec",
    "FilterKind",
    "FromBook",
    "TabSpec",
    "TableSpec",
    "parameters",
]

PACKAGE = "billframes.analysis.sheets"

ChartKind = Literal["bars", "stacks", "points", "ages", "ranges", "running_share", "waterfall"]

BUCKETS = "buckets"
"""A placeholder among a table's columns for the buckets of days that the result has."""
PERIODS = "periods"
"""A placeholder among a table's columns for the columns of periods that the result has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSpec:
    """
    The table of a result, as `billframes.tables` shows it.

    Parameters
    ----------
    title : str
        The title. The table adds how the rows are grouped, such as " by client".
    columns : tuple of str
        The measures shown, in order, with `BUCKETS` and `PERIODS` as placeholders. If empty, all measures of the
        analysis in its order, except `without`.
    without : tuple of str
        Measures of the analysis that are not shown if `columns` is empty.
    optional : tuple of str
        The columns that only some results have. If all columns are optional, a result must have at least one of them.
        If several rows have no value in an optional column, it is not shown.
    brief : tuple of str
        The columns for which a page in portrait has room. If empty, all columns.
    keys : tuple of str
        The key columns shown if the result has the first of them. If not, the columns by which it is grouped are shown.
    if_any : tuple of str
        The columns that a page shows only if one of their amounts is not 0.
    cents : bool
        Whether money is shown to the cent.
    adds_up : bool
        Whether there is a total below the rows.
    """

    title: str
    columns: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    brief: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    if_any: tuple[str, ...] = ()
    cents: bool = False
    adds_up: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartSpec:
    """
    The chart of a result, as `billframes.plots` draws it.

    Parameters
    ----------
    kind : {"bars", "stacks", "points", "ages", "ranges", "running_share", "waterfall"}
        The function of `billframes.plots.drawing` that draws it.
    title : str
        The title. The chart adds how the rows are grouped, such as " by client".
    columns : tuple of str
        The measures drawn. If empty, the buckets of days that the result has. The legend shows their titles.
    legend : mapping of str to str
        Names for the legend, by column, if a column's title is clear only inside the table.
    words : sequence of str
        Templates for the text beside each row. The first template with a figure is used; if there is none, a dash.
        `{column}` is the figure in its unit, and `{column:axis}` the figure as on the axis.
    shows, more : str
        The chart in one sentence, and more sentences about it, for the docstring.
    unless_zero : tuple of str
        The columns that are left out if all their values are 0 or missing.
    mark : str
        A column drawn as a mark over the bars; empty for no mark.
    span : tuple of str
        The columns with the ends of a range, drawn as a line over a stack; empty for none.
    darkest_first : bool
        Whether the first part of a stack is the darkest.
    age : tuple of str
        The units of the buckets, such as "days past due": the first for a result with `current`, the last for others.
    hidden : str
        A column that some results have without any values. For these, the parameters in `instead` are used.
    instead : mapping of str to object
        Values that replace these parameters.
    optional : tuple of str
        The columns that only some results have. If all columns are optional, a result must have at least one of them.
        Of the columns present, those with the unit of the first one are drawn.
    ends : tuple of (str, str)
        The measures at both ends of a waterfall. The first pair that the result has is used.
    order : str
        The column by which rows are sorted, largest first; by default the sum of a stack, the longest bar, or else the
        first column.
    """

    kind: ChartKind
    title: str
    columns: tuple[str, ...]
    words: Sequence[str]
    shows: str
    more: str = ""
    unless_zero: tuple[str, ...] = ()
    legend: Mapping[str, str] = field(default_factory=dict)
    mark: str = ""
    span: tuple[str, ...] = ()
    darkest_first: bool = False
    age: tuple[str, ...] = ()
    hidden: str = ""
    instead: Mapping[str, Any] = field(default_factory=dict)
    optional: tuple[str, ...] = ()
    ends: tuple[tuple[str, str], ...] = ()
    order: str = ""


@dataclass(frozen=True, slots=True)
class BookArgument:
    """
    The value that a book passes for an argument that the caller omits.

    Parameters
    ----------
    value : callable
        Takes the book and the period, and returns the value.
    meaning : str
        A sentence about the value, for the method's docstring.
    only_by : str
        The key that `by` must name; empty if the value does not depend on `by`.
    """

    value: Callable[[Any, Any], Any]
    meaning: str
    only_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FromBook:
    """
    How a book calls the analysis.

    A book passes its frames and settings to the arguments with the same names, its period as `start` and `end`, and, as
    `as_of` without a default, the last day of the period or the day of the load if that is earlier. Only differences
    from this rule are declared here.

    Parameters
    ----------
    first : str
        The argument that can be passed by position; empty for none.
    not_passed : tuple of str
        Arguments that have the name of a frame, and that only the caller passes.
    needs : callable, optional
        Takes `by` and returns the names of the frames to pass. By default, all frames are passed. A book does not load
        the others.
    defaults : mapping of str to BookArgument
        The values of other arguments that the caller omits.
    method : callable, optional
        The method itself, for an analysis that takes no frames. It takes the book and the method's arguments.
    ends_with_load : bool
        Whether a period that is not over ends on the day of the load. False for lists of single entries, which can be
        dated ahead by mistake, and for analyses that take the last day as `as_of`.
    note : str
        A sentence for the method's docstring.
    """

    first: str = "by"
    not_passed: tuple[str, ...] = ()
    needs: Callable[[Any], Collection[str]] | None = None
    defaults: Mapping[str, BookArgument] = field(default_factory=dict)
    method: Callable[..., Any] | None = None
    ends_with_load: bool = True
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Analysis(Explanation):
    """
    One analysis.

    It is declared as `ANALYSIS` in the module of the function; both have the name of the analysis. Its repr is its
    explanation. The parameters that are not listed here are those of `Explanation`.

    Parameters
    ----------
    function : callable
        Its name is that of the analysis. Its docstring gets what several analyses say alike (see `docstrings`).
    columns : tuple of Measure
        The measures of the result in order, without the keys. The measures that several analyses have are declared in
        `metrics`. An analysis in which such a column counts something else declares its own title (`retitled`).
    table : TableSpec, optional
    chart : ChartSpec, optional
    records : str
        What the workbook and the explorer list behind its figures: "entry", "item", or "invoice", whose items are added
        up. If empty, the workbook has no sheet of them.
    tab : TabSpec, optional
    book : FromBook
    short : tuple of str
        The name of its column `total` among the figures of other analyses, and other words for it.
    as_loaded : bool
        Whether its figures are only known for the day of the load, because balances are as loaded.
    by_period : bool
        Whether a call by month gives the same rows and notes as a call for each month.
    arguments : mapping of str to str
        What an argument means here, after the text that all share (`docstrings`). `start` stands for the period.
    own : tuple of str
        The arguments that have a shared name and another meaning here, which the function's docstring says itself.
    rows : str
        The order of the rows, for the docstring, and the keys before the columns if they are not in `keys`.
    keys : tuple of str
        The columns before the others, of an analysis that is a list.
    """

    name: str = field(init=False)
    function: Callable[..., Any]
    columns: tuple[Measure, ...]
    table: TableSpec | None = None
    chart: ChartSpec | None = None
    records: str = ""
    tab: TabSpec | None = None
    book: FromBook = FromBook()
    short: tuple[str, ...] = ()
    as_loaded: bool = False
    by_period: bool = True
    arguments: Mapping[str, str] = field(default_factory=dict)
    own: tuple[str, ...] = ()
    rows: str = "sorted by label: the keys, then"
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
