"""`billframes export`: write records to a CSV, Excel or Parquet file.

In CSV and Excel files, text that a spreadsheet would run as a formula is marked as text. Parquet keeps the types of
all columns.
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import pandas as pd

from billframes._shared.export import check_marks, check_output, to_csv, to_excel, write
from billframes._shared.messages import say
from billframes._shared.names import closest, snake_case
from billframes.commands import add_connection, connected
from billframes.errors import ParameterError
from billframes.schema.resources import RESOURCES as DECLARED

EXAMPLES = (
    'billframes export expenses 2026-10 --decimal , --delimiter ";" -o acme.csv',
    "billframes export time_entries 2026-10 -o october.xlsx",
    "billframes export invoices --mirror firm-mirror -o invoices.parquet",
)

DATED = ("time_entries", "expenses", "fixed_fees", "invoices")
RESOURCES = (*DATED, *sorted({*(each.name for each in DECLARED), "client_balances", "code_sets"} - {*DATED}))
_NAMED = {"client": "client", "matter": "matter", "user": "person"}
# Rows of an Excel sheet without the heading.
LONGEST_SHEET = 1_048_575


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options on `parser`."""
    parser.add_argument("resource", metavar="RESOURCE", help=f"the records to write: {', '.join(RESOURCES)}")
    parser.add_argument(
        "period",
        nargs="?",
        metavar="PERIOD",
        help=f"such as 2026-10 or 2026-Q3, for {', '.join(DATED)} (default: all records)",
    )
    parser.add_argument(
        "-o", "--out", required=True, metavar="FILE", help=f"the file to write, which ends with {', '.join(WRITERS)}"
    )
    for name, noun in _NAMED.items():
        words = f"only the records of this {noun}, by name, reference or id; may be given several times"
        parser.add_argument(f"--{name}", action="append", metavar="NAME", help=words)
    parser.add_argument("--billed", choices=("yes", "no"), help="only records that are, or are not, on an invoice")
    parser.add_argument(
        "--decimal", choices=(".", ","), default=".", help="the decimal mark of a CSV file (default: .)"
    )
    parser.add_argument(
        "--delimiter", choices=(",", ";"), default=",", help="between the fields of a CSV file (default: ,)"
    )
    add_connection(parser, settings=False)


def run(args: argparse.Namespace) -> int:
    """Load the records, write the file, print its path, and return the exit code."""
    resource, out = _resource(args.resource), Path(args.out).absolute()
    if args.period is not None and resource not in DATED:
        raise ParameterError(f"{resource} takes no period; leave out {args.period}.")
    to_bytes = WRITERS.get(out.suffix.lower())
    if to_bytes is None:
        raise ParameterError(f"--out {out.name} must end with one of {', '.join(WRITERS)}.")
    check_output(args.out)
    if out.suffix.lower() != ".csv" and (args.decimal, args.delimiter) != (".", ","):
        raise ParameterError(f"--decimal and --delimiter are for CSV files; {out.name} is none.")
    check_marks(args.decimal, args.delimiter)
    _check_filters(args, resource)
    with connected(args) as client:
        filters = {name: words for name in _NAMED if (words := getattr(args, name))}
        if args.billed:
            filters["billed"] = args.billed == "yes"
        period = [] if args.period is None else [args.period]
        frame = getattr(client, resource)(*period, **filters)
    write(out, to_bytes(frame, resource, args))
    say(out)
    return 0


def _check_filters(args: argparse.Namespace, resource: str) -> None:
    """Raise an error for a filter that the records don't have, before any request."""
    known = next((each.filters_by_argument for each in DECLARED if each.name == resource), {})
    for name in (*_NAMED, "billed"):
        if getattr(args, name) and (name if name == "billed" else f"{name}_id") not in known:
            raise ParameterError(f"{resource} can't be filtered by --{name}; leave it out.")


def _resource(word: str) -> str:
    name = snake_case(word)
    if name not in RESOURCES:
        raise ParameterError(
            f"{word!r} can't be exported; give one of {', '.join(RESOURCES)}.{closest(name, RESOURCES)}"
        )
    return name


def _csv(frame: pd.DataFrame, _resource: str, args: argparse.Namespace) -> bytes:
    return to_csv(frame, decimal=args.decimal, delimiter=args.delimiter)


def _excel(frame: pd.DataFrame, resource: str, _args: argparse.Namespace) -> bytes:
    if len(frame) > LONGEST_SHEET:
        raise ParameterError(
            f"{len(frame):,} {resource} are more than an Excel sheet holds ({LONGEST_SHEET:,}). Give a shorter period, "
            "or write .csv or .parquet."
        )
    return to_excel(frame, sheet=resource)


def _parquet(frame: pd.DataFrame, _resource: str, _args: argparse.Namespace) -> bytes:
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


WRITERS = {".csv": _csv, ".xlsx": _excel, ".parquet": _parquet}
