"""Show the explorer of the period given to `billframes dashboard`; the dashboard's notebook calls it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

__all__ = ["CLEARED", "FRAMES", "IDLE", "PERIOD", "PORT_FILE", "REMARK", "SETTINGS", "TITLE", "TOKEN", "page"]

PERIOD = "BILLFRAMES_DASHBOARD_PERIOD"
SETTINGS = "BILLFRAMES_DASHBOARD_SETTINGS"
TITLE = "BILLFRAMES_DASHBOARD_TITLE"
REMARK = "BILLFRAMES_DASHBOARD_REMARK"
# The folder in which visits share what was loaded.
FRAMES = "BILLFRAMES_DASHBOARD_FRAMES"
# In that folder: the file that is written when the records are to be loaded again.
CLEARED = "cleared"
# Seconds after which a kernel without a page ends.
IDLE = "BILLFRAMES_DASHBOARD_IDLE"
# The token does not go by the command line, which everyone on the machine can read. Kernels never see it.
TOKEN = "BILLFRAMES_DASHBOARD_TOKEN"  # noqa: S105
# In the server's folder: where it says on which port it answers.
PORT_FILE = "port"


def page() -> Any:
    """Return the explorer, or what keeps it from being there, in a sentence."""
    from billframes.errors import BillframesError

    try:
        return _explorer_page()
    except BillframesError as error:
        from billframes.widgets._html import note, text_of

        return note(f'<p role="alert">{text_of(error)}</p>', "bf-complaint")


def _explorer_page() -> Any:
    from billframes.widgets.dashboard.shared_frames import SharedFrames

    frames = SharedFrames(Path(os.environ[FRAMES]))
    # The server answers while this process imports the rest.
    frames.load_ahead()
    import ipywidgets as w

    import billframes as bf
    from billframes.widgets._html import button

    path = os.environ.get(SETTINGS)
    settings = bf.FirmSettings.load(path) if path else None

    def explorer() -> Any:
        book = bf.book(os.environ.get(PERIOD, "this year"), settings=settings, client=frames.as_client())
        return bf.explore(book, title=os.environ.get(TITLE, ""), remark=os.environ.get(REMARK, ""))

    def load_again() -> None:
        again.disabled, again.description = True, "Loading…"
        try:
            frames.clear()
            box.children = (again, explorer())
        finally:
            again.disabled, again.description = False, words

    words = "Load the data again"
    again = button(words, load_again, "bf-again", tooltip="Load all records again; other open pages keep theirs")
    box = w.VBox([again, explorer()])
    box.add_class("bf-page")
    return box
