"""A program that inserts, edits and deletes time entries as fast as the server responds, until its input ends.

`python -m tests.live.writer ADDRESS TOKEN NUMBER PAUSE` pauses that many seconds after each write. It runs in its own
process and uses only the standard library, so that it shares neither billframes' errors nor its interpreter lock. At
the end it prints the number of writes.
"""

from __future__ import annotations

import datetime as dt
import http.client
import json
import random
import sys
import threading
from collections import Counter
from typing import Any
from urllib.parse import urlsplit

PATH = "/v2/time-entries"
FIRST_DAY, DAYS = dt.date(2024, 1, 1), 1035


class Writer:
    """A person who writes, with their own entries to edit and delete."""

    def __init__(self, address: str, token: str, number: int) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._random = random.Random(number)
        self.counts: Counter[str] = Counter()
        _, matters = self._call("GET", "/v2/matters?limit=200")
        self._matters = [each["matterId"] for each in matters["data"]]
        _, entries = self._call("GET", f"{PATH}?billed=false&sort=created&limit=500&offset={500 * number}")
        self._entries = [each["timeEntryId"] for each in entries["data"]]

    def write(self) -> None:
        """Write once."""
        kind = self._random.choices(("insert", "edit", "move", "delete"), (30, 20, 20, 30))[0]
        if kind == "insert" or not self._entries:
            kind = "insert"
            body = {"matterId": self._random.choice(self._matters), "date": self._day(), **self._work()}
            status, response = self._call("POST", PATH, body)
            if status == 200:
                self._entries.append(response["data"]["timeEntryId"])
        elif kind == "delete":
            place = self._random.randrange(len(self._entries))
            status, _ = self._call("DELETE", f"{PATH}/{self._entries.pop(place)}")
        else:
            body = {"date": self._day()} if kind == "move" else self._work()
            status, _ = self._call("PUT", f"{PATH}/{self._random.choice(self._entries)}", body)
        self.counts[kind if status == 200 else f"refused with {status}"] += 1

    def _day(self) -> str:
        return str(FIRST_DAY + dt.timedelta(days=self._random.randrange(DAYS)))

    def _work(self) -> dict[str, Any]:
        number = self._random.randrange(10**6)
        return {"description": f"Written while others read {number}", "hours": self._random.randint(1, 80) / 10}

    def _call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        self._connection.request(method, path, None if body is None else json.dumps(body), self._headers)
        response = self._connection.getresponse()
        text = response.read()
        return response.status, json.loads(text) if text else None


def main() -> None:
    address, token, number, pause = sys.argv[1:]
    writer, end = Writer(address, token, int(number)), threading.Event()
    print("ready", flush=True)
    # No writer begins before all writers have read their entries.
    sys.stdin.readline()
    threading.Thread(target=lambda: (sys.stdin.read(), end.set()), daemon=True).start()
    while not end.wait(float(pause)):
        writer.write()
    print(json.dumps(writer.counts), flush=True)


if __name__ == "__main__":
    main()
