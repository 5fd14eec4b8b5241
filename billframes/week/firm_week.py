"""The days of a week, and its figures: everyone's hours, missing days, late entries and matters, and what waits."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import pandas as pd

from billframes._shared.format import MISSING, format_number, long_date, span_name
from billframes.analysis.data.distinct_names import DistinctNames
from billframes.analysis.facts.capacity import working_days
from billframes.analysis.sheets.utilization import TIMEKEEPERS
from billframes.book.records import bills_of, draft_items
from billframes.config.firm import FirmSettings
from billframes.errors import ParameterError
from billframes.periods import CALENDAR_YEAR, MONTHS

HOURS = ("client_hours", "target_hours", "pace", "total_hours", "capacity_hours")
LATE_DAYS, OLD_DAYS, BUDGET_SHARE, MOST = 3, 60, 0.8, 5
DRAFT_AGES = {14: "Up to 14 days", 30: "15 to 30 days", 10_000: "Over 30 days"}
_CENT = 0.005
_DAY, _FAR = dt.timedelta(days=1), dt.timedelta(days=366)
# The columns that are used beside those of the analyses.
_USED = {
    "time_entries": ("created_at",),
    "users": ("user_id", "email", "role"),
    "matters": ("matter_id", "client_name", "responsible_id", "responsible_name"),
}


@dataclass(frozen=True, slots=True)
class WeekDays:
    """The first days of the week, the month and the year, and the day on which all of them are closed."""

    week: dt.date
    month: dt.date
    year: dt.date
    closed: dt.date
    year_name: str

    @property
    def spans(self) -> dict[str, tuple[dt.date, dt.date]]:
        """The days by label, for `figures`."""
        return {label: (getattr(self, label), self.closed) for label in ("week", "month", "year")}

    @property
    def titles(self) -> list[str]:
        """The headings of the spans."""
        return ["Week", MONTHS[self.closed.month - 1], self.year_name]

    @property
    def week_name(self) -> str:
        """The days of the week in words."""
        return span_name(self.week, self.closed)


def week_days(before: dt.date, settings: FirmSettings) -> WeekDays:
    """
    Return the days of the week that is closed on the last working day before a date.

    Examples
    --------
    >>> days = week_days(dt.date(2026, 10, 26), FirmSettings())
    >>> days.week_name, weekday_name(days.closed), days.titles
    ('17–23 October 2026', 'Friday 23 October', ['Week', 'October', '2026'])
    """
    closed = _last_working_day(before, settings)
    if closed is None:
        raise ParameterError(
            f"The firm's settings have no working day in the year before {long_date(before)}: correct `working_days` "
            "and `holidays`."
        )
    monday = closed - closed.weekday() * _DAY
    year = settings.fiscal_year or CALENDAR_YEAR
    name = year.number(closed.year, closed.month, closed.day)
    first = year.year_of(closed).start or closed
    begin = (_last_working_day(monday, settings) or monday - _DAY) + _DAY
    return WeekDays(begin, closed.replace(day=1), first, closed, f"FY{name}" if settings.fiscal_year else f"{name}")


def weekday_name(day: dt.date) -> str:
    """Return a day without its year, such as "Friday 23 October"."""
    names = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    return f"{names[day.weekday()]} {day.day} {MONTHS[day.month - 1]}"


def _last_working_day(before: dt.date, settings: FirmSettings) -> dt.date | None:
    return max(working_days(settings, before - _FAR, before - _DAY), default=None)


@dataclass(frozen=True, slots=True)
class FirmWeek:
    """
    The figures of a firm's week.

    `people` are by `user_id`, in the order shown, with their hours of the week, the month and the year; `missing` are
    the rows of `missing_time` from the first day of the week or of the month, `late` the entries made in the week more
    than three days after the work, and `matters` each person's largest matters of the week. `waits` has by kind what
    waits for responsible lawyers as of `as_of`, the day of the load, and `total` the firm's hours by column.
    """

    days: WeekDays
    as_of: dt.date
    people: pd.DataFrame
    missing: pd.DataFrame
    late: pd.DataFrame
    matters: pd.DataFrame
    waits: dict[str, pd.DataFrame]
    total: dict[str, float]
    settings: FirmSettings
    notes: list[str]

    @property
    def missing_in_week(self) -> pd.DataFrame:
        """The rows of `missing` of the week."""
        return self.missing[self.missing["date"] >= pd.Timestamp(self.days.week)]

    def has_page(self, user: str) -> bool:
        """Tell whether a person records time or has work that waits, and has not left before the week."""
        row = self.person(user)
        works = row["total_hours_year"] > 0 or row["capacity_hours_week"] > 0
        waits = any((each["responsible_id"] == user).any() for each in self.waits.values())
        return not self.has_left(user) and (works or waits)

    def has_left(self, user: str) -> bool:
        """Tell whether a person left before the week."""
        return bool(self.person(user)["last_day"] < pd.Timestamp(self.days.week))

    def person(self, user: str) -> dict[str, Any]:
        """Return a person's row of `people`."""
        return cast("dict[str, Any]", self.people.loc[[user]].to_dict("records")[0])


