"""Take the site's pictures of the report, the dashboard and the widgets with Chromium.

`site_pages.py` starts this and writes its pages in the meantime. One kernel runs the dashboard and the widgets on one
page, and another makes the report. Both load from the sandbox of `site_pages.py`.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import nbformat

from billframes.client import Client
from billframes.commands import DEMO_FIRM, DEMO_REMARK
from billframes.errors import ConfigError
from billframes.report.building import build
from billframes.report.html import chromium, print_pages
from billframes.widgets import dashboard
from billframes.widgets.dashboard.kernel import private_folder

__all__ = ["WIDGETS", "draw_pictures", "tools"]

WIDGETS = {
    "filter_panel": 'entries = bf.enrich(bf.time_entries("2026-10"))\nbf.widgets.filter_panel(entries)',
    "explore": 'bf.explore(bf.book("2026"))',
    "apply_button": (
        'entries = bf.time_entries("2026-10", billed=False).head(5)\n'
        'plan = bf.time_entries.plan(entries.assign(activity_code="A104"))\n'
        "bf.widgets.apply_button(plan)"
    ),
}
"""The code of each widget, which the gallery shows, too."""

_DASHBOARD = "from billframes.widgets.dashboard import page\nimport billframes as bf\npage()"
# The dashboard's server as in `python -m billframes.widgets.dashboard`, but it prepares no kernel for a second visit.
_SERVER = (
    "import sys; from billframes.widgets.dashboard.kernel import skip_unused_grammar; skip_unused_grammar(); "
    "from billframes.widgets.dashboard import server; server._PAUSE = 600; server.main(*sys.argv[1:])"
)
_MADE = "1 November 2026, 08:00"
_SCREENS = {"report-screen": (1280, 1760), "report-phone": (390, 844)}
_QUESTION = "#realization/by=matter/client=granite-mutual-insurance-company/2025-11..2026-10/with=year-before"
_WAIT = 120_000
_IS_BUSY = "cell => [...cell.querySelectorAll('.bf-busy, .bf-drawing')].some(each => each.offsetParent)"
# Without this, the pictures would have the fonts of the machine that builds them.
_FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
<dir>{fonts}</dir>
<cachedir>{folder}</cachedir>
<alias><family>serif</family><prefer><family>DejaVu Serif</family></prefer></alias>
<alias><family>sans-serif</family><prefer><family>DejaVu Sans</family></prefer></alias>
<alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
<match target="pattern"><edit name="hintstyle" mode="append"><const>hintslight</const></edit></match>
</fontconfig>
"""
_HIDE_OTHERS = "cell => document.querySelectorAll('.jp-Cell').forEach(each => each.hidden = each !== cell)"


def tools() -> str:
    """Return the path of Chromium, or end the build with one sentence if Chromium or pdftoppm is missing."""
    try:
        executable = chromium()
    except ConfigError:
        executable = ""
    if not executable or not shutil.which("pdftoppm"):
        raise SystemExit(
            "The site's pictures are drawn by Chromium and pdftoppm, and one of them is not on the PATH. Install both "
            "(on Debian, apt-get install chromium-headless-shell poppler-utils), or set BILLFRAMES_CHROMIUM to "
            "Chromium's path."
        )
    return executable


@contextmanager
def draw_pictures(
    folder: Path, executable: str, environment: Mapping[str, str | None], settings: str
) -> Iterator[None]:
    """
    Draw all pictures while the block runs, and wait for them at its end.

    Parameters
    ----------
    folder : Path
        The folder to write to.
    executable : str
        Chromium, as `tools` returns it.
    environment, settings
        The values of `billframes.widgets.dashboard.kernel.demonstration`.
    """
    with _fonts(), ThreadPoolExecutor(2) as threads:
        report = threads.submit(_report, folder, environment, settings)
        rest = threads.submit(_draw, folder, executable, environment, settings, report)
        yield
        rest.result()


@contextmanager
def _fonts() -> Iterator[None]:
    """Let Chromium use only matplotlib's fonts."""
    import matplotlib as mpl

    with private_folder() as folder:
        config = folder / "fonts.conf"
        config.write_text(_FONTS.format(fonts=Path(mpl.get_data_path(), "fonts", "ttf"), folder=folder), "utf-8")
        with mock.patch.dict(os.environ, FONTCONFIG_FILE=str(config)):
            yield


def _report(folder: Path, environment: Mapping[str, str | None], settings: str) -> str:
    """Draw the first page of the printed report, and return the report's HTML."""
    parameters = {"month": "2026-10", "title": DEMO_FIRM, "remark": DEMO_REMARK, "settings": settings}
    with private_folder() as private:
        page = private / "report.html"
        with Client(environment["BILLFRAMES_BASE_URL"], environment["BILLFRAMES_TOKEN"], profile="") as client:
            build({**parameters, "generated": _MADE}, page, client=client)
        text = page.read_text(encoding="utf-8")
        pdf = private / "report.pdf"
        pdf.write_bytes(print_pages([text])[0])
        command = ["pdftoppm", "-png", "-r", "80", "-l", "1", "-singlefile", pdf, folder / "report-paper"]
        subprocess.run(command, check=True)  # noqa: S603
    return text


