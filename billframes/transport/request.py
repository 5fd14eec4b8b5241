"""Requests to the API, which can be sent to no other address, and their responses.

Response bodies are decompressed here, piece by piece and up to a size limit: a few hundred kilobytes of gzip can hold
gigabytes, and a truncated body must not be used as a complete one.
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
from billframes.transport.pacing import Refusal

# The header `location` under another name, by which httpx does not know it.
REDIRECT = "billframes-location"
ENCODINGS = "gzip, deflate"
STEP = 2**18
_GZIP = zlib.MAX_WBITS | 16


class BodyError(Exception):
    """The body can't be decompressed; the message says why."""


class BodyTooLargeError(Exception):
    """The body is larger than the limit; the received part is discarded."""


def read_body(pieces: Iterable[bytes], encoding: str, most: int) -> bytes:
    """Read and decompress a body; raise `BodyTooLargeError` beyond `most` bytes, and read nothing further."""
    name = encoding.strip().lower()
    if name in {"gzip", "x-gzip"}:
        pieces = _decompressed(pieces, _GZIP)
    elif name == "deflate":
        pieces = _decompressed(pieces, None)
    elif name not in {"", "identity"}:
        raise BodyError(f"its encoding {name[:40]!r} was not requested")
    received, size = [], 0
    for piece in pieces:
        size += len(piece)
        if size > most:
            raise BodyTooLargeError
        received.append(piece)
    return b"".join(received)


def _decompressed(pieces: Iterable[bytes], window: int | None) -> Iterator[bytes]:
    decompressor, complete = None, True
    for piece in pieces:
        rest = piece
        while rest:
            # Some servers send deflate without its zlib header, which the first byte shows.
            window = window or (zlib.MAX_WBITS if rest[0] & 0x0F == zlib.DEFLATED else -zlib.MAX_WBITS)
            decompressor = decompressor or zlib.decompressobj(window)
            yield from _decompressed_piece(decompressor, rest)
            rest, complete = decompressor.unused_data, decompressor.eof
            # A gzip body may have several members, one after the other.
            decompressor = None if complete else decompressor
    if not complete:
        raise BodyError("its compressed data is truncated")


def _decompressed_piece(decompressor: zlib._Decompress, rest: bytes) -> Iterator[bytes]:
    """Decompress a piece in steps, so that the size limit can stop it."""
    try:
        while not decompressor.eof:
            yield (step := decompressor.decompress(rest, STEP))
            rest = decompressor.unconsumed_tail
            if not rest and len(step) < STEP:
                return
    except zlib.error as error:
        raise BodyError(f"its compressed data is damaged: {error}") from None


QueryPairs: TypeAlias = Sequence[tuple[str, str]]

# A path segment "." or "..", also if it is written with backslashes or followed by a parameter.
_DOTS = re.compile(r"(?:^|[/\\])\.{1,2}(?:[/\\;?#]|$)")
LONGEST_SHOWN = 100


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """
    A request to the API.

    `resource` is the resource's name for messages. If `may_be_empty` is True, a response without a body is valid.
    """

    resource: str
    method: str
    path: str
    query: QueryPairs = field(default=(), repr=False)
    body: bytes | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    may_be_empty: bool = False

    @property
    def is_read(self) -> bool:
        """Whether the request changes nothing on the server."""
        return self.method == "GET"


def absolute_path(path: str) -> str:
    """Return the path with one slash at its beginning; without it, the path would become part of the host's name."""
    return "/" + path.lstrip("/")


def httpx_request(client: httpx.Client, base_url: str, request: ApiRequest) -> httpx.Request:
    """Build the httpx request. It will have the credential, so its address must be below the API's address."""
    unsendable = False
    try:
        built = client.build_request(
            request.method,
            base_url + request.path,
            params=list(request.query) or None,
            content=request.body,
            headers=dict(request.headers),
        )
        within = _is_within(built.url, httpx.URL(base_url)) and not _DOTS.search(unquote(request.path))
    except (httpx.InvalidURL, UnicodeEncodeError):
        within, unsendable = False, bool(request.query)
    if unsendable:
        raise ParameterError(
            f"{request.resource}: a text to filter by is too long, or has a character that can't be sent. Shorten it, "
            "or remove the character."
        )
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
    A received response, without the request, because the request's headers have the credential.

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
    """A 2xx response: its body and, if stated, the server's time."""

    body: bytes
    date: dt.datetime | None


# A function that finds out whether a write of uncertain outcome happened. Its argument is when the write was first
# sent, on the monotonic clock. It returns the response if the write happened, or None if it did not and can be sent
# again; it raises if this can't be found out.
OutcomeCheck: TypeAlias = Callable[[float], Response | None]


@dataclass(frozen=True, slots=True)
class Failure:
    """
    A request that failed, and whether a retry may help.

    `wait` is the server's `Retry-After` in seconds. `refusal` is the pause after a 429.
    `uncertain` is True for a write that was sent, if it is not known whether it had an effect.
    """

    error: BillframesError
    retryable: bool
    wait: float | None = None
    timed_out: bool = False
    refusal: Refusal | None = None
    uncertain: bool = False


def outcome_of_write(check_outcome: OutcomeCheck, started: float, error: BillframesError) -> Response | None:
    """Find out whether a write that failed with `error` happened; raise `error` if this can't be found out."""
    try:
        return check_outcome(started)
    except (ApiError, DecodeError) as reason:
        raise error from reason
