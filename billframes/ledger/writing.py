"""Write reports as QuickBooks Online exports them, for the sandbox's firm and for tests."""

from __future__ import annotations

import csv
import datetime as dt
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_STAMP = "Monday, November 02, 2026 09:30 AM GMT-05:00"


def write_report(
    title: str,
    period: str,
    headings: Sequence[str],
    groups: Mapping[str, Iterable[Sequence[Any]]],
    *,
    summed: Sequence[str] = ("Amount", "Open balance"),
    company: str = "Larkspur & Wren LLP",
    basis: str = "",
) -> bytes:
    r"""
    Return a report as a CSV file, with rows by group; the group "" has no heading.

    A cell is a text, a date, None, or an amount in cents. `period` is a line such as "As of Oct 31, 2026".

    Examples
    --------
    >>> rows = {"Acme": [[dt.date(2026, 10, 1), "Invoice", "7", 150_000]]}
    >>> text = write_report("Open Invoices", "All Dates", ["Date", "Transaction type", "Num", "Open balance"], rows)
    >>> print(text.decode().replace("\r\n", "\n").partition("\n\n")[2][:117])
    ,Date,Transaction type,Num,Open balance
    Acme,,,,
    ,10/01/2026,Invoice,7,"1,500.00"
    Total for Acme,,,,"$1,500.00"
    TOTAL
    """
    grouped = any(groups)
    shift = int(grouped)
    width = len(headings) + shift
    places = [at + shift for at, heading in enumerate(headings) if heading in summed]
    lines: list[list[str]] = [[company], [title], [period], [], [*[""] * shift, *headings]]
    whole = dict.fromkeys(places, 0)
    for label, rows in groups.items():
        sums = dict.fromkeys(places, 0)
        lines += [[label]] if label else []
        for row in rows:
            cells = [*[None] * shift, *row]
            lines.append(["" if cell is None else _text(cell) for cell in cells])
            for place in places:
                sums[place] += cells[place] or 0
        lines += [_total(f"Total for {label}", sums, width)] if label else []
        whole = {place: whole[place] + sums[place] for place in places}
    lines += [_total("TOTAL", whole, width), [], [], [], [f"{basis} {_STAMP}"]]
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\r\n")
    for line in lines:
        writer.writerow(line + [""] * (width - len(line)) if line else [])
    return file.getvalue().encode()


def _total(label: str, sums: Mapping[int, int], width: int) -> list[str]:
    cells = [label, *[""] * (width - 1)]
    for place, cents in sums.items():
        cells[place] = f"{'-' if cents < 0 else ''}${abs(cents) / 100:,.2f}"
    return cells


def _text(cell: Any) -> str:
    if isinstance(cell, dt.date):
        return f"{cell:%m/%d/%Y}"
    return f"{cell / 100:,.2f}" if isinstance(cell, int) else str(cell)
