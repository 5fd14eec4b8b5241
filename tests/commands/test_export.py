"""`billframes export` writes what the loader returns, or says in a sentence why not."""

from __future__ import annotations

import pandas as pd
import pytest

from billframes.cli import main
from billframes.commands.export import DATED, RESOURCES
from tests.frames import assert_frame_equal


@pytest.fixture(autouse=True)
def configured(sandbox, monkeypatch):
    monkeypatch.setenv("BILLFRAMES_BASE_URL", sandbox.base_url)
    monkeypatch.setenv("BILLFRAMES_TOKEN", sandbox.tokens["full"])


def test_parquet_keeps_every_cell_and_type(client, tmp_path, capsys):
    out = tmp_path / "october.parquet"
    assert main(["export", "time-entries", "2026-10", "-o", str(out)]) == 0
    assert capsys.readouterr().out.strip() == str(out)
    assert_frame_equal(pd.read_parquet(out), client.time_entries("2026-10"))


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_spreadsheets_hold_the_same_sums(client, tmp_path, ending):
    out = tmp_path / f"invoices.{ending}"
    assert main(["export", "invoices", "-o", str(out), "2026-Q3"]) == 0
    came = pd.read_csv(out) if ending == "csv" else pd.read_excel(out)
    loaded = client.invoices("2026-Q3")
    assert list(came) == list(loaded)
    assert came["invoice_id"].tolist() == loaded["invoice_id"].tolist()
    assert came["balance"].sum() == pytest.approx(loaded["balance"].sum(), abs=0.005)


@pytest.mark.parametrize("resource", [name for name in RESOURCES if name not in DATED])
def test_what_has_no_period_is_exported_whole(client, tmp_path, resource):
    out = tmp_path / f"{resource}.parquet"
    assert main(["export", resource, "-o", str(out)]) == 0
    assert len(pd.read_parquet(out)) == len(getattr(client, resource)()) > 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["expences", "-o", "x.csv"], "Did you mean 'expenses'?"),
        (["clients", "2026-10", "-o", "x.csv"], "clients takes no period"),
        (["expenses", "2026-13", "-o", "x.csv"], "2026-13"),
        (["expenses", "2026-10", "-o", "x.docx"], "must end with one of .csv, .xlsx, .parquet"),
        (["expenses", "2026-10", "-o", "nowhere/x.csv"], "there is no folder"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_leaves_no_file(tmp_path, monkeypatch, capsys, words, said):
    monkeypatch.chdir(tmp_path)
    assert main(["export", *words]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("billframes: ")
    assert said in shown
    assert list(tmp_path.iterdir()) == []


def test_no_frame_longer_than_a_sheet_is_cut(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("billframes.commands.export.LONGEST_SHEET", 10)
    out = tmp_path / "x.xlsx"
    assert main(["export", "time_entries", "2026-10", "-o", str(out)]) == 2
    assert "more than an Excel sheet holds" in capsys.readouterr().err
    assert not out.exists()
