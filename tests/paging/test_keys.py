"""Two names surely differ only if they are not equal under any database's collation."""

from __future__ import annotations

import datetime as dt
from itertools import combinations

import pytest
from hypothesis import given, settings, strategies as st

from billframes.paging.keys import COMPARED, surely_differ
from tests.examples import example_count
from tests.simulation.collations import COLLATIONS, SCRIPTS

PIECES = [
    *(
        "a",
        "e",
        "o",
        "u",
        "c",
        "s",
        "z",
        "d",
        "y",
        "i",
        "j",
        "l",
        "n",
        "t",
        "v",
        "w",
        "A",
        "W",
        "ss",
        "aa",
        "th",
        "dzs",
    ),
    *("å", "ä", "ø", "ü", "u\u0308", "æ", "ß", "þ", "ł", "カ", "か", "я", "٢", "²", "ｱ", "·"),
    *("0", "1", "2", "02", "-", " ", "'", ".", "&"),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)


@st.composite
def pairs(draw):
    """Two names with the same beginning, as neighbours in a list have."""
    beginning = draw(TEXTS)
    return beginning + draw(TEXTS), beginning + draw(TEXTS)


@pytest.mark.parametrize("collation", COLLATIONS)
@settings(max_examples=example_count(200), deadline=None)
@given(pair=pairs())
def test_names_that_surely_differ_are_not_equal_in_any_database(collation, pair):
    key = COLLATIONS[collation]
    if surely_differ(*pair):
        assert key(pair[0]) != key(pair[1])


@pytest.mark.parametrize("collation", COLLATIONS)
def test_names_of_many_languages_that_surely_differ_are_not_equal_in_any_database(collation):
    key = COLLATIONS[collation]
    wrong = [pair for pair in combinations(SCRIPTS, 2) if surely_differ(*pair) and key(pair[0]) == key(pair[1])]
    assert wrong == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Søren", "Soren"),
        ("Ægir", "Aegir"),
        ("Łukasz", "Lukasz"),
        ("Groß", "Gross"),
        ("Þór", "Thor"),
        ("カナ", "かな"),
        ("Lot 2", "Lot 02"),
        ("Lot 1.02", "Lot 1.2"),
        ("Lot 12", "Lot 1-2"),
        ("Lot 2", "Lot ٢"),
        ("Winter", "Vinter"),
        ("Aaberg", "Åberg"),
        ("Aa", "A"),
        ("Jonas", "Yonas"),
        ("Dijk", "Dyk"),
        ("accsa", "acscsa"),
        ("u\u0308ber", "yber"),
        ("Abel & Co", "abel co."),
        ("Иванов", "Петров"),
        (None, ""),
        (None, 4.0),
        ("a" * COMPARED + "b", "a" * COMPARED + "c"),
    ],
)
def test_names_that_may_be_equal_are_unsure(one, other):
    assert not surely_differ(one, other)
    assert not surely_differ(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Abel", "Baker"),
        ("Abel", "Abel 2"),
        ("Lot 2", "Lot 10"),
        ("Lot 2", "Lot B"),
        ("Hassan", "Hassold"),
        ("Müller", "Abel"),
        ("Peter Ørsted", "Peder Ørsted"),
        (None, "Abel"),
        (4.0, 4.5),
        (dt.date(2026, 10, 31), dt.date(2026, 11, 1)),
    ],
)
def test_names_that_differ_everywhere_are_sure(one, other):
    assert surely_differ(one, other)
    assert surely_differ(other, one)
