"""`billframes export` writes the frame of a loader, or prints why not in one sentence."""

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
def test_spreadsheets_have_the_same_rows_and_sums(client, tmp_path, ending):
    out = tmp_path / f"invoices.{ending}"
    assert main(["export", "invoices", "-o", str(out), "2026-Q3"]) == 0
    exported = pd.read_csv(out) if ending == "csv" else pd.read_excel(out)
    loaded = client.invoices("2026-Q3")
    assert list(exported) == list(loaded)
    assert exported["invoice_id"].tolist() == loaded["invoice_id"].tolist()
    assert exported["balance"].sum() == pytest.approx(loaded["balance"].sum(), abs=0.005)


def test_filters_take_names_and_csv_takes_the_marks_of_a_country(client, tmp_path):
    out = tmp_path / "time.csv"
    name = client.time_entries("2026-10", limit=1)["client_name"].iloc[0]
    marks = ["--decimal", ",", "--delimiter", ";"]
    assert main(["export", "time_entries", "2026-10", "--client", name, "--billed", "no", *marks, "-o", str(out)]) == 0
    frame = client.time_entries("2026-10")
    wanted = frame[(frame["client_name"] == name) & ~frame["billed"]]
    exported = pd.read_csv(out, sep=";", decimal=",")
    assert exported["time_entry_id"].tolist() == wanted["time_entry_id"].tolist()
    assert exported["amount"].sum() == pytest.approx(wanted["amount"].sum())


@pytest.mark.parametrize("resource", [name for name in RESOURCES if name not in DATED])
def test_resources_without_a_period_are_exported_completely(client, tmp_path, resource):
    out = tmp_path / f"{resource}.parquet"
    assert main(["export", resource, "-o", str(out)]) == 0
    assert len(pd.read_parquet(out)) == len(getattr(client, resource)()) > 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["expences", "-o", "x.csv"], "Did you mean 'expenses'?"),
        (["clients", "2026-10", "-o", "x.csv"], "clients takes no period"),
        (["expenses", "2026-13", "-o", "x.csv"], "2026-13"),
        (["users", "--client", "Acme", "-o", "x.csv"], "users can't be filtered by --client"),
        (["expenses", "--client", "Nobody Known", "-o", "x.csv"], "No client has the name, reference or id"),
        (["expenses", "--decimal", ",", "-o", "x.csv"], "don't fit together"),
        (["expenses", "--decimal", ",", "-o", "x.xlsx"], "are for CSV files"),
        (["expenses", "2026-10", "-o", "x.docx"], "must end with one of .csv, .xlsx, .parquet"),
        (["expenses", "2026-10", "-o", "nowhere/x.csv"], "there is no folder"),
    ],
)
def test_invalid_arguments_are_refused_with_one_sentence_and_leave_no_file(tmp_path, monkeypatch, capsys, words, said):
    monkeypatch.chdir(tmp_path)
    assert main(["export", *words]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("billframes: ")
    assert said in shown
    assert list(tmp_path.iterdir()) == []


def test_a_frame_longer_than_a_sheet_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("billframes.commands.export.LONGEST_SHEET", 10)
    out = tmp_path / "x.xlsx"
    assert main(["export", "time_entries", "2026-10", "-o", str(out)]) == 2
    assert "more than an Excel sheet holds" in capsys.readouterr().err
    assert not out.exists()


def test_the_demonstration_does_not_use_the_environments_profile(tmp_path, monkeypatch):
    monkeypatch.setenv("BILLFRAMES_PROFILE", "nonesuch")
    out = tmp_path / "areas.csv"
    assert main(["export", "practice-areas", "--demo", "-o", str(out)]) == 0
    assert out.exists()
