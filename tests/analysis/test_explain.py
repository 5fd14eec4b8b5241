"""Every analysis says what it means, in words that fit its columns."""

from __future__ import annotations

import inspect
import re

import pytest

import billframes as bf
import billframes.analysis as analyses
from billframes.analysis.explanation import Explanation
from billframes.analysis.metrics import BUCKET
from billframes.analysis.spec import analyses as declared, measure, measures
from billframes.config.firm import FirmSettings
from billframes.schema import resources
from billframes.schema.sources import sources_of

NAMES = sorted(analyses.__all__)
# Columns of loaders and settings, and values, that the texts may speak of.
KNOWN = {
    *(source.column.name for each in resources.RESOURCES for source in sources_of(each.record)),
    *inspect.signature(FirmSettings).parameters,
    *("Unassigned", "Unknown"),
    *NAMES,
    *BUCKET.findall("0-30 1-30 31-60 61-90 91+"),
    *measures(),
}


def in_backticks(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


@pytest.mark.parametrize("name", NAMES)
def test_every_public_analysis_explains_itself(name):
    said = bf.explain(name)
    assert said.name == name
    assert said.question.endswith("?")
    assert said.formula
    assert said.cannot_tell


@pytest.mark.parametrize("name", NAMES)
def test_the_names_in_an_explanation_exist(name):
    said = bf.explain(name)
    arguments = inspect.signature(getattr(analyses, name)).parameters
    spoken = [each for texts in said.parts.values() for text in texts for each in in_backticks(text)]
    names = [re.split(r"[=.(]", each)[0] for each in spoken]
    assert [each for each in names if each not in {*arguments, *KNOWN}] == []


@pytest.mark.parametrize("name", NAMES)
def test_columns_and_arguments_in_an_explanation_are_set_as_code(name):
    words = " ".join(re.sub("`[^`]+`", "", text) for texts in bf.explain(name).parts.values() for text in texts)
    assert re.findall(r"\w+_\w+|\w+=", words) == []


@pytest.mark.parametrize("name", NAMES)
def test_the_columns_of_a_formula_are_named_in_what_the_analysis_returns(name):
    doc = inspect.getdoc(getattr(analyses, name))
    for each in in_backticks(bf.explain(name).formula):
        if measure(each):
            assert f"`{each}`" in doc


def test_nothing_asked_lists_all_analyses_with_their_question():
    listed = bf.explain()
    assert [each.name for each in listed] == NAMES
    for each in listed:
        assert each.question in repr(listed)
        assert f"`{each.name}`" in listed._repr_markdown_()
        assert f"<code>{each.name}</code>" in listed._repr_html_()


def test_a_name_misspelt_is_answered_with_the_closest():
    with pytest.raises(
        bf.ParameterError, match="'realisation' is neither an analysis nor a special word. Did you mean 'real"
    ):
        bf.explain("realisation")


def test_an_explanation_reads_well_in_a_terminal():
    text = repr(bf.explain("realization"))
    assert text.startswith("Realization\n===========\n")
    assert "\nDenominator\n  `worked_amount`: " in text
    assert text.endswith("help(bf.realization); special words: bf.explain('glossary')")
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("name", NAMES)
def test_two_sentences_and_a_worked_example_come_first(name):
    said = bf.explain(name)
    assert list(said.parts)[:3] == ["In short", "Example", "Formula"]
    assert len(re.findall(r"[.:;](?= |$)", said.summary)) <= 3
    assert len(re.findall(r"\.(?= [A-Z]|$)", said.summary)) == 2


@pytest.mark.parametrize("name", NAMES)
def test_the_figures_of_a_worked_example_are_those_of_the_executed_one(name):
    """An example that nothing executes would go wrong one day: each figure stands in the docstring's example."""
    doc = inspect.getdoc(getattr(analyses, name))
    executed = {float(each) for each in re.findall(r"\d+\.?\d*", doc.partition("Examples")[2].replace(",", ""))}
    told = re.sub(r"`[^`]+`|L100|\d+ (October|November)|October 2026", "", bf.explain(name).example)
    figures = [(float(number), percent) for number, percent in re.findall(r"(\d+\.?\d*)(%?)", told)]
    derived = DERIVED.get(name, set())
    unknown = [each for each, percent in figures if (each / 100 if percent else each) not in executed | derived]
    assert unknown == []


# Figures that follow from the executed example's by one step that the sentence itself spells out.
DERIVED = {
    "aging": {1.0},
    "bridge": {0.8, 0.5, 0.84},
    "billing_lag": {10.0, 20.0, 30.0, 12.0},
    "lockup": {80.0},
    "timekeeping_lag": {10.0, 2.0},
    "utilization": {8.0, 22.0, 0.0},
    "realization": {0.75, 100.0},
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
        assert f"**{each.name.capitalize()}**" in glossary._repr_markdown_()
        assert [name for name in in_backticks(each.meaning) if name not in {*KNOWN, "discounts"}] == []


def test_the_words_of_results_are_in_the_glossary():
    """What headings and explanations use in a sense of their own."""
    said = " ".join(
        [*(repr(bf.explain(name)) for name in NAMES), *(each.title for each in measures().values())]
    ).lower()
    for word in ("worth", "settled", "prebill", "unbilled", "overdue", "roster", "receivables", "contingency", "pace"):
        assert word in said
        assert bf.explain(word)


def test_what_is_no_ratio_has_no_numerator():
    assert list(bf.explain("aging").parts) == [
        "In short",
        "Example",
        "Formula",
        "Counted",
        "Left out",
        "The billing system can’t tell",
    ]


def test_an_explanation_is_escaped_in_a_notebook():
    said = Explanation(
        name="x", question="<script>?", summary="s", example="e", formula="`a` < b", left_out=("<i>", "<b>")
    )
    assert "<script>" not in said._repr_html_()
    assert "<code>a</code> &lt; b</dd>" in said._repr_html_()
    assert "- <i>.\n- <b>." in said._repr_markdown_()


def test_each_question_is_another_one():
    questions = [each.question for each in declared().values()]
    assert len(set(questions)) == len(questions)


@pytest.mark.parametrize("name", ["utilization", "glossary"])
def test_an_explanation_brings_its_own_place_for_terms(name):
    """JupyterLab's style floats `dt` beside `dd`, which tore long texts apart."""
    html = bf.explain(name)._repr_html_()
    assert html.count("<dt ") == html.count('<dt style="float: none; clear: both; width: auto')
    assert html.count("<dd ") == html.count('<dd style="float: none; clear: both; width: auto') > 0


def test_nothing_that_partners_read_speaks_of_an_api():
    assert [each for each in bf.explain() if re.search(r"\bAPI\b", repr(each))] == []
    assert "API" not in repr(bf.explain("glossary"))
