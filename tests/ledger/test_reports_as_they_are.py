"""Reports of the books in the forms in which firms have them, each reduced from a public problem, with its siblings."""

from __future__ import annotations

import csv
import io
import warnings
import zipfile
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from billframes.errors import IncompleteDataWarning, LedgerError
from billframes.ledger import read_ledger
from billframes.ledger.kept_reports import restated
from billframes.ledger.quickbooks_api import ledger_from_quickbooks
from billframes.ledger.tie_out import tie_out

SAMPLES = Path(__file__).parent / "samples"
STAMP = '"Monday, November 02, 2026 09:30 AM GMT-05:00"'


def sample(name):
    return (SAMPLES / f"{name}.csv").read_bytes().decode()


AGING, OPEN, SALES = map(sample, ("qbo_ar_aging_detail", "qbo_open_invoices", "qbo_sales_by_customer_detail_cash"))
BALANCES, LISTED = map(sample, ("qbo_customer_balance_detail", "qbo_transaction_list_by_date_payments"))
ACCOUNT, XERO = map(sample, ("qbo_transaction_detail_by_account_ar", "xero_account_transactions"))
RECEIVED = sample("qbo_invoices_and_received_payments")


def read(text, **options):
    return read_ledger(text if isinstance(text, bytes) else text.encode(), **options)


def about(text, **options):
    return read(text, **options).attrs["ledger"]


def report(*rows, title="Open Invoices", period="As of Oct 31, 2026", stamp=STAMP):
    """A report of a few rows."""
    return "\r\n".join(["Larkspur & Wren LLP", title, f'"{period}"', "", *rows, "", "", "", stamp])


def one_invoice(date="10/18/2026", amount="1400.00", total="1400.00"):
    """Open Invoices with one invoice, as a text with tabs."""
    rows = [
        ["Larkspur & Wren LLP"],
        ["Open Invoices"],
        ["As of Oct 31, 2026"],
        [],
        ["", "Date", "Transaction type", "Num", "Open balance"],
        ["Osprey"],
        ["", date, "Invoice", "7", amount],
        ["Total for Osprey", "", "", "", total],
        ["TOTAL", "", "", "", total],
    ]
    text = io.StringIO()
    csv.writer(text, delimiter="\t").writerows(rows)
    return text.getvalue()


# Q01


@pytest.mark.parametrize("word", ["Client", "Patient", "Member", "Donor", "Tenant", "Guest"])
def test_a_company_can_have_its_own_word_for_customers(word):
    def renamed(text):
        return text.replace("by Customer", f"by {word}").replace("Customer Balance", f"{word} Balance")

    balances = renamed(BALANCES)
    assert f"{word} Balance Detail" in balances
    assert read(balances).equals(read(BALANCES))
    assert read(renamed(SALES).replace("Detail,", "Detail Report,")).equals(read(SALES))
    listed = LISTED.replace(",Name,", f",{word} full name,").replace("List by Date", f"List by {word}")
    assert read(listed)["customer"].to_list() == read(LISTED)["customer"].to_list()
    with pytest.raises(LedgerError, match=rf"\({word} Balance Summary\) is a report without invoices; export Customer"):
        read(balances.replace("Detail", "Summary"))


@pytest.mark.parametrize(
    "title",
    [
        "Accounts Receivable Ageing Detail",
        "accounts receivable aging detail report",
        "AR Aging Detail",
        "A/R  Aging Detail",
    ],
)
def test_a_report_has_its_title_in_several_forms(title):
    assert read(AGING.replace("A/R Aging Detail Report", title)).equals(read(AGING))


def test_a_title_that_is_not_read_is_named():
    with pytest.raises(LedgerError, match=r"\(Sales by Class Detail\) is not a report that is read here"):
        read(SALES.replace("Customer Detail", "Class Detail"))


# Q02

FOOTERS = {
    "Monday, Nov 02, 2026 12:01:05 PM GMT-8 - Cash Basis": "cash",
    "Tuesday, Apr. 21, 2026 08:36:09 a.m. GMT-7 - Accrual Basis": "accrual",
    "Accrual Basis Tuesday, 14 April 2026 08:33 PM GMT-04:00": "accrual",
    "Cash basis  Friday, October 18, 2026 09:12 AM": "cash",
    "Sat, Sep 05, 2026 - Cash Basis": "cash",
    "Cash Basis Monday, January 19, 2026 04:28 PM GMTZ": "cash",
    "02/11/2026 09:30 GMT+0 - Accrual basis": "accrual",
    "Accounting method: Cash": "cash",
    "Monday, 2 November 2026 02:30 PM GMT+00:00 | Cash-basis": "cash",
    "Monday, November 02, 2026 09:30 AM GMT+5:30": None,
}


