"""The classes of endpoints, and what may come of a call while a server misbehaves.

Whatever happens, a call brings what the server holds, or an error of the contract that names the resource. Of a write,
what the server did is held against what the caller was told: nothing is created twice, "done" means done, and any error
but `UncertainWriteError` means that nothing was done.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import billframes as bf
from tests.faults.kinds import LARGEST, Kind
from tests.faults.server import Exchange, Server, entries, well

RETRIES = 2
# Pages of ten, so that the lists take several.
OPTIONS = {"token": "t0ken", "page_size": 10, "concurrency": 2, "retries": RETRIES}


@dataclass(frozen=True)
class Endpoint:
    """A class of endpoints: a call, and what it should bring."""

    name: str
    call: Callable[[bf.Client], Any]
    right: Any
    resource: str
    write: str | None = None


ENDPOINTS = (
    Endpoint("undated list", lambda c: c.practice_areas()["practice_area_id"].tolist(), ["p0", "p1", "p2"], "practice"),
    Endpoint(
        "dated pages",
        lambda c: c.time_entries(select="")["time_entry_id"].tolist(),
        [row["timeEntryId"] for row in entries()],
        "time_entries",
    ),
    Endpoint(
        "named pages",
        lambda c: c.clients(select="")["name"].tolist(),
        [f"N{i:02}" for i in range(25)],
        "clients",
    ),
    Endpoint("record", lambda c: c.expenses.get("e1").amount, 1.0, "expenses"),
    Endpoint("count", lambda c: c.time_entries.count(), 25, "time_entries"),
    Endpoint(
        "create",
        lambda c: c.expenses.create(matter_id="m1", date="2026-10-02", description="Secret copies", amount=7),
        None,
        "expenses",
        write="POST",
    ),
    Endpoint("update", lambda c: c.expenses.update("e1", amount=9), None, "expenses", write="PUT"),
    Endpoint("delete", lambda c: c.expenses.delete("e1"), None, "expenses", write="DELETE"),
)
PAGED = {"dated pages", "named pages"}


@dataclass(frozen=True)
class Outcome:
    """What came of a call: "right", or the error's name; how many requests and seconds; what is wrong with it."""

    came: str
    requests: int
    seconds: float
    wrong: str = ""


def connect(server: Server, *, slow: bool = False, **options: Any) -> bf.Client:
    """Connect with small bounds."""
    client = bf.Client(server.url, timeout=0.4 if slow else 20, **{**OPTIONS, **options})
    client.limits.largest_answer = LARGEST
    client.limits.longest_request = 0.5 if slow else 30
    return client


def once(kind: Kind, method: str) -> Callable[[Exchange], None]:
    """The fault strikes the first request of this method; then all is well."""
    # Of two requests at once, one is the first.
    number = itertools.count()

    def fault(exchange: Exchange) -> None:
        strikes = exchange.method == method and exchange.path != "/v2/custom-fields" and next(number) == 0
        (kind.does if strikes else well)(exchange)

    return fault


def applies(kind: Kind, endpoint: Endpoint) -> bool:
    """Whether an endpoint can have a fault: only lists in pages have pages. Waits are tried on two, for their time."""
    if kind.waits:
        return endpoint.name in {"dated pages", "create"}
    return not kind.paged or endpoint.name in PAGED


def try_out(kind: Kind, endpoint: Endpoint, *, stays: bool) -> Outcome:
    """Call an endpoint while a fault strikes once, or each time."""
    # A busy machine may take longer for a good answer than the small timeout, but not five times in a row.
    retries = (1 if stays else 5) if kind.slow else RETRIES
    with Server(kind.does if stays else once(kind, endpoint.write or "GET")) as server:
        outcome = judged(server, endpoint, slow=kind.slow, retries=retries)
    wrong = outcome.wrong
    surely = kind.passing and not stays and not endpoint.write
    if surely and outcome.came != "right":
        wrong = wrong or "a fault that passed was not got over"
    allowed = {error.__name__ for error in kind.errors} | ({"UncertainWriteError"} if endpoint.write else set())
    if outcome.came != "right" and outcome.came not in allowed:
        wrong = wrong or f"expected one of {sorted(allowed)}"
    return Outcome(outcome.came, outcome.requests, outcome.seconds, wrong)


def judged(server: Server, endpoint: Endpoint, *, slow: bool = False, **options: Any) -> Outcome:
    """Call an endpoint and hold what came against what the server holds."""
    begun = time.monotonic()
    error: bf.BillframesError | None = None
    came: Any = None
    with connect(server, slow=slow, **options) as client:
        try:
            came = endpoint.call(client)
        except bf.BillframesError as raised:
            error = raised
    seconds = time.monotonic() - begun
    name = "right" if error is None else type(error).__mro__[_public(error)].__name__
    wrong = _wrong(server, endpoint, came, error)
    return Outcome(name, len(server.arrivals), seconds, wrong)


def _public(error: bf.BillframesError) -> int:
    """Where among its kinds an error has a public name."""
    return next(place for place, kind in enumerate(type(error).__mro__) if hasattr(bf, kind.__name__))


def _wrong(server: Server, endpoint: Endpoint, came: Any, error: bf.BillframesError | None) -> str:
    held = server.firm.expenses
    if any(path == "/followed" for _, _, path in server.arrivals):
        return "a redirect was followed"
    if error is not None and endpoint.resource not in str(error):
        return f"the resource is not named: {error}"
    if error is not None and "Secret" in str(error):
        return "the message tells what was written"
    if not endpoint.write:
        return "" if error is not None or came == endpoint.right else f"{came} came"
    done = {"POST": len(held) - 1, "PUT": held.get("e1", {}).get("amount") == 9, "DELETE": "e1" not in held}
    if len(held) > 2:
        return "created twice"
    if error is None and not done[endpoint.write]:
        return "it was not done"
    # The answer of a change that breaks the description comes after the change.
    sure = error is not None and not isinstance(error, bf.UncertainWriteError | bf.DecodeError)
    return "it was done, and the error does not say it may be" if sure and done[endpoint.write] else ""
