"""What a chart shows: declared for each analysis, drawn by one function for all."""

from __future__ import annotations

import dataclasses
import pprint
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import pandas as pd
from matplotlib.axes import Axes

from billframes._show import MISSING, show
from billframes.analysis._result import Rows, rows_of
from billframes.analysis.metrics import BUCKET, measure
from billframes.errors import MissingColumnError
from billframes.plots._axes import hours, money
from billframes.plots._drawing import Drawn, Kind

__all__ = ["Chart", "Plot"]

_FIELD = re.compile(r"\{(\w+)(:axis)?\}")
_AXES = {"money": money, "rate": money, "hours": hours, "days": hours}
_DOC = """
    Draw a result of `billframes.{analysis}`: {shows}

{more}

    Parameters
    ----------
    result : frame
        With {needs}; of any engine.
    ax : Axes, optional
        Where to draw; a new figure, outside pyplot, if it is not given.

    Returns
    -------
    Axes
        Its figure is `ax.figure`: `bf.plots.{analysis}(result).figure.savefig("{analysis}.png")`.

    Raises
    ------
    MissingColumnError
        The frame is no result of `{analysis}`.

    Examples
    --------
    >>> import pandas as pd
    >>> result = pd.DataFrame({example})
    >>> ax = {analysis}(result)
    >>> [text.get_text() for text in ax.texts]
    {words!r}
    >>> ax.get_title(loc="left")
    {title!r}
    """


class Plot(Protocol):
    """Draws a result, on axes given or on new ones."""

    __name__: str

    def __call__(self, result: Any, ax: Axes | None = None) -> Axes: ...


@dataclass(frozen=True, slots=True)
class Chart:
    """
    The chart of one analysis.

    Parameters
    ----------
    analysis : str
        Whose results it shows.
    kind : callable
        How it is drawn, one of `billframes.plots._drawing`.
    title : str
        What is shown; what the rows are by is added.
    columns : mapping of str to str
        The measures drawn and what the legend calls them; empty for the result's own buckets of days.
    words : sequence of str
        What stands at each row: the first that has a figure, else a dash. `{column}` is the figure in its unit, with
        `:axis` as on the axis.
    shows, more : str
        What is drawn, for the docstring.
    example : mapping of str to list
        Columns of a small result.
    gives : (list of str, str)
        The words and the title of the example's chart.
    where_any : tuple of str
        Those of `columns` that are drawn only if the result has some.
    mark, darkest_first
        As for `Drawn`.
    age : tuple of str
        What buckets count: in a result with `current`, and last in one without.
    hidden : str
        A column which, if it is all missing, changes the chart to what `instead` says.
    instead : mapping of str to object
        Other values of these parameters.
    """

    analysis: str
    kind: Kind
    title: str
    columns: Mapping[str, str]
    words: Sequence[str]
    shows: str
    example: Mapping[str, list[Any]]
    gives: tuple[list[str], str]
    more: str = ""
    where_any: tuple[str, ...] = ()
    mark: tuple[str, str] | None = None
    darkest_first: bool = False
    age: tuple[str, ...] = ()
    hidden: str = ""
    instead: Mapping[str, Any] = field(default_factory=dict)

    @property
    def needs(self) -> list[str]:
        """Return the columns that a result must have."""
        words = [found[1] for text in self.words for found in _FIELD.finditer(text)]
        more = dataclasses.replace(self, **self.instead, hidden="", instead={}).needs if self.instead else []
        return list(dict.fromkeys([*(self.mark or ())[:1], *self.columns, *words, *more]))

    @property
    def doc(self) -> str:
        """Return the docstring of the function that draws."""
        names = [f"`{name}`" for name in self.needs]
        buckets = [] if self.columns else ["the buckets (`0-30`, `31-60`, …)"]
        *first, last = [*buckets, *names]
        return _DOC.format(
            analysis=self.analysis,
            shows=self.shows,
            more=textwrap.indent(textwrap.fill(self.more, 112), "    "),
            needs=f"{', '.join(first)} and {last}",
            example=pprint.pformat(self.example, width=76, sort_dicts=False).replace("\n", "\n    ...            "),
            words=self.gives[0],
            title=self.gives[1],
        )

    @property
    def function(self) -> Plot:
        """Return the public function."""

        def plot(result: Any, ax: Axes | None = None) -> Axes:
            return self.draw(result, ax)

        plot.__name__ = plot.__qualname__ = self.analysis
        plot.__module__, plot.__doc__ = "billframes.plots", self.doc
        return plot

    def draw(self, result: Any, ax: Axes | None) -> Axes:
        """Draw a result."""
        rows = rows_of(result, self.needs, self.analysis)
        buckets = self._buckets(rows.frame)
        numbers = {name: rows.frame[name].astype("float64") for name in [*self.needs, *buckets]}
        rows = dataclasses.replace(rows, frame=rows.frame.assign(**numbers))
        hides = self.hidden and not rows.frame[self.hidden].notna().any()
        told = dataclasses.replace(self, **self.instead) if hides else self
        return self.kind(told._drawn(rows, buckets), ax)

    def _drawn(self, rows: Rows, buckets: Mapping[str, str]) -> Drawn:
        columns = buckets or {
            name: title
            for name, title in self.columns.items()
            if name not in self.where_any or rows.frame[name].fillna(0.0).any()
        }
        unit = _AXES[_unit(next(iter(columns)))]
        words = [self._words(row, unit) for row in rows.frame.to_dict("records")]
        age = self.age and self.age[0 if "current" in buckets else -1]
        return Drawn(rows, columns, words, self.title, unit, self.mark, self.darkest_first, age or "")

    def _buckets(self, frame: pd.DataFrame) -> dict[str, str]:
        if self.columns:
            return {}
        names = [name for name in map(str, frame.columns) if name == "current" or BUCKET.fullmatch(name)]
        if not names:
            raise MissingColumnError(
                "The chart needs columns of days such as '31-60', which the frame does not have; pass a result of "
                f"billframes.{self.analysis}(). It has: {', '.join(map(str, frame.columns))}."
            )
        return {name: found.title if (found := measure(name)) else name for name in names}

    def _words(self, row: Mapping[Any, Any], unit: Callable[[float], str]) -> str:
        def figure(found: re.Match[str]) -> str:
            value = row[found[1]]
            return unit(value) if found[2] else show(value, _unit(found[1]))

        told = (text for text in self.words if any(row[each[1]] == row[each[1]] for each in _FIELD.finditer(text)))
        text = next(told, None)
        return _FIELD.sub(figure, text) if text else MISSING


def _unit(column: str) -> str:
    found = measure(column)
    return found.unit if found else "count"
