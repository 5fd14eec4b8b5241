"""The sections of the report that are not tables of analyses: the cover, the headline figures, narratives and notes."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from billframes._shared.format import format_number, short_date
from billframes.analysis.declare.metrics import title_of_key
from billframes.errors import ConfigError
from billframes.report import figures, footnotes
from billframes.report.first_page import budget, tiles
from billframes.report.html import Section
from billframes.report.key_points import key_points
from billframes.report.month import Month
from billframes.report.page_table import Cell
from billframes.report.report_tables import time_entries
from billframes.report.to_do import to_do
from billframes.wings import in_report


def cover(month: Month, *, title: str = "", remark: str = "", generated: str = "") -> Section:
    """
    Show the firm, the month and when the report was made.

    Parameters
    ----------
    month : Month
    title : str
        The firm's name; by default the one in the settings.
    remark : str
        A line in a box, for example that the figures are a demonstration.
    generated : str
        When the report was made, as text.
    """
    look = month.settings.report
    return Section(
        "cover.html",
        month=month,
        title=title or look.get("title", ""),
        remark=remark,
        generated=generated,
        as_of=footnotes.data_day(month),
        logo=_picture(look["logo"]) if look.get("logo") else "",
        accent=look.get("accent", ""),
    )


def _picture(path: str) -> str:
    """Return a picture as an address that holds it, so that the page needs no other file."""
    kind = {".svg": "svg+xml", ".png": "png"}.get(Path(path).suffix.lower(), "jpeg")
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise ConfigError(f"The logo {path} can't be read: {error.strerror}.") from error
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def headlines(month: Month) -> Section:
    """Show the headline figures of the month, last month, a year ago, and the year to date; without unknown ones."""
    rows = figures.figures(month)
    names = figures.headings(month)
    # The figures, and the change beside each, by their places in the cells.
    known = [any(math.isfinite(each.by_period[place]) for each in rows) for place in range(len(names))]
    shown = [(names[0], 0)]
    for place, cell in ((1, 1), (2, 3)):
        shown += [(names[place], cell), ("Change", cell + 1)] if known[place] else []
    if names[3] != names[0]:
        shown += [(names[3], 5), *([("Change", 7)] if known[4] else [])]
    return Section(
        "headlines.html",
        title=f"The {month.noun} in figures",
        quiet=", ".join(name for name, _ in shown if name != "Change"),
        columns=[name for name, _ in shown],
        rows=[
            (each, [Cell() if each.mark == "†" and place else each.cells[place] for _, place in shown]) for each in rows
        ],
        notes=[*footnotes.headlines(month), *footnotes.why_outside(rows)],
    )


def page_one(month: Month, link: Callable[[str], str] | None = None) -> Section:
    """
    Show the month on one page: its figures, the firm's budget, key points, and what to do.

    By default, links lead to the sections of the page, and its script adds those to questions. `link` returns what a
    link to either asks for instead; empty for no link.
    """
    return Section(
        "page_one.html",
        link=link,
        month=month,
        tiles=tiles(month),
        budget=budget(month),
        outlook=next((each(month) for each in in_report("outlook")), None),
        points=key_points(month),
        to_do=to_do(month),
    )


def narratives(month: Month) -> Section:
    """Show the month's time entries with their descriptions."""
    table = time_entries(month)
    rows = [
        [short_date(day), *("" if pd.isna(each) else str(each) for each in texts), format_number(hours, "hours")]
        for day, *texts, hours in table.rows[[*table.labels, "hours"]].itertuples(index=False, name=None)
    ]
    headings = [title_of_key(name).capitalize() for name in (*table.labels, "hours")]
    return Section("narratives.html", headings=headings, rows=rows, empty=f"No time is recorded in {month.name}.")


def notes(month: Month) -> Section:
    """Show the notes of loads and analyses, and what the figures can't tell."""
    return Section("notes.html", notes=footnotes.notes(month))
