"""Reports of the firm's books are read with their totals added up again, or refused with the reason."""

from __future__ import annotations

import csv
import datetime as dt
import io
import time
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

import billframes as bf
from billframes.errors import IncompleteDataWarning, LedgerError, ParameterError
from billframes.ledger import read_ledger
from billframes.ledger.frame import COLUMNS

SAMPLES = Path(__file__).parent / "samples"
AGING = (SAMPLES / "qbo_ar_aging_detail.csv").read_bytes().decode()
SALES = (SAMPLES / "qbo_sales_by_customer_detail_cash.csv").read_text(encoding="utf-8")
PAYMENTS = (SAMPLES / "qbo_invoices_and_received_payments.csv").read_text(encoding="utf-8")
# The report, its rows, and its sums of amounts and open balances.
RIGHT = {
    "qbo_ar_aging_detail.csv": ("ar_aging_detail", 14, 10605.49, 8505.49),
    "qbo_ar_ageing_detail_uk.csv": ("ar_aging_detail", 14, 10605.49, 8505.49),
    "qbo_ar_aging_detail.xlsx": ("ar_aging_detail", 14, 10605.49, 8505.49),
    "qbo_customer_balance_detail.csv": ("customer_balance_detail", 3, 2400.0, 1400.0),
    "qbo_customer_balance_detail_nested_guess.csv": ("customer_balance_detail", 3, 2400.0, 1400.0),
    "qbo_customer_balance_detail_with_sub_guess.csv": ("customer_balance_detail", 3, 2400.0, 1400.0),
    "qbo_invoice_list_by_date.csv": ("invoice_list", 13, 11580.49, 9380.49),
    "qbo_invoices_and_received_payments.csv": ("invoices_and_payments", 7, 2680.0, 0.0),
    "qbo_open_invoices.csv": ("open_invoices", 3, 0.0, 1180.0),
    "qbo_sales_by_customer_detail_cash.csv": ("sales_detail", 6, 1505.97, 0.0),
    "qbo_transaction_detail_by_account_ar.csv": ("account_detail", 4, 405.0, 0.0),
    "qbo_transaction_list_by_date_payments.csv": ("transaction_list", 5, -2950.0, 0.0),
    "xero_account_transactions.csv": ("xero_account_transactions", 2, 530.0, 0.0),
    "xero_aged_receivables_detail.xlsx": ("xero_aged_receivables", 3, 0.0, 1180.0),
    "xero_aged_receivables_detail_short.xlsx": ("xero_aged_receivables", 3, 0.0, 1180.0),
}


def read(text, **options):
    return read_ledger(text if isinstance(text, bytes) else text.encode(), **options)


@pytest.mark.filterwarnings("ignore:The totals of xero")
@pytest.mark.parametrize("name", RIGHT)
def test_each_sample_has_its_rows_and_sums_and_every_report_the_same_columns(name):
    kind, rows, amount, balance = RIGHT[name]
    ledger = read_ledger(SAMPLES / name)
    assert ledger.attrs["ledger"]["report"] == kind
    assert (len(ledger), round(ledger["amount"].sum(), 2), round(ledger["open_balance"].sum(), 2)) == (
        rows,
        amount,
        balance,
    )
    assert tuple(ledger.columns) == COLUMNS
    types = read_ledger(SAMPLES / "qbo_open_invoices.csv").dtypes
    assert (ledger.dtypes == types).all()
    assert ledger.attrs["ledger"]["company"] == "Larkspur & Wren LLP"
    assert ledger["customer"].notna().all()


def test_csv_uk_and_excel_forms_of_a_report_and_comma_decimals_give_equal_frames():
    forms = [read_ledger(SAMPLES / name) for name in list(RIGHT)[:3]]
    commas = (SAMPLES / "comma_decimals.csv").read_text(encoding="utf-8")
    semicolons = io.StringIO()
    csv.writer(semicolons, delimiter=";").writerows(csv.reader(io.StringIO(commas)))
    forms += [read(commas), read(semicolons.getvalue(), decimals="comma")]
    # Excel saves rows of a CSV file with all separators, and without the time stamp.
    forms.append(read(AGING.replace("\r\n\r\n,Date", "\r\n,,,,,,,\r\n,Date").partition('\r\n\r\n\r\n" Monday')[0]))
    for form in forms[1:]:
        pd.testing.assert_frame_equal(form, forms[0], check_flags=False)
        assert form.attrs["ledger"]["as_of"] == "2026-10-31"


