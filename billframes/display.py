"""Show a frame for people, and export it as it is shown: titles, names and figures first, ids last, numbers formatted.

A loaded frame has its columns in a fixed order, so that code can rely on it; the first ones are ids. `show` and
`export` change only the display: the frame, its columns and its values stay as they are.
"""

from __future__ import annotations

import datetime as dt
import functools
import re
import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from html import escape
from itertools import accumulate, takewhile
from pathlib import Path
from typing import Any, cast

import narwhals.stable.v2 as nw
import pandas as pd

from billframes._shared.export import NUMBER_FORMATS, check_output, mark_missing, to_csv, to_excel, write
from billframes._shared.format import MISSING, format_number, label_of
from billframes.analysis.data.distinct_names import DistinctNames
from billframes.analysis.data.engine import collect
from billframes.analysis.data.native import without_attrs, wrap_frame
from billframes.analysis.declare.key_words import TIMES
from billframes.analysis.declare.lookup import analyses, heading_of, measure
from billframes.analysis.declare.metrics import Measure, title_of_key
from billframes.analysis.results.figure_names import FIGURES, figure_columns
from billframes.errors import ParameterError
from billframes.loading.load_info import ANALYSIS
from billframes.schema.resources import RESOURCES
from billframes.schema.sources import sources_of

__all__ = ["ShownFrame", "export", "exported", "show", "shown_heading"]

# The format of numbers, by the unit of an analysis's column or the kind of a record's column.
_FORMS = {"money": "cents", "rate": "cents", "hours": "multiple"}
# The units of your own columns, by the last word of their names.
_UNITS_BY_WORD = {"amount": "money", "balance": "money", "hours": "hours", "rate": "rate", "ratio": "ratio"}
_FIGURES = ("money", "rate", "hours", "cents", "ratio", "points", "multiple", "days", "count")
_OWN_NAMES = ("name", "label")
# Parts of people's names, and names of companies, are shown among the details.
_PARTS = ("first_name", "middle_name", "last_name", "company_name")
_OWN_NAME, _DATE, _NAME, _FIGURE, _OTHER, _INSTANT, _ID = range(7)
# The columns in a template of a chart's text.
_IN_WORDS = re.compile(r"\{(\w+)")
# Characters of a text in a terminal, from a wide one to a narrow one.
_WIDEST = 50
_WIDTHS = (_WIDEST, 30, 20)


class ShownFrame:
    """A frame as `show` displays it, in a notebook and in a terminal."""

    def __init__(
        self, texts: pd.DataFrame, numbers: set[str], rows: int | None, frame: Any, main: Sequence[str] = ()
    ) -> None:
        self._texts, self._numbers, self._rows, self._frame, self._main = texts, numbers, rows, frame, main

    @property
    def columns(self) -> list[str]:
        """The columns in the order shown."""
        return list(self._texts.columns)

    @property
    def _note(self) -> str:
        shown = len(self._texts)
        every = f"{self._rows or shown:,} row{'' if (self._rows or shown) == 1 else 's'}"
        if self._rows is None:
            return f"{every}; there may be more"
        return every if shown == self._rows else f"the first {shown:,} of {every}"

    def __repr__(self) -> str:
        # Texts are shorter if so more columns fit.
        fit, widest = max(((self._that_fit(widest), widest) for widest in _WIDTHS), key=lambda each: len(each[0]))
        texts = self._texts[fit].set_axis([*map(shown_heading, fit)], axis="columns")
        hidden = [shown_heading(name) for name in self.columns if name not in fit]
        note = self._note
        if hidden:
            note += f"; {len(hidden)} more column{'s' * (len(hidden) > 1)}"
            most = max(_terminal_width(), len(note) + 3)
            # Titles stay whole.
            titles = ", ".join(hidden).replace(" ", "\xa0").replace(",\xa0", ", ")
            [note] = textwrap.wrap(
                f"{note}: {titles}", most, max_lines=1, placeholder=" …", break_long_words=False, break_on_hyphens=False
            )
            note = note.replace("\xa0", " ")
        return f"{texts.to_string(index=False, max_colwidth=widest)}\n{note}"

    def _that_fit(self, widest: int) -> list[str]:
        """Return the columns that the terminal shows side by side, at least one: keys, main figures, then others."""
        keys = list(takewhile(lambda name: name not in self._numbers, self.columns))
        ranked = list(dict.fromkeys([*keys, *self._main, *self.columns]))
        lengths = (
            max(len(shown_heading(name)), *(min(len(text), widest) for text in self._texts[name]), 0) for name in ranked
        )
        fit = sum(end <= _terminal_width() for end in accumulate(lengths, lambda end, length: end + 1 + length))
        chosen = ranked[: max(fit, 1)]
        return [name for name in self.columns if name in chosen]

    def to_html(self) -> str:
        """Return the rows shown as HTML."""
        return self._repr_html_()

    def to_excel(self, path: str | Path) -> None:
        """Write all rows of the frame to an Excel file, as `export` does."""
        _write(self._frame, path, [".xlsx"])

    def to_csv(self, path: str | Path, *, decimal: str = ".", delimiter: str = ",") -> None:
        """Write all rows of the frame to a CSV file, as `export` does."""
        _write(self._frame, path, [".csv"], decimal=decimal, delimiter=delimiter)

    def _repr_html_(self) -> str:
        heads = "".join(
            f'<th{self._style(name)} title="{escape(name)}">{escape(shown_heading(name))}</th>' for name in self.columns
        )
        rows = "".join(f"<tr>{''.join(self._cells(row))}</tr>" for row in self._texts.itertuples(index=False))
        return (
            f'<div style="overflow-x: auto"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'
            f"</div><p>{self._note}</p>"
        )

    def _cells(self, row: tuple[str, ...]) -> Iterator[str]:
        for name, text in zip(self.columns, row, strict=True):
            yield f"<td{self._style(name, text)}>{escape(text)}</td>"

    def _style(self, name: str, text: str = "") -> str:
        side = "right" if name in self._numbers else "left"
        return f' style="text-align: {side}; {"min-width: 20em" if len(text) > _WIDEST else "white-space: nowrap"}"'


