"""The reference server: the whole API over HTTP, on SQLite, with a seeded firm. Knows nothing of the client.

Needs the extra `billframes[sandbox]`; only `Sandbox` itself does, so the tables, the seed and the command's
arguments can be imported without it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from billframes.sandbox.server import Sandbox

__all__ = ["Sandbox"]


def __getattr__(name: str) -> Any:
    if name == "Sandbox":
        return import_module("billframes.sandbox.server").Sandbox
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
