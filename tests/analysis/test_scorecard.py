"""A scorecard has the figures of its analyses, and its peers have those of the firm or the role."""

from __future__ import annotations

import copy
from dataclasses import replace

import pandas as pd
import pytest

import billframes as bf
from billframes.analysis import realization, scorecard
from billframes.config.firm import FirmSettings
from billframes.errors import ParameterError, RatesHiddenWarning
from tests.analysis.calls import WORK, edge_case_frames

# Balances are those of the day of the load.
pytestmark = pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning")

SUMS = ("client_hours", "capacity_hours", "worked_amount", "billed_amount", "billable_hours")
OF = {
    "utilization": ("client_hours", "target_hours", "pace", "utilization"),
    "realization": ("worked_amount", "billed_amount", "billing_realization", "billable_hours", "effective_rate"),
    "timekeeping_lag": ("median_lag_days",),
}


@pytest.fixture(scope="module")
def book(client):
    people = client.users(role="attorney")["user_id"]
    settings = bf.FirmSettings(targets={user: {"hours": 1600, "period": "year"} for user in people})
    return bf.book("2026-10", settings=settings, client=client)


@pytest.mark.slow
@pytest.mark.parametrize("by", ["user", "practice_area", ["role", "user"]])
def test_each_figure_is_that_of_its_analysis(book, by):
    rows = book.scorecard(by)
    keys = [name for name in rows.columns[: rows.columns.get_loc("client_hours")] if not name.endswith("_name")]
    keys = [name for name in keys if not name.endswith("_label")]
    for analysis, names in OF.items():
        asked = {"as_of": "2026-10-31"} if analysis == "utilization" else {}
        actual = getattr(book, analysis)(by, **asked)
        both = actual.merge(rows, on=keys, suffixes=("", "_actual"))
        assert len(both) == len(actual)
        for name in names:
            pd.testing.assert_series_equal(both[f"{name}_actual"], both[name], check_names=False)
    for name, analysis in (("wip_amount", "wip"), ("receivable_amount", "aging")):
        actual = getattr(book, analysis)(by)
        both = actual.merge(rows, on=keys)
        assert both[name].tolist() == pytest.approx(both["total"].tolist())
        assert rows[name].sum() == pytest.approx(actual["total"].sum())


def test_peers_are_the_analyses_of_the_firm(book):
    rows, hours, fees = book.scorecard(), book.utilization(None), book.realization(None)
    wanted = {
        "utilization": hours["utilization"],
        "pace": hours["pace"],
        "billing_realization": fees["billing_realization"],
        "effective_rate": fees["effective_rate"],
        "median_lag_days": book.timekeeping_lag(None)["median_lag_days"],
    }
    for name, figure in wanted.items():
        assert rows[f"peer_{name}"].unique() == pytest.approx(figure.tolist())
    here = rows[rows["capacity_hours"] > 0]
    for name in ("client_hours", "billed_amount", "missing_days"):
        assert rows[f"peer_{name}"].unique() == pytest.approx(here[name].mean())


@pytest.mark.slow
def test_fees_count_for_chosen_matters_and_discounts_as_in_realization(book):
    other = copy.copy(book)
    policies = {"matter_types": ["contingency", "hourly"], "discounts": "items"}
    other.settings = replace(book.settings or FirmSettings(), **policies)
    rows, usual = other.scorecard().set_index("user_id"), book.scorecard().set_index("user_id")
    fees = other.realization("user").set_index("user_id")["billed_amount"]
    frames = {name: getattr(book, name) for name in ("time_entries", "expenses", "fixed_fees", "invoices", "matters")}
    days = {"start": book.period.start, "end": book.period.end}
    own = realization(**frames, **days, by="user", **policies).set_index("user_id")["billed_amount"]
    assert fees.to_dict() == pytest.approx(own.to_dict(), nan_ok=True)
    both = rows["billed_amount"].dropna().index.intersection(fees.index)
    assert rows["billed_amount"][both].tolist() == pytest.approx(fees[both].tolist())
    assert rows["billed_amount"].sum() != pytest.approx(usual["billed_amount"].sum())
    assert rows["wip_amount"].sum() == pytest.approx(usual["wip_amount"].sum())
    rates = other.effective_rates("user").set_index("user_id")["billed_amount"]
    assert rates.tolist() == pytest.approx(fees[rates.index].tolist())


