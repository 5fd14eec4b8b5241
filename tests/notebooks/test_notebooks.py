"""The notebooks: they run, their stored outputs are what running gives, and they read as pages."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
ALL = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def cells_of(path):
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def source(cell):
    return "".join(cell["source"])


def outputs_of(path):
    return [output for cell in cells_of(path) for output in cell.get("outputs", ())]


def test_each_question_has_its_notebook():
    assert [path.stem for path in NOTEBOOKS] == [
        "big-firm",
        "capacity",
        "cash-forecast",
        "custom-field",
        "ebilling",
        "getting-started",
        "month-on-one-page",
        "old-receivables",
        "one-table",
        "realization-fell",
        "realization-leaks",
        "receipts",
        "unbilled",
        "what-came-in",
    ]


@ALL
def test_a_notebook_is_short_and_has_a_conclusion(path):
    if path.stem != "getting-started":
        assert 6 <= len(cells_of(path)) <= 12
        assert re.search(r"\d", source(cells_of(path)[-1]))


@pytest.mark.slow
def test_running_the_notebooks_gives_the_outputs_stored_in_them():
    # A process of its own: what the notebooks connect and set stays out of this one.
    command = [sys.executable, "-m", "tests.notebooks.run_notebooks", *map(str, NOTEBOOKS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1500, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-5000:]


# Figures that a text adds up from those of the outputs.
ADDED = {
    ("custom-field", "0.2"): (91.6, -91.4),
    ("ebilling", "34,847.94"): (32206.94, 2641.00),
    ("receipts", "9,179.72"): (18179.72, -9000.00),
}


def figures_shown(path):
    texts = (
        "".join(text) for each in outputs_of(path) for text in (each.get("text", ()), *each.get("data", {}).values())
    )
    plain = re.sub(r"<[^>]+>", " ", " ".join(text for text in texts if not re.fullmatch(r"[\w+/=\s]+", text)))
    return [float(each.replace(",", "")) for each in re.findall(r"\d[\d,]*(?:\.\d+)?", plain)]


@ALL
def test_the_figures_in_a_notebooks_text_are_those_of_its_outputs(path):
    shown = figures_shown(path)
    shown += [100 * each for each in shown if each <= 10]
    words = " ".join(source(cell) for cell in cells_of(path) if cell["cell_type"] == "markdown")
    # Small whole numbers are counts that words explain; percentages and figures with separators are results.
    for said in re.findall(r"\d+(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\d+(?= ?%)", words):
        value, decimals = float(said.replace(",", "")), len(said.partition(".")[2])
        parts = ADDED.get((path.stem, said), (value,))
        assert sum(parts) == pytest.approx(value), said
        near = 0.5 * 10**-decimals + 1e-9
        assert all(any(abs(abs(part) - each) <= near for each in shown) for part in parts), (path.stem, said)


@ALL
def test_a_notebook_begins_with_its_title_and_the_sandbox(path):
    cells = cells_of(path)
    assert source(cells[0]).startswith("# ")
    code = [source(cell) for cell in cells if cell["cell_type"] == "code"]
    assert code[0].splitlines()[0] == "import billframes as bf"
    # One has a sandbox of its own, whose bookkeeper it plays, and one goes through earlier months.
    own = {
        "receipts": "from billframes.sandbox import Sandbox",
        "cash-forecast": "from billframes.sandbox import replay",
    }
    started = own.get(path.stem, 'bf.connect("sandbox"')
    assert code[0].splitlines()[1].startswith(started)
    assert cells[-1]["cell_type"] == "markdown"


@ALL
def test_one_cell_has_the_parameters_and_no_other_cell_has_a_period(path):
    """`papermill capacity.ipynb september.ipynb -p month 2026-09` adds a cell after the tagged one."""
    code = [cell for cell in cells_of(path) if cell["cell_type"] == "code"]
    tagged = [cell for cell in code if "parameters" in cell["metadata"].get("tags", [])]
    assert [source(cell) for cell in tagged] == [source(code[0])]
    names = re.findall(r"^(\w+) = .*20\d\d", source(tagged[0]), re.MULTILINE)
    assert names
    later = "\n".join(source(cell) for cell in code[1:])
    assert all(re.search(rf"\b{name}\b", later) for name in names)
    # Its periods are the examples of what a loader takes.
    if path.stem != "getting-started":
        assert re.findall(r"[\"']20\d\d[-\d\w]*[\"']", later) == []


@ALL
def test_a_sentence_stands_before_each_code_cell(path):
    cells = cells_of(path)
    for before, cell in itertools.pairwise(cells):
        if cell["cell_type"] == "code":
            assert before["cell_type"] == "markdown"


@ALL
def test_outputs_are_stored_and_show_no_warning_address_or_port(path):
    assert all(cell["execution_count"] for cell in cells_of(path) if cell["cell_type"] == "code")
    for output in outputs_of(path):
        assert output["output_type"] != "error"
        assert output.get("name") != "stderr"
        texts = json.dumps({kind: text for kind, text in output.get("data", {}).items() if kind != "image/png"})
        assert not re.search(r"0x[0-9a-f]{6,}|127\.0\.0\.1|localhost|/home/|/tmp/|Traceback", texts)


@ALL
def test_a_notebook_holds_no_machine_in_its_metadata(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["metadata"] == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    # Pictures differ with the version of matplotlib, so they alone are not compared.
    for cell in notebook["cells"]:
        assert set(cell["metadata"]) <= {"tags"}
        pictures = any("image/png" in output.get("data", {}) for output in cell.get("outputs", ()))
        assert pictures == ("nbval-ignore-output" in cell["metadata"].get("tags", []))


@ALL
def test_links_of_a_notebook_lead_somewhere(path):
    text = "\n".join(source(cell) for cell in cells_of(path) if cell["cell_type"] == "markdown")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        assert (path.parent / target).exists(), target
