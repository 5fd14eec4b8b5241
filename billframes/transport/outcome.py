"""The outcome of a request: a response, or a failure that says whether a retry may help."""

from __future__ import annotations

import codecs
import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from billframes.errors import ApiError, BillframesError, DecodeError

__all__ = ["Failure", "OutcomeCheck", "RawResponse", "Response", "outcome_of_write"]


@dataclass(frozen=True, slots=True)
class RawResponse:
    """
    A response as it was received, without the request, whose headers hold the credential.

    The names of the headers are in lower case.
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
        """The body as text; bytes that can't be decoded are replaced."""
        _, _, charset = self.headers.get("content-type", "").partition("charset=")
        try:
            name = codecs.lookup(charset.split(";")[0].strip(" \"'") or "utf-8").name
            return self.body.decode(name, errors="replace")
        except (LookupError, ValueError):
            return self.body.decode("utf-8", errors="replace")


@dataclass(frozen=True, slots=True)
class Response:
    """A 2xx response: its body, and the server's time if the response states it."""

    body: bytes
    date: dt.datetime | None


# Finds out whether a write of uncertain outcome happened, given when it was first sent (on the monotonic clock).
# Returns the response if it did, None if it did not and may be sent again; raises if that can't be known.
OutcomeCheck: TypeAlias = Callable[[float], Response | None]


@dataclass(frozen=True, slots=True)
class Failure:
    """
    A request that failed, and whether a retry may help.

    `wait` is how long the server asks to wait. `refusals` is the number of 429s in a row, if this is one. `uncertain`
    says that a write was sent and that it is not known whether it had an effect.
    """

    error: BillframesError
    retryable: bool
    wait: float | None = None
    timed_out: bool = False
    refusals: int = 0
    uncertain: bool = False


def outcome_of_write(check_outcome: OutcomeCheck, started: float, error: BillframesError) -> Response | None:
    """Find out whether a write that failed with `error` happened; raise `error` if that can't be known."""
    try:
        return check_outcome(started)
    except (ApiError, DecodeError) as reason:
        raise error from reason
