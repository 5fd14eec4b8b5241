"""A month's figures and sections, without a kernel."""

from __future__ import annotations

import copy
import datetime as dt
import re
from collections import Counter

import pandas as pd
import pytest
from bs4 import BeautifulSoup

import billframes as bf
from billframes import report
from billframes.book import Book, methods
from billframes.book.days import BookDays
from billframes.book.methods import call_analysis
from billframes.config.firm import FirmSettings
from billframes.errors import ConfigError, ParameterError
from billframes.periods import month_end
from billframes.report import report_tables
from billframes.report.figures import figures
from billframes.report.footnotes import as_of
from billframes.report.key_points import key_points
from billframes.report.table_spec import top_and_rest
from tests.report.conftest import sheets


def sections(month: report.Month) -> list[str]:
    made = [
        report.cover(month),
        report.page_one(month),
        report.headlines(month),
        report.utilization(month),
        report.realization(month),
        report.receivables(month),
        report.trends(month),
        report.notes(month),
    ]
    return [section._repr_html_() for section in made if section is not None]


def other(october: report.Month, first: dt.date, as_of: dt.date) -> report.Month:
    """Return another month of the same book, whose frames have all months."""
    return report.Month(first, min(as_of, month_end(first)), as_of, october.book)


@pytest.mark.slow
def test_a_month_without_data_says_so_in_every_section(october):
    first, last = dt.date(2025, 3, 1), dt.date(2025, 3, 31)
    book = copy.copy(october.book)
    book._days = BookDays(book)
    for name, column in (("time_entries", "date"), ("invoices", "invoice_date")):
        frame = getattr(october.book, name)
        rest = frame[~frame[column].between(pd.Timestamp(first), pd.Timestamp(last))].reset_index(drop=True)
        rest.attrs = {"load": {**frame.attrs["load"], "rows": len(rest)}}
        setattr(book, name, rest)
    march = report.Month(first, last, last, book)
    cover, _, headlines, utilization, realization, *_ = sections(march)
    assert "There are no data for March 2025" in cover
    assert "No final invoice of March 2025 bills time." in realization
    assert "No time is recorded in March 2025." in utilization
    billed = next(each for each in figures(march) if each.name == "Fees billed")
    assert billed.cells[0].text == "0"
    assert ">nan<" not in headlines


@pytest.mark.slow
def test_a_month_that_is_not_over_is_compared_with_the_same_days(october):
    part = other(october, dt.date(2026, 10, 1), dt.date(2026, 10, 15))
    fees = next(each for each in figures(part) if each.name == "Fees billed")
    spans = [("2026-10-01", "2026-10-15"), ("2026-09-01", "2026-09-15"), ("2025-10-01", "2025-10-15")]
    spans += [("2026-01-01", "2026-10-15"), ("2025-01-01", "2025-10-15")]
    wanted = [october.book.realization(start=start, end=end)["billed_amount"].iloc[0] for start, end in spans]
    assert fees.by_period == pytest.approx(wanted)
    headings = BeautifulSoup(report.headlines(part)._repr_html_(), "html.parser").get_text()
    for words in ("1–15 Sep 2026", "1–15 Oct 2025", "Jan–15 Oct 2026", "It counts to 15 October 2026"):
        assert words.casefold() in headings.casefold()
    last = part.month_by_month("billed_amount").iloc[-1]
    assert [last["now_amount"], last["previous_amount"], last["year_ago_amount"]] == pytest.approx(wanted[:3])


@pytest.mark.slow
def test_years_to_date_follow_the_fiscal_year(october):
    book = copy.copy(october.book)
    book.settings = FirmSettings(fiscal_year_start="07")
    month = report.Month(october.first, october.last, october.as_of, book)
    assert [month.to_date_name(), month.to_date_name(1)] == ["Jul–Oct 2026", "Jul–Oct 2025"]
    billed = [month.to_date(back)["billed_amount"] for back in (0, 1)]
    spans = (("2026-07-01", "2026-10-31"), ("2025-07-01", "2025-10-31"))
    assert billed == pytest.approx([book.realization(start=a, end=b)["billed_amount"].iloc[0] for a, b in spans])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::billframes.errors.BillframesWarning")
