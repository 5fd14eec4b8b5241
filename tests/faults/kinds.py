"""Every fault, and the errors of a call if the fault is permanent."""

from __future__ import annotations

import functools
import gzip
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import billframes as bf
from tests.faults.server import Exchange, Fault, bomb, respond_correctly

LARGEST = 2**20
# The share of requests that random faults affect.
SHARE = 0.3


@dataclass(frozen=True)
class Kind:
    """
    A fault.

    `function` answers a request with the fault. `errors` are the errors that a load or read may raise if the fault is
    permanent. `recoverable` says that a GET succeeds if the fault happens once, `slow` that the client needs a small
    timeout, `paged` that only pages can have the fault, and `asks_to_wait` that the server asks the client to wait.
    """

    name: str
    function: Fault
    errors: tuple[type[bf.errors.BillframesError], ...]
    recoverable: bool = True
    slow: bool = False
    paged: bool = False
    asks_to_wait: bool = False


KINDS: list[Kind] = []


def kind(*errors: type[bf.errors.BillframesError], **traits: bool) -> Callable[[Fault], Fault]:
    def register(function: Fault) -> Fault:
        KINDS.append(Kind(function.__name__.replace("_", " "), function, errors, **traits))
        return function

    return register


@kind(bf.errors.TransportError)
def reset_before_the_answer(exchange: Exchange) -> None:
    exchange.perform()
    exchange.reset()


@kind(bf.errors.TransportError)
def reset_before_the_work(exchange: Exchange) -> None:
    exchange.reset()


