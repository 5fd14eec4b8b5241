"""The week: figures are those of the analyses, and a person's page has nothing of others."""

from __future__ import annotations

import dataclasses
import datetime as dt
import email
import itertools
import re
import sqlite3
import time
from contextlib import closing
from email import policy

import pandas as pd
import pytest
from bs4 import BeautifulSoup

import billframes as bf
from billframes import FirmSettings
from billframes.cli import main
from billframes.errors import MissingColumnError, ParameterError
from billframes.sandbox import Sandbox
from billframes.week.firm_week import firm_week, week_days
from billframes.week.page import pages_of
from tests.analysis.conftest import ENGINES
from tests.firms import FIRMS, on

TAGS = {"html", "head", "meta", "title", "body", "div", "h1", "h2", "p", "table", "tr", "th", "td", "span", "br"}
MONDAY = dt.date(2026, 10, 26)
WEEK, MONTH, YEAR = ((first, "2026-10-23") for first in ("2026-10-17", "2026-10-01", "2026-01-01"))


@pytest.fixture(scope="module")
def settings(sandbox):
    return FirmSettings.load(sandbox.firm_settings)


@pytest.fixture(scope="module")
def book(client, settings):
    return bf.book("2026-W43", settings=settings, client=client)


@pytest.fixture(scope="module")
def firm(book):
    return firm_week(book, MONDAY)


@pytest.fixture(scope="module")
def pages(firm):
    return pages_of(firm)


def tables(html):
    """The rows of a page by the title of their section, as texts."""
    found = {}
    for table in BeautifulSoup(html, "html.parser").find_all("table"):
        rows = [[each.get_text("\n") for each in row.find_all(["td", "th"])] for row in table.find_all("tr")]
        found[table.find_previous("h2").get_text()] = rows
    return found


def number(text):
    return float(text.partition("\n")[0].replace(",", "").replace("–", "nan").replace("%", ""))


def test_hours_are_those_of_utilization_closed_on_the_same_day(book, pages):
    spans = [
        book.utilization(by="user", start=first, end=last).set_index("user_name") for first, last in (WEEK, MONTH, YEAR)
    ]
    people = [page for page in pages.values() if page.name]
    assert len(people) == 15
    for page in people:
        heads, *rows = tables(page.html)["Hours"]
        assert heads == ["", "Week", "October", "2026"]
        own = [span.loc[page.name] for span in spans]
        beside = "capacity_hours" if pd.isna(own[0]["target_hours"]) else "target_hours"
        for row, column in zip(rows, ("client_hours", beside, None, "total_hours"), strict=True):
            for cell, of in zip(row[1:], own, strict=True):
                wanted = of[column] if column else 100 * of["client_hours"] / of[beside]
                assert number(cell) == pytest.approx(wanted, abs=0.051 if column else 0.51), (page.name, row[0])


def test_missing_days_late_entries_and_matters_add_up(book, firm, pages):
    missing = book.missing_time(start=WEEK[0], end=WEEK[1])
    entries = book.time_entries
    created = entries["created_at"].dt.tz_convert("America/New_York").dt.strftime("%Y-%m-%d")
    lag = (pd.to_datetime(created) - entries["date"]).dt.days
    late = entries[created.between(*WEEK) & (lag > 3)]
    assert len(late) > 20
    for page in pages.values():
        if not page.name:
            continue
        shown = tables(page.html)
        own = missing[missing["user_name"] == page.name]
        days = shown.get("Days with less time than expected", [[]])[1:]
        assert [[number(each) for each in row[1:]] for row in days] == [
            [round(row["hours"], 1), row["available_hours"]] for row in own.to_dict("records")
        ]
        count = (late["user_name"] == page.name).sum()
        said = page.text.partition("TIME ENTERED MORE THAN 3 DAYS AFTER THE WORK\n")[2]
        assert said.startswith("None this week.") == (count == 0)
        assert count == 0 or f"{count} entr" in page.text
        _heads, *rows, total = shown.get("Your 5 largest matters of the week") or shown["Your matters of the week"]
        assert number(total[1]) == number(shown["Hours"][4][1])
        assert sum(number(row[1]) for row in rows) == pytest.approx(number(total[1]), abs=0.26)
        assert len(rows) <= 6
    assert firm.missing_in_week["missing_hours"].sum() == pytest.approx(missing["missing_hours"].sum())


