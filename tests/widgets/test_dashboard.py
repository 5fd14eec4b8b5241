"""`billframes dashboard`: only on this machine, with a token, until it is ended."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
import webbrowser
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import httpx
import psutil
import pytest
from playwright.sync_api import expect

import billframes as bf
from billframes.cli import main
from billframes.widgets.dashboard import IDLE_VARIABLE, command, shared_frames
from billframes.widgets.dashboard.server import IDLE_SECONDS
from billframes.widgets.dashboard.shared_frames import SharedFrames
from tests.other_account import listeners_of, public_folder, read_as_nobody

HANDSHAKE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}
# The page records that a tab was grey, which can be very short.
REMEMBER_GREY = """() => {
    const grey = () => [...document.querySelectorAll('.bf-view.bf-busy')].some(each => each.offsetParent);
    const watch = new MutationObserver(() => { window.wasGrey ||= grey(); });
    watch.observe(document.body, {subtree: true, attributes: true, attributeFilter: ['class']});
}"""
HERE = re.compile(r"(http|ws)://127\.0\.0\.1:|data:|blob:")


def commands(server) -> list[tuple[psutil.Process, str]]:
    """Return the processes of a dashboard with their command lines, without those that have ended."""
    found = []
    for each in psutil.Process(server.pid).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            found.append((each, " ".join(each.cmdline())))
    return found


def kernels(server) -> int:
    return sum("ipykernel" in words for _, words in commands(server))


def wait_for_kernels(server, wanted: int) -> None:
    until = time.monotonic() + 180
    while kernels(server) != wanted and time.monotonic() < until:
        time.sleep(1)
    assert kernels(server) == wanted


@contextmanager
def running(temporary, *words, where=None, **variables):
    """Start a dashboard, and return its process and the address that it prints."""
    command = [sys.executable, "-m", "billframes", "dashboard", "--no-browser", *words]
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "TMPDIR": str(temporary), **variables}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=here, cwd=where
    ) as server:
        try:
            line = server.stdout.readline()
            found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line)
            yield server, found and found[0]
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(120)


def opened(browser, address):
    """Open the dashboard, and wait for its figures. The page can connect only to this machine."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.set_default_timeout(90_000)
    page.requests_outside = []
    page.on("request", lambda request: None if HERE.match(request.url) else page.requests_outside.append(request.url))
    page.route(lambda url: not url.startswith(("http://127.0.0.1", "data:", "blob:")), lambda route: route.abort())
    page.goto(address, wait_until="domcontentloaded", timeout=90_000)
    expect(page.locator(".bf-report .tile").first).to_be_visible()
    return page


@pytest.fixture(scope="module")
def temporary():
    with public_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def dashboard(temporary):
    # Kernels without a page end sooner than usual, but not before a slow page has connected.
    with running(temporary, "--demo", **{IDLE_VARIABLE: "20"}) as (server, address):
        yield address, server
    assert server.returncode == 0
    assert [path.name for path in temporary.iterdir()] == []


@pytest.fixture(scope="module")
def shown(dashboard, browser):
    """The page with the firm's figures."""
    return opened(browser, dashboard[0])


@pytest.fixture(scope="module")
def offline(temporary, tmp_path_factory, client):
    """The dashboard of a mirror, started in a folder with code and settings, and a socket in place of the API."""
    folder = tmp_path_factory.mktemp("others")
    (folder / "voila.py").write_text("raise SystemExit('run by a file that lay around')")
    (folder / "config").mkdir()
    for place in (folder, folder / "config"):
        (place / "voila.json").write_text('{"Voila": {"token": ""}}')
    mirror = bf.mirror(folder / "mirror", client=client)
    mirror.refresh()
    with socket.create_server(("127.0.0.1", 0)) as api:
        api.settimeout(0)
        variables = {
            "BILLFRAMES_BASE_URL": f"http://127.0.0.1:{api.getsockname()[1]}",
            "BILLFRAMES_TOKEN": "never-sent",
            "JUPYTER_CONFIG_DIR": str(folder / "config"),
        }
        words = ("2026-Q3", "--mirror", str(folder / "mirror"), "--title", "Mirrored & Co")
        with running(temporary, *words, where=folder, **variables) as (_server, address):
            yield address, api


