"""`billframes review`: write invoices that are not final for a partner to mark up, on paper and as a workbook.

The files contain narratives, which other commands write only with an option for it. They are written completely or not
at all, and existing files are kept.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from billframes._shared.export import write
from billframes._shared.format import count_of
from billframes._shared.messages import say
from billframes.book import Book
from billframes.commands import add_connection, check_sheets, connected
from billframes.config.firm import describe_settings
from billframes.errors import ParameterError
from billframes.periods import Period
from billframes.wings import module_of, wings

if TYPE_CHECKING:
    import pandas as pd

EXAMPLES = (
    'billframes review --responsible "Miriam Harrow" --out october',
    "billframes review --invoice 11835 --invoice 11842 --settings firm.toml",
)
PAGE, WORKBOOK = "prebill-review.html", "prebill-review.xlsx"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options on `parser`."""
    parser.add_argument(
        "--responsible", metavar="NAME", help="invoices with work on this lawyer's matters, by name, surname or id"
    )
    parser.add_argument(
        "--invoice", action="append", metavar="NUMBER", help="this invoice, by number or id; may be given several times"
    )
    parser.add_argument(
        "--out",
        metavar="FOLDER",
        default="prebill-review",
        help="the folder to write to (default: prebill-review in this folder)",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace existing files")
    parser.add_argument(
        "--hours-per-day", type=float, default=12.0, metavar="HOURS", help="flag days with more hours (default: 12)"
    )
    add_connection(parser, mirror=False)


def run(args: argparse.Namespace) -> int:
    """Write the page and the workbook, and return the exit code."""
    out = Path(args.out).absolute()
    _check_options(args, out)
    with connected(args) as client:
        book = Book(Period(), settings=None, client=client)
        files = book.settings.guidelines if book.settings and "guidelines" in wings() else ""
        guidelines = module_of("guidelines").Guidelines.read(files).check(book) if files else None
        rows = book.prebill_review(
            args.responsible, invoice=args.invoice, hours_per_day=args.hours_per_day, guidelines=guidelines
        )
        files = _files(rows, args.responsible or "", book)
    count = rows["invoice_id"].nunique()
    if not count:
        whose = f" of {args.responsible}" if args.responsible else ""
        say(f"No invoice{whose} is a draft, in review or approved; nothing was written.")
        return 0
    out.mkdir(exist_ok=True)
    for name, content in files.items():
        write(out / name, content)
        say(out / name)
    items, flagged = int(rows["item"].notna().sum()), int(rows["findings"].notna().sum())
    say(f"{count_of(count, 'invoice')}, {count_of(items, 'item')}, {flagged} with findings.")
    return 0


def _files(rows: pd.DataFrame, title: str, book: Book) -> dict[str, bytes]:
    from billframes.analysis.data.distinct_names import DistinctNames
    from billframes.report.prebill_sheets import prebill_page, prebill_workbook

    rows = DistinctNames(book.clients, book.matters, book.users)(rows)
    settings = describe_settings(book.settings)
    page = prebill_page(rows, title=title, data=book.loaded_on("invoices"), settings=settings)
    return {PAGE: page.encode(), WORKBOOK: prebill_workbook(rows, settings=settings)}


def _check_options(args: argparse.Namespace, out: Path) -> None:
    """Raise an error for invalid options before any work starts."""
    if not (args.responsible or args.invoice or args.demo):
        raise ParameterError("Choose the invoices: add --responsible NAME or --invoice NUMBER.")
    if args.hours_per_day <= 0:
        raise ParameterError(f"--hours-per-day {args.hours_per_day:g} is not above 0.")
    check_sheets(out, (PAGE, WORKBOOK), overwrite=args.overwrite)
