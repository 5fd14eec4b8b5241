"""An apply that is killed and resumed makes every change once."""

from __future__ import annotations

import pytest

from billframes.bulk import apply as applying
from tests.bulk.kills import kills


@pytest.mark.slow
def test_no_change_is_doubled_lost_or_torn_by_kills(monkeypatch):
    for name in ("SETTLE_SECONDS", "ABANDONED_SECONDS"):
        monkeypatch.setattr(applying, name, getattr(applying, name))
    assert kills(8) >= 2