@pytest.mark.browser
@pytest.mark.slow
def test_the_demonstration_shows_the_firms_figures(shown, client):
    settings = bf.FirmSettings.load(Path(bf.__file__).parent / "sandbox" / "firm.toml")
    row = bf.book("2026-01-01", "2026-10-31", client=client, settings=settings).utilization(by=None).iloc[0]
    figures = [f"{row['client_hours']:,.1f}h", f"{row['utilization']:.1%}"]
    assert shown.locator(".tile .value").all_inner_texts()[:2] == figures
    assert "sandbox-full" not in shown.content()
    expect(shown.locator(".bf-top")).to_contain_text("Harrow & Lindqvist LLP")
    expect(shown.locator(".bf-top")).to_contain_text("made up")
    # The period, the filters and the tabs are in two lines, so that the figures are in the first screen of a laptop.
    shown.set_viewport_size({"width": 1280, "height": 800})
    for line in (".bf-tabs .lm-TabBar-tab", ":is(.bf-quick select, .bf-unfold, .bf-again)"):
        tops = [each.bounding_box()["y"] for each in shown.locator(line).all()]
        assert len(tops) > 2
        assert max(tops) - min(tops) < 9
    assert shown.locator(".tile").first.bounding_box()["y"] < 220
    expect(shown.locator(".to-do h2")).to_be_in_viewport()
    shown.set_viewport_size({"width": 1400, "height": 900})


@pytest.mark.browser
@pytest.mark.slow
def test_the_dashboard_of_a_mirror_sends_no_request_to_the_api(offline, browser, client):
    address, api = offline
    page = opened(browser, address)
    hours = f"{bf.book('2026-Q3', client=client).utilization(by=None).iloc[0]['client_hours']:,.1f}h"
    expect(page.locator(".tile .value").first).to_have_text(hours)
    expect(page.locator(".bf-top")).to_contain_text("July–September 2026Mirrored & Co")
    page.locator(".bf-again").click()
    expect(page.locator(".bf-again")).to_have_text("Load the data again")
    expect(page.locator(".tile .value").first).to_have_text(hours)
    with pytest.raises(BlockingIOError):
        api.accept()
    page.close()


@pytest.mark.slow
def test_the_server_reads_no_code_and_no_settings_from_the_current_folder(offline):
    assert httpx.get(offline[0].partition("?")[0], timeout=60).status_code == 403


def test_pages_share_the_records_that_the_first_one_loaded(client, tmp_path, monkeypatch):
    loads = []
    monkeypatch.setattr(
        shared_frames, "default_client", lambda: SimpleNamespace(users=lambda: loads.append(1) or client.users())
    )
    first, second = SharedFrames(tmp_path / "frames"), SharedFrames(tmp_path / "frames")
    assert first.users().equals(second.users())
    assert len(loads) == 1
    assert second.users().attrs["load"]["resource"] == "users"
    assert stat.S_IMODE((tmp_path / "frames").stat().st_mode) == 0o700
    second.clear()
    first.users()
    assert len(loads) == 2


def test_kernels_without_a_page_end_within_a_minute():
    assert IDLE_SECONDS * 4 / 3 <= 60


@pytest.mark.browser
@pytest.mark.slow
def test_nothing_is_loaded_from_another_machine(shown, dashboard):
    assert shown.requests_outside == []
    policy = httpx.get(dashboard[0].partition("?")[0], timeout=60).headers["content-security-policy"]
    assert policy.startswith("default-src 'self'")


@pytest.mark.browser
@pytest.mark.slow
def test_figures_are_grey_until_the_new_ones_are_complete(shown):
    shown.locator(".bf-tabs .lm-TabBar-tab", has_text="Receivables").click()
    view = shown.locator(".bf-view:visible")
    expect(shown.locator(".bf-top")).to_contain_text("January–October 2026")
    expect(shown.locator(".bf-view.bf-busy:visible")).to_have_count(0)
    shown.evaluate(REMEMBER_GREY)
    shown.locator(".bf-quick select").select_option("Last month")
    expect(shown.locator(".bf-top")).to_contain_text("September 2026")
    expect(shown.locator(".bf-view.bf-busy:visible")).to_have_count(0)
    assert shown.evaluate("() => window.wasGrey")
    expect(view.locator(".bf-notes")).to_contain_text("Balances are those of 31 October 2026")


