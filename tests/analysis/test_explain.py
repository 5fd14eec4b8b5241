"""Every analysis has an explanation, whose words fit its columns and arguments."""

from __future__ import annotations

import inspect
import re

import pytest

import billframes as bf
from billframes.analysis.declare.explanation import Explanation
from billframes.analysis.declare.glossary import GLOSSARY, term
from billframes.analysis.declare.lookup import analyses, measure, measures
from billframes.analysis.declare.metrics import BUCKET
from billframes.analysis.results.figure_names import find_figure
from billframes.config.firm import FirmSettings
from billframes.ledger.tie_out_rows import REASONS
from billframes.schema import resources
from billframes.schema.sources import sources_of

NAMES = sorted(analyses())
# Columns of loaders, settings and values that explanations may name.
KNOWN = {
    *(source.column.name for each in resources.RESOURCES for source in sources_of(each.record)),
    *inspect.signature(FirmSettings).parameters,
    *("Unassigned", "Unknown", "implied_receipts"),
    *NAMES,
    *REASONS,
    *BUCKET.findall("0-30 1-30 31-60 61-90 91+"),
    *measures(),
}


def in_backticks(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


@pytest.mark.parametrize("name", NAMES)
def test_every_public_analysis_has_an_explanation(name):
    found = bf.explain(name)
    assert found.name == name
    assert found.question.endswith("?")
    assert found.formula
    assert found.cannot_tell


@pytest.mark.parametrize("name", NAMES)
def test_the_names_in_an_explanation_exist(name):
    parts = bf.explain(name).parts
    arguments = inspect.signature(getattr(bf.analysis, name)).parameters
    quoted = [each for texts in parts.values() for text in texts for each in in_backticks(text)]
    names = [re.split(r"[=.(]", each)[0] for each in quoted]
    assert [each for each in names if each not in {*arguments, *KNOWN}] == []


@pytest.mark.parametrize("name", NAMES)
def test_columns_and_arguments_in_an_explanation_are_set_as_code(name):
    words = " ".join(re.sub("`[^`]+`", "", text) for texts in bf.explain(name).parts.values() for text in texts)
    assert re.findall(r"\w+_\w+|\w+=", words) == []


@pytest.mark.parametrize("name", NAMES)
def test_the_columns_of_a_formula_are_named_in_what_the_analysis_returns(name):
    doc = inspect.getdoc(getattr(bf.analysis, name))
    for each in in_backticks(bf.explain(name).formula):
        if measure(each):
            assert f"`{each}`" in doc


def test_explain_without_a_name_lists_all_analyses_with_their_questions():
    listed = bf.explain()
    assert [each.name for each in listed] == NAMES
    for each in listed:
        assert each.question in repr(listed)
        assert f"<code>{each.name}</code>" in listed._repr_html_()


def test_the_error_for_a_misspelt_name_suggests_the_closest():
    with pytest.raises(
        bf.errors.ParameterError,
        match="neither an analysis, nor a figure, nor a special word. Did you mean 'realization'.$",
    ):
        bf.explain("realisation")


@pytest.mark.parametrize("word", ["qqq", "portal", "unpaid", "vacation", "draft hours"])
def test_a_distant_name_is_not_suggested(word):
    with pytest.raises(bf.errors.ParameterError, match=r"special word. bf.explain\(\) lists the analyses, bf.exp"):
        bf.explain(word)
    with pytest.raises(bf.errors.ParameterError, match=rf"figure '{word}'\. bf.explain\('figures'\)"):
        find_figure(word)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        *((each, "billed") for each in ("billed hours", "hours billed", "billed time", "time billed")),
        *((each, "unbilled") for each in ("unbilled hours", "hours unbilled", "unbilled time")),
    ],
)
def test_time_that_is_billed_or_not_leads_to_these_words(words, name):
    assert bf.explain(words).name == name


