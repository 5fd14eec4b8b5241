"""The sandbox's web application: routes from the API's declaration, responses from the tables.

Every response is JSON, every error is a problem document, and `Date` headers carry sandbox time. A read runs in a
thread, on one snapshot of the database. A write waits for its turn without holding a thread, so writers never block
readers.
"""

from __future__ import annotations

import asyncio
import functools
import sqlite3
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from billframes._version import __version__
from billframes.sandbox.cache import CachingConnection
from billframes.sandbox.clients import CLIENT_COLLECTION, CLIENT_WRITES, MATTER_COLLECTION, read_balances
from billframes.sandbox.clock import Clock, instant_text
from billframes.sandbox.collection import Collection, Row, View, read_page, read_record
from billframes.sandbox.credentials import Caller, authenticate
from billframes.sandbox.custom_fields import CUSTOM_FIELD_COLLECTION
from billframes.sandbox.fault_injection import FaultInjector, FaultMiddleware, Trouble
from billframes.sandbox.firm import FIRM_WRITES, PRACTICE_AREA_COLLECTION, USER_COLLECTION, read_codes
from billframes.sandbox.invoices import INVOICE_COLLECTION
from billframes.sandbox.items import (
    ACTING_USER,
    EXPENSE_COLLECTION,
    FIXED_FEE_COLLECTION,
    ITEM_WRITES,
    TIME_ENTRY_COLLECTION,
)
from billframes.sandbox.openapi import BALANCES_PATH, HEALTH_PATH, document
from billframes.sandbox.operations import Edit, Operation, perform
from billframes.sandbox.problems import Faults, HttpProblem
from billframes.sandbox.query_parameters import read_id, read_list
from billframes.sandbox.request_bodies import MAX_BYTES, read_body
from billframes.sandbox.store import Store
from billframes.sandbox.throttle import Throttle, Throttled
from billframes.schema.resources import CODES

SCHEMA_PATH = "/schema/openapi.json"

WRITES: tuple[Operation, ...] = (*CLIENT_WRITES, *ITEM_WRITES, *FIRM_WRITES)

_STOPPED = "The sandbox was stopped before it had answered. Whether a change was made is not known."
# A longer body is read up to here and dropped, so that the caller receives the error.
_MAX_DRAINED = 32 * MAX_BYTES

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

_Endpoint = Callable[[Request], Awaitable[Response]]
_Read = Callable[[CachingConnection, Caller, Request], Any]


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
            HttpProblem: lambda _request, problem: problem.response(),
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
    return _SandboxTime(app, store.clock, latency_ms / 1000)


def _routes(store: Store, balances: str, injector: FaultInjector) -> list[Route]:
    paths: dict[str, dict[str, _Endpoint]] = {}

    def add_read(path: str, read: _Read) -> None:
        paths.setdefault(path, {})["GET"] = _read_endpoint(store, read)

    for each in _COLLECTIONS:
        add_read(each.resource.path, _list_reader(each, injector))
        if each.resource.detail:
            add_read(each.resource.path + "/{id}", _record_reader(each))
    add_read(BALANCES_PATH, _balances_reader(store, balances))
    add_read(CODES.path, lambda connection, _caller, _request: {"data": read_codes(connection)})
    turn = anyio.CapacityLimiter(1)
    for operation in WRITES:
        paths.setdefault(operation.path, {})[operation.method] = _write_endpoint(store, operation, injector, turn)
    paths[HEALTH_PATH] = {"GET": _health}
    paths[SCHEMA_PATH] = {"GET": _schema_endpoint(balances)}
    return [Route(path, _dispatch_by_method(endpoints), methods=[*endpoints]) for path, endpoints in paths.items()]


def _dispatch_by_method(endpoints: dict[str, _Endpoint]) -> _Endpoint:
    """Return one endpoint for all of a path's methods, so that an error can list them all."""

    async def endpoint(request: Request) -> Response:
        return await endpoints["GET" if request.method == "HEAD" else request.method](request)

    return endpoint


def _read_endpoint(store: Store, read: _Read) -> _Endpoint:
    """Return an endpoint that authenticates the caller and reads one snapshot of the database."""

    def work(request: Request) -> Response:
        with store.read_transaction() as connection:
            caller = authenticate(connection, request.headers.get("Authorization"))
            return _json_response(read(connection, caller, request))

    async def endpoint(request: Request) -> Response:
        return await run_in_threadpool(work, request)

    return endpoint


def _list_reader(collection: Collection, injector: FaultInjector) -> _Read:
    def read(connection: CachingConnection, caller: Caller, request: Request) -> Row:
        resource, always = injector.renamed(collection.resource, collection.always)
        pairs = injector.used_parameters(request.query_params.multi_items(), resource)
        query = injector.granted_query(read_list(resource, pairs))
        view = View(query.select | always, rates=caller.sees_rates)
        records, total = read_page(connection, collection, query, view)
        if not collection.resource.paginated:
            return {"data": records}
        pagination = {"limit": query.limit, "offset": query.offset, "total": total, "sort": query.sort_text}
        return {"data": records, "pagination": pagination}

    return read


def _record_reader(collection: Collection) -> _Read:
    def read(connection: sqlite3.Connection, caller: Caller, request: Request) -> Row:
        view = View(detail=True, rates=caller.sees_rates)
        return {"data": _find_record(connection, collection, request, view)}

    return read


