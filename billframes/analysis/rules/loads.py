"""Refuse frames that lack records an analysis needs.

A frame from a loader has the period and the filters of its load (see `billframes.loading.load_info`). An analysis needs
all records dated in its period (`need_period`), all work on the invoices that it counts (`need_work_on_invoices`), all
records that were open on a day (`need_open_on`), or all records (`need_all_dates`).

A load that certainly lacks records is refused. A load that begins some time before the period may be complete, so it
only gives a warning. A load that begins two years before the period gives no warning. For frames without information
about their load, `missing_work` compares the invoices' amounts with the work that was passed.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NoReturn, cast

import narwhals.stable.v2 as nw

from billframes._messages import warn
from billframes._names import join_names
from billframes.analysis.declare.columns import ITEMS, Frame, column_names
from billframes.analysis.frames.engine import collect_values
from billframes.analysis.frames.expressions import as_day
from billframes.analysis.frames.frames import Frames
from billframes.analysis.frames.values import said_once
from billframes.config.firm import FirmSettings
from billframes.errors import IncompleteDataWarning, ParameterError
from billframes.loading.load_info import LoadInfo, load_day, load_info
from billframes.periods import Period

__all__ = [
    "ITEM_FILTERS",
    "has_removed_rows",
    "is_whole",
    "need_all_dates",
    "need_open_on",
    "need_period",
    "need_work_on_invoices",
    "people_loaded",
    "warn_of_later_day",
    "warn_of_removed_rows",
    "warn_of_unfinished_period",
]

C = nw.col

ITEM_FILTERS = ("user_id", "matter_id", "client_id", "fixed_fee_id", "invoice_id", "billing_type", "billed")
"""The filters of items. They are harmless for analyses that judge each item separately."""

# Invoices usually bill the work of the month before. They rarely bill work that is more than two years old.
A_MONTH = dt.timedelta(days=31)
A_YEAR = dt.timedelta(days=366)
TWO_YEARS = dt.timedelta(days=731)
_DATES = dict.fromkeys(ITEMS, "date") | {"invoices": "invoice_date", "matters": "opened"}
_ON_INVOICES = {"billing_type": "billable", "billed": True}
_OF_INVOICES = ("client_id", "matter_id", "invoice_state", "invoice_id")


def need_period(analysis: str, natives: Mapping[str, Any], period: Period, harmless: Collection[str] = ()) -> None:
    """
    Refuse loaded frames that lack records dated in a period.

    Parameters
    ----------
    analysis : str
        The name of the analysis, for messages.
    natives : mapping of str to frame
        The frames as the user passed them, by the argument's name; None is ignored.
    period : Period
        Both ends inclusive; None is open.
    harmless : collection of str
        Filters of the load that the analysis accepts.

    Raises
    ------
    ParameterError
        A load began after the start of the period, ended before its end, or had other filters.
    """
    for name, info in _infos(natives):
        _refuse_filters(analysis, name, info, dict.fromkeys(harmless))
        late = info.start is not None and period.start is not None and info.start > period.start
        early = info.end is not None and period.end is not None and info.end < period.end
        if late or early:
            _refuse(
                analysis,
                f"needs all {_words(name)} from {_day(period.start)} to {_day(period.end)}, but {name} was loaded "
                f"for {_span(info)} only",
                f"Load {name}({_call(period)}), or use bf.book({_call(period)})",
            )


def need_work_on_invoices(
    analysis: str, natives: Mapping[str, Any], period: Period, *, dated: str = "invoice_date"
) -> None:
    """
    Refuse loaded items that lack work on the invoices that an analysis counts.

    Parameters
    ----------
    analysis : str
        The name of the analysis, for messages.
    natives : mapping of str to frame
        `invoices`, `time_entries`, `expenses` and `fixed_fees` as the user passed them; None is ignored.
    period : Period
        Both ends inclusive; None is open.
    dated : {"invoice_date", "work_date"}
        The date that must be in the period.

    Raises
    ------
    ParameterError
        A load had filters, or its period excludes work on the invoices.

    Warns
    -----
    IncompleteDataWarning
        A load begins less than two years before the first invoice, or ends before the last.
    """
    invoices = {"invoices": natives.get("invoices")}
    items = {name: natives.get(name) for name in ITEMS}
    if dated == "work_date":
        need_period(analysis, items, period, (*_ON_INVOICES, "client_id", "invoice_id"))
    else:
        need_period(analysis, invoices, period, _OF_INVOICES)
    clients = _load_argument(natives.get("invoices"), "client_id")
    harmless = {"billing_type": "billable", "invoice_id": None} | ({"client_id": clients} if clients else {})
    harmless |= {"billed": True} if dated == "invoice_date" else {}
    known = [(name, info) for name, info in _infos(items)]
    for name, info in known:
        _refuse_filters(analysis, name, info, harmless)
    bounded = [(name, info) for name, info in known if info.start or info.end]
    if bounded:
        frame, column = ("invoices", "invoice_date") if dated == "invoice_date" else ("time_entries", "date")
        first, last = _counted_days(natives.get(frame), column, period)
        short = [name for name, info in bounded if _is_short(analysis, items, name, info, first, last, dated)]
        if short and "late start" not in said_once():
            said_once().add("late start")
            spans = dict.fromkeys(_span(info) for name, info in bounded if name in short)
            invoices_counted = "the invoices counted" if dated == "invoice_date" else "invoices with the work counted"
            warn(
                f"{analysis}: {join_names([_words(name) for name in short])} were loaded for {join_names(list(spans))} "
                f"only. Other work on {invoices_counted} may be missing, which makes ratios too high. Load them "
                "without dates.",
                IncompleteDataWarning,
            )


def need_open_on(
    analysis: str, natives: Mapping[str, Any], day: dt.date, harmless: Mapping[str, Any] | None = None
) -> None:
    """
    Refuse loaded frames that lack records that may have been open on a day.

    Parameters
    ----------
    analysis : str
        The name of the analysis, for messages.
    natives : mapping of str to frame
        The frames as the user passed them, by the argument's name; None is ignored.
    day : date
    harmless : mapping of str to Any, optional
        Filters of the load that the analysis accepts, with values that the filter must let through; None is any value.

    Raises
    ------
    ParameterError
        A load had other filters, ended before the day, or began less than a year before it.

    Warns
    -----
    IncompleteDataWarning
        A load began less than two years before the day.
    """
    late: list[str] = []
    for name, info in _infos(natives):
        _refuse_filters(analysis, name, info, harmless or {})
        if (info.end and info.end < day) or (info.start and info.start > day - A_YEAR):
            _refuse(
                analysis,
                f"needs all {_words(name)} up to {day}, because older ones may still be open, but {name} was loaded "
                f"for {_span(info)} only",
                f"Load {name}() without dates, or use bf.book",
            )
        if info.start and info.start > day - TWO_YEARS and _may_lack_older(natives[name], name, info.start):
            late.append(name)
    _warn_of_late_start(analysis, natives, late, "that are still open ")


def need_all_dates(analysis: str, natives: Mapping[str, Any], harmless: Mapping[str, Any] | None = None) -> None:
    """
    Refuse loaded frames that lack records of some dates.

    Parameters
    ----------
    analysis : str
        The name of the analysis, for messages.
    natives : mapping of str to frame
        The frames as the user passed them, by the argument's name; None is ignored.
    harmless : mapping of str to Any, optional
        Filters of the load that the analysis accepts, with values that the filter must let through; None is any value.

    Raises
    ------
    ParameterError
        A load had other filters, or covers less than a year.

    Warns
    -----
    IncompleteDataWarning
        A load covers a year or more, but not all earlier dates.
    """
    late: list[str] = []
    for name, info in _infos(natives):
        _refuse_filters(analysis, name, info, harmless or {})
        last = info.end or (info.time.date() if info.time else None)
        if info.start is None:
            continue
        if last is None or last - info.start < A_YEAR:
            _refuse(
                analysis,
                f"needs all {_words(name)}, whenever they were made, but {name} was loaded for {_span(info)} only",
                f"Load {name}() without dates, or use bf.book",
            )
        if _may_lack_older(natives[name], name, info.start):
            late.append(name)
    _warn_of_late_start(analysis, natives, late, "")


def _may_lack_older(native: Any, name: str, start: dt.date) -> bool:
    """Tell whether a load may have left out older records: not if its first one is over a month after its start."""
    first = _date_range(native, _DATES[name])[0]
    return first is None or first <= start + A_MONTH


def _warn_of_late_start(analysis: str, natives: Mapping[str, Any], names: list[str], which: str) -> None:
    """Warn of loads that may have left out older records; once, if an analysis calls others."""
    said = said_once()
    if not names or "late start" in said:
        return
    said.add("late start")
    starts = sorted({info.start for _, info in _infos({name: natives[name] for name in names}) if info.start})
    frames = join_names([_words(name) for name in names])
    warn(
        f"{analysis}: {frames} were loaded from {starts[0]} on, so older ones {which}are not counted, if there are "
        "any. Load them without dates.",
        IncompleteDataWarning,
    )


def warn_of_later_day(analysis: str, frames: Frames, day: dt.date, settings: FirmSettings) -> None:
    """Warn if `day` is long after the load of the time entries: they lack the work since then."""
    local = load_day(frames.natives["time_entries"], settings.time_zone)
    if local is not None and day - local > A_MONTH and not frames.is_inner:
        warn(
            f"{analysis}: as_of={day} is {(day - local).days:,} days after the load ({local}). The frames lack the "
            "work and the invoices of these days.",
            IncompleteDataWarning,
        )


def warn_of_unfinished_period(
    analysis: str, frames: Frames, last: dt.date, settings: FirmSettings, consequence: str, advice: str
) -> None:
    """
    Warn if a period ends after the load: the frame lacks the work and the invoices of the days after it.

    Parameters
    ----------
    analysis : str
        The name of the analysis, for the message.
    frames : Frames
        With time entries.
    last : date
        The last day of the period.
    settings : FirmSettings
        With the time zone of the day of the load.
    consequence : str
        The consequence for the figures: the end of a sentence after "so".
    advice : str
        A sentence about what to pass instead, with `{day}` in place of the day of the load.
    """
    day = load_day(frames.natives["time_entries"], settings.time_zone)
    if day is not None and last > day and not frames.is_inner:
        warn(
            f"{analysis}: the period ends on {last}, after the load ({day}), so {consequence}. "
            f"{advice.format(day=day)}",
            IncompleteDataWarning,
        )


def people_loaded(time_entries: Any) -> tuple[str, ...] | None:
    """Return the ids of the users whose time entries were loaded; None if everyone's time entries were loaded."""
    ids = _load_argument(time_entries, "user_id")
    return tuple(sorted(_as_set(ids))) if ids is not None else None