@pytest.mark.parametrize(("words", "name"), [("unbilled work", "unbilled"), ("invoiced hours", "billed")])
def test_a_special_word_in_a_phrase_is_suggested(words, name):
    with pytest.raises(bf.errors.ParameterError, match=f"special word. Did you mean '{name}'.$"):
        bf.explain(words)


@pytest.mark.parametrize(
    ("word", "place"),
    [
        ("guidelines", "bf.Guidelines.read(…).check(book)."),
        ("credits", "bf.book('2026-10').credits(…)."),
        ("mirror", "bf.mirror"),
        ("ledes", "bf.ebilling.ledes"),
    ],
)
def test_public_names_that_are_not_explained_are_located(word, place):
    with pytest.raises(bf.errors.ParameterError, match=re.escape(f" See {place}")):
        bf.explain(word)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        *((each.replace("_", " "), each) for each in ("billing_lag", "cash_forecast", "tie_out", "budget_burn")),
        ("Target hours", "target_hours"),
        ("expected cash", "cash_forecast.cash_amount"),
        ("Fees written off", "written_off_amount"),
    ],
)
def test_a_name_may_be_written_with_spaces(words, name):
    assert repr(bf.explain(words)) == repr(bf.explain(name))


@pytest.mark.parametrize(
    "name",
    [
        *("written_off_amount", "credited_amount", "left_out_hours", "non_billable_hours", "uncosted_hours"),
        *("wip.fixed_fee_hours", "realization.prebill_amount", "profitability.unbilled_amount"),
    ],
)
def test_a_figure_is_not_said_to_be_left_out_of_itself(name):
    assert name.rpartition(".")[2] in "".join(analyses()[find_figure(name).analysis.name].parts["Not counted"])
    explained = bf.explain(name)
    assert name.rpartition(".")[2] not in "".join([*explained.left_out, *explained.parts.get("Not counted", ())])


def test_what_is_not_in_a_figure_is_still_said():
    assert "`overdue`" in str(bf.explain("aging.overdue").parts["Not counted"])


def test_a_title_of_a_figure_leads_to_its_name():
    with pytest.raises(bf.errors.ParameterError, match="no figure 'fees billed'. Did you mean 'billed_amount'?"):
        find_figure("fees billed")


def test_a_synonym_is_shown_with_its_word():
    assert repr(bf.explain("leakage")).startswith("leakage: see write-down\n")
    assert "<strong>leakage: see write-down</strong>" in bf.explain("leakage")._repr_html_()
    assert repr(bf.explain("Lock up")).startswith("Lock-up\n")
    for each in GLOSSARY:
        for word in each.also:
            assert term(word) == each
            assert repr(term(word)).startswith(f"{word}: see {each.name}\n")


def test_a_plural_is_the_word():
    assert bf.explain("targets") == bf.explain("target")


def test_an_explanation_fits_a_terminal():
    text = repr(bf.explain("realization"))
    assert text.startswith("Realization\n===========\n")
    assert "\nDenominator\n  `worked_amount`: " in text
    assert text.endswith("help(bf.analysis.realization); special words: bf.explain('glossary')")
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("name", NAMES)
def test_two_sentences_and_a_worked_example_come_first(name):
    found = bf.explain(name)
    assert list(found.parts)[:3] == ["In short", "Example", "Formula"]
    assert len(re.findall(r"[.:;](?= |$)", found.summary)) <= 3
    assert len(re.findall(r"\.(?= [A-Z]|$)", found.summary)) == 2


@pytest.mark.parametrize("name", NAMES)
def test_the_figures_of_a_worked_example_are_in_the_docstrings_example(name):
    """The docstring's example is executed, so its figures are right."""
    doc = inspect.getdoc(getattr(bf.analysis, name))
    executed = {float(each) for each in re.findall(r"\d+\.?\d*", re.sub("[,_]", "", doc.partition("\n>>> ")[2]))}
    example = re.sub(r"`[^`]+`|L100|\d+ (October|November)|October 2026", "", bf.explain(name).example)
    figures = [(float(number), percent) for number, percent in re.findall(r"(\d+\.?\d*)(%?)", example)]
    derived = DERIVED.get(name, set())
    unknown = [each for each, percent in figures if (each / 100 if percent else each) not in executed | derived]
    assert unknown == []


