"""The scope of a report: the firm, or one client, practice area or responsible lawyer, found by what the user types.

The scope is passed to the notebook as one word such as "responsible:28805c5d-…". Nothing after the colon means matters
without a responsible lawyer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import pandas as pd

from billframes._export import file_name
from billframes._names import closest
from billframes.analysis.keys import UNASSIGNED
from billframes.analysis.metrics import title_of_key
from billframes.book import Book
from billframes.book_slice import SLICE_KEYS, SliceKey
from billframes.errors import ParameterError

__all__ = ["Scope", "choose", "every", "file_names", "read_scope"]

# Names that a message suggests.
_SUGGESTED = 5
# How like two words must be, as `difflib` counts it.
_LIKE = 0.8


@dataclass(frozen=True, slots=True)
class Scope:
    """
    One client, practice area or responsible lawyer.

    Parameters
    ----------
    key : str
        "client", "practice_area" or "responsible".
    id : str or None
        None means unassigned.
    name : str
        As shown to people.
    """

    key: SliceKey
    id: str | None
    name: str

    @property
    def code(self) -> str:
        """The scope as one word, which `read_scope` reads."""
        return f"{self.key}:{self.id or ''}"

    @property
    def title(self) -> str:
        """The scope in words, such as "Practice area: Litigation"."""
        return f"{title_of_key(self.key).capitalize()}: {self.name}"


def read_scope(book: Book, code: str) -> Scope:
    """
    Read a scope's code, or one with a name in place of the id: "client:Acme".

    Raises
    ------
    ParameterError
        The key is unknown, or nothing in the firm has that name, reference or id.
    """
    key, _, text = code.partition(":")
    for known in SLICE_KEYS:
        if known == key:
            return choose(book, known, text) if text.strip() else Scope(known, None, UNASSIGNED)
    raise ParameterError(f"only={code!r} takes {', '.join(f'{each}:…' for each in SLICE_KEYS)}.")


def choose(book: Book, key: SliceKey, text: str) -> Scope:
    """
    Find a client, practice area or responsible lawyer by id, reference or name, ignoring case.

    Raises
    ------
    ParameterError
        Nothing matches, or several do.
    """
    known, what = _known(book, key), title_of_key(key)
    for column in ("id", "reference", "name"):
        found = known[known[column].str.casefold() == text.strip().casefold()]
        if len(found) == 1:
            return Scope(key, found["id"].iloc[0], found["name"].iloc[0])
        if len(found):
            others = found["reference"].where(found["reference"].notna() & (found["reference"] != ""), found["id"])
            raise ParameterError(f"{len(found)} {what}s are called {text!r}; say which: {', '.join(others)}.")
    hint = _alike(text, known["name"].dropna().tolist()) or (
        " None of the firm's matters has it." if key != "client" else ""
    )
    raise ParameterError(f"No {what} has the name, reference or id {text!r}.{hint}")


def _alike(text: str, names: Sequence[str]) -> str:
    """Return a hint at the names that contain a text, or words like its words, or at the one most like it."""
    known = list(dict.fromkeys(names))
    holding = [name for name in known if text.strip().casefold() in name.casefold()]
    holding = holding or [name for name in known if _has_words(name, text)]
    few = " or ".join(map(repr, holding[:_SUGGESTED]))
    more = f" There are {len(holding) - _SUGGESTED} more." if len(holding) > _SUGGESTED else ""
    return f" Did you mean {few}?{more}" if holding else closest(text, names)


def _has_words(name: str, text: str) -> bool:
    """
    Tell whether each word of a text is like a word of a name.

    Examples
    --------
    >>> _has_words("Granite Mutual Insurance Company", "granit mutal"), _has_words("Granitepeak", "granit mutal")
    (True, False)
    """
    words = name.casefold().split()
    return all(get_close_matches(each, words, 1, _LIKE) for each in text.casefold().split())


def every(book: Book, key: SliceKey) -> list[Scope]:
    """Return every value that some matter has, sorted by name, and at the end the unassigned one."""
    rows = _known(book, key).sort_values(["name", "id"]).to_dict("records")
    return [*(Scope(key, row["id"], row["name"]) for row in rows), Scope(key, None, UNASSIGNED)]


def file_names(scopes: Sequence[Scope], month: str, ending: str) -> list[str]:
    """
    Return a distinct file name for each scope, without any folder.

    Examples
    --------
    >>> scopes = [Scope("responsible", "28805c5d-ad1b", "Ann Lee"), Scope("responsible", "9a27d858-88c1", "Ann Lee")]
    >>> file_names(scopes, "2026-10", "pdf")
    ['billframes-2026-10-responsible-ann-lee-28805c5d.pdf', 'billframes-2026-10-responsible-ann-lee-9a27d858.pdf']
    """
    plain = [_file_name(each, month, ending) for each in scopes]
    return [
        name if plain.count(name) == 1 and _says(each) else _file_name(each, month, ending, apart=True)
        for name, each in zip(plain, scopes, strict=True)
    ]


def _file_name(scope: Scope, month: str, ending: str, *, apart: bool = False) -> str:
    # The first characters of the id distinguish two of the same name.
    id_ = f" {(scope.id or 'none')[:8]}" if apart else ""
    return file_name(f"billframes {month} {scope.key.replace('_', '-')} {scope.name[:50]}{id_}", ending)


def _says(scope: Scope) -> bool:
    """Return whether the file name contains anything of the scope's name."""
    return file_name(scope.name, "") != file_name("", "")


def _known(book: Book, key: SliceKey) -> pd.DataFrame:
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
