"""`billframes dashboard`: on this machine alone, behind a token of its own, until it is ended."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil
import pytest
from playwright.sync_api import expect

import billframes as bf
from billframes.cli import main
from billframes.widgets.dashboard import command
from tests.other_account import listening, public_folder

HERE = re.compile(r"(http|ws)://127\.0\.0\.1:|data:|blob:")


def kernels(server) -> int:
    """Count the kernels of a dashboard; one that ends meanwhile does not count."""
    found = 0
    for each in psutil.Process(server.pid).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            found += "ipykernel" in " ".join(each.cmdline())
    return found


def wait_for_kernels(server, wanted: int) -> None:
    until = time.monotonic() + 60
    while kernels(server) != wanted and time.monotonic() < until:
        time.sleep(1)
    assert kernels(server) == wanted


@contextmanager
def running(temporary, *words):
    """The demonstration's process, and the address it prints."""
    command = [sys.executable, "-m", "billframes", "dashboard", "--demo", *words]
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "TMPDIR": str(temporary)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=here) as server:
        try:
            line = server.stdout.readline()
            found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line)
            yield server, found and found[0]
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(60)


@pytest.fixture(scope="module")
def temporary():
    with public_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def dashboard(temporary):
    with running(temporary) as (server, address):
        yield address, server
    assert server.returncode == 0
    assert [path.name for path in temporary.iterdir()] == []


@pytest.fixture(scope="module")
def shown(dashboard, browser):
    """The page with the firm's figures, and so with a kernel that has them."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.outside = []
    page.on("request", lambda request: None if HERE.match(request.url) else page.outside.append(request.url))
    page.route(lambda url: not url.startswith(("http://127.0.0.1", "data:", "blob:")), lambda route: route.abort())
    page.goto(dashboard[0], wait_until="domcontentloaded", timeout=90_000)
    expect(page.locator(".bf-overview img").first).to_be_visible(timeout=90_000)
    return page


@pytest.mark.browser
@pytest.mark.slow
def test_the_demonstration_shows_the_firms_figures(shown, client):
    settings = bf.FirmSettings.load(Path(bf.__file__).parent / "report" / "demo.toml")
    row = bf.book("2026-01-01", "2026-10-31", client=client, settings=settings).utilization(by=None).iloc[0]
    figures = [f"{row['client_hours']:,.1f}", f"{row['capacity_hours']:,.1f}", f"{row['utilization']:.1%}"]
    assert shown.locator(".bf-tiles dd:not(.bf-then)").all_inner_texts()[:3] == figures
    expect(shown.locator(".bf-about").first).to_contain_text("Firm settings from demo.toml")
    assert "sandbox-full" not in shown.content()


@pytest.mark.browser
@pytest.mark.slow
def test_nothing_is_loaded_from_another_machine(shown, dashboard):
    assert shown.outside == []
    policy = httpx.get(dashboard[0].partition("?")[0]).headers["content-security-policy"]
    assert policy.startswith("default-src 'self'")


@pytest.mark.browser
@pytest.mark.slow
def test_figures_are_grey_until_the_new_ones_are_there(shown):
    shown.locator(".bf-tabs .lm-TabBar-tab", has_text="Receivables").click()
    view = shown.locator(".bf-view:visible")
    expect(shown.locator(".bf-top")).to_contain_text("1 January 2026 to 31 October 2026", timeout=30_000)
    shown.locator(".bf-quick select").select_option("Last month")
    expect(shown.locator(".bf-view.bf-busy:visible")).to_have_count(1, timeout=5_000)
    expect(shown.locator(".bf-view.bf-busy:visible")).to_have_count(0, timeout=30_000)
    expect(shown.locator(".bf-top")).to_contain_text("1 September 2026 to 30 September 2026")
    expect(view.locator(".bf-notes")).to_contain_text("Balances are those of 31 October 2026")


@pytest.mark.browser
@pytest.mark.slow
def test_without_its_token_it_shows_nothing(dashboard):
    base = dashboard[0].partition("?")[0]
    for path in ("", "api/kernels", "static/../dashboard.ipynb", "voila/files/dashboard.ipynb", "voila/files/port"):
        answer = httpx.get(base + path)
        assert answer.status_code in {302, 403, 404}, path
        assert answer.status_code != 302 or "/login" in answer.headers["location"], path


@pytest.mark.browser
@pytest.mark.slow
def test_another_account_reads_nothing_of_a_dashboard(dashboard, shown, temporary, client):
    address, process = dashboard
    base, children = address.partition("?")[0], psutil.Process(process.pid).children(recursive=True)
    # The kernel's id is on its command line, which everyone can read.
    (kernel,) = {found[1] for each in children if (found := re.search(r"kernel-([-0-9a-f]{36})", str(each.cmdline())))}
    handshake = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    pages = ["", "login", f"api/kernels/{kernel}", "voila/files/dashboard.ipynb", "voila/files/voila.log"]
    urls = [(base + page, {}) for page in pages]
    with listening(children, temporary, *urls, (f"{base}api/kernels/{kernel}/channels", handshake)) as heard:
        shown.locator(".bf-panel button:visible").first.click()
    port = int(re.search(r":(\d+)/", base)[1])
    assert port in heard.ports
    # The other is where ipykernel takes output of subprocesses that have its key; it gives none.
    assert len(heard.ports) <= 2
    assert len(heard.sockets) == 5
    assert {place for place, _ in heard.read} <= {url for url, _ in urls} | {f"{base}api/kernels/{kernel}/channels"}
    texts = " ".join(text for _, text in heard.read)
    assert "Token" in texts
    hidden = [*client.clients()["name"], *client.users()["name"], "sandbox-full", address.partition("=")[2]]
    assert [each for each in hidden if each in texts] == []


@pytest.mark.browser
@pytest.mark.slow
def test_kernels_of_closed_and_reloaded_pages_end_within_a_minute(temporary, browser):
    with running(temporary) as (server, address):
        page = browser.new_page()
        page.goto(address, wait_until="domcontentloaded", timeout=90_000)
        for _ in range(3):
            page.reload(wait_until="domcontentloaded", timeout=90_000)
        expect(page.locator(".bf-overview img").first).to_be_visible(timeout=90_000)
        wait_for_kernels(server, 1)
        page.close()
        wait_for_kernels(server, 0)


@pytest.mark.slow
def test_nobody_else_can_pass_for_the_dashboard(temporary):
    """A server that waits on the port which the dashboard is to take is not given its token."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with running(temporary, "--port", str(port)) as (server, address):
            assert address is None
            assert "Address already in use" in server.stderr.read()
        other.settimeout(0)
        with pytest.raises(BlockingIOError):
            other.accept()


