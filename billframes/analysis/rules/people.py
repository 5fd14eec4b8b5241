"""Rules of people and matters: the firm's settings name others, or hours and available hours are of different people.

Available hours are calculated from the calendar, for everyone on the roster and for every working day. So a month whose
entries are missing, other people, or a day on which somebody joined or left make ratios of hours wrong.
"""

from __future__ import annotations

from billframes._notes import Rule

_SETTINGS = "Ask whoever keeps the firm's settings to"

UNKNOWN_IDS = Rule(
    name="unknown_ids",
    seen="settings name {which} not among those {passed}: {few}.",
    remedy="Load all {kind}, archived ones too, or correct the ids.",
    page=f"{_SETTINGS} correct these ids.",
    book="Correct these ids in the settings.",
    unit="ids",
)
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
UNMATCHED = Rule(
    name="unmatched",
    seen="`by`='`{key}`': {n} of {all} {kind}s are not among the {kind}s {passed}, so they are in the row {row}.",
    remedy="Pass all {kind}s, from the same firm.",
    page="Look for them in the billing system: they may have been deleted.",
)
