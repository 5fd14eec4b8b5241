"""Make the functions that draw the results of analyses from the charts that they declare, and figures of several."""

from __future__ import annotations

import dataclasses
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import FunctionType
from typing import Any, Protocol, cast

import pandas as pd
from matplotlib.axes import Axes

from billframes._shared.format import MISSING, format_number, long_date
from billframes._shared.names import join_names, type_in_words
from billframes._shared.suggestions import suggest_arguments
from billframes.analysis.data.data_span import days_in_words
from billframes.analysis.declare.lookup import analyses, measure, path_of, result_to_pass
from billframes.analysis.declare.metrics import Measure
from billframes.analysis.declare.spec import ChartSpec
from billframes.analysis.results.figure_names import read_figures
from billframes.analysis.results.result_rows import ResultRows, present_columns, read_result, total_of
from billframes.errors import MissingColumnError, ParameterError
from billframes.plots.axes import format_hours, format_money, format_percent
from billframes.plots.drawing import KINDS, ChartData, axis_title
from billframes.plots.order import arranged, bucket_columns, fitting, without_longest_others

_FIELD = re.compile(r"\{(\w+)(:axis)?\}")
_AXES = {
    "money": format_money,
    "rate": format_money,
    "hours": format_hours,
    "days": format_hours,
    "ratio": format_percent,
    "points": format_percent,
}
_DOC = """
    Draw a result of `billframes.analysis.{analysis}`: {shows}

{more}

    The title has the days of the result. The largest row is first unless rows are periods; of more than 20 rows, the
    smallest are added up.

    Parameters
    ----------
    result : frame
        With {needs}; of any engine.
    ax : Axes, optional
        The axes to draw on. By default a new figure, which pyplot does not manage.
    currency : str
        The currency to show in the title of a chart of money; results do not have it.

    Returns
    -------
    Axes
        Its figure is `ax.figure`: `bf.plots.{analysis}(book.{analysis}()).figure.savefig("{analysis}.png")`.

    Raises
    ------
    MissingColumnError
        The frame is not a result of `{analysis}`.
    ParameterError
        The same group is in two rows, or a row is the total of the others.
    """

# Of a chart of figures.
_MOST_BARS, _LONGEST_TITLE = 3, 70


