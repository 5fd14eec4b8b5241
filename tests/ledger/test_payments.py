"""Payments are tied to invoices only if that is stated or certain, and their parts add up to the cent."""

from __future__ import annotations

import datetime as dt
import json
import random
import warnings

import pandas as pd
import pyarrow as pa
import pytest

import billframes as bf
from billframes import FirmSettings
from billframes.analysis import days_to_pay, fees_collected, realization
from billframes.errors import IncompleteDataWarning, LedgerError, ParameterError
from billframes.ledger import read_ledger
from billframes.ledger.invoice_matching import ClientNames
from billframes.ledger.owed_invoices import InvoiceParts, OwedInvoice, OwedInvoices, spread
from billframes.ledger.payment_events import PaymentEvent
from billframes.ledger.payments import _settle, payments
from billframes.ledger.quickbooks_api import ledger_from_quickbooks
from billframes.ledger.writing import write_report

from .test_reading import SAMPLES
from .test_tie_out import OURS

IN_ORDER = ("tax", "expenses", "fees")
PROPORTIONAL = "proportional"


# Kind and amount of each event; then its parts in the order tax, expenses, fees, and in proportion; then what is open.
TABLE = {
    "a part": ([600.0], (130.0, 200.0, 270.0), (69.03, 106.19, 424.78), 530.0),
    "the rest": ([600.0, 530.0], (0.0, 0.0, 530.0), (60.97, 93.81, 375.22), 0.0),
    "too much": ([1200.0], (130.0, 200.0, 800.0), (130.0, 200.0, 800.0), 0.0),
    "a reversal": ([600.0, -600.0], (-130.0, -200.0, -270.0), (-69.03, -106.19, -424.78), 1130.0),
    "the second reversed": ([600.0, 200.0, -200.0], (0.0, 0.0, -200.0), (-23.01, -35.40, -141.59), 530.0),
    "a credit": ([("credit", 100.0)], (11.5, 17.7, 70.8), (11.5, 17.7, 70.8), 1030.0),
    "after a credit": ([("credit", 100.0), 600.0], (118.5, 182.3, 299.2), (69.03, 106.19, 424.78), 430.0),
    "a write-off": ([600.0, ("write_off", 530.0)], (0.0, 0.0, 530.0), (60.97, 93.81, 375.22), 0.0),
}


@pytest.mark.parametrize(("events", "in_order", "proportional", "left"), TABLE.values(), ids=TABLE)
def test_each_event_takes_from_what_is_still_open(events, in_order, proportional, left):
    for order, wanted in ((IN_ORDER, in_order), (PROPORTIONAL, proportional)):
        invoice = InvoiceParts(13_000, 20_000, 80_000)
        for event in events:
            kind, amount = event if isinstance(event, tuple) else ("cash", event)
            parts, rest = invoice.take(round(amount * 100), order if kind == "cash" else PROPORTIONAL)
        assert tuple(each / 100 for each in parts.values()) == wanted
        assert sum(invoice.open.values()) == round(left * 100)
        assert rest == (7_000 if events == [1200.0] else 0)


def test_leanlaws_and_quickbooks_own_examples():
    for order, expenses, abc, xyz in ((IN_ORDER, 1930, 11_050, 42_360), (PROPORTIONAL, 965, 11_250, 43_125)):
        parts, _ = InvoiceParts(0, 1930, 108_750).take(55_340, order)
        assert parts["expenses"] == expenses
        assert spread(parts["fees"], {"ABC": 22_500, "XYZ": 86_250}) == {"ABC": abc, "XYZ": xyz}


def test_random_events_add_up_in_every_order():
    drawn = random.Random(5)
    for _ in range(2_000):
        whole = [drawn.randrange(999), drawn.randrange(9_999), drawn.randrange(1, 99_999)]
        order = drawn.choice([IN_ORDER, PROPORTIONAL, ("fees", "expenses", "tax")])
        invoice, left = InvoiceParts(*whole), sum(whole)
        for _ in range(drawn.randrange(1, 6)):
            amount = drawn.randrange(-30_000, 60_000)
            parts, rest = invoice.take(amount, order)
            left -= sum(parts.values())
            assert sum(parts.values()) + rest == amount
            assert sum(invoice.open.values()) == left
            assert min(invoice.open.values()) >= 0


