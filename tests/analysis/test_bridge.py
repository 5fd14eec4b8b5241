"""The parts of a bridge add up to the change exactly, for any groups, and follow the formula."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from billframes.analysis import bridge, compare
from billframes.errors import IncompleteDataWarning, MissingColumnError, ParameterError, RatesHiddenWarning
from tests.examples import examples

CENTS = st.integers(-20_000, 200_000).map(lambda cents: cents / 100)
FIGURES = st.tuples(st.sampled_from([0.0, 0.5, 2.0, 7.25, -1.0]), st.sampled_from([0.0, 100.0, 333.33]), CENTS)
RESULTS = st.dictionaries(st.sampled_from(["c1", "c2", "c3", None]), FIGURES)
PARTS = ["hours_change_amount", "rate_change_amount", "realization_change_amount", "mix_change_amount"]


def result(rows: dict) -> pd.DataFrame:
    """A result of `realization` by client from (hours, worth per hour, billed)."""
    return pd.DataFrame(
        {
            "client_id": pd.Series(list(rows), dtype="str"),
            "client_name": pd.Series([each and each.upper() for each in rows], dtype="str"),
            "worked_amount": [hours * rate for hours, rate, _ in rows.values()],
            "billed_amount": [billed for _, _, billed in rows.values()],
            "billing_realization": None,
            "billable_hours": [hours for hours, _, _ in rows.values()],
            "effective_rate": None,
        }
    )


def by_client(frame: pd.DataFrame) -> dict:
    return {row["client_name"]: row for row in frame.to_dict("records")}


@examples(10)
@given(RESULTS, RESULTS)
def test_the_parts_of_a_ratio_add_up_to_its_change(first, second):
    before, after = result(first), result(second)
    rows = bridge(before, after)
    assert set(rows["client_id"].astype(object).where(rows["client_id"].notna(), None)) == {*first, *second}
    worth = [each["worked_amount"].sum() for each in (before, after)]
    if min(map(abs, worth)) < 1e-6:
        assert rows["change_ratio"].isna().all()
        return
    whole = [each["billed_amount"].sum() / of for each, of in zip((before, after), worth, strict=True)]
    assert rows["change_ratio"].sum() == pytest.approx(whole[1] - whole[0], rel=1e-9, abs=1e-6)
    total = rows["own_change_ratio"] + rows["mix_change_ratio"]
    assert total.tolist() == pytest.approx(rows["change_ratio"].tolist())
    back = bridge(after, before).set_index("client_id")
    for name in ("own_change_ratio", "mix_change_ratio"):
        assert (rows.set_index("client_id")[name] + back[name]).abs().max() < 1e-6


@examples(10)
@given(RESULTS, RESULTS)
def test_the_parts_of_fees_add_up_to_the_cent_in_every_row_and_in_all(first, second):
    before, after = result(first), result(second)
    rows = bridge(before, after, "billed_amount")
    assert ((rows[PARTS].sum(axis=1) - rows["change_amount"]).abs() < 0.005).all()
    whole = after["billed_amount"].sum() - before["billed_amount"].sum()
    assert rows[PARTS].sum().sum() == pytest.approx(whole, abs=0.005)
    assert ((rows["after_amount"] - rows["before_amount"] - rows["change_amount"]).abs() < 1e-9).all()


def test_a_group_in_only_one_period_has_no_own_change():
    before = result({"c1": (2.0, 100.0, 200.0), "c2": (2.0, 100.0, 100.0)})
    after = result({"c1": (2.0, 100.0, 200.0), "c3": (6.0, 100.0, 300.0)})
    rows = by_client(bridge(before, after))
    assert [rows[name]["own_change_ratio"] for name in ("C1", "C2", "C3")] == [0.0, 0.0, 0.0]
    # C2 leaves with half of the work at 50%, C3 comes with three quarters of it, and the whole has 75% and then 62.5%.
    assert rows["C2"]["mix_change_ratio"] == pytest.approx(-0.5 * ((0.5 - 0.75) + (0.5 - 0.625)) / 2)
    assert rows["C3"]["mix_change_ratio"] == pytest.approx(0.75 * ((0.5 - 0.75) + (0.5 - 0.625)) / 2)
    fees = by_client(bridge(before, after, "billed_amount"))
    assert fees["C3"]["rate_change_amount"] == fees["C3"]["realization_change_amount"] == 0.0
    assert fees["C3"]["hours_change_amount"] + fees["C3"]["mix_change_amount"] == pytest.approx(300.0)


@pytest.mark.parametrize("measure", ["billing_realization", "billed_amount"])
def test_results_without_rows_have_no_changes(measure):
    nothing = result({})
    assert bridge(nothing, nothing, measure).empty
    months = {"2026-09": nothing, "2026-10": nothing}
    assert compare(months, measure).empty
    assert compare(months, measure, as_columns=True).empty


def test_a_credit_note_is_own_change_and_in_fees_realization():
    before = result({"c1": (2.0, 100.0, 200.0)})
    after = result({"c1": (2.0, 100.0, 200.0), None: (0.0, 100.0, -50.0)})
    (credit,) = [row for row in bridge(before, after).to_dict("records") if pd.isna(row["client_id"])]
    assert (credit["own_change_ratio"], credit["mix_change_ratio"]) == (-0.25, 0.0)
    assert pd.isna(credit["after_ratio"])
    fees = bridge(before, after, "billed_amount")
    assert fees[PARTS].sum().tolist() == [0.0, 0.0, -50.0, 0.0]


def test_if_only_rates_rise_the_change_is_due_to_rates():
    before = result({"c1": (2.0, 100.0, 180.0), "c2": (3.0, 200.0, 300.0)})
    after = result({"c1": (2.0, 110.0, 198.0), "c2": (3.0, 200.0, 300.0)})
    assert bridge(before, after, "billed_amount")[PARTS].sum().tolist() == pytest.approx([0.0, 18.0, 0.0, 0.0])


def test_hidden_rates_leave_the_parts_due_to_hours_and_mix():
    before = result({"c1": (2.0, 100.0, 180.0), "c2": (2.0, 200.0, 300.0)})
    after = result({"c1": (3.0, 100.0, 270.0), "c2": (2.0, 220.0, 330.0)})
    known = bridge(before, after, "billed_amount")
    hidden = [each.assign(worked_amount=None) for each in (before, after)]
    with pytest.warns(
        RatesHiddenWarning, match="worked_amount is missing in 2 of 2 rows, so .* rate and to realization"
    ):
        rows = bridge(*hidden, "billed_amount")
    assert rows[["rate_change_amount", "realization_change_amount"]].isna().all(axis=None)
    for name in ("hours_change_amount", "mix_change_amount", "change_amount"):
        assert rows[name].tolist() == pytest.approx(known[name].tolist())
    with pytest.warns(
        RatesHiddenWarning, match="worked_amount is missing in 2 of 2 rows, so the change can't be split"
    ):
        assert bridge(*hidden)["change_ratio"].isna().all()


def test_some_of_the_keys_are_added_up_first():
    rows = result({"c1": (2.0, 100.0, 200.0), "c2": (2.0, 100.0, 100.0)})
    both = pd.concat([rows.assign(role="attorney"), rows.assign(role="principal")], ignore_index=True)
    both = both[["client_id", "client_name", "role", *rows.columns[2:]]]
    parts = bridge(both, both.assign(billed_amount=both["billed_amount"] * 1.1), by="client")
    assert parts.columns[:3].tolist() == ["client_id", "client_name", "before_ratio"]
    assert parts["before_whole"].tolist() == [400.0, 400.0]


FIRST = result({"c1": (2.0, 100.0, 200.0)})
REFUSED = {
    "of other keys": ((FIRST, FIRST.drop(columns="client_id")), {}, "with the same by="),
    "of a sum": ((FIRST, FIRST), {"measure": "billable_hours"}, "can't be split.*, the results have 'billing_real"),
    "misspelt": ((FIRST, FIRST), {"measure": "biling_realization"}, "Did you mean 'billing_realization'"),
    "by what isn't there": ((FIRST, FIRST), {"by": "user"}, "the results have no rows by user_id"),
    "of several results together": ((FIRST, pd.concat([FIRST] * 2)), {}, "after has client_id='c1' twice"),
    "of months": ((FIRST.assign(client_id="2026-10").rename(columns={"client_id": "month"}),) * 2, {}, "rows by month"),
    "of other engines": ((FIRST, FIRST.to_dict("list")), {}, "takes a pandas"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_input_that_would_give_a_wrong_split_is_refused(case):
    frames, options, message = REFUSED[case]
    with pytest.raises(ParameterError, match=message):
        bridge(*frames, **options)


def test_a_result_with_its_total_among_the_rows_is_refused():
    before, after = result({"c1": (2.0, 100.0, 150.0), "c2": (3.0, 100.0, 250.0)}), result({"c1": (1.0, 100.0, 90.0)})
    total = pd.DataFrame([{"worked_amount": 500.0, "billed_amount": 400.0, "billable_hours": 5.0}])
    for row in (total, total.assign(client_name="Total")):
        with pytest.raises(ParameterError, match=r"before has a row that is the total of the other rows.*\(row 2\)"):
            bridge(pd.concat([before, row]), after)
        with pytest.raises(ParameterError, match=r"results\['2026-09'\] has a row that is the total of the other rows"):
            compare({"2026-09": pd.concat([before, row]), "2026-10": after}, "billed_amount")
    same = result({"c1": (2.0, 100.0, 150.0), "c2": (0.0, 0.0, 0.0), None: (2.0, 100.0, 150.0)})
    assert len(bridge(same, after)) == 3


def test_a_frame_that_is_not_a_result_says_what_is_missing():
    with pytest.raises(MissingColumnError, match="before has no column 'billed_amount', 'worked_amount'"):
        bridge(FIRST[["client_id", "client_name"]], FIRST)


@pytest.fixture(scope="module")
def book(october_book):
    return october_book


SPLIT = """
with net as (
  select i.invoice_id, i.client_id, substr(i.invoice_date, 1, 7) as month, i.amount
    - coalesce((select sum(amount) from expense where invoice_id = i.invoice_id), 0)
    - coalesce((select sum(amount) from fixed_fee where invoice_id = i.invoice_id), 0) as billed
  from invoice i where i.invoice_state = 'final' and substr(i.invoice_date, 1, 7) in ('2026-09', '2026-10')
), sums as (
  select client_id, month, sum(billed) / 10000.0 as billed,
    sum(coalesce((select sum(amount) from time_entry e
                  where e.invoice_id = net.invoice_id and billing_type = 'billable'), 0)) / 10000.0 as worth
  from net group by client_id, month
), both as (
  select c.client_id, coalesce(b.billed, 0) as n0, coalesce(b.worth, 0) as d0,
    coalesce(a.billed, 0) as n1, coalesce(a.worth, 0) as d1
  from (select distinct client_id from sums) c
  left join sums b on b.client_id = c.client_id and b.month = '2026-09'
  left join sums a on a.client_id = c.client_id and a.month = '2026-10'
), whole as (select sum(d0) as s0, sum(d1) as s1, sum(n0) / sum(d0) as r0, sum(n1) / sum(d1) as r1 from both)
select client_id, 0.5 * (d0 / s0 + d1 / s1) * (n1 / d1 - n0 / d0),
  0.5 * ((n0 / d0 - r0) + (n1 / d1 - r1)) * (d1 / s1 - d0 / s0)
