"""The data behind the answers: the newest version of a mirror, or what a server returned a short time ago.

A mirror can be refreshed while the server runs, so each question looks for its newest version. Each list is loaded once
for a version, and then serves all periods. What the answers say about completeness is read from the loads' proofs.
"""

from __future__ import annotations

import datetime as dt
import functools
import time
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

import pandas as pd

from billframes._shared.names import join_names
from billframes.book import Book
from billframes.book.methods import FRAME_NAMES
from billframes.config.firm import FirmSettings, describe_settings
from billframes.config.firm_calendar import FirmCalendar
from billframes.errors import ParameterError
from billframes.loading.load_info import attached
from billframes.mirror.catalogue import format_span
from billframes.periods import resolve

if TYPE_CHECKING:
    from billframes.client import Client

KEEP = 900.0
"""The seconds for which lists of a server are kept before they are loaded again."""

_PROVED = {
    "mirror": "every record of this version of the mirror; a refresh is proved complete, or it fails",
    "snapshot": "exactly the server's records at one instant",
    "complete": "every record of the server; those that changed during the load may be as they were before or after",
    "counted": "as many records as the server counted; if others wrote during the load, some can be missing or old",
}
Change = Callable[[str, pd.DataFrame], pd.DataFrame]


class KeptLists:
    """A client or a mirror whose lists are each loaded once, and changed by `change`."""

    def __init__(self, client: Any, change: Change) -> None:
        self.client, self._change = client, change
        self.frames: dict[str, pd.DataFrame] = {}
        # The warnings of loads concern every answer, not only that of the question that loaded.
        self.warnings: dict[str, None] = {}
        self.began = time.monotonic()

    @functools.cached_property
    def rows(self) -> dict[str, int]:
        """The rows of each table of the mirror's version; empty for a server."""
        if getattr(self.client, "version", None) is None:
            return {}
        sizes = self.client.sizes()
        return dict(zip(sizes["resource"], map(int, sizes["rows"]), strict=True))

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.client, name)
        return functools.partial(self._load, name, found) if name in FRAME_NAMES else found

    def _load(self, name: str, load: Callable[..., pd.DataFrame], **arguments: Any) -> pd.DataFrame:
        if not arguments and name in self.frames:
            return self.frames[name]
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            frame = self._change(name, load(**arguments))
        self.warnings |= dict.fromkeys(str(each.message) for each in seen)
        if not arguments:
            self.frames[name] = frame
        return frame


class Source:
    """
    Where the answers come from.

    `newest` opens the newest version of the mirror; without it the client is asked again after `KEEP` seconds. By
    default, `settings` are those of the client. `change` makes another frame of each loaded one, such as pseudonyms.
    """

    def __init__(
        self,
        client: Any,
        *,
        newest: Callable[[], Any] | None = None,
        settings: FirmSettings | None = None,
        change: Change | None = None,
    ) -> None:
        self._newest, self._settings = newest, settings
        # Returns a frame, such as one of the firm's books, with the changes that lists have.
        self.changed = change or (lambda _, frame: frame)
        self._lists = self._asked = KeptLists(client, self.changed)
        self._earlier: dict[int, KeptLists] = {}

    @property
    def warnings(self) -> list[str]:
        """The warnings of all loads of the data that the present question reads."""
        return list(self._asked.warnings)

    @property
    def version(self) -> int | None:
        """The version of the mirror that the last question read; None for a server."""
        version: int | None = getattr(self._lists, "version", None)
        return version

    def refresh(self) -> None:
        """Open the newest version of the mirror; or forget lists that a server returned long ago."""
        if self._newest is not None:
            opened = self._newest()
            if opened.version != self.version:
                self._lists = KeptLists(opened, self.changed)
        elif self.version is None and time.monotonic() - self._lists.began > KEEP:
            self._lists = KeptLists(self._lists.client, self.changed)
        self._asked = self._lists

    def book(self, period: str | None = None, data_of: str | None = None) -> Book:
        """
        Open the book of a period, such as "2026-Q3" or "2026-01-01 to 2026-09-30"; of all time without one.

        With `data_of`, the data are those of the mirror's last version of that day.
        """
        first, _, last = (period or "").partition(" to ")
        if period is not None and not first.strip():
            raise ParameterError('period is empty. It takes a period such as "2026-10", "2026-Q3" or "2026".')
        calendar, names = FirmCalendar(lambda: self._lists, self._settings), ("period", "period")
        days = resolve(first.strip() or None, last.strip() or None, calendar=calendar, names=names)
        if data_of is not None:
            self._asked = self._lists_of(data_of)
        return Book(days, settings=self._settings, client=cast("Client", self._asked))

    def unchanged(self, book: Book) -> Book:
        """Return a book with the lists as loaded: reports of the firm's books have the real names."""
        lists = KeptLists(cast("KeptLists", book.client).client, lambda _, frame: frame)
        return Book(book.period, settings=self._settings, client=cast("Client", lists))

    def _lists_of(self, day: str) -> KeptLists:
        """Return the lists of an earlier version of the mirror."""
        if self.version is None:
            raise ParameterError(f"data_of={day!r}: only a mirror has the data of earlier days. Leave it out.")
        earlier = self._lists.as_of(day)
        if earlier.version not in self._earlier:
            # One is enough for a conversation, and each has all lists.
            self._earlier = {earlier.version: KeptLists(earlier, self.changed)}
        return self._earlier[earlier.version]

    def provenance(self, book: Book) -> dict[str, Any]:
        """Return the period of a book, the day and age of its data, how they are proved complete, and its settings."""
        loaded = book.loaded_on("time_entries", "invoices")
        start, end = book.period.start, book.period.end
        kept = cast("KeptLists", book.client)
        lists = {name: frame for name in FRAME_NAMES if (frame := kept.frames.get(name)) is not None}
        return {
            "period": [str(start) if start else None, str(end) if end else None],
            "data_of": str(loaded) if loaded else None,
            "age": _age(kept),
            "period_is_over": bool(end and loaded and end <= loaded),
            "mirror_version": getattr(kept, "version", None),
            "records_loaded": {name: len(frame) for name, frame in lists.items()},
            "complete": _complete(lists, kept.rows),
            "settings": describe_settings(book.settings),
        }


def _age(lists: KeptLists) -> str:
    age = getattr(lists, "age", None) or dt.timedelta(seconds=time.monotonic() - lists.began)
    return f"{format_span(max(age, dt.timedelta()))} old"


def _complete(lists: Mapping[str, pd.DataFrame], tables: Mapping[str, int]) -> str:
    """Say how each list is proved complete, from the loads' proofs and the rows of the mirror's tables."""
    by_proof: dict[str, list[str]] = {}
    for name, frame in lists.items():
        load = attached(frame, "load") or {}
        rows, proof = load.get("rows"), load.get("proof")
        whole = rows == len(frame) == tables.get(name, rows) and not load.get("arguments")
        by_proof.setdefault(proof if whole and proof in _PROVED else "", []).append(name.replace("_", " "))
    doubtful = by_proof.pop("", [])
    said = [f"{join_names(each).capitalize()}: {_PROVED[proof]}." for proof, each in by_proof.items()]
    if doubtful:
        said.append(f"NOT proved complete: {join_names(doubtful)}.")
    return " ".join(said) or "No list was needed."
