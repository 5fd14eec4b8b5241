"""Answers that say no, as RFC 9457 `application/problem+json`.

The API's description shows no error bodies; this is the documented assumption. `errors` lists everything
wrong with a request at once, each with the parameter, or the place in the body, it is about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus

import msgspec

__all__ = ["Fault", "Faults", "Problem", "ProblemBody", "shown"]

_LONGEST = 80
_MOST_TOLD = 50
# More than anybody mends by hand; keeps the answer to a senseless body from growing beyond the body.
_MOST_LISTED = 1_000


class Fault(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing wrong with a request: with a parameter or header, or at a JSON pointer into the body."""

    detail: str
    parameter: str | None = None
    pointer: str | None = None


class ProblemBody(msgspec.Struct, omit_defaults=True):
    """The body of an answer that says no."""

    type: str
    title: str
    status: int
    detail: str
    errors: Sequence[Fault] = ()


class Problem(Exception):  # noqa: N818
    """
    A request that is answered with a problem.

    Parameters
    ----------
    status : int
        HTTP status.
    detail : str
        What is wrong, in a sentence for the caller.
    errors : sequence of Fault
        Every single thing wrong, where there may be several.
    headers : mapping
        What the status asks for, such as `WWW-Authenticate`.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        errors: Sequence[Fault] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.errors = tuple(errors)
        self.headers = dict(headers or {})

    def body(self) -> bytes:
        """Return the JSON body."""
        title = HTTPStatus(self.status).phrase
        return msgspec.json.encode(
            ProblemBody(type="about:blank", title=title, status=self.status, detail=str(self), errors=self.errors)
        )


class Faults:
    """What is found wrong with a request, until everything has been looked at."""

    def __init__(self) -> None:
        self._found: list[Fault] = []

    def parameter(self, name: str, detail: str) -> None:
        """Note what is wrong with a query parameter or header."""
        self._found.append(Fault(detail, parameter=name))

    def body(self, pointer: str, detail: str) -> None:
        """Note what is wrong in the body; `pointer` is a JSON pointer such as `#/customFields/0/value`."""
        self._found.append(Fault(detail, pointer=pointer))

    def about(self, pointer: str) -> bool:
        """Tell whether something is wrong at this place of the body already."""
        return any(each.pointer == pointer for each in self._found)

    def check(self) -> None:
        """Raise a problem that lists every fault, if there is any."""
        if self._found:
            told = self._found[:_MOST_TOLD]
            detail = "; ".join(f"{each.parameter or each.pointer} {each.detail}" for each in told)
            more = f"; and {len(self._found) - len(told)} more" if len(self._found) > len(told) else ""
            raise Problem(400, f"{detail}{more}.", errors=self._found[:_MOST_LISTED])


def shown(value: object) -> str:
    """Return a value as a sentence quotes it, cut where it is long."""
    try:
        text = repr(value)
    except RecursionError:
        text = "something nested deeply"
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
