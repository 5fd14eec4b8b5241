"""The pages of a week: one for each person who records time or has work that waits, and the firm's."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from typing import Any

from billframes._shared.export import file_name
from billframes._shared.find_named import find_named
from billframes._shared.format import long_date
from billframes.analysis.data.arguments import read_date
from billframes.errors import ParameterError
from billframes.periods import DateLike
from billframes.week.firm_week import FirmWeek, firm_week
from billframes.week.page import WeekPage, firm_page, person_page

FIRM = "the-firm.html"
"""The file name of the firm's page."""


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
