"""Draw the pictures of `filtering.md` anew: the demonstration's dashboard in Chromium.

python docs/make_pictures.py            writes docs/images
python docs/make_pictures.py FOLDER     writes every tab at four widths into FOLDER, to look at
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parent / "images"
WIDTHS = (390, 900, 1280, 1900)
WAIT = 120_000


@contextmanager
def dashboard() -> Iterator[str]:
    """Run the demonstration, and give its address."""
    command = [sys.executable, "-m", "billframes", "dashboard", "--demo", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603
        try:
            line = server.stdout.readline() if server.stdout else ""
            found = re.search(r"http://\S+", line)
            if not found:
                raise SystemExit("The dashboard did not start.")
            yield found[0]
        finally:
            server.terminate()


def open_tab(page: Any, title: str) -> None:
    """Turn to a tab and wait for its figures."""
    page.locator(".bf-tabs .lm-TabBar-tab", has_text=re.compile(f"^{title}$")).click()
    settle(page)


def settle(page: Any) -> None:
    """Wait until nothing is grey."""
    grey = "() => ![...document.querySelectorAll('.bf-busy, .bf-drawing')].some(each => each.offsetParent)"
    page.wait_for_timeout(400)
    page.wait_for_function(grey, timeout=WAIT)


def documented(page: Any) -> None:
    """Write the pictures that the docs show."""
    page.set_viewport_size({"width": 1280, "height": 900})
    page.screenshot(path=IMAGES / "explore-overview.png")
    open_tab(page, "Realization")
    page.screenshot(path=IMAGES / "explore-realization.png")
    page.locator(".bf-hit:visible").nth(1).click()
    page.locator(".bf-drill:visible caption").wait_for(timeout=WAIT)
    settle(page)
    page.locator(".bf-chart-box:visible").scroll_into_view_if_needed()
    page.mouse.wheel(0, 420)
    page.wait_for_timeout(400)
    page.screenshot(path=IMAGES / "explore-rows.png")
    open_tab(page, "Work in progress")
    page.evaluate("window.scrollTo(0, 0)")
    page.screenshot(path=IMAGES / "explore-wip.png")
    for name in ("client-id", "billing-type"):
        page.locator(f".bf-{name} .bf-toggle").click()
        page.locator(f".bf-{name} input[type=checkbox]").first.wait_for(timeout=WAIT)
    page.get_by_label("Copperline Packaging").check()
    settle(page)
    page.set_viewport_size({"width": 1280, "height": 1100})
    page.evaluate("document.querySelector('.bf-side').scrollTop = 0")
    page.locator(".bf-panel").screenshot(path=IMAGES / "panel.png")
    page.set_viewport_size({"width": 390, "height": 844})
    open_tab(page, "Overview")
    page.locator(".bf-top").scroll_into_view_if_needed()
    page.screenshot(path=IMAGES / "explore-phone.png")


def every_tab(page: Any, folder: Path) -> None:
    """Write all tabs at all widths."""
    folder.mkdir(parents=True, exist_ok=True)
    titles = page.locator(".bf-tabs .lm-TabBar-tab").all_inner_texts()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for title in titles:
            open_tab(page, title.strip())
            wide = page.evaluate("document.documentElement.scrollWidth")
            sys.stdout.write(f"{width} {title.strip()}: {wide} px wide\n")
            name = title.strip().lower().replace(" ", "-")
            # The page scrolls inside an element, so a high window shows it all.
            page.set_viewport_size({"width": width, "height": 2400})
            page.screenshot(path=folder / f"{width}-{name}.png")


def main() -> None:
    """Draw them."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with dashboard() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(address, wait_until="domcontentloaded", timeout=WAIT)
        page.locator(".bf-overview img").first.wait_for(timeout=WAIT)
        settle(page)
        if sys.argv[1:]:
            every_tab(page, Path(sys.argv[1]))
        else:
            documented(page)
        browser.close()


if __name__ == "__main__":
    main()
