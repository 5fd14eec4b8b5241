"""HTML and small widgets for the panel and the explorer. Text from data is always escaped here.

Tables and charts are HTML. A click on an element with `data-ask` is passed to Python by the tab's hidden text field
(`asked`), in notebooks as on the dashboard's page: widgets for each row and heading would be slow.
"""

from __future__ import annotations

import base64
import datetime as dt
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from html import escape
from importlib import resources
from importlib.util import find_spec
from typing import Any

import ipywidgets as w
import pandas as pd

from billframes._shared.export import file_name
from billframes._shared.format import MISSING, enum_label, format_change, format_number, format_value, short_date
from billframes.analysis.declare.columns import ENUMS, UNASSIGNED
from billframes.analysis.declare.metrics import PRICED, Measure, title_of_key
from billframes.display import exported, shown_heading

Order = tuple[str, bool]
"""The column by which rows are sorted, and whether the smallest comes first."""
# The time makes the text differ from the last one, because a field that does not change sends nothing.
_ASK = (
    "const b=event.target.closest('[data-ask]');if(b){const i=this.closest('.bf-view').querySelector('.bf-ask input');"
    "event.preventDefault();i.value=b.dataset.ask+' '+Date.now();i.dispatchEvent(new Event('change',{bubbles:true}))}"
)
ON_CLICK = f'onclick="{_ASK}"'
"""The attribute of an element in which clicks are passed to the tab's `asked`."""
# A picture of one pixel, because browsers run no scripts in the HTML of a widget.
SHOW_ME = (
    '<img hidden alt="" onload="this.closest(&quot;.bf-drill&quot;).scrollIntoView({block:&quot;nearest&quot;})" '
    'src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=">'
)
"""HTML that scrolls the box with the records to where they can be seen; the row that was clicked can be far below."""
# Writing a larger workbook takes too long after a click.
_MOST_EXCEL_ROWS = 5000


def escape_text(value: object) -> str:
    """Escape a text for HTML, and keep Jupyter from rendering dollar signs as a formula."""
    return f'<span class="mathjax_ignore tex2jax_ignore">{escape(str(value))}</span>'


def sentences(*texts: str) -> str:
    """Return the texts that are not empty, one after the other."""
    return " ".join(escape_text(each) for each in texts if each)


def html_widget(markup: str = "", name: str = "") -> w.HTML:
    """Return an HTML widget of a class. The caller escapes text from data with `escape_text`."""
    widget = w.HTML(markup)
    return widget.add_class(name) if name else widget


def button(words: str, act: Callable[[], object], name: str, tooltip: str | None = None) -> w.Button:
    """Return a button of a class. Its description is plain text, not HTML."""
    widget = w.Button(description=words, tooltip=tooltip).add_class(name)
    widget.on_click(lambda _button: act())
    return widget


def asked(act: Callable[[str], object]) -> w.Text:
    """Return the hidden field of a tab that passes the `data-ask` of a clicked element to a function."""

    def pass_on(change: dict[str, Any]) -> None:
        if words := str(change["new"]).rpartition(" ")[0]:
            act(words)

    field = w.Text().add_class("bf-ask")
    field.observe(pass_on, "value")
    return field


class StillForm:
    """A widget that is also text and HTML: pages without a kernel, such as an exported notebook, show these."""

    def _repr_html_(self) -> str:
        raise NotImplementedError

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        html = f"{self._repr_html_()}<p>To use the buttons, run the notebook.</p>"
        return {**bundle, "text/plain": repr(self), "text/html": html}


def still(widget: Any) -> str:
    """Return the HTML in the visible parts of a widget, without what needs a kernel."""
    if widget.layout.display == "none" or not _NEEDS_KERNEL.isdisjoint(widget._dom_classes):
        return ""
    if isinstance(widget, w.HTML):
        return f"<div>{_BUTTONS.sub('', widget.value.replace(ON_CLICK, ''))}</div>" if widget.value else ""
    return "".join(still(each) for each in getattr(widget, "children", ()))


_NEEDS_KERNEL = {"bf-all", "bf-links"}
_BUTTONS = re.compile(r"</?button[^>]*>")


def set_visible(widget: Any, visible: bool) -> None:
    """Show or hide a widget. A hidden widget can't be reached with the keyboard."""
    widget.layout.display = None if visible else "none"


def stylesheet() -> w.HTML:
    """Return the style sheet, which applies only to these widgets."""
    css = resources.files("billframes.widgets").joinpath("widgets.css").read_text(encoding="utf-8")
    return html_widget(f"<style>{css}</style>", "bf-style")