def test_what_waits_adds_up_to_the_analyses(book, firm, pages):
    people, lawyers = tables(pages["the-firm.html"].html).values()
    total = lawyers[-1]
    wip = book.wip(as_of="2026-10-31", include_prebill=False, buckets=(60,))
    assert number(total[2]) == pytest.approx(wip["61+"].iloc[0], abs=0.5)
    assert number(total[3]) == pytest.approx(book.aging(as_of="2026-10-31")["overdue"].iloc[0], abs=0.5)
    bills = book.prebill_review().drop_duplicates("invoice_id")
    assert number(total[1]) == pytest.approx(bills["invoice_amount"].sum(), abs=0.5)
    assert total[4] == f"{(book.budget_burn()['budget_burn'] > 0.8).sum()} matters"
    titles = {"Draft bills by age": 1, "Unbilled work older than 60 days": 2, "Overdue invoices": 3}
    shown = {page.name: tables(page.html) for page in pages.values()}
    for name, *cells in lawyers[1:-1]:
        for title, place in titles.items():
            rows = shown[name].get(title)
            assert (rows[-1][-1] if rows else "") == cells[place - 1].partition("\n")[0], (name, title)
            assert rows is None or sum(number(row[-1]) for row in rows[1:-1]) == pytest.approx(
                number(rows[-1][-1]), abs=3
            )
    whole = book.utilization(by=None, start=WEEK[0], end=WEEK[1])
    assert number(people[-1][1]) == pytest.approx(whole["client_hours"].iloc[0], abs=0.06)
    assert sum(number(row[1]) for row in people[1:-1]) == pytest.approx(number(people[-1][1]), abs=0.8)


@pytest.mark.slow
def test_people_stand_by_role_and_name_unless_the_settings_say_otherwise(book, firm, settings):
    names = firm.people.loc[firm.people["role"] == "attorney", "name"].tolist()
    assert names == sorted(names)
    ranked = dataclasses.replace(settings, report={"order": "hours"})
    hours = firm_week(bf.book("2026-W43", settings=ranked, client=book.client), MONDAY).people["client_hours_week"]
    assert hours.dropna().is_monotonic_decreasing
    with pytest.raises(ParameterError, match=r"report\.order='rank' is not known\. It takes 'name', 'hours'\."):
        FirmSettings(report={"order": "rank"})


@pytest.mark.slow
def test_a_persons_page_has_nothing_of_others_and_no_narratives(book, firm, pages):
    entries, users = book.time_entries, book.users
    texts = {each for each in entries["description"].dropna().unique() if len(each) > 12}
    totals = {row["name"]: f"{row['client_hours_year']:,.1f}" for row in firm.people.to_dict("records")}
    for page in pages.values():
        message = email.message_from_bytes(bytes(page.message()), policy=policy.default)
        said = "\n".join(message.get_body((kind,)).get_content() for kind in ("plain", "html")) + page.html
        assert not [each for each in texts if each in said]
        if page.name:
            others = users[users["name"] != page.name]
            assert not [each for each in [*others["name"], *others["email"]] if each in said]
            numbers = {*re.findall(r"[\d,]+\.\d", said)}
            assert not [
                name for name, total in totals.items() if name != page.name and len(total) > 4 and total in numbers
            ]


def test_mails_are_drafts_for_mail_programs(book, pages):
    emails = book.users.set_index("name")["email"]
    for page in pages.values():
        message = email.message_from_bytes(bytes(page.message()), policy=policy.default)
        assert not message.defects
        assert bytes(page.message()) == bytes(page.message())
        assert message["X-Unsent"] == "1"
        assert message["Subject"] == page.subject
        html = message.get_body(("html",)).get_content().strip()
        assert html == page.html
        assert message.get_body(("plain",)).get_content().replace("\r\n", "\n") == page.text
        if page.name:
            (to,) = message["To"].addresses
            assert (to.display_name, to.addr_spec) == (page.name, emails[page.name])
        else:
            assert message["To"] is None
        soup = BeautifulSoup(html, "html.parser")
        tags = {each.name for each in soup.find_all()}
        assert tags <= TAGS
        assert not soup.find_all(attrs={"class": True})
        assert all(each.get("style") for each in soup.find_all(["table", "td", "th"]))


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1000])
def test_pages_fit_a_phone_and_are_light(browser, pages, width):
    context = browser.new_context(viewport={"width": width, "height": 800}, offline=True, color_scheme="dark")
    page = context.new_page()
    for each in pages.values():
        page.set_content(each.html)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, each.name
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        sizes = "[...document.querySelectorAll('td, span')].map(each => parseFloat(getComputedStyle(each).fontSize))"
        assert min(page.evaluate(sizes)) >= 12
    context.close()


