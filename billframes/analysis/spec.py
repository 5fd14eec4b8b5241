"""The declaration of an analysis: all that other code needs to know about it, once, beside its function.

`aging.py` has the function `aging` and its declaration, `ANALYSIS`: the question it answers and how, the columns of its
result, its table, its chart, and how a book calls it. `bf.explain`, `bf.tables`, `bf.plots`, the methods of a book, the
report, the explorer and the docs read it there. To add an analysis is to add such a file; `analyses` finds it. Then
`python -m tests.typing.make_analysis_stubs` tells type checkers of it, and `python docs/make_analyses.py` the docs.

Charts and tables are declared as data here, so that an analysis imports neither matplotlib nor great-tables.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from billframes._names import closest
from billframes.analysis.column_types import IDS, ITEM_ID
from billframes.analysis.explanation import Explanation
from billframes.analysis.metrics import SHARED, Measure, bucket_measure, period_measure
from billframes.errors import ParameterError

__all__ = [
    "BUCKETS",
    "PERIODS",
    "Analysis",
    "BookArgument",
    "ChartSpec",
    "FromBook",
    "RecordsSpec",
    "TabSpec",
    "TableSpec",
    "analyses",
    "analyses_of_period",
    "measure",
    "measures",
]

ChartKind = Literal["bars", "stacks", "points", "ages", "running_share", "waterfall"]

BUCKETS = "buckets"
"""Stands among a table's columns for whatever buckets of days the result has."""
PERIODS = "periods"
"""Stands among a table's columns for whatever periods the result has as columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSpec:
    """
    The table that `billframes.tables` shows of a result.

    Parameters
    ----------
    title : str
        What is shown; what the rows are by is added.
    columns : tuple of str
        The measures shown, in order; `BUCKETS` and `PERIODS` stand for the result's own. If empty, those of the
        analysis, in its order.
    without : tuple of str
        Measures of the analysis that are not shown if `columns` is empty.
    optional : tuple of str
        Those of `columns` that only some results have; one column at least must be there. Of several rows that all
        lack it, such a column is not shown.
    brief : tuple of str
        Those of `columns` that a page in portrait has room for; all of them if empty.
    keys : tuple of str
        The columns that identify a row of a result that has the first of them; others are identified by what they
        are grouped by.
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
    cents: bool = False
    adds_up: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartSpec:
    """
    The chart that `billframes.plots` draws of a result.

    Parameters
    ----------
    kind : {"bars", "stacks", "points", "ages", "running_share", "waterfall"}
        The function of `billframes.plots.drawing` that draws it.
    title : str
        What is shown; what the rows are by is added.
    columns : tuple of str
        The measures drawn; empty for the result's own buckets of days. The legend calls them by their titles.
    legend : mapping of str to str
        Other names in the legend, for titles that would mislead without the table around them.
    words : sequence of str
        The text beside each row: the first of these that has a figure, else a dash. `{column}` is the figure in its
        unit, and `{column:axis}` the figure as on the axis.
    shows, more : str
        What is drawn, for the docstring.
    example : mapping of str to list
        Columns of a small result.
    gives : (list of str, str)
        The words and the title of the example's chart.
    unless_zero : tuple of str
        Those of `columns` that are drawn only if the result has some.
    mark : str
        A column drawn as a mark over the bars; empty if there is none.
    darkest_first : bool
        Whether the first part of a stack is the darkest.
    age : tuple of str
        What buckets count: in a result with `current`, and last in one without.
    hidden : str
        A column which, if it is all missing, changes the chart to what `instead` says.
    instead : mapping of str to object
        Other values of these parameters.
    optional : tuple of str
        Those of `columns` that only some results have; one at least must be there.
    ends : tuple of (str, str)
        The measures at both ends of a waterfall; of several pairs, the first that is there.
    """

    kind: ChartKind
    title: str
    columns: tuple[str, ...]
    words: Sequence[str]
    shows: str
    example: Mapping[str, list[Any]]
    gives: tuple[list[str], str]
    more: str = ""
    unless_zero: tuple[str, ...] = ()
    legend: Mapping[str, str] = field(default_factory=dict)
    mark: str = ""
    darkest_first: bool = False
    age: tuple[str, ...] = ()
    hidden: str = ""
    instead: Mapping[str, Any] = field(default_factory=dict)
    optional: tuple[str, ...] = ()
    ends: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class BookArgument:
    """
    What a book passes for an argument that the caller leaves out.

    Parameters
    ----------
    value : callable
        Takes the book and the period's last day, and returns it.
    meaning : str
        What it is, for the method's docstring.
    """

    value: Callable[[Any, Any], Any]
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FromBook:
    """
    How a book calls the analysis.

    A book passes its frames and settings to the arguments of the same name, its period as `start` and `end`, and the
    period's last day as an `as_of` without a default. What differs from that is declared here.

    Parameters
    ----------
    first : str
        The argument that can be passed by position; empty if there is none.
    not_passed : tuple of str
        Arguments that have the name of a frame and are left to the caller.
    needs : callable, optional
        Takes `by` and returns the frames that are passed; all of them by default. A frame that is not passed is not
        loaded.
    defaults : mapping of str to BookArgument
        What is passed for other arguments.
    method : callable, optional
        Takes the book and the method's arguments and does it all, for an analysis that takes no frames.
    note : str
        A sentence for the method's docstring.
    """

    first: str = "by"
    not_passed: tuple[str, ...] = ()
    needs: Callable[[Any], Collection[str]] | None = None
    defaults: Mapping[str, BookArgument] = field(default_factory=dict)
    method: Callable[..., Any] | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsSpec:
    """
    The records behind a figure.

    The same analysis, grouped by one record more, gives the part of each record, so the records add up to the figure.

    Parameters
    ----------
    frames : tuple of str
        The frames that the records are in.
    counted : str
        The measure that the records add up to.
    date : str
        The records' date column; the newest records are listed first.
    shown : tuple of str
        The columns listed of each record, the most important first. Measures of the analysis among them are the
        record's part in the figure.
    """

    frames: tuple[str, ...]
    counted: str
    date: str
    shown: tuple[str, ...]

    @property
    def key(self) -> str:
        """The column that identifies a record, as a key of the analysis."""
        return IDS[self.frames[0]] if len(self.frames) == 1 else ITEM_ID


