"""LEDES codes that a client's system would refuse."""

from __future__ import annotations

import pytest

from billframes.analysis import code_check
from billframes.errors import IncompleteDataWarning, MissingColumnError, ParameterError

WORK = "time_entry_id date user_id user_name matter_id matter_name activity_code task_code"
ENTRIES = (
    ("t1", "2026-10-01", "u1", "Ada", "m1", "Sale", "A101", "L110"),
    ("t2", "2026-10-01", "u1", "Ada", "m1", "Sale", None, "L100"),
    ("t3", "2026-10-02", "u1", "Ada", "m1", "Sale", "A999", "P100"),
    ("t4", "2026-10-02", "u1", "Ada", "m2", "Lease", None, "L999"),
    ("t5", "2026-10-03", "u1", "Ada", "m3", "Pro bono", None, "L999"),
    ("t6", "2026-09-30", "u1", "Ada", "m1", "Sale", "L110", "L110"),
    ("t7", "2026-10-05", "u1", "Ada", "m1", "Sale", "A101", ""),
)
FINDINGS = [
    ("t2", "activity_code", None, "missing"),
    ("t2", "task_code", "L100", "not selectable"),
    ("t3", "activity_code", "A999", "unknown"),
    ("t3", "task_code", "P100", "outside the code sets"),
    ("t4", "task_code", "L999", "unknown"),
    ("t7", "task_code", "", "missing"),
]


def matters(firm, *more):
    header = (
        "matter_id ledes_enabled ledes_activity_code_required ledes_task_code_required "
        "ledes_expense_code_required ledes_code_set_ids"
    )
    rows = (
        ("m1", True, True, True, True, ["ACT", "LIT", "EXP"]),
        ("m2", True, False, True, False, ["ACT", "LIT"]),
        ("m3", False, False, False, False, []),
    )
    return firm.frame(header, *rows, *more)


def codes(firm):
    return firm.frame(
        "code_type code code_set_id selectable",
        ("activity", "A101", "ACT", True),
        ("task", "L100", "LIT", False),
        ("task", "L110", "LIT", None),
        ("task", "P100", "PRJ", True),
        ("task", "L110", "PRJ", False),
        ("expense", "E101", "EXP", True),
    )


def run(firm, entries=ENTRIES, configured=None, **options):
    entries = firm.frame(WORK, *entries)
    result = code_check(
        entries, matters=matters(firm) if configured is None else configured, codes=codes(firm), **options
    )
    assert type(result) is type(entries)
    return firm.rows(result)


def test_the_worked_table(firm):
    """Matters without LEDES billing are not checked, and a code of another kind is unknown as an activity."""
    rows = run(firm, start="2026-10")
    assert [(row["item_id"], row["field"], row["code"], row["problem"]) for row in rows] == FINDINGS
    row = rows[0]
    assert (row["item"], row["user_name"], row["matter_name"], row["invoice_id"]) == ("time_entry", "Ada", "Sale", None)
    assert [row["problem"] for row in run(firm, start="2026-09")] == ["unknown"]


def test_expenses_and_fixed_fees_with_codes(firm):
    expenses = firm.frame(
        "expense_id date matter_id expense_code",
        ("e1", "2026-10-01", "m1", None),
        ("e2", "2026-10-01", "m2", None),
        ("e3", "2026-10-01", "m2", "E101"),
    )
    fees = firm.frame("fixed_fee_id date matter_id activity_code task_code", ("f1", "2026-10-01", "m1", "A101", "L110"))
    rows = run(firm, [], expenses=expenses, fixed_fees=fees)
    assert [(row["item"], row["item_id"], row["problem"]) for row in rows] == [
        ("expense", "e1", "missing"),
        ("expense", "e3", "outside the code sets"),
    ]


def test_what_cannot_be_checked_is_counted(firm):
    lost = ("t8", "2026-10-01", "u1", "Ada", "m9", "Lost", None, None)
    unset = ("m8", None, None, None, None, None)
    with pytest.warns(
        IncompleteDataWarning, match="2 time entries were not checked, because their matters were not passed"
    ):
        rows = run(firm, [lost, ("t9", *lost[1:4], "m8", *lost[5:])], matters(firm, unset))
    assert rows == []


def test_an_unknown_code_set_is_named(firm):
    sets = firm.frame("code_set_id label", ("ACT", "Activities"), ("LIT", "Litigation"))
    with pytest.warns(IncompleteDataWarning, match="code sets that don't exist: EXP"):
        run(firm, [], code_sets=sets)


def test_flags_that_became_numbers_are_refused(pandas_firm):
    """Some databases return 1 and 0 for booleans; then no matter would have LEDES billing, without a finding."""
    configured = matters(pandas_firm).assign(ledes_enabled=1)
    with pytest.raises(ParameterError, match="matters: ledes_enabled is of the type Int64, such as .*, not true and"):
        run(pandas_firm, configured=configured)


def test_lists_without_codes_are_refused(pandas_firm):
    firm = pandas_firm
    for name in ("expenses", "fixed_fees"):
        with pytest.raises(MissingColumnError, match="the API's list has no codes"):
            run(firm, **{name: firm.items()})
    with pytest.raises(MissingColumnError, match="'ledes_enabled'"):
        run(firm, configured=firm.matters())
    with pytest.raises(MissingColumnError, match="'activity_code'"):
        code_check(firm.entries(), matters=matters(firm), codes=codes(firm))
