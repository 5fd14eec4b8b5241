"""The whole page of small firms of eight shapes: what a partner would read first is true, and nothing is silly."""

from __future__ import annotations

import datetime as dt
import io
import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import openpyxl
import pandas as pd
import pytest
from bs4 import BeautifulSoup

from billframes import FirmSettings, report
from billframes.book import Book
from billframes.errors import ConfigError
from billframes.periods import Period, month_end
from billframes.report import page_parts, section_findings, standing_out
from billframes.report.first_page import budget, tiles
from billframes.report.key_points import key_points
from billframes.report.month import Month
from billframes.report.outline import OUTLINE
from billframes.report.workbook import workbook
from tests.firms import FIRMS, LAST, add, keep, make_firm, on

pytestmark = pytest.mark.slow

OCTOBER = dt.date(2026, 10, 1)
# Columns of loaded frames that `make_firm` leaves out.
_MORE = {"matters": ("reference", "client_reference"), "expenses": ("description",), "fixed_fees": ("description",)}
TARGETS = FirmSettings(targets={"p0@firm.example": {"hours": 1_044, "period": "year"}})
VAT = {"name": "VAT", "rate": 0.19, "on": ["time", "fixed_fees", "expenses"]}


def report_of(tables: Mapping[str, Any], last: dt.date = LAST, settings: FirmSettings | None = None) -> Month:
    """Return October 2026 of a firm whose records were all loaded on the evening of a day."""
    book = Book(Period(OCTOBER, month_end(OCTOBER)), settings=settings, client=None)  # type: ignore[arg-type]
    load = {"time": f"{last}T18:00:00+00:00", "period": {"start": None, "end": None}}
    for name, frame in on(tables, lambda table: table.to_pandas(date_as_object=False), whole=True).items():
        absent = {
            each: pd.Series([None] * len(frame), dtype="str") for each in _MORE.get(name, ()) if each not in frame
        }
        loaded = frame.assign(**absent)
        loaded.attrs = {**frame.attrs, "load": frame.attrs["load"] | load}
        setattr(book, name, loaded)
    return Month(OCTOBER, last, last, book)


MONTHS: dict[str, Callable[[], Month]] = {
    "first month": lambda: report_of(FIRMS["first month"]()),
    "from the 12th": lambda: report_of(make_firm(first=dt.date(2026, 10, 12)), settings=TARGETS),
    "from the 6th to the 20th": lambda: report_of(make_firm(first=dt.date(2026, 10, 6)), dt.date(2026, 10, 20)),
    "from August": lambda: report_of(FIRMS["from August on"]()),
    "mid-month": lambda: report_of(make_firm(), dt.date(2026, 10, 14)),
    "tax": lambda: report_of(make_firm(taxes=(0.19, 0.19)), settings=FirmSettings(taxes=[VAT], currency="EUR")),
    "one lawyer": lambda: report_of(FIRMS["one lawyer"]()),
    "contingency": lambda: report_of(FIRMS["contingency only"]()),
    "fixed fees": lambda: report_of(FIRMS["fixed fees only"]()),
    "hidden rates": lambda: report_of(FIRMS["hidden rates"]()),
}


def text_of(month: Month) -> str:
    """Return the text of all sections: a line for each sentence, figure and row, whose cells are between bars."""
    shown = (each(month) for each in OUTLINE if each.on_page and not each.narratives)
    # Days in a headline do not break.
    html = "".join(each._repr_html_() for each in shown if each is not None)
    page = BeautifulSoup(html.replace("\u2060", "").replace("\xa0", " "), "html.parser")
    for row in page.find_all("tr"):
        cells = [each.get_text(" ", strip=True) for each in row.find_all(["th", "td"])]
        row.replace_with(f"\n{' | '.join(cells)}\n")
    return "\n".join(filter(None, (line.strip() for line in page.get_text("\n").splitlines())))


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return {name: text_of(make()) for name, make in MONTHS.items()}


