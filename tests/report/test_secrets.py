"""Reports and notebooks are passed on to others, so they and the files of making them contain no credential."""

from __future__ import annotations

import json
import logging
import tempfile

import nbformat
import pytest
from nbclient import NotebookClient
from traitlets.config import Config

import billframes as bf
from billframes.report.building import build
from billframes.widgets.dashboard.kernel import private_folder, transport_in

TOKEN = "t0ken-that-nobody-sees"


def test_the_report_contains_no_credential(html, firm):
    assert firm.tokens["full"] not in html


def test_making_a_report_leaves_no_credential_in_files_or_logs(firm, out, monkeypatch, tmp_path, caplog):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    with caplog.at_level(logging.DEBUG), bf.Client(firm.base_url, TOKEN, profile="") as client:
        with pytest.raises(bf.errors.AuthenticationError) as raised:
            build({"month": "2026-10"}, out, client=client)
        assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert "401" in caplog.text
    assert TOKEN not in caplog.text + f"{raised.value} {raised.value.__cause__}"


@pytest.mark.slow
def test_outputs_of_a_notebook_contain_no_credential(firm, monkeypatch):
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
    for name, value in {"BASE_URL": firm.base_url, "TOKEN": TOKEN}.items():
        monkeypatch.setenv(f"BILLFRAMES_{name}", value)
    monkeypatch.setenv("GATEWAY_KEY", "gateway-key")
    with private_folder() as folder:
        kernel = {"transport": transport_in(folder), "connection_file": str(folder / "kernel.json")}
        config = Config(KernelManager=kernel)
        done = NotebookClient(notebook, config=config, allow_errors=True, timeout=60).execute()
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
