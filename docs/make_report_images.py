"""Draw the pictures of the monthly report in `docs/images`: python docs/make_report_images.py [FOLDER]

The report is that of the demonstration. The screen and the phone are screenshots by Chromium; paper is the first page
of its PDF, drawn by pdftoppm.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from billframes import cli
from billframes.report.printing import chromium, print_pages

IMAGES = Path(__file__).parent / "images"
SCREENS = {
    "report-phone": (390, 844),
    "report-900": (900, 1100),
    "report-screen": (1280, 1500),
    "report-1900": (1900, 1200),
}


def main(images: Path) -> None:
    """Make the report once, and all pictures of it."""
    with tempfile.TemporaryDirectory() as folder:
        page, pdf = Path(folder) / "report.html", Path(folder) / "report.pdf"
        if cli.main(["report", "--demo", "--out", str(page)]):
            raise SystemExit("The report could not be made.")
        pdf.write_bytes(print_pages([page.read_text(encoding="utf-8")])[0])
        paper = ["pdftoppm", "-png", "-r", "80", "-f", "1", "-l", "1", "-singlefile", pdf, images / "report-paper"]
        subprocess.run(paper, check=True)  # noqa: S603
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=chromium(), args=["--disable-gpu"])
            for name, (width, height) in SCREENS.items():
                seen = browser.new_page(viewport={"width": width, "height": height})
                seen.goto(page.as_uri())
                seen.screenshot(path=images / f"{name}.png")
            browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else IMAGES)