@pytest.mark.parametrize("footer", FOOTERS)
def test_a_footer_has_the_method_and_the_day_in_any_order(footer):
    text = SALES.partition('\r\n\r\n\r\n\r\n"Cash')[0] if "\r\n" in SALES else SALES.partition('\n\n\n\n"Cash')[0]
    assert "TOTAL" in text
    for written in (f'"{footer}"', f'" {footer}",,,,,,,,,', footer):
        found = read(f"{text}\n\n\n\n{written}\n", dates="mdy")
        assert found.attrs["ledger"]["basis"] == FOOTERS[footer]
        assert found["invoice_number"].notna().any() == (FOOTERS[footer] == "cash")


def test_the_method_can_be_above_the_headings_and_is_not_the_company():
    above = about(SALES.replace("Cash Basis Monday", "Monday").replace("Sales by", "Cash Basis\nSales by", 1))
    assert (above["basis"], above["company"]) == ("cash", "Larkspur & Wren LLP")


# Q03


def workbook(rows, number_format=None):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    if number_format:
        for row in book.active.iter_rows():
            row[-1].number_format = number_format
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("formula", "value"), [("=1400.00", 1400.0), ("=-1400.5", -1400.5), ("=1400", 1400.0), ("=0.00", 0.0)]
)
def test_a_formula_that_is_one_number_is_that_number(formula, value):
    rows = [line.split("\t") for line in one_invoice(amount=formula, total="=E7").splitlines()]
    with pytest.warns(IncompleteDataWarning, match="have no saved results"):
        assert read(workbook(rows, "#,##0.00"))["open_balance"].to_list() == [value]
    for row in rows[-2:]:
        row[-1] = formula
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(workbook(rows))["open_balance"].to_list() == [value]


def test_another_formula_without_its_result_is_named():
    rows = [line.split("\t") for line in one_invoice(amount="=E1*2", total="=E7").splitlines()]
    with pytest.raises(LedgerError, match=r"row 7 has an amount .* =E1\*2 \(without its result"):
        read(workbook(rows))


# Q06

DATES = [
    *("2026-10-18", "2026/10/18", "2026.10.18", "2026. 10. 18.", "2026-10-18 00:00:00", "2026-10-18T00:00:00Z"),
    *("18.10.2026", "18. 10. 2026", "18.10.2026.", "18-10-2026", "18 10 2026", "10-18-2026", "10.18.2026"),
    *("10/18/2026 12:00:00 AM", "10/18/2026 0:00", "18 Oct 2026", "18 October 2026", "18-Oct-2026", "18. Oct 2026"),
    *("Oct 18, 2026", "October 18, 2026", "Oct. 18 2026", "OCT 18, 2026", "October 18th, 2026"),
]


@pytest.mark.parametrize("date", DATES)
def test_dates_are_read_in_the_form_of_every_country(date):
    assert read(one_invoice(date))["date"].dt.strftime("%Y-%m-%d").to_list() == ["2026-10-18"]


@pytest.mark.parametrize("date", ["2026-13-18", "18/10/26", "46313", "18 octobre 2026", "2026-10-18 09:30"])
def test_a_date_that_is_not_read_is_named(date):
    with pytest.raises(LedgerError, match=f"row 7 .*{date}|row 7 .* month must be in"):
        read(one_invoice(date))


# Q08

AMOUNTS = [
    *("1,400.50-", "(1,400.50)", "-1,400.50", "$-1,400.50", "-$1,400.50", "($1,400.50)", "$(1,400.50)", "=-1400.50"),
    *("−1,400.50", "–1400.50", "1400.50 -", "$1,400.50-", "- 1,400.50", "-1 400.50", "-1'400.50", "-1’400.50"),
    *("-US$1,400.50", "-CA$ 1,400.50", "-R1 400.50", "(₹1,400.50)", "-CHF 1'400.50", "-1,400.50 USD", "-Rs.1,400.50"),
    *("-1.400,50", "1.400,50-", "-1\u00a0400,50", "-1\u202f400,50 €", "-1400,50 kr", "(1 400,50 zł)", "-R$ 1.400,50"),
]