def row_labels(result: pd.DataFrame) -> list[str]:
    """Return the names of a result's rows, from the label column if there is one, else from the key."""
    column = next((name for name in result.columns[:2] if str(name).endswith(("_name", "_label"))), result.columns[0])
    return [UNASSIGNED if pd.isna(value) else str(value) for value in result[column]]


def tiles(columns: Sequence[Measure], row: dict[str, float], before: dict[str, float], currency: str = "") -> str:
    """Return tiles with large figures, and those of the period before, if they are to be compared."""
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
    change, text = format_change(now, then, column.unit), format_number(then, column.unit)
    return f'<dd class="bf-then">{f"earlier: {text}" if change == MISSING else f"{change} from {text}"}</dd>'


def result_table(
    caption: str,
    names: Mapping[str, Sequence[str]],
    columns: Sequence[Measure],
    result: pd.DataFrame,
    total: dict[str, float],
    only_where_wide: Collection[str] = (),
    *,
    order: Order | None = None,
    opens: bool = False,
) -> str:
    """
    Return a result as a table that can be sorted, with the total in the last row, if there is one.

    `names` has the texts that name the rows, the first one as the row's heading. The style sheet hides columns
    `only_where_wide` on a narrow page. If a row `opens`, a click on it passes its place in the result's index on.
    """
    first, *more = names.values()
    kinds = {**dict.fromkeys(names, "bf-text"), **{each.name: "" for each in columns}}
    kinds |= {each.name: "bf-wide" for each in columns if each.name in only_where_wide}
    titles = {name: title_of_column(name) for name in names} | {each.name: each.title for each in columns}

    def cells(row: Mapping[Any, Any]) -> str:
        return "".join(f"<td{_class(kinds[each.name])}>{_cell(row.get(each.name), each.unit)}</td>" for each in columns)

    def row_heading(place: int, text: str) -> str:
        name = escape_text(text)
        return f'<button type="button"{asks.format(place)}>{name}</button>' if opens else name

    asks = ' data-ask="open {}"' if opens else ""
    rows = zip(result.index, result.to_dict("records"), strict=True)
    body = "".join(
        f"<tr{asks.format(place)}>"
        f'<th scope="row">{row_heading(place, first[row])}</th>'
        + "".join(f'<td class="bf-text">{escape_text(each[row])}</td>' for each in more)
        + f"{cells(values)}</tr>"
        for row, (place, values) in enumerate(rows)
    )
    foot = f'<tr><th scope="row">Total</th>{"<td></td>" * len(more)}{cells(total)}</tr>' if total else ""
    heads = _headings(titles, kinds, "sort", order)
    return _table(caption, heads, body, f"<tfoot>{foot}</tfoot>")


def title_of_column(name: str) -> str:
    """Return the heading of a column with names or keys."""
    return title_of_key(name.removesuffix("_id")).capitalize()


def _headings(titles: Mapping[str, str], kinds: Mapping[str, str], act: str, order: Order | None) -> str:
    """Return headings that sort the rows."""

    def heading(name: str, title: str) -> str:
        ascending = order[1] if order and order[0] == name else None
        sort = "" if ascending is None else f' aria-sort="{"ascending" if ascending else "descending"}"'
        ask = escape(f"{act} {name}")
        words = f'<button type="button" data-ask="{ask}" title="Sort">{escape_text(title)}</button>'
        return f'<th scope="col"{_class(kinds[name])}{sort}>{words}</th>'

    return "".join(heading(name, title) for name, title in titles.items())


def _table(caption: str, heads: str, body: str, foot: str = "", kind: str = "") -> str:
    return (
        f'<div class="bf-scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f'<table class="bf-table{kind}" {ON_CLICK}><caption>{escape_text(caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody>{foot}</table></div>"
    )


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def records_table(caption: str, frame: pd.DataFrame, most: int = 50, order: Order | None = None) -> str:
    """Return the first records of a frame as a table that can be sorted."""
    kinds = {str(name): _cell_class(str(name), dtype) for name, dtype in frame.dtypes.items()}
    titles = {name: shown_heading(name) for name in kinds}
    body = "".join(
        "<tr>" + "".join(_record_cell(value, kind) for value, kind in zip(row, kinds.values(), strict=True)) + "</tr>"
        for row in frame.head(most).itertuples(index=False)
    )
    return _table(caption, _headings(titles, kinds, "records", order), body, kind=" bf-records")


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
