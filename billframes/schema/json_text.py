"""Tell whether the body of an answer is JSON, and say so if it is not."""

from __future__ import annotations

import msgspec

from billframes.errors import DecodeError

__all__ = ["TOO_DEEP", "ends_early", "flaw_of", "not_json"]

LARGE = 2**17
_OPEN, _CLOSED = {b"{", b"["}, {b"}", b"]"}
_JSON = msgspec.json.Decoder(msgspec.Raw)
_NOT_JSON = "is not valid JSON"
TOO_DEEP = "is nested too deeply to be read"


def flaw_of(body: bytes) -> str | None:
    """
    Return what keeps a body from being JSON, whatever its headers say; None for nothing.

    All of it must be UTF-8, including what no field is read from. The structure of a large body is only looked at from
    its ends: whoever decodes it reads the whole, and asks again if it is not JSON.

    Examples
    --------
    >>> flaw_of(b'{"data": []}')
    >>> flaw_of('{"data": [], "note": "Größe"}'.encode("latin-1"))
    'is not valid UTF-8'
    """
    try:
        if not body.isascii():
            body.decode()
        if len(body) <= LARGE:
            _JSON.decode(body)
            return None
    except UnicodeDecodeError:
        return "is not valid UTF-8"
    except RecursionError:
        return TOO_DEEP
    except msgspec.DecodeError:
        return _NOT_JSON
    whole = body[:LARGE].lstrip()[:1] in _OPEN and body[-LARGE:].rstrip()[-1:] in _CLOSED
    return None if whole else _NOT_JSON


def ends_early(body: bytes) -> bool:
    """Tell whether a body that is no JSON looks like the beginning of some."""
    text = body.strip()
    return text[:1] in _OPEN and text[-1:] not in _CLOSED


def not_json(resource: str, body: bytes, flaw: str | None = None) -> DecodeError:
    """Return the error for an answer that is not JSON."""
    page = body.lstrip()[:1] == b"<"
    advice = " It looks like a web page: check that the address is the API's own." if page else ""
    return DecodeError(f"{resource}: the server's answer {flaw or _NOT_JSON}.{advice}")