def test_before_the_first_day_of_the_data_no_figure_is_compared(october):
    """The data begin on Monday, 3 August 2026: of the year, three months are known, and of last year nothing."""
    book = copy.copy(october.book)
    book._days = BookDays(book)
    for name, column in (("time_entries", "date"), ("invoices", "invoice_date")):
        frame = getattr(october.book, name)
        rest = frame[frame[column] >= "2026-08-03"].reset_index(drop=True)
        rest.attrs = {"load": {**frame.attrs["load"], "rows": len(rest)}}
        setattr(book, name, rest)
    month = report.Month(october.first, october.last, october.as_of, book)
    assert month.to_date_name() == "Aug–Oct 2026"
    by_name = {each.name: each.by_period for each in figures(month)}
    for name in ("Fees billed", "Client hours", "Utilization"):
        now, before, year_ago, to_date, year_ago_to_date = by_name[name]
        assert not any(map(pd.isna, (now, before, to_date)))
        assert pd.isna([year_ago, year_ago_to_date]).all()
    assert len(month.by_month) == 3
    assert month.month_by_month("billed_amount")["twelve_months_amount"].isna().all()
    august = report.Month(dt.date(2026, 8, 1), dt.date(2026, 8, 31), dt.date(2026, 8, 31), book)
    assert report.changes.made(august) == []
    assert key_points(august)


@pytest.mark.slow
def test_each_analysis_is_calculated_once_for_page_and_workbook(october, monkeypatch):
    calls = []

    def record(analysis, book, given):
        calls.append((analysis.name, *sorted(f"{name}={each!r}" for name, each in given.items() if each is not None)))
        return call_analysis(analysis, book, given)

    monkeypatch.setattr(methods, "call_analysis", record)
    month = report.Month(october.first, october.last, october.as_of, october.book)
    sections(month)
    report.work_in_progress(month)
    sheets(month)
    assert calls
    assert [each for each, count in Counter(calls).items() if count > 1] == []


def test_headline_hours_of_an_earlier_month_equal_the_analysis_of_that_month(october):
    by_name = {each.name: each for each in figures(october)}
    own = october.book.utilization(None, start="2025-10-01", end="2025-10-31").iloc[0]
    assert by_name["Client hours"].by_period[2] == pytest.approx(own["client_hours"])
    assert by_name["Utilization"].by_period[2] == pytest.approx(own["utilization"])


def test_marked_figures_show_no_change(october):
    for each in figures(october):
        if each.mark:
            assert {each.cells[place].text for place in (2, 4, 7)} == {""}


def test_the_largest_rows_and_the_row_of_all_others_add_up_to_the_total(october):
    rows, total = october.of("realization", "client"), october.of("realization")
    kept = top_and_rest(rows, "client_name", "worked_amount", top=5, rest="Others")
    assert len(kept) == 6
    for name in ("worked_amount", "billed_amount", "settled_amount", "billable_hours"):
        assert kept[name].sum() == pytest.approx(total[name].sum())
    others = kept.iloc[-1]
    assert others["billing_realization"] == pytest.approx(others["billed_amount"] / others["worked_amount"])


def test_two_clients_with_one_name_are_shown_with_their_references(october):
    clients = october.book.clients
    twice = clients[clients["name"].duplicated(keep=False)]
    assert len(twice) >= 2
    rows = pd.DataFrame({"client_id": twice["client_id"], "client_name": twice["name"]})
    assert october.with_distinct_names(rows)["client_name"].is_unique


@pytest.mark.slow
def test_sections_say_that_balances_are_of_a_later_day(october):
    # Balances are of the day of loading, which is after the end of August.
    early = other(october, dt.date(2026, 8, 1), dt.date(2026, 8, 31))
    _, page_one, headlines, *_, receivables, _, notes = sections(early)
    assert "balances of 31 October 2026</div>" in receivables
    assert "Balances are those of 31 October 2026, when they were loaded" in receivables
    assert "Receivables on 31 October" in page_one
    assert "Lock-up on 31 October" in page_one
    assert "Receivables aged to 31 August 2026, with the balances of 31 October 2026" in headlines
    # The note of `aging` would repeat it.
    assert not any("alance" in each for each in early.remarks)
    assert "as_of" not in notes


def test_a_note_says_that_invoices_after_the_load_are_missing(october):
    late = other(october, october.first, dt.date(2026, 12, 15))
    late.of("aging", "client")
    (remark,) = late.remarks
    assert remark == (
        "15 December 2026 is 45 days after the day the invoices were loaded (31 October 2026). Invoices and payments "
        "between these days are not in the data. Load the data again."
    )
    assert remark in report.notes(late)._repr_html_()


@pytest.mark.slow
def test_a_month_that_is_not_over_is_counted_to_as_of_and_says_so(connected):
    part = report.load("2026-10", as_of="2026-10-15")
    assert part.last == dt.date(2026, 10, 15)
    assert "<h1>1–15 October 2026</h1>" in report.cover(part)._repr_html_()
    assert "The month is not over: figures run to 15 October 2026." in report.notes(part)._repr_html_()
    # 1 to 15 October 2026 has eleven working days.
    assert part.by_month["capacity_hours"].iloc[-1] == pytest.approx(
        part.of("utilization", "user")["capacity_hours"].sum()
    )
    assert part.of("utilization", "user")["capacity_hours"].max() == 88.0


