"""A server in memory whose data others change between any two requests.

It pages as the API's description says: filters, sorts that allow ties, `limit` and `offset`, `total`. Between two
requests it inserts, deletes and edits records, and moves them to other days and names. It sorts ties differently each
time, and makes some writes visible later than their modified date. It records all its states, with which loads are
compared.
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
# Names that collations compare differently: case, accents, width, punctuation, spaces.
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
    The conditions of a simulated load.

    - `granted`: the largest page size that the server grants
    - `changes`: the average number of writes per request
    - `shuffled`: equal records are sorted differently each time
    - `late`: the share of writes that become visible up to `late_seconds` later
    - `silent`: the share of edits that don't change the modified date, nor any value that a list is sorted by
    - `names`: the number of different numbers in names
    - `purged`: the share of records that are deleted at once during the load
    - `two_lists`: billed and unbilled records are requested as two lists and merged
    - `imported`: all records of the beginning were created at one instant
    - `overlap`: the reader's overlap, in seconds
    - `collation`: how the server compares text
    - `scripts`: names are of many languages
    - `hidden`: the number of received records that are deleted during the load; in a count, each can replace a record
      that the reader missed
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
    two_lists: bool = False
    imported: bool = False
    overlap: float = 3.0
    collation: str = "letters and digits"
    scripts: bool = False
    hidden: int = 0


@dataclass(slots=True)
class Reply:
    """A response."""

    body: bytes
    date: dt.datetime


@dataclass(slots=True)
class Model:
    """
    The server.

    Attributes
    ----------
    rows : dict
        The visible records, by id.
    history : list
        The changes that became visible since `begin`, in order: id and record; None is a deletion.
    touched : set
        Ids of the records written since `begin`.
    served : set
        Ids of the records in responses.
    """

    setting: Setting
    seed: int
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    history: list[tuple[str, dict[str, Any] | None]] = field(default_factory=list)
    written: set[str] = field(default_factory=set)
    pending: list[tuple[float, dict[str, Any]]] = field(default_factory=list)
    second: float = 0.0
    random: random.Random = field(init=False)
    made: int = 0
    served: set[str] = field(default_factory=set)
    hidden: int = 0

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        for _ in range(self.setting.rows):
            row = self._new_record(self.random.uniform(-30_000_000, -100) if not self.setting.imported else -100.0)
            self.rows[self._id(row)] = row

    def begin(self) -> dict[str, dict[str, Any]]:
        """Clear the history; return the present records."""
        self.history.clear()
        self.written.clear()
        return dict(self.rows)

    # What others do.

    def advance(self) -> None:
        """Let up to a second pass, with the writes in it."""
        self.second += self.random.uniform(0.2, 1.0)
        self._commit()
        number = int(self.setting.changes) + (self.random.random() < self.setting.changes % 1)
        for _ in range(number):
            self.write()
        if self.hidden < self.setting.hidden and self.random.random() < 0.3:
            self._hide()

    def _hide(self) -> None:
        """Delete a record that the reader has received."""
        there = sorted(self.served & self.rows.keys())
        if there:
            self.hidden += 1
            self._delete(self.random.choice(there))

    def write(self, kind: str | None = None) -> None:
        """Insert, edit or delete a record."""
        kind = kind or self.random.choices(("insert", "edit", "delete"), (3, 4, 3))[0]
        locked = {self._id(row) for _, row in self.pending}
        free = [each for each in self.rows if each not in locked] if locked else list(self.rows)
        self.second += 0.001
        if kind == "insert":
            self._publish(self._new_record(self.second))
        elif free and kind == "delete":
            self._delete(self.random.choice(free))
        elif free:
            self._publish(self._edit(self.rows[self.random.choice(free)]))

    def purge(self, share: float) -> None:
        """Delete many records at once."""
        for name in self.random.sample(sorted(self.rows), int(share * len(self.rows))):
            self._delete(name)

    def _publish(self, row: dict[str, Any]) -> None:
        self.written.add(self._id(row))
        if self.random.random() < self.setting.late:
            self.pending.append((self.second + self.random.uniform(0, self.setting.late_seconds), row))
        else:
            self._make_visible(row)

    def _commit(self) -> None:
        due = [each for each in self.pending if each[0] <= self.second]
        self.pending = [each for each in self.pending if each[0] > self.second]
        for _, row in due:
            self._make_visible(row)

    def _delete(self, name: str) -> None:
        self.written.add(name)
        del self.rows[name]
        self.history.append((name, None))

    def _make_visible(self, row: dict[str, Any]) -> None:
        self.rows[self._id(row)] = row
        self.history.append((self._id(row), row))

    def _edit(self, row: dict[str, Any]) -> dict[str, Any]:
        row = dict(row)
        if self.random.random() < self.setting.silent:
            row["clientId"] = f"c{self.random.random()}"
            return row
        row["meta"] = {**row["meta"], "modifiedAt": self._instant(self.second)}
        again = self._new_record(self.second)
        for name in self.random.sample(["date", "name", "description", "hours", "billed", "reference"], 2):
            if name in row:
                row[name] = again[name]
        if "invoiceDate" in row:
            row["invoiceDate"] = row["date"]
        return row

    def _new_record(self, second: float) -> dict[str, Any]:
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
        """Respond to a query with the present records."""
        parameters = dict(query)
        found = [row for row in self.rows.values() if self.fits(row, parameters)]
        if self.setting.shuffled:
            self.random.shuffle(found)
        for sort in reversed(parameters.get("sort", "").split(",")):
            key = functools.partial(_key, sort=sort.removeprefix("-"), compared=COLLATIONS[self.setting.collation])
            found.sort(key=key, reverse=sort.startswith("-"))
        limit = min(int(parameters["limit"]), self.setting.granted or 1000)
        offset = int(parameters["offset"])
        page = found[offset : offset + limit]
        self.served.update(map(self._id, page))
        if not self.setting.meta:
            page = [{name: value for name, value in row.items() if name != "meta"} for row in page]
        body = {"data": page, "pagination": {"limit": limit, "offset": offset, "total": len(found)}}
        now = START + dt.timedelta(seconds=self.second)
        return Reply(json.dumps(body).encode(), now.replace(microsecond=0))

    def fits(self, row: dict[str, Any], parameters: dict[str, str]) -> bool:
        """Return whether a record fits the parameters."""
        if "startDate" in parameters and row["date"] < parameters["startDate"]:
            return False
        if "endDate" in parameters and row["date"] > parameters["endDate"]:
            return False
        if "clientId" in parameters and row["clientId"] != parameters["clientId"]:
            return False
        if "billed" in parameters and row["billed"] != (parameters["billed"] == "true"):
            return False
        if "billingType" in parameters and row["billingType"] != parameters["billingType"]:
            return False
        if "modifiedSince" not in parameters:
            return True
        return _time(row["meta"]["modifiedAt"]) > _time(parameters["modifiedSince"])


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
    """Return the key by which this server compares a record."""
    if sort == "created":
        return _time(row["meta"]["createdAt"])
    value = row.get(_PATHS.get(sort, sort))
    if isinstance(value, float) or sort in _DATES:
        return value
    return compared(value or "")
