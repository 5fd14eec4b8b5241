"""`billframes dashboard`: on this machine alone, behind a token of its own, until it is ended."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

import billframes as bf
from billframes.cli import main


@pytest.fixture(scope="module")
def dashboard():
    """The demonstration, and the address it prints."""
    command = [sys.executable, "-m", "billframes", "dashboard", "--demo"]
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=here) as server:
        try:
            line = server.stdout.readline()
            yield re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line)[0]
        finally:
            server.send_signal(signal.SIGTERM)
        assert server.wait(20) == 0


@pytest.mark.browser
def test_the_demonstration_shows_the_firms_figures(dashboard, browser, client):
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.route(lambda url: not url.startswith(("http://127.0.0.1", "data:", "blob:")), lambda route: route.abort())
    page.goto(dashboard, wait_until="domcontentloaded")
    expect(page.locator(".bf-overview img").first).to_be_visible(timeout=90_000)
    hours = bf.book("2026-01-01", "2026-10-31", client=client).utilization(by=None)["client_hours"].iloc[0]
    expect(page.locator(".bf-tiles dd").first).to_have_text(f"{hours:,.1f}")
    assert "sandbox-full" not in page.content()


@pytest.mark.browser
def test_without_its_token_it_shows_nothing(dashboard):
    base = dashboard.partition("?")[0]
    for path in ("", "api/kernels", "static/../dashboard.ipynb"):
        answer = httpx.get(base + path)
        assert answer.status_code in {302, 403, 404}, path
        assert answer.status_code != 302 or "/login" in answer.headers["location"], path


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["2026-13", "--demo"], "2026-13"), ([], "No billing API is configured"), (["--settings", "no.toml"], "no.toml")],
)
def test_what_cannot_be_shown_is_one_sentence(capsys, arguments, said):
    assert main(["dashboard", *arguments]) == 2
    assert said in capsys.readouterr().err
