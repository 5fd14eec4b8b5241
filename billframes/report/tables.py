"""Tables whose rows add up: the largest by name, all others as one row, and the total worked out on its own."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from billframes.report.formats import show

__all__ = [
    "AGING",
    "FEES_TREND",
    "HOURS_TREND",
    "REALIZATION",
    "REALIZATION_RATIOS",
    "TARGETS",
    "UTILIZATION",
    "Column",
    "Table",
    "named_apart",
    "table",
    "top_and_rest",
]

Ratios = Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class Column:
    """A column of the report: the result's column, its heading and its unit."""

    name: str
    title: str
    unit: str


@dataclass(frozen=True)
class Table:
    """A table as text, ready for the page."""

    caption: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    total: Sequence[str]


UTILIZATION = (
    Column("client_hours", "Client hours", "hours"),
    Column("other_hours", "Other hours", "hours"),
    Column("total_hours", "All hours", "hours"),
    Column("capacity_hours", "Available hours", "hours"),
    Column("utilization", "Utilization", "ratio"),
)
TARGETS = (Column("target_hours", "Target hours", "hours"), Column("pace", "Pace", "ratio"))
REALIZATION = (
    Column("billable_hours", "Hours", "hours"),
    Column("worked_amount", "Worked", "money"),
    Column("write_down_amount", "Written down", "money"),
    Column("billed_amount", "Billed", "money"),
    Column("billing_realization", "Billing realization", "ratio"),
    Column("effective_rate", "Billed an hour", "rate"),
    Column("settled_amount", "Settled", "money"),
    Column("settlement_ratio", "Settlement", "ratio"),
)
HOURS_TREND = tuple(each for each in UTILIZATION if each.name in {"client_hours", "capacity_hours", "utilization"})
_FEES_TREND = {"worked_amount", "billed_amount", "billing_realization", "write_down_amount", "settlement_ratio"}
FEES_TREND = tuple(each for each in REALIZATION if each.name in _FEES_TREND)
# The rest's ratios are ratios of its sums, as everywhere.
REALIZATION_RATIOS = {
    "billing_realization": ("billed_amount", "worked_amount"),
    "effective_rate": ("billed_amount", "billable_hours"),
    "settlement_ratio": ("settled_amount", "billed_amount"),
}
AGING = (
    Column("current", "Current", "money"),
    Column("1-30", "1–30 days", "money"),
    Column("31-60", "31–60 days", "money"),
    Column("61-90", "61–90 days", "money"),
    Column("91+", "91+ days", "money"),
    Column("total", "Total", "money"),
    Column("overdue", "Overdue", "money"),
)


def top_and_rest(
    frame: pd.DataFrame, label: str, order: str, *, top: int, rest: str, ratios: Ratios | None = None
) -> pd.DataFrame:
    """
    Keep the rows with the most of `order`, and add all others up into one row.

    Parameters
    ----------
    frame : DataFrame
        A result with a label column and numbers.
    label, order : str
        Columns: what rows are called, and what they are sorted by, largest first.
    top : int
        How many rows keep their name; one single row more keeps it, too.
    rest : str
        What the others are called together; their number is added in brackets.
    ratios : mapping of str to (str, str), optional
        Columns that are the ratio of two others.

    Examples
    --------
    >>> rows = pd.DataFrame({"name": list("abc"), "billed": [10.0, 30.0, 20.0], "worked": [20.0, 30.0, 40.0]})
    >>> top_and_rest(rows.assign(r=rows.billed / rows.worked), "name", "billed", top=1, rest="Others",
    ...              ratios={"r": ("billed", "worked")})
             name  billed  worked    r
    0           b    30.0    30.0  1.0
    1  Others (2)    30.0    60.0  0.5
    """
    ordered = frame.sort_values(order, ascending=False, kind="stable", ignore_index=True)
    if len(ordered) <= top + 1:
        return ordered
    others = ordered.iloc[top:]
    numbers = others.select_dtypes("number")
    row = numbers.sum(min_count=1).to_frame().T
    for name, (part, whole) in (ratios or {}).items():
        row[name] = row[part] / row[whole].replace(0.0, np.nan)
    row[label] = f"{rest} ({len(others)})"
    return pd.concat([ordered.iloc[:top], row], ignore_index=True)[list(frame.columns.intersection(row.columns))]


def named_apart(frame: pd.DataFrame, references: Mapping[str, str]) -> pd.DataFrame:
    """
    Add a client's reference to its name where two clients have the same one.

    Examples
    --------
    >>> rows = pd.DataFrame({"client_id": ["c1", "c2", "c3"], "client_name": ["Acme", "Acme", "Bolt"]})
    >>> named_apart(rows, {"c1": "A-1", "c2": "A-2", "c3": "B-1"})["client_name"].tolist()
    ['Acme (A-1)', 'Acme (A-2)', 'Bolt']
    """
    twice = frame["client_name"].duplicated(keep=False) & frame["client_id"].notna()
    apart = [
        f"{name} ({references.get(id_) or str(id_)[:8]})" if again else name
        for name, id_, again in zip(frame["client_name"], frame["client_id"], twice, strict=True)
    ]
    return frame.assign(client_name=apart)


def table(
    caption: str, heading: str, label: str, columns: Sequence[Column], rows: pd.DataFrame, total: pd.DataFrame
) -> Table:
    """
    Put a result into words.

    Parameters
    ----------
    caption : str
    heading : str
        What the first column is called.
    label : str
        The rows' column that is shown there.
    columns : sequence of Column
    rows : DataFrame
    total : DataFrame
        The same analysis of everything, one row; no row is left out of the table.
    """
    return Table(
        caption,
        [heading, *(column.title for column in columns)],
        [[str(row[label]), *_cells(row, columns)] for row in rows.to_dict("records")],
        ["Total", *itertools.chain.from_iterable(_cells(row, columns) for row in total.to_dict("records"))],
    )


def _cells(row: Mapping[object, float], columns: Sequence[Column]) -> list[str]:
    return [show(row[column.name], column.unit) for column in columns]