@kind(bf.errors.TransportError)
def reset_in_the_body(exchange: Exchange) -> None:
    status, body = exchange.perform()
    exchange.send(status, body[: len(body) // 2], length=len(body) + 10)
    exchange.reset()


@kind(bf.errors.TransportError)
def truncated(exchange: Exchange) -> None:
    status, body = exchange.perform()
    exchange.send(status, body[: len(body) // 2], length=len(body) + 10)
    exchange.hang_up()


@kind(bf.errors.TransportError)
def truncated_in_chunks(exchange: Exchange) -> None:
    status, body = exchange.perform()
    half = body[: len(body) // 2]
    exchange.send_bytes(exchange.head(status, "Transfer-Encoding: chunked") + b"%x\r\n%s\r\n" % (len(half), half))
    exchange.hang_up()


@kind(bf.errors.TransportError, bf.errors.DecodeError)
def truncated_without_length(exchange: Exchange) -> None:
    status, body = exchange.perform()
    exchange.send_bytes(exchange.head(status, "Connection: close") + body[: len(body) // 2])
    exchange.hang_up()


@kind()
def overlong(exchange: Exchange) -> None:
    """The response is correct, and more bytes follow it."""
    status, body = exchange.perform()
    exchange.send(status, body + b"and more" * 40, length=len(body))


@kind(bf.errors.TransportError, slow=True)
def silent(exchange: Exchange) -> None:
    exchange.perform()
    exchange.server.closed.wait(2)


@kind(bf.errors.TransportError, slow=True)
def a_byte_at_a_time(exchange: Exchange) -> None:
    status, body = exchange.perform()
    exchange.send_bytes(exchange.head(status, f"Content-Length: {len(body) or 99}"))
    exchange.trickle(body or b" " * 99)


@kind(bf.errors.TransportError, slow=True)
def headers_a_byte_at_a_time(exchange: Exchange) -> None:
    status, _ = exchange.perform()
    exchange.trickle(exchange.head(status, "Content-Length: 0"))


def _status(status: int, *errors: type[bf.errors.BillframesError]) -> None:
    def fail(exchange: Exchange) -> None:
        exchange.send(status, b'{"title": "Said no"}', "Content-Type: application/problem+json")

    fail.__name__ = str(status)
    kind(*errors)(fail)


_status(429, bf.errors.RateLimitedError)
for each in (500, 502, 503, 504):
    _status(each, bf.errors.ServerError)


@kind(bf.errors.ServerError)
def write_done_and_500(exchange: Exchange) -> None:
    exchange.perform()
    exchange.send(500, b"")


@kind(bf.errors.RateLimitedError, asks_to_wait=True)
def wait_a_second_429(exchange: Exchange) -> None:
    exchange.send(429, b"", "Retry-After: 1")


@kind(bf.errors.RateLimitedError, asks_to_wait=True)
def wait_until_429(exchange: Exchange) -> None:
    head = "Date: Sat, 31 Oct 2026 20:00:00 GMT", "Retry-After: Sat, 31 Oct 2026 20:00:01 GMT"
    exchange.send_bytes("\r\n".join(["HTTP/1.1 429 Said", *head, "Content-Length: 0", "", ""]).encode())


@kind(bf.errors.RateLimitedError, recoverable=False)
def wait_a_day_429(exchange: Exchange) -> None:
    exchange.send(429, b"", "Retry-After: 86400")


@kind(bf.errors.DecodeError)
def html(exchange: Exchange) -> None:
    exchange.perform()
    exchange.send(200, b"<html><body>Sign in</body></html>", "Content-Type: text/html")


@kind(bf.errors.DecodeError)
def empty(exchange: Exchange) -> None:
    exchange.perform()
    exchange.send(200, b"")


@kind(bf.errors.DecodeError)
def not_json(exchange: Exchange) -> None:
    exchange.perform()
    exchange.send(200, b'{"data": [oops]}')


@kind(bf.errors.DecodeError)
def nested_without_end(exchange: Exchange) -> None:
    exchange.perform()
    exchange.send(200, b'{"data":' + b"[" * 10_000 + b"]" * 10_000 + b"}")


@kind(bf.errors.DecodeError)
def not_utf_8(exchange: Exchange) -> None:
    """The bytes that are not UTF-8 are in a property that is not used."""
    status, body = exchange.perform()
    exchange.send(status, b'{"novelty": "\xff", ' + (body or b'{"data": {}}')[1:])


def _changed(exchange: Exchange, change: Callable[[Any], None]) -> None:
    """Send the response with a change. An empty response becomes a record without fields; a refusal is not changed."""
    status, body = exchange.perform()
    shown = json.loads(body or b'{"data": {}}')
    if "data" in shown:
        change(shown)
    exchange.send(status, json.dumps(shown).encode())


def _rows(shown: Any) -> list[Any]:
    return shown["data"] if isinstance(shown["data"], list) else [shown["data"]]


@kind(bf.errors.DecodeError, recoverable=False)
def wrong_types(exchange: Exchange) -> None:
    _changed(exchange, lambda shown: [row.update({name: [7] for name in row}) for row in _rows(shown)])


@kind(bf.errors.DecodeError, recoverable=False)
def missing_fields(exchange: Exchange) -> None:
    _changed(exchange, lambda shown: [row.clear() for row in _rows(shown)])


@kind(bf.errors.PagingError, paged=True)
def short_page(exchange: Exchange) -> None:
    _changed(exchange, lambda shown: shown["data"].pop())


@kind(bf.errors.PagingError, paged=True)
def total_too_small(exchange: Exchange) -> None:
    _changed(exchange, lambda shown: shown["pagination"].update(total=1))


@kind(bf.errors.PagingError, bf.errors.DecodeError, paged=True)
def total_too_large(exchange: Exchange) -> None:
    def add(shown: Any) -> None:
        shown["pagination"]["total"] += 3

    _changed(exchange, add)


@kind(bf.errors.PagingError, paged=True)
def duplicate_ids(exchange: Exchange) -> None:
    _changed(exchange, lambda shown: shown["data"].__setitem__(0, shown["data"][-1]))


@kind(bf.errors.DecodeError, paged=True)
def another_offset(exchange: Exchange) -> None:
    _changed(exchange, lambda shown: shown["pagination"].update(offset=shown["pagination"]["offset"] + 5))


@kind(bf.errors.TransportError, recoverable=False)
def redirect_elsewhere(exchange: Exchange) -> None:
    # `localhost` is another host than 127.0.0.1; the server notices if a client follows.
    exchange.send(307, b"", f"Location: http://localhost:{exchange.server.port}/followed")


@kind(bf.errors.TransportError, recoverable=False)
def redirect_to_no_address(exchange: Exchange) -> None:
    exchange.send(302, b"", "Location: https://[::elsewhere/")


@kind(bf.errors.TransportError)
def length_too_small(exchange: Exchange) -> None:
    status, body = exchange.perform()
    exchange.send(status, body or b'{"data": {"a": 1}}', length=max(1, len(body) // 2))


@kind(bf.errors.TransportError, slow=True)
def length_too_large(exchange: Exchange) -> None:
    status, body = exchange.perform()
    exchange.send(status, body, length=len(body) + 50)


@kind(bf.errors.TransportError)
def length_nonsense(exchange: Exchange) -> None:
    status, body = exchange.perform()
    exchange.send(status, body, length="many")


@kind(bf.errors.TransportError)
def not_http(exchange: Exchange) -> None:
    exchange.perform()
    exchange.send_bytes(b"220 mail.example.com ESMTP\r\n\r\n")
    exchange.hang_up()


@kind(bf.errors.TransportError)
def broken_gzip(exchange: Exchange) -> None:
    status, body = exchange.perform()
    packed = gzip.compress(body * 5)
    exchange.send(status, packed[:15] + bytes(b ^ 0x5A for b in packed[15:]), "Content-Encoding: gzip")


@kind(bf.errors.TransportError)
def truncated_gzip(exchange: Exchange) -> None:
    status, body = exchange.perform()
    exchange.send(status, gzip.compress(body)[:-9], "Content-Encoding: gzip")


@kind(bf.errors.TransportError)
def unknown_packing(exchange: Exchange) -> None:
    status, body = exchange.perform()
    exchange.send(status, body, "Content-Encoding: br")


_bomb = functools.cache(bomb)


@kind(bf.errors.TransportError, recoverable=False)
def gzip_bomb(exchange: Exchange) -> None:
    exchange.perform()
    exchange.send(200, _bomb(), "Content-Encoding: gzip")


@kind(bf.errors.TransportError, recoverable=False)
def gzip_bomb_in_gzip(exchange: Exchange) -> None:
    exchange.perform()
    exchange.send(200, gzip.compress(_bomb()), "Content-Encoding: gzip, gzip")


def random_faults(randomness: random.Random, *, counting: bool) -> Fault:
    """
    Return a fault that is drawn again for each request.

    A `counting` call has no faults of pages, because nothing shows that the total of a single response is wrong.
    """
    quick = [kind for kind in KINDS if not kind.asks_to_wait and not kind.slow]

    def fault(exchange: Exchange) -> None:
        kind = randomness.choice(quick)
        pages = not counting and exchange.path in {"/v2/time-entries", "/v2/clients"}
        affected = randomness.random() < SHARE and (pages or not kind.paged)
        (kind.function if affected else respond_correctly)(exchange)

    return fault