@pytest.mark.browser
@pytest.mark.slow
def test_on_a_phone_charts_are_drawn_for_its_width_and_do_not_scroll(shown):
    # A chart for a phone is about as high as it is wide.
    boxes = """() => [...document.querySelectorAll('.bf-chart-box')]
        .filter(box => box.offsetParent && box.querySelector('img'))
        .map(box => [box.scrollWidth - box.clientWidth, box.querySelector('img').naturalWidth])"""
    shown.set_viewport_size({"width": 390, "height": 844})
    expect(shown.locator(".bf-explore.bf-phone .bf-view:not(.bf-busy):visible")).to_have_count(1)
    expect(shown.locator(".bf-drawing:visible")).to_have_count(0)
    expect(shown.locator(".bf-chart-box:visible img")).to_have_count(1)
    ((beyond, width),) = shown.evaluate(boxes)
    assert beyond == 0
    assert width <= 450
    for tab in ("Receivables", "Overview"):
        shown.locator(".bf-tabs .lm-TabBar-tab", has_text=tab).click()
        expect(shown.locator(".bf-view.bf-busy:visible")).to_have_count(0)
        assert shown.evaluate("document.documentElement.scrollWidth") == 390
    shown.locator(".bf-tabs .lm-TabBar-tab", has_text="Receivables").click()
    shown.set_viewport_size({"width": 1400, "height": 900})
    expect(shown.locator(".bf-explore.bf-phone")).to_have_count(0)
    expect(shown.locator(".bf-view.bf-busy:visible, .bf-drawing:visible")).to_have_count(0)
    assert all(width > 700 for _, width in shown.evaluate(boxes))


