"""The site: it builds without a warning, its links hold, and it can be read on a phone and offline."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
READ = (
    "index.html",
    "frames.html",
    "analyses/realization.html",
    "generated/gallery.html",
    "generated/loaders/time_entries.html",
    "generated/command-line.html",
    "generated/notebooks/unbilled.html",
)
pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    built = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-d",
        built / "trees",
        "docs",
        built / "html",
    ]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert not run.stderr.strip()
    return built / "html"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_scrolls_sideways_on_a_phone_nor_asks_the_network(site, browser, scheme):
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    asked = []
    context.on("request", lambda request: asked.append(request.url))
    page = context.new_page()
    for each in READ:
        page.goto((site / each).as_uri())
        root = "document.documentElement"
        assert page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth"), each
    context.close()
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


def test_each_analysis_with_a_chart_has_its_picture(site):
    from billframes.analysis.spec import analyses

    for each in analyses().values():
        page = (site / "analyses" / f"{each.name}.html").read_text(encoding="utf-8")
        assert (f"{each.name}.png" in page) == bool(each.chart), each.name


def test_search_finds_a_word_on_its_pages(site):
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    found = index["terms"]["credit"]
    pages = {index["docnames"][each] for each in (found if isinstance(found, list) else [found])}
    assert {"glossary", "analyses/realization"} <= pages