ENTRIES = pd.DataFrame({"billing_type": ["billable"], "hours": [1.0], "amount": [800.0], "invoice_id": ["i1001"]})
COSTS = pd.DataFrame({"invoice_id": ["i1001"], "amount": [200.0]})
NAMES = FirmSettings(
    ledger={"trust_accounts": ["IOLTA clearing"], "write_off_items": ["Bad debts"], "write_off_accounts": ["Bad Debts"]}
)
GIVEN = {"time_entries": ENTRIES, "expenses": COSTS, "fixed_fees": COSTS.head(0), "invoices": OURS, "settings": NAMES}


def paid(name, **options):
    ledger = read_ledger(SAMPLES / name) if isinstance(name, str) else name
    return payments(ledger, **{**GIVEN, "tax": {"1001": 130.0}, **options})


def rows_of(frame, *columns):
    return [tuple(None if each != each else each for each in row) for row in frame[list(columns)].to_numpy(object)]


def test_a_cash_report_gives_the_paid_part_of_each_invoice_with_its_tax():
    with pytest.warns(
        IncompleteDataWarning, match="1 credit or write-off is on no invoice, 25.00 in all; it counts in"
    ):
        frame = paid("qbo_sales_by_customer_detail_cash.csv")
    assert rows_of(frame, "kind", "invoice_number", "amount", "fee_amount", "expense_amount", "tax_amount") == [
        ("cash", "1001", 600.0, 424.78, 106.19, 69.03),
        ("write_off", None, 25.0, None, None, None),
        ("cash", "1002", 1000.0, 1000.0, 0.0, 0.0),
    ]
    for name in ("sales_accrual.csv", "qbo_ar_aging_detail.csv"):
        with pytest.raises(LedgerError, match="set the accounting method to Cash|has no payments; export Sales by"):
            paid(name)


def test_a_credit_that_pays_an_invoice_is_not_cash():
    text = (SAMPLES / "qbo_sales_by_customer_detail_cash.csv").read_text(encoding="utf-8")
    row = ",10/20/2026,Credit Memo,CM-9,Bad debts,,,,{},\n"
    text = text.replace("Total for Osprey", row.format('"-1,000.00"') + "Total for Osprey")
    text = text.replace('8.00,,"$1,000.00"', '8.00,,"$0.00"').replace("1,505.97", "505.97")
    with pytest.warns(IncompleteDataWarning, match="is on no invoice, 25.00"):
        assert ("write_off", "1002", 1000.0) in rows_of(
            paid(read_ledger(text.encode())), "kind", "invoice_number", "amount"
        )


def sold(*rows, headings=("Transaction date", "Transaction type", "Num", "Amount"), customer="Osprey Ridge LLC"):
    """Return a report of sales on cash basis with rows of one customer, on 20 October."""
    day = dt.date(2026, 10, 20)
    groups = {customer: [[day, *row] for row in rows]}
    report = ("Sales by Customer Detail", "October 1-31, 2026", headings, groups)
    return read_ledger(write_report(*report, basis="Cash Basis"))


def test_a_credit_beside_a_payment_of_the_same_day_is_not_cash():
    """In the report, the invoice's rows have both."""
    frame = paid(sold(("Invoice", "1002", 60_000), ("Credit Memo", "CM-9", -10_000)))
    assert rows_of(frame, "kind", "invoice_number", "amount") == [("cash", "1002", 500.0), ("credit", "1002", 100.0)]


