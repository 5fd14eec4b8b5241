"""The declaration of an analysis."""

from __future__ import annotations

import dataclasses

import pytest

from billframes import ParameterError
from billframes.analysis.aging import ANALYSIS
from billframes.analysis.explain import plain_words
from billframes.analysis.spec import analyses


def test_a_chart_of_a_kind_that_there_is_not_is_refused_where_it_is_declared():
    chart = dataclasses.replace(ANALYSIS.chart, kind="stack")
    with pytest.raises(ParameterError, match="'aging' declares a chart of the kind 'stack'; a chart is"):
        dataclasses.replace(ANALYSIS, chart=chart)


def test_plain_words_name_no_argument_and_are_whole_sentences():
    texts = [text for each in analyses().values() for said in each.parts.values() for text in said]
    words = [plain_words(text) for text in texts]
    assert not [each for each in words if "`" in each or "=" in each.replace(" = ", "")]
    assert not [each for each in words if each and not (each[-1] == "." and not each[0].islower())]
    # Only texts that are about arguments alone are left out whole.
    assert [text for text, each in zip(texts, words, strict=True) if not each] == [
        "With `include_prebill=False`, items on any invoice; with `matter_types`, matters of other types."
    ]
