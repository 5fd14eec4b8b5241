"""Each difference between the billing system and the books has a reason, and the reasons add up to it."""

from __future__ import annotations

import time

import pandas as pd
import pytest

import billframes as bf
from billframes import FirmSettings
from billframes.analysis import aging, tie_out
from billframes.cli import main
from billframes.errors import IncompleteDataWarning, LedgerError, ParameterError
from billframes.ledger import read_ledger
from billframes.ledger.writing import write_report
from billframes.loading.load_info import attach
from billframes.mirror.side_tables import LedgerTable
from billframes.sandbox import Sandbox

from .made_up import AGING, Firm
from .test_reading import SAMPLES

OURS = pd.read_csv(
    SAMPLES / "our_invoices.csv", parse_dates=["invoice_date", "due_date"], dtype={"invoice_number": "str"}
)
LEDGER = read_ledger(SAMPLES / "qbo_ar_aging_detail.csv")
HISTORY = read_ledger(SAMPLES / "qbo_invoice_list_by_date.csv")
DAY = "2026-10-31"
REASONS = {
    "agrees": (3, 0.0),
    "paid_in_ledger": (2, 1100.0),
    "paid_here": (2, -800.0),
    "unapplied_in_ledger": (2, 0.0),
    "amount_differs": (2, 100.01),
    "not_final_here": (1, -500.0),
    "voided_in_ledger": (1, 3200.0),
    "missing_in_ledger": (1, 640.0),
    "missing_here": (1, -2000.0),
    "duplicate_number": (1, -120.0),
    "credit_in_ledger": (1, 80.0),
    "journal_in_ledger": (1, 45.0),
    "not_in_any_customer": (1, -100.0),
}


def compared(by="invoice", **options):
    return tie_out(OURS, ledger=LEDGER, as_of=DAY, by=by, **{"history": HISTORY, "control": 8605.49, **options})


def test_the_sample_ties_out_by_reason_and_client_up_to_the_general_ledger():
    by_reason = compared("reason").set_index("reason")
    got = {name: (row["rows"], row["difference_amount"]) for name, row in by_reason.iterrows()}
    assert got == REASONS
    by_client = compared("client")
    assert round(by_client["difference_amount"].sum(), 2) == 1645.01
    rows = compared()
    assert rows.attrs["tie_out"] == {
        "as_of": DAY,
        "file": "qbo_ar_aging_detail.csv",
        "balance": 10250.50,
        "ledger_balance": 8605.49,
        "difference_amount": 1645.01,
    }
    assert rows["balance"].sum() == aging(OURS, as_of=DAY, by=None)["total"].iloc[0]


def test_a_pair_says_by_what_it_was_matched_and_what_differs_without_moving_money():
    rows = compared().set_index("invoice_number")
    both = rows.loc["1014"]
    assert (both["difference_amount"], both["billed_difference_amount"], both["settled_difference_amount"]) == (
        -300.0,
        100.0,
        -400.0,
    )
    assert (both["reason"], both["also"]) == ("paid_here", "amount_differs")
    assert rows.loc["1009", ["matched_by", "also"]].to_list() == ["similar number", "number, date, customer"]
    assert rows.loc["1003", "group"] == rows.loc["4471", "group"] == 1
    renumbered = OURS.assign(invoice_number=OURS["invoice_number"].replace("1004", "9999"))
    renumbered["amount"] = renumbered["amount"].replace(980.50, 980.49)
    rows = tie_out(renumbered, ledger=LEDGER, as_of=DAY).set_index("invoice_number")
    assert rows.loc["9999", "matched_by"] == "client and amount"


def test_without_history_nobody_can_tell_what_became_of_an_invoice():
    rows = compared(history=None).set_index("invoice_number")
    assert set(rows.loc[["1005", "1006", "1013"], "reason"]) == {"not_in_report"}


