"""Taxes and the order of payments, compared with worked examples and with a slow calculation in plain Python."""

from __future__ import annotations

import datetime as dt
from collections import Counter

import pytest
from hypothesis import given, strategies as st

from billframes.analysis import (
    aging,
    budget_burn,
    contribution,
    prebill_review,
    profitability,
    realization,
    reconcile,
    write_downs,
)
from billframes.analysis.declare.columns import MATTER_TYPES
from billframes.config.firm import FirmSettings
from billframes.errors import IncompleteDataWarning, MissingColumnError
from tests.analysis.test_properties_money import BOOKS, QUICK, by_name

HST = {"name": "HST", "rate": 0.13}
ON_TIME = {**HST, "on": ["time"]}
IN_ORDER = ("tax", "expenses", "fees")
COSTS = "matter_id user_id client_id amount invoice_id"


def frames(firm, *bills, worth=1000.0, expenses=(200.0,), fees=()):
    """Return time of u1 and u2, expenses and fixed fees on each invoice (id, date, client, amount, balance)."""
    on = [(bill[0], bill[2]) for bill in bills]
    work = [("2026-09-01", user, of, "m1", "billable", 2.0, worth / 2, id_) for id_, of in on for user in ("u1", "u2")]
    return {
        "time_entries": firm.entries(*(work if worth else [])),
        "expenses": firm.frame(COSTS, *[("m2", "u1", of, cost, id_) for id_, of in on for cost in expenses]),
        "fixed_fees": firm.frame(COSTS, *[("m5", "u1", of, fee, id_) for id_, of in on for fee in fees]),
        "invoices": firm.invoices(*[(id_, day, "final", day, *rest) for id_, day, *rest in bills]),
    }


def bill(amount, balance=0.0, *, day="2026-10-05", client="c1", id_="i1"):
    return id_, day, client, amount, balance


def fees_of(firm, given_frames, *taxes, **options):
    settings = FirmSettings(taxes=taxes, payment_order=options.pop("payment_order", "proportional"))
    (row,) = firm.rows(realization(**given_frames, settings=settings, matter_types=MATTER_TYPES, **options))
    return row


def reconciled(firm, given_frames, *taxes):
    return firm.rows(reconcile(**given_frames, settings=FirmSettings(taxes=taxes)))


@pytest.mark.parametrize(("tax", "amount", "tax_amount"), [(HST, 1356.0, 156.0), (ON_TIME, 1330.0, 130.0)])
def test_fees_are_without_the_tax_on_them_and_on_expenses(firm, tax, amount, tax_amount):
    given_frames = frames(firm, bill(amount))
    row = fees_of(firm, given_frames, tax)
    assert (row["billed_amount"], row["billing_realization"], row["settled_amount"]) == (1000.0, 1.0, 1000.0)
    (row,) = reconciled(firm, given_frames, tax)
    assert (row["tax_amount"], row["unexplained_amount"], row["amount"]) == (tax_amount, 0.0, amount)


def test_several_taxes_on_one_item_add_up(firm):
    """GST of 5 % on all is 60, and QST of 9.975 % on the fees is 99.75."""
    taxes = ({"name": "GST", "rate": 0.05}, {"name": "QST", "rate": 0.09975, "on": ["time", "fixed_fees"]})
    given_frames = frames(firm, bill(1359.75))
    assert fees_of(firm, given_frames, *taxes)["billed_amount"] == pytest.approx(1000.0, abs=1e-9)
    assert reconciled(firm, given_frames, *taxes)[0]["tax_amount"] == pytest.approx(159.75, abs=1e-9)


def test_a_tax_is_charged_to_some_clients_and_on_some_days_only(firm):
    """The first and the last day are inclusive; a client that is not listed has no tax."""
    days = {"i1": "2026-09-30", "i2": "2026-10-01", "i3": "2026-12-31", "i4": "2027-01-01"}
    bills = [bill(1130.0, day=day, id_=id_) for id_, day in days.items()]
    bills.append(bill(1130.0, client="c2", id_="i5"))
    given_frames = frames(firm, *bills, expenses=())
    dated = {**HST, "start": "2026-10-01", "end": "2026-12-31", "clients": ["c1"]}
    rows = {row["invoice_id"]: row["tax_amount"] for row in reconciled(firm, given_frames, dated)}
    assert rows == pytest.approx({"i1": 0.0, "i2": 130.0, "i3": 130.0, "i4": 0.0, "i5": 0.0})
    rows = {
        row["invoice_id"]: row["tax_amount"]
        for row in reconciled(firm, given_frames, {**HST, "except_clients": ["c1"]})
    }
    assert rows == pytest.approx({"i1": 0.0, "i2": 0.0, "i3": 0.0, "i4": 0.0, "i5": 130.0})


