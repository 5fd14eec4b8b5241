"""Names that distinguish the clients, matters and people of a firm."""

from __future__ import annotations

import pandas as pd

from billframes._names import distinct_names

__all__ = ["DistinctNames"]


class DistinctNames:
    """
    The names of a firm's clients, matters and people; if several share a name, with the reference beside it.

    A person's reference is the e-mail address.

    Parameters
    ----------
    clients, matters, users : DataFrame
        All those of the firm, even if a table shows few of them, so that a name is the same in every table.

    Examples
    --------
    >>> columns = ["client_id", "name", "reference"]
    >>> firm = pd.DataFrame([["c1", "Acme", "A-1"], ["c2", "Acme", "A-2"], ["c3", "Bolt", None]], columns=columns)
    >>> none = pd.DataFrame({each: [] for each in ("matter_id", "user_id", "name", "reference", "email")})
    >>> rows = pd.DataFrame({"client_id": ["c2", "c3"], "client_name": ["Acme", "Bolt"]})
    >>> DistinctNames(firm, none, none)(rows)["client_name"].tolist()
    ['Acme (A-2)', 'Bolt']
    """

    def __init__(self, clients: pd.DataFrame, matters: pd.DataFrame, users: pd.DataFrame) -> None:
        self._frames = {"client": (clients, "reference"), "matter": (matters, "reference"), "user": (users, "email")}
        self._known: dict[str, pd.DataFrame] = {}

    def __call__(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the rows with these names of clients, matters and people."""
        for column, kind in _NAMED.items():
            name = f"{column}_name"
            if f"{column}_id" in frame and name in frame:
                distinct = frame[f"{column}_id"].astype("object").map(self._shared(kind, frame, column))
                names = distinct.where(distinct.notna(), frame[name].astype("object"))
                frame = frame.assign(**{name: pd.Series(names, index=frame.index, dtype="str")})
        return frame

    def name(self, column: str, id_: str | None, name: str) -> str:
        """Return the name of one client, matter or person."""
        row = self(pd.DataFrame({f"{column}_id": [id_], f"{column}_name": [name]}, dtype="str"))
        return str(row[f"{column}_name"].iloc[0])

    def _shared(self, kind: str, frame: pd.DataFrame, column: str) -> dict[str, str]:
        """Return names with references by id, for all who share their name."""
        if kind not in self._known:
            firm, reference = self._frames[kind]
            columns = {f"{kind}_id": "id", "name": "name", reference: "reference"}
            self._known[kind] = firm[[*columns]].rename(columns=columns).astype("object")
        # Rows can name someone who is no longer in the firm's list.
        here = frame[[f"{column}_id", f"{column}_name"]].set_axis(["id", "name"], axis="columns").astype("object")
        here = here[~here["id"].isin(self._known[kind]["id"])]
        known = pd.concat([self._known[kind], here]) if here["id"].notna().any() else self._known[kind]
        known = known.dropna(subset=["id", "name"]).drop_duplicates("id")
        known = known[known["name"].duplicated(keep=False)]
        references = [None if pd.isna(each) else str(each) for each in known["reference"]]
        names = distinct_names(known["name"].tolist(), known["id"].tolist(), references)
        return dict(zip(known["id"], names, strict=True))


_NAMED = {"client": "client", "matter": "matter", "user": "user", "responsible": "user", "originator": "user"}