def test_customers_invoices_and_voided_rows_are_found_where_each_report_has_them():
    nested, parent_first = (
        read_ledger(SAMPLES / f"qbo_customer_balance_detail_{name}_guess.csv") for name in ("nested", "with_sub")
    )
    assert nested["customer"].to_list() == ["Osprey Ridge LLC", *["Osprey Ridge LLC:Zoning appeal"] * 2]
    assert parent_first["customer"].to_list() == nested["customer"].to_list()
    listed = read_ledger(SAMPLES / "qbo_invoice_list_by_date.csv", texts=True)
    assert listed.loc[listed["voided"], ["number", "memo"]].to_numpy().tolist() == [["1005", "Voided - billed twice"]]
    sales = read_ledger(SAMPLES / "qbo_sales_by_customer_detail_cash.csv")
    assert sales["invoice_number"].to_list()[:4] == ["1001", "1001", "1001", "1002"]
    assert sales["invoice_number"].isna().to_list() == [False] * 5 + [True]
    xero = read_ledger(SAMPLES / "xero_account_transactions.csv")
    assert xero[["kind", "customer", "amount", "invoice_number"]].to_numpy().tolist()[1] == [
        "payment",
        "Juniper Hall Partners",
        -600.0,
        "INV-1001",
    ]
    by_account = read_ledger(SAMPLES / "qbo_transaction_detail_by_account_ar.csv")
    assert by_account["account"].unique().tolist() == ["Accounts Receivable (A/R)"]
    assert "memo" not in by_account.columns


