"""Reports and notebooks are passed on to others, so they and the files of making them contain no credential."""

from __future__ import annotations

import json
import logging
import tempfile
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import billframes as bf
from billframes.report.building import build
from billframes.report.kernel import kernel_with, private_folder

TOKEN = "t0ken-that-nobody-sees"


def test_the_report_contains_no_credential(html, environment):
    assert environment["BILLFRAMES_TOKEN"] not in html


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="other processes are looked at in /proc")
def test_making_a_report_leaves_no_credential_in_files_logs_or_commands(
    environment, out, monkeypatch, tmp_path, caplog
):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    commands, kept = [], []

    def look(_step):
        commands.append(_commands())
        kept.append([path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()])

    with caplog.at_level(logging.DEBUG), pytest.raises(bf.AuthenticationError) as raised:
        build({"month": "2026-10"}, out, environment={**environment, "BILLFRAMES_TOKEN": TOKEN}, step=look)
    assert "ipykernel" in commands[-1]
    assert TOKEN not in commands[-1] + caplog.text + f"{raised.value} {raised.value.__cause__}"
    assert not any(TOKEN.encode() in content for content in kept[-1])
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def _commands() -> str:
    """Return the command lines of all processes of this machine."""
    shown = ""
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            shown += process.read_text(errors="replace")
        except OSError:
            continue
    return shown


@pytest.mark.slow
def test_outputs_of_a_notebook_contain_no_credential(firm):
    """Also after errors: IPython's verbose traceback shows the variables of each frame."""
    cells = [
        "%xmode Verbose",
        "import logging\nlogging.basicConfig(level=logging.DEBUG)",
        'import billframes as bf\nclient = bf.connect(headers={"x-api-key": __import__("os").environ["GATEWAY_KEY"]})',
        "client",
        "vars(client), client.options, client.sources",
        'client.clients("Privileged")',
        'bf.connect("http://billing.example.com")',
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    environment = {"BILLFRAMES_BASE_URL": firm.base_url, "BILLFRAMES_TOKEN": TOKEN, "GATEWAY_KEY": "gateway-key"}
    with private_folder() as folder:
        manager = kernel_with(environment, folder)
        done = NotebookClient(notebook, allow_errors=True, timeout=60, kernel_manager_class=manager).execute()
    stored = json.dumps(done)
    assert [output.ename for cell in done.cells for output in cell.outputs if output.output_type == "error"] == [
        "AuthenticationError",
        "ConfigError",
    ]
    logged = "".join(output.text for cell in done.cells for output in cell.outputs if output.output_type == "stream")
    assert "GET /v2/custom-fields: 401 in" in logged
    assert "Privileged" not in logged
    assert TOKEN not in stored
    assert "gateway-key" not in stored
