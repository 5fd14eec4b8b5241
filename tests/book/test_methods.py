"""A book's methods are made from the analyses, and have complete signatures and docstrings."""

from __future__ import annotations

import copy
import inspect
import re

import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell

import billframes as bf
from billframes.analysis.declare.lookup import analyses
from billframes.analysis.results.figure_names import find_figure
from billframes.book import Book
from billframes.book.methods import FRAME_NAMES
from billframes.errors import CallError

METHODS = [getattr(Book, name) for name in analyses()]


@pytest.fixture(scope="module")
def book(client):
    return bf.book("2026-09", client=client)


class LoadRecorder(Book):
    """A book that records which of its frames are used."""

    def __init__(self, book):
        super().__init__(book.period, settings=book.settings, client=None)
        self.loaded, self._book = [], book

    def __getattribute__(self, name):
        if name not in FRAME_NAMES:
            return super().__getattribute__(name)
        self.loaded.append(name)
        return getattr(self._book, name)


@pytest.mark.parametrize("method", METHODS, ids=lambda each: each.__name__)
def test_a_method_describes_every_argument_and_column(method):
    assert (method.__module__, method.__qualname__) == ("billframes.book", f"Book.{method.__name__}")
    doc, parameters = inspect.getdoc(method), list(inspect.signature(method).parameters)[1:]
    described = doc.partition("Parameters\n---")[2].partition("Returns\n---")[0]
    heads = [line.partition(" : ")[0] for line in described.splitlines() if line and not line.startswith((" ", "-"))]
    assert [name for head in heads for name in head.split(", ")] == parameters
    returned = doc.partition("Returns\n---")[2]
    if method.__name__ != "lockup":
        # A name such as `now_…` ends in any unit.
        stems = tuple(re.findall(r"`(\w+_)…`", returned)) or ("…",)
        names = [each.name for each in bf.explain(method.__name__).columns]
        assert [each for each in names if f"`{each}`" not in returned and not each.startswith(stems)] == []


@pytest.mark.parametrize("method", METHODS, ids=lambda each: each.__name__)
def test_a_method_has_the_arguments_and_defaults_of_the_analysis(method):
    own = inspect.signature(getattr(bf.analysis, method.__name__)).parameters
    if analyses()[method.__name__].book.method:
        pytest.skip("a book's own method has defaults of its own")
    for name, each in list(inspect.signature(method).parameters.items())[1:]:
        if name in own:
            wanted = own[name].default
            assert each.default == (None if wanted is each.empty else wanted)


def test_a_question_mark_shows_signature_and_texts():
    shell = InteractiveShell()
    shell.colors = "nocolor"
    shell.user_ns["Book"] = Book
    text = " ".join(shell.object_inspect_text("Book.realization").split())
    shell.history_manager.end_session()
    assert "by: 'By' = None, *, start: 'DateLike | None' = None" in text
    assert "basis: \"Literal['invoice_date', 'work_date']\" = 'invoice_date'" in text
    assert "start, end : date-like, optional Another period than the book's." in text


def test_a_misspelt_argument_is_named_with_the_method(book):
    with pytest.raises(TypeError, match=r"realization\(\) got an unexpected keyword argument 'bassis'"):
        book.realization(bassis="work_date")
    with pytest.raises(TypeError, match=r"utilization\(\): too many positional arguments"):
        book.utilization("user", "2026-09")


@pytest.mark.slow
def test_a_firm_setting_that_is_passed_as_an_argument_is_named_as_one(book):
    with pytest.raises(
        TypeError, match=r"It is one of the settings: assign book.settings = FirmSettings\(cost_rates=…\)"
    ):
        book.profitability(cost_rates={"u1": 100})
    with pytest.raises(TypeError, match=r"settings=FirmSettings\(hours_per_day=…\)"):
        bf.analysis.utilization(book.time_entries, start="2026-09", hours_per_day=7.5)


# Invalid values of each argument.
WRONG = {
    "by": (1.5, ["client", 2], b"client"),
    "settings": ("firm.toml", {"cost_rates": {}}),
    "start": (20269, 1.5),
    "as_of": (20260930, "2026-09"),
    "buckets": ("30", 30, [30.5]),
    "periods": ("12", 0, 1.5),
    "days": ("365", 0),
    "measure": (["billing_realization"], "realisation", 1),
    "every": (["month"], "week"),
    "basis": (["work_date"], "date"),
    "wip_days": ("30", 0),
    "idle_days": ("30", 0),
    "largest": ("10", 0),
    "matter_types": ("hourley", 1),
}


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
def test_a_wrong_value_is_refused_in_a_sentence_that_names_the_argument(book, method):
    if method.__name__ == "cash_forecast_record":
        pytest.skip("it needs receipts of a mirror first")
    for name in WRONG.keys() & inspect.signature(method).parameters.keys():
        for value in WRONG[name]:
            with pytest.raises(bf.errors.ParameterError, match=rf"\b{name}\b"):
                method(book, **{name: value})


