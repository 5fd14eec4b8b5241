"""The kinds of requests, and the check of a call to a faulty server.

A call must return the server's records, or raise a documented error that names the resource. For a write, the state of
the server is compared with the outcome of the call: no record is created twice, a write that returns was done, and any
error other than `UncertainWriteError` means that nothing was done.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import billframes as bf
from tests.faults.kinds import LARGEST, Kind
from tests.faults.server import Exchange, Server, entries, respond_correctly

RETRIES = 2
# Pages of ten, so that the lists take several.
OPTIONS = {"token": "t0ken", "page_size": 10, "concurrency": 2, "retries": RETRIES}


@dataclass(frozen=True)
class Endpoint:
    """A kind of request: a call, and its correct result."""

    name: str
    call: Callable[[bf.Client], Any]
    expected: Any
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
    """The outcome of a call: "correct" or the error's name, the number of requests and seconds, and any problem."""

    result: str
    requests: int
    seconds: float
    problem: str = ""


def connect(server: Server, *, slow: bool = False, **options: Any) -> bf.Client:
    """Connect with low limits."""
    client = bf.Client(server.url, timeout=0.4 if slow else 20, **{**OPTIONS, **options})
    client.limits.largest_answer = LARGEST
    client.limits.longest_request = 0.5 if slow else 30
    return client


def strike_once(kind: Kind, method: str) -> Callable[[Exchange], None]:
    """Return a fault that affects only the first request of this method."""
    # Also of two requests sent at once, only one is affected.
    number = itertools.count()

    def fault(exchange: Exchange) -> None:
        strikes = exchange.method == method and exchange.path != "/v2/custom-fields" and next(number) == 0
        (kind.function if strikes else respond_correctly)(exchange)

    return fault


def applies(kind: Kind, endpoint: Endpoint) -> bool:
    """Return whether a fault is tried on an endpoint; waits are tried on only two, because they take long."""
    if kind.asks_to_wait:
        return endpoint.name in {"dated pages", "create"}
    return not kind.paged or endpoint.name in PAGED


def try_fault(kind: Kind, endpoint: Endpoint, *, stays: bool) -> Outcome:
    """Call an endpoint with a fault that happens once, or if it `stays`, at every request."""
    # On a busy machine a correct response may take longer than the small timeout, but not five times in a row.
    retries = (1 if stays else 5) if kind.slow else RETRIES
    with Server(kind.function if stays else strike_once(kind, endpoint.write or "GET")) as server:
        outcome = check_call(server, endpoint, slow=kind.slow, retries=retries)
    problem = outcome.problem
    if kind.recoverable and not stays and not endpoint.write and outcome.result != "correct":
        problem = problem or "the call did not recover from a single fault"
    allowed = {error.__name__ for error in kind.errors} | ({"UncertainWriteError"} if endpoint.write else set())
    if outcome.result != "correct" and outcome.result not in allowed:
        problem = problem or f"expected one of {sorted(allowed)}"
    return Outcome(outcome.result, outcome.requests, outcome.seconds, problem)


def check_call(server: Server, endpoint: Endpoint, *, slow: bool = False, **options: Any) -> Outcome:
    """Call an endpoint, and compare the outcome with the state of the server."""
    begun = time.monotonic()
    error: bf.errors.BillframesError | None = None
    result: Any = None
    with connect(server, slow=slow, **options) as client:
        try:
            result = endpoint.call(client)
        except bf.errors.BillframesError as raised:
            error = raised
    seconds = time.monotonic() - begun
    name = "correct" if error is None else type(error).__mro__[_public(error)].__name__
    problem = _problem(server, endpoint, result, error)
    return Outcome(name, len(server.arrivals), seconds, problem)


def _public(error: bf.errors.BillframesError) -> int:
    """Return the position of the first public class among an error's base classes."""
    return next(place for place, kind in enumerate(type(error).__mro__) if hasattr(bf.errors, kind.__name__))


def _problem(server: Server, endpoint: Endpoint, result: Any, error: bf.errors.BillframesError | None) -> str:
    expenses = server.firm.expenses
    if any(path == "/followed" for _, _, path in server.arrivals):
        return "a redirect was followed"
    if error is not None and endpoint.resource not in str(error):
        return f"the resource is not named: {error}"
    if error is not None and "Secret" in str(error):
        return "the message has values that were sent"
    if not endpoint.write:
        return "" if error is not None or result == endpoint.expected else f"the result is {result}"
    done = {"POST": len(expenses) - 1, "PUT": expenses.get("e1", {}).get("amount") == 9, "DELETE": "e1" not in expenses}
    if len(expenses) > 2:
        return "created twice"
    if error is None and not done[endpoint.write]:
        return "it was not done"
    # If the response to a change breaks the API's description, `DecodeError` is raised after the change was made.
    sure = error is not None and not isinstance(error, bf.errors.UncertainWriteError | bf.errors.DecodeError)
    return "it was done, and the error does not say it may be" if sure and done[endpoint.write] else ""