def test_a_number_that_is_another_clients_and_a_cash_sale_pay_no_invoice():
    with pytest.warns(
        IncompleteDataWarning, match="1 payment names an invoice that was not passed, or is another client"
    ):
        frame = paid(sold(("Invoice", "1010", 12_000), customer="Marlow & Finch"))
    assert rows_of(frame, "invoice_number", "client_name", "amount") == [(None, "Marlow & Finch", 120.0)]
    for sale in (sold(("Sales Receipt", "1002", 12_000)), "qbo_transaction_list_by_date_payments.csv"):
        ledger = read_ledger(SAMPLES / sale).replace("Payment", "Sales Receipt") if isinstance(sale, str) else sale
        ledger["kind"] = ledger["kind"].replace("payment", "sales_receipt")
        ledger["amount"] = ledger["amount"].abs()
        frame = paid(ledger)
        assert frame["invoice_id"].isna().all()
        assert frame["amount"].sum() == ledger["amount"].sum()


def test_payments_in_another_currency_are_named():
    ledger = sold(
        ("Invoice", "1002", 12_000, "EUR"),
        headings=("Transaction date", "Transaction type", "Num", "Amount", "Currency"),
    )
    with pytest.warns(
        IncompleteDataWarning, match="1 payment is in EUR, 120.00 in all, and added up as if it were in USD"
    ):
        paid(ledger, settings=FirmSettings(currency="USD"))


def test_of_a_report_of_several_accounts_only_receivables_count():
    text = (SAMPLES / "qbo_transaction_detail_by_account_ar.csv").read_text(encoding="utf-8")
    row = ",09/30/2026,Journal Entry,JE-12,Tern Valley Trust,,Accounts Receivable (A/R),45.00,45.00"
    more = f"Bad Debts,,,,,,,,\n{row}\nTotal for Bad Debts,,,,,,,$45.00,\nTOTAL,,,,,,,$450.00,"
    both = text.replace("TOTAL,,,,,,,$405.00,", more)
    payments_of = "qbo_invoices_and_received_payments.csv"
    alone = paid(payments_of, credits=read_ledger(text.encode()))
    pd.testing.assert_frame_equal(paid(payments_of, credits=read_ledger(both.encode())), alone)
    with pytest.raises(LedgerError, match="lists 2 accounts, and none is called receivable"):
        paid(
            payments_of,
            credits=read_ledger(
                both.replace("Accounts Receivable (A/R),,", "Debtors,,")
                .replace("for Accounts Receivable (A/R)", "for Debtors")
                .encode()
            ),
        )
    other = read_ledger(text.replace("Larkspur", "Another").encode())
    for report, reason in (
        (other, "two companies"),
        (read_ledger(SAMPLES / "qbo_ar_aging_detail.csv"), "lists what is open"),
    ):
        with pytest.raises(LedgerError, match=reason):
            paid(payments_of, credits=report)


def test_cash_outside_the_days_of_the_payments_is_missing_with_a_word(demo):
    book, frame = demo
    late = frame.copy()
    late.attrs["payments"] = frame.attrs["payments"] | {"start": "2026-10-01"}
    for call in (book.fees_collected, book.days_to_pay, book.realization):
        options = {"payments": late, "by": None}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            call(**options)
        with pytest.warns(IncompleteDataWarning, match="those of 1 October 2026 to 31 October 2026, not of the whole"):
            call(**options, start="2026-09")


def test_an_unlinked_payment_is_tied_only_to_the_only_invoice_or_the_only_one_of_its_amount():
    frame = paid("qbo_invoices_and_received_payments.csv")
    assert rows_of(frame, "invoice_number", "amount", "matched_by") == [
        ("1013", 100.0, "amount"),
        ("1001", 600.0, "only"),
        (None, 1000.0, "none"),
    ]
    frame = paid("qbo_invoices_and_received_payments.csv", allocate="oldest")
    oldest = [("1002", 1000.0, "oldest")]
    assert rows_of(frame, "invoice_number", "amount", "matched_by")[2:] == oldest
    frame = paid("qbo_transaction_list_by_date_payments.csv")
    assert frame["from_trust"].tolist() == [False, False, False, True, False]


