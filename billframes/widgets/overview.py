"""The explorer's first tab: page one of the monthly report, whose tiles, key points and to-do list open the tabs."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

import ipywidgets as w

from billframes.book.slices import SLICE_KEYS
from billframes.errors import LedgerError, ParameterError
from billframes.periods import Period
from billframes.report import footnotes
from billframes.report.building import check_extras
from billframes.report.html import Section, templates
from billframes.report.loading import month_of, read_months
from billframes.report.month import Month
from billframes.report.sections import page_one
from billframes.widgets.filtered_book import FilteredBook
from billframes.widgets.html import ON_CLICK, asked, escape_text, html_widget, set_visible
from billframes.widgets.tabs import do_not_count
from billframes.wings import in_report, module_of

# The tabs of what page one names otherwise: its sections, and the subjects of its questions.
_TABS = {"hours": "utilization", "fees": "realization", "changes": "realization", "wip": "work-in-progress"}


class Overview(w.VBox):  # type: ignore[misc]
    """
    Page one of the filters' period, of the firm or of the one client, practice area or lawyer that is chosen.

    A click on what one of the `tabs` shows calls `go` with the tab's name, and the name of a row, "client=" and an id,
    or "".
    """

    def __init__(self, tabs: Collection[str], go: Callable[[str, str], object]) -> None:
        self._tabs = tabs
        self._style, self._filters = html_widget("", "bf-style"), html_widget("", "bf-notes")
        self._page = html_widget("", "bf-report")
        super().__init__([self._style, self._filters, self._page, asked(lambda words: go(*words.split("/", 1)))])
        self.add_class("bf-view")

    def show(self, filtered: FilteredBook) -> None:
        """Show a filtered book."""
        check_extras()
        self._style.value = self._style.value or _style()
        ignored = _not_counted(filtered)
        self._filters.value = f"<p>{escape_text(do_not_count(ignored, 'here'))}</p>"
        set_visible(self._filters, bool(ignored))
        filtered.overview = filtered.overview or _page(filtered, self._link)
        self._page.value = filtered.overview

    def _link(self, target: str) -> str:
        """Return the tab and the row that show what page one links to; empty if there is no such tab."""
        name, _, row = target.partition("/")
        name = _TABS.get(name, name)
        return f"{name}/{row}" if name in self._tabs else ""


def _not_counted(filtered: FilteredBook) -> list[str]:
    """Return the titles of the filters that do not count on the overview."""
    scope = _scope(filtered).partition(":")[0]
    return filtered.titles(column for column in filtered.frames.state.criteria if column != f"{scope}_id")


def _style() -> str:
    """Return the report's style sheet, for the overview only."""
    css = templates().get_template("report.css").render()
    rules = re.sub(r"^(:root|body) {", "& {", css, flags=re.MULTILINE)
    return f"<style>.bf-report {{ {rules} }}</style>"


def _scope(filtered: FilteredBook) -> str:
    """Return the part of the firm that the filters choose, as `Month.only` takes it; empty for the whole firm."""
    criteria = filtered.frames.state.criteria
    chosen = {key: each for key in SLICE_KEYS if (each := criteria.get(f"{key}_id"))}
    if len(chosen) != 1:
        return ""
    key, values = chosen.popitem()
    return f"{key}:{values[0] or ''}" if isinstance(values, tuple) and len(values) == 1 else ""


def _page(filtered: FilteredBook, link: Callable[[str], str]) -> str:
    """Return page one, with the report's notes below it."""
    try:
        first, end = read_months(Period(filtered.start, filtered.last))
    except ParameterError:
        return "<p>The overview is of a month, quarter or year. Choose one as the period, or open another tab.</p>"
    firm = month_of(filtered.book, first, end, min(end, filtered.end))
    refused = _load_parts(firm, filtered)
    month = firm.only(_scope(filtered))
    page = page_one(month, link)._repr_html_()
    about = Section("about.html", notes=[*refused, *footnotes.notes(month)])._repr_html_()
    return f"<div {ON_CLICK}>{page}</div>{about}"


def _load_parts(firm: Month, filtered: FilteredBook) -> list[str]:
    """Let the wings keep what they know of the month, and return what they refuse: other tabs have their own period."""
    refused = []
    with firm.collecting_notes():
        for load_part in in_report("load"):
            try:
                load_part(firm, ())
            except LedgerError as error:
                refused.append(str(error))
    if filtered.book_filters.payments is not None:
        module_of("ledger", "in_report").keep_payments(firm, filtered.book_filters.payments)
    return refused
