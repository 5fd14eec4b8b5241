"""Show the explorer of the period given to `billframes dashboard`; the dashboard's notebook calls it."""

from __future__ import annotations

import os
from typing import Any

__all__ = ["PERIOD", "PORT_FILE", "SETTINGS", "TOKEN", "page"]

PERIOD = "BILLFRAMES_DASHBOARD_PERIOD"
SETTINGS = "BILLFRAMES_DASHBOARD_SETTINGS"
# The token goes by the environment: everyone on the machine can read a command line. Kernels never see it.
TOKEN = "BILLFRAMES_DASHBOARD_TOKEN"  # noqa: S105
# In the server's folder: where it says on which port it answers.
PORT_FILE = "port"


def page() -> Any:
    """Return the explorer, or what keeps it from being there, in a sentence."""
    import billframes as bf
    from billframes.widgets._html import note, text_of

    try:
        path = os.environ.get(SETTINGS)
        settings = bf.FirmSettings.load(path) if path else None
        return bf.explore(bf.book(os.environ.get(PERIOD, "this year"), settings=settings))
    except bf.BillframesError as error:
        return note(f'<p role="alert">{text_of(error)}</p>', "bf-complaint")