def _terminal_width() -> int:
    return shutil.get_terminal_size((pd.get_option("display.width") or 80, 0)).columns


def show(frame: Any, rows: int = 20) -> ShownFrame:
    """
    Show a frame for people: dates, names, hours and money first, ids last.

    Only the display differs: `frame` keeps its columns, their order and its values. Numbers have separators, money and
    hours two decimals, ratios are in percent, and a missing value is a dash. Clients, matters and people who share a
    name have their reference or e-mail address beside it, as in the report, or else the beginning of their id.

    Parameters
    ----------
    frame : DataFrame
        A pandas, Polars, Arrow, DuckDB or PySpark frame: of a loader, of an analysis, or your own. A pandas index is
        shown if it has a name.
    rows : int, default 20
        The number of rows to show.

    Returns
    -------
    ShownFrame
        Displayed as a table in a notebook, else as text. `columns` lists the columns in the order shown.

    Raises
    ------
    ParameterError
        `frame` is not a frame, or `rows` is not a whole number of at least 0.

    Examples
    --------
    >>> entries = bf.time_entries("2026-10", limit=5)
    >>> bf.show(entries).columns[:6]
    ['date', 'client_name', 'matter_name', 'user_name', 'hours', 'rate']
    >>> bf.show(entries[["hours", "amount"]].head(1))
    Hours Amount
     1.80 315.00
    1 row
    """
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 0:
        raise ParameterError(f"rows={rows!r} is not a number of rows; it takes 0 or more.")
    every, total = _in_pandas(frame, rows, "show")
    few = every.head(rows)
    kinds = _ordered_kinds(few)
    few = DistinctNames(every if total == len(every) else _everyone(frame, every))(few)
    texts = pd.DataFrame({name: _texts(few[name], form) for name, (_, form) in kinds.items()}, dtype="str")
    main = _main_figures(few.attrs.get(ANALYSIS, ""), kinds)
    return ShownFrame(texts, {name for name, (_, form) in kinds.items() if form}, total, frame, main)


def export(frame: Any, path: str | Path, *, decimal: str = ".", delimiter: str = ",", names: bool = False) -> None:
    """
    Write a frame to a file as people see it: columns with their titles in the order of `show`, and rounded numbers.

    All rows are written, without a title and a total, so that other programs can read the file: `bf.tables` and the
    workbook of the report have both. Money, rates and hours have two decimals, and ratios four; an Excel file shows
    ratios in percent. Text that a spreadsheet would run as a formula is marked as text.

    Parameters
    ----------
    frame : DataFrame
        A pandas, Polars, Arrow, DuckDB or PySpark frame: of a loader, of an analysis, or your own.
    path : str or Path
        The file, which ends with .xlsx (needs `billframes[excel]`), .csv or .html. An existing file is replaced.
    decimal : {".", ","}
        The decimal mark of a CSV file.
    delimiter : {",", ";", tab}
        The character between two fields of a CSV file.
    names : bool, default False
        Whether to write the columns' own names and exact values, which `plan` reads back after edits; not for HTML.

    Raises
    ------
    ParameterError
        `frame` is not a frame, or the file can't be written.
    ConfigError
        The Excel writer is not installed.

    Examples
    --------
    >>> import tempfile
    >>> result = pd.DataFrame({"user_name": ["Ada Ruiz"], "billed_amount": [49651.43000000001]})
    >>> result["billing_realization"] = 2 / 3
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bf.export(result, f"{folder}/fees.csv")
    ...     print(Path(f"{folder}/fees.csv").read_text(encoding="utf-8-sig").strip())
    "Timekeeper","Fees billed","Billing realization"
    "Ada Ruiz",49651.43,0.6667
    """
    _write(
        frame,
        path,
        (".xlsx", ".csv", *(() if names else (".html",))),
        names=names,
        decimal=decimal,
        delimiter=delimiter,
    )


