"""The sections of a person's page and of the firm's, as tables of texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from billframes._shared.format import (
    MISSING,
    count_of,
    enum_label,
    format_number,
    format_rounded,
    long_date,
    money,
    short_date,
)
from billframes.analysis.declare.columns import UNASSIGNED
from billframes.week.firm_week import BUDGET_SHARE, DRAFT_AGES, LATE_DAYS, MOST, OLD_DAYS, FirmWeek, weekday_name


class Section(NamedTuple):
    """A table with its heading, or a sentence; a cell can have a second line, and the last row can be a total."""

    title: str
    heads: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    sentence: str = ""
    total: bool = False


class _Kind(NamedTuple):
    """How a kind of what waits is named: its title for a lawyer and for the firm, its amount, and one of its rows."""

    title: str
    short: str
    amount: str
    noun: str


_KINDS = {
    "drafts": _Kind("Draft bills by age", "Draft bills", "Value", "bill"),
    "unbilled": _Kind(f"Unbilled work older than {OLD_DAYS} days", f"Unbilled over {OLD_DAYS} days", "Value", "matter"),
    "overdue": _Kind("Overdue invoices", "Overdue", "Open", "invoice"),
    "budgets": _Kind(f"Budgets used over {BUDGET_SHARE:.0%}", f"Budgets over {BUDGET_SHARE:.0%}", "Used", "matter"),
}


def sections_of_person(firm: FirmWeek, user: str) -> list[Section]:
    """Return the sections of a person's page, with what waits if the person is a responsible lawyer."""
    return [*(section(firm, user) for section in (_hours, _missing, _late, _matters)), *_waits(firm, user)]


def sections_of_firm(firm: FirmWeek) -> list[Section]:
    """Return everyone's hours, and what waits by responsible lawyer."""
    return [_people(firm), _lawyers(firm)]


def summary_of_person(firm: FirmWeek, user: str) -> str:
    """Return a person's week in one line."""
    row = firm.person(user)
    share = f", {_percent(row['pace_week'])} of target" if pd.notna(row["pace_week"]) else ""
    short, late = (int((each["user_id"] == user).sum()) for each in (firm.missing_in_week, firm.late))
    missing = f" {count_of(short, 'day')} missing." if short else ""
    entries = f" {count_of(late, 'late entry', 'late entries')}." if late else ""
    return f"{_h(row['client_hours_week'])} client hours this week{share}.{missing}{entries}"


def notes_of(firm: FirmWeek) -> str:
    """Say which days and hours count."""
    first, last = map(weekday_name, firm.days.spans["week"])
    return (
        f"The week is from {first} to {last}, so that weekend work counts in one week. The month and the year end on "
        "the same day. Client hours are billable and fixed-fee hours."
    )


def _hours(firm: FirmWeek, user: str) -> Section:
    row, spans = firm.person(user), firm.days.spans
    has_target = pd.notna(row["target_hours_year"])
    beside = "target_hours" if has_target else "capacity_hours"
    cells = {"Client hours": "client_hours", "Target" if has_target else "Available": beside}
    rows = [[title, *(_h(row[f"{name}_{label}"]) for label in spans)] for title, name in cells.items()]
    shares = [_share(row[f"client_hours_{label}"], row[f"{beside}_{label}"]) for label in spans]
    rows.append(["Of target" if has_target else "Of available hours", *shares])
    rows.append(["All hours", *(_h(row[f"total_hours_{label}"]) for label in spans)])
    sentence = "" if has_target else "The firm’s settings have no target for your hours."
    return Section("Hours", ["", *firm.days.titles], rows, sentence)


def _missing(firm: FirmWeek, user: str) -> Section:
    """Return the days of the week with less time than expected, and how many there are earlier in the month."""
    own, in_week = (each[each["user_id"] == user] for each in (firm.missing, firm.missing_in_week))
    columns = zip(in_week["date"], in_week["hours"], in_week["available_hours"], strict=True)
    rows = [[weekday_name(day), _h(hours), _h(whole)] for day, hours, whole in columns]
    earlier = own.drop(in_week.index)
    words = [] if rows else ["None this week."]
    if len(earlier):
        hours = _h(earlier["missing_hours"].sum())
        words.append(f"Earlier in the month: {count_of(len(earlier), 'day')}, with {hours} hours missing.")
    return Section("Days with less time than expected", ["", "Entered", "Expected"], rows, " ".join(words))


def _late(firm: FirmWeek, user: str) -> Section:
    own = firm.late[firm.late["user_id"] == user]
    title = f"Time entered more than {LATE_DAYS} days after the work"
    if own.empty:
        return Section(title, sentence="None this week.")
    entries, oldest = count_of(len(own), "entry", "entries"), short_date(own["date"].min())
    return Section(
        title, sentence=f"{entries} this week, {_h(own['hours'].sum())} hours; the oldest for work of {oldest}."
    )


