"""Rules of people and matters: the settings name others, or hours and available hours are of different people."""

from __future__ import annotations

from billframes._shared.names import first_few
from billframes._shared.notes import Notes, Rule
from billframes.analysis.data.engine import to_dicts
from billframes.analysis.data.expressions import C
from billframes.analysis.declare.columns import UNASSIGNED, Frame

_SETTINGS = "Ask whoever keeps the firm's settings to"

NO_RATE = Rule(
    name="no_rate",
    seen="{amount:,.6g} hours of {people} {people:person|people} have no {kind} rate in the settings (`user_id` {few}"
    "); {consequence}.",
    remedy="Add their rates to `{kind}_rates`= of FirmSettings.",
    page=f"{_SETTINGS} add their rates.",
    book="Add their rates to `{kind}_rates`= of FirmSettings.",
    unit="hours",
)
HOLIDAYS = Rule(
    name="missing_holidays",
    seen="The settings have holidays, but none of {years}, so available hours are too high there.",
    remedy="Add the holidays of each year.",
    page=f"{_SETTINGS} add the holidays of each year.",
    book="Add the holidays of each year.",
    unit="years",
)
NO_BUDGETED_WORK = Rule(
    name="no_budgeted_work",
    seen="No item is on a matter that has a budget ({few}), so nothing counts as used.",
    remedy="Budgets are by `matter_id`; pass `matters`= to have the ids checked.",
    unit="matters",
)
DAYS_OUTSIDE = Rule(
    name="days_outside",
    seen="{amount:,.2f} hours of {people} {people:person|people} ({names}) are dated before `user_start` or after "
    "`user_end` of the settings. They count, but these days have no available hours, so ratios are too high.",
    remedy="Correct `user_start` and `user_end`, or the dates of these entries.",
    page="Correct their first and last days in the firm's settings, or the dates of these entries.",
    book="Correct `user_start` and `user_end`, or the dates of these entries.",
    unit="hours",
)
LATER_JOINERS = Rule(
    name="later_joiners",
    seen="The first of all entries of {names} is inside the period, and their available hours count from its first "
    "day. From that entry on, utilization is {ratios}.",
    remedy="If they joined then, set `user_start` in the settings.",
    page="If they joined then, their first day belongs in the firm's settings.",
    book="If they joined then, set `user_start` in the settings.",
    unit="people",
)
NO_USERS = Rule(
    name="no_users",
    seen="Without `users`=, available hours are only those of the people with an entry in the period, and the days of "
    "everyone else are not counted{known}.",
    remedy="Pass `users`= to count all timekeepers.",
)
SOME_USERS = Rule(
    name="users_filtered",
    seen="{subject}: `users` was loaded with {filters}, so other timekeepers without hours are not in "
    "`capacity_hours`, and ratios of several people can be too high.",
    remedy="Load users without {filters}.",
    unit="filters",
)
UNKNOWN_ROLE = Rule(
    name="unknown_role",
    seen="{amount:g} client hours are of people whose role is unknown; they are in `unknown_role_hours` and in no "
    "ratio.",
    causes="They may not be among the users {passed}, or have no role.",
    remedy="Load all users, or set their roles in the settings.",
    page="Their roles belong in the billing system, or in the firm's settings.",
    unit="hours",
)
UNKNOWN_TYPE = Rule(
    name="unknown_type",
    seen="{n} {n:{one}|{several}} {n:is|are} on matters of unknown type; {n:it is|they are} {counted}.",
    remedy="Pass `matters`= (the loader matters(), archived ones too).",
    page="Look for these matters in the billing system: they may have been deleted, or have no type.",
    unit="records",
)


def note_missing_rates(notes: Notes, rows: Frame, kind: str, consequence: str) -> None:
    """Note hours of people who have no "cost" or "standard" rate in the settings; `rows` are their time entries."""
    known = rows.filter(~C("hours").is_nan() & (C("hours") != 0))
    found = to_dicts(known.group_by("user_id").agg(C("hours").sum()))
    hours = sum(person["hours"] for person in found)
    ids = sorted(str(person["user_id"] or UNASSIGNED) for person in found)
    words = {"people": len(ids), "few": first_few(ids) if ids else "", "kind": kind, "consequence": consequence}
    notes.add(NO_RATE, hours, "settings", about=kind, **words)
