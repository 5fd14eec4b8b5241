"""Key ranges are joined only if no row can be between them under any collation."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given, settings, strategies as st

from billframes.paging.key_ranges import KeyRange, leave_no_gap
from tests.examples import example_count
from tests.simulation.collations import COLLATIONS, SCRIPTS

WORDS = ["a", "A", "á", "Á", "a-", "-a", "ａ", "b", "B", "b b", "bb", "ß", "ss", "SS", "", "é", "e", *SCRIPTS]


@pytest.mark.parametrize("collation", COLLATIONS)
@settings(max_examples=example_count(100), deadline=None)
@given(data=st.data())
def test_a_join_loses_no_name_between_two_ranges(collation, data):
    order = COLLATIONS[collation]
    texts = data.draw(st.lists(st.sampled_from(WORDS), min_size=2, max_size=20))
    ranked = sorted(data.draw(st.permutations(texts)), key=order)
    again = sorted(data.draw(st.permutations(texts)), key=order)
    start, end = data.draw(st.integers(0, len(ranked) - 1)), data.draw(st.integers(1, len(ranked)))
    one, other = KeyRange([(text,) for text in ranked[:end]]), KeyRange([(text,) for text in again[start:]], start)
    if leave_no_gap(one, other):
        assert order(other.keys[0][0]) < order(one.keys[-1][0])


def test_instants_are_compared_directly():
    noon = dt.datetime(2026, 10, 31, 12, tzinfo=dt.UTC)
    later = noon + dt.timedelta(microseconds=1)
    assert leave_no_gap(KeyRange([(noon,), (later,)]), KeyRange([(noon,), (later,)]))
    assert not leave_no_gap(KeyRange([(noon,), (noon,)]), KeyRange([(noon,), (later,)]))


def test_a_second_key_settles_ties_of_the_first():
    one = KeyRange([("Abel", "1"), ("Abel", "2"), ("Abel", "3")])
    assert leave_no_gap(one, KeyRange([("Abel", "2"), ("Abel", "3"), ("Abel", "4")], 1))
    assert not leave_no_gap(one, KeyRange([("Abel", "3"), ("Abel", "4")], 2))


def test_a_missing_reference_and_an_empty_one_may_be_equal():
    one = KeyRange([("Abel", None), ("Abel", "")])
    assert not leave_no_gap(one, KeyRange([("Abel", None), ("Abel", "")], 1))
