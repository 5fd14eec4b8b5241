"""The rows behind a figure add up to it, by every key and under filters, and what isn't a sum of rows is refused."""

from __future__ import annotations

import pandas as pd
import pytest

import billframes as bf
from billframes.errors import ParameterError
from tests.analysis.conftest import rows_of
from tests.analysis.test_figures import DAYS, firm

pytestmark = pytest.mark.filterwarnings("ignore::billframes.errors.BillframesWarning")

OF_LISTS = ("missing_time.missing_hours", "overdue_invoices.balance", "stale.hours", "prebill_review.item_amount")


@pytest.mark.parametrize("figure", OF_LISTS)
def test_a_list_has_the_rows_of_its_sums(october_book, figure):
    name, _, column = figure.partition(".")
    rows, result = october_book.rows(figure), getattr(october_book, name)()
    assert len(rows) == (result[column] != 0).sum() > 0
    assert rows[rows.columns[-1]].sum() == pytest.approx(result[column].sum(), abs=0.005)


def test_rows_take_the_options_of_their_analysis(october_book):
    whole = october_book.aging(by=None, basis="invoice_date", buckets=(15, 45))
    for name in ("0-15", "16-45", "46+"):
        rows = october_book.rows(f"aging.{name}", basis="invoice_date", buckets=(15, 45))
        assert rows[rows.columns[-1]].sum() == pytest.approx(whole[name].iloc[0], abs=0.005)
    with pytest.raises(ParameterError, match="aging takes no 'bases'. Did you mean 'basis'"):
        october_book.rows("aging.0-15", bases="invoice_date")


@pytest.mark.parametrize("figure", ["billed_amount", "wip", "receivables", "contribution.fees_amount", "client_hours"])
def test_rows_under_a_filter_add_up_to_the_figure_under_it(october_book, figure):
    where = {"practice_area": ["Corporate", "Litigation"]}
    rows, whole = october_book.rows(figure, where=where), october_book.figures(figure, where=where)
    column = whole.columns[-1]
    assert rows.columns[-1] == column
    assert len(rows)
    assert rows[column].sum() == pytest.approx(whole[column].iloc[0], abs=0.005)
    assert october_book.rows(figure, where={"client": october_book.clients["client_id"].iloc[0]}) is not None


def test_rows_name_their_records(october_book):
    rows = october_book.rows("wip", by="client")
    entries = rows[rows["kind"] == "time"].merge(october_book.time_entries, on="time_entry_id", suffixes=("", "_own"))
    assert len(entries) == (rows["kind"] == "time").sum() > 100
    assert (entries["wip_amount"] - entries["amount"]).abs().max() < 0.005
    assert (entries["client_id"] == entries["client_id_own"]).all()
    assert set(rows["kind"]) == {"time", "expense", "fixed fee"}
    for id_, name in (("client_id", "client_name"), ("matter_id", "matter_name"), ("user_id", "user_name")):
        assert (entries[id_].isna() == entries[name].isna()).all()
    assert (entries["user_name"] == entries["user_name_own"]).all()
    assert (entries["matter_name"] == entries["matter_name_own"]).all()
    assert set(october_book.rows("client_hours")["kind"]) == {"time"}
    invoices = october_book.rows("receivables", by="client")
    assert set(invoices["kind"]) == {"invoice"}
    assert invoices["invoice_id"].is_unique


@pytest.mark.slow
@pytest.mark.sweep
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("figure", ["billed_amount", "wip", "contribution.fees_amount"])
def test_rows_are_the_same_on_other_engines(engine, figure):
    found = []
    for each in ("pandas", engine):
        frames, settings = firm("taxed", each)
        rows = pd.DataFrame(rows_of(bf.rows(figure, by="matter", **DAYS, settings=settings, **frames)))
        ids = [name for name in ("time_entry_id", "expense_id", "fixed_fee_id", "invoice_id") if name in rows]
        found.append(rows.sort_values(ids, ignore_index=True)[[*ids, rows.columns[-1]]])
    assert len(found[0])
    pd.testing.assert_frame_equal(*found, check_dtype=False)


@pytest.mark.parametrize(
    ("figure", "how", "said"),
    [
        ("billing_realization", {}, "is not a sum.*Ask for those of 'billed_amount' and 'worked_amount'"),
        ("wip.oldest_date", {}, "is not a sum"),
        ("leverage.principals", {}, "is not a sum"),
        ("timekeeping_lag.median_lag_days", {}, "is not a sum"),
        ("write_downs.share", {}, "is not a sum, so rows don't add up to it. Ask for those of 'write_down_amount'"),
        ("cash_forecast.never_amount", {}, "not known: it is an estimate"),
        ("lockup.wip_amount", {}, "lockup does not add it up from single rows. Ask for those of 'wip_amount'"),
        ("realization.unbilled_amount", {}, "only with other options or settings"),
        ("wip", {"by": "month"}, "'month': wip is known on one day"),
        ("billed_amount", {"where": {"client": "Nobody"}}, "No client has the name, reference or id"),
        ("billed_amount", {"where": "Acme"}, "where takes keys"),
        ("biled_amount", {}, "billed_amount"),
    ],
)
def test_what_is_no_sum_of_rows_is_refused(october_book, figure, how, said):
    with pytest.raises(ParameterError, match=said):
        october_book.rows(figure, **how)