@pytest.mark.parametrize("amount", AMOUNTS)
def test_amounts_are_read_with_every_minus_and_currency(amount):
    assert read(one_invoice(amount=amount, total=amount))["open_balance"].to_list() == [-1400.5]


def test_lakhs_are_read():
    assert read(one_invoice(amount="12,34,567.00", total="₹12,34,567.00"))["open_balance"].to_list() == [1234567.0]


@pytest.mark.parametrize(
    "amount", ["1,400", "1.4", "-(1,400.00", "1,400.00)", "-100.00-", "100.00 CR", "12.3.4,00", "1e5"]
)
def test_other_amounts_are_named(amount):
    with pytest.raises(LedgerError, match="has amounts such as '"):
        read(one_invoice(amount=amount, total=amount))


# Q13


NAMES = [
    *("Total", "TOTAL", "Opening balance", "Beginning Balance", "Closing balance", "Total Wine", "Total for Life"),
    *("Fay", "for You", "Cottages with sub-tenants", "Percentage of total", "No Data Ltd", "Monday 2020 Ltd"),
    *("555-0100", "--x", "Cash Basis", "(555) 010-1234", "October 2026 Ltd", "Total Total"),
]


@pytest.mark.parametrize("name", NAMES)
def test_a_customer_can_be_named_as_a_part_of_a_report(name):
    for text in (OPEN, BALANCES, SALES, RECEIVED):
        renamed = text.replace("Juniper Hall Partners", name).replace("Osprey Ridge LLC", "Total Wine")
        expected = read(text)["customer"].str.replace("Juniper Hall Partners", name, regex=False)
        expected = expected.str.replace("Osprey Ridge LLC", "Total Wine", regex=False)
        assert read(renamed)["customer"].to_list() == expected.to_list()
    for text in (AGING, LISTED, XERO):
        assert len(read(text.replace("Juniper Hall Partners", name), dates="mdy")) == len(read(text, dates="mdy"))


def test_a_removed_total_of_such_a_customer_is_still_refused():
    for name in ("Total", "Opening balance", "(555) 010-1234"):
        text = OPEN.replace("Osprey Ridge LLC", name)
        lines = [line for line in text.splitlines() if not line.startswith(f"Total for {name}")]
        with pytest.raises(LedgerError, match="row"):
            read("\n".join(lines))


# Q14

BALANCE_ROWS = [
    ",10/01/2026,Beginning Balance,,,,,,250.00",
    ",Beginning Balance,,,,,,,250.00",
    "Beginning Balance,,,,,,,,250.00",
    ",10/01/2026,,,,Beginning Balance,,,250.00",
    ",10/01/2026,Opening balance,,,,,250.00,250.00",
    ",10/01/2026,,,Balance forward,,,,250.00",
    ",10/31/2026,Ending Balance,,,,,,655.00",
]


@pytest.mark.parametrize("row", BALANCE_ROWS)
def test_a_balance_is_not_a_transaction(row):
    lines = ACCOUNT.splitlines()
    lines.insert(6, row)
    ledger = read("\n".join(lines))
    assert ledger.drop(columns="row").equals(read(ACCOUNT).drop(columns="row"))


def test_balances_of_xero_are_not_transactions_with_or_without_a_date():
    for row in ("01 Sep 2026,,Opening Balance,,250.00,0.00,250.00,0.00,0.00", "Opening Balance,,,,,,,,"):
        lines = [line if not line.startswith("Opening Balance") else row for line in XERO.splitlines()]
        assert read("\n".join(lines)).equals(read(XERO))


def test_an_invoice_for_the_opening_balance_is_a_transaction():
    text = XERO.replace("01 Sep 2026,Receivable Invoice,Juniper Hall Partners", "01 Sep 2026,,Opening Balance")
    assert len(read(text)) == 2


# Q25

HEADINGS = ",Date,Transaction type,Num,Customer full name,Due date,Amount,Open balance"


@pytest.mark.parametrize(
    "rows",
    [
        [HEADINGS],
        [HEADINGS, "TOTAL,,,,,,,"],
        [HEADINGS, 'TOTAL,,,,,,$0.00,"$0.00"'],
        [HEADINGS, "This report contains no data."],
        [HEADINGS, "There are no transactions for the dates that you chose"],
        [HEADINGS, "CURRENT", "Total for CURRENT,,,,,,0.00,0.00", "TOTAL,,,,,,0.00,0.00"],
    ],
)
def test_an_empty_report_has_no_rows(rows):
    ledger = read(report(*rows, title="A/R Aging Detail"))
    assert len(ledger) == 0
    assert ledger.attrs["ledger"]["as_of"] == "2026-10-31"
    assert (ledger.dtypes == read(AGING).dtypes).all()


