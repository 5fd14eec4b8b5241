"""The pytest fixture for users' own tests."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

TESTS = """
import httpx

def test_server(billframes_sandbox):
    headers = {"Authorization": "Bearer " + billframes_sandbox.tokens["service"]}
    with httpx.Client(base_url=billframes_sandbox.base_url + "/v2", headers=headers, timeout=60) as http:
        client = http.get("/clients?limit=1").json()["data"][0]["clientId"]
        assert http.put("/clients/" + client, json={"name": "Changed"}).status_code == 200
        assert http.get("/clients?query=Changed").json()["pagination"]["total"] == 1

def test_fresh(billframes_sandbox):
    assert len(billframes_sandbox.client.clients("Changed")) == 0
    assert billframes_sandbox.client.clients.count() > 50
    assert billframes_sandbox.client is billframes_sandbox.client
"""


@pytest.mark.slow
def test_fixture(tmp_path):
    """The fixture gives a fresh server and client: changes that one test makes are not seen by another."""
    (tmp_path / "test_own.py").write_text(TESTS)
    root = str(Path(__file__).parents[2])
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": root}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "billframes.sandbox.pytest_plugin", "-W", "error", "."]
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert "2 passed" in run.stdout, run.stdout + run.stderr


def test_plugin_is_light():
    """Loading the plugin does not import the server or the seed."""
    code = "import sys, billframes.sandbox.pytest_plugin as p; print([m for m in %r if m in sys.modules])"
    heavy = ["starlette", "uvicorn", "billframes.sandbox.seed", "billframes.sandbox.server"]
    run = subprocess.run([sys.executable, "-c", code % heavy], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_plugin_is_announced():
    """Entry point `pytest11`."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["entry-points"]["pytest11"] == {"billframes_sandbox": "billframes.sandbox.pytest_plugin"}
