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
# The embedded user's initials are the sandbox's own; the declaration takes any fields there.
_BEYOND = {"initials"}


def uid(short: str) -> str:
    return f"{short[0]}{int(short[1:]):07x}-0000-4000-8000-000000000000"


def short(full: str) -> str:
    return f"{full[0]}{int(full[1:8], 16)}"


def whole(body: Any) -> Any:
    """Make short ids in a body whole."""
    if isinstance(body, dict):
        return {name: whole(value) for name, value in body.items()}
    if isinstance(body, list):
        return [whole(each) for each in body]
    return uid(body) if isinstance(body, str) and re.fullmatch(r"[0-9a-f]\d", body) else body


def path_of(path: str) -> str:
    """Return the path of `clients/c1`."""
    return "/v2/" + "/".join(uid(each) if re.fullmatch(r"[0-9a-f]\d", each) else each for each in path.split("/"))


def seed_by_hand(connection) -> None:
    sql = (Path(__file__).parent / "firm.sql").read_text(encoding="utf-8")
    connection.executescript(re.sub(r"\{([0-9a-f]\d)\}", lambda found: uid(found[1]), sql))


class Api:
    """Calls the sandbox. Short ids (`c1`) become UUIDs on the way in."""

    def __init__(self, sandbox: Sandbox) -> None:
        # No answer is awaited for long, however busy the machine is.
        self.http = httpx.Client(base_url=sandbox.base_url, timeout=60)
        self.id = uid
        self.sandbox = sandbox
        self.database = sandbox.database

    def call(self, path: str, *, method="GET", token="sandbox-full", headers=None, **query) -> httpx.Response:
        headers = {**({"Authorization": f"Bearer {token}"} if token else {}), **(headers or {})}
        params = {k: uid(v) if isinstance(v, str) and re.fullmatch(r"[0-9a-f]\d", v) else v for k, v in query.items()}
        return self.http.request(method, path, headers=headers, params=params or None)

    def send(self, method: str, path: str, body=None, *, token="sandbox-full", headers=None, **options):
        """Send a body, short ids in it made whole; content=, where given, goes as it is."""
        headers = {"Authorization": f"Bearer {token}", **(headers or {})}
        if body is not None:
            options["json"] = whole(body)
        return self.http.request(method, path_of(path), headers=headers, **options)

    def done(self, method: str, path: str, body=None, **options) -> dict[str, Any] | None:
        """Send what must succeed: the record answered with, decoded as declared, or None for no body."""
        answer = self.send(method, path, body, **options)
        assert answer.status_code == 200, answer.text
        if not answer.content:
            assert "content-type" not in answer.headers
            return None
        assert set(answer.json()) == {"data"}
        resource = _BY_PATH[path.split("/", maxsplit=1)[0]]
        as_declared(answer.json()["data"], resource.detail or resource.record)
        return answer.json()["data"]

    def refused(self, status: int, method: str, path: str, body=None, **options) -> dict[str, Any]:
        """Send what must be refused, and see that nothing was changed by it."""
        before = self.everything()
        answer = self.send(method, path, body, **options)
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        assert self.everything() == before
        return answer.json()

    def wrong(self, method: str, path: str, body=None, **options) -> list[str]:
        """Where a body is wrong: the JSON pointers of a 400, or the parameters."""
        errors = self.refused(400, method, path, body, **options)["errors"]
        return [each.get("pointer", each.get("parameter")) for each in errors]

    def everything(self) -> list[tuple[Any, ...]]:
        """All rows of the database."""
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
        """A list's records and pagination, each decoded strictly as declared."""
        answer = self.call(f"/v2/{name}", **query)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "application/json"
        body = answer.json()
        as_declared(body["data"], list[_BY_PATH[name].record])
        if _BY_PATH[name].paginated:
            as_declared(body["pagination"], r.Pagination)
        assert set(body) == ({"data", "pagination"} if _BY_PATH[name].paginated else {"data"})
        return body["data"], body.get("pagination", {})

    def rows(self, name: str, **query) -> list[dict[str, Any]]:
        return self.list(name, **query)[0]

    def ids(self, name: str, **query) -> str:
        """A list's short ids in order, with blanks between."""
        return " ".join(short(row[_BY_PATH[name].id]) for row in self.rows(name, **query))

    def one(self, name: str, id_: str, **options) -> dict[str, Any]:
        """A single record, decoded strictly as declared."""
        answer = self.call(f"/v2/{name}/{uid(id_)}", **options)
        assert answer.status_code == 200, answer.text
        body = answer.json()
        assert set(body) == {"data"}
        as_declared(body["data"], _BY_PATH[name].detail)
        return body["data"]

    def problem(self, path: str, status: int, **options) -> dict[str, Any]:
        answer = self.call(path, **options)
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["status"] == status
        return answer.json()

    def faults(self, path: str, **query) -> list[str]:
        return [each["parameter"] for each in self.problem(path, 400, **query)["errors"]]


def as_declared(value: Any, declared: Any) -> None:
    """Decode strictly, then check that nothing was sent that the declaration does not have."""
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
def sandbox(tmp_path_factory) -> Iterator[Sandbox]:
    path = tmp_path_factory.mktemp("sandbox") / "firm.db"
    Store(path, seed_by_hand).close()
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
def changing(firm, tmp_path_factory) -> Iterator[Api]:
    path = tmp_path_factory.mktemp("changing") / "firm.db"
    shutil.copyfile(firm, path)
    with Sandbox(db=path) as running:
        caller = Api(running)
        with caller.http:
            yield caller


@pytest.fixture
def fresh(firm, changing) -> Api:
    """A caller of a server whose firm may be changed: it is put back as it was before every test."""
    with closing(sqlite3.connect(firm)) as pristine, closing(sqlite3.connect(changing.database)) as current:
        pristine.backup(current)
    return changing


@pytest.fixture(scope="session")
def tools() -> SimpleNamespace:
    return SimpleNamespace(Api=Api, seed_by_hand=seed_by_hand, as_declared=as_declared)