def test_beside_the_role_peers_are_those_of_the_role(book):
    rows = book.scorecard(beside="role")
    for analysis, name in (("utilization", "utilization"), ("realization", "billing_realization")):
        wanted = getattr(book, analysis)("role").set_index("role")[name]
        actual = rows.drop_duplicates("role").set_index("role")[f"peer_{name}"]
        for role, figure in actual.dropna().items():
            assert figure == pytest.approx(wanted[role]), role


def test_by_client_no_row_has_missing_days(book):
    rows = book.scorecard("client")
    assert rows["client_hours"].eq(0).any()
    assert rows["missing_days"].isna().all()


def test_sums_re_add_and_missing_days_are_the_rows_of_missing_time(book):
    rows, whole = book.scorecard(), book.scorecard(None).iloc[0]
    for name in SUMS:
        assert rows[name].sum() == pytest.approx(whole[name]), name
    days = book.missing_time().groupby("user_id").size()
    actual = rows.set_index("user_id")["missing_days"]
    assert {user: count for user, count in actual.items() if count} == days.to_dict()


def test_hours_and_fees_are_the_databases(book, sql):
    query = """
        select u.user_id,
          (select sum(hours) from time_entry t join matter m using (matter_id) where t.user_id = u.user_id
             and matter_type <> 'internal' and billing_type in ('billable', 'fixedFee')
             and date between '2026-10-01' and '2026-10-31'),
          (select sum(t.amount) from time_entry t join matter m using (matter_id) join invoice i using (invoice_id)
             where t.user_id = u.user_id and matter_type in ('hourly', 'fixedFee') and billing_type = 'billable'
             and invoice_state = 'final' and invoice_date between '2026-10-01' and '2026-10-31')
        from user u
        """
    wanted = {user: (hours or 0, worth or 0) for user, hours, worth in sql(query)}
    rows = book.scorecard(as_of="2026-10-31").dropna(subset=["user_id"])
    assert len(rows) > 10
    for row in rows.itertuples():
        hours, worth = wanted[row.user_id]
        assert (row.client_hours, row.worked_amount) == pytest.approx((hours / 10_000, worth / 10_000))


def test_misleading_input_is_refused(book, client):
    with pytest.raises(
        ParameterError, match=r"open amounts are figures of one day.* Call scorecard\(\) once for each month"
    ):
        book.scorecard(["user", "month"])
    with pytest.raises(ParameterError, match="by='client' needs 'user'"):
        book.scorecard("client", beside="role")
    with pytest.raises(ParameterError, match="beside='team' is not known"):
        book.scorecard(beside="team")
    with pytest.raises(ParameterError, match="needs a first and a last day"):
        book.scorecard(start="2026-10-01")
    with pytest.raises(ParameterError, match="was loaded for 2026-10-01 to 2026-10-31 only"):
        scorecard(client.time_entries("2026-10"), invoices=book.invoices, matters=book.matters, start="2026-10")


def test_hidden_rates_leave_hours_and_fees(pandas_firm):
    firm = edge_case_frames(pandas_firm)
    hidden = {name: firm[name] for name in WORK} | {"time_entries": firm["time_entries"].assign(amount=None)}
    with pytest.warns(RatesHiddenWarning):
        rows = scorecard(**hidden, start="2026-10").set_index("user_id")
    assert rows["worked_amount"].drop("u3").isna().any()
    assert rows["peer_billing_realization"].isna().all()
    assert rows.loc["u1", "client_hours"] > 0
    assert rows.loc["u1", "billed_amount"] > 0
