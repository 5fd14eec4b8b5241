"""Rows that add up: the largest by name and all others in one row; and different names for two clients of one name."""

from __future__ import annotations

import pandas as pd

from billframes._names import names_apart
from billframes.analysis.metrics import Measure
from billframes.analysis.result_rows import total_of
from billframes.analysis.spec import measures

__all__ = ["NARRATIVES", "TRENDS", "named_apart", "top_and_rest", "trend_columns"]

NARRATIVES = ("date", "user_name", "client_name", "matter_name", "billing_type", "description", "hours")
"""The columns of time entries with their narratives."""

TRENDS = {
    "utilization": ("client_hours", "capacity_hours", "utilization"),
    "realization": (
        "worked_amount",
        "write_down_amount",
        "billed_amount",
        "billing_realization",
        "settlement_ratio",
    ),
}
"""The columns of the twelve months, by the analysis whose chart shows them."""


def trend_columns(analysis: str) -> list[Measure]:
    """Return the declarations of the columns of the twelve months."""
    return [measures()[name] for name in TRENDS[analysis]]


def top_and_rest(frame: pd.DataFrame, label: str, order: str, *, top: int, rest: str) -> pd.DataFrame:
    """
    Keep the rows with the most of `order`, and add all others up into one row.

    Parameters
    ----------
    frame : DataFrame
        A result with a column of labels and columns of numbers.
    label, order : str
        The column with the rows' names, and the column to sort by, largest first; empty to keep the order.
    top : int
        How many rows keep their name. If only one more row is left, it also keeps its name.
    rest : str
        Name of the row with all others; their number is added in brackets.

    Examples
    --------
    >>> rows = pd.DataFrame({"name": list("abc"), "billed_amount": [10.0, 30.0, 20.0],
    ...                      "worked_amount": [20.0, 30.0, 40.0], "billing_realization": [0.5, 1.0, 0.5]})
    >>> top_and_rest(rows, "name", "billed_amount", top=1, rest="Others")
             name  billed_amount  worked_amount  billing_realization
    0           b           30.0           30.0                  1.0
    1  Others (2)           30.0           60.0                  0.5
    """
    ordered = frame.sort_values(order, ascending=False, kind="stable", ignore_index=True) if order else frame
    if len(ordered) <= top + 1:
        return ordered
    others = ordered.iloc[top:]
    row = pd.DataFrame([{**total_of(others), label: f"{rest} ({len(others)})"}])
    return pd.concat([ordered.iloc[:top], row], ignore_index=True)[list(frame.columns.intersection(row.columns))]


def named_apart(frame: pd.DataFrame, clients: pd.DataFrame) -> pd.DataFrame:
    """
    Add the reference to the names of clients that share their name with another client of the firm.

    Examples
    --------
    >>> firm = pd.DataFrame({"client_id": ["c1", "c2", "c3"], "name": ["Acme", "Acme", "Bolt"],
    ...                      "reference": ["A-1", "A-2", None]})
    >>> rows = pd.DataFrame({"client_id": ["c2", "c3"], "client_name": ["Acme", "Bolt"]})
    >>> named_apart(rows, firm)["client_name"].tolist()
    ['Acme (A-2)', 'Bolt']
    """
    firm = clients[["client_id", "name", "reference"]].astype("object")
    here = frame[["client_id", "client_name"]].rename(columns={"client_name": "name"}).astype("object")
    known = pd.concat([firm, here]).dropna(subset=["client_id", "name"]).drop_duplicates("client_id")
    references = known["reference"].where(known["reference"].notna(), None).tolist()
    ids = known["client_id"].tolist()
    names = dict(zip(ids, names_apart(known["name"].tolist(), ids, references), strict=True))
    apart = [names.get(id_, name) for id_, name in zip(frame["client_id"], frame["client_name"], strict=True)]
    return frame.assign(client_name=pd.Series(apart, index=frame.index, dtype=frame["client_name"].dtype))
