"""A page of the week: tables with inline styles, which mail programs show, and the same as text."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from html import escape
from typing import Any

from billframes._shared.export import file_name
from billframes._shared.find_named import find_named
from billframes._shared.format import long_date
from billframes.analysis.data.arguments import read_date
from billframes.errors import ParameterError
from billframes.periods import DateLike
from billframes.week.firm_week import FirmWeek, firm_week, weekday_name
from billframes.week.sections import (
    Section,
    notes_of,
    sections_of_firm,
    sections_of_person,
    summary_of_person,
)

FIRM = "the-firm.html"
"""The file name of the firm's page."""


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
        # The same page is the same file.
        message.set_boundary("=_billframes_week")
        return message


def person_page(firm: FirmWeek, user: str) -> WeekPage:
    """Return the page of a person."""
    row, summary = firm.person(user), summary_of_person(firm, user)
    email, sections = _usable(row["email"].strip()), sections_of_person(firm, user)
    return _page(firm, f"Week to {_day(firm)}", str(row["name"]), email, summary, sections)


def _usable(email: str) -> str:
    """Return an e-mail address; empty if it is not one."""
    try:
        found = Address(addr_spec=email)
    except (ValueError, IndexError, MessageError):
        return ""
    return email if found.username and found.domain and email.isascii() else ""


def firm_page(firm: FirmWeek) -> WeekPage:
    """Return the page of the firm."""
    return _page(firm, f"The firm’s week to {_day(firm)}", "", "", "", sections_of_firm(firm), firm.notes)


def _day(firm: FirmWeek) -> str:
    return f"{weekday_name(firm.days.closed)} {firm.days.closed.year}"


_FONT = "font-family:Arial,Helvetica,sans-serif;color:#1c2733;line-height:1.4;font-size"
_BODY = f"margin:0;padding:16px;background:#ffffff;{_FONT}:15px"
_TABLE = f"border-collapse:collapse;width:100%;margin:0 0 8px;{_FONT}"
# A phone has room for five columns of small letters.
_WIDE, _SIZES = 4, ("15px", "13px")
_CELL = "padding:6px 0 6px 6px;border-bottom:1px solid #e3e6ea;vertical-align:top"
_SMALL = "color:#5b6470;font-size:12px"


def _page(
    firm: FirmWeek,
    subject: str,
    name: str,
    email: str,
    summary: str,
    sections: Sequence[Section],
    notes: Sequence[str] = (),
) -> WeekPage:
    above = [each for each in (", ".join(filter(None, [name, firm.settings.report.get("title", "")])), summary) if each]
    below = " ".join([notes_of(firm), *notes])
    head = (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light">'
        f"<title>{escape(subject)}</title></head>"
    )
    body = [
        f'<body style="{_BODY}">',
        f'<div style="max-width:600px;margin:0 auto"><h1 style="font-size:20px;margin:0 0 4px">{escape(subject)}</h1>',
        *(f'<p style="margin:0 0 4px">{escape(each)}</p>' for each in above),
        *map(_html, sections),
        f'<p style="margin:16px 0 0;{_SMALL}">{escape(below)}</p>',
        "</div></body></html>",
    ]
    text = [subject, *above, *map(_text, sections), below]
    return WeekPage(name, email, subject, head + "".join(body), "\n\n".join(text) + "\n")


def _html(section: Section) -> str:
    head = f'<h2 style="font-size:16px;margin:20px 0 4px">{escape(section.title)}</h2>'
    table = ""
    if section.rows:
        heads = _row(section.heads, "th", f"{_CELL};{_SMALL};font-weight:normal;vertical-align:bottom")
        last = len(section.rows) - 1 if section.total else -1
        bold = ";font-weight:bold"
        rows = [_row(row, "td", f"{_CELL}{bold if place == last else ''}") for place, row in enumerate(section.rows)]
        table = f'<table style="{_TABLE}:{_SIZES[len(section.heads) > _WIDE]}">{heads}{"".join(rows)}</table>'
    sentence = f'<p style="margin:0">{escape(section.sentence)}</p>' if section.sentence else ""
    return head + table + sentence


def _row(cells: Sequence[str], tag: str, style: str) -> str:
    """Return a row: names on the left, numbers on the right, and the second line of a cell small below it."""
    made, nowrap = [], ";white-space:nowrap" if tag == "td" else ""
    for place, cell in enumerate(cells):
        first, _, second = cell.partition("\n")
        small = f'<br><span style="{_SMALL};font-weight:normal">{escape(second)}</span>' if second else ""
        own = style.replace(" 6px;", " 0;") + ";text-align:left" if place == 0 else f"{style};text-align:right{nowrap}"
        made.append(f'<{tag} style="{own}">{escape(first)}{small}</{tag}>')
    return f"<tr>{''.join(made)}</tr>"


def _text(section: Section) -> str:
    lines = [section.title.upper()]
    for name, *cells in ([each.replace("\n", ", ") for each in row] for row in section.rows):
        parts = [f"{head} {cell}".strip() for head, cell in zip(section.heads[1:], cells, strict=True) if cell]
        lines.append(f"{name}: {'; '.join(parts)}")
    return "\n".join([*lines, *([section.sentence] if section.sentence else [])])


def week_of_book(book: Any, user: str | None, date: DateLike | None) -> WeekPage:
    """Return the page of a person or of the firm; see `BookWeek.week`."""
    if date is None:
        end, loaded = book.period.end, book.loaded_on("time_entries", "invoices")
        # Time of the day of the load may not be entered yet.
        days = [each for each in (end and end + dt.timedelta(days=1), loaded) if each is not None]
        if not days:
            raise ParameterError("date is needed: the book's period has no last day.")
        day = min(days)
    else:
        day = read_date(date, "date")
    firm = firm_week(book, day)
    return firm_page(firm) if user is None else person_page(firm, find_person(book, firm, user))


def find_person(book: Any, firm: FirmWeek, text: str) -> str:
    """Return the id of a person by name, a part of it, e-mail address or id; refuse people without a page."""
    listed = book.users[["user_id", "name", "email"]].astype("object")
    known = {id_: (id_, name, email) for id_, name, email in listed.where(listed.notna(), "").itertuples(index=False)}
    known |= {str(id_): (str(id_), name, "") for id_, name in firm.people["name"].items() if id_ not in known}
    id_, name = find_named(text, [*known.values()], "person")
    if id_ in firm.people.index and firm.has_left(id_):
        raise ParameterError(
            f"{name} left on {long_date(firm.person(id_)['last_day'])}, before the week of {firm.days.week_name}. "
            "Give an earlier date."
        )
    if id_ not in firm.people.index or not firm.has_page(id_):
        raise ParameterError(f"{name} records no time, and no work waits for them, so they have no page.")
    return id_


def pages_of(firm: FirmWeek, user: str | None = None) -> dict[str, WeekPage]:
    """Return all pages, or that of one person, by their file names, which are distinct."""
    users = [each for each in firm.people.index if firm.has_page(each)]
    plain = {each: file_name(str(firm.people.loc[each, "name"]), "html") for each in users}
    taken = Counter([*plain.values(), file_name("", "html"), FIRM])
    # If names are the same, or have no Latin letters, their ids are added.
    names = {
        each: name if taken[name] == 1 else file_name(f"{name.removesuffix('.html')[:40]} {each}", "html")
        for each, name in plain.items()
    }
    if user is not None:
        return {names[user]: person_page(firm, user)}
    return {FIRM: firm_page(firm), **{name: person_page(firm, each) for each, name in names.items()}}
