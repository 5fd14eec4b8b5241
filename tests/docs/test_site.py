"""The site builds without a warning, shows all charts, tables and widgets, and can be read on a phone and offline."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from bs4 import BeautifulSoup
from PIL import Image

import billframes as bf
from billframes import widgets
from tests.analysis.test_explain import SEARCHED

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


def test_no_page_scrolls_sideways_on_a_phone_or_uses_the_network(site, browser):
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme="dark")
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
    from billframes.analysis.declare.lookup import analyses

    for each in analyses().values():
        page = (site / "analyses" / f"{each.name}.html").read_text(encoding="utf-8")
        assert (f"{each.name}.png" in page) == bool(each.chart), each.name


def test_the_gallery_shows_every_chart_table_and_widget_with_its_code(site):
    page = BeautifulSoup((site / "generated" / "gallery.html").read_text(encoding="utf-8"), "html.parser")
    shown = {}
    for entry in page.select("section section section"):
        *_, last = re.findall(
            r"^(?:bf\.[\w.]+|billframes \w+)", entry.select_one(".highlight").get_text(), re.MULTILINE
        )
        shown[last] = entry.select_one("img, .wide table")
    charts = {f"bf.plots.{name}" for name in bf.plots.__all__}
    tables = {f"bf.tables.{name}" for name in bf.tables.__all__ if name != "TableOf"}
    made = {
        f"bf.{name}" if name in bf.__all__ else f"bf.widgets.{name}"
        for name in widgets.__all__
        if not isinstance(getattr(widgets, name), type)
    }
    assert set(shown) == charts | tables | made | {"billframes dashboard"}
    assert all(shown.values())


def test_the_picture_in_the_readme_is_up_to_date(site):
    """Pairs of pixels may differ a little, as fonts are drawn; a digit that changes is a larger difference."""
    kept, drawn = (
        np.asarray(Image.open(path).convert("L").reduce(2), dtype=float)
        for path in (ROOT / "docs/images/report-screen.png", site / "_images/report-screen.png")
    )
    again = "build the site, and copy docs/generated/pictures/report-screen.png to docs/images"
    assert kept.shape == drawn.shape, again
    difference = float(np.abs(kept - drawn).max())
    assert difference < 48, again


def test_without_chromium_the_build_ends_with_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("BILLFRAMES_CHROMIUM", raising=False)
    spec = importlib.util.spec_from_file_location("site_pictures", ROOT / "docs" / "site_pictures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.raises(SystemExit, match=r"drawn by Chromium and pdftoppm, and one of them is not"):
        module.tools()


def test_search_and_index_find_the_words_that_people_search(site):
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    assert {each.lower() for each in SEARCHED} - {*index["indexentries"]} == set()
    listed = (site / "genindex.html").read_text(encoding="utf-8")
    assert [each for each in SEARCHED if f"<strong>{each}</strong></a>" not in listed] == []


def test_search_finds_a_word_on_its_pages(site):
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    found = index["terms"]["credit"]
    pages = {index["docnames"][each] for each in (found if isinstance(found, list) else [found])}
    assert {"glossary", "analyses/realization"} <= pages