def test_the_oldest_invoices_are_filled_again_after_a_payment_was_put_back():
    day = dt.datetime(2026, 10, 5)
    columns = {"invoice_date": day, "client_name": "Acme"}
    invoices = [
        OwedInvoice(columns | {"invoice_number": number}, 100, InvoiceParts(0, 0, 100), 0, 0) for number in "12"
    ]
    found = OwedInvoices(invoices, ClientNames([("c1", "Acme", None)], {}))
    filled = []
    for amount, to in ((150, None), (-60, invoices[0]), (80, None)):
        event = PaymentEvent(day, "cash", "Acme", amount, None, "none", {}, invoice=to)
        rows = list(_settle(event, IN_ORDER, found, "oldest"))
        filled += [(each.invoice.columns["invoice_number"], each.amount) for each in rows]
    assert filled == [("1", 100), ("2", 50), ("1", -60), ("1", 60), ("2", 20)]


def test_credits_of_a_second_report_are_added_with_their_kind():
    report = read_ledger(SAMPLES / "qbo_transaction_detail_by_account_ar.csv")
    frame = paid("qbo_invoices_and_received_payments.csv", credits=report)
    added = frame[frame["kind"] != "cash"]
    assert rows_of(added, "kind", "customer", "amount") == [
        ("credit", "Marlow & Finch", 80.0),
        ("write_off", "Tern Valley Trust", 45.0),
    ]


def test_links_of_quickbooks_are_kept_and_shared_credits_are_divided():
    objects = json.loads((SAMPLES / "qbo_api.json").read_text(encoding="utf-8"))
    ledger = ledger_from_quickbooks(objects["Payment"], objects["Invoice"], objects["CreditMemo"])
    assert rows_of(paid(ledger), "kind", "invoice_number", "amount", "fee_amount", "matched_by") == [
        ("write_off", "1001", 100.0, 70.8, "link"),
        ("cash", "1001", 600.0, 424.78, "link"),
        ("cash", None, 50.0, None, "unapplied"),
    ]

    def line(amount, kind, number):
        return {"Amount": amount, "LinkedTxn": [{"TxnId": number, "TxnType": kind}]}

    payment = {"Id": "9", "TxnDate": "2026-10-01", "TotalAmt": 300, "UnappliedAmt": 0, "CustomerRef": {"name": "X"}}
    payment["Line"] = [line(250, "Invoice", "1"), line(150, "Invoice", "2"), line(100, "CreditMemo", "7")]
    shared = ledger_from_quickbooks([payment], [{"Id": "1", "DocNumber": "A"}, {"Id": "2", "DocNumber": "B"}])
    assert rows_of(shared, "kind", "invoice_number", "amount") == [
        ("payment", "A", -187.5),
        ("payment", "B", -112.5),
        ("credit", "A", -62.5),
        ("credit", "B", -37.5),
    ]
    assert shared.attrs["ledger"]["shared"] == [1, 2, 3, 4]
    with pytest.raises(LedgerError, match="Payment 9 applies 400.00 to invoices, but has 310.00 in cash and 100.00"):
        ledger_from_quickbooks([{**payment, "TotalAmt": 310}], [{"Id": "1"}, {"Id": "2"}])
    for objects, reason in (
        ([payment], "pays the invoice 1, which was not passed"),
        ([{"Id": "3"}], "Payment 3 can't be read: K"),
        (["x"], "The Payment objects have a str; pass dicts"),
    ):
        with pytest.raises(LedgerError, match=reason):
            ledger_from_quickbooks(objects, [])


