"""`python -m billframes.widgets.dashboard NOTEBOOK PORT` starts the dashboard's server."""

from __future__ import annotations

import sys


def start() -> None:
    """Serve; without the grammar that jsonschema compiles for one rare format, which takes half of the start."""
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    from billframes.widgets.dashboard.server import main

    main(*sys.argv[1:])


if __name__ == "__main__":
    start()
