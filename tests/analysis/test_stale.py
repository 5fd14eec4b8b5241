"""Findings, compared with figures worked out by hand, and with work in progress and receivables by matter."""

from __future__ import annotations

import pytest
from hypothesis import given

from billframes.analysis import aging, fixed_fee_realization, stale, wip
from billframes.config.firm import FirmSettings
from billframes.errors import MissingColumnError, ParameterError, RatesHiddenWarning
from tests.analysis.test_properties_money import BOOKS, CLIENT_OF, QUICK

WORK = (
    ("2026-06-01", "u1", "c1", "m1", "billable", 2.0, 600.0, None),
    ("2026-10-20", "u1", "c1", "m1", "billable", 1.0, 300.0, None),
    ("2026-03-01", "u2", "c2", "m2", "billable", 1.0, 200.0, "i1"),
    ("2026-10-01", "u2", "c3", "m5", "fixedFee", 4.0, None, None),
    ("2026-11-02", "u2", "c3", "m5", "fixedFee", 8.0, None, None),
    ("2026-10-15", "u2", "c3", "m3", "nonBillable", 1.0, None, None),
)
BILLS = (
    ("i1", "2026-03-15", "final", "2026-04-15", "c2", 700.0, 50.0),
    ("i2", "2026-11-05", "final", "2026-12-15", "c2", 200.0, 200.0),
)
FEES = (
    ("2026-09-01", "m5", None, 3000.0, None, "f1"),
    ("2026-09-02", "m5", None, 1000.0, "i2", "f2"),
    ("2026-11-01", "m5", None, 500.0, None, "f3"),
    ("2026-03-02", "m5", None, 500.0, "i1", "f4"),
)
LINKS = [None, None, None, "f1", "f1", None]
FIRM = {
    "archived": [True, False, False, False, False],
    "client_id": ["c1", "c2", "c3", "c3", "c3"],
    "client_name": ["Acme", "Acme", "Zenith", "Zenith", "Zenith"],
    "opened": ["2026-01-01", "2026-01-01", "2026-01-01", "2026-06-01", "2026-01-01"],
}


def given_frames(firm, work=WORK):
    costs = firm.frame("date matter_id user_id amount invoice_id")
    fees = firm.frame("date matter_id user_id amount invoice_id fixed_fee_id", *FEES)
    return {
        "time_entries": firm.entries(*work, fixed_fee_id=LINKS),
        "expenses": costs,
        "fixed_fees": fees,
        "invoices": firm.invoices(*BILLS),
        "matters": firm.matters(**FIRM),
    }


def run(firm, work=WORK, **options):
    return firm.rows(stale(**given_frames(firm, work), **{"as_of": "2026-10-31", **options}))


def test_each_finding_with_its_amount_and_days(firm):
    names = ("finding", "matter_name", "days_since", "open_amount", "contingent_amount", "hours")
    assert [[row[name] for name in names] for row in run(firm, idle_days=100)] == [
        ["old work in progress", "Sale", 152.0, 600.0, 0.0, None],
        ["archived with work in progress", "Sale", 152.0, 900.0, 0.0, 3.0],
        ["no work or invoice", "Lease", 230.0, 14.285714285714285, 0.0, None],
        ["no work or invoice", "Office", 152.0, 0.0, 0.0, None],
        ["open fixed fee", "Contingent", 60.0, 0.0, 3000.0, 4.0],
        ["open fixed fee", "Contingent", 59.0, 0.0, 1000.0, 0.0],
    ]


def test_effort_is_at_standard_rates_or_missing(firm):
    rates = FirmSettings(standard_rates={"u2": 250.0})
    assert [row["effort_amount"] for row in run(firm, settings=rates)][-2:] == [1000.0, 0.0]
    assert [row["effort_amount"] for row in run(firm)][-2:] == [None, None]
    dated = FirmSettings(standard_rates={"u2": {"2020-01-01": 125.0, "2099-01-01": 999.0}})
    assert [row["effort_amount"] for row in run(firm, settings=dated)][-2:] == [500.0, 0.0]
    others = run(firm, settings=FirmSettings(standard_rates={"u1": 1.0}))
    assert [row["effort_amount"] for row in others][-2:] == [None, 0.0]


def test_a_limit_counts_whole_days_beyond_it(pandas_firm):
    findings = [row["finding"] for row in run(pandas_firm, wip_days=152, idle_days=230)]
    assert "old work in progress" not in findings
    assert "no work or invoice" not in findings
    findings = [row["finding"] for row in run(pandas_firm, wip_days=151, idle_days=229)]
    assert {"old work in progress", "no work or invoice"} <= set(findings)


