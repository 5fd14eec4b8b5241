"""Rules of time: records that begin too late or are dated after the load, and periods that can't be compared."""

from __future__ import annotations

from dataclasses import replace

from billframes._shared.notes import Rule
from billframes.errors import RatesHiddenWarning

_WITHOUT_DATES = "Load them without dates."
_RELOAD = "Load the data again."
SHORT_WORK = Rule(
    name="late_start",
    seen=(
        "{subject}: {frames} were loaded for {spans} only. Other work on {invoices} may be missing, which makes ratios "
        "too high."
    ),
    remedy=_WITHOUT_DATES,
    unit="frames",
)
LATE_START = Rule(
    name="late_start",
    seen=("{subject}: {frames} were loaded from {day} on, so older ones {which}are not counted, if there are any."),
    remedy=_WITHOUT_DATES,
    unit="frames",
)
LATER_DAY = Rule(
    name="after_load",
    seen="{subject}: `as_of`={day} is {n} days after the load ({loaded}). The data lack the work and the invoices of "
    "these days.",
    remedy="Load them again, or pass an earlier day.",
    page=_RELOAD,
    unit="days",
)
UNFINISHED_PERIOD = Rule(
    name="unfinished_period",
    seen="{subject}: the period ends on {last}, after the load ({day}), so {consequence}.",
    remedy="{advice}",
    page=_RELOAD,
    unit="days",
)
LATER_BALANCES = Rule(
    name="later_balances",
    seen="`as_of`={day} is before {since} ({loaded}). Balances are as loaded, so later payments are already deducted.",
    remedy="For balances of a past day, open a mirror as of that day.",
    page="The balances of that day are in a mirror of the data, if it was refreshed then.",
    book="For balances of a past day, open a mirror as of that day.",
    unit="days",
)
_OF_MIRROR = "If a mirror was refreshed by then, mirror.as_of(day).book(period) has them."
PAST_BALANCES = Rule(
    name="past_balances",
    seen="{columns} {n:is|are} missing for earlier days: balances are as loaded.",
    remedy=_OF_MIRROR,
    page="The balances of these days are in a mirror of the data, if it was refreshed by then.",
    book=_OF_MIRROR,
    unit="columns",
)
LONG_AFTER_LOAD = Rule(
    name="long_after_load",
    seen="`as_of`={day} is {n} days after {since} ({loaded}). Invoices and payments between these days are "
    "not in the data.",
    remedy="Load the invoices again.",
    page="Load the data again.",
    unit="days",
)
_SEEN = "{what} dated after {day}, the day of the load; {subject} does not count {n:it|them}."
_LATER = "They count once the data are loaded on a later day."
LATER_RECORDS_OF_PERIOD = Rule(name="later_records", seen=_SEEN, page=_LATER, unit="records")
LATER_RECORDS = Rule(
    name="later_records", seen=_SEEN, book="Pass {argument}= to count {n:it|them}.", page=_LATER, unit="records"
)
NEW_CLIENTS = Rule(
    name="short_history",
    seen="{subject}: the oldest matter, time entry or invoice passed is of {first}, less than twelve months before "
    "{last}, so every client counts as new.",
    remedy="Load matters(), time_entries() and invoices() without dates, if there are older ones.",
    unit="clients",
)
NO_TIME_ZONE = Rule(
    name="no_time_zone",
    seen="{subject}: `created_at` has no time zone, so UTC is assumed. If it is the firm's local time, the lag of "
    "entries made near midnight is wrong by a day.",
    remedy="Set the zone, for example with frame['created_at'].dt.tz_localize('UTC') in pandas.",
    unit="frames",
)
NOT_ENTERED = Rule(
    name="not_entered",
    seen="{n} time {n:entry has|entries have} no `created_at`; {n:it is|they are} in `unknown_entries` and in no lag.",
    remedy="Load time entries with select='meta'.",
    page="The billing system does not say when they were entered.",
    unit="entries",
)
UNEQUAL_PERIODS = Rule(
    name="unequal_periods",
    seen="{subject}: {label} counts only the days up to {until}, and {others} {n:is|are} whole, so the changes are "
    "missing.",
    remedy="Pass results of the same days, use book.compare(), or pass align=False.",
    unit="periods",
)
UNEQUAL_LENGTHS = Rule(
    name="unequal_lengths",
    seen="{subject}: the period before has {before} days and the period {after} (up to {until}), so a part of the "
    "change is due to the length.",
    remedy="Compare periods of the same length.",
    unit="days",
)
UNDIVIDED_CHANGE = Rule(
    name="undivided_change",
    seen="{column} is missing in {n} of {all} rows, so the change can't be split among the rows.",
    remedy="The notes of the two results say why it is missing.",
    page="Other notes say why it is missing.",
    unit="rows",
)
UNDIVIDED_RATIO = replace(UNDIVIDED_CHANGE, category=RatesHiddenWarning)
UNDIVIDED_FEES = Rule(
    name="undivided_change",
    seen="{column} is missing in {n} of {all} rows, so the parts of the change due to rate and to realization are "
    "missing there. The parts due to hours and mix are known.",
    causes="The credential may lack read.rates.",
    remedy="Load the time entries with a credential that may read rates.",
    page="Ask whoever manages the billing system for the right to read rates.",
    unit="rows",
    category=RatesHiddenWarning,
)