def test_an_empty_report_without_totals_or_headings():
    headings = RECEIVED.splitlines()[4]
    assert len(read(report(headings, title="Invoices and Received Payments", period="October 2026"))) == 0
    assert len(read("Open Invoices\nLarkspur\nAs of Oct 31, 2026\n\nThis report contains no data\n")) == 0
    with pytest.raises(LedgerError, match="has no transactions below its headings and no TOTAL row at its end"):
        read("\r\n".join(["Larkspur", "A/R Aging Detail", '"As of Oct 31, 2026"', "", HEADINGS]))


# Q27

PAYMENT = {
    "Id": "163",
    "TxnDate": "2026-09-21",
    "TotalAmt": 650.0,
    "UnappliedAmt": 50.0,
    "Line": [{"Amount": 600.0, "LinkedTxn": [{"TxnId": "145", "TxnType": "Invoice"}]}],
}
INVOICE = {"Id": "145", "DocNumber": "1001"}


def answer(kind, *objects):
    return {"QueryResponse": {kind: [*objects], "startPosition": 1, "maxResults": 1}, "time": "2026-11-02T09:30:00"}


class Thing:
    def __init__(self, values):
        self.values = values

    def to_dict(self):
        return self.values


@pytest.mark.parametrize(
    ("payments", "invoices"),
    [
        (answer("Payment", PAYMENT), answer("Invoice", INVOICE)),
        ([answer("Payment", PAYMENT), answer("Payment")], [{"QueryResponse": {}}, answer("Invoice", INVOICE)]),
        (answer("Payment", PAYMENT)["QueryResponse"], {"Invoice": INVOICE, "time": "2026"}),
        (PAYMENT, INVOICE),
        (Thing(PAYMENT), [Thing(INVOICE)]),
        ({"Payment": [PAYMENT]}, iter([INVOICE])),
    ],
)
def test_answers_of_queries_and_single_objects_are_read(payments, invoices):
    ledger = ledger_from_quickbooks(payments, invoices, {"QueryResponse": {}, "time": "2026"})
    assert ledger[["invoice_number", "amount"]].fillna("").to_numpy().tolist() == [["1001", -600.0], ["", -50.0]]


@pytest.mark.parametrize(
    ("payments", "reason"),
    [
        (answer("Invoice", INVOICE), "A Payment object has no Id, but Invoice, startPosition"),
        ({"Fault": {"Error": []}, "time": "2026"}, "has no Id, but Fault, time; pass the list of Payment objects"),
        ("payments.json", "The Payment objects are a str; pass a list of dicts"),
        (None, "The Payment objects are None"),
        ([{**PAYMENT, "Line": ["x"]}], "Payment 163 can't be read"),
        ([{**PAYMENT, "TotalAmt": 1e999}], "Payment 163 can't be read: ValueError: inf is larger"),
        ([{**PAYMENT, "TotalAmt": 10**400}], "Payment 163 can't be read: ValueError: 1000"),
        ([{**PAYMENT, "TotalAmt": "9" * 400}], "Payment 163 can't be read: ValueError: inf is larger"),
    ],
)
def test_other_answers_are_named(payments, reason):
    with pytest.raises(LedgerError, match=reason):
        ledger_from_quickbooks(payments, [INVOICE])


# The rest of the same round.


