"""`billframes report`: write the report of a month, quarter or year, for the firm or for a part of it."""

from __future__ import annotations

import argparse
import datetime as dt
import os
import re
import time
from pathlib import Path
from typing import Any

from billframes._session import book
from billframes._shared.export import check_output, make_folder
from billframes._shared.format import long_date
from billframes._shared.messages import say, say_error
from billframes.analysis.data.data_span import check_begun
from billframes.book.slices import SLICE_KEYS
from billframes.client import Client
from billframes.commands import DEMO_FIRM, DEMO_REMARK, add_connection, connected
from billframes.config.firm_calendar import FirmCalendar
from billframes.errors import LedgerError, NoDataError, ParameterError
from billframes.periods import Period
from billframes.report.building import build, check_extras
from billframes.report.loading import read_months
from billframes.report.month_days import period_code
from billframes.report.scope import Scope, all_scopes, file_names, find_scope

EXAMPLES = (
    "billframes report --demo",
    "billframes report 2026-Q3 --out quarter.pdf",
    'billframes report 2026-10 --ledger "A_R Aging Detail.csv" sales.csv',
    "billframes report 2026-10 --all-responsible --format pdf --out partners",
)

FORMATS = ("html", "xlsx", "pdf")
DEMO_MONTH = "2026-10"
_OTHER_FORMATS = (
    "billframes report --demo --format xlsx writes the workbook. A PDF needs\n"
    "pip install 'billframes[report]' and Chromium: --format pdf."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options on `parser`."""
    parser.add_argument(
        "month",
        nargs="?",
        metavar="PERIOD",
        help="a month, quarter or year, such as 2026-10, 2026-Q3, 2026, FY2026 or 'last quarter' (default: last month)",
    )
    add_connection(parser, more=", in 2026-10 by default")
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="the file to write, to which a missing ending is added (default: billframes-PERIOD.html in this folder); "
        "with --all-responsible, a folder",
    )
    parser.add_argument(
        "--format", metavar="|".join(FORMATS), help="html, xlsx or pdf (default: from the ending of --out, else html)"
    )
    parser.add_argument(
        "--ledger",
        nargs="+",
        default=[],
        metavar="FILE",
        help="reports of the firm's books: A/R Aging Detail, Sales by Customer Detail (default: the settings' folder)",
    )
    parser.add_argument("--narratives", action="store_true", help="list time entries with their descriptions")
    answers = parser.add_mutually_exclusive_group()
    answers.add_argument(
        "--answers",
        type=lambda text: [each.strip() for each in text.split(",")],
        metavar="KEYS",
        help="the keys by which the page answers questions, such as client,user (default: all, up to 2 MB)",
    )
    answers.add_argument(
        "--no-answers", dest="answers", action="store_false", default=None, help="a page without questions"
    )
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument("--client", metavar="NAME", help="report on one client, by name, reference or id")
    scope.add_argument("--practice-area", metavar="NAME", help="report on one practice area, by name or id")
    scope.add_argument(
        "--responsible", metavar="NAME", help="report on one lawyer's matters, by name, e-mail address or id"
    )
    scope.add_argument("--all-responsible", action="store_true", help="write a report for each responsible lawyer")


def run(args: argparse.Namespace) -> int:
    """Write the report, print its path, and return the exit code."""
    args.format = _format(args)
    if args.out and not (args.all_responsible or args.out.endswith(("/", os.sep)) or _has_ending(Path(args.out))):
        args.out = f"{args.out}.{args.format}"
    text = args.month or (DEMO_MONTH if args.demo else "last month")
    out = Path(args.out).absolute() if args.out else None
    _check_options(args, out)
    if not text.upper().startswith("FY"):
        # A text that is not a period is refused before anything is connected.
        read_months(text)
    now = dt.datetime.now().astimezone()
    parameters: dict[str, Any] = {"generated": f"{long_date(now.date())}, {now:%H:%M}"}
    parameters |= {"narratives": args.narratives, "answers": args.answers}
    if args.ledger:
        parameters["ledger"] = [str(Path(each).absolute()) for each in args.ledger]
    steps = _Steps()
    if args.demo:
        steps("Starting the sandbox with its made-up firm")
        parameters |= {"title": DEMO_FIRM, "remark": DEMO_REMARK}
    with connected(args, progress=False) as client:
        calendar = FirmCalendar(lambda: client)
        # Which month "last month" is depends on the firm's time zone, and "FY2026" on its settings.
        first, last = read_months(text, calendar)
        parameters["month"] = months = Period(first, last)
        if client.settings:
            parameters["settings"] = client.settings.source
        if not args.demo:
            # The current month is counted up to today.
            check_begun(first, calendar.today, "today")
            parameters["as_of"] = min(calendar.today, last).isoformat()
        outs = _outs(args, months, out, client)
        try:
            build(parameters, outs, client=client, step=steps, format=args.format)
        except (LedgerError, NoDataError) as error:
            say_error(error, args)
            return 1
    steps("Done")
    for path in outs.values():
        say(path)
    if args.demo and args.format == "html":
        say(_OTHER_FORMATS, error=True)
    return 0


def _format(args: argparse.Namespace) -> str:
    """Return the format from the option, or from the ending of the file."""
    if args.format and args.format not in FORMATS:
        raise ParameterError(f"--format {args.format} is not known; it takes {', '.join(FORMATS)}.")
    if not args.out or args.all_responsible or Path(args.out).is_dir():
        return args.format or FORMATS[0]
    ending = re.sub(r"^htm$", "html", Path(args.out).suffix.lower().removeprefix("."))
    if ending and ending not in FORMATS and not args.format:
        endings = ", ".join(f".{each}" for each in FORMATS)
        raise ParameterError(f"--out {Path(args.out).name} must end with one of {endings}; rename it, or add --format.")
    if args.format and ending in FORMATS and ending != args.format:
        raise ParameterError(f"--out {Path(args.out).name} contradicts --format {args.format}; remove one of them.")
    return args.format or ending or FORMATS[0]


def _has_ending(out: Path) -> bool:
    return bool(out.suffix) or out.is_dir()


def _check_options(args: argparse.Namespace, out: Path | None) -> None:
    # The extra "demo" has what a page and a workbook of the sandbox's firm need, and nothing for PDF.
    extra = "demo" if args.demo and args.format != "pdf" else "excel" if args.format == "xlsx" else "report"
    check_extras(args.format, extra=extra)
    if args.all_responsible:
        if out and out.exists() and not out.is_dir():
            raise ParameterError(f"--out {out} is a file; with --all-responsible, give the folder to write to.")
    elif out:
        check_output(args.out)


def _outs(args: argparse.Namespace, months: Period, out: Path | None, client: Client) -> dict[str, Path]:
    """Return the file of each report by the code of its scope. The code of the whole firm is empty."""
    month, folder = period_code(months), Path.cwd()
    scopes = _scopes(args, months, client)
    if not scopes:
        return {"": out or folder / f"billframes-{month}.{args.format}"}
    if args.all_responsible:
        folder = out or folder
        make_folder(folder)
    elif out:
        return {scopes[0].code: out}
    names = file_names(scopes, month, args.format)
    return {each.code: folder / name for each, name in zip(scopes, names, strict=True)}


def _scopes(args: argparse.Namespace, months: Period, client: Client) -> list[Scope]:
    texts = {key: getattr(args, key) for key in SLICE_KEYS if getattr(args, key) is not None}
    if not (texts or args.all_responsible):
        return []
    firm = book(months.start or dt.date.min, months.end, client=client)
    if args.all_responsible:
        return all_scopes(firm, "responsible")
    return [find_scope(firm, key, text) for key, text in texts.items()]


class _Steps:
    """Prints each step to stderr with the seconds since the start."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    def __call__(self, step: str) -> None:
        say(f"{time.monotonic() - self._start:5.1f} s  {step}", error=True)
