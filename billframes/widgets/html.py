"""HTML and small widgets for the panel and the explorer. Text from data is always escaped here."""

from __future__ import annotations

import base64
import datetime as dt
import functools
import io
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from importlib import resources
from importlib.util import find_spec
from typing import Any

import ipywidgets as w
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from billframes._export import file_name
from billframes._format import MISSING, enum_label, format_change, format_number, format_value, short_date
from billframes.analysis.declare.columns import ENUMS
from billframes.analysis.declare.metrics import PRICED, Measure
from billframes.analysis.declare.spec import heading_of
from billframes.analysis.model.keys import UNASSIGNED
from billframes.display import exported
from billframes.plots.axes import NARROW, fit_narrow
from billframes.plots.drawing import height_for

__all__ = [
    "busy",
    "button",
    "download_links",
    "escape_text",
    "html_widget",
    "picture",
    "records_table",
    "result_table",
    "row_labels",
    "set_visible",
    "stylesheet",
    "tiles",
]

_DPI = 110
# Writing a larger workbook takes too long after a click.
_MOST_EXCEL_ROWS = 5000


def escape_text(value: object) -> str:
    """
    Escape a text for HTML, and keep Jupyter from rendering dollar signs as a formula.

    Examples
    --------
    >>> escape_text("<script> & $5")
    '<span class="mathjax_ignore tex2jax_ignore">&lt;script&gt; &amp; $5</span>'
    """
    return f'<span class="mathjax_ignore tex2jax_ignore">{escape(str(value))}</span>'


def html_widget(markup: str = "", *classes: str) -> w.HTML:
    """Return an HTML widget. The caller escapes text from data with `escape_text`."""
    return _with_classes(w.HTML(markup), *classes)


def button(words: str, act: Callable[[], object], *classes: str, tooltip: str | None = None) -> w.Button:
    """Return a button. Its description is plain text, not HTML."""
    widget = w.Button(description=words, tooltip=tooltip)
    widget.on_click(lambda _button: act())
    return _with_classes(widget, *classes)


def set_visible(widget: Any, visible: bool) -> None:
    """Show or hide a widget. A hidden widget can't be reached with the keyboard."""
    widget.layout.display = None if visible else "none"


@contextmanager
def busy(widget: Any) -> Iterator[None]:
    """Grey a widget out until its new figures are complete."""
    widget.add_class("bf-busy")
    try:
        yield
    finally:
        widget.remove_class("bf-busy")


def stylesheet() -> w.HTML:
    """Return the style sheet, which applies only to these widgets."""
    return _with_classes(w.HTML(f"<style>{_css()}</style>"), "bf-style")


@functools.cache
def _css() -> str:
    return resources.files("billframes.widgets").joinpath("widgets.css").read_text(encoding="utf-8")


def _with_classes(widget: Any, *classes: str) -> Any:
    for name in classes:
        widget.add_class(name)
    return widget


def row_labels(result: pd.DataFrame) -> list[str]:
    """Return the names of a result's rows, from the label column if there is one, else from the key."""
    column = next((name for name in result.columns[:2] if str(name).endswith(("_name", "_label"))), result.columns[0])
    return [UNASSIGNED if pd.isna(value) else str(value) for value in result[column]]


def tiles(columns: Sequence[Measure], row: dict[str, float], before: dict[str, float], currency: str = "") -> str:
    """
    Return tiles with large figures.

    Parameters
    ----------
    columns : sequence of Measure
    row : dict of str to float
    before : dict of str to float
        Figures of the period before, only those to compare.
    currency : str
        Shown beside amounts.
    """
    unit = f' <span class="bf-unit">{escape_text(currency)}</span>' if currency else ""
    items = (
        f"<div><dt>{escape_text(column.title)}</dt>"
        f"<dd>{_cell(row.get(column.name), column.unit)}{unit if column.unit in PRICED else ''}</dd>"
        f"{_compared(column, row, before)}</div>"
        for column in columns
    )
    return f'<dl class="bf-tiles">{"".join(items)}</dl>'


