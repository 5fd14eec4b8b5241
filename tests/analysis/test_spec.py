"""Declarations of analyses are checked, and their texts can be put in plain words."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest

from billframes.analysis.declare.lookup import analyses
from billframes.analysis.results.explain import plain_words
from billframes.analysis.sheets.aging import ANALYSIS
from billframes.errors import ParameterError
from tests.analysis.calls import CALLS


def test_a_chart_of_an_unknown_kind_is_refused():
    chart = dataclasses.replace(ANALYSIS.chart, kind="stack")
    with pytest.raises(ParameterError, match="'aging' declares a chart of the kind 'stack'; a chart is"):
        dataclasses.replace(ANALYSIS, chart=chart)


def test_plain_words_do_not_name_arguments_and_are_whole_sentences():
    texts = [text for each in analyses().values() for part in each.parts.values() for text in part]
    words = [plain_words(text) for text in texts]
    assert not [each for each in words if "`" in each or "=" in each.replace(" = ", "")]
    assert not [each for each in words if each and not (each[-1] == "." and not each[0].islower())]
    # Only texts about nothing but arguments are left out.
    assert [text for text, each in zip(texts, words, strict=True) if not each] == [
        "With `include_prebill=False`, items on any invoice; with `matter_types`, matters of other types."
    ]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::billframes.errors.BillframesWarning")
def test_every_column_of_a_result_is_an_attribute_of_the_frame(rows_on_pandas):
    """A column with the name of a method or property of pandas would not be: `result.flags` is not a column."""
    declared = {column.name for each in analyses().values() for column in each.columns}
    found = {column for name in CALLS for row in rows_on_pandas(name)[:1] for column in row}
    assert {"findings", "client_name"} <= declared | found
    assert not (declared | found).intersection(dir(pd.DataFrame))
