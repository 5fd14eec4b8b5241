"""A server of the whole API, on SQLite, with a seeded firm. It does not import the client.

`Sandbox` needs the extra `billframes[sandbox]`. The tables, the seed and the command can be imported without it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from billframes.sandbox.earlier_months import replay
    from billframes.sandbox.fault_injection import Trouble
    from billframes.sandbox.server import Sandbox
    from billframes.sandbox.throttle import Throttle

__all__ = ["Sandbox", "Throttle", "Trouble", "replay"]

_MODULES = {"replay": "earlier_months"}


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(f"billframes.sandbox.{_MODULES.get(name, 'server')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
