"""The credits of random firms by random rules are those that SQL calculates from their records, to the cent."""

from __future__ import annotations

import random

import pytest

from billframes.config.firm import FirmSettings
from billframes.credits.calculation import ROLES
from tests.credits.random_firms import book_of, credits_by_sql, random_firm, random_rule

QUICK, ALL = 12, 1_500


def check(seed: int) -> None:
    seeded = random.Random(seed)
    rows, weights = random_firm(seeded)
    rules = [random_rule(seeded, [each["matter_id"] for each in rows["matters"]]) for _ in range(2)]
    book = book_of(rows, FirmSettings(originator_weights=weights, credits=rules[0]))
    fees = round(float(book.contribution(by=None)["fees_amount"].sum()) * 100)
    of_matters, expected = {}, {}
    for name, rule in zip(("credit", "compared"), rules, strict=True):
        rows_by_sql = credits_by_sql(rows, weights, rule)
        expected[name] = {(m, u, ROLES[r]): cents for m, u, r, cents in rows_by_sql if cents}
        assert sum(expected[name].values()) == fees, seed
        of_matters[name] = {
            m: sum(c for (n, _, _), c in expected[name].items() if n == m) for m, _, _, _ in rows_by_sql
        }
    assert of_matters["credit"] == of_matters["compared"]
    found = book.credits(compare=rules[1], by="matter")
    for name, credits_ in expected.items():
        keys = found[["matter_id", "user_id", "role"]].astype("object")
        keys = keys.where(keys.notna(), None).itertuples(index=False, name=None)
        cents = (found[f"{name}_amount"] * 100).round().astype(int)
        assert {key: each for key, each in zip(keys, cents, strict=True) if each} == credits_, (seed, name)
    for by in ("user", "role"):
        sums = book.credits(compare=rules[1], by=by)
        for name in expected:
            assert round(sums[f"{name}_amount"].sum() * 100) == fees, (seed, by)
        assert round(sums["difference_amount"].sum(), 2) == 0
    own = book.credits(compare=rules[0])
    assert (own["difference_amount"] == 0).all(), seed


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*")
@pytest.mark.parametrize("first", range(0, QUICK, 12))
def test_credits_of_random_firms_are_those_by_sql(first):
    for seed in range(first, first + 12):
        check(seed)


@pytest.mark.slow
@pytest.mark.sweep(keep=1)
@pytest.mark.filterwarnings("ignore:.*")
@pytest.mark.parametrize("first", range(QUICK, ALL, 6))
def test_credits_of_many_random_firms_are_those_by_sql(first):
    for seed in range(first, min(first + 6, ALL)):
        check(seed)
