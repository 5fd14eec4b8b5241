"""Starting, stopping, keeping a firm, and the command."""

import argparse
import datetime as dt
import json
import os
import signal
import sqlite3
import subprocess
import sys

import httpx
import pytest

from billframes.errors import ConfigError
from billframes.sandbox import Sandbox, command
from billframes.sandbox.clock import BEGINNING, Clock
from billframes.sandbox.schema import SCHEMA
from billframes.sandbox.store import Store


def test_database_is_open_to_sql(api, sandbox):
    """`.database` is the SQLite file, so numbers can be checked by SQL."""
    connection = sqlite3.connect(sandbox.database)
    hours = connection.execute("SELECT sum(hours) / 10000.0 FROM time_entry").fetchone()[0]
    connection.close()
    assert hours == sum(row["hours"] for row in api.rows("time-entries"))


def test_a_kept_firm_goes_on(tools, tmp_path):
    """--db keeps writes across restarts, and the clock runs on."""
    first = Store(tmp_path / "firm.db", tools.plant_by_hand)
    first.close()
    second = Store(tmp_path / "firm.db", _never)
    second.close()
    assert abs(second.clock.now() - first.clock.now()) < dt.timedelta(seconds=1)
    assert dt.timedelta(0) <= second.clock.now() - BEGINNING < dt.timedelta(minutes=1)


def test_clock_advances_with_real_time():
    """Sandbox time begins at the seeded month-end and advances with real elapsed time."""
    real = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)
    clock = Clock(BEGINNING - real, real=lambda: real + dt.timedelta(hours=5))
    assert clock.today() == dt.date(2026, 11, 1)
    assert clock.http_date() == "Sun, 01 Nov 2026 01:00:00 GMT"


def test_temporary_database_is_removed(tools):
    """Without a file the firm is gone afterwards."""
    store = Store(None, tools.plant_by_hand)
    assert store.path.exists()
    store.close()
    assert not store.path.parent.exists()


def test_other_files_are_left_alone(tmp_path):
    """A file that is no sandbox database is refused, and stays as it was."""
    (tmp_path / "letter.txt").write_text("Dear Sir or Madam, " * 50)
    with pytest.raises(ConfigError, match="not a sandbox database"):
        Store(tmp_path / "letter.txt", _never)
    assert (tmp_path / "letter.txt").read_text().startswith("Dear Sir")


def test_a_failed_start_leaves_no_file(tmp_path):
    """A start that was interrupted leaves no half firm behind."""
    with pytest.raises(RuntimeError):
        Store(tmp_path / "firm.db", _interrupted)
    assert list(tmp_path.iterdir()) == []


def test_an_unfinished_database_is_recognised(tmp_path):
    """Where a start was killed, the half firm is not taken for a whole one."""
    connection = sqlite3.connect(tmp_path / "firm.db")
    connection.executescript(SCHEMA)
    connection.close()
    with pytest.raises(ConfigError, match="unfinished"):
        Store(tmp_path / "firm.db", _never)


def test_stopped_sandbox_says_so(tmp_path, tools):
    """Stopping twice is fine; asking for the address afterwards is an error."""
    Store(tmp_path / "firm.db", tools.plant_by_hand).close()
    sandbox = Sandbox(db=tmp_path / "firm.db").start()
    url = sandbox.base_url
    sandbox.stop()
    sandbox.stop()
    with pytest.raises(ConfigError, match="not running"):
        _ = sandbox.base_url
    with pytest.raises(httpx.ConnectError):
        httpx.get(url)


def test_a_taken_port_is_a_clear_error(sandbox):
    """The sandbox can't listen where something else does."""
    port = int(sandbox.base_url.rpartition(":")[2])
    with pytest.raises(ConfigError, match=f"port {port}"):
        Sandbox(port=port).start()


@pytest.mark.parametrize(
    ("host", "is_open"), [("127.0.0.1", False), ("localhost", False), ("::1", False), ("0.0.0.0", True), ("box", True)]
)
def test_hosts_beyond_this_machine(host, is_open):
    """Host other than loopback is allowed, and said."""
    assert Sandbox(host=host).is_open_to_network is is_open


@pytest.mark.parametrize(("host", "start"), [("::1", "http://[::1]:"), ("0.0.0.0", "http://127.0.0.1:")])
def test_other_addresses(tools, tmp_path, host, start):
    """`base_url` is an address that this machine can open."""
    Store(tmp_path / "firm.db", tools.plant_by_hand).close()
    with Sandbox(db=tmp_path / "firm.db", host=host) as sandbox:
        assert sandbox.base_url.startswith(start)
        assert httpx.get(sandbox.base_url + "/v2/health").status_code == 200


def test_tables_need_no_web_server():
    """Importing billframes.sandbox.schema must not need starlette."""
    code = "import sys, billframes.sandbox.schema, billframes.sandbox.command; print('starlette' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stdout == "False\n"


def test_missing_web_server_is_a_clear_error():
    """A clear ConfigError tells `pip install 'billframes[sandbox]'`."""
    code = "import sys; sys.modules['uvicorn'] = None; from billframes.sandbox import Sandbox"
    failed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'billframes[sandbox]'" in failed.stderr.splitlines()[-1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_command_prints_one_line_and_ends_cleanly(tools, tmp_path, number):
    """--json prints one line when it is ready; Ctrl-C and SIGTERM end it with code 0."""
    Store(tmp_path / "firm.db", tools.plant_by_hand).close()
    code = (
        "import argparse, sys; from billframes.sandbox import command; parser = argparse.ArgumentParser();"
        "command.add_arguments(parser); sys.exit(command.run(parser.parse_args()))"
    )
    arguments = [sys.executable, "-c", code, "--json", "--db", str(tmp_path / "firm.db")]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        ready = json.loads(process.stdout.readline())
        headers = {"Authorization": f"Bearer {ready['tokens']['norates']}"}
        assert httpx.get(ready["base_url"] + "/v2/clients", headers=headers).status_code == 200
        os.kill(process.pid, number)
        rest, errors = process.communicate(timeout=20)
    assert (process.returncode, rest, errors) == (0, "", "")
    assert set(ready) == {"base_url", "tokens"}
    assert set(ready["tokens"]) == {"full", "norates", "service"}


def test_command_options():
    """billframes sandbox [--host] [--port] [--db FILE] [--size small|medium|large] [--seed N] [--json]."""
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    args = parser.parse_args(["--size", "medium", "--seed", "3", "--port", "81"])
    assert (args.size, args.seed, args.port, args.host, args.db, args.json) == (
        "medium",
        3,
        81,
        "127.0.0.1",
        None,
        False,
    )


def test_command_options_for_trouble():
    """--latency-ms, --throttle and --trouble."""
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    args = parser.parse_args(["--latency-ms", "5", "--throttle", "at_once=2", "--trouble", "faults=0.5"])
    assert repr(command._sandbox(args)) == "Sandbox(stopped)"
    for option in (["--throttle", "often"], ["--trouble", "much"]):
        with pytest.raises(ConfigError):
            command._sandbox(parser.parse_args(option))


def _never(_connection):
    raise AssertionError("a database that exists is not planted again")


def _interrupted(_connection):
    raise RuntimeError