LAST = '"$10,605.49","$8,505.49"'
DESKTOP = ",Type,Date,Num,P. O. #,Terms,Due Date,Aging,Open Balance\r\n"
REFUSED = {
    "a summary": (AGING.replace("Detail", "Summary"), "is a report without invoices; export A/R Aging Detail"),
    "payables": (AGING.replace("A/R", "A/P"), "is a report without invoices; export A/R Aging Detail"),
    "another title": (AGING.replace("A/R Aging", "Trial Balance"), "is not a report that is read here: A/R Aging"),
    "QuickBooks Desktop": (DESKTOP, "is a report of QuickBooks Desktop"),
    "nothing": ("", "is not a report that is read here"),
    "a missing column": (AGING.replace("Open balance", "Past due"), "no row with the headings date, type, customer"),
    "an edited amount": (
        AGING.replace("980.49,980.49", "980.49,980.50"),
        "row 24: the total of open_balance for the group is 1,805.49, but its rows add up to 1,805.50. Rows may",
    ),
    "an edited total": (AGING.replace(LAST, '"$10,605.49","$8,505.48"'), "for the report is 8,505.48, but its rows"),
    "no total": (AGING.partition("TOTAL,")[0], "has no TOTAL row at its end, so it is cut off"),
    "half a total": (AGING.replace(LAST, '"$10,605.49",'), "ends inside its TOTAL row"),
    "an open quote": (AGING.partition(',505.49"')[0], "a quoted cell without an end"),
    "rows after the total": (AGING + AGING, "row 35: there are rows after the end, which is TOTAL in row 30"),
    "no total of a group": (AGING.replace("Total for CURRENT", ",,"), "neither a transaction nor a heading"),
    "no heading": (AGING.replace("CURRENT,,,,,,,\r\n", "", 1), "a total closes a group that is not open"),
    "a payment without an amount": (PAYMENTS.replace(",,,600.00", ",,,"), "row 7 has no amount"),
    "no stamp": (PAYMENTS.partition("\n\n\n")[0], "has no time stamp at its end"),
    "a text in the middle": (AGING.replace("CURRENT,,,,,,,", ",,checked by Ann,,,,,"), "row 25 is neither a transac"),
    "a day that is not": (AGING.replace("06/15/2026", "02/30/2026", 1), "row 7 has an amount or a date that can't"),
    "dates in both orders": (AGING.replace("10/06/2026", "23/06/2026"), "has dates in both orders"),
    "odd decimals": (AGING.replace("980.49,980.49", "980.5,980.5"), r"amounts such as '980.5' that are not read as"),
    "both decimal styles": (AGING.replace("900.00,400.00", '"900,00","400,00"'), "'900,00' that are not read as 1,23"),
    "old Excel": (b"\xd0\xcf\x11\xe0", "is an Excel file of an old format"),
    "a broken archive": (b"PK\x03\x04\0\0", "can't be read as an Excel workbook: it is damaged"),
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_what_can_not_be_read_with_certainty_is_refused_with_the_reason(text):
    with pytest.raises(LedgerError, match=text[1]):
        read(text[0])


AMBIGUOUS = AGING.replace("10/15", "10/05").replace("11/14", "11/04").replace("10/31", "10/01")
for day in ("/15/", "/20/", "/18/", "/25/", "/30/", "/17/", "/19/", "/31/"):
    AMBIGUOUS = AMBIGUOUS.replace(day, "/05/")


def test_ambiguous_dates_follow_the_argument_or_the_date_line_with_a_warning_or_are_refused():
    assert read(AMBIGUOUS, dates="dmy")["date"].iloc[0] == pd.Timestamp("2026-05-06")
    with pytest.warns(IncompleteDataWarning, match="They are read as mdy, as the report's date line is written"):
        assert read(AMBIGUOUS).attrs["ledger"]["dates_from"] == "date line"
    uk = AMBIGUOUS.replace("As of Oct 31, 2026", "As of 31 October 2026").partition('\r\n\r\n\r\n" Mon')[0]
    with pytest.warns(IncompleteDataWarning, match="read as dmy"):
        read(uk)
    with pytest.raises(LedgerError, match="pass dates='dmy' or dates='mdy'"):
        read(uk.replace("As of 31 October 2026", "All Dates"))
    with pytest.raises(LedgerError, match="dates='dmy' does not fit The report: it has a month above 12"):
        read(AGING, dates="dmy")


def test_wrong_totals_and_other_encodings_can_be_read_with_a_warning():
    edited = AGING.replace("980.49,980.49", "980.49,980.50")
    with pytest.warns(IncompleteDataWarning, match="Rows may have been removed"):
        assert len(read(edited, totals="warn")) == 14
    with pytest.warns(IncompleteDataWarning, match="is not UTF-8: another program"):
        ledger = read(AGING.replace("Tern", "Térn").encode("cp1252"))
    assert ledger["customer"].iloc[0] == "Térn Valley Trust"


def test_a_client_called_total_is_a_heading_and_rows_without_a_customer_have_a_total_of_their_own():
    text = (SAMPLES / "qbo_open_invoices.csv").read_text(encoding="utf-8").replace("Juniper Hall Partners", "Total Gas")
    text = text.replace("TOTAL,", ",09/26/2026,Journal Entry,7,,,20.00\nTotal for --,,,,,,$20.00\nTOTAL,")
    ledger = read(text.replace("1,180.00", "1,200.00"))
    assert ledger["customer"].fillna("").to_list() == ["Total Gas", "Osprey Ridge LLC", "Osprey Ridge LLC", ""]


def test_files_of_one_report_are_joined_unless_company_report_or_periods_differ():
    early = SALES.replace("September-October, 2026", "January-February, 2026").replace("/2026,", "/2025,")
    joined = read_ledger([SALES.encode(), early.encode()])
    assert len(joined) == 12
    assert joined.attrs["ledger"]["start"] == "2026-01-01"
    for other, reason in [
        (SALES, "both have 2026-09"),
        (early.replace("Larkspur", "Another"), "two companies"),
        (early.replace("Cash", "Accrual"), "different accounting methods"),
        (PAYMENTS, "is invoices_and_payments, not sales_detail"),
    ]:
        with pytest.raises(LedgerError, match=reason):
            read_ledger([SALES.encode(), other.encode()])
    with pytest.raises(LedgerError, match="lists what is open on a day"):
        read_ledger([AGING.encode(), AGING.encode()])


@pytest.mark.parametrize(
    "name",
    [
        "qbo_ar_aging_detail",
        "qbo_customer_balance_detail",
        "qbo_invoice_list_by_date",
        "qbo_open_invoices",
        "qbo_sales_by_customer_detail_cash",
        "qbo_transaction_detail_by_account_ar",
        "qbo_transaction_list_by_date_payments",
        "xero_account_transactions",
    ],
)
def test_a_cut_in_the_last_bytes_or_a_deleted_row_is_refused_or_changes_nothing(name):
    data = (SAMPLES / f"{name}.csv").read_bytes()
    # The accounting method is in the time stamp; `payments` refuses a report without it.
    unstated = ["row", "invoice_number"]
    order = {} if name.startswith("xero") else {"dates": "mdy"}
    whole = read(data, **order).drop(columns=unstated)
    lines = data.split(b"\n")
    cut = [data[:end] for end in range(len(data) - 400, len(data))]
    deleted = [b"\n".join(lines[:at] + lines[at + 1 :]) for at in range(5, len(lines)) if _has_amounts(lines[at])]
    seen = 0
    for each in [*cut, *deleted]:
        try:
            assert read(each, **order).drop(columns=unstated).equals(whole), each[-60:]
        except LedgerError:
            seen += 1
    assert seen > len(deleted)


def _has_amounts(line):
    """Tell whether a row is not empty and not a voided invoice, which no total shows."""
    return line.strip(b", \r") and not line.rstrip().endswith(b",0.00,0.00")


def test_a_file_of_very_many_rows_and_a_workbook_that_unpacks_to_gigabytes_stop_at_the_limit():
    began = time.perf_counter()
    rows = (",10/06/2026,Invoice,1,Quillon,,1.00,1.00\r\n" * 15_000).encode()
    with pytest.raises(ParameterError, match="has more than 100,000 cells"):
        read(AGING.encode() + rows, max_cells=100_000)
    wide = _workbook_of([["1"] * 40] * 300)
    with pytest.raises(ParameterError, match="has more than 10,000 cells"):
        read(wide, max_cells=10_000)
    with pytest.raises(ParameterError, match="has more than 1,000 bytes"):
        read(wide, max_bytes=1_000)
    # The file has twenty cells, each in the last column.
    with pytest.raises(ParameterError, match="has more than 100,000 cells"):
        read(_workbook_of([[None] * 16_383 + ["1"]] * 20), max_cells=100_000)
    assert time.perf_counter() - began < 20


def _workbook_of(rows):
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in rows:
        sheet.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def edited_workbook(edit):
    book = openpyxl.load_workbook(SAMPLES / "qbo_ar_aging_detail.xlsx")
    edit(book)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


@pytest.mark.filterwarnings("ignore:Workbook contains no default style")
@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (lambda book: book.create_sheet("Notes"), "has 2 sheets; export the report again"),
        (lambda book: book.active.merge_cells("A9:C9"), "has merged cells"),
        (lambda book: book.active.__setitem__("G7", "#REF!"), "has a cell with the error #REF!"),
        (lambda book: book.active.__setitem__("G7", 12.345), "more than two decimals"),
        (
            lambda book: book.active.__setitem__("B7", dt.datetime(2026, 5, 6)),
            r"has dates \(2026-05-06 in row 7\) and texts \('\d+/\d+/2026' in row \d+\) in the column 'Date', so Excel "
            "may have exchanged day and month",
        ),
        (
            lambda book: [book.active.__setitem__(f"F{row}", dt.datetime(2026, 5, 6)) for row in (7, 8)],
            "texts .* in the column 'Due date'",
        ),
    ],
)
def test_an_edited_workbook_is_refused(edit, reason):
    with pytest.raises(LedgerError, match=reason):
        read(edited_workbook(edit))