def test_xeros_contact_column_and_percentages():
    rows = [
        "Aged Receivables Detail",
        "Larkspur & Wren LLP",
        "As at 31 October 2026",
        "Ageing by due date",
        "",
        "Contact,Invoice Date,Due Date,Invoice Number,Current,< 1 Month,Total",
        "Osprey Ridge LLC,18 Oct 2026,17 Nov 2026,INV-1,1400.00,0.00,1400.00",
        "Tern,20 Oct 2026,19 Nov 2026,INV-2,0.00,200.00,200.00",
        "Total,,,,1400.00,200.00,1600.00",
        "Percentage of total,,,,87.50%,12.50%,100.00%",
    ]
    ledger = read("\n".join(rows))
    assert ledger[["customer", "open_balance"]].to_numpy().tolist() == [["Osprey Ridge LLC", 1400.0], ["Tern", 200.0]]
    grouped = [
        *rows[:5],
        "Invoice Date,Due Date,Invoice Number,Total",
        "Tern",
        "18 Oct 2026,17 Nov 2026,INV-1,1400.00",
        "Total Tern,,,1400.00",
        "% of total,,,100%",
        "Total,,,1400.00",
        "Percentage of Total,,,100.00%",
    ]
    assert read("\n".join(grouped))["customer"].to_list() == ["Tern"]
    cells = [["", *row] for row in csv.reader(io.StringIO(XERO))]
    text = io.StringIO()
    csv.writer(text).writerows([[*row[1:3], "Juniper" * (row[2] > "R"), *row[3:]] for row in cells])
    found = read(
        text.getvalue().replace("SourceJuniper", "Source").replace("Source,Juniper", "Source,Contact"), texts=True
    )
    assert found["customer"].to_list() == ["Juniper", "Juniper"]
    assert found["description"].to_list()[0] == "Juniper Hall Partners"


MONTHS = [
    ["October 2026"],
    ["", "10/20/2026", "Payment", "4502", "Osprey Ridge LLC", "1,000.00"],
    ["", "10/09/2026", "Payment", "", "Juniper Hall Partners", "500.00"],
    ["Total for October 2026", "", "", "", "", "$1,500.00"],
    ["September 2026"],
    ["", "09/25/2026", "Payment", "4471", "Osprey Ridge LLC", "750.00"],
    ["Total for September 2026", "", "", "", "", "$750.00"],
    ["TOTAL", "", "", "", "", "$2,250.00"],
]


@pytest.mark.parametrize("form", ["{}", "{}, x", "Week of {}", "Q4 {}"])
@pytest.mark.parametrize("title", ["Transaction List by Date", "Transaction List by Customer"])
def test_lists_grouped_by_month_have_the_customers_of_their_column(title, form):
    named = {month: form.format(month).replace(" x", "").rstrip(",") for month in ("October 2026", "September 2026")}
    named = {month: label.replace("Q4 October", "Q4").replace("Q4 September", "Q3") for month, label in named.items()}
    text = io.StringIO()
    csv.writer(text).writerows([["", "Date", "Transaction Type", "Num", "Name", "Amount"], *MONTHS])
    text = text.getvalue()
    for month, label in named.items():
        text = text.replace(month, f'"{label}"' if "," in label and "Total" not in label else label)
    ledger = read(report(text, title=title, period="September-October, 2026"))
    assert ledger["customer"].to_list() == ["Osprey Ridge LLC", "Juniper Hall Partners", "Osprey Ridge LLC"]
    assert ledger["amount"].sum() == -2250.0
    with pytest.raises(LedgerError, match="the total of amount for the group is 1,500.00"):
        read(report(text.replace("1,000.00", "1,000.01"), title=title))


def test_months_in_place_of_customers_are_refused():
    text = io.StringIO()
    rows = [row[:4] + row[5:] for row in MONTHS]
    csv.writer(text).writerows([["", "Date", "Transaction Type", "Num", "Amount"], *rows])
    with pytest.raises(LedgerError, match="is grouped by period and has no column customer; export it grouped by cust"):
        read(report(text.getvalue(), title="Transaction List by Customer"))


@pytest.mark.parametrize(
    "phone",
    [
        "(555) 010-1234,,,,,,",
        "Phone: (555) 010-1234 x12,,,,,,",
        ",+44 20 7946 0018,,,,,",
        "Tel. 020 7946 0018,,,,,,",
        "555.010.1234,,,,,,",
    ],
)
def test_phone_numbers_in_collections_are_not_customers(phone):
    text = OPEN.replace("Open Invoices", "Collections")
    with_phones = "\n".join(
        line + ("\n" + phone if line.startswith(("Juniper", "Osprey")) else "") for line in text.splitlines()
    )
    assert read(with_phones).drop(columns="row").equals(read(text).drop(columns="row"))
    beside = text.replace("Osprey Ridge LLC,,", '"Osprey Ridge LLC\n(555) 010-1234",,', 1)
    assert read(beside)["customer"].to_list()[1] == "Osprey Ridge LLC"


