"""A server on a hand-written firm, and a caller that checks every answer against the API's declaration."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import msgspec
import pytest

from billframes.sandbox import Sandbox
from billframes.sandbox.store import Store
from billframes.schema import records as r
from billframes.schema.resources import RESOURCES

_BY_PATH = {each.path.removeprefix("/v2/"): each for each in RESOURCES}
# The initials of embedded users, which the declaration does not list: it takes any fields there.
_BEYOND = {"initials"}


def uid(short: str) -> str:
    return f"{short[0]}{int(short[1:]):07x}-0000-4000-8000-000000000000"


def short(full: str) -> str:
    return f"{full[0]}{int(full[1:8], 16)}"


def expand_ids(body: Any) -> Any:
    """Replace the short ids in a body by UUIDs."""
    if isinstance(body, dict):
        return {name: expand_ids(value) for name, value in body.items()}
    if isinstance(body, list):
        return [expand_ids(each) for each in body]
    return uid(body) if isinstance(body, str) and re.fullmatch(r"[0-9a-f]\d", body) else body


def path_of(path: str) -> str:
    """Return the path of `clients/c1`."""
    return "/v2/" + "/".join(uid(each) if re.fullmatch(r"[0-9a-f]\d", each) else each for each in path.split("/"))


def seed_by_hand(connection) -> None:
    sql = (Path(__file__).parent / "firm.sql").read_text(encoding="utf-8")
    # It commits the open transaction first.
    connection.executescript("BEGIN;" + re.sub(r"\{([0-9a-f]\d)\}", lambda found: uid(found[1]), sql))


class Api:
    """Calls the sandbox. Short ids (`c1`) become UUIDs on the way in."""

    def __init__(self, sandbox: Sandbox) -> None:
        # Long enough for a busy machine.
        self.http = httpx.Client(base_url=sandbox.base_url, timeout=60)
        self.id = uid
        self.sandbox = sandbox
        self.database = sandbox.database

    def call(self, path: str, *, method="GET", token="sandbox-full", headers=None, **query) -> httpx.Response:
        headers = {**({"Authorization": f"Bearer {token}"} if token else {}), **(headers or {})}
        params = {k: uid(v) if isinstance(v, str) and re.fullmatch(r"[0-9a-f]\d", v) else v for k, v in query.items()}
        return self.http.request(method, path, headers=headers, params=params or None)

    def send(self, method: str, path: str, body=None, *, token="sandbox-full", headers=None, **options):
        """Send a body, in which short ids become UUIDs; `content=` is sent unchanged."""
        headers = {"Authorization": f"Bearer {token}", **(headers or {})}
        if body is not None:
            options["json"] = expand_ids(body)
        return self.http.request(method, path_of(path), headers=headers, **options)

    def write(self, method: str, path: str, body=None, **options) -> dict[str, Any] | None:
        """Send a write that must succeed; return the record of the response, or None if it has no body."""
        answer = self.send(method, path, body, **options)
        assert answer.status_code == 200, answer.text
        if not answer.content:
            assert "content-type" not in answer.headers
            return None
        assert set(answer.json()) == {"data"}
        resource = _BY_PATH[path.split("/", maxsplit=1)[0]]
        assert_as_declared(answer.json()["data"], resource.detail or resource.record)
        return answer.json()["data"]

    def expect_refusal(self, status: int, method: str, path: str, body=None, **options) -> dict[str, Any]:
        """Send a write that must be refused and change nothing; return the problem."""
        before = self.all_rows()
        answer = self.send(method, path, body, **options)
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        assert self.all_rows() == before
        return answer.json()

    def wrong_places(self, method: str, path: str, body=None, **options) -> list[str]:
        """Send a write that must get 400; return the JSON pointers or parameters of its faults."""
        errors = self.expect_refusal(400, method, path, body, **options)["errors"]
        return [each.get("pointer", each.get("parameter")) for each in errors]

    def all_rows(self) -> list[tuple[Any, ...]]:
        """Return all rows of the database."""
        connection = sqlite3.connect(self.database)
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = [
            (table, *row)
            for table in tables
            if not table.startswith("sqlite_")
            for row in connection.execute(f"SELECT * FROM {table}")
        ]
        connection.close()
        return rows

    def list(self, name: str, **query) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return a list's records and pagination, which must be as declared."""
        answer = self.call(f"/v2/{name}", **query)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "application/json"
        body = answer.json()
        assert_as_declared(body["data"], list[_BY_PATH[name].record])
        if _BY_PATH[name].paginated:
            assert_as_declared(body["pagination"], r.Pagination)
        assert set(body) == ({"data", "pagination"} if _BY_PATH[name].paginated else {"data"})
        return body["data"], body.get("pagination", {})

    def rows(self, name: str, **query) -> list[dict[str, Any]]:
        return self.list(name, **query)[0]

    def ids(self, name: str, **query) -> str:
        """Return a list's short ids in order, separated by blanks."""
        return " ".join(short(row[_BY_PATH[name].id]) for row in self.rows(name, **query))

    def record(self, name: str, id_: str, **options) -> dict[str, Any]:
        """Return a single record, which must be as declared."""
        answer = self.call(f"/v2/{name}/{uid(id_)}", **options)
        assert answer.status_code == 200, answer.text
        body = answer.json()
        assert set(body) == {"data"}
        assert_as_declared(body["data"], _BY_PATH[name].detail)
        return body["data"]

    def expect_problem(self, path: str, status: int, **options) -> dict[str, Any]:
        answer = self.call(path, **options)
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["status"] == status
        return answer.json()

    def wrong_parameters(self, path: str, **query) -> list[str]:
        return [each["parameter"] for each in self.expect_problem(path, 400, **query)["errors"]]