def test_tax_that_nobody_named_is_warned_of_and_arguments_are_checked():
    ours = OURS.iloc[:6].assign(invoice_state="final")
    entries = pd.DataFrame({"billing_type": "billable", "hours": 1.0, "amount": ours["amount"] / 1.13})
    entries["invoice_id"] = ours["invoice_id"]
    ledger = read_ledger(SAMPLES / "qbo_transaction_list_by_date_payments.csv")
    given = {**GIVEN, "time_entries": entries, "expenses": COSTS.head(0), "invoices": ours, "settings": None}
    with pytest.warns(
        IncompleteDataWarning, match="6 invoices are .* above their items: that may be tax, .* Pass tax="
    ):
        payments(ledger, **given)
    for options, reason in [
        ({"tax": 13}, "tax=13 is not a rate"),
        ({"allocate": "newest"}, "allocate='newest'"),
        ({"by": "client"}, "by='client'"),
        ({"order": ("fees",)}, "order lacks 'tax'"),
    ]:
        with pytest.raises(ParameterError, match=reason):
            paid("qbo_transaction_list_by_date_payments.csv", **options)
    with pytest.raises(ParameterError, match="payments is missing; pass the frame that payments"):
        fees_collected(None, **{name: GIVEN[name] for name in ("time_entries", "invoices")})


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    return read_ledger(bf.ledger.sandbox_reports(tmp_path_factory.mktemp("reports"))["payments"])


@pytest.fixture(scope="module")
def demo(client, ledger):
    book = bf.book("2026-10", client=client)
    return book, book.payments(ledger)


@pytest.mark.slow
def test_the_demos_payments_are_the_settled_parts_of_its_invoices(demo, ledger):
    book, frame = demo
    assert (frame["fee_amount"] + frame["expense_amount"] + frame["tax_amount"] - frame["amount"]).abs().max() < 0.005
    rows = book.payments(ledger, by="invoice")
    assert len(rows) == (book.invoices["invoice_state"] == "final").sum()
    gaps = rows[rows["gap_amount"] != 0]
    assert (rows["expected_amount"] - rows["settled_amount"] - rows["gap_amount"]).abs().max() < 0.005
    assert rows["gap_amount"].abs().is_monotonic_decreasing
    late = ledger.copy()
    late.attrs["ledger"] = ledger.attrs["ledger"] | {"start": "2024-06-01"}
    with pytest.warns(IncompleteDataWarning, match="those of 1 June 2024 to .*, not of the whole period"):
        assert book.payments(late, by="invoice")["gap_amount"].equals(rows["gap_amount"])
    assert (book.payments(ledger, as_of="2024-01-31")["payment_date"] <= "2024-01-31").all()
    # Credit notes without a payment, and an invoice that was paid twice.
    assert gaps["invoice_number"].str.startswith("CN-").sum() == len(gaps) - 1
    assert frame.loc[frame["matched_by"] == "unapplied", "amount"].tolist() == [8481.95]


def test_collected_realization_by_originator_equals_sql(demo):
    book, frame = demo
    result = book.realization(payments=frame, by="originator", start="2026").set_index("originator_name")
    database = pytest.importorskip("duckdb").connect()
    matters = book.matters[["matter_id", "matter_type", "originator_names"]].explode("originator_names")
    count = matters.groupby("matter_id")["originator_names"].transform("size")
    tables = {
        "time": book.time_entries[["matter_id", "billing_type", "amount", "invoice_id"]],
        "expenses": book.expenses[["invoice_id", "amount"]],
        "fixed": book.fixed_fees[["invoice_id", "amount"]],
        "invoices": book.invoices[["invoice_id", "invoice_date", "invoice_state", "amount"]],
        "paid": frame[["invoice_id", "kind", "fee_amount"]],
        "matters": matters.assign(weight=1.0 / count),
    }
    for name, table in tables.items():
        plain = table.astype(dict.fromkeys(table.select_dtypes("category"), "str"))
        database.register(name, pa.Table.from_pandas(plain, preserve_index=False))
    rows = database.execute(
        """
        with worth as (select invoice_id, sum(amount) worth from time where billing_type = 'billable' group by 1),
             fixed_fees as (select invoice_id, sum(amount) fees from fixed group by 1),
             costs as (select invoice_id, sum(amount) costs from expenses group by 1),
             cash as (select invoice_id, sum(fee_amount) cash from paid where kind = 'cash' group by 1)
        select m.originator_names,
               sum(m.weight * t.amount / w.worth * (i.amount - coalesce(c.costs, 0) - coalesce(f.fees, 0))
                   / (i.amount - coalesce(c.costs, 0)) * cash.cash)
        from time t join invoices i using (invoice_id) join worth w using (invoice_id) join cash using (invoice_id)
             left join costs c using (invoice_id) left join fixed_fees f using (invoice_id)
             join matters m on m.matter_id = t.matter_id
        where t.billing_type = 'billable' and i.invoice_state = 'final' and i.invoice_date >= '2026-01-01'
              and m.matter_type not in ('contingency', 'probono', 'internal') and w.worth <> 0
              and m.originator_names is not null
        group by 1
        """
    ).fetchall()
    got = {name: amount for name, amount in result["collected_amount"].items() if name != "Unassigned"}
    assert got == pytest.approx(dict(rows), abs=0.005)
    whole = book.realization(payments=frame, by=None, start="2026").iloc[0]
    parts = whole[["collected_amount", "credited_amount", "written_off_amount", "open_fees_amount"]].sum()
    assert parts == pytest.approx(whole["billed_amount"], abs=1e-6)