@pytest.mark.slow
def test_a_folder_of_others_gives_the_server_neither_code_nor_settings(temporary, tmp_path):
    (tmp_path / "voila.py").write_text("raise SystemExit('run by a file that lay around')")
    (tmp_path / "voila.json").write_text('{"Voila": {"token": ""}}')
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "voila.json").write_text('{"Voila": {"token": ""}}')
    here = Path.cwd()
    try:
        os.chdir(tmp_path)
        os.environ["JUPYTER_CONFIG_DIR"] = str(tmp_path / "config")
        with running(temporary) as (_, address):
            assert httpx.get(address.partition("?")[0]).status_code == 302
    finally:
        os.environ.pop("JUPYTER_CONFIG_DIR")
        os.chdir(here)


def test_where_kernels_can_be_heard_the_dashboard_says_so(monkeypatch, capsys):
    monkeypatch.setattr(command, "transport_in", lambda _folder: "tcp")

    def stop(*_given):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_voila", stop)
    assert main(["dashboard", "--demo"]) == 0
    assert capsys.readouterr().err.splitlines() == [command.OPEN_KERNEL]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["2026-13", "--demo"], "2026-13"), ([], "No billing API is configured"), (["--settings", "no.toml"], "no.toml")],
)
def test_what_cannot_be_shown_is_one_sentence(capsys, arguments, said):
    assert main(["dashboard", *arguments]) == 2
    assert said in capsys.readouterr().err