def test_a_single_result_has_nothing_to_compare_with(book):
    with pytest.raises(bf.errors.ParameterError, match=r"results is a DataFrame; pass a dict of results by period"):
        bf.analysis.compare(book.realization(by="client"), "billed_amount")


def test_receivables_by_client_need_only_the_invoices(book):
    book_spy = LoadRecorder(book)
    book_spy.aging("client", as_of="2026-10-31")
    assert set(book_spy.loaded) == {"invoices"}
    by_matter = LoadRecorder(book)
    by_matter.aging("matter", as_of="2026-10-31")
    assert set(by_matter.loaded) == {"invoices", "time_entries", "expenses", "fixed_fees", "matters", "users"}


def test_clients_are_loaded_only_for_their_columns(book):
    book_spy = LoadRecorder(book)
    book_spy.wip("practice_area")
    assert "clients" not in book_spy.loaded
    known = {*book.time_entries, *book.matters, *book.users}
    book_spy.wip(next(f"client_{each}" for each in book.clients if not {each, f"client_{each}"} & known))
    assert "clients" in book_spy.loaded


def test_a_frame_that_is_assigned_is_used_instead_of_the_loaded_one(book):
    other = copy.copy(book)
    other.users = book.users.assign(name="Somebody")
    assert set(other.utilization()["user_name"].dropna()) == {"Somebody"}
    assert len(set(book.utilization()["user_name"].dropna())) > 1


@pytest.mark.parametrize("name", sorted(analyses()))
def test_a_method_takes_no_frame_and_no_setting_that_the_book_has(book, name):
    own = {"code_check": {"expenses", "fixed_fees"}}.get(name, set())
    takes = inspect.signature(getattr(type(book), name)).parameters.keys()
    assert takes & {*FRAME_NAMES, "settings"} == own
    with pytest.raises(bf.errors.CallError, match=r"The book has it; to use another, assign it: book\.settings = …"):
        getattr(book, name)(settings=bf.FirmSettings())


@pytest.mark.slow
def test_settings_that_are_assigned_are_used_and_none_means_none(client):
    user = client.users(role="principal")["user_id"].iloc[0]
    with_rates = bf.FirmSettings(standard_rates={user: 500.0})
    book = bf.book("2026-09", settings=with_rates, client=client)
    assert "standard_amount" in book.realization("user")
    book.settings = None
    assert "standard_amount" not in book.realization("user")
    book.settings = with_rates
    assert "standard_amount" in book.realization("user")


def test_a_period_is_applied_to_an_analysis_without_one(book):
    rows = book.reconcile(start="2026-08-01", end="2026-08-31")
    assert len(rows)
    assert rows["invoice_date"].between(pd.Timestamp("2026-08-01"), pd.Timestamp("2026-08-31")).all()


@pytest.mark.parametrize("draw", [bf.tables, bf.plots])
@pytest.mark.parametrize("name", ["aging", "wip", "figures"])
def test_charts_and_tables_ask_for_the_result_if_the_arguments_of_its_call_are_passed(draw, name):
    with pytest.raises(bf.errors.CallError, match=rf"'by'\. Pass the result of book\.{name}\(by=…\)\.$"):
        getattr(draw, name)(by="client")
    with pytest.raises(bf.errors.CallError, match=r"'xyz'\. It takes result, "):
        getattr(draw, name)(xyz=1)


@pytest.mark.parametrize("name", sorted(analyses()))
def test_a_filter_leads_to_a_figure_that_takes_it(october_book, name):
    with pytest.raises(
        bf.errors.CallError, match=r"'where'\. (Use book.figures|Filter the rows of its result)"
    ) as caught:
        getattr(october_book, name)(where={"practice_area": "Corporate"})
    for figure in re.findall(r"(?:figures\(|such as )'(.*?)'", str(caught.value)):
        assert find_figure(figure)


