"""A server in memory whose data others change between any two requests.

It pages as the API's description says: filters, sorts that leave ties open, `limit` and `offset`, `total`. Between two
requests it inserts, deletes and edits, moves records to other days and names, orders ties differently each time, and
commits some writes later than the instant they are dated by. It remembers every state it was in, which is what loads
are judged by.
"""

from __future__ import annotations

import datetime as dt
import functools
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.simulation.collations import COLLATIONS, SCRIPTS

START = dt.datetime(2026, 10, 31, 12, tzinfo=dt.UTC)
FIRST_DAY = dt.date(2026, 1, 1)
# What makes collations disagree: case, accents, width, punctuation, spaces.
NAMES = [
    "Abel",
    "abel",
    "Ábel",
    "A-bel",
    "Abel & Co.",
    "Baker",
    "baker",
    "de Vries",
    "De Vries",
    "Ｚeta",
    "Zeta",
    "zeta ",
]
BILLING = ["nonBillable", "billable", "fixedFee"]


@dataclass(frozen=True, slots=True)
class Setting:
    """
    What a simulated load meets.

    `names` is how many numbers names are made of, `changes` how many writes there are a request on average, `late` the
    share of them that others see up to `late_seconds` later, `silent` the share of edits that don't move the modified
    date (and touch nothing a list is sorted by), `purged` the share of records deleted at once while the load runs;
    `streams` asks for billed and unbilled records as two lists and puts them together;
    `imported` makes the first records all at one instant; `overlap` is the reader's, in seconds; `collation` is how the
    server compares text, and `scripts` draws names from many languages. `hidden` records that were served already are
    deleted while the load runs: each can stand in, in a count, for one that the reader missed.
    """

    resource: str = "time_entries"
    rows: int = 200
    days: int = 60
    page: int = 20
    granted: int | None = None
    changes: float = 0.0
    shuffled: bool = False
    late: float = 0.0
    late_seconds: float = 2.0
    silent: float = 0.0
    meta: bool = True
    period: bool = False
    names: int = 400
    purged: float = 0.0
    streams: bool = False
    imported: bool = False
    overlap: float = 3.0
    collation: str = "letters and digits"
    scripts: bool = False
    hidden: int = 0


@dataclass(slots=True)
class Reply:
    """An answer as the network gives it."""

    body: bytes
    date: dt.datetime


