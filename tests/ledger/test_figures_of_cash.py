"""Figures of cash are those of `fees_collected`, under names that mean one thing, and of covered days only."""

from __future__ import annotations

import pandas as pd
import pytest

import billframes as bf
from billframes.analysis.results.figure_names import figure_names
from billframes.errors import ParameterError
from billframes.ledger import read_ledger

CASH = {each.column: each.measure.name for each in figure_names().values() if each.analysis.needs_payments}


@pytest.fixture(scope="module")
def demo(client, tmp_path_factory):
    files = bf.ledger.sandbox_reports(tmp_path_factory.mktemp("reports"))
    book = bf.book("2026-Q3", client=client)
    return book, book.payments(read_ledger(files["payments"]))


@pytest.mark.slow
@pytest.mark.parametrize("by", [None, "client", "responsible", "month"])
def test_figures_of_cash_are_those_of_collected(demo, by):
    book, paid = demo
    frames = {name: getattr(book, name) for name in ("time_entries", "expenses", "fixed_fees", "invoices", "matters")}
    own = book.fees_collected(paid, by=by)
    keys = [name for name in own if name not in CASH.values()]
    assert own["collected_amount"].sum() > 0
    for result in (
        book.figures(*CASH, "billed_amount", by=by, payments=paid),
        bf.figures(*CASH, "billed_amount", by=by, start="2026-Q3", payments=paid, **frames),
    ):
        rows = result[[*keys, *CASH]].rename(columns=CASH)
        there = rows.merge(own[keys[:1]], on=keys[0]) if keys else rows
        pd.testing.assert_frame_equal(there, own[[*keys, *CASH.values()]], atol=1e-9)
        assert rows["cash_amount"].sum() == pytest.approx(own["cash_amount"].sum())
        billed = book.realization(by=None)["billed_amount"][0]
        assert result["billed_amount"].sum() == pytest.approx(billed)


def test_names_of_cash_mean_one_thing(demo):
    book, paid = demo
    assert {"collected_amount", "fees_collected_cash_amount"} <= CASH.keys()
    with pytest.raises(ParameterError, match=r"'cash_amount' does not say .* 'fees_collected\.cash_amount' \(All cash"):
        book.figures("cash_amount", payments=paid)
    result = book.figures("collected_amount", "realization.collected_amount", payments=paid)
    assert list(result) == ["collected_amount", "realization_collected_amount"]
    assert result.attrs["missing"].keys() == {"realization_collected_amount"}


NOT_OF_THE_INVOICES = {
    "as they are": (lambda paid: paid, set()),
    "a payment twice": (lambda paid: pd.concat([paid, paid[paid["amount"] > 0].head(1)]), {"doubled_payments"}),
    "another firm's": (lambda paid: paid.assign(invoice_id="other " + paid["invoice_id"]), {"unknown_paid"}),
    "of other clients": (lambda paid: paid.assign(client_id="other " + paid["client_id"]), {"unlike_invoice"}),
    "of other days": (lambda paid: paid.assign(invoice_date=paid["payment_date"]), {"unlike_invoice"}),
}


@pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning")
@pytest.mark.parametrize(("change", "rules"), NOT_OF_THE_INVOICES.values(), ids=NOT_OF_THE_INVOICES)
def test_payments_that_do_not_fit_the_invoices_are_noted(demo, change, rules):
    book, paid = demo
    given = change(paid)
    for result in (book.fees_collected(given), book.days_to_pay(given), book.realization(payments=given)):
        assert {each["rule"] for each in bf.notes(result)} - {"short_payments"} == rules


def test_without_payments_or_outside_their_days_cash_is_not_known(demo):
    book, paid = demo
    for figures in (book.figures, lambda name: bf.figures(name, invoices=book.invoices)):
        with pytest.raises(
            ParameterError, match=r"'collected_amount' needs payments, .*: pass payments=book\.payments"
        ):
            figures("collected_amount")
    late = paid.copy()
    late.attrs["payments"] = paid.attrs["payments"] | {"start": "2026-07-01"}
    result = book.figures("collected_amount", "billed_amount", compare="previous", payments=late)
    assert result["collected_amount"][0] == pytest.approx(book.fees_collected(paid, by=None)["collected_amount"][0])
    assert pd.isna(result["collected_amount_previous"][0])
    assert result["billed_amount_previous"][0] > 0
    reason = "The payments are those of 1 July 2026 to 31 October 2026."
    assert result.attrs["missing"] == {"collected_amount_previous": reason}
    with pytest.raises(ParameterError, match=f"{reason} Choose a period within, or export more."):
        book.figures("collected_amount", start="2026-06", payments=late)