def _draw(
    folder: Path,
    executable: str,
    environment: Mapping[str, str | None],
    settings: str,
    report: Future[str],
) -> None:
    from playwright.sync_api import sync_playwright

    with _served(environment, settings) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(_WAIT)
        page.goto(address, wait_until="domcontentloaded")
        page.locator(".bf-plan").wait_for(state="attached")
        _dashboard(page, folder)
        _explorer(page, folder)
        _others(page, folder)
        for name, (width, height) in _SCREENS.items():
            report_page = browser.new_page(viewport={"width": width, "height": height})
            report_page.set_content(report.result())
            report_page.evaluate("question => { location.hash = question }", _QUESTION)
            report_page.locator(".ask table").wait_for()
            report_page.evaluate("scrollTo(0, 0)")
            report_page.screenshot(path=folder / f"{name}.png")
        browser.close()


@contextmanager
def _served(environment: Mapping[str, str | None], settings: str) -> Iterator[str]:
    """Serve a page with the dashboard and each widget by the dashboard's server, and yield its address."""
    token = secrets.token_urlsafe(16)
    shown = {"period": "2026", "title": DEMO_FIRM, "remark": DEMO_REMARK, "settings": settings}
    start = {"variables": dict(environment), "shown": shown}
    with private_folder() as folder, (folder / "log").open("w") as log:
        notebook, port, frames = folder / "pictures.ipynb", folder / dashboard.PORT_FILE, folder / "frames"
        cells = [nbformat.v4.new_code_cell(each) for each in (_DASHBOARD, *WIDGETS.values())]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), notebook)
        frames.mkdir(mode=0o700)
        (frames / dashboard.START_FILE).write_text(json.dumps(start), encoding="utf-8")
        command = [sys.executable, "-c", _SERVER, str(notebook), "0"]
        own = {**os.environ, "JUPYTER_PREFER_ENV_PATH": "1", dashboard.FOLDER_VARIABLE: str(frames)}
        with subprocess.Popen(command, env=own, cwd=folder, stdin=subprocess.PIPE, stdout=log, stderr=log) as server:  # noqa: S603
            try:
                # The server ends when its input does.
                server.stdin.write(f"{token}\n".encode())
                server.stdin.flush()
                while not port.exists():
                    if server.poll() is not None:
                        raise RuntimeError((folder / "log").read_text())
                    time.sleep(0.1)
                yield f"http://127.0.0.1:{port.read_text()}/?token={token}"
            finally:
                server.terminate()


def _cell(page: Any, name: str) -> Any:
    """Return the cell of the dashboard or a widget, and hide the others."""
    cell = page.locator(".jp-Cell").nth(["dashboard", *WIDGETS].index(name))
    cell.evaluate(_HIDE_OTHERS)
    return cell


def _dashboard(page: Any, folder: Path) -> None:
    cell = _cell(page, "dashboard")
    _settle(page, cell)
    page.screenshot(path=folder / "dashboard.png")
    page.set_viewport_size({"width": 390, "height": 844})
    cell.locator(".bf-phone").wait_for()
    _settle(page, cell)
    cell.locator(".bf-top").scroll_into_view_if_needed()
    page.screenshot(path=folder / "dashboard-phone.png")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.locator(".bf-phone").first.wait_for(state="detached")
    _settle(page, cell)


def _explorer(page: Any, folder: Path) -> None:
    cell = _cell(page, "explore")
    _open_tab(page, cell, "Realization")
    page.screenshot(path=folder / "explore.png")
    cell.locator(".bf-hit:visible").nth(1).click()
    cell.locator(".bf-drill:visible caption").wait_for()
    _settle(page, cell)
    cell.locator(".bf-chart-box:visible").scroll_into_view_if_needed()
    page.mouse.wheel(0, 420)
    page.wait_for_timeout(400)
    page.screenshot(path=folder / "explore-rows.png")
    _open_tab(page, cell, "Work in progress")
    cell.locator(".bf-top").scroll_into_view_if_needed()
    page.screenshot(path=folder / "explore-wip.png")


def _others(page: Any, folder: Path) -> None:
    cell = _cell(page, "filter_panel")
    for name in ("client-id", "billing-type"):
        cell.locator(f".bf-{name} .bf-toggle").click()
        cell.locator(f".bf-{name} input[type=checkbox]").first.wait_for()
    cell.get_by_label("Copperline Packaging").check()
    _settle(page, cell)
    cell.screenshot(path=folder / "filter_panel.png")
    _cell(page, "apply_button").screenshot(path=folder / "apply_button.png")


def _open_tab(page: Any, cell: Any, title: str) -> None:
    cell.locator(".bf-tabs .lm-TabBar-tab", has_text=re.compile(f"^{title}$")).click()
    _settle(page, cell)


def _settle(page: Any, cell: Any) -> None:
    """Wait until no part of the cell is greyed out."""
    page.wait_for_timeout(300)
    while cell.evaluate(_IS_BUSY):
        page.wait_for_timeout(100)
