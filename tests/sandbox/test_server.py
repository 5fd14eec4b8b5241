"""Starting and stopping the sandbox, the files it keeps, and the command."""

import argparse
import datetime as dt
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from billframes.cli import main
from billframes.errors import ConfigError
from billframes.sandbox import Sandbox, command
from billframes.sandbox.clock import BEGINNING, Clock
from billframes.sandbox.schema import SCHEMA
from billframes.sandbox.seed import template_path
from billframes.sandbox.store import Store

# Modules from which a firm is made, in addition to its seed.
MAKERS = ("clock", "credentials", "schema", "store")


@pytest.fixture(scope="module", autouse=True)
def restore_hangups():
    """Commands that a test starts receive SIGHUP, also if the tests run under `nohup`."""
    hangup = getattr(signal, "SIGHUP", None)
    ignored = hangup is not None and signal.getsignal(hangup) == signal.SIG_IGN
    if ignored:
        signal.signal(hangup, signal.SIG_DFL)
    yield
    if ignored:
        signal.signal(hangup, signal.SIG_IGN)


def test_database_is_open_to_sql(api, sandbox):
    """`.database` is the SQLite file, so numbers can be checked by SQL."""
    connection = sqlite3.connect(sandbox.database)
    hours = connection.execute("SELECT sum(hours) / 10000.0 FROM time_entry").fetchone()[0]
    connection.close()
    assert hours == sum(row["hours"] for row in api.rows("time-entries"))


def test_a_kept_firm_goes_on(tools, tmp_path):
    """--db keeps writes across restarts, and the clock runs on."""
    first = Store(tmp_path / "firm.db", tools.seed_by_hand)
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
    """Without a file, the firm is removed at the end."""
    store = Store(None, tools.seed_by_hand)
    assert store.path.exists()
    store.close()
    assert not store.path.parent.exists()


def test_a_firm_is_made_once_and_then_copied(tools, tmp_path):
    """The first database becomes a template. Later databases have its rows, and a clock that starts now."""
    template = tmp_path / "cache" / "firm-1.db"
    template.parent.mkdir()
    for year in (2020, 2023, 2021, 2022):
        other = template.with_name(f"firm-of-{year}.db")
        other.touch()
        os.utime(other, (dt.datetime(year, 1, 1).timestamp(),) * 2)
    stores = [Store(tmp_path / "first.db", tools.seed_by_hand, template=lambda: template)]
    stores += [Store(path, _never, template=lambda: template) for path in (tmp_path / "second.db", None)]
    # Of other versions, those that were used last are kept.
    assert {path.name for path in template.parent.iterdir()} == {"firm-1.db", "firm-of-2023.db", "firm-of-2022.db"}
    rows = []
    for store in stores:
        with store.read_transaction() as connection:
            rows.append(connection.execute("SELECT * FROM time_entry").fetchall())
        assert dt.timedelta(0) <= store.clock.now() - BEGINNING < dt.timedelta(minutes=1)
        store.close()
    assert len(rows[0]) == 5
    assert rows[0] == rows[1] == rows[2]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "first.db", "second.db"]


@pytest.mark.parametrize("content", [b"", b"Dear Sir or Madam, " * 50], ids=["empty", "a letter"])
def test_a_template_that_cannot_be_read_is_made_anew(tools, tmp_path, content):
    template = tmp_path / "cache" / "firm.db"
    template.parent.mkdir()
    template.write_bytes(content)
    Store(tmp_path / "first.db", tools.seed_by_hand, template=lambda: template).close()
    Store(tmp_path / "second.db", _never, template=lambda: template).close()


def test_a_folder_that_cannot_hold_a_template_is_passed_over(tools, tmp_path):
    (tmp_path / "cache").write_text("a file")
    store = Store(tmp_path / "firm.db", tools.seed_by_hand, template=lambda: tmp_path / "cache" / "firm.db")
    assert store.path.exists()
    store.close()


def test_a_template_is_named_by_all_that_the_firm_is_made_from():
    """The name depends on all files of the sandbox, and a firm is made without other modules that could change it."""
    folder = Path(command.__file__).parent
    makers = [*folder.joinpath("seed").glob("*.py"), *(folder / f"{name}.py" for name in MAKERS)]
    imported = {
        each
        for path in makers
        for each in re.findall(r"^ *from (billframes[\w.]*) import", path.read_text(), re.MULTILINE)
    }
    others = {each for each in imported if not each.startswith("billframes.sandbox")}
    assert others <= {"billframes._shared.forks", "billframes.errors"}
    assert {path.name for path in makers} > {"work.py", "billing.py", "schema.py"}