def has_removed_rows(native: Any) -> bool:
    """Tell whether rows of a loaded frame were removed after its load."""
    info = load_info(native)
    return info is not None and info.rows is not None and len(native) < info.rows


def is_whole(natives: Mapping[str, Any]) -> bool:
    """Tell whether all items were loaded, whatever their date, and no row was removed since."""
    infos = [load_info(native) for name in ITEMS if (native := natives.get(name)) is not None]
    unbounded = [info is not None and info.start is None and info.end is None for info in infos]
    return len(infos) == len(ITEMS) and all(unbounded) and not any(has_removed_rows(natives[name]) for name in ITEMS)


def warn_of_removed_rows(analysis: str, natives: Mapping[str, Any], consequence: str) -> bool:
    """
    Warn of frames from which rows were removed after their load; return whether there are any.

    Parameters
    ----------
    analysis : str
        The name of the analysis, for the message.
    natives : mapping of str to frame
        The frames as the user passed them, by the argument's name; None is ignored.
    consequence : str
        The consequence for the figures: the end of a sentence after "so".
    """
    names = [name for name, native in natives.items() if native is not None and has_removed_rows(native)]
    if names:
        warn(
            f"{analysis}: rows of {join_names(names)} were removed after the load, so {consequence}. Pass all rows and "
            "filter or group the result, or use bf.book.",
            IncompleteDataWarning,
        )
    return bool(names)