@pytest.mark.parametrize("limits", [{"wip_days": 0}, {"idle_days": -1}, {"wip_days": 1.5}])
def test_limits_are_whole_days(pandas_firm, limits):
    with pytest.raises(ParameterError, match="must be a whole number of days above 0"):
        run(pandas_firm, **limits)


def test_hidden_rates_leave_amounts_missing_and_findings_there(firm):
    hidden = [(*row[:6], None, row[7]) for row in WORK]
    with pytest.warns(RatesHiddenWarning):
        rows = run(firm, hidden)
    assert [(row["finding"], row["open_amount"]) for row in rows][:2] == [
        ("old work in progress", None), ("archived with work in progress", None),
    ]  # fmt: skip


def test_a_missing_column_is_named(pandas_firm):
    frames = given_frames(pandas_firm)
    frames["matters"] = frames["matters"].drop(columns="archived")
    with pytest.raises(MissingColumnError, match="matters has no column 'archived'"):
        stale(**frames, as_of="2026-10-31")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*may be missing:billframes.errors.IncompleteDataWarning")
@given(book=BOOKS)
@QUICK
def test_amounts_are_those_of_work_in_progress_and_aging(pandas_firm, book):
    work, bills, costs, fees = book
    header = "date user_id client_id matter_id amount invoice_id"
    entries = pandas_firm.entries(*work, fixed_fee_id=["f0" if fees and nth % 3 else None for nth in range(len(work))])
    fixed = pandas_firm.frame(header, *fees).assign(fixed_fee_id=[f"f{nth}" for nth in range(len(fees))])
    spent, invoices = pandas_firm.frame(header, *costs), pandas_firm.invoices(*bills)
    frames = {"time_entries": entries, "expenses": spent, "fixed_fees": fixed, "invoices": invoices}
    archived = {"archived": [True] * 5, "client_id": ["c1"] * 5, "client_name": ["Acme"] * 5}
    matters = pandas_firm.matters(**archived)
    rows = stale(**frames, matters=matters, as_of="2026-10-31", wip_days=30)
    rows["amount"] = rows["open_amount"] + rows["contingent_amount"]
    amounts = rows.groupby(["finding", "matter_id"])["amount"].sum()
    on_contingency = rows["matter_id"] == "m5"
    assert not rows.loc[on_contingency & (rows["finding"] != "archived with receivables"), "open_amount"].any()
    assert not rows.loc[~on_contingency, "contingent_amount"].any()
    waiting = wip(**frames, as_of="2026-10-31", by="matter", buckets=(30,)).set_index("matter_id")
    owed = aging(**frames, as_of="2026-10-31", by="matter", matters=matters).set_index("matter_id")
    wanted = {
        "old work in progress": waiting["31+"],
        "archived with work in progress": waiting["total"],
        "archived with receivables": owed["total"],
        "open fixed fee": waiting["fixed_fee_amount"],
    }
    for matter in CLIENT_OF:
        for finding, figures in wanted.items():
            assert amounts.get((finding, matter), 0.0) == pytest.approx(figures.get(matter, 0.0), abs=1e-6)
    effort = fixed_fee_realization(entries.query("date <= '2026-10-31'"), fixed_fees=fixed, by="fixed_fee_id")
    hours = effort.set_index("fixed_fee_id")["linked_hours"]
    for row in rows[rows["finding"] == "open fixed fee"].to_dict("records"):
        known = hours.get(row["fixed_fee_id"], 0.0)
        assert row["hours"] == pytest.approx(known, abs=1e-9) or known == 0.0


@pytest.mark.parametrize(
    ("opened", "since"),
    [
        ("2026-10-24", None),
        ("2026-07-01", "2026-07-01"),
        ("2025-01-01", "2026-03-15"),
        (None, "2026-03-15"),
        ("2026-11-20", None),
    ],
)
def test_the_last_day_of_a_matter_is_the_latest_of_opening_work_and_invoice(firm, opened, since):
    """The matter "Lease" has had no work and no invoice since 15 March 2026."""
    frames = given_frames(firm)
    frames["matters"] = firm.matters(**FIRM | {"opened": ["2026-01-01", opened, *FIRM["opened"][2:]]})
    rows = firm.rows(stale(**frames, as_of="2026-10-31", idle_days=100))
    found = [
        str(row["since"])[:10] for row in rows if row["finding"] == "no work or invoice" and row["matter_id"] == "m2"
    ]
    assert found == ([since] if since else [])


def test_a_matter_without_any_day_is_undated_and_not_idle(firm):
    frames = given_frames(firm)
    frames["matters"] = firm.matters(**FIRM | {"opened": [*FIRM["opened"][:3], None, None]})
    rows = firm.rows(stale(**frames, as_of="2026-10-31", idle_days=100))
    assert [row["matter_name"] for row in rows if row["finding"] == "no work or invoice"] == ["Lease"]
