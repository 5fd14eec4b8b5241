"""A very fast server with any number of time entries or matters of any shape.

    python -m tests.benchmarks._replay <source> <records> <entries a day> <seconds a response> <writes a second>

The source is the number of a shape (see `_shapes`), or a file of the sandbox's time entries, which are repeated with
different ids, days and times. Records are numbered in the order of their days, their creation or their names, so that
any page in any sort of a load is a range of numbers. Pages are cached. A write changes the modified date of an entry,
which only lists of changes show. The first line of output is the port. The process ends when its input ends.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import functools
import json
import math
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.utils import formatdate
from itertools import islice
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from tests.benchmarks._shapes import FIRST_DAY, SHAPES, Firm

__all__ = ["Pages", "replayed", "serving", "stored"]

EVERYTHING = "client,matter,user,meta,fixedFee"
_MARKS = ("@id", "@date", "@created", "@modified")


class Pages:
    """
    Numbered records as pages.

    Parameters
    ----------
    row : callable
        Returns a record by its number.
    count : int
    a_day : int
        So many are of one day, the first of them of `FIRST_DAY`.
    writes : float
        Writes a second, since the server started.
    """

    def __init__(self, row: Callable[[int], bytes], count: int, a_day: int = 1000, writes: float = 0.0) -> None:
        self._row = row
        self._count = count
        self._a_day = a_day
        self._writes = writes
        self._began = time.time()

    def body(self, parameters: dict[str, str]) -> bytes:
        """Return the response to a query."""
        limit, offset = int(parameters.get("limit", 1000)), int(parameters.get("offset", 0))
        if since := parameters.get("modifiedSince"):
            rows, total = self._changes(dt.datetime.fromisoformat(since).timestamp(), limit, offset)
        else:
            low, high = self._range(parameters)
            total = max(0, high - low)
            numbers = range(min(offset, total), min(offset + limit, total))
            backwards = parameters.get("sort", "").startswith("-")
            rows = [self._row(high - 1 - number if backwards else low + number) for number in numbers]
        where = b'{"limit":%d,"offset":%d,"total":%d}' % (limit, offset, total)
        return b'{"data":[' + b",".join(rows) + b'],"pagination":' + where + b"}"

    def _range(self, parameters: dict[str, str]) -> tuple[int, int]:
        low, high = 0, self._count
        if start := parameters.get("startDate"):
            low = max(low, self._first_of(dt.date.fromisoformat(start[:10])))
        if end := parameters.get("endDate"):
            high = min(high, self._first_of(dt.date.fromisoformat(end[:10]) + dt.timedelta(days=1)))
        return low, high

    def _changes(self, since: float, limit: int, offset: int) -> tuple[list[bytes], int]:
        """Return the entries changed since an instant; each write changes another entry."""
        first = max(0, math.ceil((since - self._began) * self._writes))
        writes = range(first, int((time.time() - self._began) * self._writes))
        # In the order of the entries, for any sort.
        writes = sorted(writes, key=self._changed_by)
        return [self._changed(write) for write in writes[offset : offset + limit]], len(writes)

    def _changed_by(self, write: int) -> int:
        return write * 7919 % self._count

    def _changed(self, write: int) -> bytes:
        at = dt.datetime.fromtimestamp(self._began + write / self._writes, dt.UTC).isoformat().replace("+00:00", "Z")
        row = self._row(self._changed_by(write))
        return re.sub(rb'"modifiedAt": ?"[^"]*"', b'"modifiedAt":"%b"' % at.encode(), row)

    def _first_of(self, day: dt.date) -> int:
        return max(0, (day - FIRST_DAY).days * self._a_day)


def replayed(rows: list[bytes], a_day: int) -> Callable[[int], bytes]:
    """Return the JSON templates of stored entries, with places for id, day, creation time and modified date."""

    def row(number: int) -> bytes:
        day = (FIRST_DAY + dt.timedelta(days=number // a_day)).isoformat()
        second, micro = divmod(number % a_day * 40_000_000_000 // a_day, 1_000_000)
        made = f"{day}T{8 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.{micro:06}Z".encode()
        mixed = f"{(number + 1) * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128:032x}"
        name = f"{mixed[:8]}-{mixed[8:12]}-{mixed[12:16]}-{mixed[16:20]}-{mixed[20:]}".encode()
        return rows[number % len(rows)] % (name, day.encode(), made, made)

    return row


class _Connection(asyncio.Protocol):
    """A persistent connection with one request at a time."""

    def __init__(self, answer: Callable[[str], bytes], seconds: float) -> None:
        self._answer = answer
        self._seconds = seconds
        self._came = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._came += data
        while b"\r\n\r\n" in self._came:
            head, _, self._came = self._came.partition(b"\r\n\r\n")
            target = head.split(b" ", 2)[1].decode()
            asyncio.get_running_loop().call_later(self._seconds, self._send, target)

    def _send(self, target: str) -> None:
        body = self._answer(target)
        head = f"content-type: application/json\r\ncontent-length: {len(body)}\r\ndate: {formatdate(usegmt=True)}"
        self._transport.writelines((f"HTTP/1.1 200 OK\r\n{head}\r\n\r\n".encode(), body))


def stored(path: Path) -> list[bytes]:
    """Store the sandbox's time entries as templates, once."""
    if not path.exists():
        rows = list(_of_the_sandbox())
        path.write_bytes(b"\n".join(rows))
    return path.read_bytes().split(b"\n")


