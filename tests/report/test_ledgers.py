"""The report with the firm's books: what came in, the tie-out, and reports that don't fit the month."""

from __future__ import annotations

import shutil

import pandas as pd
import pytest

import billframes as bf
from billframes import report
from billframes.cli import main
from billframes.config.firm import FirmSettings
from billframes.errors import ConfigError, LedgerError
from billframes.ledger import in_report as ledger_tables
from billframes.ledger.month_reports import Ledgers, ledger_paths, read_ledgers
from billframes.ledger.writing import write_report
from billframes.report.first_page import tiles
from billframes.report.html import anchor
from billframes.report.key_points import key_points

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning")]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return bf.ledger.sandbox_reports(tmp_path_factory.mktemp("books"))


@pytest.fixture(scope="module")
def read(october, files):
    return read_ledgers(october, [*files.values()], must_fit=True)


@pytest.fixture
def month(october, read, monkeypatch):
    """The month whose figures other tests share, with the books."""
    monkeypatch.setitem(october.parts, "ledger", read)
    return october


def tile(month):
    return next(each for each in tiles(month) if each.name.startswith(("Collected", "Settled")))


def test_page_one_has_the_cash_of_the_books_or_what_is_settled_and_says_what_is_missing(month, monkeypatch):
    cash = month.parts["ledger"].payments.query("kind == 'cash' and '2026-10-01' <= payment_date <= '2026-10-31'")
    found = tile(month)
    assert found.name == "Collected"
    assert found.value == f"{cash['amount'].sum():,.0f}"
    assert "in Jan–Oct 2026" in found.lines[1]
    assert month.parts["ledger"].missing == ()
    monkeypatch.setitem(month.parts, "ledger", Ledgers())
    without = tile(month)
    assert without.name == "Settled of the month’s bills"
    ratio = month.figures_of(month.same_days(0))["settlement_ratio"]
    assert without.lines == (f"{ratio:.1%} of them so far", "no ledger: cash is not known")


def test_what_came_in_adds_up_by_lawyer_and_is_beside_fees_billed(month):
    table = ledger_tables.collected_by_responsible(month)
    for name in ("cash_amount", "collected_amount", "billed_amount", "cash_amount_to_date"):
        assert table.rows[name].sum() == pytest.approx(table.total[name].iloc[0], abs=0.01), name
    assert [each.title for each in table.columns][:3] == ["Cash", "Fees collected", "Fees billed"]
    assert table.total["billed_amount"].iloc[0] == pytest.approx(month.of("realization")["billed_amount"].iloc[0])
    assert ledger_tables.days_to_pay_by_client(month).rows["paid_amount"].sum() > 0


def test_the_tie_out_has_its_reasons_its_invoices_and_a_line_on_page_one(month):
    by_reason = ledger_tables.tie_out_by_reason(month)
    assert by_reason.total["difference_amount"].iloc[0] == pytest.approx(16_980.5)
    differ = ledger_tables.invoices_that_differ(month).rows
    assert differ["difference_amount"].sum() == pytest.approx(16_980.5)
    assert "Agrees" not in set(differ["reason"])
    (line,) = [each for each in key_points(month) if "the reports don’t show why" in each.headline]
    assert line.headline.startswith("Receivables and the books differ by 2,025 in 2 invoices or entries")
    assert f'id="{anchor(line.section)}"' in report.tie_out(month)._repr_html_()
    assert "What came in" in report.fees_collected(month)._repr_html_()


def test_reports_that_do_not_fit_the_month_are_refused(october, files, tmp_path):
    def read_all(*paths, **options):
        return read_ledgers(october, paths, **{"must_fit": True, **options})

    head = files["payments"].read_bytes()
    day = pd.Timestamp("2025-05-20").date()
    old = write_report(
        "Sales by Customer Detail",
        "January-December, 2025",
        ("Transaction date", "Transaction type", "Num", "Amount"),
        {"Acme": [[day, "Invoice", "1", 10_000]]},
        basis="Cash Basis",
    )
    for name, content in {
        "old.csv": old,
        "other.csv": files["aging"].read_bytes().replace(b"The", b"Another", 1),
        "cut.csv": head[: len(head) // 2],
        "september.csv": files["aging"].read_bytes().replace(b"Oct 31, 2026", b"Sep 30, 2026"),
        "again.csv": files["aging"].read_bytes(),
        "collections.csv": (files["aging"].read_bytes()).replace(b"A/R Aging Detail Report", b"Collections Report"),
    }.items():
        (tmp_path / name).write_bytes(content)
    for names, reason in [
        (["old.csv"], "old.csv has the payments from 1 January 2025 to 31 December 2025, not all of October 2026"),
        (["cut.csv"], "cut off"),
        (["september.csv"], "september.csv is as of 2026-09-30, not 2026-10-31"),
        (["again.csv", "../" + str(files["aging"])], "both list what is open on 2026-10-31"),
    ]:
        paths = [files["aging"] if "/" in each else tmp_path / each for each in names]
        with pytest.raises(LedgerError, match=reason):
            read_all(*paths)
    with pytest.raises(LedgerError, match="are of two companies; give those of one"):
        read_all(files["payments"], tmp_path / "other.csv")
    with pytest.raises(LedgerError, match="which the report does not use"):
        read_all(tmp_path / "collections.csv")
    # Files of a folder that are of another day are left out, and what is missing is said.
    found = read_all(tmp_path / "september.csv", must_fit=False)
    assert found.tie_out is None
    assert found.missing[1] == "A/R Aging Detail as of 31 October 2026 would show whether the books agree"


def test_the_folder_in_the_settings_is_beside_their_file(tmp_path, files):
    (tmp_path / "books").mkdir()
    shutil.copy(files["aging"], tmp_path / "books")
    (tmp_path / "books" / "~$A_R Aging Detail.xlsx").touch()
    (tmp_path / "firm.toml").write_text('[ledger]\nfolder = "books"\n')
    folder = FirmSettings.load(tmp_path / "firm.toml").books.folder
    assert [each.name for each in ledger_paths([], folder)] == ["A_R Aging Detail.csv"]
    assert [str(each) for each in ledger_paths(["x.csv"], folder)] == ["x.csv"]
    with pytest.raises(ConfigError, match="but there is no such folder"):
        ledger_paths([], str(tmp_path / "nothing"))


def test_the_command_ends_with_1_and_writes_nothing_if_a_report_is_cut_off(tmp_path, files, capsys):
    cut = tmp_path / "cut.csv"
    cut.write_bytes(files["aging"].read_bytes()[:900])
    out = tmp_path / "october.xlsx"
    assert main(["report", "--demo", "--out", str(out), "--ledger", str(cut)]) == 1
    assert "so it is cut off" in capsys.readouterr().err
    assert not out.exists()


def test_payments_of_a_part_of_the_year_are_not_the_year_to_date():
    assert not Ledgers().covers(pd.Timestamp("2026-01-01").date())
    part = Ledgers(payments=pd.DataFrame(), since=pd.Timestamp("2026-10-01").date())
    assert part.covers(pd.Timestamp("2026-10-01").date())
    assert not part.covers(pd.Timestamp("2026-01-01").date())