def test_a_write_off_and_a_payment_in_order_leave_the_rest_open():
    """Work worth 1,000 is billed at 800; 100 are written off, then 600 are paid."""
    day = pd.to_datetime(["2026-10-01", "2026-10-20"])
    entries = pd.DataFrame(
        {"date": day[:1], "matter_id": ["m1"], "matter_type": ["hourly"], "billing_type": ["billable"]}
    )
    entries = entries.assign(hours=1.0, amount=1000.0, invoice_id="i1001", matter_type="hourly")
    frame = (
        paid("qbo_invoices_and_received_payments.csv")
        .iloc[[1, 1]]
        .assign(kind=["write_off", "cash"], amount=[100.0, 600.0], fee_amount=[70.8, 299.2])
    )
    result = realization(
        entries,
        **{name: GIVEN[name] for name in ("expenses", "fixed_fees")},
        invoices=OURS.head(1),
        payments=frame,
        settings=FirmSettings(
            taxes=[{"name": "HST", "rate": 0.13, "on": ["time"]}, {"name": "X", "rate": 0.13, "on": ["expenses"]}]
        ),
    ).iloc[0]
    names = ["billed_amount", "collected_amount", "credited_amount", "written_off_amount", "open_fees_amount"]
    assert result[names].round(2).to_list() == [800.0, 299.2, 0.0, 70.8, 430.0]
    assert round(result["collected_ratio"], 4) == 0.2992


@pytest.mark.slow
def test_collected_adds_up_to_the_cash_by_every_key_and_basis(demo):
    book, frame = demo
    october = frame[frame["payment_date"].between("2026-10-01", "2026-10-31")]
    whole = book.fees_collected(frame, by=None).iloc[0]
    assert whole["cash_amount"] == pytest.approx(october["amount"].sum(), abs=0.005)
    for key in ("client", "matter", "user", "responsible", "originator", "practice_area", "month"):
        rows = book.fees_collected(frame, by=key)
        for name in ("collected_amount", "collected_expense_amount", "cash_amount"):
            assert rows[name].sum() == pytest.approx(whole[name], abs=0.005), key
    settled = whole["collected_amount"] + whole["credited_amount"] + whole["written_off_amount"]
    for kind in ("credit", "discount", "journal"):
        credited = book.fees_collected(frame.assign(kind=kind), by=None).iloc[0]
        assert (credited["credited_amount"], credited["collected_amount"]) == pytest.approx((settled, 0.0), abs=0.005)
    cohort = frame[frame["invoice_date"].between("2026-09-01", "2026-09-30")]
    billed = book.fees_collected(frame, by=None, basis="invoice_date", start="2026-09", as_of="2026-10-31").iloc[0]
    assert billed["cash_amount"] == pytest.approx(cohort["amount"].sum(), abs=0.005)


