"""Errors while a page is made are one sentence, and leave an existing file unchanged."""

from __future__ import annotations

import os
import re
import sys

import nbformat
import pytest

from billframes._shared.export import write
from billframes.errors import AuthenticationError, BillframesError, ConfigError, ParameterError
from billframes.report import building
from billframes.report.building import build
from billframes.report.notebook import new_notebook
from billframes.report.pdf import chromium, print_pages

OTHER = "<title>Report</title><body>Another page"


@pytest.mark.slow
def test_a_wrong_credential_raises_the_same_error_as_in_the_kernel(environment, out):
    out.write_text("last month's")
    with pytest.raises(AuthenticationError) as caught:
        build({"month": "2026-10"}, out, environment={**environment, "BILLFRAMES_TOKEN": "wrong"})
    assert "\n" not in str(caught.value)
    assert "wrong" not in str(caught.value).split()
    assert out.read_text() == "last month's"
    assert [each.name for each in out.parent.iterdir()] == [out.name]


def test_any_other_error_in_the_notebook_is_one_sentence_without_the_original_message():
    class Stopped:
        ename, evalue = "KeyError", "\x1b[31m'Privileged Client Inc'\x1b[0m"

    error = building._original_error(Stopped)
    assert type(error) is BillframesError
    assert str(error) == "The report's notebook stopped with KeyError; --debug shows where and why."


@pytest.mark.parametrize("name", ["papermill", "ipykernel", "jinja2"])
def test_the_message_about_a_missing_package_names_the_extra(monkeypatch, out, name):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ConfigError, match=rf"needs {name}.*pip install 'billframes\[report\]'"):
        build({"month": "2026-10"}, out)


def test_an_invalid_output_path_is_refused_before_any_work(tmp_path):
    with pytest.raises(ParameterError, match="there is no folder"):
        build({"month": "2026-10"}, tmp_path / "nowhere" / "report.html")
    with pytest.raises(ParameterError, match="is a folder"):
        build({"month": "2026-10"}, tmp_path)


def test_a_failed_write_leaves_no_file(monkeypatch, out):
    def fail(_self, _to):
        raise OSError("disk full")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write(out, b"<html>")
    assert not list(out.parent.iterdir())


def test_for_several_scopes_the_cells_after_the_load_are_repeated_and_split_again():
    notebook = new_notebook()
    first = [cell.source for cell in notebook.cells]
    shown = first[3:]
    repeated = building._repeat_cells(notebook, ["responsible:u1", "responsible:"])
    nbformat.validate(repeated)
    one, two, three = ([cell.source for cell in each.cells] for each in building._split(repeated))
    assert one == first
    assert two == ["firm = firm.only('responsible:u1')", *shown]
    assert three == ["firm = firm.only('responsible:')", *shown]
    assert sum("report.load(" in cell.source for cell in repeated.cells) == 1


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
