"""`billframes week`: write everyone's page of the week, and the e-mails to send them with."""

from __future__ import annotations

import argparse
import datetime as dt
from pathlib import Path

from billframes._session import book as make_book
from billframes._shared.export import write
from billframes._shared.format import count_of, long_date
from billframes._shared.messages import say
from billframes._shared.names import join_names
from billframes.analysis.data.arguments import read_date
from billframes.commands import add_connection, check_folder, connected
from billframes.config.firm_calendar import FirmCalendar
from billframes.errors import ParameterError
from billframes.week.firm_week import firm_week
from billframes.week.page import FIRM, find_person, pages_of

EXAMPLES = (
    "billframes week --demo",
    "billframes week --mirror firm --settings firm.toml",
    'billframes week 2026-10-26 --user "Priya Raman" --out october',
)
_DEMO_DATE = dt.date(2026, 10, 26)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options on `parser`."""
    parser.add_argument(
        "date",
        nargs="?",
        metavar="DATE",
        help="hours end on the last working day before this day, such as 2026-10-26 (default: this week's Monday)",
    )
    parser.add_argument("--user", metavar="NAME", help="only this person's page, by name, e-mail address or id")
    parser.add_argument(
        "--out", metavar="FOLDER", help="the folder to write to (default: week-DATE, with the last day)"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace existing files")
    add_connection(parser)


def run(args: argparse.Namespace) -> int:
    """Write the pages and the e-mails, and return the exit code."""
    given = read_date(args.date, "DATE") if args.date else None
    with connected(args) as client:
        today = FirmCalendar(lambda: client).today
        date = given or (_DEMO_DATE if args.demo else today - dt.timedelta(days=today.weekday()))
        if date > today and not args.demo:
            raise ParameterError(f"DATE {date} is after today, {long_date(today)}. Give today or an earlier day.")
        book = make_book(date - dt.timedelta(days=7), date, client=client)
        firm = firm_week(book, date)
        pages = pages_of(firm, find_person(book, firm, args.user) if args.user else None)
    out = Path(args.out or f"week-{firm.days.closed}").absolute()
    files = {name: page.html.encode() for name, page in pages.items()}
    mails = {name: page for name, page in pages.items() if page.email or name == FIRM}
    files |= {f"{Path(name).stem}.eml": bytes(page.message()) for name, page in mails.items()}
    check_folder(out, [*files], overwrite=args.overwrite)
    out.mkdir(exist_ok=True)
    for name, content in files.items():
        write(out / name, content)
    made = f"{count_of(len(pages), 'page')} and {count_of(len(mails), 'e-mail')}"
    say(f"{out}: {made}; hours until {long_date(firm.days.closed)}.")
    without = [page.name for name, page in pages.items() if name not in mails]
    if without:
        say(f"No usable e-mail address: {join_names(without)}.")
    return 0
