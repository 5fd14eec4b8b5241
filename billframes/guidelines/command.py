"""`billframes guidelines`: what clients may refuse or cut of the unbilled work, for the weekly look at it."""

from __future__ import annotations

import argparse
import datetime as dt
import re
from pathlib import Path

from billframes._shared.export import write
from billframes._shared.format import long_date
from billframes._shared.messages import say
from billframes.analysis.data.distinct_names import DistinctNames
from billframes.book import Book
from billframes.commands import add_connection, check_sheets, connected
from billframes.config.firm import describe_settings
from billframes.errors import ParameterError
from billframes.guidelines.check import Guidelines
from billframes.guidelines.declare import SEVERITIES
from billframes.guidelines.in_report import save_check
from billframes.guidelines.sheets import KEYS, describe_findings, guideline_page, guideline_workbook
from billframes.periods import Period, resolve

EXAMPLES = (
    "billframes guidelines guidelines --since 7d",
    "billframes guidelines granite.toml --by responsible --out granite",
    "billframes guidelines --demo --fail-on refused",
)
PAGE, WORKBOOK = "guidelines.html", "guidelines.xlsx"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options on `parser`."""
    parser.add_argument(
        "folder",
        nargs="?",
        metavar="FOLDER",
        help="the guideline files, or one file (default: the firm's settings name it)",
    )
    parser.add_argument("--since", metavar="7d", help="only work of the last days, or since a date such as 2026-10-01")
    parser.add_argument(
        "--by", choices=KEYS, default="user", metavar="|".join(KEYS), help="what has a sheet of its own (default: user)"
    )
    parser.add_argument(
        "--as-of", metavar="DATE", help="the day from which ages are counted (default: the day of the data)"
    )
    parser.add_argument(
        "--fail-on",
        choices=SEVERITIES,
        metavar="|".join(SEVERITIES),
        help="end with exit code 1 if there is a finding of this severity or a higher one",
    )
    parser.add_argument(
        "--out", metavar="FOLDER", default="guideline-check", help="the folder to write to (default: guideline-check)"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace existing files")
    parser.add_argument(
        "--save", action="store_true", help="save the findings beside the guideline files, for the monthly report"
    )
    add_connection(parser)


def run(args: argparse.Namespace) -> int:
    """Write the page and the workbook, and return the exit code."""
    out = Path(args.out).absolute()
    _check_options(args, out)
    with connected(args) as client:
        folder = args.folder or (client.settings.guidelines if client.settings else "")
        if not folder:
            raise ParameterError(
                "Give the folder of the guideline files, or name it in the firm's settings (guidelines)."
            )
        book = Book(Period(), settings=None, client=client)
        day = resolve(None, args.as_of, names=("", "as_of")).end if args.as_of else book.loaded_on("time_entries")
        start = _start(args.since, day or dt.date.max)
        findings = Guidelines.read(folder).check(book, start=start, as_of=day)
        findings = DistinctNames(book.clients, book.matters, book.users)(findings)
    work = f"Unbilled work and drafts{f' since {long_date(start)}' if start else ''}"
    settings = describe_settings(book.settings)
    scope = f"{work}{f'; ages are counted to {long_date(day)}' if day else ''}. {settings}"
    page = guideline_page(findings, by=args.by, scope=scope)
    files = {PAGE: page.encode(), WORKBOOK: guideline_workbook(findings, by=args.by, settings=settings)}
    out.mkdir(exist_ok=True)
    for name, content in files.items():
        write(out / name, content)
        say(out / name)
    if args.save and day:
        save_check(findings, folder, day)
    say(describe_findings(findings))
    worst = SEVERITIES[: SEVERITIES.index(args.fail_on) + 1] if args.fail_on else ()
    return int(findings["severity"].isin(worst).any())


def _start(since: str | None, day: dt.date) -> dt.date | None:
    if since is None:
        return None
    days = re.fullmatch(r"(\d{1,4})d", since)
    return day - dt.timedelta(days=int(days[1])) if days else resolve(since, None, names=("since", "")).start


def _check_options(args: argparse.Namespace, out: Path) -> None:
    if args.folder and not Path(args.folder).exists():
        raise ParameterError(f"There is no file or folder {args.folder}.")
    check_sheets(out, (PAGE, WORKBOOK), overwrite=args.overwrite)