def test_only_the_usual_firm_has_a_template():
    """Other firms would fill the disk."""
    usual = template_path()
    assert usual == template_path(seed=0, size="small")
    assert re.fullmatch(r"firm-[0-9a-f]{16}\.db", usual.name)
    assert template_path(seed=1) is None
    assert template_path(size="medium") is None


def test_other_files_are_left_alone(tmp_path):
    """A file that is not a sandbox database is refused and stays unchanged."""
    (tmp_path / "letter.txt").write_text("Dear Sir or Madam, " * 50)
    with pytest.raises(ConfigError, match="not a sandbox database"):
        Store(tmp_path / "letter.txt", _never)
    assert (tmp_path / "letter.txt").read_text().startswith("Dear Sir")


PLACES = {
    "a folder": ("", "is a folder. Name a file in it"),
    "a pipe": ("pipe", "is not a regular file"),
    "beneath a file": ("letter.txt/firm.db", "can't be stored"),
    "too long a name": ("x" * 300, "can't be stored"),
    "a file of something else": ("letter.txt", "is not a sandbox database"),
}


@pytest.mark.skipif(os.name == "nt", reason="named pipes are POSIX's")
@pytest.mark.parametrize("name", PLACES)
def test_a_place_that_holds_no_firm_is_one_sentence(tmp_path, capfd, name):
    """If the path of --db can't hold a firm, the error is one sentence, and existing files stay unchanged."""
    place, expected = PLACES[name]
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "letter.txt").write_text("Dear Sir or Madam, " * 50)
    assert main(["sandbox", "--db", str(tmp_path / place)]) == 2
    said = capfd.readouterr()
    assert (said.out, said.err.count("\n"), said.err.startswith("billframes: ")) == ("", 1, True)
    assert expected in said.err
    assert sorted(each.name for each in tmp_path.iterdir()) == ["letter.txt", "pipe"]
    assert (tmp_path / "pipe").is_fifo()


@contextmanager
def nobody():
    """Give up root's rights for the block, if the tests run as root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(os.name == "nt", reason="accounts and their rights are POSIX's")
@pytest.mark.parametrize("name", ["firm.db", "new.db", "below/new.db"])
def test_a_read_only_place_is_refused(firm, capfd, name):
    """A read-only file or folder for --db is refused at the start, not at the first write."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "firm.db"
        path.write_bytes(firm.read_bytes())
        path.chmod(0o444)
        Path(folder).chmod(0o555)
        with nobody():
            assert main(["sandbox", "--db", f"{folder}/{name}"]) == 2
        Path(folder).chmod(0o755)
        said = capfd.readouterr().err
        assert (said.count("\n"), "can't be stored in" in said) == (1, True)
        assert [each.name for each in Path(folder).iterdir()] == ["firm.db"]