def _write_endpoint(
    store: Store, operation: Operation, injector: FaultInjector, turn: anyio.CapacityLimiter
) -> _Endpoint:
    def work(request: Request, raw: bytes, at: str | None) -> Response:
        with store.write_transaction(at) as (connection, instant):
            edit = _prepare_edit(connection, operation, request, raw, instant)
            edit.sets_modified_date = not injector.happens(injector.trouble.still_edits)
            edit.replaces_objects = injector.trouble.replaced_objects
            record = perform(edit)
        return Response() if record is None else _json_response({"data": record})

    async def endpoint(request: Request) -> Response:
        raw, at = await _read_raw_body(request), None
        if injector.happens(injector.trouble.late_commits):
            at = instant_text(store.clock.now())
            await anyio.sleep(injector.trouble.late_seconds)
        try:
            return await anyio.to_thread.run_sync(work, request, raw, at, limiter=turn)
        except sqlite3.OperationalError as error:
            # Another process holds the lock.
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            raise HttpProblem(503, "The database is busy. Try again.", headers={"Retry-After": "1"}) from None

    return endpoint


def _find_record(connection: sqlite3.Connection, collection: Collection, request: Request, view: View) -> Row:
    """Return the path's record; raise a 404 `HttpProblem` if it does not exist or the id is not a UUID."""
    id_ = read_id(request.path_params["id"])
    record = read_record(connection, collection, id_, view) if id_ else None
    if record is None:
        raise HttpProblem(
            404, f"There is no {collection.resource.noun} with the id {request.path_params['id'][:80]!r}."
        )
    return record


def _json_response(value: Any) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json")


def _prepare_edit(
    connection: sqlite3.Connection, operation: Operation, request: Request, raw: bytes, instant: str
) -> Edit:
    caller = authenticate(connection, request.headers.get("Authorization"))
    id_ = str(uuid.uuid4())
    if operation.has_id:
        _find_record(connection, operation.collection, request, View())
        id_ = request.path_params["id"].lower()
    faults = Faults()
    content_type = request.headers.get("Content-Type")
    return Edit(
        operation=operation,
        connection=connection,
        caller=caller,
        at=instant,
        id=id_,
        sent=read_body(operation.body, content_type, raw, faults) if operation.body else {},
        faults=faults,
        acting_user=request.headers.get(ACTING_USER),
    )


async def _read_raw_body(request: Request) -> bytes:
    """Return the body; raise a 413 `HttpProblem` if it is too large."""
    raw, size = bytearray(), 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size <= MAX_BYTES:
                raw += chunk
            if size > _MAX_DRAINED:
                break
    except ClientDisconnect:
        raise HttpProblem(400, "The body is incomplete.") from None
    if size > MAX_BYTES:
        raise HttpProblem(413, f"The body is larger than 1 MB ({MAX_BYTES} bytes).")
    return bytes(raw)


def _balances_reader(store: Store, field_set: str) -> _Read:
    def read(connection: sqlite3.Connection, _caller: Caller, request: Request) -> Row:
        client = _find_record(connection, CLIENT_COLLECTION, request, View())
        return {"data": read_balances(connection, client["clientId"], store.clock.today(), field_set)}

    return read


async def _health(_request: Request) -> Response:
    """Respond without a credential and without the wrapper `data`, because the description shows neither."""
    return _json_response({"status": "healthy", "version": {"api": "v1", "sandbox": __version__}, "message": None})


def _schema_endpoint(balances: str) -> _Endpoint:
    """Return an endpoint for the OpenAPI document, which is made at the first request, so the server starts sooner."""
    make = functools.cache(lambda: document(_COLLECTIONS, WRITES, balances=balances))

    async def endpoint(_request: Request) -> Response:
        return Response(make(), media_type="application/json")

    return endpoint


def _respond_to_http_exception(request: Request, error: Exception) -> Response:
    """Respond to an unknown path, or a method that the path does not accept."""
    assert isinstance(error, HTTPException)  # noqa: S101
    if error.status_code == 405:
        allowed = ", ".join(sorted((error.headers or {}).get("Allow", "GET").replace(" ", "").split(",")))
        detail = f"{request.method[:20]} is not possible here; {allowed} is."
        return HttpProblem(405, detail, headers={"Allow": allowed}).response()
    return HttpProblem(error.status_code, f"There is nothing at {request.url.path[:200]!r}.").response()


def _respond_to_failure(_request: Request, _error: Exception) -> Response:
    return HttpProblem(500, "The sandbox failed, which is its own mistake; the log has the details.").response()


class _SandboxTime:
    """Delays every call, as a distant server does, and gives responses the sandbox's date."""

    def __init__(self, app: ASGIApp, clock: Clock, latency: float) -> None:
        self._app = app
        self._clock = clock
        self._latency = latency

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_dated(message: Message) -> None:
            if message["type"] == "http.response.start":
                date = (b"date", self._clock.http_date().encode())
                message["headers"] = [*message.get("headers", ()), date]
            await send(message)

        if self._latency:
            await asyncio.sleep(self._latency)
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
                await HttpProblem(503, _STOPPED).response()(scope, receive, send)
        finally:
            self._tasks.discard(task)
