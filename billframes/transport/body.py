"""The body of an answer, never larger in memory than a bound.

Bodies are unpacked here, piece by piece, because a few hundred kilobytes of gzip can hold gigabytes; and because one
that ends before its packing does must not pass for whole.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

__all__ = ["ENCODINGS", "BodyError", "TooLargeError", "read_body"]

# What is offered to servers.
ENCODINGS = "gzip, deflate"
STEP = 2**18
_GZIP = zlib.MAX_WBITS | 16


class BodyError(Exception):
    """A body that can't be unpacked; says why."""


class TooLargeError(Exception):
    """A body larger than the bound; what came of it is let go."""


def read_body(pieces: Iterable[bytes], encoding: str, most: int) -> bytes:
    """
    Put a body together.

    Parameters
    ----------
    pieces : iterable of bytes
        As they come from the network.
    encoding : str
        The `Content-Encoding` header.
    most : int
        Bytes after unpacking.

    Raises
    ------
    TooLargeError
        There is more; nothing further is read.
    BodyError
        It is packed in an unknown way, or damaged, or not whole.

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
        raise BodyError(f"it is packed as {name[:40]!r}, which was not asked for")
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
            # Some servers send deflate without its wrapping; the first byte tells.
            window = window or (zlib.MAX_WBITS if rest[0] & 0x0F == zlib.DEFLATED else -zlib.MAX_WBITS)
            packed = packed or zlib.decompressobj(window)
            yield from _steps(packed, rest)
            rest, whole = packed.unused_data, packed.eof
            # A gzip file may have several members, one after the other.
            packed = None if whole else packed
    if not whole:
        raise BodyError("it ends before its packing does")


def _steps(packed: zlib._Decompress, rest: bytes) -> Iterator[bytes]:
    """Unpack what came, a step at a time, so that a bound can stop it."""
    try:
        while not packed.eof:
            yield (step := packed.decompress(rest, STEP))
            rest = packed.unconsumed_tail
            if not rest and len(step) < STEP:
                return
    except zlib.error as error:
        raise BodyError(f"its packing is damaged: {error}") from None
