"""Sections as HTML, and pages of them as PDF, on the firm's paper.

A page needs no other files. Chromium prints it offline, and adds the page numbers. The time of printing in the PDF is
replaced by a fixed one, so that the same page gives the same bytes.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from billframes._shared.format import format_value
from billframes.errors import BillframesError, ConfigError

if TYPE_CHECKING:
    import jinja2  # Workbooks and the explorer need this module, but not jinja2.

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


class Section:
    """A section of the report, shown by a notebook. The template escapes every value."""

    def __init__(self, template: str, **values: Any) -> None:
        self._html: str = templates().get_template(template).render(**values)

    def __repr__(self) -> str:
        return f"<report section of {len(self._html):,} characters>"

    def _repr_html_(self) -> str:
        return self._html


def anchor(title: str) -> str:
    """Return the id of the section with this title."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def unbroken(text: str) -> str:
    r"""
    Return a headline whose days stay on one line.

    Examples
    --------
    >>> unbroken("Fees fell (1–14 September 2026: 26,752).")
    'Fees fell (1\u2060–\u206014\xa0September 2026: 26,752).'
    """
    return re.sub(r"(\d)–(\d+) (?=[A-Z])", "\\1\u2060–\u2060\\2\xa0", text)


@functools.cache
def templates() -> jinja2.Environment:
    """Return the package's templates, which escape every value."""
    import jinja2

    loader = jinja2.PackageLoader("billframes.report", "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"anchor": anchor, "unbroken": unbroken}
    environment.filters["money"] = lambda value: format_value(value, "money")
    return environment


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
