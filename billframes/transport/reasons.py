"""Find the reason of a refusal, and the server's own id of the request, in a response.

The API's description shows no error bodies. Servers of this kind send problem details (RFC 9457), ASP.NET's `errors` by
field, an object under `error`, a list of objects, plain text, or a proxy's web page.
"""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import msgspec

from billframes._shared.messages import clean_text, cut
from billframes.transport.request import RawResponse

LONGEST_REASON = 500
LONGEST_TRACE = 200
MOST_SENTENCES = 20
# Servers nest a reason once or twice. Texts that are nested deeper are not meant for people.
DEEPEST = 6

# Names without separators, in lower case; the first one with a text is the reason.
_REASON = (
    "detail",
    "message",
    "errormessage",
    "errordescription",
    "description",
    "faultstring",
    "reason",
    "msg",
    "title",
)
_WRAPPERS = ("error", "fault")
_LISTS = ("errors", "details", "validationerrors", "modelstate")
_PLACES = ("parameter", "pointer", "field", "property", "propertyname", "path")
_TITLE = re.compile(r"<title\b[^<>]*>([^<]*)</title\s*>", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
_NOT_JSON = object()
_SENTENCE_ENDS = (".", "!", "?", "…", ":", ";", "。", "！", "？")
_TRACE_NAMES = ("requestid", "correlationid", "traceid", "trace")
# Objects of the body that may have the request's id, besides the body itself.
_TRACE_PLACES = (*_WRAPPERS, "meta", "metadata")


def reason_of(response: RawResponse) -> str:
    """Return why a server refused a request, on one line; an empty text if it gives no reason."""
    found = _decoded(response.body)
    sentences = _from_text(response) if found is _NOT_JSON else _sentences(found)
    cleaned = filter(None, map(_on_one_line, islice(sentences, MOST_SENTENCES)))
    *others, last = _without_repetitions(cleaned) or [""]
    return cut(" ".join([*map(end_sentence, others), last]), LONGEST_REASON)


def end_sentence(text: str) -> str:
    """Return the text with a full stop, unless it ends with punctuation."""
    return text if text.endswith(_SENTENCE_ENDS) else f"{text}."


def _without_repetitions(sentences: Iterable[str]) -> list[str]:
    """Leave out sentences whose words are in one before: many servers list the errors of a field also in `detail`."""
    kept: dict[str, str] = {}
    for sentence in sentences:
        words = f" {' '.join(_WORD.findall(sentence.casefold()))} "
        if words.isspace() or not any(words in earlier for earlier in kept):
            kept.setdefault(words, sentence)
    return list(kept.values())


def trace_id_of(response: RawResponse) -> str | None:
    """Return the server's own id of the request: from a header, or else from the body."""
    found = _decoded(response.body)
    named = {_key(name): value for name, value in found.items()} if isinstance(found, dict) else {}
    places = (response.headers, found, *map(named.get, _TRACE_PLACES))
    return next((trace for each in places if (trace := _trace_in(each))), None)


def _trace_in(fields: Any) -> str | None:
    if not isinstance(fields, Mapping):
        return None
    texts = {_key(name): _text(value) for name, value in fields.items()}
    for wanted in _TRACE_NAMES:
        for name, text in texts.items():
            # Neither a stack trace nor a W3C `tracestate` is an id.
            if wanted in name and text and "stack" not in name and name != "tracestate":
                return cut(_on_one_line(text), LONGEST_TRACE)
    return None


def _text(value: Any) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _decoded(body: bytes) -> Any:
    """Return a body's decoded JSON; `_NOT_JSON` if the body is not JSON."""
    try:
        return msgspec.json.decode(body.removeprefix(codecs.BOM_UTF8))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _NOT_JSON


def _from_text(response: RawResponse) -> Iterator[str]:
    text, kind = response.text.strip(), response.headers.get("content-type", "").strip().casefold()
    if text.startswith("<") or "html" in kind:
        yield from (html.unescape(title) for title in _TITLE.findall(text)[:1])
    elif not text.startswith(("{", "[")) and "\0" not in text and (not kind or "text" in kind or "json" in kind):
        yield text


def _sentences(value: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth > DEEPEST:
        return
    elif isinstance(value, list):
        for each in value:
            yield from _sentences(each, depth + 1)
    elif isinstance(value, dict):
        yield from _sentences_of_object({_key(name): each for name, each in value.items()}, depth)


def _sentences_of_object(named: Mapping[str, Any], depth: int) -> Iterator[str]:
    reason = next((named[name] for name in _REASON if isinstance(named.get(name), str) and named[name].strip()), None)
    place = next((named[name] for name in _PLACES if isinstance(named.get(name), str) and named[name]), "")
    if reason is not None:
        yield f"{place}: {reason}" if place else reason
    else:
        for name in _WRAPPERS:
            yield from _sentences(named.get(name), depth + 1)
    for name in _LISTS:
        listed = named.get(name)
        if isinstance(listed, dict):
            for field, reasons in listed.items():
                text = " ".join(_sentences(reasons, depth + 1))
                yield f"{field}: {text}" if field and text else text
        else:
            yield from _sentences(listed, depth + 1)


def _key(name: Any) -> str:
    return str(name).replace("_", "").replace("-", "").casefold()


def _on_one_line(text: str) -> str:
    return " ".join(clean_text(text[: 20 * LONGEST_REASON]).split())