def _compared(column: Measure, row: dict[str, float], before: dict[str, float]) -> str:
    now, then = row.get(column.name, math.nan), before.get(column.name, math.nan)
    if pd.isna(now) or pd.isna(then):
        return ""
    change, text = format_change(now, then, column.unit), f"before {format_number(then, column.unit)}"
    return f'<dd class="bf-then">{text if change == MISSING else f"{change}, {text}"}</dd>'


def result_table(
    caption: str,
    keys: Mapping[str, Sequence[str]],
    columns: Sequence[Measure],
    result: pd.DataFrame,
    total: dict[str, float],
    only_where_wide: Collection[str] = (),
) -> str:
    """
    Return a result as a table, with the total in the last row.

    Parameters
    ----------
    caption : str
    keys : mapping of str to sequence of str
        The texts that name the rows, by heading. The first one is the row's heading cell.
    columns : sequence of Measure
    result : DataFrame
    total : dict of str to float
        Empty for a table without a total.
    only_where_wide : collection of str
        Columns that the style sheet hides on a narrow page. A sentence then says so.
    """
    first, *more = keys.values()
    kinds = ["bf-wide" if each.name in only_where_wide else "" for each in columns]
    heads = "".join(
        f'<th scope="col"{_class(kind)}>{escape_text(title)}</th>'
        for title, kind in zip([*keys, *(each.title for each in columns)], ["bf-text"] * len(keys) + kinds, strict=True)
    )

    def cells(row: Mapping[Any, Any]) -> str:
        return "".join(
            f"<td{_class(kind)}>{_cell(row.get(each.name), each.unit)}</td>"
            for each, kind in zip(columns, kinds, strict=True)
        )

    body = "".join(
        f'<tr><th scope="row">{escape_text(first[row])}</th>'
        + "".join(f'<td class="bf-text">{escape_text(each[row])}</td>' for each in more)
        + f"{cells(values)}</tr>"
        for row, values in enumerate(result.to_dict("records"))
    )
    foot = f'<tr><th scope="row">Total</th>{"<td></td>" * len(more)}{cells(total)}</tr>' if total else ""
    hidden = f'<p class="bf-lacking">{_HIDDEN_COLUMNS}</p>' if any(kinds) else ""
    return (
        f'<div class="bf-scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f'<table class="bf-table"><caption>{escape_text(caption)}</caption><thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody><tfoot>{foot}</tfoot></table></div>{hidden}"
    )


