"""The fixture `billframes_sandbox`, for tests of code that uses billframes or the API.

    def test_hours(billframes_sandbox):
        assert len(billframes_sandbox.client.time_entries("2026-10")) > 0

Loading this plugin is cheap, because the server and the client are imported only when a test uses the fixture.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from billframes.sandbox.server import Sandbox


class SandboxForTests:
    """
    A fresh server on a fresh copy of the small seeded firm.

    It has all attributes of `Sandbox`, such as `base_url`, `tokens`, `admin` and `database`.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._client: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sandbox, name)

    @property
    def client(self) -> Any:
        """A `billframes.Client` with the token `full`, connected at first use."""
        if self._client is None:
            from billframes import Client

            self._client = Client(self.base_url, self.tokens["full"], health_path=self.health_path)
        return self._client

    def close(self) -> None:
        """Close the client, if there is one."""
        if self._client is not None:
            self._client.close()


@pytest.fixture(scope="session")
def _billframes_firm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of the seeded firm, which is made once per session; each test gets a copy."""
    from billframes.sandbox.seed import seed_database, template_path
    from billframes.sandbox.store import Store

    path = tmp_path_factory.mktemp("billframes") / "firm.db"
    Store(path, seed_database, template=template_path).close()
    return path


@pytest.fixture
def billframes_sandbox(_billframes_firm: Path, tmp_path: Path) -> Iterator[SandboxForTests]:
    """
    Give a fresh server of the whole API, with a connected client as `.client`.

    Changes that a test makes are not seen by other tests.
    """
    import shutil

    from billframes.sandbox.server import Sandbox

    copy = tmp_path / "billframes-sandbox.db"
    shutil.copyfile(_billframes_firm, copy)
    with Sandbox(db=copy) as sandbox:
        wrapped = SandboxForTests(sandbox)
        yield wrapped
        wrapped.close()
