"""A body is decompressed completely or not at all, and never beyond the limit."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given, strategies as st

from billframes.transport.request import BodyError, BodyTooLargeError, read_body

TEXT = b'{"data": [%s]}' % b",".join(b"%d" % i for i in range(3000))


def raw_deflate(text):
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(text) + packer.flush()


PACKINGS = {
    "": bytes,
    "identity": bytes,
    "gzip": gzip.compress,
    "X-GZip": lambda text: gzip.compress(text[:100]) + gzip.compress(text[100:]),
    "deflate": zlib.compress,
    " Deflate": raw_deflate,
}


@given(st.sampled_from(sorted(PACKINGS)), st.integers(1, 70_000), st.integers(0, 3))
def test_a_body_is_decompressed_correctly_from_any_pieces(encoding, size, empty):
    packed = PACKINGS[encoding](TEXT)
    pieces = [b""] * empty + [packed[i : i + size] for i in range(0, len(packed), size)]
    assert read_body(pieces, encoding, most=len(TEXT)) == TEXT
    with pytest.raises(BodyTooLargeError):
        read_body(pieces, encoding, most=len(TEXT) - 1)


@given(st.sampled_from(["gzip", "deflate"]), st.integers(1, 4000))
def test_a_truncated_compressed_body_is_refused(encoding, cut):
    packed = PACKINGS[encoding](TEXT)
    with pytest.raises(BodyError):
        read_body([packed[: max(1, len(packed) - cut)]], encoding, most=len(TEXT))


def test_an_empty_body_is_accepted_with_any_encoding():
    assert read_body([], "gzip", most=10) == b""


@pytest.mark.parametrize("encoding", ["br", "gzip, gzip", "nonsense"])
def test_an_unknown_encoding_is_named(encoding):
    with pytest.raises(BodyError, match=encoding):
        read_body([b"{}"], encoding, most=10)