def test_write_downs_and_fixed_fees_bear_discounts_without_tax(firm):
    """Time of 1,000 is billed at 900; with discounts="items", a fixed fee of 500 bears its third."""
    row = fees_of(firm, frames(firm, bill(1.13 * 1100)), HST)
    assert (row["billed_amount"], row["write_down_amount"]) == pytest.approx((900.0, 100.0))
    mixed = frames(firm, bill(1.13 * 1200), expenses=(), fees=(500.0,))
    assert fees_of(firm, mixed, HST)["billed_amount"] == pytest.approx(700.0)
    assert fees_of(firm, mixed, HST, discounts="items")["billed_amount"] == pytest.approx(800.0)
    # A balance of 678 leaves 678 settled: the tax of 156, and 522 of the fees of 1,200, of which time is two thirds.
    half = frames(firm, bill(1356.0, 678.0), expenses=(), fees=(500.0,))
    row = fees_of(firm, half, HST, discounts="items", payment_order=IN_ORDER)
    assert row["settled_amount"] == pytest.approx(348.0)
    taxed_apart = frames(firm, bill(0.8 * (1000 * 1.13 + 500)), expenses=(), fees=(500.0,))
    assert fees_of(firm, taxed_apart, ON_TIME, discounts="items")["billed_amount"] == pytest.approx(800.0)


def test_an_invoice_without_time_is_reduced_by_the_tax_on_fixed_fees(firm):
    """A fixed fee of 1,000 with tax on fixed fees only is billed at 900; a credit note of 113 is 100 of fees."""
    on_fees = {**HST, "on": ["fixed_fees"]}
    given_frames = frames(firm, bill(1017.0), worth=0.0, expenses=(), fees=(1000.0,))
    assert fees_of(firm, given_frames, on_fees)["billed_amount"] == pytest.approx(-100.0)
    (row,) = firm.rows(contribution(**given_frames, by=None, settings=FirmSettings(taxes=[on_fees])))
    assert row["fees_amount"] == pytest.approx(900.0)
    credit = frames(firm, bill(-113.0), worth=0.0, expenses=())
    assert fees_of(firm, credit, HST)["billed_amount"] == pytest.approx(-100.0)


def test_tax_that_is_rounded_to_cents_leaves_no_difference(firm):
    """13 % of 333.33 is 43.3329, and the invoice is 376.66."""
    given_frames = frames(firm, bill(376.66), worth=333.33, expenses=())
    options = {"settings": FirmSettings(taxes=[HST]), "matter_types": MATTER_TYPES}
    (row,) = firm.rows(write_downs(**given_frames, by=None, **options))
    assert (row["write_down_amount"], row["written_down_invoices"]) == (pytest.approx(0.0, abs=1e-9), 0.0)
    (row,) = reconciled(firm, given_frames, HST)
    assert (row["tax_amount"], row["unexplained_amount"]) == (pytest.approx(43.33), 0.0)


@pytest.mark.parametrize(
    ("taxes", "amount", "proportional", "in_order"), [((), 1000.0, 480.0, 400.0), ((HST,), 1130.0, 424.7788, 270.0)]
)
def test_a_part_payment_settles_fees_in_proportion_or_last(firm, taxes, amount, proportional, in_order):
    given_frames = frames(firm, bill(amount, amount - 600.0), worth=800.0)
    assert fees_of(firm, given_frames, *taxes)["settled_amount"] == pytest.approx(proportional, abs=1e-4)
    assert fees_of(firm, given_frames, *taxes, payment_order=IN_ORDER)["settled_amount"] == pytest.approx(in_order)
    first = fees_of(firm, given_frames, *taxes, payment_order=("fees", "expenses", "tax"))
    assert first["settled_amount"] == pytest.approx(600.0)


def test_settled_fees_are_between_0_and_the_fees_and_credits_are_in_proportion(firm):
    def settled(amount, balance, **items):
        return fees_of(firm, frames(firm, bill(amount, balance), **items), payment_order=IN_ORDER)["settled_amount"]

    assert settled(1000.0, 850.0, worth=800.0) == 0.0
    assert settled(1000.0, -50.0, worth=800.0) == 800.0
    assert settled(-200.0, -50.0, worth=0.0, expenses=()) == -150.0
    # A fixed fee and time share the settled fees in proportion.
    assert settled(1000.0, 500.0, worth=600.0, fees=(200.0,)) == pytest.approx(300.0 * 600 / 800)


