"""Any column can be a key, also one that the analysis uses itself; a column that can't be is refused in a sentence."""

from __future__ import annotations

import functools

import pytest

from billframes.analysis import realization, scorecard
from billframes.analysis.declare.lookup import analyses
from billframes.analysis.keys.by import FIGURES
from billframes.errors import BillframesError, ParameterError
from billframes.schema.resources import RESOURCES
from billframes.schema.sources import sources_of
from tests.analysis.calls import BY_CLIENT, WORK, edge_case_frames
from tests.analysis.conftest import ENGINES, Firm, rows_of

pytestmark = [
    pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning"),
    pytest.mark.filterwarnings("ignore::billframes.errors.RatesHiddenWarning"),
]

ANALYSES = (*BY_CLIENT, (scorecard, WORK, {"start": "2026-10"}))
# Columns that analyses use themselves, of every type.
USED = ("hours", "amount", "billing_type", "invoice_id", "date")
LISTS = ("originator_ids", "originator_names", "ledes_code_set_ids")


@pytest.fixture(scope="module")
def frames_of():
    return functools.cache(lambda engine: edge_case_frames(Firm(ENGINES[engine])))


def number_of_keys(frames, function, names, options, columns):
    """Return how many columns are keys; the rows of each add up to the row without keys."""
    given = {name: frames[name] for name in names}
    whole = rows_of(function(**given, **options, by=None))
    return sum(is_key(function, given, options, column, whole) for column in columns)


def is_key(function, given, options, column, whole):
    try:
        rows = rows_of(function(**given, **options, by=column))
    except BillframesError as error:
        if "\n" in str(error):
            raise
        return False
    for measure in analyses()[function.__name__].columns:
        if measure.adds_up and measure.name in whole[0] and not _depends_on_people(measure.name):
            values, total = ([row[measure.name] for row in each] for each in (rows, whole))
            if None not in (*values, *total):
                assert sum(values) == pytest.approx(sum(total), abs=1e-9), (function.__name__, column, measure)
    return True


def _depends_on_people(name):
    """Tell whether a figure is known by person only: hours that are available, counts of people, days without time."""
    return name.startswith(("capacity", "idle", "target", "principals", "others", "missing_days")) or "heads" in name


@pytest.mark.slow
@pytest.mark.sweep(keep=3)
@pytest.mark.parametrize(("function", "names", "options"), ANALYSES, ids=[each[0].__name__ for each in ANALYSES])
def test_a_column_that_an_analysis_uses_is_a_key_like_any_other(frames_of, function, names, options):
    assert number_of_keys(frames_of("pandas"), function, names, options, USED) >= (function.__name__ != "new_business")
    for column in LISTS:
        with pytest.raises(ParameterError, match=f"by='{column}' is a column of lists"):
            function(**{name: frames_of("pandas")[name] for name in names}, **options, by=column)


# The analyses take their keys from one place, so that some of them are enough.
SOME = [ANALYSES[0], ANALYSES[1], ANALYSES[9], ANALYSES[11]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "function", "names", "options"),
    [(engine, *each) for engine in ("polars", "pyarrow") for each in SOME[1:3]],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_each_column_is_a_key_or_is_refused(frames_of, engine, function, names, options):
    frames = frames_of(engine)
    columns = {column for name in names for column in getattr(frames[name], "column_names", frames[name].columns)}
    # The analyses share these columns: each takes a third, and others take the rest.
    third = sorted(columns)[len(function.__name__) % 3 :: 3]
    assert number_of_keys(frames, function, names, options, third) >= 2


@pytest.mark.parametrize(
    ("word", "columns"),
    [
        ("timekeeper", ["user_id", "user_name"]),
        ("attorney", ["user_id", "user_name"]),
        ("partner", ["responsible_id", "responsible_name"]),
        ("Lawyer", ["responsible_id", "responsible_name"]),
        ("case", ["matter_id", "matter_name"]),
    ],
)
def test_the_trades_words_are_keys_unless_a_column_has_the_name(frames_of, word, columns):
    frames = frames_of("pandas")
    given = {name: frames[name] for name in WORK}
    assert list(realization(**given, by=word))[:2] == columns
    given["time_entries"] = frames["time_entries"].assign(**{word: "own"})
    assert next(iter(realization(**given, by=word))) == word


def test_a_key_that_is_a_figure_of_some_analysis_has_its_own_name_in_results(frames_of):
    loaded = {source.column.name for resource in RESOURCES for source in sources_of(resource.record)}
    figures = {each.name for analysis in analyses().values() if "by" in analysis.takes for each in analysis.columns}
    assert loaded & figures == FIGURES
    function, names, options = next(each for each in ANALYSES if each[0].__name__ == "wip")
    rows = rows_of(function(**{name: frames_of("pandas")[name] for name in names}, **options, by="hours"))
    assert next(iter(rows[0])) == "by_hours"
    assert "hours" in rows[0]