def assert_as_declared(value: Any, declared: Any) -> None:
    """Check that a value can be decoded strictly, and has no properties that are not declared."""
    decoded = msgspec.json.decode(json.dumps(value).encode(), type=declared, strict=True)
    _within(value, json.loads(msgspec.json.encode(decoded)))


def _within(sent: Any, declared: Any) -> None:
    if isinstance(sent, dict):
        for key in sent.keys() - _BEYOND:
            _within(sent[key], declared[key])
    elif isinstance(sent, list):
        for one, other in zip(sent, declared, strict=True):
            _within(one, other)
    else:
        assert sent == declared


@pytest.fixture(scope="session")
def sandbox(firm, tmp_path_factory) -> Iterator[Sandbox]:
    path = tmp_path_factory.mktemp("sandbox") / "firm.db"
    shutil.copyfile(firm, path)
    with Sandbox(db=path) as running:
        yield running


@pytest.fixture(scope="session")
def api(sandbox) -> Iterator[Api]:
    caller = Api(sandbox)
    with caller.http:
        yield caller


@pytest.fixture(scope="session")
def firm(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("firm") / "firm.db"
    Store(path, seed_by_hand).close()
    return path


@pytest.fixture(scope="session")
def writable_api(firm, tmp_path_factory) -> Iterator[Api]:
    path = tmp_path_factory.mktemp("writable_api") / "firm.db"
    shutil.copyfile(firm, path)
    with Sandbox(db=path) as running:
        caller = Api(running)
        with caller.http:
            yield caller


@pytest.fixture
def fresh_api(firm, writable_api) -> Api:
    """A caller of a server whose firm a test may change; the firm is restored before every test."""
    with closing(sqlite3.connect(firm)) as pristine, closing(sqlite3.connect(writable_api.database)) as current:
        pristine.backup(current)
    return writable_api


@pytest.fixture(scope="session")
def tools() -> SimpleNamespace:
    return SimpleNamespace(Api=Api, seed_by_hand=seed_by_hand, assert_as_declared=assert_as_declared)