def test_a_filter_of_work_in_progress_leads_to_its_ages(october_book):
    with pytest.raises(bf.errors.CallError, match=r"Its buckets are figures, too, such as 'wip\.91\+'\.$"):
        october_book.wip(where={"bucket": "91+"})


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda book: book.wip(by="matter", responsible="Harrow"),
            r"responsible lawyer: book.figures\('wip', by=…, where={'responsible': …}\)\.$",
        ),
        (lambda book: book.aging(practice_area="Tax"), r"figures\('receivables', by=…, where={'practice_area': …}\)"),
        (lambda book: book.realization(client="Acme"), r"To keep one client: .* where={'client': …}\)\.$"),
        (lambda book: book.wip(lawyer="Harrow"), r"where={'responsible': …}"),
        (lambda book: book.wip(cf_office="Boston"), r"To keep one office: .* where={'cf_office': …}"),
        (lambda book: book.wip(matter_type="hourly"), r"Did you mean 'matter_types'\?$"),
        (lambda book: book.overdue_invoices(client="Acme"), r"Filter the rows of its result\.$"),
        (lambda book: book.figures("wip", responsible="Harrow"), r"figures\(…, by=…, where={'responsible': …}\)"),
        (lambda book: book.rows("wip", user="Harrow"), r"Pass where={'user': …}\.$"),
        (lambda book: bf.figures("wip", originator="Harrow"), r"Pass where={'originator': …}\."),
        (
            lambda book: bf.analysis.wip(book.time_entries, client="Granite"),
            r"To keep one client: bf.figures\('wip', time_entries=…, …, by=…, where={'client': …}\)\.$",
        ),
        (lambda book: bf.analysis.realization(book.time_entries, lawyer="Harrow"), r"where={'responsible': …}"),
        (lambda book: bf.analysis.aging(book.invoices, where={"client": "Acme"}), r"Use bf.figures\('receivables', "),
        (lambda book: bf.analysis.wip(book.time_entries, client=book.clients), r"Did you mean 'clients'\?$"),
        (lambda book: bf.analysis.overdue_invoices(book.invoices, client="Acme"), r"Filter the rows of its result\.$"),
    ],
)
def test_a_key_that_is_passed_as_an_argument_leads_to_where(october_book, call, said):
    with pytest.raises((bf.errors.CallError, bf.errors.ParameterError), match=said):
        call(october_book)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
def test_an_argument_has_one_default(method):
    for entry in re.split(r"\n(?=\S)", inspect.getdoc(method)):
        assert " ".join(entry.split()).count("By default") <= 1


@pytest.mark.parametrize("by", ["week", "month"])
def test_a_forecast_by_weeks_leads_to_its_horizons(october_book, by):
    with pytest.raises(bf.errors.ParameterError, match=f"Pass horizons='{by}s'"):
        october_book.cash_forecast(by=by)
    with pytest.raises(bf.errors.CallError, match="Did you mean 'horizons'"):
        october_book.cash_forecast(**{f"{by}s": 8})


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("ledes", "bf.ebilling.ledes"),
        ("ledes_check", "bf.ebilling.ledes_check"),
        ("implied_receipts", "bf.mirror(path).implied_receipts(…)"),
        ("export", "bf.export"),
    ],
)
def test_a_name_that_a_book_lacks_is_located(october_book, name, place):
    with pytest.raises(bf.errors.UnknownNameError, match=re.escape(f"Book has no '{name}'. Did you mean '{place}'")):
        getattr(october_book, name)


def test_an_invoice_can_be_a_whole_number(october_book):
    number = next(int(each) for each in october_book.invoices["invoice_number"].dropna() if each.isdecimal())
    found = bf.ebilling.ledes_check(october_book, number)
    assert found.equals(bf.ebilling.ledes_check(october_book, str(number)))


def test_every_method_of_a_book_suggests_the_right_argument_also_those_of_the_wings(october_book):
    """The last letter of its last argument is doubled; a client is none, except as a key that `figures` keeps."""
    methods = [name for name in dir(Book) if not name.startswith("_") and inspect.isfunction(getattr(Book, name))]
    assert {"payments", "credits", "week", "figures", "realization"} <= {*methods}
    for name in methods:
        named = [each for each in inspect.signature(getattr(Book, name)).parameters.values() if each.name != "self"]
        names = [each.name for each in named if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
        is_open = any(each.kind is each.VAR_KEYWORD for each in named)
        if not names or is_open:
            continue
        wrong = f"{names[-1]}{names[-1][-1]}"
        with pytest.raises(CallError, match=rf"{name}\(\) got an unexpected .* '{wrong}'\. Did you mean '{names[-1]}'"):
            getattr(october_book, name)(**{wrong: None})
    for name in ("payments", "credits", "week"):
        with pytest.raises(CallError, match="To keep one client: book.figures"):
            getattr(october_book, name)(client="Granite Mutual")