def _infos(natives: Mapping[str, Any]) -> Iterable[tuple[str, LoadInfo]]:
    """Yield the frames that have information about their load, by name."""
    for name, native in natives.items():
        info = load_info(native) if native is not None else None
        if info is not None:
            yield name, info


def _refuse_filters(analysis: str, name: str, info: LoadInfo, harmless: Mapping[str, Any]) -> None:
    """Refuse a load with filters that are not harmless, or with a limit that was reached."""
    filters = [
        argument
        for argument, value in info.arguments.items()
        if not (argument == "limit" and (info.rows or 0) < int(value))
        and not (argument in harmless and (harmless[argument] is None or _lets_through(value, harmless[argument])))
    ]
    if filters:
        named = join_names([f"{argument}=" for argument in filters])
        _refuse(
            analysis,
            f"needs all {_words(name)}, but {name} was loaded with {named}",
            f"Load {name} without {named} and group or filter the result instead (by=), or use bf.book",
        )


def _lets_through(value: Any, wanted: Any) -> bool:
    """Tell whether a filter's value lets through all wanted values."""
    return _as_set(wanted) <= _as_set(value)


def _as_set(value: Any) -> set[Any]:
    return set(value) if isinstance(value, list | tuple | set) else {value}


def _is_short(
    analysis: str,
    natives: Mapping[str, Any],
    name: str,
    info: LoadInfo,
    first: dt.date | None,
    last: dt.date | None,
    dated: str,
) -> bool:
    """Refuse a load that is too short for all work on the invoices; tell whether it may be too short."""
    invoices = "the invoices counted" if dated == "invoice_date" else "invoices with the work counted"
    may_lack_older = info.start is not None and _may_lack_older(natives[name], name, info.start)
    is_short = may_lack_older and info.start is not None and (last is None or info.start > last - A_YEAR)
    if first and info.start and info.start > first - A_MONTH and is_short:
        _refuse(
            analysis,
            f"needs all work on {invoices}, whenever it was done. Invoices from {first} on also bill older work, but "
            f"{name} was loaded for {_span(info)} only",
            f"Load {name}() without dates, or use bf.book",
        )
    too_late = first and info.start and info.start > first - TWO_YEARS and may_lack_older
    too_early = last and info.end and info.end < last
    return bool(too_late or too_early)


