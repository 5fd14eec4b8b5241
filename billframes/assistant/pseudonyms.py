"""Pseudonyms: clients, matters and people by the beginning of their id, in each frame before anything is calculated.

So no name reaches an answer, a note or an error. Ids stay, by which the firm finds the names again, and a pseudonym
never changes its owner. Figures are the same, because analyses group by id.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from billframes.analysis.data.distinct_names import NAMES
from billframes.analysis.declare.columns import IDS

_WORDS = {
    "client": "Client",
    "matter": "Matter",
    "user": "Person",
    "responsible": "Person",
    "originator": "Person",
    "fixed_fee": "Fixed fee",
}
_REMOVED = ("contact_", "first_name", "last_name", "initials")
_REFERENCES = ("reference", "client_reference", "matter_reference")
_LENGTH = 8


class Pseudonyms:
    """Replace the names in the frames of loaders, and of payments and results with names of the firm's books."""

    def __call__(self, name: str, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a frame without names, references, contacts and custom fields of text, such as a list of clients."""
        # That of a payment is the number of a check.
        references = () if name == "payments" else _REFERENCES
        fields = frame.attrs.get("custom_fields", {})
        removed = [each for each in map(str, frame) if each.startswith(_REMOVED) or each in references]
        removed += [each for each, about in fields.items() if about.get("type") == "text" and each in frame]
        result = frame.drop(columns=removed)
        for column in map(str, result):
            stem = column.removesuffix("_name").removesuffix("_label")
            if column == "name" and name in IDS:
                result[column] = _named(result[IDS[name]], name.removesuffix("s"))
            elif stem != column and stem in _WORDS and f"{stem}_id" in result:
                result[column] = _named(result[f"{stem}_id"], stem)
            elif stem != column and stem in _WORDS:
                del result[column]
            elif column == "originator_names":
                result[column] = result["originator_ids"].map(_of_all, na_action="ignore")
        if "customer" in result:
            # The name in the firm's books.
            result["customer"] = result.get("client_name")
        result.attrs.pop(NAMES, None)
        return result


def _named(ids: pd.Series[Any], kind: str) -> pd.Series[Any]:
    # There are far fewer ids than rows.
    names = {each: _pseudonym(each, kind) for each in ids.dropna().unique()}
    return ids.map(names).astype("str")


def _of_all(ids: Iterable[str]) -> list[str]:
    return [_pseudonym(each, "originator") for each in ids]


def _pseudonym(id_: Any, kind: str) -> str:
    return f"{_WORDS[kind]} {str(id_)[:_LENGTH]}"
