"""Cash and the tie-out are answers like others with reports of the books; without, the answer says what is needed."""

from __future__ import annotations

import json
import shutil

import pytest

import billframes as bf
from billframes._shared.notes import Notes, collect_notes
from billframes.assistant import Questions
from billframes.assistant.pseudonyms import Pseudonyms
from billframes.ledger import read_ledger
from billframes.ledger.kept_reports import keep_reports, kept_reports
from billframes.ledger.month_reports import read_payments
from billframes.widgets.dashboard.shared_frames import SharedFrames


@pytest.fixture(scope="module")
def books(tmp_path_factory):
    folder = tmp_path_factory.mktemp("firm")
    (folder / "books").mkdir()
    files = bf.ledger.sandbox_reports(folder / "books")
    (folder / "firm.toml").write_text('[ledger]\nfolder = "books"\n', encoding="utf-8")
    return files, bf.FirmSettings.load(folder / "firm.toml")


@pytest.fixture(scope="module")
def ask_with_books(firm_mirror, books):
    return Questions(firm_mirror, settings=books[1]).ask


@pytest.mark.slow
def test_what_came_in_is_that_of_the_notebook(ask_with_books, books, firm_mirror):
    files, settings = books
    answer = ask_with_books("analysis", {"name": "fees_collected", "period": "2026-10", "by": ["responsible"]})
    with collect_notes(Notes("page")):
        book = firm_mirror.book("2026-10", settings=settings)
        expected = book.fees_collected(book.payments(read_ledger(files["payments"])), by="responsible")
    names = [each["name"] for each in answer["columns"]]
    shown = {row[0]: row for row in answer["rows"]}
    for row in expected.itertuples(index=False):
        given = dict(zip(names, shown[None if row[0] != row[0] else row[0]], strict=True))
        assert given["collected_amount"] == pytest.approx(row.collected_amount, abs=0.0051)
    assert answer["total"]["collected_amount"] == pytest.approx(expected["collected_amount"].sum(), abs=0.0051)
    assert answer["definitions"]["fees_collected"]["cannot_tell"]
    measures = ["collected_amount", "fees_collected.cash_amount", "billed_amount"]
    figures = ask_with_books("figures", {"measures": measures, "period": "2026-10"})
    assert figures["total"]["collected_amount"] == answer["total"]["collected_amount"]
    assert figures["total"]["fees_collected_cash_amount"] == answer["total"]["cash_amount"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "question", [{"name": "fees_collected"}, {"name": "tie_out"}, {"name": "tie_out", "by": "client"}]
)
def test_pseudonyms_hide_the_customers_of_the_books_and_change_no_figure(ask_with_books, books, firm_mirror, question):
    hidden = Questions(firm_mirror, settings=books[1], change=Pseudonyms())
    question = question | {"period": "2026-10", "top": 100}
    answer, shown = hidden.ask("analysis", question), ask_with_books("analysis", question)
    text = json.dumps(answer, ensure_ascii=False)
    assert [name for name in firm_mirror.clients()["name"] if name in text] == []
    assert [answer.get(each) for each in ("total", "notes")] == [shown.get(each) for each in ("total", "notes")]


@pytest.mark.slow
def test_the_tie_out_needs_the_report_of_the_day(ask_with_books):
    assert ask_with_books("analysis", {"name": "tie_out", "period": "2026-10"})["rows"]
    with pytest.raises(bf.errors.BillframesError, match=r"as of 30 September 2026; the books have 2026-10-31\."):
        ask_with_books("analysis", {"name": "tie_out", "period": "2026-09"})


@pytest.mark.slow
def test_payments_of_a_part_of_the_period_are_refused(ask_with_books):
    assert ask_with_books("analysis", {"name": "days_to_pay", "period": "2026-Q3"})["rows"]
    with pytest.raises(bf.errors.BillframesError, match="The payments in the books are those of 1 January 2024 to"):
        ask_with_books("analysis", {"name": "fees_collected", "period": "2023-12-31 to 2024-03-31"})


def test_without_books_the_answer_says_what_is_needed(firm_mirror):
    with pytest.raises(bf.errors.BillframesError, match="fees_collected needs reports of the firm's books"):
        Questions(firm_mirror).ask("analysis", {"name": "fees_collected", "period": "2026-10"})
    with pytest.raises(bf.errors.BillframesError, match="fees_collected needs reports of the firm's books"):
        Questions(firm_mirror).ask("figures", {"measures": ["collected_amount"], "period": "2026-10"})


@pytest.mark.slow
def test_a_mirror_answers_from_the_reports_that_it_has_kept(ask_with_books, firm_mirror, books, tmp_path):
    shutil.copytree(firm_mirror.path, tmp_path / "mirror")
    mirror = bf.mirror(tmp_path / "mirror")
    keep_reports(mirror, [read_ledger(books[0][name]) for name in ("payments", "aging")])
    shared = bf.book("2026-10", client=SharedFrames(tmp_path / "pages", mirror))
    assert len(read_payments(shared, [], kept_reports(shared.client))) == len(
        mirror.book("2026-10").payments(read_ledger(books[0]["payments"]))
    )
    for question in ({"name": "fees_collected", "by": ["responsible"]}, {"name": "tie_out"}):
        answer = Questions(mirror).ask("analysis", question | {"period": "2026-10"})
        assert answer["rows"] == ask_with_books("analysis", question | {"period": "2026-10"})["rows"] != []
    with pytest.raises(bf.errors.BillframesError, match=r"as of 30 September 2026; the books have 2026-10-31\."):
        Questions(mirror).ask("analysis", {"name": "tie_out", "period": "2026-09"})
