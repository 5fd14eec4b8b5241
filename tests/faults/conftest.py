"""A fixture that makes the rate limiter's minutes last a second, so that tests of limits per minute are fast."""

from __future__ import annotations

import pytest

from billframes.transport import pacing


@pytest.fixture
def minutes_last_a_second(monkeypatch):
    for name in ("FIRST_PAUSE", "LONGEST_PAUSE", "HORIZON", "DOUBLES_AFTER", "GUESS_DOUBLES_AFTER", "ONE_MORE_AFTER"):
        monkeypatch.setattr(pacing, name, getattr(pacing, name) / 60)
