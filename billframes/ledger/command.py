"""`billframes tie-out`: compare the receivables with a report of the firm's books, and give the reasons."""

from __future__ import annotations

import argparse
import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from billframes._shared.export import check_output, to_csv, to_excel, write
from billframes._shared.format import enum_label, format_number
from billframes._shared.limits import checked_number
from billframes._shared.messages import say, say_error
from billframes.analysis.data.arguments import read_date
from billframes.book import Book
from billframes.client import Client
from billframes.commands import add_connection, connected
from billframes.config.firm import FirmSettings, describe_settings
from billframes.errors import LedgerError, ParameterError
from billframes.ledger import read_ledger
from billframes.ledger.amounts_and_dates import ORDERS, cents
from billframes.ledger.kept_reports import keep_reports
from billframes.ledger.tie_out_rows import add_up_reasons
from billframes.periods import Period

EXAMPLES = (
    'billframes tie-out "A_R Aging Detail.csv" -o october.xlsx',
    "billframes tie-out aging.csv --history invoices.csv --control 8605.49",
    "billframes tie-out aging.csv --mirror firm-mirror -o october.csv",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options on `parser`."""
    parser.add_argument("file", metavar="FILE", help="A/R Aging Detail, or another report of open invoices")
    parser.add_argument("--as-of", metavar="DATE", help="the day of the comparison (default: the report's)")
    parser.add_argument("--history", metavar="FILE", help="Invoice List by Date, which has invoices that are not open")
    parser.add_argument("--control", metavar="AMOUNT", type=amount, help="accounts receivable in the balance sheet")
    parser.add_argument("--dates", choices=ORDERS, help="read 5/6/2026 as 5 June (dmy) or 6 May (mdy)")
    parser.add_argument(
        "-o", "--out", metavar="FILE", help="write a row per invoice to this .csv or .xlsx file (default: reasons only)"
    )
    add_connection(parser)


def amount(text: str) -> float:
    """Return an amount such as 8605.49 or $8,605.49."""
    try:
        return cents(text, "point") / 100
    except ValueError:
        return checked_number(float(text))


def run(args: argparse.Namespace) -> int:
    """Print the reasons, write the file, and return the exit code."""
    out = None if args.out is None else Path(args.out).absolute()
    if out is not None:
        if out.suffix.lower() not in (".csv", ".xlsx"):
            raise ParameterError(f"--out {out.name} must end with .csv or .xlsx.")
        check_output(out)
    try:
        ledger = read_ledger(args.file, dates=args.dates)
        history = None if args.history is None else read_ledger(args.history, dates=args.dates)
        day = args.as_of or _stated_day(ledger.attrs["ledger"])
        with connected(args) as client:
            of_day = _at(client, read_date(day, "as_of"), client.settings or FirmSettings())
            book = Book(Period(), settings=client.settings, client=of_day)
            rows = book.tie_out(ledger, as_of=day, history=history, control=args.control)
            keep_reports(client, [each for each in (ledger, history) if each is not None])
    except (LedgerError, ParameterError) as error:
        say_error(error, args)
        return 1
    if out is not None:
        write(out, to_csv(rows) if out.suffix.lower() == ".csv" else to_excel(rows, sheet="tie-out"))
        say(out)
    _say_reasons(rows)
    say(describe_settings(book.settings))
    return 0


def _stated_day(about: Mapping[str, Any]) -> str:
    day: str | None = about["as_of"] or about["end"]
    if day is None:
        raise LedgerError(f"{about['file']} does not say as of which day it is; pass the day as --as-of.")
    return day


def _at(client: Client, day: dt.date, settings: FirmSettings) -> Client:
    """Return the version of a mirror that has the balances of a day; the client itself if there is none."""
    mirror: Any = client
    find = getattr(mirror, "_version_of_day", None)
    found = find(day, settings.time_zone) if find else None
    return mirror.as_of(found[0]) if found else client


def _say_reasons(rows: pd.DataFrame) -> None:
    reasons = add_up_reasons(rows)
    total = rows.attrs["tie_out"]
    words = {name: format_number(total[name], "cents") for name in ("balance", "ledger_balance", "difference_amount")}
    say(f"Receivables on {total['as_of']}: {words['balance']} here, {words['ledger_balance']} in the books.")
    for reason, amount, count in zip(reasons["reason"], reasons["difference_amount"], reasons["rows"], strict=True):
        say(f"{format_number(amount, 'cents'):>15}  {enum_label(reason)} ({count:,})")
    say(f"{words['difference_amount']:>15}  Difference")
