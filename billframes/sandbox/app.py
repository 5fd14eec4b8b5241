"""The sandbox's web application: routes from the API's declaration, responses from the tables.

Every response is JSON, every error is a problem document, and `Date` headers carry sandbox time.
"""

from __future__ import annotations

import asyncio
import functools
import sqlite3

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from billframes._version import __version__
from billframes.sandbox.clients import CLIENT_COLLECTION, CLIENT_WRITES, MATTER_COLLECTION, read_balances
from billframes.sandbox.clock import Clock
from billframes.sandbox.collection import Row, View
from billframes.sandbox.credentials import Caller
from billframes.sandbox.custom_fields import CUSTOM_FIELD_COLLECTION
from billframes.sandbox.endpoints import (
    Endpoint,
    Read,
    dispatch_by_method,
    find_record,
    json_response,
    list_reader,
    read_endpoint,
    record_reader,
    write_endpoint,
)
from billframes.sandbox.fault_injection import FaultInjector, FaultMiddleware, Trouble
from billframes.sandbox.firm import FIRM_WRITES, PRACTICE_AREA_COLLECTION, USER_COLLECTION, read_codes
from billframes.sandbox.invoices import INVOICE_COLLECTION
from billframes.sandbox.items import EXPENSE_COLLECTION, FIXED_FEE_COLLECTION, ITEM_WRITES, TIME_ENTRY_COLLECTION
from billframes.sandbox.openapi import BALANCES_PATH, HEALTH_PATH, document
from billframes.sandbox.operations import Operation
from billframes.sandbox.problems import PROBLEM_JSON, HttpProblem
from billframes.sandbox.store import Store
from billframes.sandbox.throttle import Delayed, Throttle, Throttled
from billframes.schema.resources import CODES

SCHEMA_PATH = "/schema/openapi.json"

WRITES: tuple[Operation, ...] = (*CLIENT_WRITES, *ITEM_WRITES, *FIRM_WRITES)

_STOPPED = "The sandbox was stopped before it had answered. Whether a change was made is not known."

_COLLECTIONS = (
    CLIENT_COLLECTION,
    CUSTOM_FIELD_COLLECTION,
    EXPENSE_COLLECTION,
    PRACTICE_AREA_COLLECTION,
    USER_COLLECTION,
    FIXED_FEE_COLLECTION,
    INVOICE_COLLECTION,
    MATTER_COLLECTION,
    TIME_ENTRY_COLLECTION,
)


def application(
    store: Store,
    *,
    balances: str = "A",
    trouble: Trouble | None = None,
    throttle: Throttle | None = None,
    latency_ms: float = 0.0,
) -> ASGIApp:
    """Return the sandbox over an open store, which the caller closes, as an ASGI application."""
    injector = FaultInjector(trouble or Trouble())
    api = Starlette(
        routes=_routes(store, balances, injector),
        exception_handlers={
            HttpProblem: _respond_to_problem,
            HTTPException: _respond_to_http_exception,
            Exception: _respond_to_failure,
        },
    )
    api.router.redirect_slashes = False
    app: ASGIApp = api
    if injector.trouble.faults:
        app = FaultMiddleware(app, injector)
    if throttle is not None:
        app = Throttled(app, throttle, unlimited=frozenset({HEALTH_PATH, SCHEMA_PATH}))
    if latency_ms:
        app = Delayed(app, latency_ms)
    return _SandboxDate(app, store.clock)


def _routes(store: Store, balances: str, injector: FaultInjector) -> list[Route]:
    paths: dict[str, dict[str, Endpoint]] = {}

    def add_read(path: str, read: Read) -> None:
        paths.setdefault(path, {})["GET"] = read_endpoint(store, read)

    for each in _COLLECTIONS:
        add_read(each.resource.path, list_reader(each, injector))
        if each.resource.detail:
            add_read(each.resource.path + "/{id}", record_reader(each))
    add_read(BALANCES_PATH, _balances_reader(store, balances))
    add_read(CODES.path, lambda connection, _caller, _request: {"data": read_codes(connection)})
    turn = anyio.CapacityLimiter(1)
    for operation in WRITES:
        paths.setdefault(operation.path, {})[operation.method] = write_endpoint(store, operation, injector, turn)
    paths[HEALTH_PATH] = {"GET": _health}
    paths[SCHEMA_PATH] = {"GET": _schema_endpoint(balances)}
    return [Route(path, dispatch_by_method(endpoints), methods=[*endpoints]) for path, endpoints in paths.items()]


def _balances_reader(store: Store, field_set: str) -> Read:
    def read(connection: sqlite3.Connection, _caller: Caller, request: Request) -> Row:
        client = find_record(connection, CLIENT_COLLECTION, request, View())
        return {"data": read_balances(connection, client["clientId"], store.clock.today(), field_set)}

    return read


async def _health(_request: Request) -> Response:
    """Respond without a credential and without the wrapper `data`, because the description shows neither."""
    return json_response({"status": "healthy", "version": {"api": "v1", "sandbox": __version__}, "message": None})


def _schema_endpoint(balances: str) -> Endpoint:
    """Return an endpoint for the OpenAPI document, which is made at the first request, so the server starts sooner."""
    make = functools.cache(lambda: document(_COLLECTIONS, WRITES, balances=balances))

    async def endpoint(_request: Request) -> Response:
        return Response(make(), media_type="application/json")

    return endpoint


def _problem_response(problem: HttpProblem) -> Response:
    return Response(problem.body(), problem.status, headers=problem.headers, media_type=PROBLEM_JSON)


def _respond_to_problem(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HttpProblem)  # noqa: S101
    return _problem_response(error)


def _respond_to_http_exception(request: Request, error: Exception) -> Response:
    """Respond to an unknown path, or a method that the path does not accept."""
    assert isinstance(error, HTTPException)  # noqa: S101
    if error.status_code == 405:
        allowed = ", ".join(sorted((error.headers or {}).get("Allow", "GET").replace(" ", "").split(",")))
        detail = f"{request.method[:20]} is not possible here; {allowed} is."
        return _problem_response(HttpProblem(405, detail, headers={"Allow": allowed}))
    return _problem_response(HttpProblem(error.status_code, f"There is nothing at {request.url.path[:200]!r}."))


def _respond_to_failure(_request: Request, _error: Exception) -> Response:
    return _problem_response(HttpProblem(500, "The sandbox failed, which is its own mistake; the log has the details."))


class _SandboxDate:
    def __init__(self, app: ASGIApp, clock: Clock) -> None:
        self._app = app
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_dated(message: Message) -> None:
            if message["type"] == "http.response.start":
                date = (b"date", self._clock.http_date().encode())
                message["headers"] = [*message.get("headers", ()), date]
            await send(message)

        await self._app(scope, receive, send_dated)


class RequestTracker:
    """Track requests in progress, and end them with 503 when the server stops."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._tasks: set[asyncio.Task[object]] = set()

    def end(self) -> None:
        """Cancel every request in progress."""
        for task in tuple(self._tasks):
            task.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; if it is cancelled before its response has begun, respond with 503."""
        begun = False

        async def send_and_note(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        task = asyncio.current_task()
        assert task is not None  # noqa: S101
        self._tasks.add(task)
        try:
            await self._app(scope, receive, send_and_note)
        except asyncio.CancelledError:
            if not begun:
                await HttpProblem(503, _STOPPED).send(send)
        finally:
            self._tasks.discard(task)
