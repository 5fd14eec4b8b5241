"""Questions asked of the page in Chromium have the figures of `figures`, to half a cent."""

from __future__ import annotations

import base64
import datetime as dt
import gzip
import json
import random
import re
import warnings
from dataclasses import replace

import pandas as pd
import pytest
from bs4 import BeautifulSoup

import billframes as bf
from billframes.analysis.declare.columns import UNASSIGNED
from billframes.analysis.declare.key_words import columns_of
from billframes.errors import ParameterError
from billframes.ledger.month_reports import read_ledgers
from billframes.periods import month_end
from billframes.report import ask as section, building
from billframes.report.ask.cube import BALANCES, Cube, subjects
from billframes.report.month import Month
from tests.firms import FIRMS, make_firm
from tests.report.conftest import HOSTILE_NAME
from tests.report.test_firms import report_of

pytestmark = pytest.mark.browser

OTHER_FIRMS = {
    "many": lambda: report_of(make_firm(people=6)),
    "contingency": lambda: report_of(FIRMS["contingency only"]()),
    "hidden rates": lambda: report_of(FIRMS["hidden rates"]()),
}
# Asks a question, and returns the texts and exact values of the answer's rows, without the bars.
ASK = """hash => new Promise(done => {
    addEventListener("hashchange", () => done([...document.querySelectorAll(".ask tbody tr, .ask tfoot tr")].map(row =>
        [row.querySelector("th").textContent, ...[...row.querySelectorAll("td:not(.bar)")].map(each => each.title)])),
        {once: true});
    location.hash = hash;
})"""