DECISIVE = {
    "first month": (
        "Client hours\n115.2\nh\nUtilization\n34.3%\nno firm settings: 8 hours a day, without leave\nFees billed\n0\n",
        "Nothing is compared: the data begin on 2 October 2026.",
        "Work in progress\n31,760\n",
        "Lock-up is not shown: nothing was billed in 30 days.",
        "Figure | Oct 2026 | Year to Oct 2026\n",
        "Client hours | 115.2 | 115.2\n",
        "Utilization | 34.3% | 34.3%\n",
        "From 2 October 2026, the first day of the data, the month has 21 working days",
    ),
    "from the 12th": (
        "14–31 October 2026\n",
        # Person 0 has 4 hours of target on each of the 13 working days since the 14th.
        "Client hours\n76.8\nh\n73.8% of target (1 person)\n",
        "Utilization\n36.9%\nFees billed\n0\nReceivables\n",
        "Figure | 14–31 Oct 2026 | Year to 31 Oct 2026\n",
        "Client hours | 76.8 | 76.8\n",
        "Value of time worked | 21,120 | 21,120\n",
        "Client hours are 13.6 hours below the target of 52.0 hours.",
        "Person 0 | 38.4 |  | 52.0 | −13.6 | 56.0\n",
        "no final invoice is dated from 14 to 31 October.",
        "this one is 14–31 Oct 2026.",
    ),
    "from the 6th to the 20th": (
        "7–20 October 2026\n",
        "Client hours\n51.2\nh\nUtilization\n",
        "Figure | 7–20 Oct 2026 | Year to 20 Oct 2026\n",
        "no final invoice is dated from 7 to 20 October.",
    ),
    "from August": (
        "Fees billed\n30,096\n+12.5% on Sep\nBilling",
        "Fees billed rose by 3,344 to 30,096 (September 2026: 26,752).\n"
        "More hours explain all of it. The largest part is Client 0",
        "Lock-up is not shown: it needs the fees of a year, and the data have 88 days.",
        "Fees billed to Client 0 rose by 1,672 from September 2026; they rose for both clients.",
        "Client hours | 115.2 | 115.2 | 0.0% | 332.8\n",
        "this one is 5 Aug–Oct 2026",
    ),
    "mid-month": (
        "1–14 October 2026\n",
        "Client hours\n51.2\nh\n0.0% on 1–14 Sep · 0.0% on 1–14 Oct 2025\n",
        "Fees billed rose by 3,344 to 30,096 (1–14 September 2026: 26,752).",
        "1–14 Oct 2026 | 1–14 Sep 2026 | Change | 1–14 Oct 2025 | Change | Jan–14 Oct 2026",
        "Changes from 1–14 September 2026 to 1–14 October 2026.",
    ),
    "tax": (
        "Amounts in EUR · data of 31 October 2026",
        "Fees billed\n30,096\n",
        "Billing realization\n95.0%\n",
        # What is owed includes the tax: 15,088 and 13,416 without it.
        "Current | 17,955 |\n",
        "1–30 days | 15,965 |\n",
        "Receivables | 33,920 |\n",
    ),
    "one lawyer": (
        "Fees billed to Client 0 rose by 1,824 from September 2026.\nAll of it is the matter Matter 0.\n",
        "104.0 hours may be missing.\n",
    ),
    "contingency": (
        "Work in progress\n0\n+ 402,320 on contingency\n",
        "On contingency | 402,320 |",
        "| 0 | 395 | 155,280 |",
        "Lock-up is not shown: nothing was billed in 365 days.",
    ),
    "fixed fees": (
        "All fees\n18,000\n0 for time\n18,000 in fixed fees\n0.0% on Sep\n",
        "All fees | 18,000 | 18,000 | 0.0% | 0 | – | 180,000\n",
        "Fixed fees | 18,000 | 18,000 | 0.0% | 0 | – | 180,000\n",
        "All fees by month\n",
        "Twelve months\n12 months, all fees 216,000\n",
        "Fees billed | 0 | 0 | – | 0 | – | 0\n",
        "Lock-up is not shown: only 0.0% of the year’s fees are for time.",
        "Fees billed are for time: the month’s invoices also bill 18,000 in fixed fees.",
        "Nothing is compared: no time was billed in September 2026 and October 2026.",
        "No final invoice of October 2026 bills time.",
    ),
    "hidden rates": (
        "Work in progress\n–\nrates are hidden\n",
        "Fees billed\n30,096\n",
        "Ask whoever manages the billing system for the right to read rates.",
    ),
}
ABSENT = {
    "first month": ("Sep", "Change of", "Settled share", "Settled of", "Billing realization\n", "Lock-up\n"),
    "from August": ("on Oct 2025", "365"),
    "mid-month": ("31 October",),
    "contingency": ("of the value of time billed.", "Billing realization\n", "Lock-up\n"),
    "fixed fees": ("Settled of", "Billing realization\n", "Lock-up\n"),
    "one lawyer": ("1 of 1", "Principals lack", "The largest part of it is"),
    "hidden rates": ("Change of realization by client", "0 of it older", "Lock-up\n", "\n–\n– in work"),
}