def test_the_note_on_utilization_says_which_time_on_pro_bono_matters_counts(october):
    entries = pd.DataFrame(
        {
            "date": pd.to_datetime(["2026-10-01", "2026-10-02"]),
            "user_id": ["u1", "u1"],
            "matter_id": ["m1", "m1"],
            "matter_type": ["probono", "probono"],
            "hours": [1.0, 2.0],
            "billing_type": ["billable", "nonBillable"],
        }
    )
    users = pd.DataFrame({"user_id": ["u1"], "name": ["Ada"], "role": ["attorney"]})
    counted = bf.analysis.utilization(entries, users=users, start="2026-10", by=None)["client_hours"].iloc[0]
    assert counted == 1.0
    words = report.utilization(october)._repr_html_()
    assert "Client hours are billable and fixed-fee time, except on internal matters." in words
    assert "Non-billable time does not count, even on pro bono matters." in words


@pytest.mark.slow
def test_settings_are_read_from_a_file(connected, tmp_path):
    settings = tmp_path / "firm.toml"
    settings.write_text(
        'holidays = [2026-10-12]\n[targets]\n"thomas.whitfield@harrowlindqvist.example.com" = '
        '{hours = 150, period = "month"}\n'
    )
    month = report.load("2026-10", settings=str(settings))
    html = report.utilization(month)._repr_html_()
    assert "The month has 21 working days of 8 hours each" in html
    settings_used = "Firm settings from firm.toml: 8 hours a day, Mon to Fri, with holidays and targets."
    assert settings_used in report.notes(month)._repr_html_()
    assert "Target hours" in html
    with pytest.raises(ConfigError, match="can't be read"):
        report.load("2026-10", settings=str(tmp_path / "none.toml"))


def test_an_as_of_before_the_month_is_refused(connected):
    with pytest.raises(ParameterError, match="lies before October 2026"):
        report.load("2026-10", as_of="2026-09-30")


@pytest.mark.slow
def test_a_month_after_the_data_is_refused(connected):
    with pytest.raises(ParameterError, match="begins on 1 November 2026, after the day of the data, 31 October 2026"):
        report.load("2026-11")


@pytest.mark.slow
def test_data_that_are_older_than_the_month_end_the_figures(connected, monkeypatch):
    """A mirror can have been refreshed before the month was over."""
    monkeypatch.setattr(Book, "loaded_on", lambda _book, *_names: dt.date(2026, 10, 20))
    month = report.load("2026-10", as_of="2026-10-31")
    assert (month.last, month.as_of, month.is_over) == (dt.date(2026, 10, 20), dt.date(2026, 10, 20), False)
    assert "figures run to 20 October 2026" in as_of(month)
    with pytest.raises(ParameterError, match="begins on 1 November 2026, after the day of the data, 20 October 2026"):
        report.load("2026-11")


@pytest.mark.slow
def test_hidden_rates_leave_dashes_and_a_note(without_rates):
    month = report.load("2026-10")
    _, _, headlines, *_, notes = sections(month)
    worked = next(each for each in figures(month) if each.name == "Value of time worked")
    assert worked.cells[0].text == "–"
    assert "read.rates" in notes
    assert "nan" not in headlines


def test_key_points_have_the_figures_of_the_tables_they_name(october):
    points = {point.section: point.text for point in key_points(october)}
    assert 3 <= len(key_points(october)) <= 7
    before, now = october.by_month["billed_amount"].iloc[[-2, -1]]
    change = f"Fees billed rose by {now - before:,.0f} to {now:,.0f} (September 2026: {before:,.0f})."
    assert key_points(october)[0].headline == change
    invoices = october.book.invoices
    open_ = invoices[(invoices["invoice_state"] == "final") & (invoices["balance"] > 0)]
    overdue = open_.loc[open_["due_date"] < pd.Timestamp(october.as_of), "balance"].sum()
    headline = f"{overdue:,.0f} of {open_['balance'].sum():,.0f} owed on invoices is overdue. "
    assert points["receivables"].startswith(headline)
    assert key_points(other(october, dt.date(2019, 3, 1), dt.date(2019, 3, 31))) == []


