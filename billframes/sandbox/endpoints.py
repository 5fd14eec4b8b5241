"""Endpoints that read lists, read single records, and write.

A read runs in a thread, on one snapshot of the database. A write waits its turn without holding a thread, so writers
never block readers.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from billframes.sandbox.caching import CachingConnection
from billframes.sandbox.clock import instant_text
from billframes.sandbox.credentials import Caller, authenticate
from billframes.sandbox.fault_injection import FaultInjector
from billframes.sandbox.parameters import read_id, read_list
from billframes.sandbox.problems import Faults, Problem
from billframes.sandbox.reading import Collection, Row, View, read_one, read_page
from billframes.sandbox.store import Store
from billframes.sandbox.writes.bodies import MOST_BYTES, read_body
from billframes.sandbox.writes.edits import Edit, Operation, perform
from billframes.sandbox.writes.items import ACTING_USER

__all__ = ["Endpoint", "Read", "by_method", "found", "json_answer", "listing", "reading", "single", "writing"]

Endpoint = Callable[[Request], Awaitable[Response]]
Read = Callable[[CachingConnection, Caller, Request], Any]

# A longer body is read up to here and dropped, so that the caller receives the error.
_MOST_DRAINED = 32 * MOST_BYTES


def by_method(endpoints: dict[str, Endpoint]) -> Endpoint:
    """Return one endpoint for all of a path's methods, so that an error can name them all."""

    async def endpoint(request: Request) -> Response:
        return await endpoints["GET" if request.method == "HEAD" else request.method](request)

    return endpoint


def reading(store: Store, read: Read) -> Endpoint:
    """Return an endpoint that authenticates the caller and reads one snapshot of the database."""

    def work(request: Request) -> Response:
        with store.reading() as connection:
            caller = authenticate(connection, request.headers.get("Authorization"))
            return json_answer(read(connection, caller, request))

    async def endpoint(request: Request) -> Response:
        return await run_in_threadpool(work, request)

    return endpoint


def listing(collection: Collection, injector: FaultInjector) -> Read:
    """Return a function that reads a page of a list."""

    def read(connection: CachingConnection, caller: Caller, request: Request) -> Row:
        served, always = injector.served(collection.resource, collection.always)
        pairs = injector.parameters(request.query_params.multi_items(), served)
        asked = injector.granted(read_list(served, pairs))
        view = View(asked.select | always, rates=caller.sees_rates)
        records, total = read_page(connection, collection, asked, view)
        if not collection.resource.paginated:
            return {"data": records}
        pagination = {"limit": asked.limit, "offset": asked.offset, "total": total, "sort": asked.sort_text}
        return {"data": records, "pagination": pagination}

    return read


def single(collection: Collection) -> Read:
    """Return a function that reads the path's record with all its details."""

    def read(connection: sqlite3.Connection, caller: Caller, request: Request) -> Row:
        view = View(detail=True, rates=caller.sees_rates)
        return {"data": found(connection, collection, request, view)}

    return read


def writing(store: Store, operation: Operation, injector: FaultInjector, turn: anyio.CapacityLimiter) -> Endpoint:
    """Return an endpoint that makes one change in one transaction."""

    def work(request: Request, raw: bytes, at: str | None) -> Response:
        with store.writing(at) as (connection, instant):
            edit = _edit(connection, operation, request, raw, instant)
            edit.moves_date, edit.replaces = not injector.stands_still(), injector.trouble.replaced_objects
            record = perform(operation, edit)
        return Response() if record is None else json_answer({"data": record})

    async def endpoint(request: Request) -> Response:
        raw, at = await _body(request), None
        if lateness := injector.lateness():
            at = instant_text(store.clock.now())
            await anyio.sleep(lateness)
        try:
            return await anyio.to_thread.run_sync(work, request, raw, at, limiter=turn)
        except sqlite3.OperationalError as error:
            # Another process holds the lock.
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            raise Problem(503, "The database is busy. Try again.", headers={"Retry-After": "1"}) from None

    return endpoint


def found(connection: sqlite3.Connection, collection: Collection, request: Request, view: View) -> Row:
    """Return the path's record; raise 404 if there is none, or the id is not a UUID."""
    id_ = read_id(request.path_params["id"])
    record = read_one(connection, collection, id_, view) if id_ else None
    if record is None:
        kind = collection.table.replace("_", " ")
        raise Problem(404, f"There is no {kind} with the id {request.path_params['id'][:80]!r}.")
    return record


def json_answer(value: Any) -> Response:
    """Return a value as JSON."""
    return Response(msgspec.json.encode(value), media_type="application/json")


def _edit(connection: sqlite3.Connection, operation: Operation, request: Request, raw: bytes, instant: str) -> Edit:
    caller = authenticate(connection, request.headers.get("Authorization"))
    id_ = str(uuid.uuid4())
    if operation.targets:
        found(connection, operation.collection, request, View())
        id_ = request.path_params["id"].lower()
    faults = Faults()
    content_type = request.headers.get("Content-Type")
    return Edit(
        connection=connection,
        caller=caller,
        at=instant,
        id=id_,
        sent=read_body(operation.body, content_type, raw, faults) if operation.body else {},
        faults=faults,
        acting_user=request.headers.get(ACTING_USER),
    )


async def _body(request: Request) -> bytes:
    """Return the body, unless it is too large."""
    raw, size = bytearray(), 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size <= MOST_BYTES:
                raw += chunk
            if size > _MOST_DRAINED:
                break
    except ClientDisconnect:
        raise Problem(400, "The body is incomplete.") from None
    if size > MOST_BYTES:
        raise Problem(413, f"The body is larger than 1 MB ({MOST_BYTES} bytes).")
    return bytes(raw)
