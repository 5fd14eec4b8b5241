"""`python -m billframes.widgets.dashboard NOTEBOOK PORT` starts the dashboard's server."""

from __future__ import annotations

import sys

from billframes.widgets.dashboard.kernel import skip_unused_grammar


def start() -> None:
    """Start the server."""
    skip_unused_grammar()
    from billframes.widgets.dashboard.server import main

    main(*sys.argv[1:])


if __name__ == "__main__":
    start()
