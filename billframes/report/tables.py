"""Rows that add up: the largest by name and all others in one row; and names that are not mistaken for each other."""

from __future__ import annotations

import pandas as pd

from billframes._names import names_apart
from billframes.analysis.metrics import Measure
from billframes.analysis.result_rows import total_of
from billframes.analysis.spec import measures

__all__ = ["NARRATIVES", "TRENDS", "NamesApart", "top_and_rest", "trend_columns"]

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


class NamesApart:
    """
    Names with which the clients, matters and people of a firm can't be mistaken for each other.

    Names that several share have the reference beside them; of people, the e-mail address.

    Parameters
    ----------
    clients, matters, users : DataFrame
        All of the firm, whichever of them a table shows: so a name is the same in every table.

    Examples
    --------
    >>> columns = ["client_id", "name", "reference"]
    >>> firm = pd.DataFrame([["c1", "Acme", "A-1"], ["c2", "Acme", "A-2"], ["c3", "Bolt", None]], columns=columns)
    >>> none = pd.DataFrame({each: [] for each in ("matter_id", "user_id", "name", "reference", "email")})
    >>> rows = pd.DataFrame({"client_id": ["c2", "c3"], "client_name": ["Acme", "Bolt"]})
    >>> NamesApart(firm, none, none)(rows)["client_name"].tolist()
    ['Acme (A-2)', 'Bolt']
    """

    def __init__(self, clients: pd.DataFrame, matters: pd.DataFrame, users: pd.DataFrame) -> None:
        self._frames = {"client": (clients, "reference"), "matter": (matters, "reference"), "user": (users, "email")}
        self._known: dict[str, pd.DataFrame] = {}

    def __call__(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the rows with these names of the clients, matters and people in them."""
        for column, kind in _NAMED.items():
            name = f"{column}_name"
            if f"{column}_id" in frame and name in frame:
                apart = frame[f"{column}_id"].astype("object").map(self._shared(kind, frame, column))
                names = apart.where(apart.notna(), frame[name].astype("object"))
                frame = frame.assign(**{name: pd.Series(names, index=frame.index, dtype="str")})
        return frame

    def name(self, column: str, id_: str | None, name: str) -> str:
        """Return the name of one client, matter or person."""
        row = self(pd.DataFrame({f"{column}_id": [id_], f"{column}_name": [name]}, dtype="str"))
        return str(row[f"{column}_name"].iloc[0])

    def _shared(self, kind: str, frame: pd.DataFrame, column: str) -> dict[str, str]:
        """Return the names to show, by id, of those whose name is not theirs alone."""
        if kind not in self._known:
            firm, reference = self._frames[kind]
            columns = {f"{kind}_id": "id", "name": "name", reference: "reference"}
            self._known[kind] = firm[[*columns]].rename(columns=columns).astype("object")
        # Rows can name someone whom the firm's list no longer has.
        here = frame[[f"{column}_id", f"{column}_name"]].set_axis(["id", "name"], axis="columns").astype("object")
        here = here[~here["id"].isin(self._known[kind]["id"])]
        known = pd.concat([self._known[kind], here]) if here["id"].notna().any() else self._known[kind]
        known = known.dropna(subset=["id", "name"]).drop_duplicates("id")
        known = known[known["name"].duplicated(keep=False)]
        references = [None if pd.isna(each) else str(each) for each in known["reference"]]
        names = names_apart(known["name"].tolist(), known["id"].tolist(), references)
        return dict(zip(known["id"], names, strict=True))


_NAMED = {"client": "client", "matter": "matter", "user": "user", "responsible": "user", "originator": "user"}