@pytest.mark.filterwarnings("ignore:Workbook contains no default style")
def test_a_workbook_whose_formulas_have_no_saved_results_is_read_with_a_warning():
    with pytest.warns(IncompleteDataWarning, match="have no saved results"):
        assert len(read(edited_workbook(lambda book: None))) == 14


def with_column(text, heading, value_of):
    """Add a column to the right of a report, with a value for each transaction."""
    rows = [[*row, ""] for row in csv.reader(io.StringIO(text, newline=""))]
    for row in rows:
        if row[1:2] == ["Date"]:
            row[-1] = heading
        elif "/2026" in "".join(row[1:2]):
            row[-1] = value_of(row)
    file = io.StringIO(newline="")
    csv.writer(file).writerows(row if any(row) else [] for row in rows)
    return file.getvalue()


@pytest.mark.parametrize(
    ("heading", "place", "other"),
    [
        ("Open balance", 7, "1.00"),
        ("Amount", 6, "1.00"),
        ("Due date", 5, "5/6/2026"),
        ("Transaction date", 1, "5/6/2026"),
        ("Name", 4, "Tern Valley"),
    ],
)
def test_two_columns_of_one_meaning_are_refused_unless_they_are_equal(heading, place, other):
    """The first was read."""
    with pytest.raises(LedgerError, match=rf"has two columns with the [a-z ]+, '.*' and '{heading}', which differ in"):
        read(with_column(AGING, heading, lambda _row: other))
    assert read(with_column(AGING, heading, lambda row: row[place])).equals(read(AGING))


