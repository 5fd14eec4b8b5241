"""Show the results of an analysis as the table that the analysis declares, made with great-tables."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from billframes._shared.format import format_value, short_date
from billframes._shared.notes import FACTS
from billframes._shared.suggestions import suggest_method_arguments
from billframes.analysis.declare.lookup import analyses, measure, path_of, result_to_pass
from billframes.analysis.declare.metrics import BUCKET, PERIOD, PRICED, Measure, title_of_key
from billframes.analysis.declare.spec import BUCKETS, PERIODS, TableSpec
from billframes.analysis.results.figure_names import FIGURES, figure_columns, read_figures
from billframes.analysis.results.figures_side_by_side import TOTAL
from billframes.analysis.results.result_rows import ResultRows, present_columns, read_result, total_of
from billframes.errors import ConfigError, ParameterError
from billframes.loading.load_info import attached

if TYPE_CHECKING:
    from great_tables import GT

# Texts up to this length, such as dates and invoice numbers, are not broken at their hyphens.
SHORT = 12
# A column with longer texts has a minimum width, also on a phone.
LONG = 30
_A_CENT = 0.01


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TableOf(TableSpec):
    """The formatted table of one analysis; call it with a result. Other parameters are those of `TableSpec`."""

    analysis: str

    @property
    def _spoken_name(self) -> str:
        return self.analysis

    def _instead(self, argument: str) -> str:
        return result_to_pass(self.analysis, argument)

    def __repr__(self) -> str:
        return f"<billframes table {self.analysis}>"

    def __call__(self, result: Any, *, total: Any = None, title: str | None = None, currency: str = "") -> GT:
        """
        Show a result as a formatted table.

        Money has thousands separators, hours and percentages have one decimal, and missing values are dashes. Several
        rows have their total below: sums, and ratios of sums. A figure that can't be calculated from the rows, such as
        a median, is a dash there. Text is escaped.

        Parameters
        ----------
        result : frame
            A result of the analysis of this name, of any engine.
        total : frame or False, optional
            The total, as one row: the result of the same analysis with `by=None`, which has every figure. False shows
            no total.
        title : str, optional
            Another title.
        currency : str
            The currency to show below the title; results do not have it.

        Returns
        -------
        great_tables.GT
            Notebooks show it as a table; `.as_raw_html()` is its HTML, and its methods change it. Its id is always the
            same, so that running a notebook again gives the same output.

        Raises
        ------
        ConfigError
            great-tables is not installed.
        MissingColumnError, ParameterError
            The frame is not a result of the analysis, the same group is in two rows of it, a row is the total of the
            others, or `total` is not one row.
        """
        rows = self._read(result)
        own = self._keys_of(rows.frame)
        keys = own or rows.keys
        below = self._total(rows.frame, total)
        shown = [each for each in self.measures(rows.frame) if self._is_known(each.name, rows.frame, below)]
        in_currency = f"Amounts in {currency}." if currency and any(each.unit in PRICED for each in shown) else ""
        facts = [str(each["plain"]) for each in attached(result, FACTS) or ()]
        in_currency = in_currency if facts else in_currency.removesuffix(".")
        return great_table(
            _cells(rows, keys, shown, below),
            id=f"billframes-{self.analysis.replace('_', '-')}",
            title=title or (self.title if own else rows.full_title(self.title)),
            headings={name: title_of_key(name).capitalize() for name in keys}
            | {each.name: each.title for each in shown},
            units={each.name: "cents" if self.cents and each.unit == "money" else each.unit for each in shown},
            note=self.definition,
            has_total=below is not None,
            subtitle=" ".join(filter(None, [in_currency, *facts])),
        )

    @property
    def definition(self) -> str:
        """The formula of the analysis, with the titles of columns instead of their names."""
        analysis = analyses()[self.analysis]
        return with_titles(analysis.formula, lambda name: measure(name, analysis))

    def _read(self, result: Any) -> ResultRows:
        needs = [name for name in self.columns if name not in {BUCKETS, PERIODS, *self.optional}]
        # If all columns are optional, a result has at least one of them.
        needs = needs or present_columns(result, self.optional)
        return read_result(result, needs, self.analysis, "table")

    def _keys_of(self, frame: pd.DataFrame) -> list[str]:
        """Return the declared keys that a result has; an empty list if it lacks the first of them."""
        there = [name for name in self.keys if name in frame.columns]
        return there if there[:1] == list(self.keys[:1]) else []

    def measures(self, frame: pd.DataFrame) -> list[Measure]:
        """Return the measures shown of a result, in order."""
        buckets = [name for name in map(str, frame.columns) if BUCKET.fullmatch(name)]
        periods = [name for name in map(str, frame.columns) if PERIOD.fullmatch(name)]
        own = {BUCKETS: buckets, PERIODS: periods}
        names = [each for name in self.columns for each in own.get(name, [name])]
        words = analyses()[self.analysis]
        return [found for name in names if name in frame.columns and (found := measure(name, words))]

    def page_columns(self, frame: pd.DataFrame) -> list[str]:
        """Return the columns shown of a result for which a page in portrait has room."""
        shown = [each.name for each in self.measures(frame)]
        shown = [name for name in shown if name not in self.if_any or frame[name].fillna(0).ne(0).any()]
        buckets = [name for name in shown if BUCKET.fullmatch(name)]
        brief = [each for name in self.brief for each in (buckets if name == BUCKETS else [name])]
        return [name for name in shown if not brief or name in brief]

    def _is_known(self, name: str, frame: pd.DataFrame, below: dict[str, Any] | None) -> bool:
        """Return whether a column is shown: an optional column without any figure is not."""
        known = frame[name].notna().any() or pd.notna((below or {}).get(name))
        return bool(known) or len(frame) < 2 or name not in self.optional

    def _total(self, frame: pd.DataFrame, total: Any) -> dict[str, Any] | None:
        if total is False:
            return None
        if total is None:
            return dict(total_of(frame)) if self.adds_up and len(frame) > 1 else None
        given = self._read(total).frame
        if len(given) != 1:
            raise ParameterError(
                f"total has {len(given)} rows; it takes the one row of {path_of(self.analysis)} with by=None."
            )
        return {str(name): value for name, value in given.iloc[0].items()}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FiguresTable(TableOf):
    """The table of a result of `billframes.figures`."""

    def __call__(self, result: Any, *, total: Any = None, title: str | None = None, currency: str = "") -> GT:
        """Show a result as `TableOf` does. By default, the total is that of the call that calculated the result."""
        if total is None:
            total = _known_total(result)
        return TableOf.__call__(self, result, total=total, title=title, currency=currency)

    @property
    def definition(self) -> str:
        """Which days count."""
        return (
            "Each figure is that of its own analysis: hours by the day of the work, fees by the day of the invoice, "
            "balances at the end of the period."
        )

    def _read(self, result: Any) -> ResultRows:
        rows, found = read_figures(result, "table")
        rows.frame.attrs[FIGURES] = [*found]
        return rows

    def measures(self, frame: pd.DataFrame) -> list[Measure]:
        """Return the figures of a result, in order."""
        return [*figure_columns(frame.columns, frame.attrs[FIGURES]).values()]


class _DocOfTable:
    """The docstring of a table: that of its call, with the analysis whose results it shows."""

    def __init__(self, about: str | None) -> None:
        self._about = about

    def __get__(self, table: TableOf | None, _owner: type[Any]) -> str | None:
        if table is None:
            return self._about
        _, _, text = (inspect.getdoc(TableOf.__call__) or "").partition("\n")
        return f"Show a result of `{path_of(table.analysis)}` as a formatted table.\n{text}"


# Only at runtime, so that type checkers see the signatures.
if not TYPE_CHECKING:
    for each in (TableOf, FiguresTable):
        each.__call__ = suggest_method_arguments(each.__call__)
        each.__doc__ = _DocOfTable(each.__doc__)


def _known_total(result: Any) -> Any:
    """Return the total that a result remembers as one row; False if it has none, or if its rows were changed."""
    known = attached(result, TOTAL) or {}
    read, found = read_figures(result, "table")
    rows = read.frame
    if len(rows) < 2:
        return False
    sums = {name: rows[name].sum(skipna=each.missing_is_none) for name, each in found.items() if each.adds_up}
    if not known or any(abs((known.get(name) or value) - value) >= _A_CENT for name, value in sums.items()):
        return None
    total = pd.DataFrame([known]).astype("float64")
    total.attrs[FIGURES] = [*found]
    return total


def _cells(rows: ResultRows, keys: list[str], shown: list[Measure], below: dict[str, Any] | None) -> pd.DataFrame:
    names = {key: [_text(value) for value in rows.frame[key]] for key in keys} or {"": rows.labels}
    cells = pd.DataFrame({**names, **{each.name: rows.frame[each.name].astype(object) for each in shown}}, dtype=object)
    if below is not None:
        label = dict.fromkeys(names, "") | {next(iter(names)): "Total"}
        cells.loc[len(cells)] = [*label.values(), *(below.get(each.name) for each in shown)]
    return cells


def _text(value: Any) -> str:
    if pd.isna(value):
        return "–"
    return short_date(value) if isinstance(value, pd.Timestamp) else str(value)


def with_titles(text: str, find_measure: Callable[[str], Measure | None] = measure) -> str:
    """Replace the names of columns in a text by their titles."""

    def heading(name: re.Match[str]) -> str:
        found = find_measure(name[1])
        return found.title.lower() if found else name[1].replace("_", " ")

    return re.sub(r"`([^`]+)`", heading, text)


def great_table(
    cells: pd.DataFrame,
    *,
    id: str,  # noqa: A002
    title: str,
    headings: Mapping[str, str],
    units: Mapping[str, str],
    note: str,
    has_total: bool,
    subtitle: str = "",
) -> GT:
    """
    Build the table from the text columns of the keys, the first of which is the heading of the rows, and the figures.

    Without an `id`, great-tables makes a new one each time. `units` are those of `format_value`.
    """
    first = cells.columns[0]
    table = _table_class()(cells, id=id, rowname_col=first).tab_header(title=title, subtitle=subtitle or None)
    table = table.tab_stubhead(headings.get(first, "")).cols_label(
        {name: heading for name, heading in headings.items() if name != first}
    )
    for name, unit in units.items():
        table = table.fmt(functools.partial(format_value, unit=unit), columns=name)
    names = [name for name in cells.columns if name not in units]
    texts = [name for name, unit in units.items() if unit == "text"]
    figures = [name for name in units if name not in texts]
    table = table.cols_align("right", columns=figures).cols_align("left", columns=[*names, *texts])
    table = table.tab_source_note(note)
    table = table.tab_options(heading_align="left", heading_title_font_weight="bold", data_row_padding="4px")
    short = [name for name in names if cells[name].str.len().max() <= SHORT]
    spaced = [name for name in figures if units[name] in {"date", "points"}]
    table = _with_css(table, first, [*short, *spaced], "white-space: nowrap;")
    long = [name for name in texts if (cells[name].str.len() > LONG).any()]
    table = _with_css(table, first, long, "min-width: 15em;")
    return _with_total(table, len(cells) - 1) if has_total else table


def _table_class() -> type[GT]:
    try:
        from great_tables import GT
    except ImportError as error:
        raise ConfigError(
            "Tables are made with great-tables, which is not installed: pip install great-tables."
        ) from error

    class TitledTable(GT):
        """A table whose repr is its title; that of great-tables lists all parts, with their addresses in memory."""

        def __repr__(self) -> str:
            return f"<table: {self._heading.title}>"

    return TitledTable


def _with_css(table: GT, stub: str, columns: list[str], css: str) -> GT:
    from great_tables import loc, style

    body = [name for name in columns if name != stub]
    places = [*([loc.stub()] if stub in columns else []), *([loc.body(columns=body)] if body else [])]
    return table.tab_style(style.css(css), places) if places else table


def _with_total(table: GT, row: int) -> GT:
    from great_tables import loc, style

    bold, line = style.text(weight="bold"), style.borders(sides="top", color="#222222", weight="1.5px")
    return table.tab_style([bold, line], [loc.body(rows=[row]), loc.stub(rows=[row])])
