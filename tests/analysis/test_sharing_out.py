"""How fees, balances and write-ups are shared out, so that rows add up to the whole."""

from __future__ import annotations

import pytest

from billframes.analysis import (
    aging,
    budget_burn,
    contribution,
    exposure,
    fixed_fee_realization,
    realization,
    write_downs,
)
from billframes.analysis.declare.columns import MATTER_TYPES
from billframes.analysis.declare.lookup import analyses, measures
from billframes.analysis.results.result_rows import total_of
from billframes.config.firm import FirmSettings
from billframes.errors import IncompleteDataWarning

COSTS = "matter_id user_id client_id date amount invoice_id"
DAY = "2026-10-05"


def frames(firm, work, bills, *, expenses=(), fees=()):
    """Return frames from (user, hours, amount, invoice) and (invoice, amount, balance); items have no matter of u3."""
    matters = {"u1": "m1", "u2": "m2", "u3": "m5"}
    rows = [("2026-09-01", user, "c1", matters[user], "billable", *rest) for user, *rest in work]
    return {
        "time_entries": firm.entries(*rows),
        "expenses": firm.frame(COSTS, *expenses),
        "fixed_fees": firm.frame(COSTS, *fees),
        "invoices": firm.invoices(*[(id_, DAY, "final", DAY, "c1", *rest) for id_, *rest in bills]),
    }


def by_user(firm, analysis, given_frames, column, **options):
    return {row["user_id"]: row[column] for row in firm.rows(analysis(**given_frames, by="user", **options))}


def test_write_ups_are_decided_for_the_whole_invoice(firm):
    """u2's correction of -100 on an invoice that is written down was a write-up of 10 before."""
    work = [("u1", 10.0, 1000.0, "i1"), ("u2", -1.0, -100.0, "i1"), ("u3", 1.0, 100.0, "i1")]
    for amount, whole, parts in ((900.0, 0.0, (0.0, 0.0, 0.0)), (1100.0, 100.0, (100.0, -10.0, 10.0))):
        given_frames = frames(firm, work, [("i1", amount, 0.0)])
        options = {"matter_types": MATTER_TYPES}
        (row,) = firm.rows(write_downs(**given_frames, by=None, **options))
        assert row["write_up_amount"] == pytest.approx(whole)
        ups = by_user(firm, write_downs, given_frames, "write_up_amount", **options)
        assert ups == pytest.approx(dict(zip(("u1", "u2", "u3"), parts, strict=True)))


def test_an_invoice_of_fixed_fees_or_expenses_counts_where_its_items_are(firm):
    given_frames = frames(
        firm,
        [("u1", 1.0, 100.0, "i1")],
        [("i1", 100.0, 0.0), ("i2", 500.0, 0.0), ("i3", 30.0, 0.0), ("i4", -5.0, 0.0)],
        expenses=[("m1", "u1", "c1", DAY, 30.0, "i3")],
        fees=[("m2", "u2", "c1", DAY, 500.0, "i2")],
    )
    counts = by_user(firm, write_downs, given_frames, "invoices", matter_types=MATTER_TYPES)
    assert counts == {"u1": 2.0, "u2": 1.0, None: 1.0}
    (row,) = firm.rows(write_downs(**given_frames, by=None, matter_types=MATTER_TYPES))
    assert (row["invoices"], row["written_down_invoices"]) == (4.0, 1.0)


CANCELLED = [("u1", 10.0, 1000.0, "i1"), ("u2", -9.5, -950.0, "i1")]


def test_fees_of_time_that_corrections_nearly_cancel_count_for_the_client(firm):
    """Shared by worth, u1 had fees of 18,000 and u2 of -17,100."""
    given_frames = frames(firm, CANCELLED, [("i1", 900.0, 90.0)])
    note = "1 invoice has entries below 0 that nearly cancel its other time, so its fees of 900.00 can't be shared out"
    with pytest.warns(IncompleteDataWarning, match=f"realization: {note}"):
        fees = by_user(firm, realization, given_frames, "billed_amount", matter_types=MATTER_TYPES)
    assert fees == {"u1": 0.0, "u2": 0.0, None: 900.0}
    with pytest.warns(IncompleteDataWarning, match=f"contribution: {note}"):
        assert by_user(firm, contribution, given_frames, "fees_amount") == {None: 900.0, "u1": 0.0, "u2": 0.0}
    with pytest.warns(IncompleteDataWarning, match=f"budget_burn: {note}"):
        rows = firm.rows(budget_burn(**given_frames, settings=FirmSettings(budgets={"m1": 100})))
    assert (rows[0]["used_amount"], rows[0]["unbudgeted_amount"]) == (0.0, 900.0)
    assert by_user(firm, aging, given_frames, "total", as_of="2026-10-31") == pytest.approx(
        {None: 90.0, "u1": 0.0, "u2": 0.0}
    )
    # Rows of clients need no note.
    (row,) = firm.rows(contribution(**given_frames, by="client"))
    assert (row["client_id"], row["fees_amount"]) == ("c1", 900.0)


