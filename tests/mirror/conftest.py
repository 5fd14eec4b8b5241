"""A mirror of the small seeded firm, made once."""

from __future__ import annotations

import pytest

from billframes import mirror
from billframes.mirror import Mirror


@pytest.fixture(scope="session")
def refreshed(client, tmp_path_factory) -> Mirror:
    """A mirror that is never refreshed again."""
    opened = mirror(tmp_path_factory.mktemp("mirror") / "firm", client=client)
    opened.refresh()
    return opened
