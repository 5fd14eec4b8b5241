"""Numbers and dates that Python can't hold are one error, wherever a stranger's file can have them."""

from __future__ import annotations

import datetime as dt
import math

import pytest

import billframes as bf
from billframes._shared.limits import checked_number
from billframes.config.profiles import Limits
from billframes.guidelines import keys
from billframes.ledger.amounts_and_dates import cents
from billframes.ledger.command import amount
from billframes.loading.request_bodies import _number
from billframes.mirror.catalogue import _end_of, checked_span
from billframes.periods import resolve
from billframes.transport.answers import _near
from billframes.transport.retry import http_date

BIG = (10**400, -(10**400), 1e12, -1e12, math.inf, -math.inf, math.nan)


@pytest.mark.parametrize("number", BIG, ids=lambda number: str(number)[:8])
def test_a_number_larger_than_any_amount_is_refused_wherever_a_file_can_have_it(number):
    for read in (checked_number, lambda given: cents(given, "point"), keys.number, lambda given: keys.shares([given])):
        with pytest.raises(ValueError, match="is larger than 100,000,000,000|is not a number|number of 0 or more"):
            read(number)
    for settings in (
        {"hours_per_day": number},
        {"user_hours": {"u": number}},
        {"targets": {"u": {"hours": number, "period": "year"}}},
        {"budgets": {"m": number}},
        {"standard_rates": {"u": {"2026-01-01": number}}},
        {"cost_rates": {"u": number}},
        {"originator_weights": {"m": {"u": number}}},
        {"realization_floor": number},
        {"taxes": [{"name": "VAT", "rate": number, "on": "fees"}]},
    ):
        with pytest.raises(bf.errors.ParameterError, match="is larger than|is not a number|is negative"):
            bf.FirmSettings(**settings)
    assert len(str(checked_error(number))) < 100


def checked_error(number):
    with pytest.raises(ValueError, match="100,000,000,000|not a number") as caught:
        checked_number(number)
    return caught.value


def test_a_settings_file_with_a_long_number_is_one_error(tmp_path):
    path = tmp_path / "firm.toml"
    for text in ("hours_per_day = 1e999", f"hours_per_day = {10**400}", f"hours_per_day = {'9' * 5000}"):
        path.write_text(text)
        with pytest.raises((bf.errors.ConfigError, bf.errors.ParameterError), match="is larger than|can't be read"):
            bf.FirmSettings.load(path)


@pytest.mark.parametrize("given", ["9" * 400, "1e999", "-1e999", "nan"])
def test_an_amount_on_the_command_line_has_the_same_limit(given):
    with pytest.raises(ValueError, match="is larger than|is not a number"):
        amount(given)


def test_other_numbers_and_dates_that_python_can_not_hold_are_one_error():
    """Python raises OverflowError for them, which is no ValueError."""
    for whole in (100_001, 10**400):
        with pytest.raises(ValueError, match="a whole number from 0 to 100,000"):
            keys.whole(whole)
    with pytest.raises((ValueError, OverflowError)):
        _number(10**400)
    for settings in ({"longest_load": 10**400}, {"largest_answer": -(10**400)}):
        with pytest.raises(bf.errors.ConfigError, match="is out of range"):
            Limits.of(settings)
    for option in ("timeout", "rate_limit"):
        with pytest.raises(bf.errors.ParameterError, match=f"{option}=1000.* is out of range"):
            bf.connect("sandbox", **{option: 10**400})
    with pytest.raises(bf.errors.ParameterError, match="wip_amount is"):
        bf.analysis.lockup(10**400, 1, 1)
    assert resolve("9999-W52", None, names=("start", "end")).end == dt.date.max
    assert _end_of("9999-12-31") == _end_of("9999-12-31T23:59:59.999999")
    assert _end_of("2026-10-31").isoformat() == "2026-11-01T00:00:00+00:00"
    with pytest.raises(bf.errors.ParameterError, match="is not a span of time"):
        checked_span("keep", "99999999999999999999 days")
    assert http_date("Mon, 01 Jan 99999999999999999999 00:00:00 GMT") is None
    assert not _near(0.1)(10**400, 1.0)