@dataclass(frozen=True, slots=True, kw_only=True)
class TabSpec:
    """
    The tab of the explorer that shows the analysis.

    Its columns are those of the table, its chart and the rows behind a bar are those of the analysis, and so is what
    it says of what counts and what is left out.

    Parameters
    ----------
    place : int
        Tabs are in the order of this number.
    title : str
        Also the heading in the overview.
    tiles : tuple of str
        The measures of the total that are shown large.
    order : str
        The measure by which rows are sorted, largest first; a column of time keeps its order.
    by : tuple of str
        What the rows can be grouped by, the first of them first; empty if the analysis has no `by`.
    filters : {"items", "marked_items", "marked_matters", "rows"}
        What filters select. "items": the entries, expenses and fees that pass, before they are added up.
        "marked_items" and "marked_matters": the same after the amounts of invoices are spread, by entry, or by matter
        and person. "rows": rows of the result, by the client, matter and people that they name.
    compared : tuple of str
        Those of `tiles` that are compared with the period before. Figures that go on changing after their period,
        and balances, which have no history, are not.
    in_overview : bool
        Whether the overview shows the tiles and a chart.
    note : str
        A sentence about what filters mean here.
    """

    place: int
    title: str
    tiles: tuple[str, ...]
    order: str
    by: tuple[str, ...] = ()
    filters: Literal["items", "marked_items", "marked_matters", "rows"] = "rows"
    compared: tuple[str, ...] = ()
    in_overview: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Analysis(Explanation):
    """
    One analysis.

    Declared as `ANALYSIS` in the module that has the function; module and function have its name. It shows itself as
    its explanation, which are the parameters that are not listed here.

    Parameters
    ----------
    columns : tuple of Measure
        The measures of the result in order, without the keys. What several analyses have is declared in `metrics`;
        an analysis in which such a column counts something else gives it its own title (`renamed`).
    table : TableSpec, optional
    chart : ChartSpec, optional
    records : RecordsSpec, optional
    tab : TabSpec, optional
    book : FromBook
    """

    columns: tuple[Measure, ...]
    table: TableSpec | None = None
    chart: ChartSpec | None = None
    records: RecordsSpec | None = None
    tab: TabSpec | None = None
    book: FromBook = FromBook()

    def __post_init__(self) -> None:
        if self.table is not None and not self.table.columns:
            shown = tuple(each.name for each in self.columns if each.name not in self.table.without)
            # A frozen dataclass is set like this while it is made.
            object.__setattr__(self, "table", replace(self.table, columns=shown))
        kinds = get_args(ChartKind)
        if self.chart is not None and self.chart.kind not in kinds:
            raise ParameterError(
                f"The analysis {self.name!r} declares a chart of the kind {self.chart.kind!r}; "
                f"a chart is one of {', '.join(map(repr, kinds))}.{closest(self.chart.kind, kinds)}"
            )

    @property
    def function(self) -> Callable[..., Any]:
        """The function of this name."""
        function: Callable[..., Any] = getattr(importlib.import_module(f"{__package__}.{self.name}"), self.name)
        return function

    def measure(self, name: str) -> Measure | None:
        """Look a column of its results up, with the title that it has in this analysis; None if it is a key."""
        return next((each for each in self.columns if each.name == name), None) or measure(name)

    @property
    def takes(self) -> frozenset[str]:
        """The names of the function's arguments."""
        return frozenset(inspect.signature(self.function).parameters)


@functools.cache
def analyses() -> dict[str, Analysis]:
    """Find all analyses, in alphabetical order: the modules here that declare one."""
    package = importlib.import_module(__package__)
    names = sorted(each.name for each in pkgutil.iter_modules(package.__path__) if not each.name.startswith("_"))
    modules = [importlib.import_module(f"{__package__}.{name}") for name in names]
    return {each.ANALYSIS.name: each.ANALYSIS for each in modules if hasattr(each, "ANALYSIS")}


@functools.cache
def analyses_of_period(name: str) -> tuple[str, ...]:
    """
    Name the analyses of a period that have a measure, the most usual first; others are those of one day.

    Examples
    --------
    >>> analyses_of_period("billed_amount")[0], analyses_of_period("overdue")
    ('realization', ())
    """
    # A scorecard has open amounts too, which are of one day.
    dated = [each for each in analyses().values() if each.name != "scorecard" and "start" in each.takes]
    found = [each.name for each in dated if any(column.name == name for column in each.columns)]
    return tuple(sorted(found, key=lambda each: (each not in ("realization", "utilization"), each)))


@functools.cache
def measures() -> dict[str, Measure]:
    """Collect the measures of all results, by their column."""
    own = {
        column.name: column
        for each in analyses().values()
        for column in each.columns
        if not bucket_measure(column.name)
    }
    return own | SHARED


def measure(name: str) -> Measure | None:
    """
    Look a result's column up; None if it is a key and not a measure.

    Examples
    --------
    >>> measure("31-60").title, measure("client_hours").unit
    ('31–60 days', 'hours')
    >>> measure("client_name")
    """
    return (bucket_measure(name) or period_measure(name) or measures().get(name)) if isinstance(name, str) else None
