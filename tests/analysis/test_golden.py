"""Every analysis returns and says what it did before, by every key, on three firms and three engines."""

from __future__ import annotations

import pytest

from billframes import FirmSettings
from tests.analysis import golden


@pytest.mark.slow
@pytest.mark.parametrize("engine", golden.ENGINES)
def test_figures_and_notes_are_as_before(sandbox, client, engine):
    settings = FirmSettings.load(sandbox.firm_settings)
    found = golden.results(client, settings, engine, golden.PARTS[engine])
    changes = list(golden.differences(found, golden.read()))
    more = "If they are intended: python -m tests.analysis.golden --write"
    assert not changes, "\n".join([f"{len(changes)} changes. {more}", *changes[:40]])
