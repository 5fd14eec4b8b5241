"""`billframes export`: write records to a CSV, Excel or Parquet file.

In CSV and Excel files, text that a spreadsheet would run as a formula is marked as text. Parquet keeps the types of
all columns.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from billframes._export import check_output, to_csv, to_excel, write
from billframes._messages import say
from billframes._names import closest, snake_case
from billframes.commands import add_connection, connected
from billframes.errors import ParameterError

__all__ = ["EXAMPLES", "add_arguments", "run"]

EXAMPLES = (
    "billframes export time_entries 2026-10 -o october.xlsx",
    "billframes export invoices --mirror firm-mirror -o invoices.parquet",
)

DATED = ("time_entries", "expenses", "fixed_fees", "invoices")
RESOURCES = (
    *DATED,
    "client_balances",
    "clients",
    "code_sets",
    "codes",
    "custom_fields",
    "matters",
    "practice_areas",
    "users",
)
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
    add_connection(parser)


def run(args: argparse.Namespace) -> int:
    """Load the records, write the file, print its path, and return the exit code."""
    resource, out = _resource(args.resource), Path(args.out).absolute()
    if args.period is not None and resource not in DATED:
        raise ParameterError(f"{resource} takes no period; leave out {args.period}.")
    to_bytes = WRITERS.get(out.suffix.lower())
    if to_bytes is None:
        raise ParameterError(f"--out {out.name} must end with one of {', '.join(WRITERS)}.")
    check_output(out)
    with connected(args) as client:
        load = getattr(client, resource)
        frame = load(args.period) if args.period is not None else load()
    write(out, to_bytes(frame, resource))
    say(out)
    return 0


def _resource(word: str) -> str:
    name = snake_case(word)
    if name not in RESOURCES:
        raise ParameterError(
            f"{word!r} can't be exported; give one of {', '.join(RESOURCES)}.{closest(name, RESOURCES)}"
        )
    return name


def _excel(frame: pd.DataFrame, resource: str) -> bytes:
    if len(frame) > LONGEST_SHEET:
        raise ParameterError(
            f"{len(frame):,} {resource} are more than an Excel sheet holds ({LONGEST_SHEET:,}). Give a shorter period, "
            "or write .csv or .parquet."
        )
    return to_excel(frame, sheet=resource)


def _parquet(frame: pd.DataFrame, _resource: str) -> bytes:
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


WRITERS: dict[str, Callable[[pd.DataFrame, str], bytes]] = {
    ".csv": lambda frame, _resource: to_csv(frame),
    ".xlsx": _excel,
    ".parquet": _parquet,
}