def test_customers_in_the_settings_are_clients_and_others_are_counted_in_a_warning():
    renamed = LEDGER.replace({"customer": {"Marlow & Finch": "M&F (2019) LLP"}})
    renamed.attrs = LEDGER.attrs
    with pytest.warns(IncompleteDataWarning, match="1 customer matches no client, 40.00 in all. Name them in the set"):
        tie_out(OURS, ledger=renamed, as_of=DAY)
    settings = FirmSettings(ledger={"customers": {"M&F (2019) LLP": "c-marlow"}})
    rows = tie_out(OURS, ledger=renamed, as_of=DAY, settings=settings)
    assert rows["client_name"].eq("Marlow & Finch").sum() == 4


def test_a_history_is_of_the_same_company_and_tells_only_of_its_days():
    for other, reason in (
        (LEDGER, "is ar_aging_detail, which does not list all invoices; export Invoice List by Date"),
        (HISTORY.pipe(of_company, "Another LLP"), "are of two companies"),
    ):
        with pytest.raises(LedgerError, match=reason):
            compared(history=other)
    with pytest.raises(ParameterError, match="history is a DataFrame; pass the frame that bf.read_ledger returns"):
        compared(history=OURS)
    october = HISTORY[HISTORY["date"] >= "2026-10-01"]
    october.attrs = {"ledger": HISTORY.attrs["ledger"] | {"start": "2026-10-01"}}
    rows = compared(history=october).set_index("invoice_number")
    assert rows.loc[["1005", "1006", "1013"], "reason"].to_list() == [
        "not_in_report",
        "missing_in_ledger",
        "not_in_report",
    ]


def test_an_invoice_sent_again_is_the_one_that_was_paid_and_not_the_one_that_was_voided():
    again = pd.concat([HISTORY, HISTORY[HISTORY["number"] == "1005"].assign(amount=3200.0, voided=False)])
    again.attrs = HISTORY.attrs
    assert compared(history=again).set_index("invoice_number").loc["1005", "reason"] == "paid_in_ledger"


def of_company(ledger, company):
    other = ledger.copy()
    other.attrs = {"ledger": ledger.attrs["ledger"] | {"company": company}}
    return other


def report(*rows, title="A/R Aging Detail Report", period="As of Oct 31, 2026", headings=AGING):
    return read_ledger(write_report(title, period, headings, {"CURRENT": rows}), dates="mdy")


def test_reports_that_can_not_be_compared_are_refused():
    with pytest.raises(LedgerError, match=r"is as of 2026-10-31, not 2026-09-30; export it as of that day"):
        tie_out(OURS, ledger=LEDGER, as_of="2026-09-30")
    with pytest.raises(LedgerError, match="is invoice_list, which does not list all open invoices"):
        tie_out(OURS, ledger=HISTORY, as_of=DAY)
    with pytest.raises(ParameterError, match="pass the frame that bf.read_ledger returns"):
        tie_out(OURS, ledger=OURS, as_of=DAY)
    for control in ("8,605", float("nan")):
        with pytest.raises(ParameterError, match=r"control=.* is not an amount"):
            compared(control=control)
    day = pd.Timestamp("2026-10-01").date()
    undated = report([day, "Invoice", "1", "Tern", day, 100, 100], period="All Dates")
    with pytest.warns(IncompleteDataWarning) as said:
        tie_out(OURS, ledger=undated, as_of=DAY)
    texts = [str(each.message) for each in said]
    assert any("does not say as of which day it is" in text for text in texts)
    assert any("9 of our open invoices are not in The report. It may be filtered" in text for text in texts)


def test_balances_of_a_later_day_and_other_pairs_of_reports_are_told():
    later = attach(OURS.copy(), "load", {"time": "2026-11-05T09:00:00+00:00", "complete": True})
    with pytest.warns(IncompleteDataWarning, match="Balances are as loaded"):
        tie_out(later, ledger=LEDGER, as_of=DAY)