def _write(frame: Any, path: str | Path, endings: Sequence[str], **options: Any) -> None:
    out = Path(path).absolute()
    ending = out.suffix.lower()
    if ending not in endings:
        raise ParameterError(f"{out.name!r} must end with {' or '.join(endings)}.")
    check_output(out, "path=")
    rows = _in_pandas(frame, sys.maxsize, "export")[0]
    if ending == ".xlsx":
        options = {"sheet": out.stem, "names": options.get("names", False)}
    write(out, _html(frame, len(rows), out.stem) if ending == ".html" else exported(rows, ending, **options))


def exported(frame: pd.DataFrame, ending: str, *, names: bool = False, **options: Any) -> bytes:
    """Return the content of a file that `export` writes."""
    kinds = _ordered_kinds(frame)
    plain = without_attrs(frame if names else DistinctNames(frame)(frame))[list(kinds)]
    plain = _marked(plain) if names else _as_shown(plain, kinds)
    if ending == ".csv":
        return to_csv(plain, **options)
    forms = {plain.columns[place]: _excel_format(form) for place, (_, form) in enumerate(kinds.values()) if form}
    return to_excel(plain, formats=forms, **options)


def _marked(plain: pd.DataFrame) -> pd.DataFrame:
    """Mark texts that pandas would read as missing values."""
    texts = [name for name in map(str, plain) if pd.api.types.is_string_dtype(plain[name].dtype)]
    return plain.assign(**{name: plain[name].map(mark_missing, na_action="ignore") for name in texts})


def _as_shown(plain: pd.DataFrame, kinds: Mapping[str, tuple[int, str | None]]) -> pd.DataFrame:
    """Round the numbers, and put titles in place of the columns' names, unless two have the same."""
    decimals = {name: _DECIMALS[form] for name, (_, form) in kinds.items() if form in _DECIMALS}
    plain = plain.assign(**{name: _rounded(plain[name], places) for name, places in decimals.items()})
    headings = {name: shown_heading(str(name)) for name in plain.columns}
    shared = {heading for heading, count in Counter(headings.values()).items() if count > 1}
    return plain.rename(columns={name: name if each in shared else each for name, each in headings.items()})


def _ordered_kinds(few: pd.DataFrame) -> dict[str, tuple[int, str | None]]:
    """Return the columns in the order shown, with their places and the formats of their numbers."""
    figures = figure_columns(few.columns, few.attrs.get(FIGURES, ()))
    kinds = {name: _kind(name, few[name], figures.get(name) or measure(name)) for name in few.columns}
    if "date" in kinds:
        # In rows of work and expenses, the columns of their invoice or fixed fee are details.
        details = [name for name in kinds if name.startswith(("invoice_", "fixed_fee_")) and kinds[name][0] < _OTHER]
        kinds |= {name: (_OTHER, kinds[name][1]) for name in details}
    if kinds and kinds[first := few.columns[0]][0] == _OTHER:
        # The first column can be the key of a result, such as the role of people.
        kinds[first] = (_NAME, kinds[first][1])
    return {name: kinds[name] for name in sorted(few.columns, key=lambda name: kinds[name][0])}


def _main_figures(name: str, columns: Collection[str]) -> list[str]:
    """Return the columns that the chart and then the table of an analysis show, the chart's text first."""
    if name not in analyses():
        return []
    chart, table = analyses()[name].chart, analyses()[name].table
    names = [name for words in (chart.words if chart else ()) for name in _IN_WORDS.findall(words)]
    names += [*(chart.columns if chart else ()), *(table.brief if table else ())]
    names = [name for name in names if not table or name not in table.if_any]
    return [name for name in dict.fromkeys(names) if name in columns]


def _html(frame: Any, rows: int, title: str) -> bytes:
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    return f'<!DOCTYPE html><html lang="en">{head}{show(frame, rows)._repr_html_()}'.encode()


