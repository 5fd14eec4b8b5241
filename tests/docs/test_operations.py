"""The table of operations has each operation of the sandbox once, with a call and a test that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import httpx
import pytest

import billframes as bf
from billframes.schema import resources

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| (GET|POST|PUT|DELETE) \| `(/\S+)` \| (.+) \| `(tests/\S+\.py)::(test_\w+)` \|$", re.MULTILINE)
ROWS = ROW.findall((ROOT / "docs" / "reference" / "operations.md").read_text(encoding="utf-8"))
VERBS = {"create": "POST", "get": "GET", "update": "PUT", "delete": "DELETE"}


def test_every_operation_is_in_the_table_once(sandbox):
    answer = httpx.get(f"{sandbox.base_url}/schema/openapi.json", trust_env=False, timeout=60)
    served = [
        (method.upper(), path)
        for path, operations in answer.json()["paths"].items()
        for method in operations
        if method in {"get", "post", "put", "delete", "patch"}
    ]
    assert sorted((method, path) for method, path, *_ in ROWS) == sorted(served)


@pytest.mark.parametrize(("method", "path", "calls", "file", "test"), ROWS, ids=lambda each: each[:40])
def test_the_call_and_the_test_exist(client, method, path, calls, file, test):
    names = re.findall(r"`(?:bf|client)\.([a-z_]+)(?:\.([a-z_]+))?\(", calls)
    assert names
    for loader, verb in names:
        assert callable(getattr(getattr(client, loader), verb or "__call__"))
        assert hasattr(bf, loader)
        assert VERBS.get(verb, "GET") == method
        paths = {each.name: each.path for each in resources.RESOURCES}
        if loader in paths:
            assert paths[loader] + ("/{id}" if verb in {"get", "update", "delete"} else "") == path
    functions = [
        node.name for node in ast.parse((ROOT / file).read_text(encoding="utf-8")).body if hasattr(node, "name")
    ]
    assert test in functions


def test_every_verb_of_a_loader_is_in_the_table(client):
    calls = "\n".join(row[2] for row in ROWS)
    for name in bf.__all__:
        loader = getattr(client, name, None)
        for verb in VERBS:
            assert not hasattr(loader, verb) or f"`bf.{name}.{verb}(" in calls
