"""Show the explorer of the period given to `billframes dashboard`; the dashboard's notebook calls it."""

from __future__ import annotations

import gc
import json
import os
import time
from pathlib import Path
from typing import Any

__all__ = [
    "CLEARED",
    "FRAMES",
    "IDLE",
    "PERIOD",
    "PORT_FILE",
    "REMARK",
    "SETTINGS",
    "TITLE",
    "VARIABLES_FILE",
    "page",
]

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
# In that folder: the variables of kernels, written when what they load from is ready.
VARIABLES_FILE = "variables.json"
# In the server's folder: where it says on which port it answers.
PORT_FILE = "port"
_PATIENCE = 60.0


def page() -> Any:
    """Return the explorer, or what keeps it from being there, in a sentence."""
    from billframes.errors import BillframesError

    try:
        return _explorer_page()
    except BillframesError as error:
        from billframes.widgets._html import note, text_of

        return note(f'<p role="alert">{text_of(error)}</p>', "bf-complaint")


def _explorer_page() -> Any:
    import ipywidgets as w

    import billframes as bf
    from billframes.widgets._html import button
    from billframes.widgets.dashboard.shared_frames import SharedFrames

    folder = Path(os.environ[FRAMES])
    frames = SharedFrames(folder)
    bf.explore  # noqa: B018 - imports it while the command gets ready what the records are loaded from
    _set_variables(folder / VARIABLES_FILE)
    path = os.environ.get(SETTINGS)
    settings = bf.FirmSettings.load(path) if path else None

    def explorer() -> Any:
        book = bf.book(os.environ.get(PERIOD, "this year"), settings=settings, client=frames.as_client())
        return bf.explore(book, title=os.environ.get(TITLE, ""), remark=os.environ.get(REMARK, ""))

    def load_again() -> None:
        again.disabled, again.description = True, "Loading…"
        try:
            frames.clear()
            (folder / CLEARED).write_text("", encoding="ascii")
            box.children = (again, explorer())
        finally:
            again.disabled, again.description = False, words

    words = "Load the data again"
    again = button(words, load_again, "bf-again", tooltip="Load all records again; other open pages keep theirs")
    box = w.VBox([again, explorer()])
    box.add_class("bf-page")
    # What is there now stays; looking through it for garbage is a tenth of a change of the period.
    gc.freeze()
    return box


def _set_variables(path: Path) -> None:
    """Wait until the command has written the variables, and set them; None removes one."""
    from billframes.errors import BillframesError

    until = time.monotonic() + _PATIENCE
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.02)
    if not path.exists():
        raise BillframesError("The dashboard's data were not ready within a minute. Reload the page.")
    for name, value in json.loads(path.read_text(encoding="utf-8")).items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
