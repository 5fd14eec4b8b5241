"""Cash forecasts, compared with figures worked out by hand, and what must hold for any firm."""

from __future__ import annotations

import datetime as dt
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from billframes.analysis import cash_forecast, cash_forecast_record
from billframes.errors import IncompleteDataWarning, MissingColumnError, ParameterError, RatesHiddenWarning
from billframes.forecast import curves
from billframes.forecast.forecasts import _convolve, _less_credits, limits, widening
from billframes.forecast.history import Falls, History
from billframes.forecast.horizons import read_horizons
from tests.forecast.firms import Firm, Habits, make_firm

LAST, SINCE = 300, 200
FEW = settings(max_examples=4, deadline=None)


@pytest.fixture(scope="module")
def made_firm() -> Firm:
    return make_firm(Habits(30, wait=6, spread=0.5, shape=3), 3)


@pytest.fixture(scope="module")
def frames(made_firm: Firm) -> dict[str, Any]:
    return made_firm.frames(LAST, SINCE)


def run(frames: dict[str, Any], **options: Any) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cash_forecast(**{**frames, **options})


def record(frames: dict[str, Any], **options: Any) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cash_forecast_record(**{**frames, **options})


# The worked examples.


def history(amounts: list[float], balances: list[float], weeks: list[int], clients: list[int], **more: Any) -> History:
    none = np.zeros(0, np.int64)
    falls = Falls(none, none, *(np.zeros(0),) * 3)
    last = max(weeks)
    arrays = [np.array(each) for each in (weeks, weeks, amounts, balances, clients)]
    options = {"credits": np.zeros(max(clients) + 1), "falls": falls, "unseen": np.zeros(last + 1, bool), "work": None}
    options |= {"day": dt.date(2026, 10, 31), "last": last, "since": last, "complete": 0}
    options |= dict(zip(("week", "final", "amount", "balance", "client"), arrays, strict=True))
    return History(**{**options, **more})


def test_the_curve_is_what_fell_of_what_was_open():
    """Invoice A has balances 100, 40, 0 and B 100, 100, 100 at the ends of weeks 1, 2 and 3."""
    falls = Falls(np.array([0, 0]), np.array([2, 3]), np.array([60.0, 40.0]), np.array([60.0, 40.0]), np.zeros(2))
    firm = history([100.0, 100.0, 1.0], [0.0, 100.0, 1.0], [0, 0, 4], [0, 1, 2], falls=falls, since=0)
    fallen, at_risk = firm.fallen[3], firm.at_risk[3]
    assert (fallen[2], at_risk[2]) == (60.0, 200.0)
    assert (fallen[3], at_risk[3]) == (40.0, 140.0)
    hazards = curves.hazards_of_falls(fallen, at_risk, np.zeros(curves.AGES), 1e-12)
    assert np.exp(-np.cumsum(hazards))[[2, 3]] == pytest.approx([0.7, 0.5])
    prior = np.full(curves.AGES, -np.log(0.9))
    shrunk = 1 - np.exp(-curves.hazards_of_falls(fallen, at_risk, prior, 100.0))
    assert shrunk[2] == pytest.approx(0.118182, abs=5e-7)


def test_todays_invoices_alone_show_a_curve():
    age, balance = np.array([2, 5, 9, 14]), np.array([80.0, 90.0, 20.0, 30.0])
    open_share = np.exp(-np.cumsum(curves.hazards_of_today(age, np.full(4, 100.0), balance)))
    assert open_share[[2, 5, 9, 14]] == pytest.approx([0.85, 0.85, 0.25, 0.25])
    assert 1 - open_share[9] / open_share[5] == pytest.approx(0.705882, abs=5e-7)


