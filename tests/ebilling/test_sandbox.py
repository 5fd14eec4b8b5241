"""The sandbox's clients with e-bills: one whose bills pass, and those whose bills would come back."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest

import billframes as bf
import billframes.sandbox
from billframes.ebilling import LedesProfile, ledes, ledes_check
from billframes.errors import LedesError, NotFoundError

PROFILES = Path(billframes.sandbox.__file__).parent / "profiles"


@pytest.fixture(scope="module")
def book(client):
    return bf.book("2026-10", client=client)


def profile(name):
    return LedesProfile.load(PROFILES / f"{name}.toml")


def on_matter(book, name):
    matters = book.matters.query("ledes_enabled and name.str.startswith(@name)", local_dict={"name": name})
    of_matter = book.invoices["matter_id"].isin(matters["matter_id"])
    return book.invoices[of_matter & (book.invoices["invoice_state"] == "final")]


def rejected(findings):
    return findings[findings["severity"] == "rejected"]


def test_bills_of_one_client_pass_and_agree_with_the_invoices(book):
    numbers = on_matter(book, "Handbook revision")["invoice_number"].tolist()
    bad = rejected(ledes_check(book, numbers, profile=profile("ironbridge")))["invoice_number"].unique()
    good = [number for number in numbers if number not in bad]
    assert (len(good), len(numbers)) == (12, 16)
    file = ledes(book, good, profile=profile("ironbridge"))
    amounts = book.invoices.set_index("invoice_number")["amount"]
    assert file.totals == {number: Decimal(f"{amounts[number]:.2f}") for number in good}
    assert set(file.lines["client_id"]) == {"1092"}


def test_an_insurers_bills_lack_codes_and_carry_its_matter_numbers(book):
    numbers = on_matter(book, "Castellane")["invoice_number"].tolist()
    found = rejected(ledes_check(book, numbers, profile=profile("granite")))
    assert {"15 LINE_ITEM_TASK_CODE", "16 LINE_ITEM_EXPENSE_CODE", "17 LINE_ITEM_ACTIVITY_CODE"} <= set(found["field"])
    assert "24 CLIENT_MATTER_ID" not in set(found["field"])
    with pytest.raises(LedesError, match="No LEDES file was made"):
        ledes(book, numbers, profile=profile("granite"))
    file = ledes(book, "11819", profile=profile("granite"))
    assert set(file.lines["client_matter_id"]) == {"GM-1004-003"}
    assert file.lines["exp_fee_inv_adj_type"].iloc[-1] == "IF"


def test_a_client_with_its_own_timekeeper_ids_wants_everybodys(book):
    invoices = on_matter(book, "Workplace investigation")["invoice_number"].tolist()
    found = rejected(ledes_check(book, invoices, profile=profile("greywater")))
    ids = found[found["field"] == "18 TIMEKEEPER_ID"]
    assert set(ids["value"]) == {"Daniel O’Rourke"}
    good = [number for number in invoices if number not in set(found["invoice_number"])]
    file = ledes(book, good, profile=profile("greywater"))
    assert set(file.lines["timekeeper_id"].dropna()) <= {"GW-301", "GW-302", "GW-303"}
    assert set(file.lines["law_firm_matter_id"]) == {"1089-001"}


def test_a_months_check_reads_only_what_matters_require_and_once(sandbox, monkeypatch):
    with bf.Client(sandbox.base_url, sandbox.tokens["full"]) as client:
        reads = []
        fetch = client.fetch
        monkeypatch.setattr(
            client, "fetch", lambda path, *args, **more: reads.append(path) or fetch(path, *args, **more)
        )
        book = bf.book("2026-10", client=client)
        first = ledes_check(book)
        singles = [path for path in reads if path.startswith(("/v2/expenses/", "/v2/fixed-fees/"))]
        wanted = book.matters.query("ledes_enabled and ledes_expense_code_required")["matter_id"]
        expenses = book.expenses
        mine = expenses[expenses["matter_id"].isin(wanted) & (expenses["date"] >= "2026-10-01")]
        assert 0 < len(singles) == len(set(singles)) <= len(mine)
        told = []
        assert ledes_check(book, progress=lambda done, total: told.append((done, total))).equals(first)
        assert len([path for path in reads if path.startswith("/v2/expenses/")]) == len(singles)
        assert told == []


def test_a_record_that_is_gone_ends_the_check_with_its_own_error(book, client):
    lost = book.expenses.assign(expense_id="00000000-0000-4000-8000-000000000000")
    names = ("time_entries", "fixed_fees", "invoices", "matters", "users", "codes")
    frames = {name: getattr(book, name) for name in names} | {"expenses": lost.tail(0)}
    frames["expenses"] = lost[lost["invoice_id"].notna()].head(1)
    number = frames["expenses"]["invoice_number"].item()
    with pytest.raises(NotFoundError):
        ledes_check(frames, number, client=client)


def test_hidden_rates_are_told_of_each_invoice(sandbox):
    with bf.Client(sandbox.base_url, sandbox.tokens["norates"]) as client, pytest.warns(bf.RatesHiddenWarning):
        found = ledes_check(bf.book("2026-10", client=client), "11819", profile=profile("granite"))
    assert "rates are hidden" in set(found["problem"])


def test_frames_of_one_period_are_refused_with_that_reason(book, client):
    names = ("expenses", "fixed_fees", "invoices", "matters", "users", "codes")
    frames = {name: getattr(book, name) for name in names}
    frames["time_entries"] = client.time_entries("2026-09-15", "2026-10-31")
    found = rejected(ledes_check(frames, "11819", profile=profile("ironbridge"), client=client))
    assert found["problem"].str.contains("time entries were loaded from 2026-09-15 to 2026-10-31 only").any()


def test_unbilled_work_is_told_by_responsible_lawyer(book):
    found = rejected(ledes_check(book))
    assert found["responsible_name"].tolist() == ["Thomas Whitfield"] * len(found)
    assert found["date"].dropna().between(pd.Timestamp("2026-10-01"), pd.Timestamp("2026-10-31")).all()
    assert "take it off first" in found["fix"].iloc[0]
