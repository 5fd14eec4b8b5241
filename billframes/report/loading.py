"""Load the data of a month's report, in parallel."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from billframes._session import book
from billframes._shared.format import span_name
from billframes._shared.notes import collect_notes
from billframes.analysis.data.data_span import check_begun, check_known
from billframes.book import Book
from billframes.client import Client
from billframes.config.firm import FirmSettings
from billframes.config.firm_calendar import FirmCalendar
from billframes.errors import NoDataError, ParameterError
from billframes.periods import Calendar, Period, month_end, parse_period, resolve
from billframes.report.month import Month
from billframes.wings import in_report

# In days: a year.
_LONGEST = 366
_FRAMES = ("time_entries", "invoices", "matters", "expenses", "fixed_fees", "users", "clients")


def load(
    month: str | int | Period,
    *,
    settings: str = "",
    as_of: str = "",
    only: str = "",
    ledger: Sequence[str] = (),
    client: Client | None = None,
) -> Month:
    """
    Load the data that the report of a month, quarter or year needs, in parallel.

    Parameters
    ----------
    month : str, int or Period
        Such as "2026-10", 202610, "2026-Q3", "2026", "FY2026" or "last quarter".
    settings : str
        Path of a TOML file with the firm's settings.
    as_of : str
        The day to which receivables are aged, such as "2026-10-31"; by default the month's last day. If it is within
        the month, work and invoices are also counted only up to that day. If the data are older, as those of a mirror
        can be, the day of the data takes its place.
    only : str
        The part of the firm, as `Month.only` takes it; by default the whole firm.
    ledger : sequence of str
        Files with reports of the firm's books; by default those of the folder that the settings name.
    client : Client, optional
        By default, the default client.

    Returns
    -------
    Month

    Raises
    ------
    ParameterError
        `month` or `as_of` is invalid, `as_of` is before the month, or the month begins after the day of the data.
    NoDataError
        The month ends before the first day of the data, or nothing is dated in it.
    ConfigError
        The settings can't be read, or no API is configured.
    LedgerError
        A report of the books can't be read, or does not fit the month.
    ApiError
        The server refused a request or could not be reached.

    Examples
    --------
    >>> import billframes as bf
    >>> client = bf.connect("sandbox")
    >>> month = load("2026-10")
    >>> month.name, month.of("aging").shape[0]
    ('October 2026', 1)
    """
    firm = FirmSettings.load(settings) if settings else None
    first, end = read_months(month, FirmCalendar(lambda: client, firm))
    day = resolve(None, as_of, names=("", "as_of")).end if as_of else end
    if day is None or day < first:
        raise ParameterError(
            f"as_of={as_of!r} lies before {span_name(first, end)}; it takes a day of that period or later."
        )
    loaded = month_of(book(first, min(day, end), settings=firm, client=client), first, end, day)
    # The wings send their requests here, so that computing figures sends none.
    with collect_notes(loaded.notes):
        for load_part in in_report("load"):
            load_part(loaded, ledger)
    return loaded.only(only) if only else loaded


def month_of(firm_book: Book, first: dt.date, end: dt.date, day: dt.date) -> Month:
    """
    Return the month, quarter or year of a book, with receivables aged to a day, without the parts of the wings.

    It ends with the data if they are older. One without data is a `NoDataError`.
    """
    several = None if end == month_end(first) else end
    last = min(day, end)
    loaded = Month(first, last, day, firm_book, end=several)
    with ThreadPoolExecutor(len(_FRAMES)) as pool:
        list(pool.map(functools.partial(_load, loaded), _FRAMES))
    if loaded.loaded_on and loaded.loaded_on < last:
        check_begun(first, loaded.loaded_on)
        # A mirror can be older than the month's last day.
        loaded.last = loaded.loaded_on
        loaded.as_of = day if day > end else loaded.loaded_on
    check_known(loaded.last, loaded.book.first_day)
    if loaded.is_empty:
        raise NoDataError(f"No time entry and no final invoice is dated in {loaded.name}. Choose another period.")
    return loaded


def _load(month: Month, name: str) -> None:
    """Load a frame of the book; threads don't inherit the block of `collect_notes`."""
    with collect_notes(month.notes):
        getattr(month.book, name)


def read_months(text: str | int | Period, calendar: Calendar | None = None) -> tuple[dt.date, dt.date]:
    """Return the first and the last day of the named month, quarter or year."""
    reason = ""
    try:
        period = text if isinstance(text, Period) else parse_period(text, calendar=calendar or FirmCalendar())
        first, last = period.start, period.end
    except ParameterError as error:
        first = last = None
        # A fiscal year is a period, if the settings say when it begins.
        reason = f" {error}" if str(text).upper().startswith("FY") else ""
    if first is None or last is None or first.day != 1 or last != month_end(last) or (last - first).days > _LONGEST:
        raise ParameterError(
            f"{text!r} is not a month, quarter or year; give one such as 2026-10, 2026-Q3, 2026, FY2026, 'last month' "
            f"or 'last quarter'.{reason}"
        )
    return first, last