def test_an_age_without_invoices_is_between_those_beside_it():
    """A firm bills every four weeks: what is half settled after 5 weeks is not all settled in the last week before."""
    age, balance = np.array([1, 5, 9]), np.array([100.0, 50.0, 25.0])
    open_share = np.exp(-np.cumsum(curves.hazards_of_today(age, np.full(3, 100.0), balance)))
    assert open_share[[1, 3, 5]] == pytest.approx([1.0, np.sqrt(0.5), 0.5])
    assert open_share[[9, 40]] == pytest.approx([0.25, 0.25])


@pytest.mark.parametrize("weekday", range(0, 7, 2))
def test_what_is_billed_once_a_month_and_paid_in_ten_days_comes_first(weekday):
    """All cash of a month was expected in the last week before the next bills, and less of it."""
    days = pd.date_range("2023-01-01", "2026-10-01", freq="MS")
    bills = days.repeat(10)
    ids = [f"i{nth}" for nth in range(len(bills))]
    as_of = pd.Timestamp("2026-10-02") + pd.Timedelta(days=weekday)
    invoices = pd.DataFrame(
        {"invoice_id": ids, "invoice_date": bills, "invoice_state": "final", "amount": 500.0, "client_id": "c1"}
    ).assign(client_name="Acme", balance=lambda frame: frame["amount"].where(frame["invoice_date"] >= days[-1], 0.0))
    work = pd.date_range("2022-12-01", as_of, freq="D").to_series(name="date").reset_index(drop=True)
    entries = pd.DataFrame({"date": work, "client_id": "c1", "billing_type": "billable", "hours": 1.0, "amount": 164.0})
    month = (work.dt.year - 2023) * 12 + work.dt.month
    entries["invoice_id"] = (10 * month + work.dt.day % 10).map("i{}".format).where(month < len(days), None)
    frames = {"invoices": invoices, "time_entries": entries, "as_of": as_of}
    weeks = run(frames, horizons="weeks", level=0.8)["cash_amount"].to_numpy()
    (whole,) = run(frames, horizons=(13,))["cash_amount"]
    # October's bills, then November's and December's.
    assert weeks[:3].sum() == pytest.approx(5000, rel=0.25)
    assert whole == pytest.approx(15_000, rel=0.15)


def test_a_clients_speed_is_that_of_its_other_invoices():
    pace = curves.speeds(np.array([0, 0, 1]), np.array([0.3, 1.4, 0.5]), np.array([1.0, 3.0, 1.0]))
    assert pace[[0, 2]] == pytest.approx([0.8, 1.0])
    settled = 1 - 0.5 ** pace[0]
    assert settled == pytest.approx(0.425651, abs=5e-7)
    cash = 1000 * settled * 0.95
    assert cash == pytest.approx(404.37, abs=0.005)
    assert np.sqrt(1000**2 * (cash / 1000) * (1 - cash / 1000)) == pytest.approx(490.77, abs=0.005)


def test_new_bills_are_paid_as_they_age():
    cash = _convolve(np.array([[900.0, 1800.0, 2700.0, 900.0]]), np.array([0.0, 0.1, 0.2, 0.3]))
    assert cash.sum() == pytest.approx(1350.0)


def test_the_range_is_log_normal_and_widened_by_its_record():
    assert limits(100_000.0, 20_000.0**2, 2.0, 0.8) == pytest.approx((67_434, 137_308), abs=0.5)
    assert widening(np.full(4, 5.0), 4) == 3.5
    assert widening(np.zeros(0), 0) == 2.0
    assert widening(np.zeros(12), 12) == 1.0


def test_a_credit_lowers_the_clients_oldest_invoices():
    firm = history([100.0] * 4, [100.0] * 4, [3, 1, 2, 0], [0, 0, 0, 1], credits=np.array([150.0, 0.0]))
    assert _less_credits(firm, firm.at(3)).tolist() == [100.0, 0.0, 50.0, 100.0]


# What holds for any firm.


def test_one_horizon_needs_no_list():
    day = dt.date(2026, 10, 31)
    assert read_horizons(8, day) == read_horizons([8], day)
    with pytest.raises(ParameterError, match="horizons=True takes whole numbers of weeks"):
        read_horizons(True, day)