@pytest.mark.parametrize("name", MONTHS)
def test_a_partner_reads_what_is_true_of_the_firm(pages, name):
    page = pages[name]
    assert [each for each in DECISIVE[name] if each not in page] == []
    # The heading of the comparison names last month; nothing is said of it.
    prose = "\n".join(line for line in page.splitlines() if " | " not in line)
    # Of clients that bring the same, none stands out, nor does an only one; nor a role that lacks as much as another.
    assert [each for each in (*ABSENT.get(name, ()), "of the fees of twelve", "s lack ") if each in prose] == []


@pytest.mark.parametrize("name", MONTHS)
def test_no_page_has_words_of_python_or_its_currency_twice(pages, name):
    page = pages[name]
    assert re.findall(r"(?i)\b(?:nan|none|inf|pass \w+=|nat|null)\b|[a-z]_[a-z]|`", page) == []
    said = [line for line in page.splitlines() if "EUR" in line and "settings" not in line]
    once = ["Amounts in EUR · data of 31 October 2026, 18:00 UTC", "Who | What | EUR", "Fees billed by month, EUR"]
    assert said == (once if name == "tax" else [])
    assert "‡" not in page
    assert not re.search(r"[−+]\d,\d{3}(?:\.\d)?%", page)


def repeated(page: str) -> list[str]:
    """Return the sentences of at least eight words that are twice on a page."""
    said = [each.strip() for line in page.splitlines() if " | " not in line for each in re.split(r"(?<=[.:;]) ", line)]
    return [each for each, count in Counter(said).items() if count > 1 and len(each.split()) >= 8]


@pytest.mark.parametrize("name", MONTHS)
def test_no_page_says_a_sentence_twice(pages, name):
    assert repeated(pages[name]) == []


def test_a_repeated_sentence_would_be_found():
    assert repeated("Fees. One two three four five six seven eight.\nOne two three four five six seven eight.") == [
        "One two three four five six seven eight."
    ]


def test_a_budget_of_data_that_begin_within_the_year_counts_from_their_first_day():
    """The firm has billed since 5 August: it is not behind for months of which nothing is known."""
    settings = FirmSettings(targets={"firm": {"fees": 261_000.0, "period": "year"}})
    from_august = report_of(FIRMS["from August on"](), settings=settings)
    found = budget(from_august)
    # The year has 261 working days, 107 of them since 5 August, the first day with work; of these, 63 are over.
    assert (found.whole, found.target, found.elapsed) == pytest.approx((261_000, 107_000, 63 / 107))
    assert "261,000" in found.text
    assert "since 5 August 2026" in found.text
    # August is no complete month, neither for the pace nor for the line of a tile.
    assert {len(each.months) for each in tiles(from_august)} == {0, 2}
    assert found.year_end != found.year_end
    whole = budget(report_of(make_firm(), settings=settings))
    assert (whole.target, whole.since) == (261_000, None)
    assert "The data begin" not in whole.text


def test_a_workbook_has_no_chart_without_values():
    """A firm that is paid by success has hours by month, and neither fees nor open amounts by age."""
    made = openpyxl.load_workbook(io.BytesIO(workbook(MONTHS["contingency"]())))
    (chart,) = made["In figures"]._charts
    assert {series.val.numRef.f.partition("!")[0] for series in chart.series} == {"'Twelve months'"}


def test_the_line_of_a_tile_ends_where_the_complete_months_end():
    part, whole = (next(iter(tiles(MONTHS[name]()))) for name in ("mid-month", "tax"))
    assert len(part.months) == len(whole.months) == 12
    # The present month has its place at the right, which a whole month fills.
    assert part.points[-1][0] < whole.points[-1][0] == 146.0