def _counted_days(native: Any, column: str, period: Period) -> tuple[dt.date | None, dt.date | None]:
    """Return the first and last day that count: of the period, or else of the load, or else of the rows."""
    info = load_info(native) or LoadInfo()
    first, last = period.start or info.start, period.end or info.end
    if first is None or last is None:
        earliest, latest = _date_range(native, column)
        first, last = first or earliest, last or latest
    return first, last


def _date_range(native: Any, column: str) -> tuple[dt.date | None, dt.date | None]:
    frame = cast("Frame", nw.from_native(native))
    if column not in column_names(frame):
        return None, None
    ends = collect_values((frame, {"first": C(column).min(), "last": C(column).max()}))
    return as_day(ends["first"]), as_day(ends["last"])


def _load_argument(native: Any, name: str) -> Any:
    info = load_info(native) if native is not None else None
    return info.arguments.get(name) if info else None


def _refuse(analysis: str, reason: str, advice: str) -> NoReturn:
    raise ParameterError(f"{analysis} {reason}. {advice}.")


def _words(name: str) -> str:
    return name.replace("_", " ")


def _day(day: dt.date | None) -> str:
    return day.isoformat() if day else "the first"


def _span(info: LoadInfo) -> str:
    if info.start and info.end:
        return f"{info.start} to {info.end}"
    return f"days from {info.start} on" if info.start else f"days up to {info.end}"


def _call(period: Period) -> str:
    ends = [f'"{day}"' for day in (period.start, period.end) if day]
    return ", ".join(ends)