def write(month: Month, path, **texts) -> str:
    """Write a page with only its section, and return its address."""
    shown, why = section.ask(month)
    assert not why
    page = building.templates().get_template("page.html")
    policy = f"script-src {section.script_hash()}; "
    html = page.render(title="Ask", sections=["", ""], contents=[], definitions={}, ask=shown, policy=policy)
    path.write_text(html, encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def offline(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    yield context
    context.close()


@pytest.fixture(scope="module")
def asked(offline, october, tmp_path_factory):
    page = offline.new_page()
    page.messages = []
    page.on("console", lambda message: page.messages.append(message.text))
    page.on("pageerror", lambda error: page.messages.append(str(error)))
    page.goto(write(october, tmp_path_factory.mktemp("ask") / "october.html"))
    page.wait_for_function("window.ask")
    yield page
    assert page.messages == []


def random_question(chance: random.Random, month: Month, cube: Cube):
    """Return a question as an address and as arguments of `figures`, with the subject."""
    subject = chance.choice(subjects(month))
    by = chance.choice([*BALANCES, *(() if subject.is_balance else ("month",))])
    first, last = sorted(chance.choices(cube.months, k=2))
    address, where = [subject.name, f"by={by}"], {}
    for key in chance.sample(BALANCES, chance.choice((0, 1, 1, 2))):
        ids = list(cube._names(key).index)
        chosen = chance.sample(ids, min(len(ids), chance.choice((1, 2, 5))))
        tokens = [each or f"{UNASSIGNED.lower()}" for each in chosen]
        address.append(f"{key}={','.join(tokens)}")
        where[key] = [each or None for each in chosen]
    address.append(f"{first:%Y-%m}..{last:%Y-%m}")
    days = {"start": first, "end": min(month_end(last), month.last)}
    if subject.is_balance:
        days = {"start": month.first, "end": month.last, "as_of": month.as_of}
    return "#" + "/".join(address), {"by": by, "where": where or None, **days}, subject


def expected(month: Month, cube: Cube, subject, how) -> dict[str, list[float | None]]:
    rows = month.with_distinct_names(month.book.figures(*subject.figures, **how))
    figures = [each.column for each in subject.by_name.values()]
    sums = [each.column for each in subject.by_name.values() if each.measure.adds_up]
    whole = cube.balances if subject.is_balance else cube.flows
    known = [each for each in sums if not whole[each].isna().all()]
    rows = rows[~(rows[known].abs() < 0.005).all(axis=1)]
    label = columns_of(how["by"], rows)[-1]
    names = rows[label].fillna(UNASSIGNED)
    if how["by"] == "month":
        names = pd.to_datetime(names + "-01").dt.strftime("%B %Y")
    values = rows[figures].astype("object").where(rows[figures].notna(), None)
    return dict(zip(names, values.to_numpy().tolist(), strict=True))


def check(page, month: Month, chance: random.Random, questions: int) -> int:
    """Ask random questions; return the number of figures compared."""
    cube, compared = Cube.of(month), 0
    for number in range(questions):
        address, how, subject = random_question(chance, month, cube)
        # The address of the last question would not be an event.
        found = page.evaluate(ASK, f"{address}/sort={number}")
        *rows, _ = found or [[]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = expected(month, cube, subject, how)
        assert {row[0] for row in rows} == {*wanted}, address
        for name, *values in rows:
            for value, right in zip(values, wanted[name], strict=True):
                assert (float(value) if value else None) == pytest.approx(right, abs=0.005, nan_ok=True), (
                    address,
                    name,
                )
                compared += 1
    return compared


@pytest.mark.slow
def test_random_questions_have_the_figures_of_figures(asked, october):
    assert check(asked, october, random.Random(7), 80) > 1_000


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHER_FIRMS)
def test_questions_of_other_firms(name, offline, tmp_path):
    month = OTHER_FIRMS[name]()
    page = offline.new_page()
    page.goto(write(month, tmp_path / "firm.html"))
    page.wait_for_function("window.ask")
    assert check(page, month, random.Random(name), 15) > 20
    page.close()


def test_the_sums_add_up_to_page_one(asked, october):
    *_, total = asked.evaluate(ASK, "#realization/by=user/2026-10")
    row = october.of("realization").iloc[0]
    names = ("write_down_amount", "worked_amount", "billed_amount", "billing_realization")
    assert [float(each) for each in total[1:]] == pytest.approx([row[each] for each in names], abs=0.005)


def test_an_answer_is_compared_with_the_year_before(asked, october):
    found = asked.evaluate(ASK, "#hours/by=user/2026-01..2026-10/with=year-before")
    then = october.book.figures("client_hours", by="user", start="2025-01-01", end="2025-10-31").set_index("user_name")
    assert {name: float(value) for name, _, value, _ in found[:-1]} == pytest.approx(
        {name: then["client_hours"].get(name, 0.0) for name, *_ in found[:-1]}, abs=0.005
    )
    asked.evaluate(ASK, "#hours/by=user/2024-01..2026-10/with=year-before")
    assert "Nothing is compared: the data begin in January 2024." in asked.inner_text(".ask")


def test_a_scope_has_no_other_names(october):
    part = october.only("responsible:Harrow")
    page, _ = section.ask(part)
    sums = BeautifulSoup(page, "html.parser").find(id="ask-sums").text
    text = gzip.decompress(base64.b64decode(sums)).decode()
    names = {each["name"] for found in json.loads(text)["names"].values() for each in found}
    matters = october.firm_book.matters
    theirs = matters["responsible_name"].str.contains("Harrow")
    inside = set(matters.loc[theirs, "name"]) | set(matters.loc[theirs, "client_name"])
    outside = (set(matters["name"]) | set(matters["client_name"]) | set(matters["responsible_name"].dropna())) - inside
    assert {re.sub(r" \([^()]+\)$", "", each) for each in names} & inside
    assert not [each for each in outside - set(october.firm_book.users["name"]) if json.dumps(each)[1:-1] in text]
    people = october.firm_book.time_entries.merge(matters[theirs][["matter_id"]], on="matter_id")["user_name"]
    assert names & set(october.firm_book.users["name"]) <= {*people, "Miriam Harrow"}


def test_names_with_markup_and_of_other_scripts_are_text(asked):
    rows = asked.evaluate(ASK, "#fees/by=client/2024-01..2026-10")
    assert HOSTILE_NAME in [row[0] for row in rows]
    assert asked.locator(".ask tbody bdi").count() == len(rows) - 1
    assert asked.locator(".ask script").count() == 2


def test_the_csv_has_exact_values_and_no_formulas(asked):
    asked.evaluate(ASK, "#fees/by=user/2026-09..2026-10")
    asked.evaluate("ask.shown.names[ask.shown.rows[0].code].name = '=1+1'")
    with asked.expect_download() as download:
        asked.get_by_role("button", name="CSV").click()
    rows = pd.read_csv(download.value.path(), encoding="utf-8-sig")
    assert rows.iloc[0, 0] == "'=1+1"
    assert rows.iloc[:-1, 1].sum() == pytest.approx(rows.iloc[-1, 1], abs=0.005)
    asked.reload()
    asked.wait_for_function("window.ask")


def test_it_is_used_by_the_keyboard_and_the_back_button_undoes(asked):
    asked.evaluate("location.hash = '#fees/by=client/2026-10'")
    asked.get_by_role("searchbox").focus()
    asked.keyboard.type("miriam h")
    asked.keyboard.press("Tab")
    asked.keyboard.press("Enter")
    asked.wait_for_selector(".ask .chip")
    assert "/responsible=miriam-harrow/" in asked.url
    asked.go_back()
    asked.locator(".ask .chip").wait_for(state="detached")
    asked.locator(".ask tbody a").first.press("Enter")
    asked.wait_for_selector(".ask .chip")
    assert "by=matter/client=" in asked.url
    asked.get_by_role("button", name="Remove").click()
    asked.locator(".ask .chip").wait_for(state="detached")


def test_balances_have_no_months(asked):
    asked.evaluate(ASK, "#receivables/by=month/2026-09")
    assert asked.locator(".ask select").nth(1).input_value() == "client"
    assert "Balances are those of 31 October 2026; months are not applied." in asked.inner_text(".ask")
    assert asked.locator(".ask select:disabled, .ask input:disabled").count() == 4


def test_unknown_names_and_no_rows_are_said(asked):
    asked.evaluate(ASK, "#fees/by=client/client=nobody/2026-10")
    assert "This page has nothing named “nobody”." in asked.inner_text(".ask")
    asked.evaluate(
        ASK,
        "#hours/by=client/user=miriam-harrow/client=granite-mutual-insurance-company,redfern-logistics-llc/practice_area=family/2024-01",
    )
    assert "no hours in January 2024." in asked.inner_text(".ask h3")


@pytest.mark.slow
def test_an_old_browser_keeps_the_page(offline, october, tmp_path):
    page = offline.new_page()
    page.add_init_script("delete window.DecompressionStream")
    page.goto(write(october, tmp_path / "old.html"))
    assert "This browser can’t unpack the sums behind Ask." in page.inner_text(".ask")
    page.close()


@pytest.mark.slow
def test_a_phone_scrolls_only_the_table(offline, october, tmp_path):
    page = offline.new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(write(october, tmp_path / "phone.html") + "#receivables/by=client/2026-10")
    page.wait_for_selector(".ask table")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.close()


@pytest.mark.slow
def test_sums_that_are_too_large_are_left_out(october, monkeypatch):
    monkeypatch.setattr(section, "USUAL_BYTES", 100_000)
    found, why = section.ask(october)
    assert not found
    assert re.fullmatch(
        r"The page can’t be asked: its sums take 0\.\d MB\. Add --answers "
        r"client,matter,practice_area,responsible,user to have it\.",
        why,
    )
    monkeypatch.setattr(section, "MOST_BYTES", 150_000)
    found, why = section.ask(october, BALANCES)
    assert not found
    assert "Give --answers with fewer keys: client,matter,practice_area,responsible (0.1 MB)" in why
    with pytest.raises(ParameterError, match=r"--answers week is not a key; it takes client, matter"):
        section.ask(october, ["week"])


def test_the_page_runs_no_other_script(page):
    policy = page.find("meta", {"http-equiv": "Content-Security-Policy"})["content"]
    assert re.search(r"script-src 'sha256-[^']+'; style-src 'unsafe-inline'; img-src data:", policy)
    assert "unsafe-inline'; script" not in policy


def test_tiles_and_key_points_lead_to_their_question(offline, october, html, tmp_path):
    page = offline.new_page()
    (tmp_path / "october.html").write_text(html, encoding="utf-8")
    page.goto((tmp_path / "october.html").as_uri())
    page.locator(".tile .to-ask").first.wait_for()
    assert page.locator(".tile .to-ask").count() == 5
    addresses = [each.get_attribute("href") for each in page.locator(".points .to-ask").all()]
    assert any(re.fullmatch(r"#receivables/by=matter/client=[a-z0-9-]+/2026-10\.\.2026-10", each) for each in addresses)
    assert page.locator(".points .to-ask").first.inner_text().endswith(".")
    # In a point without a detail, the word stands on the line of its headline.
    top, height = page.locator(".points li").first.evaluate(
        """point => {
            const ask = point.querySelector(".to-ask");
            point.querySelector("span").replaceWith(ask);
            [point.firstChild.textContent, ask.textContent] = ["Utilization fell.", "Ask"];
            return [ask.offsetTop - point.firstChild.offsetTop, ask.offsetHeight];
        }"""
    )
    assert abs(top) < height / 2
    assert re.search(r"Or start from page one: .+, realization · .+, receivables", page.inner_text(".ask"))
    for media, is_shown in (("screen", True), ("print", False), ("screen", True)):
        page.emulate_media(media=media)
        assert page.is_visible(".ask h2") == is_shown
    page.locator(".tile .to-ask").first.click()
    total = page.locator(".ask tfoot td").first.get_attribute("title")
    hours = october.result("utilization", by=None, start=october.first, end=october.last)["client_hours"].iloc[0]
    assert float(total) == pytest.approx(hours, abs=0.005)
    page.close()


@pytest.mark.slow
@pytest.mark.sweep(keep=1)
@pytest.mark.parametrize("seed", range(10))
def test_answers_are_the_sums_of_the_cube(asked, october, seed):
    """The functions of `answer.js`, without the page, beside sums of the frames from which the page is made."""
    chance, cube = random.Random(seed), Cube.of(october)
    questions, wanted = [], []
    for _ in range(300):
        subject = chance.choice(subjects(october))
        frame = cube.balances if subject.is_balance else cube.flows
        first, last = sorted(chance.choices(range(len(cube.months)), k=2))
        only = {}
        for key in chance.sample(BALANCES, chance.choice((0, 1, 2))):
            names = cube._names(key)
            only[key] = sorted(chance.sample(range(len(names)), min(len(names), 4)))
            frame = frame[frame[f"{key}_id"].fillna("").isin(names.index[only[key]])]
        if not subject.is_balance:
            frame = frame[frame["month"].between(f"{cube.months[first]:%Y-%m}", f"{cube.months[last]:%Y-%m}")]
        questions.append({"subject": subject.name, "by": None, "only": only, "from": first, "to": last})
        sums = [each.column for each in subject.by_name.values() if each.measure.adds_up]
        wanted.append(frame[sums].sum(skipna=False).to_dict())
    found = asked.evaluate("questions => questions.map(each => total(ask.cube, each))", questions)
    for answer, right in zip(found, wanted, strict=True):
        known = {name: None if pd.isna(value) else value for name, value in right.items()}
        assert {name: answer[name] for name in known} == pytest.approx(known, abs=0.005)


@pytest.mark.slow
def test_cash_is_a_subject_from_the_first_month_that_the_books_cover(offline, october, tmp_path, monkeypatch):
    files = bf.ledger.sandbox_reports(tmp_path)
    read = read_ledgers(october, [*files.values()], must_fit=True)
    monkeypatch.setitem(october.parts, "ledger", replace(read, since=dt.date(2026, 5, 12)))
    page = offline.new_page()
    page.goto(write(october, tmp_path / "books.html"))
    page.wait_for_function("window.ask")
    *rows, total = page.evaluate(ASK, "#cash/by=client/2026-06..2026-10")
    span = {"start": dt.date(2026, 6, 1), "end": october.last, "payments": read.payments}
    wanted = october.with_distinct_names(october.book.figures("collected_amount", by="client", **span))
    wanted = wanted[wanted["collected_amount"].abs() >= 0.005].set_index("client_name")["collected_amount"]
    assert {name: float(value) for name, value in rows} == pytest.approx(wanted.to_dict(), abs=0.005)
    assert float(total[1]) == pytest.approx(wanted.sum(), abs=0.005)
    *_, total = page.evaluate(ASK, "#cash/by=client/2026-05..2026-10")
    assert total[1] == ""
    assert "Cash is known from June 2026." in page.inner_text(".ask")
    fees = page.evaluate(ASK, "#fees/by=client/2026-05..2026-10")[-1]
    whole = october.book.figures("fees_amount", by=None, start=dt.date(2026, 5, 1), end=october.last)
    assert float(fees[1]) == pytest.approx(whole["fees_amount"].iloc[0], abs=0.005)
    page.close()


def test_a_name_of_500_characters_does_not_widen_the_page(offline, tmp_path):
    month = report_of(make_firm(people=2))
    month.book.matters = month.book.matters.assign(name="M" * 500)
    page = offline.new_page()
    page.goto(write(month, tmp_path / "long.html") + "#fees/by=matter/2026-10")
    page.wait_for_selector(".ask tbody a")
    page.locator(".ask tbody a").first.click()
    page.wait_for_selector(".ask .chip")
    assert "M" * 500 in page.inner_text(".ask .chip")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    page.close()
