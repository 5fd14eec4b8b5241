"""The record of cash forecasts and the tie-out take from a mirror what was known on a day."""

from __future__ import annotations

import datetime as dt
import sqlite3
from contextlib import closing

import pandas as pd
import pytest

import billframes as bf
from billframes.cli import main
from billframes.ledger.writing import write_report
from billframes.mirror import Mirror
from billframes.sandbox import replay
from tests.ledger.made_up import AGING

DAYS = {"as_of": "2026-10-28", "horizons": (4,)}
pytestmark = pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning")


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory) -> Mirror:
    """A mirror of 30 September, when September's bills were in review, and of 31 October."""
    path = tmp_path_factory.mktemp("replayed") / "firm"
    for nth, firm in enumerate(replay(1)):
        if not nth:
            with closing(sqlite3.connect(firm.database)) as database, database:
                changed = database.execute(
                    "UPDATE invoice SET invoice_state = 'review' "
                    "WHERE invoice_state = 'final' AND invoice_date >= '2026-09-01'"
                )
                assert changed.rowcount > 10
        with bf.Client(firm.base_url, firm.tokens["full"], progress=False) as client:
            opened = bf.mirror(path, client=client)
            opened.refresh()
    return opened


@pytest.mark.slow
def test_the_record_of_a_day_is_the_forecast_of_the_version_of_that_day(mirrored):
    truth = mirrored.as_of("2026-09-30").book("2026-09").cash_forecast(horizons=(4,)).loc[0, "cash_amount"]
    book = mirrored.book("2026-10")
    found = book.cash_forecast_record(**DAYS).set_index("as_of")
    assert found.index.tolist() == [pd.Timestamp("2026-09-30")]
    # Entries that were made later for work of earlier days are the rest of the difference.
    assert found["cash_amount"].item() == pytest.approx(truth, rel=0.03)
    alone = book.cash_forecast_record(**DAYS, became_final=None)["cash_amount"].item()
    assert abs(alone - truth) > 2 * abs(found["cash_amount"].item() - truth)


def test_only_invoices_that_were_drafts_after_their_date_are_listed(mirrored):
    first, _receipts, finals = mirrored._falls()
    before = mirrored.as_of("2026-09-30").invoices().set_index("invoice_id").loc[finals["invoice_id"]]
    assert (before["invoice_state"] == "review").all()
    assert (before["invoice_date"].dt.date <= first).all()
    assert set(finals["final_since"]) == {pd.Timestamp(mirrored.time)}


def test_the_tie_out_of_an_earlier_day_reads_the_balances_of_that_day(mirrored, tmp_path, capsys):
    file, day = tmp_path / "aging.csv", dt.date(2026, 9, 30)
    rows = {"CURRENT": [[day, "Invoice", "1", "Nobody", day, 100, 100]]}
    file.write_bytes(write_report("A/R Aging Detail Report", "As of Sep 30, 2026", AGING, rows))
    invoices = mirrored.as_of("2026-09-30").invoices(invoice_state="final")
    then = invoices.loc[invoices["invoice_date"] <= "2026-09-30", "balance"].sum()
    assert main(["tie-out", str(file), "--mirror", mirrored.path]) == 0
    assert f"Receivables on 2026-09-30: {then:,.2f} here, 1.00 in the books" in capsys.readouterr().out