def test_cancelled_time_without_fees_needs_no_note(firm):
    given_frames = frames(firm, CANCELLED, [("i1", 0.0, 0.0)])
    fees = by_user(firm, realization, given_frames, "billed_amount", matter_types=MATTER_TYPES)
    assert fees == {"u1": 0.0, "u2": 0.0, None: 0.0}


def test_a_tenth_of_the_worth_is_enough_to_share_by(firm):
    given_frames = frames(firm, [("u1", 11.0, 1100.0, "i1"), ("u2", -9.0, -900.0, "i1")], [("i1", 200.0, 0.0)])
    fees = by_user(firm, realization, given_frames, "billed_amount", matter_types=MATTER_TYPES)
    assert fees == pytest.approx({"u1": 1100.0, "u2": -900.0})
    hidden = [("u1", 10.0, 0.0, "i1"), ("u2", -9.5, 0.0, "i1")]
    with pytest.warns(IncompleteDataWarning, match="can't be shared out"):
        fees = by_user(
            firm, realization, frames(firm, hidden, [("i1", 200.0, 0.0)]), "billed_amount", matter_types=MATTER_TYPES
        )
    assert fees == {"u1": 0.0, "u2": 0.0, None: 200.0}


def test_a_balance_without_items_is_on_the_invoices_own_matter_and_its_fees_are_on_none(firm):
    given_frames = frames(firm, [("u1", 1.0, 100.0, "i1")], [("i1", 100.0, 60.0), ("i2", 50.0, 50.0)])
    bills = [("i1", DAY, DAY, "final", 100.0, 60.0, "c1", "m5"), ("i2", DAY, DAY, "final", 50.0, 50.0, "c1", "m2")]
    header = "invoice_id invoice_date due_date invoice_state amount balance client_id matter_id"
    given_frames["invoices"] = firm.frame(header, *bills)
    given_frames["matters"] = firm.matters()

    def by_matter(analysis, column, **options):
        return {row["matter_id"]: row[column] for row in firm.rows(analysis(**given_frames, by="matter", **options))}

    assert by_matter(aging, "total", as_of="2026-10-31") == {"m1": 60.0, "m2": 50.0}
    assert by_matter(contribution, "fees_amount") == {"m1": 100.0, None: 50.0}
    rows = firm.rows(aging(**given_frames, by="responsible", as_of="2026-10-31"))
    assert {row["responsible_name"]: row["total"] for row in rows} == {"Ada": 60.0, "Ben": 50.0}
    exposed = {
        name: each for name, each in by_matter(exposure, "receivable_amount", as_of="2026-10-31").items() if each
    }
    assert exposed == {"m1": 60.0, "m2": 50.0}


def test_a_fixed_fee_is_shared_by_hours_whatever_the_rates(firm):
    entries = firm.entries(
        ("2026-09-01", "u1", "c1", "m1", "fixedFee", 6.0, None, None),
        ("2026-09-01", "u2", "c1", "m1", "fixedFee", 4.0, None, None),
        fixed_fee_id=["f1", "f1"],
    )
    fees = firm.frame(f"fixed_fee_id {COSTS}", ("f1", "m1", "u1", "c1", DAY, 1000.0, None))
    for rates in ({}, {"u1": 400.0, "u2": 100.0}):
        settings = FirmSettings(standard_rates=rates)
        rows = firm.rows(fixed_fee_realization(entries, fixed_fees=fees, by="user", settings=settings))
        assert {row["user_id"]: row["fee_amount"] for row in rows} == pytest.approx({"u1": 600.0, "u2": 400.0})


def test_fees_billed_at_0_have_an_overall_realization_of_0_in_rows_and_total(pandas_firm):
    """The product of 0 and a missing settlement ratio was missing in the row, and 0 in the total."""
    given_frames = frames(pandas_firm, [("u1", 1.0, 100.0, "i1")], [("i1", 0.0, 0.0)])
    row = realization(**given_frames, matter_types=MATTER_TYPES)
    assert row["overall_realization"].tolist() == [0.0] == [total_of(row)["overall_realization"]]
    free = realization(**frames(pandas_firm, [("u1", 1.0, 0.0, "i1")], [("i1", 0.0, 0.0)]), matter_types=MATTER_TYPES)
    assert free["overall_realization"].isna().all()


OF_A_PERIOD = (
    "realization utilization billing_lag write_downs effective_rates leverage timekeeping_lag profitability "
    "new_business fixed_fee_realization"
)


@pytest.mark.filterwarnings("ignore:.*no cost rate:billframes.errors.IncompleteDataWarning")
@pytest.mark.parametrize("name", OF_A_PERIOD.split())
def test_ratios_of_one_row_are_those_of_its_total(october_book, name):
    """Rows and totals divide the same columns: each ratio is declared once."""
    rows = getattr(october_book, name)(by=None)
    total = total_of(rows)
    ratios = [each.name for each in analyses()[name].columns if measures()[each.name].ratios and each.name in rows]
    assert ratios
    assert rows.loc[0, ratios].fillna(-1).to_dict() == pytest.approx(
        {name: -1 if total[name] != total[name] else total[name] for name in ratios}
    )
