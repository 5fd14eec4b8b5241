"""Error responses, as RFC 9457 `application/problem+json`.

The API's description shows no error bodies; this is the documented assumption. `errors` lists every fault of a request,
each with its parameter or its place in the body.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from starlette.responses import Response

PROBLEM_JSON = "application/problem+json"

_MAX_QUOTED = 80
_MAX_IN_DETAIL = 50
# More than anybody corrects by hand; keeps the response to a nonsensical body from outgrowing the body.
_MAX_ERRORS = 1_000


class Fault(msgspec.Struct, frozen=True, omit_defaults=True):
    """A fault of a request: of a parameter or header, or at a JSON pointer into the body."""

    detail: str
    parameter: str | None = None
    pointer: str | None = None


class ProblemBody(msgspec.Struct, omit_defaults=True):
    """The body of an error response."""

    type: str
    title: str
    status: int
    detail: str
    errors: Sequence[Fault] = ()


class HttpProblem(Exception):  # noqa: N818
    """An error response to a request, with a sentence for the caller and each fault of the request."""

    def __init__(
        self, status: int, detail: str, *, errors: Sequence[Fault] = (), headers: Mapping[str, str] | None = None
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

    def response(self) -> Response:
        """Return the response."""
        from starlette.responses import Response

        return Response(self.body(), self.status, headers=self.headers, media_type=PROBLEM_JSON)


class Faults:
    """The faults found in a request, which are reported together."""

    def __init__(self) -> None:
        self._found: list[Fault] = []

    def add_parameter(self, name: str, detail: str) -> None:
        """Add a fault of a query parameter or header."""
        self._found.append(Fault(detail, parameter=name))

    def add_body(self, pointer: str, detail: str) -> None:
        """Add a fault of the body; `pointer` is a JSON pointer such as `#/customFields/0/value`."""
        self._found.append(Fault(detail, pointer=pointer))

    def has(self, pointer: str) -> bool:
        """Tell whether this place of the body has a fault already."""
        return any(each.pointer == pointer for each in self._found)

    def raise_if_any(self) -> None:
        """Raise an `HttpProblem` with status 400 that lists all faults, if there are any."""
        if self._found:
            first = self._found[:_MAX_IN_DETAIL]
            detail = "; ".join(f"{each.parameter or each.pointer} {each.detail}" for each in first)
            more = f"; and {len(self._found) - len(first)} more" if len(self._found) > len(first) else ""
            raise HttpProblem(400, f"{detail}{more}.", errors=self._found[:_MAX_ERRORS])


def quoted(value: object) -> str:
    """Return a value as Python writes it, for a message; a long one is shortened."""
    try:
        text = repr(value)
    except RecursionError:
        text = "something nested deeply"
    return text if len(text) <= _MAX_QUOTED else text[: _MAX_QUOTED - 3] + "..."
