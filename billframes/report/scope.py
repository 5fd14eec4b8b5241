"""The scope of a report: one client, practice area or responsible lawyer, found by the text that a user types.

A scope is written as a code such as "responsible:28805c5d-…". Nothing after the colon means matters without one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from billframes._shared.export import file_name
from billframes._shared.find_named import find_named
from billframes.analysis.declare.columns import UNASSIGNED
from billframes.analysis.declare.metrics import title_of_key
from billframes.book import Book
from billframes.book.slices import SLICE_KEYS, SliceKey
from billframes.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Scope:
    """One client, practice area or responsible lawyer."""

    key: SliceKey
    id: str | None
    name: str

    @property
    def code(self) -> str:
        """The scope in the form that `read_scope` takes."""
        return f"{self.key}:{self.id or ''}"

    @property
    def title(self) -> str:
        """The scope in words, such as "Practice area: Litigation"."""
        return f"{title_of_key(self.key).capitalize()}: {self.name}"


def read_scope(book: Book, code: str) -> Scope:
    """Read the code of a scope. It can have a reference or name in place of the id: "client:Acme"."""
    key, _, text = code.partition(":")
    for known in SLICE_KEYS:
        if known == key:
            return find_scope(book, known, text) if text.strip() else Scope(known, None, UNASSIGNED)
    raise ParameterError(f"only={code!r} takes {', '.join(f'{each}:…' for each in SLICE_KEYS)}.")


def find_scope(book: Book, key: SliceKey, text: str) -> Scope:
    """Find a client, practice area or responsible lawyer by id, reference, name or surname, ignoring case."""
    noun = title_of_key(key)
    known = _candidates(book, key).astype("object").fillna("")
    hint = "" if key == "client" else f" No matter of the firm has such a {noun}."
    return Scope(
        key, *find_named(text, list(known[["id", "name", "reference"]].itertuples(index=False, name=None)), noun, hint)
    )


def all_scopes(book: Book, key: SliceKey) -> list[Scope]:
    """Return the scopes of all values sorted by name, and last the one of unassigned items."""
    rows = _candidates(book, key).sort_values(["name", "id"]).to_dict("records")
    return [*(Scope(key, row["id"], row["name"]) for row in rows), Scope(key, None, UNASSIGNED)]


def file_names(scopes: Sequence[Scope], month: str, ending: str) -> list[str]:
    """Return a distinct file name for each scope."""
    plain, nameless = [_file_name(each, month, ending) for each in scopes], file_name("", "")
    return [
        name
        if plain.count(name) == 1 and file_name(each.name, "") != nameless
        else _file_name(each, month, ending, with_id=True)
        for name, each in zip(plain, scopes, strict=True)
    ]


def _file_name(scope: Scope, month: str, ending: str, *, with_id: bool = False) -> str:
    id_ = f" {(scope.id or 'none')[:8]}" if with_id else ""
    return file_name(f"billframes {month} {scope.key.replace('_', '-')} {scope.name[:50]}{id_}", ending)


def _candidates(book: Book, key: SliceKey) -> pd.DataFrame:
    """Return ids, names and references. A person's reference is the e-mail address."""
    if key == "client":
        return _columns(book.clients, "client_id", "name", "reference")
    if key == "practice_area":
        return _columns(book.matters, "practice_area_id", "practice_area_label", "practice_area_id")
    emails = book.users.set_index("user_id")["email"]
    matters = book.matters
    return _columns(
        matters.assign(email=matters["responsible_id"].map(emails)), "responsible_id", "responsible_name", "email"
    )


def _columns(frame: pd.DataFrame, id_: str, name: str, reference: str) -> pd.DataFrame:
    known = pd.DataFrame({"id": frame[id_], "name": frame[name], "reference": frame[reference]}, dtype="str")
    known = known.dropna(subset=["id"]).drop_duplicates("id")
    return known.assign(name=known["name"].fillna(known["id"])).reset_index(drop=True)
