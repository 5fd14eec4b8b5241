"""The sandbox as a web application: routes from the API's declaration, answers from the tables.

Every answer is JSON, every refusal a problem, and every one carries sandbox time in its `Date`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from billframes._version import __version__
from billframes.sandbox.clock import Clock
from billframes.sandbox.credentials import Caller, authenticate
from billframes.sandbox.firm import (
    CUSTOM_FIELD_DEFINITIONS,
    FIRM_PRACTICE_AREAS,
    FIRM_USERS,
    read_balances,
    read_codes,
)
from billframes.sandbox.items import EXPENSE_ITEMS, FIXED_FEE_ITEMS, TIME_ENTRY_ITEMS
from billframes.sandbox.openapi import document
from billframes.sandbox.parameters import read_id, read_list
from billframes.sandbox.parties import CLIENT_PARTIES, INVOICE_PARTIES, MATTER_PARTIES
from billframes.sandbox.problems import Problem
from billframes.sandbox.reading import Collection, Row, View, read_one, read_page
from billframes.sandbox.store import Store

__all__ = ["HEALTH_PATH", "application"]

HEALTH_PATH = "/v2/health"

_COLLECTIONS = (
    CLIENT_PARTIES,
    CUSTOM_FIELD_DEFINITIONS,
    EXPENSE_ITEMS,
    FIRM_PRACTICE_AREAS,
    FIRM_USERS,
    FIXED_FEE_ITEMS,
    INVOICE_PARTIES,
    MATTER_PARTIES,
    TIME_ENTRY_ITEMS,
)

Endpoint = Callable[[Request], Response]
Read = Callable[[sqlite3.Connection, Caller, Request], Any]


def application(store: Store, *, balances: str = "A") -> ASGIApp:
    """
    Return the sandbox over an open store as an ASGI application.

    Parameters
    ----------
    store : Store
        The firm. Stays the caller's to close.
    balances : {"A", "B"}
        Which of the two described field sets client balances come in.
    """
    app = Starlette(
        routes=_routes(store, balances),
        exception_handlers={
            Problem: _answer_problem,
            HTTPException: _answer_http_exception,
            Exception: _answer_failure,
        },
    )
    app.router.redirect_slashes = False
    return _SandboxDate(app, store.clock)


def _routes(store: Store, balances: str) -> list[Route]:
    def get(path: str, read: Read) -> Route:
        return Route(path, _endpoint(store, read), methods=["GET"])

    routes = [get(each.resource.path, _list(each)) for each in _COLLECTIONS]
    routes += [get(each.resource.path + "/{id}", _single(each)) for each in _COLLECTIONS if each.resource.detail]
    return [
        *routes,
        get("/v2/clients/{id}/balances", _balances(store, balances)),
        get("/v2/codes", lambda connection, _caller, _request: {"data": read_codes(connection)}),
        Route(HEALTH_PATH, _health, methods=["GET"]),
        Route("/schema/openapi.json", _fixed(document(_COLLECTIONS)), methods=["GET"]),
    ]


def _endpoint(store: Store, read: Read) -> Endpoint:
    """Return an endpoint that reads for a known caller at one moment of the database."""

    def endpoint(request: Request) -> Response:
        with store.reading() as connection:
            caller = authenticate(connection, request.headers.get("Authorization"))
            return _json(read(connection, caller, request))

    return endpoint


def _list(collection: Collection) -> Read:
    def read(connection: sqlite3.Connection, caller: Caller, request: Request) -> Row:
        asked = read_list(collection.resource, request.query_params.multi_items())
        view = View(asked.select, rates=caller.sees_rates)
        records, total = read_page(connection, collection, asked, view)
        if not collection.resource.paginated:
            return {"data": records}
        pagination = {"limit": asked.limit, "offset": asked.offset, "total": total, "sort": asked.sort_text}
        return {"data": records, "pagination": pagination}

    return read


def _single(collection: Collection) -> Read:
    def read(connection: sqlite3.Connection, caller: Caller, request: Request) -> Row:
        view = View(detail=True, rates=caller.sees_rates)
        return {"data": _found(connection, collection, request, view)}

    return read


def _balances(store: Store, field_set: str) -> Read:
    def read(connection: sqlite3.Connection, _caller: Caller, request: Request) -> Row:
        client = _found(connection, CLIENT_PARTIES, request, View())
        return {"data": read_balances(connection, client["clientId"], store.clock.today(), field_set)}

    return read


def _found(connection: sqlite3.Connection, collection: Collection, request: Request, view: View) -> Row:
    """Return the record the path names. What is no UUID names no record."""
    id_ = read_id(request.path_params["id"])
    record = read_one(connection, collection, id_, view) if id_ else None
    if record is None:
        kind = collection.table.replace("_", " ")
        raise Problem(404, f"There is no {kind} with the id {request.path_params['id'][:80]!r}.")
    return record


def _health(_request: Request) -> Response:
    """Answer without a credential and without the `data` wrapper: the description shows neither for it."""
    return _json({"status": "healthy", "version": {"api": "v1", "sandbox": __version__}, "message": None})


def _fixed(body: bytes) -> Endpoint:
    return lambda _request: Response(body, media_type="application/json")


def _json(value: Any) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json")


def _problem(problem: Problem) -> Response:
    return Response(problem.body(), problem.status, headers=problem.headers, media_type="application/problem+json")


def _answer_problem(_request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)  # noqa: S101
    return _problem(error)


def _answer_http_exception(request: Request, error: Exception) -> Response:
    """Answer what the router refuses: an unknown path, or a method the path does not take."""
    assert isinstance(error, HTTPException)  # noqa: S101
    if error.status_code == 405:
        allowed = ", ".join(sorted((error.headers or {}).get("Allow", "GET").replace(" ", "").split(",")))
        detail = f"{request.method[:20]} is not possible here; {allowed} is."
        return _problem(Problem(405, detail, headers={"Allow": allowed}))
    return _problem(Problem(error.status_code, f"There is nothing at {request.url.path[:200]!r}."))


def _answer_failure(_request: Request, _error: Exception) -> Response:
    return _problem(Problem(500, "The sandbox failed, which is its own mistake; the log has the details."))


class _SandboxDate:
    """Puts sandbox time into every answer's `Date` header, in place of the real time."""

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
