"""A request to the API, the check that it goes to no other address, its response, and its outcome.

Response bodies are decompressed here, piece by piece and within a size limit, because a few hundred kilobytes of gzip
can hold gigabytes, and because a truncated body must not pass for a complete one.
"""

from __future__ import annotations

import codecs
import datetime as dt
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import unquote

import httpx

from billframes.errors import ApiError, BillframesError, DecodeError, ParameterError

__all__ = [
    "ENCODINGS",
    "ApiRequest",
    "BodyError",
    "Failure",
    "OutcomeCheck",
    "Query",
    "RawResponse",
    "Response",
    "TooLargeError",
    "absolute_path",
    "build_request",
    "outcome_of_write",
    "read_body",
]

# The encodings that requests accept.
ENCODINGS = "gzip, deflate"
STEP = 2**18
_GZIP = zlib.MAX_WBITS | 16


class BodyError(Exception):
    """A body that can't be decompressed; the message says why."""


class TooLargeError(Exception):
    """A body larger than the limit; the part received is discarded."""


def read_body(pieces: Iterable[bytes], encoding: str, most: int) -> bytes:
    """
    Read a body.

    Parameters
    ----------
    pieces : iterable of bytes
        As received from the network.
    encoding : str
        The `Content-Encoding` header.
    most : int
        Limit in bytes, after decompression.

    Raises
    ------
    TooLargeError
        The body is larger; nothing further is read.
    BodyError
        It has an unknown encoding, or is damaged or truncated.

    Examples
    --------
    >>> read_body([b'{"data"', b": null}"], "", most=100)
    b'{"data": null}'
    >>> read_body([zlib.compress(b" " * 1000)], "deflate", most=100)
    Traceback (most recent call last):
        ...
    billframes.transport.request.TooLargeError
    """
    name = encoding.strip().lower()
    if name in {"gzip", "x-gzip"}:
        pieces = _unpacked(pieces, _GZIP)
    elif name == "deflate":
        pieces = _unpacked(pieces, None)
    elif name not in {"", "identity"}:
        raise BodyError(f"its encoding {name[:40]!r} was not requested")
    kept, size = [], 0
    for piece in pieces:
        size += len(piece)
        if size > most:
            raise TooLargeError
        kept.append(piece)
    return b"".join(kept)


def _unpacked(pieces: Iterable[bytes], window: int | None) -> Iterator[bytes]:
    packed, whole = None, True
    for piece in pieces:
        rest = piece
        while rest:
            # Some servers send deflate without its zlib header; the first byte shows it.
            window = window or (zlib.MAX_WBITS if rest[0] & 0x0F == zlib.DEFLATED else -zlib.MAX_WBITS)
            packed = packed or zlib.decompressobj(window)
            yield from _steps(packed, rest)
            rest, whole = packed.unused_data, packed.eof
            # A gzip file may have several members, one after the other.
            packed = None if whole else packed
    if not whole:
        raise BodyError("its compressed data is truncated")


def _steps(packed: zlib._Decompress, rest: bytes) -> Iterator[bytes]:
    """Decompress a piece in steps, so that the limit can stop it."""
    try:
        while not packed.eof:
            yield (step := packed.decompress(rest, STEP))
            rest = packed.unconsumed_tail
            if not rest and len(step) < STEP:
                return
    except zlib.error as error:
        raise BodyError(f"its compressed data is damaged: {error}") from None


Query: TypeAlias = Sequence[tuple[str, str]]

# A step to another folder, also if it is written with backslashes or followed by a parameter.
_DOTS = re.compile(r"(?:^|[/\\])\.{1,2}(?:[/\\;?#]|$)")
LONGEST_SHOWN = 100


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """
    A request to the API.

    `resource` is its name in messages. `may_be_empty` says that a response without a body is valid.
    """

    resource: str
    method: str
    path: str
    query: Query = field(default=(), repr=False)
    body: bytes | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    may_be_empty: bool = False

    @property
    def is_read(self) -> bool:
        """Whether it changes nothing."""
        return self.method == "GET"


def absolute_path(path: str) -> str:
    """
    Return a path that begins with exactly one slash: without one it would become part of the host's name.

    Examples
    --------
    >>> absolute_path("v2/health"), absolute_path("//elsewhere.test")
    ('/v2/health', '/elsewhere.test')
    """
    return "/" + path.lstrip("/")


def build_request(client: httpx.Client, base_url: str, request: ApiRequest) -> httpx.Request:
    """
    Build the httpx request. The credential goes with it, so its address must be below the API's.

    Raises
    ------
    ParameterError
        The path leads elsewhere, or can't be part of an address.
    """
    try:
        built = client.build_request(
            request.method,
            base_url + request.path,
            params=list(request.query) or None,
            content=request.body,
            headers=dict(request.headers),
        )
        within = _is_within(built.url, httpx.URL(base_url)) and not _DOTS.search(unquote(request.path))
    except httpx.InvalidURL:
        within = False
    if within:
        return built
    raise ParameterError(
        f"{request.resource}: the path {request.path[:LONGEST_SHOWN]!r} is not below the API's address, so nothing "
        "was sent. Check the path, and the id in it."
    )


def _is_within(url: httpx.URL, base: httpx.URL) -> bool:
    same_server = (url.scheme, url.host, url.port, url.userinfo) == (base.scheme, base.host, base.port, base.userinfo)
    return same_server and url.path.startswith(base.path.rstrip("/") + "/")


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
