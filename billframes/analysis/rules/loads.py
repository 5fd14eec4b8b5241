"""Refuse frames that lack records an analysis needs.

A frame from a loader has the period and the filters of its load (see `billframes.loading.load_info`). An analysis needs
all records dated in its period (`need_period`), all work on the invoices that it counts (`need_work_on_invoices`), all
records that were open on a day (`need_open_on`), or all records (`need_all_dates`).

A load that certainly lacks records is refused. A load that begins some time before the period may be complete, so it
only gives a warning. It gives none if it begins two years before the period, or, for work on invoices, a month more
than any work in the data waited for its invoice.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NoReturn, cast

import narwhals.stable.v2 as nw

from billframes._shared.names import join_names
from billframes.analysis.data.call import Call
from billframes.analysis.data.engine import collect_values, join_by_id
from billframes.analysis.data.expressions import C, as_day, day_number
from billframes.analysis.data.native import select_columns
from billframes.analysis.declare.columns import DATE_OF, ITEMS, Frame, column_names
from billframes.analysis.rules.periods import (
    LATE_START,
    LATER_BALANCES,
    LATER_DAY,
    LONG_AFTER_LOAD,
    SHORT_WORK,
    UNFINISHED_PERIOD,
)
from billframes.config.firm import FirmSettings
from billframes.errors import ParameterError
from billframes.loading.load_info import LoadInfo, load_day, load_info
from billframes.periods import Period, local_day

ITEM_FILTERS = ("user_id", "matter_id", "client_id", "fixed_fee_id", "invoice_id", "billing_type", "billed")
"""The filters of items. They are harmless for analyses that judge each item separately."""

LATER_DAYS = ("available hours of later days count, and utilization is too low", "Pass as_of='{day}'.")
"""The consequence of available hours after the load, and the advice, for `note_unfinished_period`."""

# Invoices usually bill the work of the month before. They rarely bill work that is more than two years old.
A_MONTH = dt.timedelta(days=31)
A_YEAR = dt.timedelta(days=366)
TWO_YEARS = dt.timedelta(days=731)
_ON_INVOICES = {"billing_type": "billable", "billed": True}
_OF_INVOICES = ("client_id", "matter_id", "invoice_state", "invoice_id")


def need_period(call: Call, names: Collection[str], period: Period, harmless: Collection[str] = ()) -> None:
    """Refuse loads that lack records dated in a period; `harmless` are filters of the load that are accepted."""
    for name, info in _infos(call.passed(*names)):
        _refuse_filters(call, name, info, dict.fromkeys(harmless))
        late = info.start is not None and period.start is not None and info.start > period.start
        early = info.end is not None and period.end is not None and info.end < period.end
        if late or early:
            _refuse(
                call,
                f"needs all {_words(name)} from {_day(period.start)} to {_day(period.end)}, but {name} was loaded "
                f"for {_span(info)} only",
                f"Load {name}({_call(period)}), or use bf.book({_call(period)})",
            )


def need_work_on_invoices(call: Call, period: Period, *, dated: str = "invoice_date") -> None:
    """
    Refuse loaded items that lack work on the invoices that an analysis counts.

    A load that begins less than two years before the first invoice, or ends before the last, is noted. `dated` is the
    date that must be in the period: "invoice_date" or "work_date".
    """
    natives = call.natives
    items = call.passed(*ITEMS)
    if dated == "work_date":
        need_period(call, ITEMS, period, (*_ON_INVOICES, "client_id", "invoice_id"))
    else:
        need_period(call, ("invoices",), period, _OF_INVOICES)
    clients = _load_argument(natives.get("invoices"), "client_id")
    harmless = {"billing_type": "billable", "invoice_id": None} | ({"client_id": clients} if clients else {})
    harmless |= {"billed": True} if dated == "invoice_date" else {}
    known = [(name, info) for name, info in _infos(items)]
    for name, info in known:
        _refuse_filters(call, name, info, harmless)
    bounded = [(name, info) for name, info in known if info.start or info.end]
    if bounded:
        frame, column = ("invoices", "invoice_date") if dated == "invoice_date" else ("time_entries", "date")
        first, last = _counted_days(natives.get(frame), column, period)
        which = "the invoices counted" if dated == "invoice_date" else "invoices with the work counted"
        recent = any(first and info.start and info.start > first - TWO_YEARS for _, info in bounded)
        since = first and first - (_longest_wait(items, natives["invoices"]) + A_MONTH if recent else TWO_YEARS)
        days = (first, last, since)
        short = [name for name, info in bounded if _is_short(call, items[name], name, info, days, which)]
        spans = dict.fromkeys(_span(info) for name, info in bounded if name in short)
        words = {"frames": join_names([_words(name) for name in short]), "spans": join_names(list(spans))}
        call.notes.add(SHORT_WORK, len(short), invoices=which, **words)


def need_open_on(call: Call, names: Collection[str], day: dt.date, harmless: Mapping[str, Any] | None = None) -> None:
    """
    Refuse loaded frames that lack records that may have been open on a day.

    Such a load ended before the day, or began less than a year before it. One that began less than two years before the
    day is noted. `harmless` are filters of the load that the analysis accepts, with values that the filter must let
    through; None is any value.
    """

    def reach(info: LoadInfo) -> tuple[bool, bool]:
        begin = info.start or dt.date.min
        return bool(info.end and info.end < day) or day - begin < A_YEAR, day - begin < TWO_YEARS

    needed = f" up to {day}, because older ones may still be open"
    _need_past(call, names, harmless, reach, needed, "that are still open ")


def need_all_dates(call: Call, names: Collection[str], harmless: Mapping[str, Any] | None = None) -> None:
    """
    Refuse loaded frames that lack records of some dates: loads of less than a year.

    A load that covers a year or more, but not all earlier dates, is noted. `harmless` is as in `need_open_on`.
    """

    def reach(info: LoadInfo) -> tuple[bool, bool]:
        last = info.end or (info.time.date() if info.time else None)
        return info.start is not None and (last is None or last - info.start < A_YEAR), info.start is not None

    _need_past(call, names, harmless, reach, ", whenever they were made", "")


def _need_past(
    call: Call,
    names: Collection[str],
    harmless: Mapping[str, Any] | None,
    reach: Callable[[LoadInfo], tuple[bool, bool]],
    needed: str,
    which: str,
) -> None:
    """Refuse filters and loads that are too short, and note those that may lack older records: `reach` tells both."""
    late: list[str] = []
    natives = call.passed(*names)
    for name, info in _infos(natives):
        _refuse_filters(call, name, info, harmless or {})
        too_short, may_be = reach(info)
        if too_short:
            _refuse(
                call,
                f"needs all {_words(name)}{needed}, but {name} was loaded for {_span(info)} only",
                f"Load {name}() without dates, or use bf.book",
            )
        if may_be and info.start and _may_lack_older(natives[name], name, info.start):
            late.append(name)
    starts = [info.start for _, info in _infos(call.passed(*late)) if info.start]
    words = {"frames": join_names([_words(name) for name in late]), "day": min(starts, default=None), "which": which}
    call.notes.add(LATE_START, len(late), **words)


def _may_lack_older(native: Any, name: str, start: dt.date) -> bool:
    """Tell whether a load may have left out older records: not if its first one is over a month after its start."""
    first = _date_range(native, DATE_OF[name])[0]
    return first is None or first - start <= A_MONTH


def note_later_day(call: Call, day: dt.date, settings: FirmSettings, most: dt.timedelta = A_MONTH) -> None:
    """Note a `day` long after a load: the frame lacks the work and the invoices since the load."""
    loaded = call.passed("time_entries", "invoices")
    local = load_day(next(iter(loaded.values())), settings.time_zone)
    if local is not None and day - local > most and not call.is_inner:
        call.notes.add(LATER_DAY, (day - local).days, day=day, loaded=local)


def note_later_balances(call: Call, day: dt.date, settings: FirmSettings) -> None:
    """Note if the frame was loaded, or one of its records changed, after `day`; or if `day` is long after the load."""
    info = load_info(call.natives["invoices"])
    if info is not None and info.time is not None:
        since, instant = "the day the invoices were loaded", info.time
    elif (changed := _last_change(call["invoices"])) is not None:
        since, instant = "the day an invoice was last changed", changed
    else:
        return
    local = local_day(instant, settings.time_zone)
    words = {"day": day, "since": since, "loaded": local}
    if local > day and (info is None or info.rows != 0):
        call.notes.add(LATER_BALANCES, (local - day).days, **words)
    elif info is not None and day - local > A_MONTH:
        call.notes.add(LONG_AFTER_LOAD, (day - local).days, **words)


def _last_change(frame: Frame) -> dt.datetime | None:
    if "modified_at" not in column_names(frame):
        return None
    changed = collect_values((frame, {"changed": C("modified_at").max()}))["changed"]
    return changed if isinstance(changed, dt.datetime) else None


def note_unfinished_period(call: Call, last: dt.date, settings: FirmSettings, consequence: str, advice: str) -> None:
    """
    Note a period that ends after the load: the frame lacks the work and the invoices of the days after it.

    `consequence` ends a sentence after "so". `advice` is a sentence with `{day}` in place of the day of the load.
    """
    day = load_day(call.natives["time_entries"], settings.time_zone)
    if day is not None and last > day and not call.is_inner:
        words = {"last": last, "day": day, "consequence": consequence, "advice": advice.format(day=day)}
        call.notes.add(UNFINISHED_PERIOD, (last - day).days, **words)


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


def _infos(natives: Mapping[str, Any]) -> Iterable[tuple[str, LoadInfo]]:
    for name, native in natives.items():
        info = load_info(native)
        if info is not None:
            yield name, info


def _refuse_filters(call: Call, name: str, info: LoadInfo, harmless: Mapping[str, Any]) -> None:
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
            call,
            f"needs all {_words(name)}, but {name} was loaded with {named}",
            f"Load {name} without {named} and group or filter the result instead (by=), or use bf.book",
        )


def _lets_through(value: Any, wanted: Any) -> bool:
    return _as_set(wanted) <= _as_set(value)


def _as_set(value: Any) -> set[Any]:
    return set(value) if isinstance(value, list | tuple | set) else {value}


def _is_short(
    call: Call,
    native: Any,
    name: str,
    info: LoadInfo,
    days: tuple[dt.date | None, dt.date | None, dt.date | None],
    invoices: str,
) -> bool:
    """
    Refuse a load that is too short for all work on the invoices; tell whether it may be too short.

    `days` are the first and last day of the invoices, and the day since which they bill work.
    """
    first, last, since = days
    may_lack_older = info.start is not None and _may_lack_older(native, name, info.start)
    is_short = may_lack_older and info.start is not None and (last is None or last - info.start < A_YEAR)
    if first and info.start and first - info.start < A_MONTH and is_short:
        _refuse(
            call,
            f"needs all work on {invoices}, whenever it was done. Invoices from {first} on also bill older work, but "
            f"{name} was loaded for {_span(info)} only",
            f"Load {name}() without dates, or use bf.book",
        )
    too_late = since and info.start and info.start > since and may_lack_older
    too_early = last and info.end and info.end < last
    return bool(too_late or too_early)


def _longest_wait(items: Mapping[str, Any], invoices: Any) -> dt.timedelta:
    """Return the longest time between an item and its invoice."""
    dated, _ = select_columns(cast("Frame", nw.from_native(invoices)), "invoices", ("invoice_id", "invoice_date"))
    queries = []
    for name, native in items.items():
        rows, used = select_columns(cast("Frame", nw.from_native(native)), name, ("invoice_id",), ("date",))
        if "date" not in used:
            return TWO_YEARS
        known = join_by_id(rows, dated, "invoice_id", "inner").drop_nulls(["date", "invoice_date"])
        queries.append((known, {name: (day_number("invoice_date") - day_number("date")).max()}))
    return dt.timedelta(max((days for days in collect_values(*queries).values() if days is not None), default=0))


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


def _refuse(call: Call, reason: str, advice: str) -> NoReturn:
    raise ParameterError(f"{call.analysis} {reason}. {advice}.")


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