def test_the_open_part_of_an_invoice_follows_the_order_of_payments(firm):
    """With tax of 130 and expenses of 200 settled first, all that is open is fees and none of their tax."""
    given_frames = frames(firm, bill(1130.0, 530.0), worth=800.0)

    def open_by(by, order):
        settings = FirmSettings(taxes=[HST], payment_order=order)
        rows = firm.rows(aging(**given_frames, as_of="2026-10-31", by=by, settings=settings))
        return {row[f"{by}_name" if by == "user" else f"{by}_id"]: row["total"] for row in rows}

    assert open_by("matter", IN_ORDER) == pytest.approx({"m1": 530.0, "m2": 0.0})
    assert open_by("matter", "proportional") == pytest.approx({"m1": 424.0, "m2": 106.0})
    assert open_by("user", ("fees", "expenses", "tax")) == pytest.approx({"Ada": 378.0, "Ben": 152.0})


def test_prebills_and_margins_are_without_tax(pandas_firm):
    firm, settings = pandas_firm, FirmSettings(taxes=[HST], budgets={"m1": 2000}, cost_rates={"u1": 100, "u2": 100})
    given_frames = frames(firm, bill(1356.0))
    (row,) = firm.rows(profitability(**given_frames, settings=settings))
    assert (row["fees_amount"], row["margin_ratio"]) == (1000.0, 0.6)
    (row,) = firm.rows(budget_burn(**given_frames, settings=settings))
    assert row["budget_burn"] == 0.5
    given_frames["invoices"] = given_frames["invoices"].assign(invoice_state="draft")
    entries = given_frames["time_entries"]
    given_frames["time_entries"] = entries.assign(time_entry_id=entries.index.astype(str), description="Call")
    rows = firm.rows(prebill_review(**given_frames, settings=FirmSettings(taxes=[HST])))
    assert {row["unexplained_amount"] for row in rows} == {0.0}


@pytest.mark.filterwarnings("ignore:invoices. invoice_date is missing:billframes.errors.IncompleteDataWarning")
def test_a_draft_without_a_date_has_the_taxes_that_have_no_end(pandas_firm):
    firm = pandas_firm
    given_frames = frames(firm, bill(1356.0))
    given_frames["invoices"] = given_frames["invoices"].assign(invoice_date=None, invoice_state="draft")
    old = {**HST, "rate": 0.2, "end": "2026-06-30"}
    (row,) = reconciled(firm, given_frames, old, {**HST, "start": "2026-07-01"})
    assert row["tax_amount"] == pytest.approx(156.0)


def test_taxes_by_client_need_the_clients_of_invoices(pandas_firm):
    given_frames = frames(pandas_firm, bill(1356.0))
    given_frames["invoices"] = given_frames["invoices"].drop(columns=["client_id", "client_name"])
    with pytest.raises(MissingColumnError, match="invoices has no column 'client_id'"):
        fees_of(pandas_firm, given_frames, {**HST, "clients": ["c1"]})


def test_clients_that_do_not_exist_are_warned_of(pandas_firm):
    given_frames = frames(pandas_firm, bill(1356.0)) | {"clients": pandas_firm.clients()}
    taxes = FirmSettings(taxes=[HST | {"except_clients": ["c7"]}])
    for analysis in (contribution, reconcile):
        with pytest.warns(IncompleteDataWarning, match=r"settings name 1 client that is not .*: c7 \(taxes\)"):
            analysis(**given_frames, settings=taxes)


def rates_on(kind, client, day, taxes):
    return sum(
        tax["rate"]
        for tax in taxes
        if kind in tax.get("on", ("time", "fixed_fees", "expenses"))
        and client in tax.get("clients", [client])
        and tax.get("start", day) <= day <= tax.get("end", day)
    )


def slow_weights(time):
    """Return the share of each entry in the fees; none if entries below 0 nearly cancel the others."""
    column = 6 if any(row[6] for row in time) else 5
    total, gross = sum(row[column] for row in time), sum(abs(row[column]) for row in time)
    return {n: row[column] / total for n, row in enumerate(time)} if gross and abs(total) >= 0.1 * gross else {}