def test_rows_in_another_currency_are_named_and_have_a_reason_of_their_own():
    day = pd.Timestamp("2026-10-05").date()
    ledger = report(
        [day, "Invoice", "1009", "Quillon Foods", day, 160_000, 160_000, "EUR"], headings=(*AGING, "Currency")
    )
    settings = FirmSettings(currency="USD")
    with pytest.warns(IncompleteDataWarning, match="1 row is in EUR; compare them in that currency"):
        rows = tie_out(OURS.iloc[[8]], ledger=ledger, as_of=DAY, settings=settings)
    assert rows[["reason", "difference_amount"]].to_numpy().tolist() == [["currency", -100.0]]


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.filterwarnings("ignore:.*match:billframes.errors.IncompleteDataWarning")
@pytest.mark.filterwarnings("ignore:.*of our open invoices are not in")
@pytest.mark.filterwarnings("ignore:.*may be swapped")
def test_the_reasons_of_a_made_up_firm_are_those_drawn_and_add_up(seed):
    Firm(seed).check()


@pytest.mark.slow
def test_fifty_thousand_invoices_are_compared_with_eighty_thousand_rows_in_seconds():
    count, client = 50_000, "Client {}".format
    dates = pd.Timestamp("2026-01-01") + pd.to_timedelta([at % 300 for at in range(80_000)], "D")
    ours = pd.DataFrame(
        {
            "invoice_id": [f"i{at}" for at in range(count)],
            "invoice_number": [str(at % 40_000) for at in range(count)],
            "invoice_state": "final",
            "invoice_date": dates[:count],
            "client_id": [f"c{at % 800}" for at in range(count)],
            "client_name": [client(at % 800) for at in range(count)],
            "amount": 100.0,
            "balance": 100.0,
        }
    )
    ledger = LEDGER.iloc[[0] * 80_000].assign(
        number=[str(at % 40_000) for at in range(80_000)],
        customer=[client(at % 800) for at in range(80_000)],
        date=dates,
        amount=100.0,
        open_balance=100.0,
    )
    ledger.attrs = LEDGER.attrs
    began = time.process_time()
    rows = tie_out(ours, ledger=ledger, as_of=DAY)
    assert time.process_time() - began < 5
    assert round(rows["difference_amount"].sum()) == (count - 80_000) * 100


def cents(row):
    return round(row.amount * 100), round(row.balance * 100)


@pytest.mark.slow
def test_the_command_prints_the_reasons_writes_the_rows_and_keeps_the_report_or_exits_with_1(tmp_path, capsys):
    day = pd.Timestamp("2026-10-31").date()
    with Sandbox() as sandbox, bf.Client(sandbox.base_url, sandbox.tokens["full"], profile="") as connected:
        m = bf.mirror(tmp_path / "mirror", client=connected)
        m.refresh()
    owed = m.invoices(invoice_state="final").query("balance != 0")
    rows = [
        [each.invoice_date.date(), "Invoice", each.invoice_number, each.client_name, day, *cents(each)]
        for each in owed.itertuples()
    ]
    file, out = tmp_path / "aging.csv", tmp_path / "october.csv"
    file.write_bytes(write_report("A/R Aging Detail Report", "As of Oct 31, 2026", AGING, {"CURRENT": rows}))
    assert main(["tie-out", str(file), "--mirror", m.path, "--out", str(out)]) == 0
    assert f"0.00  Agrees ({len(rows)})" in capsys.readouterr().out
    assert len(pd.read_csv(out)) == len(rows)
    assert [len(each) for each in LedgerTable(m._storage).read(bf.read_ledger(file).head(0))] == [len(rows)]
    undated = tmp_path / "undated.csv"
    undated.write_bytes(file.read_bytes().replace(b'"As of Oct 31, 2026"', b"All Dates"))
    assert main(["tie-out", str(undated), "--mirror", m.path]) == 1
    assert "undated.csv does not say as of which day it is; pass the day as --as-of" in capsys.readouterr().err
    assert main(["tie-out", str(file), "--mirror", m.path, "--control", "$1,000.00"]) == 0
    assert "Not in any customer (1)" in capsys.readouterr().out
    file.write_bytes(file.read_bytes()[:900])
    assert main(["tie-out", str(file), "--demo"]) == 1
    assert "so it is cut off" in capsys.readouterr().err