@pytest.mark.browser
@pytest.mark.slow
def test_without_the_token_no_page_can_be_read_and_one_says_what_to_do(dashboard, browser):
    base = dashboard[0].partition("?")[0]
    wrong = ("?token=of-yesterday", "?tab=receivables", "login", "login?next=%2F")
    for path in ("", *wrong, "api/kernels", "static/../dashboard.ipynb", "voila/files/dashboard.ipynb"):
        answer = httpx.get(base + path, timeout=60)
        assert answer.status_code in {302, 403, 404}, path
        assert answer.status_code != 302 or "/login" in answer.headers["location"], path
    # Another browser, without the cookie.
    page = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
    for path in ("", *wrong):
        page.goto(base + path)
        expect(page.locator("h1")).to_have_text("This dashboard opens with its full address")
        expect(page.locator("p").first).to_contain_text(f"printed in the terminal. It begins with {base}?token=")
        expect(page.locator("input")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.context.close()


@pytest.mark.browser
@pytest.mark.slow
def test_the_token_leaves_the_address_and_a_cookie_of_the_session_takes_over(shown, dashboard):
    base, _, token = dashboard[0].partition("?token=")
    assert shown.url.partition("?")[0] == base
    assert shown.evaluate("document.referrer + location.href + document.cookie").find(token) == -1
    cookies = [each for each in shown.context.cookies() if each["name"].startswith("username-")]
    assert [(each["httpOnly"], each["sameSite"], each["path"], each["expires"]) for each in cookies] == [
        (True, "Strict", "/", -1)
    ]
    shown.go_back()
    assert token not in shown.url
    # An address that can't be applied, without the token.
    shown.goto(f"{base}?tab=receivables&client=nobody", wait_until="domcontentloaded")
    expect(shown.locator(".bf-report .tile").first).to_be_visible()
    expect(shown.locator(".bf-complaint", has_text="client=nobody")).to_have_text(
        "The address has client=nobody, but no record here has this value. Nothing of the address is applied."
    )
    expect(shown).to_have_url(f"{base}?tab=overview&period=2026")


@pytest.mark.browser
@pytest.mark.slow
def test_the_address_has_the_tab_the_period_the_filters_and_the_open_row_and_the_browser_goes_back(
    dashboard, shown, browser
):
    base, _, token = dashboard[0].partition("?token=")
    shown.locator(".bf-quick select").select_option("This month")
    expect(shown).to_have_url(f"{base}?tab=overview&period=2026-10")
    shown.locator(".tile a", has_text="Receivables").click()
    expect(shown).to_have_url(f"{base}?tab=receivables&period=2026-10")
    shown.locator(".bf-view:visible .bf-by select").select_option("Responsible lawyer")
    shown.locator(".bf-unfold").click()
    shown.locator(".bf-billing-type .bf-toggle").click()
    shown.get_by_label(re.compile("^Billable")).check()
    filtered = f"{base}?tab=receivables&by=responsible&period=2026-10&billing_type=billable"
    expect(shown).to_have_url(filtered)
    expect(shown.locator(".bf-unfold")).to_contain_text("Filters: 1")
    shown.locator(".bf-hit:visible").first.click()
    rows = shown.locator(".bf-drill:visible caption")
    expect(rows).to_be_visible()
    expect(shown).to_have_url(re.compile("&row="))
    drilled, caption = shown.url, rows.inner_text()
    # Each view is an entry of the browser's history.
    shown.go_back()
    expect(rows).to_have_count(0)
    expect(shown).to_have_url(filtered)
    shown.go_back()
    expect(shown.locator(".bf-unfold")).to_contain_text("Filters: none")
    for _ in range(2):
        shown.go_back()
    expect(shown).to_have_url(f"{base}?tab=overview&period=2026-10")
    expect(shown.locator(".tile:visible").first).to_be_visible()
    for _ in range(4):
        shown.go_forward()
        shown.wait_for_timeout(400)
    expect(rows).to_have_text(caption)
    expect(shown).to_have_url(drilled)
    figure = shown.locator(".bf-tiles:visible dd").first.inner_text()
    # Opened in another browser with the token.
    other = browser.new_context().new_page()
    other.goto(f"{shown.url}&token={token}", wait_until="domcontentloaded")
    expect(other.locator(".bf-explore.bf-there")).to_have_count(1)
    expect(other.locator(".bf-summary")).to_have_text("Period: 1 Oct 2026 to 31 Oct 2026 · Billing type: Billable")
    expect(other.locator(".bf-tiles:visible dd").first).to_have_text(figure)
    expect(other.locator(".bf-drill:visible caption")).to_have_text(caption)
    expect(other).to_have_url(drilled)
    other.context.close()


@pytest.mark.browser
@pytest.mark.slow
def test_only_the_own_host_is_served_and_only_own_pages_connect_to_kernels(shown, dashboard):
    base, _, token = dashboard[0].partition("?token=")
    kernel = shown.evaluate("JSON.parse(document.getElementById('jupyter-config-data').textContent).kernelId")
    for host in ("rebound.example", "rebound.example:80", "127.0.0.1.rebound.example", "localhost.rebound.example", ""):
        for path in ("", f"?token={token}", "login", f"api/kernels/{kernel}", "voila/static/voila.js"):
            answer = httpx.get(base + path, headers={"Host": host, "Authorization": f"token {token}"}, timeout=60)
            assert (answer.status_code, answer.text) == (403, "The dashboard is at 127.0.0.1 only."), (host, path)
            assert "set-cookie" not in answer.headers
    own, channels = base.rstrip("/"), f"{base}api/kernels/{kernel}/channels"
    cookie = "; ".join(f"{each['name']}={each['value']}" for each in shown.context.cookies())
    for origin in ("http://rebound.example", "http://127.0.0.1:1", "null"):
        head = {**HANDSHAKE, "Cookie": cookie, "Origin": origin}
        assert httpx.get(channels, headers=head, timeout=60).status_code == 403, origin
    with handshake(base, kernel, token, Origin=own) as accepted:
        assert accepted.recv(12) == b"HTTP/1.1 101"


@pytest.mark.browser
@pytest.mark.slow
def test_another_account_reads_nothing_of_a_dashboard(dashboard, shown, temporary, client):
    address, process = dashboard
    # The kernel of the page, and the ready one.
    wait_for_kernels(process, 2)
    base, children = address.partition("?")[0], psutil.Process(process.pid).children(recursive=True)
    until = time.monotonic() + 90
    while len(listeners_of(children).sockets) < 10 and time.monotonic() < until:
        time.sleep(0.2)
    kernel = shown.evaluate("JSON.parse(document.getElementById('jupyter-config-data').textContent).kernelId")
    # The id of a kernel is on its command line, which every user can read.
    assert any(kernel in words for _, words in commands(process))
    pages = ["", "login", f"api/kernels/{kernel}", "voila/files/dashboard.ipynb", "voila/files/voila.log"]
    urls = [(base + page, {}) for page in pages]
    with read_as_nobody(children, temporary, *urls, (f"{base}api/kernels/{kernel}/channels", HANDSHAKE)) as found:
        shown.locator(".bf-panel button:visible").first.click()
    port = int(re.search(r":(\d+)/", base)[1])
    assert port in found.ports
    # On the other ports ipykernel receives output of subprocesses that have its key. It sends none.
    assert len(found.ports) <= 3
    assert len(found.sockets) == 10
    assert {place for place, _ in found.read} <= {url for url, _ in urls} | {f"{base}api/kernels/{kernel}/channels"}
    texts = " ".join(text for _, text in found.read)
    assert "opens with its full address" in texts
    hidden = [*client.clients()["name"], *client.users()["name"], "sandbox-full", address.partition("=")[2]]
    assert [each for each in hidden if each in texts] == []


@pytest.mark.browser
@pytest.mark.slow
def test_pages_that_are_opened_at_once_all_appear_and_kernels_of_closed_and_reloaded_ones_end(
    dashboard, shown, browser
):
    """On a busy machine, kernels need longer for their first output than Voila usually waits."""
    address, server = dashboard
    context = browser.new_context()
    pages = [context.new_page() for _ in range(2)]
    for page in pages:
        page.goto(address, wait_until="commit", timeout=180_000)
    for page in pages:
        expect(page.locator(".bf-report .tile").first).to_be_visible(timeout=240_000)
    pages[0].reload(wait_until="domcontentloaded", timeout=90_000)
    context.close()
    # The kernel of the open page, and the ready one.
    wait_for_kernels(server, 2)
    expect(shown.locator("#bf-ended")).to_be_hidden()


@pytest.mark.browser
@pytest.mark.slow
def test_a_page_that_is_closed_before_it_is_connected_is_not_counted(dashboard, shown):
    base, _, token = dashboard[0].partition("?token=")
    kernel = shown.evaluate("JSON.parse(document.getElementById('jupyter-config-data').textContent).kernelId")
    for _ in range(20):
        handshake(base, kernel, token).close()
    said = "id => fetch(`/api/kernels/${id}`).then(answer => answer.json()).then(answer => answer.connections)"
    until = time.monotonic() + 90
    while shown.evaluate(said, kernel) != 1 and time.monotonic() < until:
        time.sleep(0.2)
    # No closed connection is counted later.
    time.sleep(0.5)
    assert shown.evaluate(said, kernel) == 1


def handshake(base: str, kernel: str, token: str, **more: str) -> socket.socket:
    """Request a connection to a kernel without waiting for the response."""
    head = {**HANDSHAKE, **more, "Host": base.split("/")[2], "Authorization": f"token {token}"}
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    asked = socket.create_connection(("127.0.0.1", int(base.rstrip("/").rpartition(":")[2])))
    asked.sendall(f"GET /api/kernels/{kernel}/channels?session_id=left HTTP/1.1\r\n{lines}\r\n".encode())
    return asked


def ready_kernel(server, shown) -> tuple[psutil.Process, str]:
    """Return the process and id of the ready kernel."""
    taken = shown.evaluate("JSON.parse(document.getElementById('jupyter-config-data').textContent).kernelId")
    for each, words in commands(server):
        found = re.search(r"kernel-([0-9a-f-]{36})\.json", words)
        if "ipykernel" in words and found and found[1] != taken:
            return each, found[1]
    raise AssertionError("no kernel is ready")


@pytest.mark.browser
@pytest.mark.slow
def test_a_connection_that_is_closed_before_it_is_opened_is_never_counted(dashboard, shown):
    """While the ready kernel can't give its first answer, Jupyter waits to open the connection."""
    base, _, token = dashboard[0].partition("?token=")
    wait_for_kernels(dashboard[1], 2)
    process, kernel = ready_kernel(dashboard[1], shown)
    said = "id => fetch(`/api/kernels/${id}`).then(answer => answer.json()).then(answer => answer.connections)"
    process.suspend()
    try:
        with handshake(base, kernel, token):
            time.sleep(0.5)
        time.sleep(0.5)
        assert shown.evaluate(said, kernel) == 0
    finally:
        process.resume()
    # The kernel answers now, and Jupyter alone would open and count the closed connection.
    counts = set()
    for _ in range(10):
        time.sleep(0.2)
        counts.add(shown.evaluate(said, kernel))
    assert counts == {0}


@pytest.mark.browser
@pytest.mark.slow
def test_a_page_shows_a_message_if_its_kernel_or_the_server_has_ended(shown):
    for answer, words in (
        (lambda route: route.fulfill(status=404), "Reload the page"),
        (lambda route: route.abort(), "billframes dashboard"),
    ):
        shown.route("**/api/kernels/*", answer)
        # A click checks at once.
        shown.mouse.click(2, 2)
        expect(shown.locator("#bf-ended")).to_contain_text(words)
        shown.unroute("**/api/kernels/*")
    shown.mouse.click(2, 2)
    expect(shown.locator("#bf-ended")).to_be_hidden()


@pytest.mark.slow
def test_another_server_on_the_port_does_not_receive_the_token(temporary):
    """If another server uses the port, the dashboard ends and sends it no token."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with running(temporary, "--demo", "--port", str(port)) as (server, address):
            assert address is None
            assert "Address already in use" in server.stderr.read()
        other.settimeout(0)
        with pytest.raises(BlockingIOError):
            other.accept()


def test_the_browser_opens_a_file_and_its_command_line_has_no_token(monkeypatch, tmp_path):
    given = []

    class Browser:
        def open(self, address):
            given.append(address)

    monkeypatch.setattr(command.webbrowser, "get", Browser)
    monkeypatch.setattr(
        command.threading, "Thread", lambda target, args, daemon: SimpleNamespace(start=lambda: target(*args))
    )
    command._open_browser("http://127.0.0.1:1/?token=secret", tmp_path)
    assert given == [(tmp_path / "open.html").as_uri()]
    assert "token=secret" in (tmp_path / "open.html").read_text()
    # A browser for terminals is not started.
    monkeypatch.setattr(command.webbrowser, "get", lambda: webbrowser.GenericBrowser("lynx"))
    command._open_browser("http://127.0.0.1:1/?token=secret", tmp_path)
    assert len(given) == 1


def test_without_private_sockets_the_dashboard_prints_a_warning(monkeypatch, capsys):
    monkeypatch.setattr(command, "transport_in", lambda _folder: "tcp")

    def stop(*_given):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_started_server", stop)
    assert main(["dashboard", "--demo"]) == 0
    assert capsys.readouterr().err.splitlines() == [command.NO_PRIVATE_SOCKETS]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["2026-13", "--demo"], "2026-13"), ([], "No billing API is configured"), (["--settings", "no.toml"], "no.toml")],
)
def test_an_invalid_argument_is_refused_with_one_sentence(capsys, arguments, said):
    assert main(["dashboard", *arguments]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.browser
@pytest.mark.slow
def test_a_page_whose_kernel_has_died_says_so_and_a_ready_kernel_that_has_died_is_replaced(dashboard, shown):
    _, server = dashboard
    own = shown.evaluate("JSON.parse(document.getElementById('jupyter-config-data').textContent).kernelId")
    wait_for_ready_kernel(server, shown)
    for process, words in commands(server):
        if "ipykernel" in words:
            process.kill()
    expect(shown.locator("#bf-ended")).to_contain_text("Reload the page", timeout=60_000)
    assert own not in " ".join(words for _, words in commands(server))
    shown.locator("#bf-ended a").click()
    expect(shown.locator(".bf-tiles:visible").first).to_be_visible()
    expect(shown.locator("#bf-ended")).to_be_hidden()


def wait_for_ready_kernel(server, page) -> None:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        with contextlib.suppress(AssertionError):
            ready_kernel(server, page)
            return
        time.sleep(0.5)


@pytest.mark.browser
@pytest.mark.slow
def test_nothing_is_left_if_the_command_or_the_server_is_killed_and_an_old_page_says_so(browser):
    with socket.create_server(("127.0.0.1", 0)) as free:
        words = ("--demo", "--port", str(free.getsockname()[1]))
    page = browser.new_page()
    for killed in ("server", "command"):
        with public_folder() as folder, running(folder, *words) as (command, address):
            if killed == "server":
                page.goto(address, wait_until="domcontentloaded", timeout=90_000)
            else:
                page.mouse.click(2, 2)
                expect(page.locator("#bf-ended")).to_contain_text("was started again", timeout=60_000)
                expect(page.locator("#bf-ended a")).to_have_count(0)
            others = [each for each, _ in commands(command)]
            server = next(each for each, words in commands(command) if "billframes.widgets.dashboard" in words)
            (server if killed == "server" else command).kill()
            if killed == "server":
                assert "The dashboard's server ended" in command.stderr.read()
            _, alive = psutil.wait_procs(others, timeout=60)
            assert alive == []
            command.wait(60)
            # A kernel that was just starting ends later. The made-up firm is in the command's own process.
            until = time.monotonic() + 60
            while left := [each for each in folder.iterdir() if not each.name.startswith("billframes-sandbox")]:
                assert time.monotonic() < until, left
                time.sleep(0.2)
            page.mouse.click(2, 2)
            expect(page.locator("#bf-ended")).to_contain_text("The dashboard has ended", timeout=60_000)
    page.close()