def slow_parts(book, taxes, order):
    """Divide each final invoice with plain numbers: fees and settled fees by matter and user, and what is open."""
    work, bills, costs, fixed = book
    fees, settled, opened = Counter(), Counter(), Counter()
    for id_, day, state, _due, client, amount, balance in bills:
        if state != "final":
            continue
        time = [row for row in work if row[4] == "billable" and row[7] == id_]
        expenses, fixed_fees = ([(row[3], row[4]) for row in rows if row[5] == id_] for rows in (costs, fixed))
        on_time, on_fees, on_costs = (rates_on(kind, client, day, taxes) for kind in ("time", "fixed_fees", "expenses"))
        cost, fixed_fee = sum(each for _, each in expenses), sum(each for _, each in fixed_fees)
        worth, gross = sum(row[6] for row in time), sum(abs(row[6]) for row in time)
        exact = worth * (1 + on_time) + fixed_fee * (1 + on_fees) + cost * (1 + on_costs)
        left = amount - cost * (1 + on_costs)
        if taxes and abs(exact - amount) <= 0.01:
            net = worth
        elif not (gross or any(row[5] for row in time)) and abs(fixed_fee) > 1e-9:
            net = left / (1 + on_fees) - fixed_fee
        else:
            net = (left - fixed_fee * (1 + on_fees)) / (1 + on_time)
        weights = slow_weights(time)
        parts = {"fees": net + fixed_fee, "expenses": cost, "tax": amount - net - fixed_fee - cost}
        paid, ratios = amount - balance, {}
        ordered = order != "proportional" and amount > 0 and min(parts.values()) >= -1e-6
        for name in order if ordered else parts:
            part = min(max(paid, 0.0), parts[name]) if ordered else parts[name] * (paid / amount if amount else 0.0)
            paid -= parts[name] if ordered else 0.0
            ratios[name] = part / parts[name] if abs(parts[name]) > 1e-9 else 0.0
        shares = [(time[n][3], time[n][1], weight * net) for n, weight in weights.items()] or [(None, None, net)]
        for matter, user, fee in shares:
            fees[matter, user] += fee
            settled[matter, user] += fee * (
                ratios["fees"] if ordered else (amount - balance) / amount if amount else 0.0
            )
        in_order = ordered and 0 < balance <= amount
        kinds = [("fees", on_time, matter, fee) for matter, _, fee in shares]
        kinds += [("expenses", on_costs, *each) for each in expenses] + [
            ("fees", on_fees, *each) for each in fixed_fees
        ]
        rest = balance
        for part, rate, matter, each in kinds if amount else []:
            if in_order:
                is_open = each * (1 - ratios[part]) + each * rate * (1 - ratios["tax"])
            else:
                is_open = each * (1 + rate) * balance / amount
            opened[matter] += is_open if matter else 0.0
            rest -= is_open if matter else 0.0
        opened[None] += rest
    return fees, settled, opened


TAXES = st.sampled_from(
    [
        (),
        (HST,),
        (ON_TIME,),
        ({"name": "VAT", "rate": 0.2, "on": ["fixed_fees", "expenses"], "clients": ["c1"]},),
        ({"name": "GST", "rate": 0.05}, {"name": "QST", "rate": 0.1, "on": ["time"], "start": "2026-09-01"}),
        ({**HST, "end": "2026-08-31"}, {**HST, "rate": 0.15, "start": "2026-09-01", "clients": ["c2"]}),
    ]
)
ORDERS = st.sampled_from(["proportional", IN_ORDER, ("expenses", "fees", "tax")])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning")
@given(book=BOOKS, taxes=TAXES, order=ORDERS)
@QUICK
def test_parts_of_random_invoices_are_those_of_a_slow_calculation(pandas_firm, book, taxes, order):
    firm, given_frames = pandas_firm, by_name(pandas_firm, book)
    settings = FirmSettings(taxes=taxes, payment_order=order)
    fees, settled, opened = slow_parts(book, taxes, order)
    options = {"settings": settings, "matter_types": MATTER_TYPES}
    rows = firm.rows(realization(**given_frames, by=["matter", "user"], **options))
    for name, wanted in (("billed_amount", fees), ("settled_amount", settled)):
        found = {(row["matter_id"], row["user_id"]): row[name] for row in rows}
        assert found == pytest.approx({key: wanted.get(key, 0.0) for key in found}, abs=1e-6)
        assert sum(found.values()) == pytest.approx(sum(wanted.values()), abs=1e-6)
    (whole,) = firm.rows(realization(**given_frames, **options))
    assert whole["billed_amount"] == pytest.approx(sum(fees.values()), abs=1e-6)
    rows = firm.rows(aging(**given_frames, as_of=dt.date(2026, 12, 31), by="matter", settings=settings))
    found = {row["matter_id"]: row["total"] for row in rows}
    assert found == pytest.approx({key: opened.get(key, 0.0) for key in found}, abs=1e-6)
    balances = sum(row[6] for row in book[1] if row[2] == "final")
    assert sum(found.values()) == pytest.approx(balances, abs=1e-6)
