"""Decompress a response's body without exceeding a size limit.

Bodies are decompressed here, piece by piece, because a few hundred kilobytes of gzip can hold gigabytes, and because a
truncated body must not pass for a complete one.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

__all__ = ["ENCODINGS", "BodyError", "TooLargeError", "read_body"]

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
    billframes.transport.body.TooLargeError
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