def test_a_week_begins_after_the_last_working_day_and_ends_on_one():
    firm = FirmSettings(holidays=["2026-10-12", "2026-10-23"], fiscal_year_start="07")
    days = week_days(dt.date(2026, 10, 26), firm)
    assert (days.week, days.closed, days.year, days.year_name) == (
        dt.date(2026, 10, 17),
        dt.date(2026, 10, 22),
        dt.date(2026, 7, 1),
        "FY2027",
    )
    assert week_days(dt.date(2026, 10, 14), firm).week == dt.date(2026, 10, 10)
    # Weeks one after the other leave no day out.
    weeks = [week_days(dt.date(2026, 1, 5) + dt.timedelta(weeks=nth), firm) for nth in range(60)]
    assert all(one.closed + dt.timedelta(days=1) == two.week for one, two in itertools.pairwise(weeks))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"user": "Priya Ramen"}, "No person has the name, reference or id 'Priya Ramen'. Did you mean 'Priya Raman'?"),
        ({"user": "Lindqvist"}, "2 persons fit 'Lindqvist'; give one of "),
        (
            {"user": "O’Rourke"},
            "Daniel O’Rourke left on 30 June 2025, before the week of 17–23 October 2026. Give an earlier",
        ),
        ({"user": "Conrad"}, "Conrad Lindqvist records no time, and no work waits for them, so they have no page."),
        ({"date": "2026-13-01"}, "date='2026-13-01' is not a date; it takes a date such as"),
        (
            {"date": "2027-01-04"},
            "The data are of 31 October 2026, and the week ends on 1 January 2027. Refresh them, or",
        ),
        ({"date": "2020-01-06"}, "The period ends on 3 January 2020, before the first day of the data"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(book, options, said):
    with pytest.raises(ParameterError) as error:
        book.week(**options)
    assert said in str(error.value)


@pytest.mark.parametrize(("name", "column"), [("time_entries", "created_at"), ("users", "email")])
def test_a_frame_without_a_column_is_refused_with_its_name(settings, book, name, column):
    lacking = bf.book("2026-W43", settings=settings, client=book.client)
    setattr(lacking, name, getattr(book, name).drop(columns=column))
    with pytest.raises(MissingColumnError, match=f"{name} has no column '{column}'; it has "):
        lacking.week("Raman")


@pytest.mark.slow
def test_settings_without_a_working_day_and_people_without_a_target(client):
    with pytest.raises(
        ParameterError, match="no working day in the year before 26 October 2026: correct `working_days`"
    ):
        week_days(MONDAY, FirmSettings(working_days=[]))
    plain = FirmSettings(user_start={"julian.szabo@harrowlindqvist.example.com": "2026-03-02"})
    page = bf.book("2026-W43", settings=plain, client=client).week("Raman")
    assert "The firm’s settings have no target for your hours." in page.text
    assert "Of available hours" in page.html


@pytest.mark.slow
def test_a_book_closes_its_week_on_its_last_working_day(book, firm, pages):
    assert book.week("grace.nakamura@harrowlindqvist.example.com") == pages["grace-nakamura.html"]
    assert book.week()._repr_html_().startswith("<div")
    assert repr(book.week()) == pages["the-firm.html"].text


@pytest.mark.filterwarnings("ignore::billframes.errors.BillframesWarning")
@pytest.mark.parametrize("name", ["no work", "fixed fees only", "hidden rates"])
def test_firms_without_work_or_rates_have_pages(client, name):
    book = bf.book("2026-W43", settings=FirmSettings(), client=client)
    for each, frame in on(FIRMS[name](), ENGINES["pandas"]).items():
        setattr(book, each, frame)
    pages = pages_of(firm_week(book, MONDAY))
    assert {*pages} >= {"the-firm.html", "person-0.html"}
    assert "nan" not in "".join(page.text for page in pages.values())


@pytest.mark.parametrize("email", ["", "none", "a b@c", "a..b@x.y", "ü@x.de", "a@x\nBcc: q@z", "<a@b.c>", "a,b@c.d"])
def test_an_address_that_is_none_gives_no_message(firm, email):
    changed = dataclasses.replace(firm, people=firm.people.assign(email=email))
    assert {page.email for page in pages_of(changed).values()} == {""}


def firm_of_forty(path):
    """Make a firm of more than forty people, of which two share a name and one has no usable e-mail address."""
    Sandbox(db=path).start().stop()
    with closing(sqlite3.connect(path)) as connection, connection:
        for nth in range(1, 3):
            connection.execute(
                "INSERT INTO user SELECT substr(user_id, 1, 33) || ?, first_name, last_name || ?, role, ? || email,"
                " initials, rate, created_at, modified_at FROM user WHERE email NOT LIKE '1.%'",
                (f"f0{nth}", f" {'I' * (nth + 1)}", f"{nth}."),
            )
            connection.execute(
                "UPDATE time_entry SET user_id = substr(user_id, 1, 33) || ?"
                " WHERE substr(time_entry_id, 1, 1) BETWEEN ? AND ?",
                (f"f0{nth}", *("04" if nth == 1 else "59")),
            )
        connection.execute(
            "UPDATE user SET last_name = 'Raman' WHERE email = '1.priya.raman@harrowlindqvist.example.com'"
        )
        connection.execute("UPDATE user SET email = 'none' WHERE email LIKE '2.grace%'")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The first of all entries of Julian")
def test_forty_peoples_pages_from_a_mirror_take_less_than_20_seconds(tmp_path, capsys, settings):
    firm_of_forty(tmp_path / "firm.db")
    with Sandbox(db=tmp_path / "firm.db") as sandbox, bf.Client(sandbox.base_url, sandbox.tokens["full"]) as client:
        bf.mirror(tmp_path / "mirror", client=client).refresh()
    words = ["week", "2026-10-26", "--mirror", str(tmp_path / "mirror"), "--out", str(tmp_path / "out")]
    words += ["--settings", settings.source]
    began = time.process_time()
    assert main(words) == 0
    assert time.process_time() - began < 20
    said = capsys.readouterr().out
    made = sorted(each.name for each in (tmp_path / "out").iterdir())
    pages = [each for each in made if each.endswith(".html")]
    assert len(pages) > 40
    assert f"{len(pages)} pages and {len(pages) - 1} e-mails; hours until 23 October 2026." in said
    assert "No usable e-mail address: Grace Nakamura III." in said
    assert len([each for each in pages if each.startswith("priya-raman-b5d97ef7")]) == 2
    assert main(words) == 2
    assert "already has" in capsys.readouterr().err
    assert main([*words, "--overwrite", "--user", "Grace Nakamura III"]) == 0
    assert "1 page and 0 e-mails" in capsys.readouterr().out


@pytest.mark.slow
def test_the_command_takes_today_and_refuses_days_to_come(sandbox, client, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("BILLFRAMES_BASE_URL", sandbox.base_url)
    monkeypatch.setenv("BILLFRAMES_TOKEN", sandbox.tokens["full"])
    monkeypatch.chdir(tmp_path)
    assert main(["week", "2199-01-07"]) == 2
    assert "DATE 2199-01-07 is after today, " in capsys.readouterr().err
    assert main(["week", "soon"]) == 2
    assert "DATE='soon' is not a date" in capsys.readouterr().err
    words = ["--settings", str(sandbox.firm_settings)]
    assert main(["week", "2026-10-26", "--user", "Bell", *words]) == 0
    assert {each.name for each in (tmp_path / "week-2026-10-23").iterdir()} == {"marcus-bell.html", "marcus-bell.eml"}