def test_the_parts_add_up_and_longer_horizons_have_more(frames):
    rows = run(frames, horizons=(4, 8, 13))
    parts = rows[["open_cash_amount", "unbilled_cash_amount", "future_cash_amount"]]
    assert parts.sum(axis=1).to_numpy() == pytest.approx(rows["cash_amount"].to_numpy())
    assert (rows[["cash_amount", "open_cash_amount"]].diff().dropna() > 0).all(axis=None)
    assert (rows["open_cash_amount"] <= rows["receivable_amount"]).all()
    assert ((rows["low_amount"] < rows["cash_amount"]) & (rows["cash_amount"] < rows["high_amount"])).all()
    assert (frames["invoices"]["balance"].sum() == rows["receivable_amount"]).all()


@pytest.mark.parametrize("by", ["client", "invoice"])
def test_clients_and_invoices_add_up_to_the_firm(frames, by):
    whole, rows = run(frames, horizons=(8,)), run(frames, horizons=(8,), by=by)
    for column in ("open_cash_amount", "receivable_amount", "never_amount"):
        assert rows[column].sum() == pytest.approx(whole.loc[0, column])
    assert ((rows["low_amount"] >= 0) & (rows["low_amount"] <= rows["cash_amount"])).all()
    assert (rows["cash_amount"] <= rows["high_amount"]).all()
    assert rows["cash_amount"].sum() == pytest.approx(whole.loc[0, "cash_amount"])
    assert rows["client_name"].iloc[-1] == "Work not done yet"


@pytest.mark.slow
def test_credits_and_corrections_are_in_the_rows_of_clients_and_invoices(frames):
    """Unused credits, and work below 0 that is not billed, lower the firm's figures; no row said so."""
    invoices, entries = frames["invoices"].copy(), frames["time_entries"]
    first = invoices.index[:40]
    invoices.loc[first, ["amount", "balance"]] = -900.0
    none = entries["invoice_id"].isna()
    below = entries[none].head(30).assign(date=pd.Timestamp(frames["as_of"]) - pd.Timedelta(days=40), amount=-2500.0)
    given = frames | {"invoices": invoices, "time_entries": pd.concat([entries, below], ignore_index=True)}
    (whole,) = run(given, horizons=(13,)).to_dict("records")
    assert whole["receivable_amount"] == pytest.approx(invoices["balance"].sum())
    for by in ("client", "invoice"):
        rows = run(given, horizons=(13,), by=by)
        for column in ("cash_amount", "open_cash_amount", "unbilled_cash_amount", "receivable_amount", "never_amount"):
            assert rows[column].sum() == pytest.approx(whole[column], abs=0.01), (by, column)


def test_months_add_up_to_the_weeks_that_they_cover(frames):
    day = dt.date(2025, 8, 31)
    frames = {**frames, "as_of": day}
    months = run(frames, horizons="months")
    weeks = run(frames, horizons=(13,))
    assert months["horizon"].tolist()[:2] == ["Sep 2025", "Oct 2025"]
    assert months["cash_amount"].head(3).sum() == pytest.approx(weeks.loc[0, "cash_amount"])


def test_weeks_add_up(frames):
    weeks = run(frames, horizons="weeks")
    whole = run(frames, horizons=(13,))
    assert len(weeks) == 13
    assert weeks["cash_amount"].sum() == pytest.approx(whole.loc[0, "cash_amount"])


