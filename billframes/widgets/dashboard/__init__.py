"""Show the explorer of the period given to `billframes dashboard`. The dashboard's notebook calls `page`."""

from __future__ import annotations

import gc
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from billframes.client import Client
    from billframes.config.firm import FirmSettings

__all__ = [
    "FOLDER_VARIABLE",
    "IDLE_VARIABLE",
    "LEDGER_VARIABLE",
    "PERIOD_VARIABLE",
    "PORT_FILE",
    "RELOADED_FILE",
    "REMARK_VARIABLE",
    "SETTINGS_VARIABLE",
    "TITLE_VARIABLE",
    "VARIABLES_FILE",
    "page",
]

PERIOD_VARIABLE = "BILLFRAMES_DASHBOARD_PERIOD"
SETTINGS_VARIABLE = "BILLFRAMES_DASHBOARD_SETTINGS"
# The files of the firm's books, as JSON.
LEDGER_VARIABLE = "BILLFRAMES_DASHBOARD_LEDGER"
TITLE_VARIABLE = "BILLFRAMES_DASHBOARD_TITLE"
REMARK_VARIABLE = "BILLFRAMES_DASHBOARD_REMARK"
# The folder with the records, which all pages share.
FOLDER_VARIABLE = "BILLFRAMES_DASHBOARD_FRAMES"
# Seconds after which a kernel without a page ends.
IDLE_VARIABLE = "BILLFRAMES_DASHBOARD_IDLE"
# In that folder: the time of this file is when a visitor last loaded the records again.
RELOADED_FILE = "cleared"
# In that folder: the kernels' variables. The command writes the file when its connection is ready.
VARIABLES_FILE = "variables.json"
# In the server's folder: the number of its port.
PORT_FILE = "port"
_TIMEOUT = 60.0


def page() -> Any:
    """Return the explorer, or the message of the error that prevents it."""
    from billframes.errors import BillframesError

    try:
        return _explorer_page()
    except BillframesError as error:
        from billframes.widgets.html import escape_text, html_widget

        return html_widget(f'<p role="alert">{escape_text(error)}</p>', "bf-complaint")


def _explorer_page() -> Any:
    import ipywidgets as w

    import billframes as bf
    from billframes.widgets.dashboard.shared_frames import SharedFrames
    from billframes.widgets.html import button

    folder = Path(os.environ[FOLDER_VARIABLE])
    frames = SharedFrames(folder)
    bf.explore  # noqa: B018 - imports it while the command prepares the connection
    _set_variables(folder / VARIABLES_FILE)
    path = os.environ.get(SETTINGS_VARIABLE)
    settings = bf.FirmSettings.load(path) if path else None

    def load_again() -> None:
        again.disabled, again.description = True, "Loading…"
        try:
            frames.clear()
            (folder / RELOADED_FILE).write_text("", encoding="ascii")
            explorer = _explorer(frames.as_client(), settings)
            explorer.address = box.children[1].address
            box.children = (again, explorer)
        finally:
            again.disabled, again.description = False, words

    words = "Load the data again"
    again = button(words, load_again, "bf-again", tooltip="Load all records again. Other open pages keep their data.")
    box = w.VBox([again, _explorer(frames.as_client(), settings)])
    box.add_class("bf-page")
    # The present objects stay. Excluding them from garbage collection saves a tenth of the time of a new period.
    gc.freeze()
    return box


def _explorer(client: Client, settings: FirmSettings | None) -> Any:
    """Return the explorer of the period, files of the books, title and remark in the environment."""
    import billframes as bf
    from billframes.report.ledger_files import ledger_paths, read_payments

    book = bf.book(os.environ.get(PERIOD_VARIABLE, "this year"), settings=settings, client=client)
    paths = ledger_paths(
        json.loads(os.environ.get(LEDGER_VARIABLE, "[]")), book.settings.books.folder if book.settings else ""
    )
    title, remark = os.environ.get(TITLE_VARIABLE, ""), os.environ.get(REMARK_VARIABLE, "")
    return bf.explore(book, payments=read_payments(book, paths), title=title, remark=remark)


def _set_variables(path: Path) -> None:
    """Wait until the command has written the variables, and set them; None removes one."""
    from billframes.errors import BillframesError

    until = time.monotonic() + _TIMEOUT
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.02)
    if not path.exists():
        raise BillframesError("The dashboard's data were not ready within a minute. Reload the page.")
    for name, value in json.loads(path.read_text(encoding="utf-8")).items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