def firm_week(book: Any, before: dt.date) -> FirmWeek:
    """Calculate the week that is closed on the last working day before a date."""
    settings = book.settings or FirmSettings()
    for name, columns in _USED.items():
        book._view([name], settings).require(name, *columns)
    users = book.users.dropna(subset=["user_id"]).set_index("user_id")
    by_id = settings.by_id({email.lower(): id_ for id_, email in users["email"].dropna().items()})
    days, loaded = week_days(before, settings), book.loaded_on("time_entries", "invoices")
    if loaded is not None and loaded < days.closed:
        raise ParameterError(
            f"The data are of {long_date(loaded)}, and the week ends on {long_date(days.closed)}. Refresh them, or "
            "give an earlier date."
        )
    names = DistinctNames(book.clients, book.matters, book.users)
    hours = book.figures(*HOURS, by="user", spans=days.spans)
    week = {"start": days.week, "end": days.closed}
    matters = book.figures("total_hours", by=["user", "matter"], top={"matter": MOST}, **week)
    matters = names(matters).merge(book.matters[["matter_id", "client_name"]], on="matter_id", how="left")
    as_of = loaded or days.closed
    waits = {kind: _by_size(names(rows)) for kind, rows in _waits(book, settings, as_of)}
    return FirmWeek(
        days=days,
        as_of=as_of,
        people=_people(hours, users, names, by_id, waits),
        missing=book.missing_time(start=min(days.week, days.month), end=days.closed),
        late=_late(book.time_entries, days, settings.time_zone),
        matters=matters,
        waits=waits,
        total=hours.attrs["total"],
        settings=settings,
        notes=[each["plain"] for each in hours.attrs["notes"]],
    )


def _people(
    hours: pd.DataFrame,
    users: pd.DataFrame,
    names: DistinctNames,
    settings: FirmSettings,
    waits: dict[str, pd.DataFrame],
) -> pd.DataFrame:
    """Return everyone with hours, available hours or something that waits, by role and name, or by hours."""
    lawyers = pd.concat([each[["responsible_id", "responsible_name"]] for each in waits.values()])
    lawyers = lawyers[lawyers["responsible_id"] != ""].set_axis(["user_id", "user_name"], axis="columns")
    rows = pd.concat([hours, names(lawyers)], ignore_index=True).dropna(subset=["user_id"])
    rows = rows.drop_duplicates("user_id").set_index("user_id").rename(columns={"user_name": "name"})
    listed = users.reindex(rows.index)
    roles = listed["role"].astype("object").to_dict() | dict(settings.roles)
    places = {role: place for place, role in enumerate(TIMEKEEPERS)}
    worked = [name for name in rows if str(name).startswith(("client_hours_", "total_hours_", "capacity_hours_"))]
    rows = rows.assign(
        **rows[worked].fillna(0.0),
        email=listed["email"].astype("object").where(listed["email"].notna(), ""),
        role=rows.index.map(lambda id_: roles.get(id_, "")),
        last_day=pd.to_datetime(pd.Series(dict(settings.user_end), dtype="object")).reindex(rows.index),
    )
    if settings.report.get("order") == "hours":
        return rows.sort_values("client_hours_week", ascending=False, kind="stable")
    order = rows["role"].map(places).fillna(len(places))
    return rows.assign(place=order).sort_values(["place", "name"], kind="stable")


def _late(entries: pd.DataFrame, days: WeekDays, time_zone: str) -> pd.DataFrame:
    created = entries["created_at"].dt.tz_convert(time_zone).dt.tz_localize(None).dt.normalize()
    is_late = (created - entries["date"]).dt.days > LATE_DAYS
    in_week = created.between(pd.Timestamp(days.week), pd.Timestamp(days.closed))
    late: pd.DataFrame = entries.loc[is_late & in_week, ["user_id", "date", "hours"]]
    return late


def _waits(book: Any, settings: FirmSettings, as_of: dt.date) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the rows of each kind of what waits for responsible lawyers; none for budgets if there are none."""
    client = dict(book.matters[["matter_id", "client_name"]].itertuples(index=False, name=None))
    bills = bills_of(draft_items(book))
    age = (pd.Timestamp(as_of) - bills["invoice_date"]).dt.days
    yield (
        "drafts",
        bills.assign(
            name=bills["client_name"],
            detail=[next(name for most, name in DRAFT_AGES.items() if not days > most) for days in age],
            amount=bills["invoice_amount"],
        ),
    )
    by = ["responsible", "matter"]
    old = book.wip(by=by, as_of=as_of, include_prebill=False, buckets=(OLD_DAYS,))
    yield (
        "unbilled",
        old.assign(name=old["matter_name"], detail=old["matter_id"].map(client), amount=old[f"{OLD_DAYS + 1}+"]),
    )
    due = book.aging(by=["responsible", "client", "invoice_id"], as_of=as_of)
    late = book.overdue_invoices(as_of=as_of).set_index("invoice_id").reindex(due["invoice_id"])
    details = [
        f"invoice {MISSING if pd.isna(number) else number}, {format_number(days, 'count')} days overdue"
        for number, days in zip(late["invoice_number"], late["days_overdue"], strict=True)
    ]
    yield "overdue", due.assign(name=due["client_name"], detail=details, amount=due["overdue"])
    if settings.budgets:
        used = book.budget_burn()
        used = used[used["budget_burn"] > BUDGET_SHARE].merge(
            book.matters[["matter_id", "responsible_id", "responsible_name"]], on="matter_id", how="left"
        )
        yield (
            "budgets",
            used.assign(name=used["matter_name"], detail=used["matter_id"].map(client), amount=used["budget_burn"]),
        )


def _by_size(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with an amount, the largest first; the id of no lawyer is empty."""
    rows = rows[rows["amount"] > _CENT].sort_values("amount", ascending=False, kind="stable")
    rows = rows[["responsible_id", "responsible_name", "name", "detail", "amount"]]
    return rows.assign(responsible_id=rows["responsible_id"].astype("object").fillna(""))