def test_people_who_left_do_not_make_utilization_the_first_point():
    """Of five people, three recorded their last hours in September, and the settings do not say that they left."""
    firm = make_firm(5)
    parted = keep(firm, "time_entries", lambda row: row["user_id"] in ("u0", "u1") or row["date"] < OCTOBER)
    stopped = keep(firm, "time_entries", lambda row: row["date"] < OCTOBER or row["date"].day < 5)
    fewer = keep(parted, "time_entries", lambda row: row["date"] != dt.date(2026, 10, 7))
    assert not any(each.headline.startswith("Utilization") for each in key_points(report_of(parted)))
    (fell,) = (each for each in key_points(report_of(fewer)) if each.headline.startswith("Utilization fell"))
    assert re.match(r"Of those who recorded hours it is \d+\.\d% \(September 2026: \d+\.\d%\)\.", fell.detail)
    assert key_points(report_of(stopped))[0].headline.startswith("Utilization fell")


def test_a_persons_role_is_that_of_the_settings():
    month = report_of(make_firm(), settings=FirmSettings(roles={"p1@firm.example": "paralegal"}))
    (table,) = page_parts.hours(month)
    assert [(row.name, row.group) for row in table.rows] == [("Person 0", "Principals"), ("Person 1", "Paralegals")]


def test_of_roles_that_lack_the_same_hours_none_is_named():
    assert section_findings.hours(report_of(make_firm())).headline == "208.0 hours may be missing."
    assert section_findings.hours(report_of(make_firm(4))).headline.startswith("Paralegals lack 208.0 hours of the 416")


def test_two_years_of_fixed_fees_are_compared_as_all_fees():
    firm = make_firm(kind="fixedFee", first=dt.date(2024, 9, 1), invoiced=lambda client, month: client or month != 3)
    month = report_of(firm)
    assert section_findings.trends(month).headline == "All fees of twelve months rose by 4.3% to 216,000."
    ((line,),) = page_parts.trends(month)
    assert (line.title, len(line.before)) == ("All fees by month", 1)


def test_the_tile_of_receivables_says_that_what_is_overdue_is_before_credits():
    credit = {"invoice_id": "c", "invoice_number": "C1", "invoice_date": dt.date(2026, 10, 5), "amount": -100.0}
    month = report_of(add(make_firm(), "invoices", credit | {"balance": -100.0}))
    (tile,) = (each for each in tiles(month) if each.name == "Receivables")
    row = month.of("aging").iloc[0]
    assert float(row["total"]) == pytest.approx(row["current"] + row["1-30"] + row["credit_amount"])
    assert tile.lines[0] == f"{row['overdue']:,.0f} overdue before 100 of unused credits"


def test_a_client_with_more_than_one_and_a_half_equal_shares_stands_out():
    """Of two clients, 75% is one and a half equal shares."""
    firm = make_firm(taxes=(0.0, 0.0), first=dt.date(2025, 9, 1))
    few = report_of(keep(firm, "invoices", lambda row: row["client_id"] == "c0" or row["invoice_date"].month < 3))
    some = report_of(keep(firm, "invoices", lambda row: row["client_id"] == "c0" or row["invoice_date"].month < 6))
    assert standing_out.concentration(few).startswith("Client 0 was billed ")
    assert standing_out.concentration(some) == ""


def test_no_time_is_missing_at_a_firm_that_records_none():
    firm = keep(make_firm(kind="fixedFee"), "time_entries", lambda _row: False)
    page = text_of(report_of(firm))
    assert "missing" not in page
    assert "missing time" in text_of(report_of(keep(make_firm(), "time_entries", lambda row: row["date"] < OCTOBER)))


def test_the_firms_name_logo_and_colour_come_from_its_settings(tmp_path, monkeypatch):
    logo = tmp_path / "logo.png"
    logo.write_bytes(b"picture")
    look = {"title": "Ada & Sons", "logo": str(logo), "accent": "#aa3300"}
    month = report_of(FIRMS["first month"](), settings=FirmSettings(report=look))
    page = BeautifulSoup(report.cover(month)._repr_html_(), "html.parser")
    assert page.select_one(".firm").get_text() == "Ada & Sons"
    assert page.img["src"] == "data:image/png;base64,cGljdHVyZQ=="
    assert "--accent: #aa3300" in page.style.get_text()
    assert BeautifulSoup(report.cover(month, title="Bell LLP")._repr_html_(), "html.parser").p.get_text() == "Bell LLP"
    monkeypatch.setattr("billframes.report.workbook.planned", lambda _month, narratives: [])
    first = openpyxl.load_workbook(io.BytesIO(workbook(month)))["Start"]
    assert first["A2"].value == "Ada & Sons"
    logo.unlink()
    with pytest.raises(ConfigError, match="can't be read"):
        report.cover(month)