_HIDDEN_COLUMNS = "This page is too narrow for all columns. A wider page and the download show all of them."


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def records_table(caption: str, frame: pd.DataFrame, most: int = 50) -> str:
    """Return the first records of a frame as a table."""
    kinds = [_cell_class(str(name), dtype) for name, dtype in frame.dtypes.items()]
    heads = "".join(
        f'<th scope="col" class="{kind}">{escape_text(heading_of(str(name)))}</th>'
        for name, kind in zip(frame.columns, kinds, strict=True)
    )
    body = "".join(
        "<tr>" + "".join(_record_cell(value, kind) for value, kind in zip(row, kinds, strict=True)) + "</tr>"
        for row in frame.head(most).itertuples(index=False)
    )
    return (
        f'<div class="bf-scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f'<table class="bf-table bf-records"><caption>{escape_text(caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def download_links(name: str, frame: pd.DataFrame, time_zone: str = "UTC") -> str:
    """Return download links for a frame. The links contain the files, so no file is stored on a server."""
    links = [_link(file_name(name, "csv"), "CSV", "text/csv", exported(frame, ".csv"), len(frame))]
    no_excel = _why_no_excel(len(frame))
    if not no_excel:
        kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
        data = exported(frame, ".xlsx", sheet=name, time_zone=time_zone)
        links.append(_link(file_name(name, "xlsx"), "Excel", kind, data, len(frame)))
    return f'<p class="bf-downloads">Download the full table: {" ".join(links)}{no_excel}</p>'


def _why_no_excel(rows: int) -> str:
    """Return why there is no Excel file; an empty text if there is one."""
    if rows > _MOST_EXCEL_ROWS:
        return (
            f". Excel files have up to {_MOST_EXCEL_ROWS:,} rows; this table has {rows:,}. Excel also opens CSV files."
        )
    if not find_spec("xlsxwriter"):
        return ". Excel files need pip install 'billframes[excel]'. Excel also opens CSV files."
    return ""


def picture(
    draw: Callable[[Axes], Any], bars: int, *, horizontal: bool, alt: str, narrow: bool = False
) -> tuple[str, list[tuple[float, float]]]:
    """
    Draw a chart, for a phone if `narrow` is set, and return it with the positions of its bars.

    Returns
    -------
    html : str
    places : list of (float, float)
        Start and size of each bar: for horizontal bars as fractions of the picture's height, for vertical ones of
        its width.
    """
    height = height_for(bars) if horizontal else 3.4
    figure = Figure(figsize=(NARROW if narrow else 8.0, height), dpi=_DPI)
    figure.set_layout_engine("none")
    axes = figure.add_subplot()
    draw(axes)
    if narrow:
        # The title is too long, and the heading above the chart says the same.
        axes.set_title("", loc="left")
        fit_narrow(axes)
    # Saving a figure that has a layout engine draws it twice, and saving on another canvas measures all text again.
    FigureCanvasAgg(figure)
    ConstrainedLayoutEngine().execute(figure)
    buffer = io.BytesIO()
    # Better compression would take longer than it saves when the picture is sent.
    figure.savefig(buffer, format="png", metadata={"Software": None}, pil_kwargs={"compress_level": 1})
    data = base64.b64encode(buffer.getvalue()).decode()
    image = f'<img class="bf-chart" alt="{escape(alt)}" src="data:image/png;base64,{data}">'
    return image, [_place(axes, bar, horizontal=horizontal) for bar in range(bars)]


def _place(axes: Axes, bar: int, *, horizontal: bool) -> tuple[float, float]:
    """Return a bar's start and size as fractions of the picture."""
    whole = axes.get_figure(root=True).bbox  # type: ignore[union-attr]
    ends = axes.transData.transform([(bar - 0.45, bar - 0.45), (bar + 0.45, bar + 0.45)])
    if horizontal:
        top, bottom = sorted(1 - end / whole.height for end in ends[:, 1])
        return float(top), float(bottom - top)
    left, right = sorted(end / whole.width for end in ends[:, 0])
    return float(left), float(right - left)


def _cell(value: Any, unit: str) -> str:
    text = format_value(value, unit)
    return escape_text(text) if unit == "text" and pd.notna(value) else text


def _cell_class(column: str, dtype: Any) -> str:
    """Return the CSS class of a column's cells."""
    if pd.api.types.is_float_dtype(dtype):
        return "bf-number"
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return "bf-date"
    if column in ENUMS:
        return "bf-enum"
    return "bf-description" if column == "description" else "bf-text"


def _record_cell(value: Any, kind: str) -> str:
    if pd.isna(value):
        words = MISSING
    elif isinstance(value, dt.datetime):
        words = short_date(value)
    elif kind == "bf-number":
        words = format_number(value, "cents")
    else:
        words = escape_text(enum_label(value) if kind == "bf-enum" else value)
    return f'<td class="{kind}">{words}</td>'


def _link(name: str, words: str, kind: str, data: bytes, rows: int) -> str:
    address = f"data:{kind};base64,{base64.b64encode(data).decode()}"
    title = f"{name}, {rows:,} row{'' if rows == 1 else 's'}"
    return f'<a download="{name}" href="{address}" title="{title}">{words}</a>'
