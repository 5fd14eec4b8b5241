"""Print pages to PDF, on the firm's paper.

Chromium is offline and receives the page as text. It also adds the page numbers. The time of printing in the PDF is
replaced by a fixed one, so that the same page gives the same bytes.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from billframes.errors import BillframesError, ConfigError

_CHROMIUM_NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
)
_PDF_DATE = re.compile(rb"(/(?:CreationDate|ModDate) \(D:)\d{14}([^)]*\))")
_FIXED_DATE = b"20000101000000"


def chromium() -> str:
    """Return the path of Chromium: the value of `BILLFRAMES_CHROMIUM`, or the first one on the PATH."""
    try:
        import playwright.sync_api  # noqa: F401
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"PDF reports need {error.name}, which is not installed: pip install 'billframes[report]'."
        ) from error
    named = os.environ.get("BILLFRAMES_CHROMIUM")
    if named and not Path(named).is_file():
        raise ConfigError(f"BILLFRAMES_CHROMIUM is {named!r}, but there is no such file.")
    found = named or next(filter(None, map(shutil.which, _CHROMIUM_NAMES)), None)
    if found is None:
        raise ConfigError(
            "PDF reports are printed by Chromium, which is not on the PATH. Install it, set BILLFRAMES_CHROMIUM to its "
            "path, or make the report with --format html and print that."
        )
    return found


def print_pages(pages: Sequence[str], *, paper: str = "A4") -> list[bytes]:
    """Print each page to its own PDF."""
    executable = chromium()
    from playwright.sync_api import Error, sync_playwright

    try:
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=executable, args=["--disable-gpu"])
            try:
                context = browser.new_context(offline=True, java_script_enabled=False)
                return [_print(context.new_page(), each, paper) for each in pages]
            finally:
                browser.close()
    except Error as error:
        raise BillframesError("Chromium could not print the report; --debug shows its message.") from error


def _print(page: Any, text: str, paper: str) -> bytes:
    # The page's own CSS sets margins and page numbers.
    page.set_content(text.replace("<details", "<details open"))
    pdf: bytes = page.pdf(format=paper, print_background=True, outline=True, tagged=True)
    page.close()
    return _PDF_DATE.sub(rb"\g<1>" + _FIXED_DATE + rb"\g<2>", pdf)