@pytest.mark.slow
@FEW
@given(factor=st.sampled_from([0.01, 1.0, 100.0]), seed=st.integers(0, 99))
def test_neither_units_nor_the_order_of_rows_change_a_forecast(frames, factor, seed):
    mixed = {name: frames[name].sample(frac=1, random_state=seed) for name in ("invoices", "receipts", "time_entries")}
    for name, columns in {
        "invoices": ["amount", "balance"],
        "receipts": ["fall_amount", "adjusted_amount", "implied_receipt_amount"],
        "time_entries": ["amount"],
    }.items():
        mixed[name] = mixed[name].assign(**{each: mixed[name][each] * factor for each in columns})
    before, after = run(frames, horizons=(8,)), run({**frames, **mixed}, horizons=(8,))
    money = ["cash_amount", "low_amount", "high_amount", "open_cash_amount", "never_amount"]
    assert after[money].to_numpy() == pytest.approx(before[money].to_numpy() * factor, rel=1e-3)
    assert after.attrs["record"][0]["phi"] == pytest.approx(before.attrs["record"][0]["phi"], rel=1e-3)


@pytest.mark.slow
@FEW
@given(weeks=st.integers(1, 12))
def test_a_days_record_uses_nothing_of_later_days(made_firm, frames, weeks):
    day = LAST - 4 * weeks
    earlier = made_firm.frames(day, SINCE)
    of_day = run(earlier, horizons=(4,))
    found = record(frames, horizons=(4,)).set_index("as_of").loc[pd.Timestamp(earlier["as_of"])]
    assert found["cash_amount"] == pytest.approx(of_day.loc[0, "cash_amount"])
    assert found["low_amount"] == pytest.approx(of_day.loc[0, "low_amount"])
    assert found["phi"] == pytest.approx(of_day.attrs["record"][0]["phi"])


@pytest.mark.slow
def test_invoices_that_were_drafts_on_a_day_were_not_owed_on_it(made_firm, frames):
    """Bills of the last three weeks before the day became final ten days after it."""
    earlier = made_firm.frames(LAST - 16, SINCE)
    invoices, day = earlier["invoices"], pd.Timestamp(earlier["as_of"])
    late = invoices["invoice_date"] > day - pd.Timedelta(days=21)
    as_then = invoices.assign(invoice_state=invoices["invoice_state"].where(~late, "draft"))
    truth = run({**earlier, "invoices": as_then}, horizons=(8,)).loc[0, "cash_amount"]
    finals = pd.DataFrame({"invoice_id": invoices["invoice_id"][late], "final_since": day + pd.Timedelta(days=10)})
    with_mirror = record(frames, horizons=(8,), became_final=finals).set_index("as_of").loc[day, "cash_amount"]
    alone = record(frames, horizons=(8,)).set_index("as_of").loc[day, "cash_amount"]
    assert with_mirror == pytest.approx(truth, rel=0.002)
    assert alone > 1.1 * truth
    before = record(frames, horizons=(8,), became_final=finals.assign(final_since=day))
    pd.testing.assert_frame_equal(before, record(frames, horizons=(8,)))


def test_a_forecast_of_an_earlier_day_needs_receipts_only(made_firm, frames):
    earlier = made_firm.frames(LAST - 6, SINCE)
    then = run({**frames, "as_of": earlier["as_of"]}, horizons=(8,))
    pd.testing.assert_frame_equal(then, run(earlier, horizons=(8,)))


def test_since_today_is_as_no_mirror(frames):
    alone = run({**frames, "receipts": None, "since": None}, horizons=(8,))
    today = run({**frames, "since": frames["as_of"], "receipts": frames["receipts"].head(0)}, horizons=(8,))
    pd.testing.assert_frame_equal(alone, today)
    assert alone.attrs["record"][0] == {
        "horizon": alone.loc[0, "horizon"],
        "weeks": 8.0,
        "forecasts": 0,
        "inside": 0,
        "error": None,
        "naive_error": None,
        "phi": 2.0,
    }


def test_payments_of_the_books_show_the_same_record(frames):
    paid = frames["receipts"]
    kinds = np.where(paid["implied_receipt_amount"] > 0, "cash", "credit")
    books = pd.DataFrame(
        {"invoice_id": paid["invoice_id"], "payment_date": paid["until"], "amount": paid["fall_amount"], "kind": kinds}
    )
    # Amounts that were reduced are credits in the books, so the curves of today's invoices differ a little.
    one = run(frames, horizons=(8,))
    other = run({**frames, "receipts": None, "payments": books}, horizons=(8,))
    assert other.loc[0, "cash_amount"] == pytest.approx(one.loc[0, "cash_amount"], rel=0.02)
    assert other.attrs["record"][0]["forecasts"] == one.attrs["record"][0]["forecasts"]


