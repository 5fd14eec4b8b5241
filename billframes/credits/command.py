"""`billframes credits`: whose the fees of a period are by the firm's rule, and what another rule would change."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pandas as pd

from billframes._session import book as make_book
from billframes._shared.export import write
from billframes._shared.format import long_span
from billframes._shared.messages import say
from billframes.analysis.data.distinct_names import DistinctNames
from billframes.commands import DEMO_FIRM, DEMO_REMARK, add_connection, check_sheets, connected
from billframes.config.credits import BASES
from billframes.config.firm import describe_settings
from billframes.credits.calculation import NO_ONE
from billframes.credits.page import credit_page, credit_workbook
from billframes.credits.rules import read_rule
from billframes.errors import ParameterError
from billframes.ledger.month_reports import payments_of
from billframes.periods import Period

EXAMPLES = (
    "billframes credits --demo",
    "billframes credits 2026-Q3 --compare 15-percent.toml",
    "billframes credits 2026 --rule 2026.toml --base collected --ledger sales.csv",
)
PAGE, WORKBOOK = "credits.html", "credits.xlsx"
_DEMO_PERIOD = "2026"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options on `parser`."""
    parser.add_argument("period", nargs="?", metavar="PERIOD", help="such as 2026-Q3 (default: the year to date)")
    parser.add_argument(
        "--rule", metavar="FILE", help="a file with the rule in a table [credits] (default: the firm's settings)"
    )
    parser.add_argument("--compare", metavar="FILE", help="a file with another rule, for what it would change")
    parser.add_argument("--base", choices=BASES, help="fees billed or collected in the period (default: the rule's)")
    parser.add_argument(
        "--ledger",
        nargs="+",
        default=[],
        metavar="FILE",
        help="reports of the firm's books with the payments of fees collected (default: the settings' folder)",
    )
    parser.add_argument("--out", metavar="FOLDER", default="credits", help="the folder to write to (default: credits)")
    parser.add_argument("--overwrite", action="store_true", help="replace existing files")
    add_connection(parser)


def run(args: argparse.Namespace) -> int:
    """Write the page and the workbook, and return the exit code."""
    out = Path(args.out).absolute()
    check_sheets(out, (PAGE, WORKBOOK), overwrite=args.overwrite)
    with connected(args) as client:
        given = args.rule or (client.settings.credits if client.settings else None)
        rule = read_rule(given, "--rule")
        rules = [(Path(args.rule).name if args.rule else "the firm's settings", rule)]
        compare = read_rule(args.compare, "--compare") if args.compare else None
        rules += [(Path(args.compare).name, compare)] if compare else []
        book = make_book(args.period or (_DEMO_PERIOD if args.demo else "ytd"), client=client)
        payments = _payments(book, args.ledger) if (args.base or rule.base) == "collected" else None
        rows = book.credits(rule=rule, compare=compare, base=args.base, by="matter", payments=payments)
        rows = DistinctNames(book.clients, book.matters, book.users)(rows)
        details = _details(book.matters)
    about, settings = rows.attrs["credits"], describe_settings(book.settings)
    notes = [each["plain"] for each in rows.attrs["notes"]]
    title = (book.settings.report.get("title", "") if book.settings else "") or (DEMO_FIRM if args.demo else "")
    page = credit_page(
        rows,
        details=details,
        period=long_span(Period.stated(about)),
        firm=title,
        rules=rules,
        notes=notes,
        settings=settings,
        remark=DEMO_REMARK if args.demo else "",
    )
    files = {
        PAGE: page.encode(),
        WORKBOOK: credit_workbook(rows, details=details, rules=rules, settings=settings),
    }
    out.mkdir(exist_ok=True)
    for name, content in files.items():
        write(out / name, content)
        say(out / name)
    nobody = rows.loc[rows["user_name"] == NO_ONE, "credit_amount"].sum()
    say(f"Fees {about['base']}: {about['fees_amount']:,.2f}, of which {nobody:,.2f} belong to nobody.")
    return 0


def _payments(book: Any, files: list[str]) -> pd.DataFrame:
    payments = payments_of(book, files)
    if payments is None:
        raise ParameterError(
            "Fees collected need the books' payments: export Sales by Customer Detail, on cash basis, and pass it as "
            "--ledger."
        )
    return payments


def _details(matters: pd.DataFrame) -> dict[str, str]:
    rows = matters[["matter_id", "client_name", "reference"]].astype("object")
    rows = rows.where(rows.notna(), "")
    return {id_: " · ".join(filter(None, words)) for id_, *words in rows.itertuples(index=False, name=None)}
