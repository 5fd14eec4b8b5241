"""Endpoints that read lists and single records, and endpoints that write.

A read runs in a thread, on one snapshot of the database. A write waits for its turn without holding a thread, so
writers never block readers.
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

from billframes.sandbox.cache import CachingConnection
from billframes.sandbox.clock import instant_text
from billframes.sandbox.collection import Collection, Row, View, read_page, read_record
from billframes.sandbox.credentials import Caller, authenticate
from billframes.sandbox.fault_injection import FaultInjector
from billframes.sandbox.items import ACTING_USER
from billframes.sandbox.operations import Edit, Operation, perform
from billframes.sandbox.problems import Faults, HttpProblem
from billframes.sandbox.query_parameters import read_id, read_list
from billframes.sandbox.request_bodies import MAX_BYTES, read_body
from billframes.sandbox.store import Store

Endpoint = Callable[[Request], Awaitable[Response]]
Read = Callable[[CachingConnection, Caller, Request], Any]

# A longer body is read up to here and dropped, so that the caller receives the error.
_MAX_DRAINED = 32 * MAX_BYTES


def dispatch_by_method(endpoints: dict[str, Endpoint]) -> Endpoint:
    """Return one endpoint for all of a path's methods, so that an error can list them all."""

    async def endpoint(request: Request) -> Response:
        return await endpoints["GET" if request.method == "HEAD" else request.method](request)

    return endpoint


def read_endpoint(store: Store, read: Read) -> Endpoint:
    """Return an endpoint that authenticates the caller and reads one snapshot of the database."""

    def work(request: Request) -> Response:
        with store.read_transaction() as connection:
            caller = authenticate(connection, request.headers.get("Authorization"))
            return json_response(read(connection, caller, request))

    async def endpoint(request: Request) -> Response:
        return await run_in_threadpool(work, request)

    return endpoint


def list_reader(collection: Collection, injector: FaultInjector) -> Read:
    """Return a function that reads a page of a list."""

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


def record_reader(collection: Collection) -> Read:
    """Return a function that reads the path's record with all its details."""

    def read(connection: sqlite3.Connection, caller: Caller, request: Request) -> Row:
        view = View(detail=True, rates=caller.sees_rates)
        return {"data": find_record(connection, collection, request, view)}

    return read


def write_endpoint(
    store: Store, operation: Operation, injector: FaultInjector, turn: anyio.CapacityLimiter
) -> Endpoint:
    """Return an endpoint that performs an operation in one transaction."""

    def work(request: Request, raw: bytes, at: str | None) -> Response:
        with store.write_transaction(at) as (connection, instant):
            edit = _prepare_edit(connection, operation, request, raw, instant)
            edit.sets_modified_date = not injector.happens(injector.trouble.still_edits)
            edit.replaces_objects = injector.trouble.replaced_objects
            record = perform(edit)
        return Response() if record is None else json_response({"data": record})

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


def find_record(connection: sqlite3.Connection, collection: Collection, request: Request, view: View) -> Row:
    """Return the path's record; raise a 404 `HttpProblem` if it does not exist or the id is not a UUID."""
    id_ = read_id(request.path_params["id"])
    record = read_record(connection, collection, id_, view) if id_ else None
    if record is None:
        raise HttpProblem(
            404, f"There is no {collection.resource.noun} with the id {request.path_params['id'][:80]!r}."
        )
    return record


def json_response(value: Any) -> Response:
    """Return a response with a value as JSON."""
    return Response(msgspec.json.encode(value), media_type="application/json")


def _prepare_edit(
    connection: sqlite3.Connection, operation: Operation, request: Request, raw: bytes, instant: str
) -> Edit:
    caller = authenticate(connection, request.headers.get("Authorization"))
    id_ = str(uuid.uuid4())
    if operation.has_id:
        find_record(connection, operation.collection, request, View())
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