@dataclass(slots=True)
class Model:
    """
    The server.

    Attributes
    ----------
    rows : dict
        The records as everybody sees them, by id.
    history : list
        What became visible since `begin`, in order: id and record, None where it was deleted.
    touched : set
        Ids that were written since `begin`.
    served : set
        Ids that came in an answer.
    """

    setting: Setting
    seed: int
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    history: list[tuple[str, dict[str, Any] | None]] = field(default_factory=list)
    touched: set[str] = field(default_factory=set)
    pending: list[tuple[float, dict[str, Any]]] = field(default_factory=list)
    second: float = 0.0
    random: random.Random = field(init=False)
    made: int = 0
    served: set[str] = field(default_factory=set)
    hidden: int = 0

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        for _ in range(self.setting.rows):
            row = self._made(self.random.uniform(-30_000_000, -100) if not self.setting.imported else -100.0)
            self.rows[self._id(row)] = row

    def begin(self) -> dict[str, dict[str, Any]]:
        """Begin to remember; return the records as they are."""
        self.history.clear()
        self.touched.clear()
        return dict(self.rows)

    # What others do.

    def advance(self) -> None:
        """Let a second or so pass, with what is written in it."""
        self.second += self.random.uniform(0.2, 1.0)
        self._commit()
        number = int(self.setting.changes) + (self.random.random() < self.setting.changes % 1)
        for _ in range(number):
            self.write()
        if self.hidden < self.setting.hidden and self.random.random() < 0.3:
            self._hide()

    def _hide(self) -> None:
        """Delete a record that the reader has already."""
        there = sorted(self.served & self.rows.keys())
        if there:
            self.hidden += 1
            self._gone(self.random.choice(there))

    def write(self, kind: str | None = None) -> None:
        """Write once: mostly inserts and edits, or deletions."""
        kind = kind or self.random.choices(("insert", "edit", "delete"), (3, 4, 3))[0]
        locked = {self._id(row) for _, row in self.pending}
        free = [each for each in self.rows if each not in locked] if locked else list(self.rows)
        self.second += 0.001
        if kind == "insert":
            self._publish(self._made(self.second))
        elif free and kind == "delete":
            self._gone(self.random.choice(free))
        elif free:
            self._publish(self._edited(self.rows[self.random.choice(free)]))

    def purge(self, share: float) -> None:
        """Delete many records at once."""
        for name in self.random.sample(sorted(self.rows), int(share * len(self.rows))):
            self._gone(name)

    def _publish(self, row: dict[str, Any]) -> None:
        self.touched.add(self._id(row))
        if self.random.random() < self.setting.late:
            self.pending.append((self.second + self.random.uniform(0, self.setting.late_seconds), row))
        else:
            self._show(row)

    def _commit(self) -> None:
        due = [each for each in self.pending if each[0] <= self.second]
        self.pending = [each for each in self.pending if each[0] > self.second]
        for _, row in due:
            self._show(row)

    def _gone(self, name: str) -> None:
        self.touched.add(name)
        del self.rows[name]
        self.history.append((name, None))

    def _show(self, row: dict[str, Any]) -> None:
        self.rows[self._id(row)] = row
        self.history.append((self._id(row), row))

    def _edited(self, row: dict[str, Any]) -> dict[str, Any]:
        row = dict(row)
        if self.random.random() < self.setting.silent:
            row["clientId"] = f"c{self.random.random()}"
            return row
        row["meta"] = {**row["meta"], "modifiedAt": self._instant(self.second)}
        again = self._made(self.second)
        for name in self.random.sample(["date", "name", "description", "hours", "billed", "reference"], 2):
            if name in row:
                row[name] = again[name]
        if "invoiceDate" in row:
            row["invoiceDate"] = row["date"]
        return row

    def _made(self, second: float) -> dict[str, Any]:
        self.made += 1
        draw, name = self.random, f"{self.random.getrandbits(64):016x}-{self.made}"
        meta = {"createdAt": self._instant(second), "modifiedAt": self._instant(second)}
        common = {"clientId": "c", "meta": meta}
        if self.setting.resource in {"clients", "matters"}:
            text = draw.choice(SCRIPTS if self.setting.scripts else NAMES) + (
                f" {draw.randrange(self.setting.names)}" if draw.random() < 0.9 else ""
            )
            own = {"name": text, "reference": draw.choice([None, "", f"R{draw.randrange(50)}"])}
            return {**common, **own, "clientId": name} if self.setting.resource == "clients" else {
                **common, **own, "matterId": name, "matterType": "hourly", "archived": False,
                "responsibleId": "u", "originatorIds": [],
            }  # fmt: skip
        day = str(FIRST_DAY + dt.timedelta(days=int(draw.triangular(0, self.setting.days))))
        if self.setting.resource == "invoices":
            return {
                **common, "invoiceId": name, "matterId": "m", "invoiceDate": day, "date": day, "amount": 1.0,
                "balance": 0.0, "invoiceNumber": f"I{self.made}", "invoiceState": "draft",
            }  # fmt: skip
        work = {
            "matterId": "m",
            "userId": "u",
            "date": day,
            "description": f"{draw.choice(SCRIPTS if self.setting.scripts else NAMES)} {draw.randrange(99)}",
        }
        work["billed"] = draw.random() < 0.5
        if self.setting.resource == "expenses":
            return {**common, **work, "expenseId": name, "amount": draw.randrange(5000) / 4}
        kind = draw.choice(BILLING)
        return {**common, **work, "timeEntryId": name, "hours": draw.randrange(1, 80) / 10, "billingType": kind}

    @staticmethod
    def _instant(second: float) -> str:
        return (START + dt.timedelta(seconds=second)).isoformat().replace("+00:00", "Z")

    def _id(self, row: dict[str, Any]) -> str:
        return str(row[IDS[self.setting.resource]])

    # What the reader sees.

    def reply(self, query: tuple[tuple[str, str], ...]) -> Reply:
        """Answer a query as the list is now."""
        asked = dict(query)
        found = [row for row in self.rows.values() if self.fits(row, asked)]
        if self.setting.shuffled:
            self.random.shuffle(found)
        for sort in reversed(asked.get("sort", "").split(",")):
            key = functools.partial(_key, sort=sort.removeprefix("-"), compared=COLLATIONS[self.setting.collation])
            found.sort(key=key, reverse=sort.startswith("-"))
        limit = min(int(asked["limit"]), self.setting.granted or 1000)
        offset = int(asked["offset"])
        page = found[offset : offset + limit]
        self.served.update(map(self._id, page))
        if not self.setting.meta:
            page = [{name: value for name, value in row.items() if name != "meta"} for row in page]
        body = {"data": page, "pagination": {"limit": limit, "offset": offset, "total": len(found)}}
        now = START + dt.timedelta(seconds=self.second)
        return Reply(json.dumps(body).encode(), now.replace(microsecond=0))

    def fits(self, row: dict[str, Any], asked: dict[str, str]) -> bool:
        """Tell whether a record is among those asked for."""
        if "startDate" in asked and row["date"] < asked["startDate"]:
            return False
        if "endDate" in asked and row["date"] > asked["endDate"]:
            return False
        if "billed" in asked and row["billed"] != (asked["billed"] == "true"):
            return False
        if "billingType" in asked and row["billingType"] != asked["billingType"]:
            return False
        if "modifiedSince" not in asked:
            return True
        return _time(row["meta"]["modifiedAt"]) > _time(asked["modifiedSince"])


IDS = {
    "time_entries": "timeEntryId",
    "expenses": "expenseId",
    "invoices": "invoiceId",
    "clients": "clientId",
    "matters": "matterId",
}
_PATHS = {"created": "createdAt", "invoicedate": "date", "invoicenumber": "invoiceNumber"}
_DATES = {"date", "invoicedate"}
_TIMES: dict[str, dt.datetime] = {}


def _time(text: str) -> dt.datetime:
    if text not in _TIMES:
        if len(_TIMES) > 100_000:
            _TIMES.clear()
        _TIMES[text] = dt.datetime.fromisoformat(text)
    return _TIMES[text]


def _key(row: dict[str, Any], sort: str, compared: Callable[[str], Any]) -> Any:
    """Return a key as this server compares it."""
    if sort == "created":
        return _time(row["meta"]["createdAt"])
    value = row.get(_PATHS.get(sort, sort))
    if isinstance(value, float) or sort in _DATES:
        return value
    return compared(value or "")
