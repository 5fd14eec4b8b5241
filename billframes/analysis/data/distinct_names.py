"""Names that distinguish the clients, matters and people of a firm, in reports, on pages and in exported files.

A result has ids and names, but no references. So results of pandas remember the names that others share, with the
reference beside each (`attach_names`), and whatever shows them reads these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from billframes._shared.names import distinct_names
from billframes.loading.load_info import attach, attached

NAMES = "names"
"""In `attrs` of a result: names with references, by column and id."""

_NAMED = {"client": "client", "matter": "matter", "user": "user", "responsible": "user", "originator": "user"}
_REFERENCES = {"client": "reference", "matter": "reference", "user": "email"}
_COLUMNS = ["id", "name", "reference"]


class DistinctNames:
    """
    The names of a firm's clients, matters and people; if several share a name, with the reference beside it.

    A person's reference is the e-mail address.

    Parameters
    ----------
    *frames : DataFrame
        The lists of the firm's clients, matters and users, so that a name is the same in every table; or records that
        name them.

    Examples
    --------
    >>> columns = ["client_id", "name", "reference"]
    >>> firm = pd.DataFrame([["c1", "Acme", "A-1"], ["c2", "Acme", "A-2"], ["c3", "Bolt", None]], columns=columns)
    >>> rows = pd.DataFrame({"client_id": ["c2", "c3"], "client_name": ["Acme", "Bolt"]})
    >>> DistinctNames(firm)(rows)["client_name"].tolist()
    ['Acme (A-2)', 'Bolt']
    """

    def __init__(self, *frames: pd.DataFrame) -> None:
        self._frames = frames
        self._known: dict[str, pd.DataFrame] = {}
        self._listed: dict[str, tuple[frozenset[Any], dict[Any, str]]] = {}

    def __call__(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the rows with these names of clients, matters and people."""
        for column, names in self.shared_in(frame).items():
            distinct = frame[f"{column}_id"].astype("object").map(names)
            kept = distinct.where(distinct.notna(), frame[f"{column}_name"].astype("object"))
            frame = frame.assign(**{f"{column}_name": pd.Series(kept, index=frame.index, dtype="str")})
        return frame

    def name(self, column: str, id_: str | None, name: str) -> str:
        """Return the name of one client, matter or person."""
        row = self(pd.DataFrame({f"{column}_id": [id_], f"{column}_name": [name]}, dtype="str"))
        return str(row[f"{column}_name"].iloc[0])

    def shared_in(self, frame: pd.DataFrame) -> dict[str, dict[Any, str]]:
        """Return by column the names with references, by id, of those in the rows who share their name."""
        remembered, found = attached(frame, NAMES) or {}, {}
        for column, kind in _in(frame):
            found[column] = self._shared(kind, frame, column)
            if column in remembered:
                # A result of results, such as a bridge, remembers names by id; the firm's lists have the references.
                listed = {*self._known[kind].dropna(subset=["reference"])["id"]}
                found[column] |= {id_: name for id_, name in remembered[column].items() if id_ not in listed}
        return found

    def _shared(self, kind: str, frame: pd.DataFrame, column: str) -> dict[Any, str]:
        if kind not in self._known:
            self._known[kind] = known = _listed(kind, self._frames)
            self._listed[kind] = frozenset(known["id"]), _distinct(known)
        ids, shared = self._listed[kind]
        if ids.issuperset(id_ for id_ in frame[f"{column}_id"].unique().tolist() if isinstance(id_, str)):
            return {**shared}
        # Rows can name someone who is no longer in the firm's list.
        here = _of(frame, column, f"{column}_name", "")
        return _distinct(pd.concat([self._known[kind], here[~here["id"].isin(self._known[kind]["id"])]]))


def _distinct(people: pd.DataFrame) -> dict[Any, str]:
    """Return by id the names, with references, of those who share their name."""
    people = people[people["name"].duplicated(keep=False)]
    names = distinct_names(people["name"].tolist(), people["id"].tolist(), people["reference"].tolist())
    return dict(zip(people["id"], names, strict=True))