def test_a_client_that_never_pays_is_slow_and_one_that_pays_is_not(frames):
    invoices = frames["invoices"]
    never = invoices["client_id"] == invoices["client_id"].value_counts().index[0]
    owing = invoices.assign(balance=invoices["amount"].where(never, invoices["balance"]))
    receipts = frames["receipts"][~frames["receipts"]["invoice_id"].isin(invoices["invoice_id"][never])]
    rows = run({**frames, "invoices": owing, "receipts": receipts}, horizons=(8,), by="client").set_index("client_id")
    assert rows.loc[invoices.loc[never, "client_id"].iloc[0], "speed"] < 0.5
    assert rows["speed"].max() > 1


def test_nothing_open_and_no_work_is_nothing(frames):
    paid = frames["invoices"].assign(balance=0.0)
    options = {"invoices": paid, "time_entries": frames["time_entries"].head(0), "receipts": None, "since": None}
    rows = run({**frames, **options}, horizons=(8,))
    assert rows[["cash_amount", "low_amount", "high_amount", "never_amount"]].to_numpy().tolist() == [[0.0] * 4]


def test_falls_marked_as_write_offs_are_not_cash(frames):
    ids = frames["receipts"]["invoice_id"].unique().tolist()
    marked = record(frames, horizons=(8,), not_cash=ids)
    assert (marked["received_amount"] == 0).all()


def test_falls_between_distant_refreshes_are_spread_and_long_gaps_left_out(frames):
    receipts = frames["receipts"]
    monthly = receipts.assign(
        after=receipts["until"].dt.to_period("M").dt.start_time - pd.Timedelta(days=1),
        until=(receipts["until"] + pd.offsets.MonthEnd(0)).clip(upper=pd.Timestamp(frames["as_of"])),
    )
    one, other = run(frames, horizons=(8,)), run({**frames, "receipts": monthly}, horizons=(8,))
    assert other.loc[0, "cash_amount"] == pytest.approx(one.loc[0, "cash_amount"], rel=0.1)
    gap = receipts.copy()
    early = gap["until"] < gap["until"].min() + pd.Timedelta(days=60)
    gap.loc[early, "after"] = gap["after"].min()
    gap.loc[early, "until"] = gap.loc[early, "until"].max()
    with pytest.warns(IncompleteDataWarning, match="9 weeks are in gaps of more than 35 days"):
        cash_forecast(**{**frames, "receipts": gap}, horizons=(8,))


def test_work_on_contingency_matters_is_left_out(frames):
    entries = frames["time_entries"].assign(matter_id="m1")
    open_worth = entries.loc[entries["invoice_id"].isna(), "amount"].sum()
    matters = pd.DataFrame({"matter_id": ["m1"], "matter_type": ["contingency"]})
    rows = run({**frames, "time_entries": entries, "matters": matters}, horizons=(8,))
    assert rows.loc[0, "contingent_amount"] == pytest.approx(open_worth)
    assert rows.loc[0, "unbilled_cash_amount"] == 0.0


def test_hidden_rates_leave_the_cash_of_open_invoices(frames):
    hidden = frames["time_entries"].assign(amount=np.nan)
    with pytest.warns(RatesHiddenWarning, match="only the cash of open invoices can be forecast"):
        rows = cash_forecast(**{**frames, "time_entries": hidden}, horizons=(8,))
    assert rows[["cash_amount", "low_amount", "unbilled_cash_amount"]].isna().all(axis=None)
    assert rows.loc[0, "open_cash_amount"] == run(frames, horizons=(8,)).loc[0, "open_cash_amount"]