def test_an_unwritable_temporary_folder_is_one_sentence(monkeypatch, tmp_path):
    """If no temporary folder can be created, the error says which variable to set."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(ConfigError, match="Set TMPDIR"):
        Sandbox().start()


def test_a_failed_start_leaves_an_empty_file_empty(tools, tmp_path):
    """An empty file is filled with a firm, for the same people. If that fails, the file is still empty."""
    (tmp_path / "firm.db").touch(0o600)
    with pytest.raises(RuntimeError):
        Store(tmp_path / "firm.db", _interrupted)
    assert [(each.name, each.stat().st_size) for each in tmp_path.iterdir()] == [("firm.db", 0)]
    Store(tmp_path / "firm.db", tools.seed_by_hand).close()
    assert [(each.name, each.stat().st_mode & 0o777) for each in tmp_path.iterdir()] == [("firm.db", 0o600)]


def test_a_database_that_is_being_written_opens_all_the_same(firm, tmp_path):
    """A database that another process has locked for writing can be opened."""
    path = tmp_path / "firm.db"
    path.write_bytes(firm.read_bytes())
    with closing(sqlite3.connect(path, isolation_level=None)) as outsider:
        outsider.execute("BEGIN IMMEDIATE")
        with Sandbox(db=path) as sandbox:
            assert httpx.get(sandbox.base_url + sandbox.health_path, timeout=60).status_code == 200


def test_a_failed_start_leaves_no_file(tmp_path):
    """An interrupted start leaves no incomplete file."""
    with pytest.raises(RuntimeError):
        Store(tmp_path / "firm.db", _interrupted)
    assert list(tmp_path.iterdir()) == []


def test_an_unfinished_database_is_recognised(tmp_path):
    """After a start was killed, the incomplete file is refused."""
    connection = sqlite3.connect(tmp_path / "firm.db")
    connection.executescript(SCHEMA)
    connection.close()
    with pytest.raises(ConfigError, match="unfinished"):
        Store(tmp_path / "firm.db", _never)


def test_stopped_sandbox_says_so(tmp_path, tools):
    """Stopping twice has no effect. Reading the address afterwards is an error."""
    Store(tmp_path / "firm.db", tools.seed_by_hand).close()
    sandbox = Sandbox(db=tmp_path / "firm.db").start()
    url = sandbox.base_url
    sandbox.stop()
    sandbox.stop()
    with pytest.raises(ConfigError, match="not running"):
        _ = sandbox.base_url
    with pytest.raises(httpx.ConnectError):
        httpx.get(url)


def test_a_taken_port_is_a_clear_error(sandbox):
    """A port that another program uses is an error."""
    port = int(sandbox.base_url.rpartition(":")[2])
    with pytest.raises(ConfigError, match=f"port {port}"):
        Sandbox(port=port).start()


@pytest.mark.parametrize(
    ("host", "is_open"), [("127.0.0.1", False), ("localhost", False), ("::1", False), ("0.0.0.0", True), ("box", True)]
)
def test_hosts_beyond_this_machine(host, is_open):
    """Addresses other than loopback are allowed, and recognized as open to the network."""
    assert Sandbox(host=host).is_open_to_network is is_open


@pytest.mark.parametrize(("host", "start"), [("::1", "http://[::1]:"), ("0.0.0.0", "http://127.0.0.1:")])
def test_other_addresses(tools, tmp_path, host, start):
    """`base_url` is an address that this machine can open."""
    Store(tmp_path / "firm.db", tools.seed_by_hand).close()
    with Sandbox(db=tmp_path / "firm.db", host=host) as sandbox:
        assert sandbox.base_url.startswith(start)
        assert httpx.get(sandbox.base_url + "/v2/health", timeout=60).status_code == 200


def test_tables_need_no_web_server():
    """The tables and the command can be imported without starlette."""
    code = "import sys, billframes.sandbox.schema, billframes.sandbox.command; print('starlette' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stdout == "False\n"


@pytest.mark.parametrize("missing", ["uvicorn", "starlette", "anyio"])
def test_missing_web_server_is_a_clear_error(missing):
    """The ConfigError says `pip install 'billframes[sandbox]'`."""
    code = f"import sys; sys.modules['{missing}'] = None; from billframes.sandbox import Sandbox"
    failed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'billframes[sandbox]'" in failed.stderr.splitlines()[-1]


# Under nohup, child processes ignore SIGHUP, too.
COMMAND = [
    sys.executable,
    "-c",
    "import signal, sys; signal.signal(getattr(signal, 'SIGHUP', signal.SIGTERM), signal.SIG_DFL);"
    "from billframes.cli import main; sys.exit(main(['sandbox', *sys.argv[1:]]))",
]
SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@pytest.mark.parametrize("number", SIGNALS)
def test_command_prints_one_line_and_ends_cleanly(tools, tmp_path, number):
    """--json prints one line when it is ready; Ctrl-C, SIGTERM and SIGHUP end it with code 0."""
    Store(tmp_path / "firm.db", tools.seed_by_hand).close()
    arguments = [*COMMAND, "--json", "--db", str(tmp_path / "firm.db")]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            ready = json.loads(process.stdout.readline())
            headers = {"Authorization": f"Bearer {ready['tokens']['norates']}"}
            assert httpx.get(ready["base_url"] + "/v2/clients", headers=headers, timeout=60).status_code == 200
            os.kill(process.pid, number)
            rest, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, rest, errors) == (0, "", "")
    assert set(ready) == {"base_url", "tokens"}
    assert set(ready["tokens"]) == {"full", "norates", "service"}


@contextmanager
def running(folder, *options, stderr=subprocess.PIPE):
    """Run the command with its temporary files in `folder`, and yield the process and its port."""
    environment = {**os.environ, "TMPDIR": str(folder), "TEMP": str(folder)}
    arguments = [*COMMAND, "--json", *options]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=stderr, env=environment) as process:
        try:
            ready = json.loads(process.stdout.readline())
            yield process, int(ready["base_url"].rpartition(":")[2])
        finally:
            process.kill()


LOGGED = b"WARNING: Invalid HTTP request received.\n"


def send_nonsense(port):
    """Send an invalid request. Its refusal means that the server has received all requests sent before."""
    with socket.create_connection(("127.0.0.1", port)) as caller:
        caller.sendall(b"what is this\r\n\r\n")
        assert caller.recv(12) == b"HTTP/1.1 400"


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there is no hangup")
def test_a_hangup_with_requests_unfinished_leaves_nothing_behind(tmp_path):
    """Unfinished requests get 503, the log has no traceback, and the temporary firm is removed."""
    with running(tmp_path, "--latency-ms", "600000") as (process, port):
        assert len(list(tmp_path.iterdir())) == 1
        callers = [socket.create_connection(("127.0.0.1", port)) for _ in range(150)]
        for each in callers:
            each.sendall(b"GET /v2/clients HTTP/1.1\r\nHost: sandbox\r\n\r\n")
        half = socket.create_connection(("127.0.0.1", port))
        half.sendall(b"POST /v2/clients HTTP/1.1\r\nHost: sandbox\r\nContent-Length: 9\r\n\r\n{")
        send_nonsense(port)
        process.send_signal(signal.SIGHUP)
        # stderr is not read until the process has ended.
        assert process.wait(60) == 0
        assert process.stderr.read() == LOGGED
        assert {each.recv(12) for each in callers} == {b"HTTP/1.1 503"}
        for each in (*callers, half):
            each.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="there is no hangup")
def test_nohup_is_respected():
    """A SIGHUP that was ignored before the command started stays ignored."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with command.signals_interrupt():
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) == signal.default_int_handler
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.skipif(os.name == "nt", reason="the second Ctrl-C is sent as a signal")
def test_an_impatient_second_interrupt_still_removes_the_temporary_firm(tmp_path):
    """A second Ctrl-C ends the process without waiting for requests; the temporary firm is removed, too."""
    with running(tmp_path, "--latency-ms", "600000") as (process, port):
        with socket.create_connection(("127.0.0.1", port)) as caller:
            caller.sendall(b"GET /v2/clients HTTP/1.1\r\nHost: sandbox\r\n\r\n")
            send_nonsense(port)
            process.send_signal(signal.SIGINT)
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(1)
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
        assert process.stderr.read() == LOGGED
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="only POSIX tells whether a pipe has room")
def test_an_unread_log_does_not_block_the_server(tmp_path):
    """If stderr is full and not read, the sandbox still responds, and ends when it is terminated."""
    reader, full = os.pipe()
    os.set_blocking(full, False)
    for size in (512, 1):
        with suppress(BlockingIOError):
            while True:
                os.write(full, b"x" * size)
    os.set_blocking(full, True)
    with running(tmp_path, stderr=full) as (process, port):
        for _ in range(3):
            send_nonsense(port)
        assert httpx.get(f"http://127.0.0.1:{port}/v2/health", timeout=60).status_code == 200
        process.terminate()
        assert process.wait(60) == 0
    os.close(reader)
    os.close(full)
    assert list(tmp_path.iterdir()) == []


def test_the_log_is_on_stderr(tmp_path):
    """The server's log is written to stderr, one line per record."""
    with running(tmp_path) as (process, port):
        send_nonsense(port)
        process.terminate()
        assert process.communicate(timeout=60)[1] == LOGGED


def test_the_end_of_the_process_removes_the_temporary_firm(tmp_path):
    """A sandbox that was not stopped leaves no file either."""
    code = "from billframes.sandbox import Sandbox; print(Sandbox().start().database.exists())"
    environment = {**os.environ, "TMPDIR": str(tmp_path), "TEMP": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("True\n", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("latency", ["nan", "-1", "inf", "-inf"])
def test_a_latency_that_is_no_time_is_refused(latency, capfd):
    """--latency-ms takes a number of milliseconds, 0 or more."""
    assert main(["sandbox", f"--latency-ms={latency}"]) == 2
    assert capfd.readouterr().err.startswith("billframes: latency_ms is")


@pytest.mark.parametrize("wrong", [{"size": "tiny"}, {"balances": "C"}])
def test_an_unknown_size_or_set_of_balances_is_refused(wrong):
    (name,) = wrong
    with pytest.raises(ConfigError, match=f"^{name} is '{wrong[name]}'; expected one of"):
        Sandbox(**wrong)


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
