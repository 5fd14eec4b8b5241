"""Limits of calls a minute that are limits of calls a second, so that few seconds show what minutes would."""

from __future__ import annotations

import pytest

from billframes.transport import pacing


@pytest.fixture
def minutes_of_a_second(monkeypatch):
    for name in ("FIRST_PAUSE", "LONGEST_PAUSE", "HORIZON", "DOUBLES_AFTER", "GUESS_DOUBLES_AFTER", "ONE_MORE_AFTER"):
        monkeypatch.setattr(pacing, name, getattr(pacing, name) / 60)
