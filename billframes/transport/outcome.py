"""How a request ends: with an answer, or with a failure that says whether trying again may help."""

from __future__ import annotations

import codecs
import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from billframes.errors import ApiError, BillframesError, DecodeError

__all__ = ["Failure", "HttpAnswer", "Response", "Settle", "settled"]


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """
    An answer as it came, apart from the request, whose headers hold the credential.

    The headers' names are in small letters.
    """

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    @property
    def is_success(self) -> bool:
        """Whether the status is a 2xx."""
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        """The body as text, as far as it is any."""
        _, _, charset = self.headers.get("content-type", "").partition("charset=")
        try:
            name = codecs.lookup(charset.split(";")[0].strip(" \"'") or "utf-8").name
            return self.body.decode(name, errors="replace")
        except (LookupError, ValueError):
            return self.body.decode("utf-8", errors="replace")


@dataclass(frozen=True, slots=True)
class Response:
    """A 2xx answer: its body, and the server's time where it says so."""

    body: bytes
    date: dt.datetime | None


# Looks what became of a write: an answer where it happened, None where it did not and may be sent again, an error where
# that can't be told. Is given when the write was first sent, by this machine's monotonic clock.
Settle: TypeAlias = Callable[[float], Response | None]


@dataclass(frozen=True, slots=True)
class Failure:
    """
    A request that failed: how, and whether trying again may help.

    `wait` is what the server asked for; `refusals` how many 429 came in a row, if this is one; `lost` says that a write
    was sent and nobody knows what became of it.
    """

    error: BillframesError
    passing: bool
    wait: float | None = None
    timed_out: bool = False
    refusals: int = 0
    lost: bool = False


def settled(settle: Settle, started: float, error: BillframesError) -> Response | None:
    """Look what became of a write that failed with `error`, which is raised where that can't be told."""
    try:
        return settle(started)
    except (ApiError, DecodeError) as reason:
        raise error from reason
