"""Errors while a page is made are one sentence, and leave an existing file unchanged."""

from __future__ import annotations

import os
import re
import sys

import nbformat
import pytest

from billframes._shared.export import write
from billframes.client import Client
from billframes.errors import AuthenticationError, ConfigError, ParameterError
from billframes.report import building
from billframes.report.building import build
from billframes.report.html import chromium, print_pages
from billframes.report.notebook import new_notebook, write_notebook
from billframes.report.outline import OUTLINE

OTHER = "<title>Report</title><body>Another page"


def test_a_wrong_credential_is_one_sentence_and_keeps_the_file(firm, out):
    out.write_text("last month's")
    with Client(firm.base_url, "wrong", profile="") as client, pytest.raises(AuthenticationError) as caught:
        build({"month": "2026-10"}, out, client=client)
    assert "\n" not in str(caught.value)
    assert "wrong" not in str(caught.value).split()
    assert out.read_text() == "last month's"
    assert [each.name for each in out.parent.iterdir()] == [out.name]


def test_the_message_about_a_missing_package_names_the_extra(monkeypatch, out):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ConfigError, match=r"needs jinja2.*pip install 'billframes\[report\]'"):
        build({"month": "2026-10"}, out)


def test_an_invalid_output_path_is_refused_before_any_work(tmp_path):
    with pytest.raises(ParameterError, match="there is no folder"):
        build({"month": "2026-10"}, tmp_path / "nowhere" / "report.html")
    with pytest.raises(ParameterError, match="there is no folder"):
        write_notebook(tmp_path / "nowhere" / "report.ipynb")
    with pytest.raises(ParameterError, match="is a folder"):
        build({"month": "2026-10"}, tmp_path)


def test_a_failed_write_leaves_no_file(monkeypatch, out):
    def fail(_self, _to):
        raise OSError("disk full")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write(out, b"<html>")
    assert not list(out.parent.iterdir())


@pytest.mark.slow
def test_reports_of_several_scopes_are_made_from_one_load(october, client, tmp_path, monkeypatch):
    loads = []
    monkeypatch.setattr(building, "load", lambda **given: loads.append(given) or october)
    outs = {code: tmp_path / f"{place}.html" for place, code in enumerate(["", "practice_area:Family"])}
    build({"month": "2026-10", "narratives": True}, outs, client=client)
    assert [each["month"] for each in loads] == ["2026-10"]
    whole, part = (path.read_text(encoding="utf-8") for path in outs.values())
    assert "Practice area: Family" in part
    assert "Practice area: Family" not in whole
    # The firm's page has sections that a part does not have.
    assert 'id="concentration"' in whole
    assert 'id="concentration"' not in part


def test_the_notebook_is_valid_and_has_the_pages_sections():
    notebook = nbformat.from_dict(new_notebook())
    nbformat.validate(notebook)
    assert [each.source for each in notebook.cells[3:]] == [each.cell for each in OUTLINE if each.on_page]


@pytest.mark.browser
@pytest.mark.slow
def test_printing_the_same_page_gives_the_same_pdf(html):
    try:
        chromium()
    except ConfigError as error:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(error))
    report, again, other = print_pages([html, html, OTHER])
    assert report[:5] == b"%PDF-"
    assert report == again != other
    assert 8 <= len(re.findall(rb"/Type\s*/Page\b", report)) <= 14
    assert set(re.findall(rb"/(?:Creation|Mod)Date \(D:(\d{14})", report)) == {b"20000101000000"}
