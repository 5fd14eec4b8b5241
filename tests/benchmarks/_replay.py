"""A server that costs next to nothing: it replays stored time entries of the sandbox, as many as are asked for.

    python -m tests.benchmarks._replay <file of rows> <entries> <entries a day> <seconds a response>

Each stored row comes round again and again with an id, a day and times of its own. Entries are numbered in the order of
their days, and made in that order, so that any page in any sort that a load uses is a range of numbers. A page
is put together once and kept. The port is the first line of output; the process ends with its input.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import functools
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from itertools import islice
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

__all__ = ["FIRST_DAY", "Entries", "serving", "stored"]

FIRST_DAY = dt.date(2022, 11, 1)
EVERYTHING = "client,matter,user,meta,fixedFee"
_MARKS = ("@id", "@date", "@created", "@modified")


class Entries:
    """
    Numbered time entries.

    Parameters
    ----------
    rows : list of bytes
        Templates: a row's JSON with places for id, day, and the times made and changed.
    count, a_day : int
        How many, the first of them on `FIRST_DAY`.
    """

    def __init__(self, rows: list[bytes], count: int, a_day: int) -> None:
        self._rows = rows
        self._count = count
        self._a_day = a_day

    def body(self, parameters: dict[str, str]) -> bytes:
        """Return the answer to a query."""
        low, high = self._range(parameters)
        limit, offset = int(parameters.get("limit", 1000)), int(parameters.get("offset", 0))
        total = max(0, high - low)
        numbers = range(min(offset, total), min(offset + limit, total))
        if parameters.get("sort", "").startswith("-"):
            rows = (self._row(high - 1 - number) for number in numbers)
        else:
            rows = (self._row(low + number) for number in numbers)
        where = b'{"limit":%d,"offset":%d,"total":%d}' % (limit, offset, total)
        return b'{"data":[' + b",".join(rows) + b'],"pagination":' + where + b"}"

    def _range(self, parameters: dict[str, str]) -> tuple[int, int]:
        low, high = 0, self._count
        if start := parameters.get("startDate"):
            low = max(low, self._first_of(dt.date.fromisoformat(start[:10])))
        if end := parameters.get("endDate"):
            high = min(high, self._first_of(dt.date.fromisoformat(end[:10]) + dt.timedelta(days=1)))
        # Nothing was changed since any load began.
        return (low, high) if "modifiedSince" not in parameters else (0, 0)

    def _first_of(self, day: dt.date) -> int:
        return max(0, (day - FIRST_DAY).days * self._a_day)

    def _row(self, number: int) -> bytes:
        day = (FIRST_DAY + dt.timedelta(days=number // self._a_day)).isoformat()
        second, micro = divmod(number % self._a_day * 40_000_000_000 // self._a_day, 1_000_000)
        made = f"{day}T{8 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.{micro:06}Z".encode()
        mixed = f"{(number + 1) * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128:032x}"
        name = f"{mixed[:8]}-{mixed[8:12]}-{mixed[12:16]}-{mixed[16:20]}-{mixed[20:]}".encode()
        return self._rows[number % len(self._rows)] % (name, day.encode(), made, made)


class _Connection(asyncio.Protocol):
    """One kept-alive connection, one request at a time."""

    def __init__(self, answer: functools._lru_cache_wrapper[bytes], seconds: float) -> None:
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
    # Id first, times last: the order in which the places are filled.
    text = json.dumps({"timeEntryId": "@id", "date": "@date", **_without(row), "meta": meta}, ensure_ascii=False)
    for mark, place in zip(_MARKS, ("%b",) * 4, strict=True):
        text = text.replace("%", "%%") if mark == "@id" else text
        text = text.replace(f'"{mark}"', f'"{place}"', 1)
    return text.encode()


def _without(row: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in row.items() if name not in {"timeEntryId", "date", "meta"}}


@contextmanager
def serving(rows: Path, count: int, a_day: int = 700, seconds: float = 0.0) -> Iterator[str]:
    """Run the server in a process of its own; its base URL."""
    command = [sys.executable, "-m", "tests.benchmarks._replay", str(rows), str(count), str(a_day), str(seconds)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.stdin.close()
            process.terminate()


async def _serve(entries: Entries, seconds: float) -> None:
    @functools.lru_cache(maxsize=300)
    def answer(target: str) -> bytes:
        where = urlsplit(target)
        if not where.path.endswith("/time-entries"):
            return b'{"data":[]}'
        return entries.body(dict(parse_qsl(where.query)))

    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(answer, seconds), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    file, count, a_day, seconds = islice(sys.argv, 1, 5)
    asyncio.run(_serve(Entries(stored(Path(file)), int(count), int(a_day)), float(seconds)))
