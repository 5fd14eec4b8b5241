"""Mutants of reports of the books, as CSV and as workbooks: of all samples of `tests/ledger`."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable
from pathlib import Path

import billframes as bf

__all__ = ["mutate_report", "read_mutated_report", "report_mutator"]

SAMPLES = Path(__file__).parents[1] / "ledger" / "samples"
CELLS = [
    *("9" * 400, "1e999", "nan", "999,999,999,999,999.00", "=G7", "=1400.00", "100.00-", "(100.00", "-", "٣", "#REF!"),
    *(
        "TOTAL",
        "Total for ",
        "Total",
        "Opening balance",
        "Percentage of total",
        "2026-13-45",
        "00/00/0000",
        "31/02/2026",
    ),
    *(
        "99/99/9999",
        "Since 9999",
        "As of Oct 31, 9999",
        "Cash Basis",
        "Report",
        "\0",
        "\ufeff",
        '"',
        "'",
        "a:b:c:d" * 99,
    ),
]
RUNS = [" ", "\t", "\n", "1", "9,", "(", "-", "Total ", "report ", "Oct ", "1-", "$", "\u00a0", "5 ", "a:", "\0", "é"]


def mutate_report(_base: Path, out: Path, chance: random.Random, flip: Callable[[bytes, random.Random], bytes]) -> str:
    """Change a report as bytes, as a text, or in its cells."""
    content = chance.choice(sorted(SAMPLES.glob("*.csv"))).read_bytes()
    text = content.decode()
    rows = list(csv.reader(io.StringIO(text)))
    run = chance.choice(RUNS) * chance.choice([100, 10_000, 300_000])
    how, change = chance.choice(
        [
            ("flipped", lambda: flip(content, chance)),
            ("cut", lambda: content[: chance.randrange(len(content))]),
            (
                "an encoding",
                lambda: text.encode(chance.choice(["utf-16", "utf-16-be", "utf-32", "utf-8-sig", "cp037"])),
            ),
            ("another separator", lambda: text.replace(",", chance.choice([";", "\t", "|", "\0", ",,"])).encode()),
            ("a row often", lambda: content + chance.choice(content.splitlines(keepends=True)) * 20_000),
            ("rows in another order", lambda: b"\n".join(chance.sample(content.splitlines(), content.count(b"\n")))),
            ("two reports", lambda: content + chance.choice(sorted(SAMPLES.glob("*.csv"))).read_bytes()),
            *[("other cells", lambda: written(with_cells(rows, chance, CELLS)))] * 5,
            *[("a long cell", lambda: written(with_cells(rows, chance, [run])))] * 3,
        ]
    )
    out.write_bytes(change())
    return how


def with_cells(rows: list[list[str]], chance: random.Random, values: list[str]) -> list[list[str]]:
    """Put values into some cells, among them those of titles, headings and totals."""
    filled = [(at, place) for at, row in enumerate(rows) for place in range(len(row))]
    for at, place in chance.sample(filled, chance.choice([1, 1, 2, 9])):
        value = chance.choice(values)
        rows[at][place] = chance.choice([value, rows[at][place] + value, value + rows[at][place]])
    return rows


def written(rows: list[list[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def report_mutator(mutate: Callable[[Path, Path, random.Random], str]) -> Callable[[Path, Path, random.Random], str]:
    """Return a mutator of report workbooks that changes them as another one changes workbooks."""
    samples = sorted(SAMPLES.glob("*.xlsx"))
    return lambda _base, out, chance: mutate(chance.choice(samples), out, chance)


def read_mutated_report(path: Path) -> None:
    ledger = bf.read_ledger(path)
    assert ledger["row"].is_monotonic_increasing
    assert len(ledger) <= 300_000
