"""The tabs of the explorer, and which filters count in each: an analysis declares its own (see `spec`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

FilterKind = Literal["items", "time_entries", "matters", "clients", "payments", "forecast"]

# The records that filters are about. For each kind of tab, those whose filters count, and a sentence that says so.
_FILTERED = ("client", "matter", "user", "entry")
_FILTERS: Mapping[FilterKind, tuple[tuple[str, ...], str]] = {
    "items": (_FILTERED, "All filters count here."),
    "time_entries": (_FILTERED, "All filters count here."),
    "matters": (
        _FILTERED[:3],
        "Filters on clients, matters and timekeepers, and on their fields, count here. Filters on single entries, such "
        "as billing type, do not.",
    ),
    "clients": (_FILTERED[:1], "Only filters on clients and their fields count here."),
    "payments": (_FILTERED[:1], "Only filters on clients and their fields count here."),
    "forecast": ((), "Neither the period nor filters count here: the whole firm is forecast from the day of the load."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TabSpec:
    """
    The tab of the explorer that shows the analysis.

    The tab shows the columns of the table, and the chart, the records and the explanation of the analysis.

    Parameters
    ----------
    place : int
        Tabs are sorted by this number.
    title : str
        The tab's title.
    tiles : tuple of str
        The measures of the total that are shown large. Empty if the rows don't add up.
    order : str
        The measure by which rows are sorted, largest first. Rows by month, quarter or year keep their order, and so do
        all if it is empty.
    by : tuple of str
        The keys that the user can group by; the first is the default. Empty if the analysis has no `by`.
    filters : {"items", "time_entries", "matters", "clients", "payments", "forecast"}
        The records that filters select. "items": time entries, expenses and fixed fees. "time_entries": time entries,
        with their shares of the invoices. "matters": clients, matters and people, with their shares of the invoices.
        "clients": the rows of the result, by their client. "payments": payments, by their client; there is no
        such tab without payments. "forecast": nothing, because the book is forecast from the day of the load.
    opens : str
        The sum whose rows a click on a row lists, as "total" or, of another analysis, "aging.total". If empty, rows do
        not open.
    compared : tuple of str
        The tiles that are compared with the period before. Left out are figures that still change after their period,
        and balances, which have no history.
    note : str
        More sentences about what filters mean here, after the one that says which filters count.
    """

    place: int
    title: str
    tiles: tuple[str, ...]
    order: str
    filters: FilterKind
    by: tuple[str, ...] = ()
    opens: str = ""
    compared: tuple[str, ...] = ()
    note: str = ""

    @property
    def counted(self) -> tuple[str, ...]:
        """The records whose filters count, of "client", "matter", "user" and "entry"."""
        return _FILTERS[self.filters][0]

    @property
    def about_filters(self) -> str:
        """Which filters count, and what they mean here."""
        return f"{_FILTERS[self.filters][1]} {self.note}".rstrip()