# What is refused.


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"horizons": (8, 4)}, "whole numbers of weeks from 1 to 52, in rising order"),
        ({"horizons": "years"}, "or 'weeks' or 'months'"),
        ({"level": 1.0}, "level=1.0 takes a share of cases"),
        ({"by": "matter"}, "by='matter' is not known"),
        ({"receipts": 3}, "receipts is an int; pass the frame that Mirror.implied_receipts returns"),
        ({"not_cash": "i5"}, "not_cash='i5' is one text; it takes a list of invoice ids"),
        ({"not_cash": ["1005"]}, "not_cash names none of the invoices"),
    ],
)
def test_other_arguments_are_refused(frames, change, sentence):
    with pytest.raises(ParameterError, match=sentence):
        run(frames, **change)


def test_receipts_without_a_column_are_refused(frames):
    with pytest.raises(MissingColumnError, match="receipts lacks until"):
        run(frames, receipts=frames["receipts"].drop(columns="until"))
    with pytest.raises(ParameterError, match="receipts: fall_amount is missing in some rows"):
        run(frames, receipts=frames["receipts"].assign(fall_amount=np.nan))


@pytest.mark.parametrize(
    ("invoices", "horizons", "sentence"),
    [
        (40, (13,), r"Only 40 invoices became final in \d+ weeks, and a forecast needs 50. Look at overdue_invoices"),
        # Other horizons would be refused again: the length of the data comes first.
        (80, (4, 13), r"The invoices begin \d+ weeks before 12 October 2025; a forecast needs 26 weeks"),
        (1, (13,), "Only 1 invoice became final in 1 week, and"),
        (0, (13,), "No invoice above 0 is final yet"),
    ],
)
def test_too_few_invoices_are_refused(frames, invoices, horizons, sentence):
    some = frames["invoices"].sort_values("invoice_date").tail(invoices)
    with pytest.raises(ParameterError, match=sentence):
        run(frames, invoices=some, horizons=horizons, receipts=None, since=None)


def test_the_advice_to_pass_longer_horizons_helps(frames):
    few = frames["invoices"].sort_values("invoice_date").tail(600).iloc[::4]
    alone = {"invoices": few, "receipts": None, "since": None}
    advice = r"Only \d+ invoices became final in the last year, and less than 8 weeks need 100. Pass horizons=\(8, 13\)"
    with pytest.raises(ParameterError, match=advice):
        run(frames, **alone, horizons=(4, 13))
    assert len(run(frames, **alone, horizons=(8, 13))) == 2


def test_a_contingency_firm_is_told_that_settlements_are_not_known(frames):
    matters = pd.DataFrame({"matter_id": ["m1"], "matter_type": ["contingency"]})
    entries, invoices = frames["time_entries"].assign(matter_id="m1"), frames["invoices"].tail(2)
    with pytest.raises(ParameterError, match="works on contingency, and the billing system does not say when matters"):
        run(frames, invoices=invoices, time_entries=entries, matters=matters, receipts=None, since=None)


def test_balances_taken_over_from_another_system_are_refused_without_a_mirror_until_told(frames):
    """Of what was billed over half a year ago, most is still open: only open balances came along."""
    day, invoices = pd.Timestamp(frames["as_of"]), frames["invoices"]
    old = invoices["invoice_date"] < day - pd.Timedelta(weeks=40)
    moved = invoices.assign(balance=invoices["amount"].where(old & (invoices.index % 2 == 0), invoices["balance"]))
    alone = {"invoices": moved, "receipts": None, "since": None, "horizons": (13,)}
    with pytest.raises(ParameterError, match="is still open. It may never be paid, or the data may begin with"):
        run(frames, **alone)
    told = run(frames, **alone, complete_from=day - pd.Timedelta(weeks=39))
    assert told.loc[0, "open_cash_amount"] > 0


def test_a_short_past_is_refused(frames):
    late = frames["invoices"]["invoice_date"] > pd.Timestamp(frames["as_of"]) - pd.Timedelta(weeks=20)
    with pytest.raises(ParameterError, match="begin 19 weeks before"):
        run(frames, invoices=frames["invoices"][late], horizons=(13,), receipts=None, since=None)


