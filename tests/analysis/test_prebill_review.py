"""Items of prebills and their flags, compared with figures worked out by hand, `reconcile` and `aging`."""

from __future__ import annotations

import pytest
from hypothesis import given

from billframes.analysis import aging, prebill_review, reconcile
from billframes.config.firm import FirmSettings
from billframes.errors import MissingColumnError, ParameterError, RatesHiddenWarning
from tests.analysis.test_properties_money import BOOKS, QUICK, frames

WORK = (
    ("2026-10-01", "u1", "c1", "m1", "billable", 8.0, 2400.0, "i1"),
    ("2026-10-01", "u1", "c1", "m2", "billable", 5.0, 1500.0, "i9"),
    ("2026-10-02", "u2", "c1", "m2", "billable", 0.5, 100.0, "i1"),
    ("2026-10-02", "u2", "c1", "m2", "billable", 0.5, 100.0, None),
    ("2026-11-03", "u2", "c1", "m2", "nonBillable", 1.0, None, "i1"),
    ("2026-10-05", "u2", "c2", "m5", "fixedFee", 1.0, None, "i2"),
)
NOTED = {
    "time_entry_id": [f"t{nth}" for nth in range(6)],
    "description": ["Brief", "Other", "Call", "call.", " - ", "Plan"],
    "created_at": [f"2026-{day}T03:30:00+00:00" for day in ("10-02", "10-02", "10-11", "10-02", "11-03", "10-05")],
}
BILLS = (
    ("i1", "2026-10-31", "draft", None, "c1", 2300.0, 2300.0),
    ("i2", "2026-10-31", "review", None, "c2", 500.0, 500.0),
    ("i3", "2026-10-31", "approved", None, "c3", -50.0, -50.0),
    ("i9", "2026-10-05", "final", "2026-10-15", "c1", 1500.0, 900.0),
)


def run(firm, work=WORK, frames=None, **options):
    header = "date matter_id user_id amount invoice_id"
    costs = firm.frame(header, ("2026-10-09", "m1", None, 40.0, "i1"))
    bills = firm.invoices(*BILLS)
    options = {"matters": firm.matters(), "as_of": "2026-10-31", **options}
    return firm.rows(
        prebill_review(
            firm.entries(*work, **NOTED), expenses=costs, fixed_fees=firm.frame(header), invoices=bills, **options
        )
    )


def test_items_of_prebills_with_flags_and_the_invoices_figures(firm):
    rows = run(firm)
    names = ("invoice_id", "item", "responsible_name", "item_amount", "findings")
    assert [[row[name] for name in names] for row in rows] == [
        ["i1", "time_entry", "Ada", 2400.0, "13 hours on that day"],
        ["i1", "time_entry", "Ben", 100.0, "possible duplicate; entered 9 days later"],
        ["i1", "expense", "Ada", 40.0, "no narrative"],
        ["i1", "time_entry", "Ben", None, "no narrative; dated after the invoice"],
        ["i2", "time_entry", "Ben", None, None],
        ["i3", None, None, None, None],
    ]
    figures = ("invoice_amount", "items_amount", "unexplained_amount", "client_overdue")
    assert [rows[0][name] for name in figures] == [2300.0, 2540.0, -240.0, 900.0]
    assert [rows[5][name] for name in figures] == [-50.0, 0.0, -50.0, 0.0]


def test_the_firms_day_decides_what_was_entered_late(firm):
    """Half past three of the 11th in UTC is the evening of the 10th in New York: 8 days, not 9."""
    rows = run(firm, settings=FirmSettings(time_zone="America/New_York"))
    assert rows[1]["findings"] == "possible duplicate; entered 8 days later"


@pytest.mark.slow
def test_a_lawyers_invoices_have_all_their_items(firm):
    for name in ("ada", "u1"):
        rows = run(firm, responsible=name)
        assert [row["invoice_id"] for row in rows] == ["i1"] * 4
    assert {row["invoice_id"] for row in run(firm, responsible="Ben")} == {"i1", "i2"}
    assert {row["invoice_id"] for row in run(firm, invoice=["i2", "i3"])} == {"i2", "i3"}
    assert run(firm, invoice="i2", responsible="Ada") == []


def test_hidden_rates_are_missing_and_no_entry_is_flagged_for_them(pandas_firm):
    hidden = [(*row[:6], None, row[7]) for row in WORK]
    with pytest.warns(RatesHiddenWarning):
        rows = run(pandas_firm, hidden)
    assert rows[0]["findings"] == "13 hours on that day"
    assert rows[0]["items_amount"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"invoice": "i9"}, "Invoice 'i9' is final; only draft, review and approved ones can be reviewed"),
        ({"invoice": "77"}, "There is no invoice '77' among those passed"),
        ({"responsible": "Bem"}, "No responsible lawyer has the name, reference or id 'Bem'. Did you mean 'Ben'?"),
        ({"responsible": "Ada", "matters": None}, "responsible='Ada' needs matters="),
    ],
)
def test_what_is_not_there_is_named(pandas_firm, options, message):
    with pytest.raises(ParameterError) as refused:
        run(pandas_firm, **options)
    assert message in str(refused.value)


def test_errors_do_not_quote_narratives(pandas_firm):
    entries = pandas_firm.entries(*WORK, **NOTED).drop(columns="hours")
    bills = pandas_firm.invoices(*BILLS)
    with pytest.raises(MissingColumnError, match="time_entries has no column 'hours'") as refused:
        prebill_review(entries, invoices=bills, matters=pandas_firm.matters())
    assert "Brief" not in str(refused.value)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*may be missing:billframes.errors.IncompleteDataWarning")
@QUICK
@given(book=BOOKS)
def test_items_re_add_to_what_reconcile_and_aging_say(pandas_firm, book):
    entries, bills, costs, fees = frames(pandas_firm, book)
    entries = entries.assign(time_entry_id=[f"t{nth}" for nth in range(len(entries))], description="Call")
    rows = prebill_review(entries, expenses=costs, fixed_fees=fees, invoices=bills, as_of="2026-10-31")
    compared = reconcile(entries, expenses=costs, fixed_fees=fees, invoices=bills).set_index("invoice_id")
    assert set(rows["invoice_id"]) == set(compared.index[compared["invoice_state"] != "final"])
    overdue = aging(bills, as_of="2026-10-31", by="client").set_index("client_id")["overdue"]
    for invoice, items in rows.groupby("invoice_id"):
        assert items["item_amount"].sum() == pytest.approx(compared.loc[invoice, "items_amount"], abs=1e-6)
        head = items.iloc[0]
        assert head["unexplained_amount"] == pytest.approx(compared.loc[invoice, "unexplained_amount"], abs=1e-6)
        assert head["client_overdue"] == pytest.approx(overdue.get(head["client_id"], 0.0), abs=1e-6)
