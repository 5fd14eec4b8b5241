"""The interface that bulk edits need of a client."""

from __future__ import annotations

from typing import Protocol

from billframes.loading.connection import ApiConnection

__all__ = ["WritingConnection"]


class WritingConnection(ApiConnection, Protocol):
    """A connection to a server whose address is known; `Client` is one, a mirror's connection is not."""

    @property
    def base_url(self) -> str:
        """The API's address."""
