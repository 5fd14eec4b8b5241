"""The rows behind a figure add up to it, by every key and under filters, and what is no sum of rows is refused."""

from __future__ import annotations

import pandas as pd
import pytest

import billframes as bf
from billframes.analysis.declare.lookup import analyses
from billframes.analysis.keys.by import columns_of, names_in
from billframes.analysis.results.result_rows import identifying_keys
from billframes.errors import MissingColumnError, ParameterError
from tests.analysis.conftest import rows_of
from tests.analysis.test_figures import DAYS, firm

pytestmark = pytest.mark.filterwarnings("ignore::billframes.errors.BillframesWarning")

KEYS = ("client", "user", "originator", "practice_area", "month", ["responsible", "matter"])

LISTED = {
    "aging": {"current", "1-30", "91+", "credit_amount", "total", "overdue"},
    "contribution": {"billed_amount", "fixed_fee_amount", "fees_amount"},
    "effective_rates": {"worked_amount", "billed_amount", "billable_hours"},
    "origination": {"worked_amount", "billed_amount", "settled_amount", "fixed_fee_amount", "fees_amount"},
    "profitability": {"fees_amount", "cost_amount", "profit_amount", "total_hours", "unbilled_amount"},
    "realization": {"worked_amount", "billed_amount", "write_down_amount", "settled_amount", "due_amount"},
    "utilization": {"client_hours", "billable_hours", "total_hours"},
    "wip": {"0-30", "total", "unbilled_amount", "prebill_amount", "expense_amount", "hours", "contingent_amount"},
    "write_downs": {"worked_amount", "billed_amount", "write_down_amount"},
}
"""Sums that must have rows. Others, such as available hours, are added up from something else than records."""


def rows_or_none(book, name, **how):
    try:
        return book.rows(name, **how)
    except (ParameterError, MissingColumnError):
        return None


BY = [pytest.param(each, marks=[] if each == "originator" else pytest.mark.slow, id=str(each)) for each in KEYS]


@pytest.mark.parametrize("name", LISTED)
@pytest.mark.parametrize("by", BY)
def test_rows_add_up_to_every_sum(october_book, name, by):
    analysis = analyses()[name]
    if by == "month" and "start" not in analysis.takes:
        pytest.skip("Balances are of one day.")
    result, listed = getattr(october_book, name)(by=by), set()
    keys = identifying_keys([each for key in names_in(by) for each in columns_of(key, list(result))])
    sums = [each.name for each in analysis.columns if each.adds_up and each.name in result]
    for measure in sums:
        rows = rows_or_none(october_book, f"{name}.{measure}", by=by)
        if rows is None:
            continue
        listed.add(measure)
        found = rows.groupby(keys, dropna=False)[rows.columns[-1]].sum(skipna=False)
        wanted = result.set_index(keys)[measure].groupby(keys, dropna=False).sum(skipna=False)
        # A group without rows has a figure of 0.
        found = found.reindex(wanted.index, fill_value=0.0)
        pd.testing.assert_series_equal(found, wanted, check_names=False, rtol=0, atol=0.005)
    assert listed >= LISTED[name], LISTED[name] - listed


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
    assert set(october_book.rows("client_hours")["kind"]) == {"time"}
    invoices = october_book.rows("receivables", by="client")
    assert set(invoices["kind"]) == {"invoice"}
    assert invoices["invoice_id"].is_unique


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("figure", ["billed_amount", "wip", "origination.fees_amount"])
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
        ("billing_realization", {}, "'billing_realization' is not a sum.*'billed_amount' and 'worked_amount'"),
        ("wip.oldest_date", {}, "is not a sum"),
        ("capacity_hours", {}, "not known: utilization does not add it up"),
        ("stale.hours", {}, "not known: stale does not add it up"),
        ("realization.unbilled_amount", {}, "only with options"),
        ("wip", {"by": "month"}, "'month': wip is known on one day"),
        ("billed_amount", {"where": {"client": "Nobody"}}, "no row has this value"),
        ("billed_amount", {"where": "Acme"}, "where takes keys"),
        ("biled_amount", {}, "billed_amount"),
    ],
)
def test_what_is_no_sum_of_rows_is_refused(october_book, figure, how, said):
    with pytest.raises(ParameterError, match=said):
        october_book.rows(figure, **how)