def _of_the_sandbox() -> Iterator[bytes]:
    import httpx

    from billframes.sandbox import Sandbox

    with Sandbox() as sandbox, httpx.Client(headers={"Authorization": f"Bearer {sandbox.tokens['full']}"}) as http:
        offset, total = 0, 1
        while offset < total:
            page = {"limit": 1000, "offset": offset, "select": EVERYTHING, "sort": "date"}
            answer = http.get(f"{sandbox.base_url}/v2/time-entries", params=page).raise_for_status().json()
            total, offset = answer["pagination"]["total"], offset + len(answer["data"])
            yield from map(_template, answer["data"])


def _template(row: dict[str, object]) -> bytes:
    meta = {"createdAt": "@created", "modifiedAt": "@modified"}
    # The order in which the places of the templates are filled.
    text = json.dumps({"timeEntryId": "@id", "date": "@date", **_without(row), "meta": meta}, ensure_ascii=False)
    for mark, place in zip(_MARKS, ("%b",) * 4, strict=True):
        text = text.replace("%", "%%") if mark == "@id" else text
        text = text.replace(f'"{mark}"', f'"{place}"', 1)
    return text.encode()


def _without(row: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in row.items() if name not in {"timeEntryId", "date", "meta"}}


@contextmanager
def serving(
    source: Path | int, count: int, a_day: int = 700, seconds: float = 0.0, writes: float = 0.0
) -> Iterator[str]:
    """Run the server in another process; yield its base URL."""
    arguments = map(str, (source, count, a_day, seconds, writes))
    command = [sys.executable, "-m", "tests.benchmarks._replay", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.stdin.close()
            process.terminate()


def _lists(source: str, count: int, a_day: int, writes: float) -> dict[str, Pages]:
    """Return the lists of a source, by the end of their path."""
    if not source.isdigit():
        return {"time-entries": Pages(replayed(stored(Path(source)), a_day), count, a_day, writes)}
    firm = Firm(SHAPES[int(source)], a_day)
    fields = [json.dumps(each).encode() for each in firm.definitions()]
    return {
        "time-entries": Pages(firm.entry, count, a_day, writes),
        "matters": Pages(firm.matter, count),
        "custom-fields": Pages(fields.__getitem__, len(fields)),
    }


async def _serve(lists: dict[str, Pages], seconds: float) -> None:
    @functools.lru_cache(maxsize=300)
    def kept(target: str) -> bytes:
        where = urlsplit(target)
        pages = lists.get(where.path.rpartition("/")[2])
        return pages.body(dict(parse_qsl(where.query))) if pages else b'{"data":[]}'

    def answer(target: str) -> bytes:
        return kept.__wrapped__(target) if "modifiedSince" in target else kept(target)

    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(answer, seconds), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    source, count, a_day, seconds, writes = islice(sys.argv, 1, 6)
    asyncio.run(_serve(_lists(source, int(count), int(a_day), float(writes)), float(seconds)))
