"""A local, read-only server for assistant applications, which ask for figures and get the library's own.

`source` opens the data, `tools` has the six questions, `answers` makes an answer of a result, `text_of_data` makes its
texts harmless, `server` speaks the protocol, and `command` is `billframes mcp`. No tool writes, takes a path or an
expression, or sends a request of its own.
"""

from __future__ import annotations

from billframes.assistant.server import Questions, make_server

__all__ = ["Questions", "make_server"]