from both, whole where d0 > 0 and d1 > 0
"""


def test_a_book_splits_the_change_since_the_month_before_as_the_database_does(book, sql):
    every = ("hourly", "fixedFee", "contingency", "probono", "internal")
    months = [book.realization("client", start=month, matter_types=every) for month in ("2026-09", "2026-10")]
    rows = bridge(*months).set_index("client_id")
    wanted = {client: (own, mix) for client, own, mix in sql(SPLIT)}
    assert len(wanted) > 10
    for client, parts in wanted.items():
        actual = rows.loc[client, ["own_change_ratio", "mix_change_ratio"]]
        assert actual.tolist() == pytest.approx(parts, abs=1e-9)
    own = book.bridge(by="client")
    pd.testing.assert_frame_equal(own, bridge(book.realization("client", start="2026-09"), book.realization("client")))


def test_a_book_splits_other_measures_over_other_periods(book):
    hours = book.bridge("utilization", by="user", before="2025-10")
    wanted = (
        book.utilization(None)["utilization"].iloc[0] - book.utilization(None, start="2025-10")["utilization"].iloc[0]
    )
    assert hours["change_ratio"].sum() == pytest.approx(wanted)
    with pytest.warns(IncompleteDataWarning, match="the period before has 92 days and the period 31"):
        fees = book.bridge("billed_amount", by="practice_area", before=("2026-07-01", "2026-09-30"))
    assert fees["before_amount"].sum() == pytest.approx(book.realization(start="2026-Q3")["billed_amount"].sum())
    with pytest.raises(ParameterError, match="overlaps 2026-10-01 to 2026-10-31"):
        book.bridge(before="2026")
    with pytest.raises(ParameterError, match=r"before \(2026-11-01 to 2026-11-30\) is after 2026-10-01"):
        book.bridge(before="2026-11")
    with pytest.raises(ParameterError, match=r"a period.*implied_receipts.* Did you mean 'settlement_ratio'"):
        book.bridge("setlement_ratio")
