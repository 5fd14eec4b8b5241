"""Fixtures for all tests: one sandbox for the whole run, its client, a browser, and the names of doctests."""

from __future__ import annotations

import gc
import os
import signal
from collections import defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import none

from billframes.widgets.dashboard.kernel import skip_unused_grammar

# Set before matplotlib is imported, so that tests draw without a screen.
os.environ["MPLBACKEND"] = "agg"
skip_unused_grammar()

# In CI the examples are the same in each run; elsewhere they are random. No test fails because a machine is slow.
settings.register_profile("ci", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("desk", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "desk")


# Namespaces have the functions of other modules, whose examples run there.
_PACKAGES = Path(__file__).parent.glob("billframes/*/__init__.py")
collect_ignore = [str(each) for each in _PACKAGES if "= namespace(" in each.read_text(encoding="utf-8")]

# One more than two cores, because many tests wait for a browser, a kernel or a fault.
PROCESSES = 3
# The slowest files run first, so that no process runs one of them at the end while the others are idle. Among the first
# are those that mostly wait, beside those that compute.
LONGEST = (
    "tests/analysis/test_spark.py",
    "tests/bulk/test_kills.py",
    "tests/faults/",
    "tests/widgets/",
    "tests/notebooks/",
    "tests/analysis/test_engines.py",
    "tests/mirror/",
    "tests/docs/test_site.py",
    "tests/test_wings.py",
    "tests/report/",
    "tests/typing/",
    "tests/bulk/",
    "tests/sandbox/test_s",
    "tests/simulation/",
    "tests/live/",
    "tests/commands/",
    "tests/analysis/",
    "tests/assistant/",
    "tests/config/",
    "tests/credits/",
    "tests/ebilling/",
    "tests/book/",
    "tests/test_cli.py",
    "tests/test_performance.py",
    "tests/test_patterns.py",
    "tests/loaders/",
    "tests/loading/",
)
LEAVE_OUT = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests marked slow, too, as .ci/run does")
    parser.addoption(
        "--everything", action="store_true", help="run slow tests and all cases of those marked sweep, too"
    )
    parser.addoption("--every-engine", action="store_true", help="run each test of an analysis on every engine")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """
    Leave slow tests and most cases of sweeps out of a plain `pytest`, and run its files in several processes.

    Files and tests that are named run in one process, which starts faster. Without `--slow`, all of them run.
    """
    named = config.args_source is not pytest.Config.ArgsSource.TESTPATHS
    # xdist's processes parse the command line again, and do not receive the changes made here.
    config.stash[LEAVE_OUT] = config.option.slow or not (named or config.option.markexpr or config.option.everything)
    if named:
        return
    in_xdist = hasattr(config, "workerinput")
    if not in_xdist and not config.option.usepdb and getattr(config.option, "numprocesses", 0) is None:
        config.option.numprocesses, config.option.dist = PROCESSES, "loadfile"
        config.option.loadscopereorder = False


def pytest_configure() -> None:
    # A shell starts background jobs with Ctrl-C ignored, and some tests need it.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector off what is imported and collected: all of it stays until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        # Once objects are frozen, Hypothesis would find its random generator unreferenced and warn, so run it before.
        given(none())(lambda _nothing: None)()
        gc.freeze()
        # Python's default, a collection every 700 objects, takes a twentieth of the tests' time.
        gc.set_threshold(20_000)
        gc.enable()


def pytest_unconfigure() -> None:
    # Without this, DuckDB reports objects that were never freed.
    gc.unfreeze()


def left_out(items: list[pytest.Item], *, slow: bool) -> set[pytest.Item]:
    """Return the slow tests unless they are wanted, and the cases of sweeps beyond those that are kept."""
    found = {item for item in items if not slow and "slow" in item.keywords}
    sweeps = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sweep"):
            sweeps[item.nodeid.partition("[")[0]].append(item)
    for cases in sweeps.values():
        found.update(set(cases) - set(_kept(cases)))
    return found


def _kept(cases: list[pytest.Item]) -> list[pytest.Item]:
    """Return as many cases of a sweep as its mark says, evenly spaced; else each value of each parameter once."""
    keep = cases[0].get_closest_marker("sweep").kwargs.get("keep")
    if keep is not None:
        return [cases[place * (len(cases) - 1) // max(keep - 1, 1)] for place in range(keep)]
    values: dict[str, dict[int, int]] = {name: {} for name in cases[0].callspec.params}
    numbers = [
        {name: values[name].setdefault(id(value), len(values[name])) for name, value in each.callspec.params.items()}
        for each in cases
    ]
    longest = max(values, key=lambda name: len(values[name]))
    return [
        case
        for case, each in zip(cases, numbers, strict=True)
        if all(each[name] == each[longest] % len(values[name]) for name in values)
    ]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    def place(item: pytest.Item) -> int:
        return next((i for i, each in enumerate(LONGEST) if item.nodeid.startswith(each)), len(LONGEST))

    # The examples of these functions run in their own modules.
    again = "billframes/__init__.py::billframes."
    items[:] = [item for item in items if not item.nodeid.startswith(again)]
    items.sort(key=place)
    if config.stash.get(LEAVE_OUT, False):
        without = left_out(items, slow=config.option.slow)
        config.hook.pytest_deselected(items=[item for item in items if item in without])
        items[:] = [item for item in items if item not in without]


@pytest.fixture(scope="session", autouse=True)
def no_settings_of_the_machine(tmp_path_factory) -> Iterator[None]:
    """Hide the profiles, credentials and keyring of the person who runs the tests."""
    patch = pytest.MonkeyPatch()
    for name in ("BILLFRAMES_BASE_URL", "BILLFRAMES_TOKEN", "BILLFRAMES_PROFILE"):
        patch.delenv(name, raising=False)
    patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
    patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    patch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    yield
    patch.undo()


@pytest.fixture(scope="session")
def sandbox():
    """A sandbox with the small seeded firm."""
    from billframes.sandbox import Sandbox

    with Sandbox() as running:
        yield running


@pytest.fixture(scope="session")
def client(sandbox):
    """A client of that sandbox that may see rates."""
    import billframes as bf
    from tests.frames import sharing_frames

    address, token = sandbox.base_url, sandbox.tokens["full"]
    with bf.Client(address, token, health_path=sandbox.health_path) as connected, sharing_frames(connected):
        yield connected


@pytest.fixture(scope="session")
def october_book(client):
    """A book of the sandbox's last month for all tests that only read it."""
    import billframes as bf

    return bf.book("2026-10", client=client)


@pytest.fixture(scope="session")
def sql(sandbox):
    """Return a function that queries the sandbox's database, to check results independently."""
    import sqlite3

    connection = sqlite3.connect(sandbox.database)
    yield lambda query, *values: connection.execute(query, values).fetchall()
    connection.close()


@pytest.fixture(autouse=True)
def names_in_examples(request, doctest_namespace) -> None:
    """Connect billframes to the sandbox for examples, as by `bf.connect("sandbox")`."""
    if request.node.__class__.__name__ == "DoctestItem":
        import pandas as pd

        import billframes as bf
        from billframes import _session

        _session._default[:] = [request.getfixturevalue("client_of_examples")]
        doctest_namespace |= {"bf": bf, "pd": pd}


@pytest.fixture(scope="session")
def client_of_examples(sandbox):
    """A client with the firm's settings, as by `bf.connect("sandbox")`."""
    import billframes as bf
    from tests.frames import sharing_frames

    with bf.Client(sandbox.base_url, sandbox.tokens["full"]) as connected, sharing_frames(connected):
        connected.settings = bf.FirmSettings.load(sandbox.firm_settings)
        yield connected


@pytest.fixture(scope="module")
def browser():
    """
    Debian's Chromium, headless. Without it the tests are skipped, except in CI, where they fail.

    It is closed after each module, because playwright keeps an event loop running that disturbs other tests.
    """
    from billframes.errors import ConfigError
    from billframes.report.html import chromium

    try:
        executable = chromium()
    except ConfigError:
        wanted = "no Chromium on this machine: apt-get install chromium-headless-shell, or set BILLFRAMES_CHROMIUM"
        if os.environ.get("CI"):
            pytest.fail(wanted)
        pytest.skip(wanted)
    from playwright.sync_api import expect, sync_playwright

    # On a machine that is not busy, pages take less than a second.
    expect.set_options(timeout=90_000)
    quiet = ["--disable-quic", "--no-first-run", "--disable-background-networking"]
    flags = ["--no-sandbox", "--disable-gpu", *quiet, "--disable-component-update", "--disable-sync"]
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=executable, headless=True, args=flags)
        yield running
        running.close()


@pytest.fixture
def ring():
    """A keyring in memory, used instead of the machine's."""
    import keyring
    from keyring.backend import KeyringBackend

    class Ring(KeyringBackend):
        priority = 1

        def __init__(self):
            self.kept = {}

        def get_password(self, service, username):
            return self.kept.get((service, username))

        def set_password(self, service, username, password):
            self.kept[service, username] = password

        def delete_password(self, service, username):
            del self.kept[service, username]

    before, memory = keyring.get_keyring(), Ring()
    keyring.set_keyring(memory)
    yield memory
    keyring.set_keyring(before)