PERIODS = {
    "Since January 1, 2026": ("2026-01-01", "2026-11-02"),
    "From January 1, 2026": ("2026-01-01", "2026-11-02"),
    "From 1 January 2026": ("2026-01-01", "2026-11-02"),
    "January 1, 2026 - Today": ("2026-01-01", "2026-11-02"),
    "January 1, 2026-Today": ("2026-01-01", "2026-11-02"),
    "Since Jan 2026": ("2026-01-01", "2026-11-02"),
    "From January 1, 2026 to October 31, 2026": ("2026-01-01", "2026-10-31"),
    "From October 2026 to December 2026": ("2026-10-01", "2026-12-31"),
    "Through October 31, 2026": (None, "2026-10-31"),
    "Until 31 October 2026": (None, "2026-10-31"),
    "October 1-31, 2026": ("2026-10-01", "2026-10-31"),
    "1-31 October 2026": ("2026-10-01", "2026-10-31"),
    "1 September - 31 October 2026": ("2026-09-01", "2026-10-31"),
    "For the month ended 31 October 2026": ("2026-10-01", "2026-10-31"),
    "For the 3 months ended 31 October 2026": ("2026-08-01", "2026-10-31"),
    "For the year ended 31 December 2026": ("2026-01-01", "2026-12-31"),
    "2026-09-01 - 2026-10-31": ("2026-09-01", "2026-10-31"),
    "October 2026": ("2026-10-01", "2026-10-31"),
    "January - December 2026": ("2026-01-01", "2026-12-31"),
    "All Dates": (None, None),
}


@pytest.mark.parametrize("period", PERIODS)
def test_the_period_of_a_report(period):
    for order in (f"{{}}\nTransaction List by Date\n{period}", f"Transaction List by Date\n{{}}\n{period}"):
        text = LISTED.replace('"August-October, 2026",,,,,,,,', "").split("\n\n", 1) if "\r" not in LISTED else None
        body = (text or LISTED.split("\r\n\r\n", 1))[1]
        found = about(f"{order.format('Larkspur')}\n\n{body}".replace(period, f'"{period}"'))
        assert (found["start"], found["end"]) == PERIODS[period]
        assert (found["company"], found["as_of"]) == ("Larkspur", None)


@pytest.mark.parametrize(
    "day", ["As of October 31, 2026", "As at 31 October 2026", "As on 31 Oct 2026", "As of 2026-10-31"]
)
def test_the_day_of_a_report(day):
    assert about(OPEN.replace("As of Oct 31, 2026", day))["as_of"] == "2026-10-31"


@pytest.mark.parametrize("amount", [1e12, 1e300, -(10**15), 10**400])
def test_an_amount_larger_than_any_is_named_with_its_row(amount):
    rows = [line.split("\t") for line in one_invoice().splitlines()]
    for place in (-1, -3):
        rows[place][-1] = amount
        # openpyxl refuses to write a whole number of 400 digits; a program that writes XML does not.
        content = workbook(rows) if amount != 10**400 else raw_workbook(workbook, rows, amount)
        with pytest.raises(LedgerError, match=r"row [79] has .*is larger than 100,000,000,000"):
            read(content)
        rows[place][-1] = "1400.00"
    with pytest.raises(LedgerError, match="row 7 has an amount .* is larger than 100,000,000,000"):
        read(one_invoice(amount="999,999,999,999.00"))


def raw_workbook(write, rows, amount):
    """Write a workbook with a number in place of another one."""
    found = io.BytesIO()
    content = write([[7777 if cell == amount else cell for cell in row] for row in rows])
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(found, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"7777", str(amount).encode()))
    return found.getvalue()


def test_an_empty_report_can_be_compared_and_has_no_payments():
    """Nobody owes anything in the books, so all that is open here is in no report."""
    ours = pd.read_csv(SAMPLES / "our_invoices.csv", dtype={"invoice_number": "str"}, parse_dates=["invoice_date"])
    empty = read(report(HEADINGS, title="A/R Aging Detail"))
    with pytest.warns(IncompleteDataWarning, match="9 of our open invoices are not in The report"):
        rows = tie_out(ours, ledger=empty, as_of="2026-10-31")
    assert set(rows["reason"]) <= {"not_in_report", "agrees"}
    final = ours[(ours["invoice_state"] == "final") & (ours["invoice_date"] <= "2026-10-31")]
    assert round(rows["difference_amount"].sum(), 2) == round(final["balance"].sum(), 2)
    nothing = read(report(RECEIVED.splitlines()[4], title="Invoices and Received Payments", period="All Dates"))
    whole = read(RECEIVED, dates="mdy")
    assert list(restated(nothing, whole)) == list(restated(whole, nothing)) == []
