"""A page of the week: tables with inline styles, which mail programs show, and the same as text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from html import escape

import pandas as pd

from billframes._shared.format import MISSING, count_of, enum_label, format_number, long_date, short_date
from billframes.analysis.declare.columns import UNASSIGNED
from billframes.week.days import weekday_name
from billframes.week.firm_week import BUDGET_SHARE, DRAFT_AGES, LATE_DAYS, MOST, OLD_DAYS, FirmWeek

_TITLES = {
    "drafts": "Draft bills by age",
    "unbilled": f"Unbilled work older than {OLD_DAYS} days",
    "overdue": "Overdue invoices",
    "budgets": f"Budgets used over {BUDGET_SHARE:.0%}",
}
_SHORT = {
    "drafts": "Draft bills",
    "unbilled": f"Unbilled over {OLD_DAYS} days",
    "overdue": "Overdue",
    "budgets": f"Budgets over {BUDGET_SHARE:.0%}",
}
_HEADS = {"drafts": "Value", "unbilled": "Value", "overdue": "Open", "budgets": "Used"}
_EMAIL = re.compile(r'[^\s@<>(),;:"\\]+@[^\s@<>(),;:"\\]+', re.ASCII)


@dataclass(frozen=True, slots=True)
class Section:
    """A table with its heading; a cell can have a second line. Without rows, the sentence stands alone."""

    title: str
    heads: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    sentence: str = ""
    total: bool = False


@dataclass(frozen=True, slots=True)
class WeekPage:
    """
    The week of a person, or of the firm, as a page and as an e-mail.

    Parameters
    ----------
    name, email : str
        The person; both are empty on the firm's page, and `email` without a usable address.
    subject : str
    html, text : str
        The page, and the same as text.
    """

    name: str
    email: str
    subject: str
    html: str
    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html.partition("<body")[2].partition(">")[2].removesuffix("</body></html>")

    def message(self) -> EmailMessage:
        """Return the e-mail to the person, as a draft that mail programs open; nothing is sent."""
        message = EmailMessage(policy=SMTP)
        message["Subject"] = self.subject
        if self.email:
            message["To"] = Address(" ".join(self.name.split()), addr_spec=self.email)
        message["X-Unsent"] = "1"
        message.set_content(self.text)
        message.add_alternative(self.html, subtype="html")
        return message


def person_page(firm: FirmWeek, user: str) -> WeekPage:
    """Return the page of a person, with what waits if the person is a responsible lawyer."""
    row = firm.person(user)
    waits = list(_waits(firm, user))
    sections = [_hours(firm, row), _missing(firm, user), _late(firm, user), _matters(firm, user), *waits]
    notes = [*_notes(firm, bool(waits))]
    email = row["email"].strip() if _EMAIL.fullmatch(row["email"].strip()) else ""
    return _page(firm, f"Week to {weekday_name(firm.days.closed)}", str(row["name"]), email, sections, notes)


def firm_page(firm: FirmWeek) -> WeekPage:
    """Return the page of the firm: everyone's hours, and what waits by responsible lawyer."""
    sections = [_people(firm), _lawyers(firm)]
    notes = [*_notes(firm, waits=True), *firm.notes]
    return _page(firm, f"The firm’s week to {weekday_name(firm.days.closed)}", "", "", sections, notes)


def _hours(firm: FirmWeek, row: Mapping[str, float]) -> Section:
    """Return the hours of the week, the month and the year beside the target, or beside the hours available."""
    spans = firm.days.spans
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
    own = firm.missing[firm.missing["user_id"] == user]
    in_week = own["date"] >= pd.Timestamp(firm.days.week)
    rows = [
        [weekday_name(row["date"]), _h(row["hours"]), _h(row["available_hours"])]
        for row in own[in_week].to_dict("records")
    ]
    earlier = own[~in_week]
    words = [] if rows else ["No day of the week has less than half of your hours."]
    if len(earlier):
        hours = _h(earlier["missing_hours"].sum())
        words.append(f"Earlier in the month: {count_of(len(earlier), 'day')}, with {hours} hours missing.")
    return Section("Days with less time than expected", ["", "Entered", "Hours a day"], rows, " ".join(words))