class Plot(Protocol):
    """A function that draws a result."""

    __name__: str

    def __call__(self, result: Any, ax: Axes | None = None, *, currency: str = "") -> Axes:
        """Draw a result on `ax`, or on new axes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart(ChartSpec):
    """
    The chart of one analysis.

    Parameters
    ----------
    analysis : str
        The name of the analysis. The other parameters are those of `ChartSpec`.
    measures : mapping of str to Measure
        The measures of columns that are not declared, such as those of spans of days.
    """

    analysis: str
    measures: Mapping[str, Measure] = dataclasses.field(default_factory=dict)

    @property
    def needs(self) -> list[str]:
        """Return the columns that a result must have."""
        words = [found[1] for text in self.words for found in _FIELD.finditer(text)]
        more = dataclasses.replace(self, **self.instead, hidden="", instead={}).needs if self.instead else []
        names = [*filter(None, [self.mark]), *self.columns, *self.span, *words, *more]
        return [name for name in dict.fromkeys(names) if name not in self.optional]

    @property
    def doc(self) -> str:
        """Return the docstring of the function that draws."""
        needs = self.needs or self.columns[:2]
        names = [f"`{name}`" for name in needs]
        buckets = [] if self.columns else ["the buckets (`0-30`, `31-60`, …)"]
        return _DOC.format(
            analysis=self.analysis,
            shows=self.shows,
            more=textwrap.indent(textwrap.fill(self.more, 112), "    "),
            needs=join_names([*buckets, *names]),
        )

    @property
    def function(self) -> Plot:
        """Return the public function."""

        def plot(result: Any, ax: Axes | None = None, *, currency: str = "") -> Axes:
            return self.draw(result, ax, currency)

        plot.__name__ = plot.__qualname__ = self.analysis
        plot.__module__, plot.__doc__ = "billframes.plots", self.doc
        instead = partial(result_to_pass, self.analysis)
        return suggest_arguments(cast("FunctionType", plot), plot.__module__, instead)

    def draw(self, result: Any, ax: Axes | None, currency: str = "") -> Axes:
        """Draw a result."""
        if ax is not None and not isinstance(ax, Axes):
            raise ParameterError(f"ax is {type_in_words(ax)}; it takes one Axes, such as plt.subplots()[1].")
        needs = self.needs or present_columns(result, self.optional)
        rows = read_result(result, needs, self.analysis)
        buckets = self._buckets(rows.frame)
        drawn = dict.fromkeys([*needs, *buckets, *(name for name in self.optional if name in rows.frame)])
        numbers = {name: rows.frame[name].astype("float64") for name in drawn}
        rows = dataclasses.replace(rows, frame=rows.frame.assign(**numbers))
        declared = fitting(self, rows.frame)
        shown = arranged(declared, rows, self.measures)
        data = declared._data(shown, buckets)
        if len(shown.frame) < len(rows.frame):
            data = dataclasses.replace(data, rows=without_longest_others(declared, shown))
        money = currency if data.unit is format_money else ""
        scope = ", ".join(filter(None, [_days(result, rows.frame), money]))
        return KINDS[self.kind](dataclasses.replace(data, scope=scope), ax)

    def _data(self, rows: ResultRows, buckets: Mapping[str, str]) -> ChartData:
        columns = buckets or {
            name: self._title(name)
            for name in self._of_one_unit(rows.frame)
            if name not in self.unless_zero or rows.frame[name].fillna(0.0).any()
        }
        kind = self._unit(next(iter(columns)))
        unit, axis = _AXES[kind], axis_title(kind)
        words = [self._words(row, unit) for row in rows.frame.to_dict("records")]
        age = self.age and self.age[0 if "current" in buckets else -1]
        ends = self._ends(rows.frame)
        mark = (self.mark, self._title(self.mark)) if self.mark else None
        data = ChartData(rows, columns, words, self.title, unit, mark, self.darkest_first, age or "", axis, ends)
        return dataclasses.replace(data, span=self.span)

    def _title(self, name: str) -> str:
        """Return the name of a column in the legend: its title in the table, unless the chart declares another name."""
        found = self.measures.get(name) or measure(name, analyses().get(self.analysis))
        return self.legend.get(name) or (found.title if found else name)

    def _of_one_unit(self, frame: pd.DataFrame) -> list[str]:
        """Return the columns that the result has, except those with another unit than the first."""
        if not self.optional:
            return list(self.columns)
        there = [name for name in self.columns if name in frame]
        return [name for name in there if self._unit(name) == self._unit(there[0])]

    def _ends(self, frame: pd.DataFrame) -> tuple[float, float] | None:
        totals = total_of(frame) if self.ends else {}
        found = [(totals[first], totals[last]) for first, last in self.ends if {first, last} <= totals.keys()]
        return found[0] if found else None

    def _buckets(self, frame: pd.DataFrame) -> dict[str, str]:
        if self.columns:
            return {}
        names = bucket_columns(frame)
        if not names:
            raise MissingColumnError(
                "The chart needs columns of days such as '31-60', which the frame does not have; pass a result of "
                f"{path_of(self.analysis)}. It has: {', '.join(map(str, frame.columns))}."
            )
        return {name: found.title if (found := measure(name)) else name for name in names}

    def _words(self, row: Mapping[Any, Any], unit: Callable[[float], str]) -> str:
        def figure(found: re.Match[str]) -> str:
            value = row[found[1]]
            return unit(value) if found[2] else format_number(value, self._unit(found[1]))

        def fits(text: str) -> bool:
            names = [each[1] for each in _FIELD.finditer(text)]
            return set(names) <= row.keys() and any(pd.notna(row[name]) for name in names)

        text = next(filter(fits, self.words), None)
        return _FIELD.sub(figure, text) if text else MISSING

    def _unit(self, column: str) -> str:
        found = self.measures.get(column) or measure(column)
        return found.unit if found else "count"


def _days(result: Any, frame: pd.DataFrame) -> str:
    """Return the days of a result in words; lock-up has its day as a column."""
    of_rows = set(frame.select_dtypes("datetime").get("as_of", ()))
    return days_in_words(result) or (long_date(min(of_rows)) if len(of_rows) == 1 else "")


def figures(result: Any, ax: Axes | None = None, *, currency: str = "") -> Axes:
    """
    Draw a result of `billframes.figures`: the first figure, and up to two others of its unit, as bars.

    The text beside a row is its first ratio, or else the first figure.

    Parameters
    ----------
    result : frame
        With a column of a figure; of any engine.
    ax : Axes, optional
        The axes to draw on. By default a new figure, which pyplot does not manage.
    currency : str
        The currency to show in the title of a chart of money; results do not have it.

    Returns
    -------
    Axes
        Its figure is `ax.figure`.

    Raises
    ------
    MissingColumnError
        The frame has no figures.
    ParameterError
        The same group is in two rows, or a row is the total of the others.

    Examples
    --------
    >>> import pandas as pd
    >>> result = pd.DataFrame({"user_name": ["Ada"], "billed_amount": [900.0], "billing_realization": [0.9]})
    >>> ax = figures(result)
    >>> [text.get_text() for text in ax.texts], ax.get_title(loc="left")
    (['90.0%'], 'Fees billed and billing realization by timekeeper')
    """
    found = read_figures(result, "chart")[1]
    units = {name: each.unit for name, each in found.items()}
    first = next(iter(units))
    of_unit = [name for name, unit in units.items() if unit == units[first] and "_since_" not in name]
    earlier = [name for name in of_unit[1:] if name.startswith(f"{first}_")]
    bars = [first, *(earlier or of_unit[1:])][:_MOST_BARS]
    text = next((name for name, unit in units.items() if unit == "ratio"), first)
    named = [first, text] if earlier else [*bars, text]
    titles = [found[name].title for name in dict.fromkeys(named)]
    words = join_names([titles[0], *(each[:1].lower() + each[1:] for each in titles[1:])])
    chart = Chart(
        analysis="figures",
        kind="bars",
        title=words if len(words) < _LONGEST_TITLE else "Figures",
        columns=tuple(bars),
        words=[f"{{{text}}}"],
        shows="",
        measures=found,
    )
    return chart.draw(result, ax, currency)