def test_a_year_to_date_is_the_sum_of_its_months(october):
    fees = october.of("realization")
    year = october.book.realization(None, start="2026-01-01", end="2026-10-31").iloc[0]
    assert october.to_date()["billed_amount"] == pytest.approx(year["billed_amount"])
    assert october.to_date()["billing_realization"] == pytest.approx(year["billing_realization"])
    before = october.book.realization(None, start="2025-01-01", end="2025-10-31").iloc[0]
    assert october.to_date(1)["billed_amount"] == pytest.approx(before["billed_amount"])
    assert fees["billed_amount"].iloc[0] == pytest.approx(october.by_month["billed_amount"].iloc[-1])


def cells(section: report.Section, name: str = "") -> dict[str, list[str]]:
    """Return the cells of a table's rows by their first column: the table with the caption `name`, or the first one."""
    tables = BeautifulSoup(section._repr_html_(), "html.parser").find_all("table")
    table = next(each for each in tables if not name or each.caption.get_text() == name)
    found = table.select("tbody tr:not(.group)")
    return {row.th.get_text(): [each.get_text() for each in row.select("td:not(.bar)")] for row in found}


def test_a_note_names_people_without_hours_and_their_part_of_the_total(october):
    section = report.utilization(october)
    *people, total = cells(section).values()
    idle = october.of("utilization", "user")[october.of("utilization", "user")["total_hours"] == 0]
    assert len(idle) == 2
    assert len(people) == len(october.of("utilization", "user")) - 2
    assert not [row for row in people if row[0] == "0.0"]
    said = f"No hours recorded: {', '.join(idle['user_name'])}. The total includes their 352.0 available hours."
    assert f"<p>{said}</p>" in section._repr_html_()
    # The hours of the rows and of the note add up to the total.
    for place, more in ((0, 0), (1, 352)):
        assert sum(float(row[place]) for row in people) + more == pytest.approx(float(total[place].replace(",", "")))


def test_a_note_names_people_with_a_target_but_no_hours(october):
    names = ("thomas.whitfield", "daniel.orourke")
    targets = {f"{name}@harrowlindqvist.example.com": {"hours": 1700, "period": "year"} for name in names}
    month = other(october, october.first, october.as_of)
    month.book = copy.copy(october.book)
    month.book.settings = FirmSettings(targets=targets)
    section = report.utilization(month)
    assert cells(section)["1 person with a target"][0] == cells(section)["Thomas Whitfield"][0]
    assert "hours in October 2026: Daniel O’Rourke (year to date: 0.0 of 1,4" in section._repr_html_()
    assert " available hours and target of 1" in section._repr_html_()


@pytest.mark.slow
def test_notes_name_only_columns_that_the_page_has(october):
    made = [
        *(
            report.write_downs(october),
            report.stale(october),
            report.realization(october),
        ),
        *(report.work_in_progress(october), report.receivables(october), report.utilization(october)),
    ]
    for section in made:
        page = BeautifulSoup(section._repr_html_(), "html.parser")
        notes = page.select_one(".about").get_text()
        headings = " | ".join(each.get_text() for each in page.select("thead th"))
        assert [name for name in re.findall("“(.+?)”", notes) if name not in headings] == []
        assert not re.search("separate column|full table|effort", notes)


def test_a_shared_name_has_its_reference_even_if_the_other_client_has_no_row(october):
    owed = report_tables.overdue_invoices(october).rows["client_id"]
    clients = october.book.clients
    other_one = clients[~clients["client_id"].isin(owed)].index[0]
    (one, reference), *_ = clients.loc[clients["client_id"] == owed.iloc[0], ["name", "reference"]].to_numpy()
    month = other(october, october.first, october.as_of)
    month.book = copy.copy(october.book)
    month.book.clients = clients.assign(name=clients["name"].where(clients.index != other_one, one))
    invoices = report_tables.overdue_invoices(month).rows["invoice"]
    assert any(each.startswith(f"{one} ({reference}), ") for each in invoices)


@pytest.mark.slow
def test_currency_floor_and_targets_are_shown_only_if_the_settings_have_them(october):
    assert report.targets(october) is None
    assert "USD" not in report.headlines(october)._repr_html_()
    target = {"thomas.whitfield@harrowlindqvist.example.com": {"fees": 600_000, "period": "year"}}
    settings = FirmSettings(currency="USD", realization_floor=0.99, targets=target)
    month = other(october, october.first, october.as_of)
    month.book = copy.copy(october.book)
    month.book.settings = settings
    # The heading of the page names it once.
    assert "Amounts in USD" in report.cover(month)._repr_html_()
    assert "USD" not in report.headlines(month)._repr_html_()
    assert "floor 99.0%" in report.page_one(month)._repr_html_()
    assert "points below the floor; " in report.realization(month)._repr_html_()
    shown = report.targets(month)._repr_html_()
    assert "Thomas Whitfield" in shown
    assert "Client hours" not in shown