def test_days_to_pay_are_weighted_by_cash(demo):
    book, frame = demo
    cash = frame[frame["invoice_id"].notna() & (frame["payment_date"] >= "2026-10-01")]
    days = (cash["payment_date"] - cash["invoice_date"]).dt.days
    row = book.days_to_pay(frame, by=None).iloc[0]
    assert row["days_to_pay"] == pytest.approx((days * cash["amount"]).sum() / cash["amount"].sum())
    assert row["paid_within_30"] == pytest.approx(cash.loc[days <= 30, "amount"].sum() / cash["amount"].sum())
    assert days_to_pay(frame, invoices=book.invoices, by="month", start="2026")["paid_amount"].sum() > 0


def test_realization_adds_up_when_invoices_are_paid_in_several_parts_credited_and_reversed():
    drawn = random.Random(3)
    count = 40
    ids = [f"i{at}" for at in range(count)]
    dates = pd.to_datetime(["2026-10-01"] * count)
    worth = [drawn.randrange(10_000, 90_000) / 100 for _ in ids]
    entries = pd.DataFrame(
        {"date": dates, "matter_id": [f"m{at % 5}" for at in range(count)], "matter_type": "hourly"}
    ).assign(billing_type="billable", hours=1.0, amount=worth, invoice_id=ids)
    spent = pd.DataFrame({"invoice_id": ids, "amount": [drawn.randrange(0, 9_000) / 100 for _ in ids]})
    amounts = (entries["amount"] * 0.9 + spent["amount"]).round(2)
    ours = pd.DataFrame({"invoice_id": ids, "invoice_number": [str(2000 + at) for at in range(count)]}).assign(
        invoice_state="final", invoice_date=dates, client_id="c1", client_name="Acme", amount=amounts, balance=amounts
    )
    rows = []
    for number, amount in zip(ours["invoice_number"], amounts, strict=True):
        for _ in range(drawn.randrange(0, 5)):
            kind, cents = drawn.choice([("payment", -1), ("payment", -1), ("payment", 1), ("credit", -1)])
            rows.append((kind, number, cents * round(drawn.random() * amount / 3, 2)))
    ledger = read_ledger(SAMPLES / "qbo_transaction_list_by_date_payments.csv").iloc[[0] * len(rows)]
    ledger = ledger.assign(
        kind=pd.Categorical([kind for kind, *_ in rows], ledger["kind"].cat.categories),
        number=None,
        customer="Acme",
        invoice_number=pd.Series([number for _, number, _ in rows], dtype="str").to_numpy(),
        amount=[amount for *_, amount in rows],
        row=range(len(rows)),
    )
    about = read_ledger(SAMPLES / "qbo_transaction_list_by_date_payments.csv").attrs["ledger"]
    ledger.attrs = {"ledger": {**about, "payments": "link"}}
    given = {"expenses": spent, "fixed_fees": spent.head(0), "invoices": ours}
    frame = payments(ledger, time_entries=entries, **given)
    assert frame.groupby("invoice_id").size().max() >= 4
    for by in (None, "matter_id"):
        result = realization(entries, **given, payments=frame, by=by)
        parts = result[["collected_amount", "credited_amount", "written_off_amount", "open_fees_amount"]].sum(axis=1)
        assert (parts - result["billed_amount"]).abs().max() < 1e-6
        cash = frame.loc[frame["kind"] == "cash", "fee_amount"].sum()
        assert result["collected_amount"].sum() == pytest.approx(cash)
        assert (result["collected_ratio"] - result["collected_amount"] / result["worked_amount"]).abs().max() < 1e-9
    assert round(frame["amount"].sum(), 2) == round(-sum(amount for *_, amount in rows), 2)


def test_payments_of_invoices_that_were_not_passed_count_for_the_client_and_are_noted():
    with pytest.warns(
        IncompleteDataWarning, match="names an invoice that was not passed, or is another client's, 1,000.00 in"
    ) as said:
        frame = paid(sold(("Invoice", "1002", 100_000)), invoices=OURS[OURS["invoice_number"] != "1002"])
    assert frame.attrs["notes"][0]["rule"] == "paid_elsewhere"
    assert len(said) == 1
    assert frame.loc[frame["amount"] == 1000.0, "invoice_id"].isna().all()