# Figures that follow from those of the docstring's example in one step, which the sentence describes.
DERIVED = {
    "aging": {1.0},
    "bridge": {0.8, 0.5, 0.84},
    "billing_lag": {10.0, 20.0, 30.0, 12.0},
    "days_to_pay": {20.0},
    "lockup": {80.0},
    "profitability": {800.0},
    "reconcile": {1000.0},
    "timekeeping_lag": {10.0, 2.0},
    "utilization": {8.0, 22.0, 0.0},
    "realization": {0.75, 100.0, 800.0, 1000.0},
}


@pytest.mark.parametrize(
    "word", ["worth", "settled", "prebill", "lock-up", "Lock up", "work in progress", "contingency"]
)
def test_special_words_are_defined_once(word):
    found = bf.explain(word)
    assert found in bf.explain("glossary")
    assert found.meaning.endswith(".")
    assert found.meaning in " ".join(repr(found).split()) or "\n" in repr(found)


def test_the_glossary_has_each_word_once_and_shows_itself():
    glossary = bf.explain("glossary")
    names = [name for each in glossary for name in (each.name, *each.also)]
    assert len(set(names)) == len(names)
    assert [each.name for each in glossary] == sorted(each.name for each in glossary)
    for each in glossary:
        assert each.name in glossary._repr_html_()
        assert [name for name in in_backticks(each.meaning) if name not in {*KNOWN, "discounts"}] == []


def test_the_words_of_results_are_in_the_glossary():
    """Words that headings and explanations use with a special meaning."""
    words = " ".join(
        [*(repr(bf.explain(name)) for name in NAMES), *(each.title for each in measures().values())]
    ).lower()
    for word in ("worth", "settled", "prebill", "unbilled", "overdue", "roster", "receivables", "contingency", "pace"):
        assert word in words
        assert bf.explain(word)


def test_an_analysis_that_is_not_a_ratio_has_no_numerator():
    assert list(bf.explain("aging").parts) == [
        "In short",
        "Example",
        "Formula",
        "Counted",
        "Not counted",
        "The billing system can’t tell",
    ]


def test_an_explanation_is_escaped_in_a_notebook():
    explanation = Explanation(
        name="x", question="<script>?", summary="s", example="e", formula="`a` < b", left_out=("<i>", "<b>")
    )
    assert "<script>" not in explanation._repr_html_()
    assert "<code>a</code> &lt; b</dd>" in explanation._repr_html_()


def test_all_questions_differ():
    questions = [each.question for each in analyses().values()]
    assert len(set(questions)) == len(questions)


@pytest.mark.parametrize("name", ["utilization", "glossary"])
def test_an_explanation_has_its_own_style_for_headings(name):
    """JupyterLab's style floats `dt` beside `dd`, which breaks long texts."""
    html = bf.explain(name)._repr_html_()
    assert html.count("<dt ") == html.count('<dt style="float: none; clear: both; width: auto')
    assert html.count("<dd ") == html.count('<dd style="float: none; clear: both; width: auto') > 0


def test_explanations_do_not_mention_an_api():
    assert [each for each in bf.explain() if re.search(r"\bAPI\b", repr(each))] == []
    assert "API" not in repr(bf.explain("glossary"))


SEARCHED = (
    *("A/R", "accounts receivable", "write-off", "collections", "lock-up", "DSO", "profit", "retainer", "trust"),
    *(
        "balance",
        "compensation",
        "forecast",
        "block billing",
        "backlog",
        "week",
        "invoice aging",
        "leakage",
        "who owes",
    ),
)


@pytest.mark.parametrize("word", SEARCHED)
def test_words_that_people_search_say_what_is_there(word):
    assert bf.explain(word) in bf.explain("glossary")
