"""Write-downs, compared with figures worked out by hand, `realization` and `reconcile`."""

from __future__ import annotations

import pytest
from hypothesis import given

from billframes.analysis import realization, reconcile, write_downs
from billframes.analysis.declare.columns import MATTER_TYPES
from billframes.errors import IncompleteDataWarning, ParameterError, RatesHiddenWarning
from tests.analysis.test_properties_money import BOOKS, KEYS, QUICK, frames

# Invoices of these books bill more than their items, or have none.
pytestmark = pytest.mark.filterwarnings("ignore:.*are above their items:billframes.errors.IncompleteDataWarning")

# i1 covers matters of Ada and Ben and is written down by 200 of 1,200; i2 is written up by 50; i3 is a draft, i4 a
# credit note, i5 a fixed fee of 1,000 billed at 900.
WORK = (
    ("2026-08-01", "u1", "c1", "m1", "billable", 2.0, 600.0, "i1"),
    ("2026-09-01", "u2", "c1", "m2", "billable", 3.0, 600.0, "i1"),
    ("2026-09-02", "u2", "c2", "m2", "billable", 1.0, 250.0, "i2"),
    ("2026-10-03", "u1", "c1", "m1", "billable", 1.0, 300.0, "i3"),
    ("2026-10-10", "u2", "c1", "m1", "billable", 1.0, 200.0, None),
)
BILLS = (
    ("i1", "2026-10-05", "final", "2026-11-04", "c1", 1000.0, 0.0),
    ("i2", "2026-10-06", "final", "2026-11-04", "c2", 300.0, 0.0),
    ("i3", "2026-10-07", "draft", None, "c1", 100.0, 100.0),
    ("i4", "2026-10-20", "final", "2026-11-04", "c1", -150.0, -50.0),
    ("i5", "2026-10-25", "final", "2026-11-04", "c3", 900.0, 0.0),
)
FEES = (("m2", None, "c3", 1000.0, "i5"),)


def run(firm, work=WORK, bills=BILLS, **options):
    header = "matter_id user_id client_id amount invoice_id"
    costs, fees = firm.frame(header), firm.frame(header, *FEES)
    return firm.rows(
        write_downs(
            firm.entries(*work),
            expenses=costs,
            fixed_fees=fees,
            invoices=firm.invoices(*bills),
            matters=firm.matters(),
            **options,
        )
    )


def test_the_largest_write_down_stands_first_and_write_ups_are_shown_beside_the_sum(firm):
    rows = run(firm)
    names = ("responsible_name", "worked_amount", "write_down_amount", "write_up_amount", "no_time_amount", "invoices",
             "written_down_invoices")  # fmt: skip
    assert [[row[name] for name in names] for row in rows] == [
        ["Unassigned", 0.0, 250.0, 0.0, 250.0, 2.0, 2.0],
        ["Ada", 600.0, 100.0, 0.0, 0.0, 1.0, 1.0],
        ["Ben", 850.0, 50.0, 50.0, 0.0, 3.0, 1.0],
    ]
    assert [row["share"] for row in rows] == [0.625, 0.25, 0.125]
    assert [row["running_share"] for row in rows] == [0.625, 0.875, 1.0]
    assert rows[1]["write_down_ratio"] == pytest.approx(1 / 6)


def test_invoices_are_grouped_by_size(firm):
    rows = {row["invoice_size"]: row for row in run(firm, by="size", sizes=(500, 1_000))}
    downs = {name: row["write_down_amount"] for name, row in rows.items()}
    assert downs == {"1,000 and more": 200.0, "credit": 150.0, "500 to 1,000": 100.0, "under 500": -50.0}


def test_sizes_that_do_not_rise_are_refused(pandas_firm):
    for sizes in ((), (0, 5), (5, 5)):
        with pytest.raises(ParameterError, match="must be amounts above 0 that rise"):
            run(pandas_firm, by="size", sizes=sizes)


def test_a_rate_that_is_hidden_on_another_part_of_an_invoice_leaves_open_whether_it_was_written_up(firm):
    hidden = [WORK[0], (*WORK[1][:6], None, "i1"), *WORK[2:]]
    with pytest.warns(RatesHiddenWarning, match="1 billable time entry has no amount"):
        rows = {row["responsible_name"]: row for row in run(firm, hidden)}
    names = ("write_down_amount", "write_up_amount", "written_down_invoices")
    assert [rows["Ada"][name] for name in names] == [200.0, None, None]


def test_hidden_rates_leave_write_downs_missing_and_invoices_counted(firm):
    hidden = [(*row[:6], None if row[7] == "i2" else row[6], row[7]) for row in WORK]
    with pytest.warns(RatesHiddenWarning, match="1 billable time entry has no amount"):
        rows = {row["responsible_name"]: row for row in run(firm, hidden)}
    assert rows["Ben"]["write_down_amount"] is None
    assert (rows["Ben"]["billed_amount"], rows["Ben"]["invoices"]) == (800.0, 3.0)
    assert rows["Ben"]["written_down_invoices"] is None
    assert (rows["Ada"]["write_down_amount"], rows["Ada"]["share"]) == (100.0, None)


def test_absent_costs_are_warned_of(pandas_firm):
    with pytest.warns(IncompleteDataWarning, match="No expenses and fixed_fees were passed"):
        write_downs(pandas_firm.entries(*WORK), invoices=pandas_firm.invoices(*BILLS), matters=pandas_firm.matters())


@pytest.mark.slow
@given(book=BOOKS, by=KEYS)
@QUICK
def test_write_downs_are_those_of_realization_and_of_reconcile(pandas_firm, book, by):
    entries, bills, costs, fees = frames(pandas_firm, book)
    natives = {"time_entries": entries, "expenses": costs, "fixed_fees": fees, "invoices": bills}
    matters = pandas_firm.matters()
    every = write_downs(**natives, by=by, matters=matters, matter_types=MATTER_TYPES)
    wanted = realization(**natives, by=by, matters=matters, matter_types=MATTER_TYPES)
    keys = [name for name in every if name.endswith(("_id", "month"))]
    for name in ("worked_amount", "billed_amount", "write_down_amount", "unknown_amount", "left_out_amount"):
        ours, theirs = (each.set_index(keys)[name] for each in (every, wanted))
        # Rows only of items without fees, such as expenses, have no row in realization.
        assert ours.tolist() == pytest.approx(theirs.reindex(ours.index, fill_value=0.0).tolist(), abs=1e-6)
        assert ours.sum() == pytest.approx(theirs.sum(), abs=1e-6)
    whole = reconcile(**natives, by="invoice_state").set_index("invoice_state")["unexplained_amount"]
    assert every["write_down_amount"].sum() == pytest.approx(-whole.get("final", 0.0), abs=1e-6)
    assert every["running_share"].iloc[-1:].dropna().tolist() == pytest.approx(
        [1.0] * int(every["share"].notna().any()), abs=1e-6
    )