def test_a_day_before_the_load_needs_receipts(frames):
    invoices = frames["invoices"].copy()
    invoices.attrs["load"] = {"rows": len(invoices), "time": "2027-01-01T00:00:00+00:00", "arguments": {}, "period": {}}
    with pytest.raises(ParameterError, match="the forecast would know the future"):
        run(frames, invoices=invoices, receipts=None)


def test_a_day_long_after_the_load_lacks_work_and_invoices(frames):
    entries, day = frames["time_entries"].copy(), pd.Timestamp(frames["as_of"])
    load = {"rows": len(entries), "arguments": {}, "period": {}}
    for days in (7, 8):
        entries.attrs["load"] = load | {"time": f"{day - pd.Timedelta(days=days):%Y-%m-%d}T12:00:00+00:00"}
        rows = run(frames, time_entries=entries, horizons=(8,))
        assert [each["rule"] for each in rows.attrs["notes"]] == ["after_load"] * (days == 8)


def test_without_work_it_is_said_why_figures_are_missing(frames):
    with pytest.warns(IncompleteDataWarning, match="No time entries are passed, so only the cash of open invoices is"):
        rows = cash_forecast(**frames | {"time_entries": None}, horizons=(8,))
    assert rows[["cash_amount", "low_amount", "high_amount", "unbilled_cash_amount"]].isna().all(axis=None)
    assert rows.loc[0, "open_cash_amount"] > 0
    assert rows.loc[0, "naive_amount"] == pytest.approx(run(frames, horizons=(8,)).loc[0, "naive_amount"])


def test_the_simple_rule_stands_beside_the_forecast_and_is_named_where_it_is_nearer(frames):
    found, rows = record(frames, horizons=(4, 8)), run(frames, horizons=(4, 8))
    year = frames["invoices"]["invoice_date"] > pd.Timestamp(frames["as_of"]) - pd.Timedelta(weeks=52)
    billed = frames["invoices"]["amount"][year].sum() / 52
    paid = rows["naive_amount"] / billed / [4, 8]
    assert paid.to_numpy() == pytest.approx(paid[0])
    assert 0.9 < paid[0] <= 1
    named = [each["rule"] for each in rows.attrs["notes"]]
    assert "rule_is_nearer" not in named
    assert found.attrs["notes"] == rows.attrs["notes"]


def test_the_record_needs_receipts(frames):
    with pytest.raises(ParameterError, match="today's invoices don't show what came in"):
        cash_forecast_record(**{**frames, "receipts": None})


@pytest.mark.slow
def test_the_record_says_how_often_what_came_was_inside(frames):
    found = record(frames, horizons=(8, 13))
    narrow = record(frames, horizons=(8, 13), level=0.5)
    assert set(narrow["outcome"]) == {"inside", "above", "below"}
    assert (narrow["received_amount"] > narrow["high_amount"]).equals(narrow["outcome"] == "above")
    assert (narrow["received_amount"] < narrow["low_amount"]).equals(narrow["outcome"] == "below")
    assert found["error"].to_numpy() == pytest.approx(found["received_amount"] / found["cash_amount"] - 1)
    eight = found[found["weeks"] == 8]
    assert run(frames, horizons=(8, 13)).attrs["record"][0] | {"horizon": ""} == pytest.approx(
        {
            "horizon": "",
            "weeks": 8.0,
            "forecasts": len(eight),
            "inside": int((eight["outcome"] == "inside").sum()),
            "error": (eight["cash_amount"] - eight["received_amount"]).abs().sum() / eight["received_amount"].sum(),
            "naive_error": (eight["naive_amount"] - eight["received_amount"]).abs().sum()
            / eight["received_amount"].sum(),
            "phi": pytest.approx(run(frames, horizons=(8,)).attrs["record"][0]["phi"]),
        }
    )