def attach_names_of(result: Any, frames: Iterable[Any]) -> Any:
    """Attach to a pandas result the names of those in it who share one, with the references that the frames have."""
    if not isinstance(result, pd.DataFrame):
        return result
    frames = [each for each in frames if isinstance(each, pd.DataFrame)]
    shared = {column: names for column, kind in _in(result) if (names := _shared_in(result, column, kind, frames))}
    return attach(result, NAMES, shared) if shared else result


def _shared_in(result: pd.DataFrame, column: str, kind: str, frames: list[pd.DataFrame]) -> dict[Any, str]:
    # pandas reads Arrow values one by one slowly.
    ids, names = (result[f"{column}_{of}"].to_numpy(object) for of in ("id", "name"))
    known = dict(zip(ids, names, strict=True))
    number = Counter(known.values())
    # Missing ids and names are not shared: NaN has another type.
    among = [id_ for id_, name in known.items() if isinstance(id_, str) and isinstance(name, str) and number[name] > 1]
    if not among:
        return {}
    references = [*map(_references(kind, among, frames).get, among)]
    return dict(zip(among, distinct_names([known[id_] for id_ in among], among, references), strict=True))


def _references(kind: str, ids: list[Any], frames: list[pd.DataFrame]) -> dict[Any, str]:
    found: dict[Any, str] = {}
    # Small frames first: they often have all of them.
    for frame, column, _, reference in sorted(_sources(kind, frames), key=lambda each: len(each[0])):
        missing = [each for each in ids if each not in found]
        if missing and reference in frame:
            places = frame[f"{column}_id"].isin(missing).to_numpy().nonzero()[0]
            known = zip(
                frame[f"{column}_id"].take(places).tolist(), frame[reference].take(places).tolist(), strict=True
            )
            found |= {person: str(each) for person, each in known if not pd.isna(each)}
    return found


def attach_names(result: Any, names: DistinctNames) -> Any:
    """Attach to a pandas result the names with references of those in it who share their name; return the result."""
    if not isinstance(result, pd.DataFrame):
        return result
    shared = names.shared_in(result)
    here = {
        column: {id_: each[id_] for id_ in result[f"{column}_id"].to_numpy(object) if id_ in each}
        for column, each in shared.items()
    }
    here = {column: each for column, each in here.items() if each}
    return attach(result, NAMES, here) if here else result


def _in(frame: pd.DataFrame) -> Iterator[tuple[str, str]]:
    for column, kind in _NAMED.items():
        if f"{column}_id" in frame and f"{column}_name" in frame:
            yield column, kind


def _listed(kind: str, frames: Iterable[pd.DataFrame]) -> pd.DataFrame:
    found = [_of(*each) for each in _sources(kind, frames)]
    return pd.concat(found).drop_duplicates("id") if found else pd.DataFrame(columns=_COLUMNS, dtype="object")


def _sources(kind: str, frames: Iterable[pd.DataFrame]) -> list[tuple[pd.DataFrame, str, str, str]]:
    """Return the lists of a kind, which know the references, or else the records that name someone of it."""
    frames = [*frames]
    lists = [(each, kind, "name", _REFERENCES[kind]) for each in frames if _is_list(each, kind) and len(each)]
    records = ((each, column) for each in frames for column, of in _in(each) if of == kind)
    return lists or [(each, column, f"{column}_name", f"{column}_reference") for each, column in records]


def _is_list(frame: pd.DataFrame, kind: str) -> bool:
    return list(frame)[:1] == [f"{kind}_id"] and "name" in frame


def _of(frame: pd.DataFrame, column: str, name: str, reference: str) -> pd.DataFrame:
    """Return id, name and reference of everyone in a frame; a reference can be missing."""
    there = zip(_COLUMNS, (f"{column}_id", name, reference), strict=True)
    plain = pd.DataFrame({new: frame[old] for new, old in there if old in frame})
    rows = plain.drop_duplicates("id").dropna(subset=["id", "name"]).astype("object")
    given = rows["reference"] if "reference" in rows else [None] * len(rows)
    references = [None if pd.isna(each) else str(each) for each in given]
    return rows.assign(reference=pd.Series(references, index=rows.index, dtype="object"))
