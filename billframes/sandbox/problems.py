"""Answers that say no, as RFC 9457 `application/problem+json`.

The API's description shows no error bodies; this is the documented assumption. `errors` lists everything
wrong with a request at once, each with the parameter it is about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus

import msgspec

__all__ = ["Fault", "Problem", "ProblemBody"]


class Fault(msgspec.Struct, frozen=True):
    """One thing wrong with a request."""

    parameter: str
    detail: str


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