def _matters(firm: FirmWeek, user: str) -> Section:
    """Return the largest matters of the week; the rows add up to the hours of the week."""
    own = firm.matters[(firm.matters["user_id"] == user) & (firm.matters["total_hours"] != 0)]
    title = f"Your {MOST} largest matters of the week" if len(own) > MOST else "Your matters of the week"
    if own.empty:
        return Section(title, sentence="No time was entered for this week.")
    names = zip(own["matter_name"], own["client_name"], own["total_hours"], strict=True)
    rows = [[_cell(matter, client), _h(hours)] for matter, client, hours in names]
    return Section(title, ["", "Hours"], [*rows, ["Total", _h(own["total_hours"].sum())]], total=True)


def _waits(firm: FirmWeek, user: str) -> Iterator[Section]:
    """Yield what waits for a lawyer, each kind with its largest rows and the sum of the others."""
    found = {kind: rows[rows["responsible_id"] == user] for kind, rows in firm.waits.items()}
    if any(map(len, found.values())):
        currency = f" Amounts are in {firm.settings.currency}." if firm.settings.currency else ""
        yield Section("What waits for you", sentence=f"On your matters, as of {long_date(firm.as_of)}.{currency}")
    for kind, own in found.items():
        if len(own):
            rows = _by_age(own) if kind == "drafts" else _largest(own, "ratio" if kind == "budgets" else "money")
            heads = ["", *(["Bills"] if kind == "drafts" else []), _KINDS[kind].amount]
            yield Section(_KINDS[kind].title, heads, rows, total=rows[-1][0] == "Total")


def _by_age(own: pd.DataFrame) -> list[list[str]]:
    ages = own.groupby("detail")["amount"].agg(["size", "sum"]).reindex([*DRAFT_AGES.values()]).dropna()
    shown = [[age, f"{count:.0f}", money(amount)] for age, count, amount in ages.itertuples()]
    return [*shown, ["Total", f"{len(own)}", money(own["amount"].sum())]]


def _largest(own: pd.DataFrame, unit: str) -> list[list[str]]:
    """Return the largest rows; ratios are not added up."""
    records = own[["name", "detail", "amount"]].itertuples(index=False, name=None)
    rows = [[_cell(name, detail), format_number(amount, unit)] for name, detail, amount in records]
    if unit == "ratio":
        return rows
    rest = own["amount"].iloc[MOST:]
    others = [[f"Others ({len(rest)})", money(rest.sum())]] if len(rest) else []
    return [*rows[:MOST], *others, ["Total", money(own["amount"].sum())]]


def _people(firm: FirmWeek) -> Section:
    """Return the table by person; the total is that of the firm."""
    short, late = (each.groupby("user_id").size() for each in (firm.missing_in_week, firm.late))
    rows = []
    for user in firm.people.index:
        row = firm.person(user)
        if row["total_hours_year"] or row["capacity_hours_week"]:
            words = [*([enum_label(row["role"])] if row["role"] else []), *(["left"] if firm.has_left(user) else [])]
            last = _missing_and_late(short.get(user, 0), late.get(user, 0))
            rows.append([_cell(row["name"], ", ".join(words)), *_of_spans(firm, row), last])
    total = ["Total", *_of_spans(firm, firm.total), _missing_and_late(short.sum(), late.sum())]
    return Section(
        "Client hours, and % of target", ["", *firm.days.titles, "Missing, late"], [*rows, total], total=True
    )


def _missing_and_late(short: int, late: int) -> str:
    return _cell(count_of(short, "day") if short else "", f"{late} late" if late else "")


def _of_spans(firm: FirmWeek, row: Mapping[str, float]) -> list[str]:
    shares = {label: row[f"pace_{label}"] for label in firm.days.spans}
    return [_cell(_h(row[f"client_hours_{label}"]), _percent(share)) for label, share in shares.items()]


def _lawyers(firm: FirmWeek) -> Section:
    title = f"What waits by responsible lawyer, {long_date(firm.as_of)}"
    found = {id_ for rows in firm.waits.values() for id_ in rows["responsible_id"]}
    names = {id_: firm.people["name"].get(id_, UNASSIGNED) for id_ in [*firm.people.index, ""] if id_ in found}
    rows = [[name, *_sums(firm, [id_])] for id_, name in names.items()]
    if not rows:
        return Section(title, sentence="Nothing.")
    heads = ["", *(_KINDS[kind].short for kind in firm.waits)]
    return Section(title, heads, [*rows, ["Total", *_sums(firm, [*names])]], total=True)


def _sums(firm: FirmWeek, lawyers: Sequence[str]) -> Iterator[str]:
    for kind, rows in firm.waits.items():
        own = rows.loc[rows["responsible_id"].isin(lawyers), "amount"]
        amount = money(own.sum()) if kind != "budgets" else ""
        yield _cell(amount, count_of(len(own), _KINDS[kind].noun)) if len(own) else ""


def _h(value: float) -> str:
    return format_number(value, "hours")


def _percent(share: float) -> str:
    return format_rounded(share, "{:.0%}") if pd.notna(share) else MISSING


def _share(part: float, whole: float) -> str:
    return _percent(part / whole if whole > 0 else float("nan"))


def _cell(*lines: object) -> str:
    return "\n".join(str(each) for each in lines if isinstance(each, str) and each)
