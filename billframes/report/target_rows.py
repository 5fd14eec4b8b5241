"""Targets of client hours and billed fees by person, for the month and the year to date, beside what was reached."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from billframes._show import format_number
from billframes.analysis.capacity import prorated
from billframes.analysis.metrics import Measure, divided, summed
from billframes.report.collected_warnings import collect_warnings
from billframes.report.month import LEAST_HOURS, Month

__all__ = ["Targets", "month_targets"]


@dataclass(frozen=True)
class Targets:
    """People with a target: a row each, with the columns that are shown, and a note of people who are left out."""

    title: str
    columns: tuple[Measure, ...]
    rows: pd.DataFrame
    note: str = ""


def month_targets(month: Month, what: Literal["hours", "fees"]) -> Targets:
    """
    Return the people who have a target of hours or of fees.

    Parameters
    ----------
    month : Month
    what : {"hours", "fees"}
    """
    users = month.whole.users
    settings = month.settings_by_id
    unit: Literal["hours", "money"] = "hours" if what == "hours" else "money"
    title = {"hours": "Client hours and targets", "fees": "Fees billed and targets"}[what]
    reached = {"hours": "Client hours", "fees": "Billed"}[what]
    names = (("", month.first, f"in {month.name}"), ("_to_date", month.first.replace(month=1), "in the year to date"))
    columns: list[Measure] = []
    ids = list(settings.targets_of(what))
    people = users.set_index("user_id")["name"].reindex(ids)
    rows = pd.DataFrame({"user_id": ids, "user_name": people.fillna("Unknown").to_list()})
    for end, first, words in names:
        done = _reached(month, what, first)
        rows[f"reached{end}"] = [float(done.get(each, 0.0)) for each in ids]
        aims = prorated(settings, what, first, month.last)
        rows[f"target{end}"] = [aims[each] for each in ids]
        rows[f"pace{end}"] = rows[f"reached{end}"] / rows[f"target{end}"].where(rows[f"target{end}"] > 0)
        later = ", year to date" if end else ""
        columns += [
            summed(f"reached{end}", f"{reached}{later}", unit, f"{reached} {words}."),
            summed(f"target{end}", f"Target{later}", unit, f"The target, prorated by working days, {words}."),
            divided(f"pace{end}", f"Pace{later}", f"reached{end} / target{end}", "Reached ÷ target."),
        ]
    rows = rows.sort_values("pace", ascending=False, kind="stable", ignore_index=True)
    if what == "fees":
        return Targets(title, tuple(columns), rows)
    idle = rows["reached"].abs() < LEAST_HOURS
    return Targets(title, tuple(columns), rows[~idle].reset_index(drop=True), _without_hours(rows[idle], month))


def _without_hours(idle: pd.DataFrame, month: Month) -> str:
    """Name the people who have a target and no client hours in the month, with the year to date."""
    year = ("reached_to_date", "target_to_date")
    people = [
        f"{row['user_name']} (year to date: {' of '.join(format_number(row[name], 'hours') for name in year)})"
        for row in idle.to_dict("records")
    ]
    return f"With a target and without client hours in {month.name}: {', '.join(people)}." if people else ""


def _reached(month: Month, what: str, first: dt.date) -> dict[str, float]:
    with collect_warnings(month.notes):
        if what == "hours":
            found = month.whole.utilization(start=first, end=month.last).set_index("user_id")["client_hours"]
        else:
            found = month.whole.realization("user", start=first, end=month.last).set_index("user_id")["billed_amount"]
    return {str(name): float(value) for name, value in found.dropna().items()}