@pytest.mark.parametrize("source", [3, None, 2.5, [3], ["a.csv", None], {"a.csv"}, io.BytesIO(b""), pd.DataFrame()])
def test_a_source_that_is_not_a_file_is_refused(source):
    with pytest.raises(ParameterError, match="^source is .*; pass the path of a report, its content as bytes, or a"):
        read_ledger(source)


def test_arguments_are_checked():
    for options, reason in [
        ({"dates": "ymd"}, "dates='ymd'"),
        ({"decimals": "."}, "decimals='.'"),
        ({"totals": "no"}, "totals='no'"),
        ({"kind": "aging"}, "kind='aging' is not a report"),
    ]:
        with pytest.raises(ParameterError, match=reason):
            read(AGING, **options)
    with pytest.raises(LedgerError, match="is ar_aging_detail, not invoice_list"):
        read(AGING, kind="invoice_list")
    with pytest.raises(ParameterError, match="can't be read"):
        bf.read_ledger(SAMPLES / "nothing.csv")
    with pytest.raises(ParameterError, match="has no file"):
        read_ledger([])


def test_overdue_invoices_and_xeros_list_of_invoices_are_read():
    text = (SAMPLES / "qbo_open_invoices.csv").read_text(encoding="utf-8")
    overdue = read(text.replace("Open Invoices", "Collections"))
    assert overdue.attrs["ledger"]["report"] == "collections"
    assert not overdue.attrs["ledger"]["open_items"]
    rows = [
        "Receivable Invoice Summary,,,,,,",
        "Larkspur & Wren LLP,,,,,,",
        "For the period 1 October 2026 to 31 October 2026,,,,,,",
        "",
        "Invoice Number,Contact,Invoice Date,Due Date,Gross,Balance,Status",
        "INV-1,Osprey Ridge LLC,18 Oct 2026,17 Nov 2026,1400.00,900.00,Awaiting Payment",
        "INV-2,Osprey Ridge LLC,20 Oct 2026,19 Nov 2026,200.00,0.00,Voided",
        "Total,,,,1600.00,900.00,",
    ]
    listed = read("\n".join(rows))
    assert listed.attrs["ledger"]["report"] == "xero_invoices"
    assert listed[["number", "customer", "amount", "open_balance", "voided"]].to_numpy().tolist() == [
        ["INV-1", "Osprey Ridge LLC", 1400.0, 900.0, False],
        ["INV-2", "Osprey Ridge LLC", 200.0, 0.0, True],
    ]
    with pytest.raises(LedgerError, match="its rows add up to 1,400.00"):
        read("\n".join(rows[:6] + rows[7:]))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "utf-32"])
def test_a_report_that_excel_saved_as_unicode_text_is_read(encoding):
    """Excel writes tabs and UTF-16 with a mark; some programs leave out the mark."""
    text = io.StringIO()
    csv.writer(text, delimiter="\t").writerows(csv.reader(io.StringIO(AGING.replace("Juniper", "Jüniper"))))
    ledger = read(text.getvalue().encode(encoding))
    assert (len(ledger), ledger["open_balance"].sum()) == (14, 8505.49)
    assert ledger["customer"].str.startswith("Jüniper").any()


def test_a_cut_utf_16_file_is_refused_as_that():
    with pytest.raises(LedgerError, match="begins as utf-16-le text, but is not, so it is cut off"):
        read(AGING.encode("utf-16")[:-1])


def test_the_sandboxs_reports_need_a_folder(tmp_path):
    with pytest.raises(ParameterError, match=r"Detail\.csv can't be written: there is no folder"):
        bf.ledger.sandbox_reports(tmp_path / "books")
