"""A server of the whole API, on SQLite, with a seeded firm. It does not import the client.

`Sandbox` needs the extra `billframes[sandbox]`. The tables, the seed and the command can be imported without it.
"""

from __future__ import annotations

from billframes._shared.namespace import namespace

__getattr__, __dir__, __all__ = namespace(__name__, __file__)