def _late(firm: FirmWeek, user: str) -> Section:
    own = firm.late[firm.late["user_id"] == user]
    title = f"Entered more than {LATE_DAYS} days after the work"
    if own.empty:
        return Section(title, sentence="None in this week.")
    entries, oldest = count_of(len(own), "entry", "entries"), short_date(own["date"].min())
    return Section(
        title, sentence=f"{entries} in this week, with {_h(own['hours'].sum())} hours; the oldest is of {oldest}."
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
    for kind, rows in firm.waits.items():
        own = rows[rows["responsible_id"] == user]
        if own.empty:
            continue
        if kind == "drafts":
            ages = own.groupby("detail")["amount"].agg(["size", "sum"]).reindex(list(DRAFT_AGES.values())).dropna()
            shown = [[age, f"{count:.0f}", _money(amount)] for age, count, amount in ages.itertuples()]
            total = ["Total", f"{len(own)}", _money(own["amount"].sum())]
            yield Section(_TITLES[kind], ["", "Bills", "Value"], [*shown, total], total=True)
            continue
        unit = "ratio" if kind == "budgets" else "money"
        records = own.head(MOST)[["name", "detail", "amount"]].itertuples(index=False, name=None)
        shown = [[_cell(name, detail), format_number(amount, unit)] for name, detail, amount in records]
        if len(rest := own.iloc[MOST:]):
            shown.append([f"Others ({len(rest)})", "" if kind == "budgets" else _money(rest["amount"].sum())])
        if kind != "budgets":
            shown.append(["Total", _money(own["amount"].sum())])
        yield Section(_TITLES[kind], ["", _HEADS[kind]], shown, total=kind != "budgets")


def _people(firm: FirmWeek) -> Section:
    """Return the table by person; the total is that of the firm."""
    week = firm.missing[firm.missing["date"] >= pd.Timestamp(firm.days.week)].groupby("user_id").size()
    late = firm.late.groupby("user_id").size()
    rows = []
    for user in firm.people.index:
        row = firm.person(user)
        if any(row[name] > 0 for name in ("total_hours_year", "capacity_hours_week")):
            words = [enum_label(row["role"])] if row["role"] else []
            words += ["left"] if firm.has_left(user) else []
            counts = [f"{each.get(user, 0) or ''}" for each in (week, late)]
            rows.append([_cell(row["name"], ", ".join(words)), *_of_spans(firm, row), *counts])
    total = ["Total", *_of_spans(firm, firm.total), f"{week.sum()}", f"{late.sum()}"]
    heads = ["", *firm.days.titles, "Short days", "Late entries"]
    return Section("Client hours, and of target", heads, [*rows, total], total=True)


def _of_spans(firm: FirmWeek, row: Mapping[str, float]) -> list[str]:
    shares = {label: row[f"pace_{label}"] for label in firm.days.spans}
    return [_cell(_h(row[f"client_hours_{label}"]), _percent(share)) for label, share in shares.items()]


def _lawyers(firm: FirmWeek) -> Section:
    """Return the table of what waits by responsible lawyer, in the order of people; the last row has all."""
    found = {
        id_: name
        for rows in firm.waits.values()
        for id_, name in zip(rows["responsible_id"], rows["responsible_name"], strict=True)
    }
    names = {id_: firm.people["name"].get(id_, UNASSIGNED) for id_ in [*firm.people.index, ""] if id_ in found}
    rows = [[name, *_sums(firm, [id_])] for id_, name in names.items()]
    heads = ["", *(_SHORT[kind] for kind in firm.waits)]
    title = "What waits, by responsible lawyer"
    if not rows:
        return Section(title, sentence="Nothing.")
    return Section(title, heads, [*rows, ["Total", *_sums(firm, [*names])]], total=True)


def _sums(firm: FirmWeek, lawyers: Sequence[str]) -> Iterator[str]:
    """Yield the amount of each kind and the number of its rows."""
    for kind, rows in firm.waits.items():
        own = rows.loc[rows["responsible_id"].isin(lawyers), "amount"]
        amount = _money(own.sum()) if kind != "budgets" else ""
        yield _cell(amount, f"{len(own)}") if len(own) else ""


def _notes(firm: FirmWeek, waits: bool) -> Iterator[str]:
    """Yield what the figures mean."""
    closed = weekday_name(firm.days.closed)
    yield f"The week is {firm.days.week_name}, from the last weekend on. All hours end on {closed}."
    yield "Client hours are billable and fixed-fee hours."
    if waits:
        currency = f" Amounts are in {firm.settings.currency}." if firm.settings.currency else ""
        yield f"Bills, unbilled work, invoices and budgets are as of {long_date(firm.as_of)}.{currency}"


def _h(value: float) -> str:
    return format_number(value, "hours")


def _money(value: float) -> str:
    return format_number(value, "money")


def _percent(share: float) -> str:
    return f"{share:.0%}" if pd.notna(share) else MISSING


def _share(part: float, whole: float) -> str:
    return _percent(part / whole if whole > 0 else float("nan"))


def _cell(*lines: object) -> str:
    return "\n".join(str(each) for each in lines if isinstance(each, str) and each)


_BODY = "margin:0;padding:16px;background:#ffffff;color:#1c2733;font:15px/1.45 Arial,Helvetica,sans-serif"
_TABLE = "border-collapse:collapse;width:100%;margin:0 0 8px"
_CELL = "padding:6px 0 6px 8px;border-bottom:1px solid #e3e6ea;vertical-align:top"
_SMALL = "color:#5b6470;font-size:13px"


def _page(
    firm: FirmWeek, title: str, name: str, email: str, sections: Sequence[Section], notes: Sequence[str]
) -> WeekPage:
    """Return a page of sections."""
    subject = f"{title} {firm.days.closed.year}"
    words = firm.settings.report.get("title", "")
    above = ", ".join(filter(None, [name, words]))
    head = (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light">'
        f"<title>{escape(subject)}</title></head>"
    )
    body = [
        f'<body style="{_BODY}">',
        f'<div style="max-width:600px;margin:0 auto"><h1 style="font-size:20px;margin:0 0 4px">{escape(subject)}</h1>',
        f'<p style="margin:0 0 8px;{_SMALL}">{escape(above)}</p>',
        *map(_html, sections),
        f'<p style="margin:16px 0 0;{_SMALL}">{escape(" ".join(notes))}</p>',
        "</div></body></html>",
    ]
    text = [subject, *([above] if above else []), *map(_text, sections), "\n".join(notes)]
    return WeekPage(name, email, subject, head + "".join(body), "\n\n".join(text) + "\n")


def _html(section: Section) -> str:
    head = f'<h2 style="font-size:16px;margin:20px 0 4px">{escape(section.title)}</h2>'
    table = ""
    if section.rows:
        heads = _row(section.heads, "th", f"{_CELL};{_SMALL};font-weight:normal;vertical-align:bottom")
        last = len(section.rows) - 1 if section.total else -1
        bold = ";font-weight:bold"
        rows = [_row(row, "td", f"{_CELL}{bold if place == last else ''}") for place, row in enumerate(section.rows)]
        table = f'<table style="{_TABLE}">{heads}{"".join(rows)}</table>'
    sentence = f'<p style="margin:0">{escape(section.sentence)}</p>' if section.sentence else ""
    return head + table + sentence


def _row(cells: Sequence[str], tag: str, style: str) -> str:
    """Return a row: names on the left, numbers on the right, and the second line of a cell small below it."""
    made = []
    for place, cell in enumerate(cells):
        first, _, second = cell.partition("\n")
        small = f'<br><span style="{_SMALL};font-weight:normal">{escape(second)}</span>' if second else ""
        own = style.replace(" 8px", " 0") + ";text-align:left" if place == 0 else f"{style};text-align:right"
        made.append(f'<{tag} style="{own}">{escape(first)}{small}</{tag}>')
    return f"<tr>{''.join(made)}</tr>"


def _text(section: Section) -> str:
    """Return a section as text: each row's name, and its cells with their headings."""
    lines = [section.title.upper()]
    for name, *cells in ([each.replace("\n", ", ") for each in row] for row in section.rows):
        parts = [f"{head} {cell}".strip() for head, cell in zip(section.heads[1:], cells, strict=True) if cell]
        lines.append(f"{name}: {'; '.join(parts)}")
    return "\n".join([*lines, *([section.sentence] if section.sentence else [])])