_STYLE = (
    'body { font: 14px "Segoe UI", Roboto, Arial, "Liberation Sans", "DejaVu Sans", sans-serif; margin: 1.5rem }'
    " table { border-collapse: collapse }"
    " th, td { padding: 0.2rem 0.7rem } th { border-bottom: 1px solid } td { border-bottom: 1px solid #ddd }"
)
_DECIMALS = {"cents": 2, "multiple": 2, "days": 1, "count": 2, "ratio": 4, "points": 4}


def _rounded(values: pd.Series[Any], places: int) -> pd.Series[Any]:
    """Round halves away from 0, as the display does; 1e-9 covers the last digits of sums."""
    scale = 10.0**places
    size = (values.astype("float64").abs() * scale + 0.5 + 1e-9) // 1 / scale
    return size.where(values >= 0, -size) + 0.0


def _excel_format(form: str) -> str:
    return NUMBER_FORMATS.get({"cents": "money", "multiple": "hours"}.get(form, form), "General")


def _in_pandas(frame: Any, rows: int, call: str) -> tuple[pd.DataFrame, int | None]:
    """
    Return a frame in pandas with texts as column names, and the number of all rows; None if unknown.

    Of other engines only the first rows are converted.
    """
    total: int | None
    if isinstance(frame, pd.DataFrame):
        few, total = frame, len(frame)
        levels = [name for name in few.index.names if name is not None]
        few = few.reset_index(levels) if levels else few
    else:
        takes = "takes a pandas, Polars, Arrow, DuckDB or PySpark frame; of a table or a chart, pass the frame it shows"
        wrapped = wrap_frame(frame, "frame", f"{call} {takes}")
        total = len(wrapped) if isinstance(wrapped, nw.DataFrame) else None
        few = cast("nw.DataFrame[Any]", collect(wrapped.head(rows))).to_pandas()
    names = [" ".join(map(str, name)).strip() if isinstance(name, tuple) else str(name) for name in few.columns]
    if len(set(names)) < len(names):
        raise ParameterError("Two columns of the frame have the same name; rename one of them.")
    return few.set_axis(names, axis="columns"), total


def _everyone(frame: Any, few: pd.DataFrame) -> pd.DataFrame:
    """Return the ids, names and references in all rows, or of a lazy frame in the first ones."""
    columns = [name for name in map(str, few) if name.endswith(("_id", "_name", "_reference"))]
    rows = nw.from_native(frame, eager_only=False)
    return rows.select(columns).unique().to_pandas() if isinstance(rows, nw.DataFrame) else few


@functools.cache
def _declared_kinds() -> dict[str, str]:
    return {each.column.name: each.column.kind for resource in RESOURCES for each in sources_of(resource.record)}


def shown_heading(name: str) -> str:
    """Return a column's heading. In a loader's frame, an amount is that of the row, not that of an analysis."""
    return label_of(title_of_key(name)) if name in _declared_kinds() else heading_of(name)


def _kind(name: str, values: pd.Series[Any], found: Measure | None) -> tuple[int, str | None]:
    """Return a column's place in the order, and the format of its numbers; None if it has no numbers."""
    if name.endswith(("_id", "_ids")) or name == "id":
        return _ID, None
    if name in TIMES:
        return _DATE, None
    if name in _OWN_NAMES:
        return _OWN_NAME, None
    if name == "invoice_number" or (name.endswith(("_name", "_label", "_names")) and not name.endswith(_PARTS)):
        return _NAME, None
    unit = found.unit if found else _declared_kinds().get(name, _UNITS_BY_WORD.get(name.rpartition("_")[2], ""))
    if pd.api.types.is_numeric_dtype(values.dtype) and not pd.api.types.is_bool_dtype(values.dtype):
        return (_FIGURE if unit in _FIGURES else _OTHER), _FORMS.get(unit, unit if unit in _FIGURES else "plain")
    return {"date": _DATE, "instant": _INSTANT}.get(unit, _OTHER), None


def _texts(values: pd.Series[Any], form: str | None) -> list[str]:
    return [_text(value) if form is None else _number(value, form) for value in values.astype(object)]


def _number(value: Any, form: str) -> str:
    if pd.isna(value):
        return MISSING
    return f"{value:,.10g}" if form == "plain" else format_number(float(value), form)


def _text(value: Any) -> str:
    if isinstance(value, list | tuple) or hasattr(value, "tolist"):
        return "; ".join(map(_text, value)) or MISSING
    if value is None or pd.isna(value):
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dt.datetime):
        day = value.time() == dt.time() and value.tzinfo is None
        return f"{value:%Y-%m-%d}" if day else f"{value:%Y-%m-%d %H:%M} {value.tzname() or ''}".rstrip()
    return str(value)
