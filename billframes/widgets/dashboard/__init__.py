"""Show the explorer that `billframes dashboard` asks for. The dashboard's notebook calls `page`."""

from __future__ import annotations

import gc
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# The folder with the records, which all pages share.
FOLDER_VARIABLE = "BILLFRAMES_DASHBOARD_FRAMES"
# Seconds after which a kernel without a page ends.
IDLE_VARIABLE = "BILLFRAMES_DASHBOARD_IDLE"
# In that folder: the time of this file is when a visitor last loaded the records again.
RELOADED_FILE = "cleared"
# In that folder: the kernels' variables, and what a page shows: its period, title, remark, and the files of the firm's
# settings and books. The command writes the file when its connection is ready.
START_FILE = "start.json"
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
    shown = _start(folder / START_FILE)

    def show(explorer: Any) -> None:
        explorer.panel.children = (*explorer.panel.children, again)
        box.children = (explorer,)

    def load_again() -> None:
        again.disabled, again.description = True, "Loading…"
        try:
            frames.clear()
            (folder / RELOADED_FILE).write_text("", encoding="ascii")
            explorer = _explorer(frames, **shown)
            explorer.address = box.children[0].address
            show(explorer)
        finally:
            again.disabled, again.description = False, words

    words = "Load the data again"
    again = button(words, load_again, "bf-again", tooltip="Load all records again. Other open pages keep their data.")
    box = w.Box().add_class("bf-page")
    show(_explorer(frames, **shown))
    # The present objects stay. Excluding them from garbage collection saves a tenth of the time of a new period.
    gc.freeze()
    return box


def _explorer(client: Any, period: str, settings: str = "", ledger: list[str] | None = None, **texts: Any) -> Any:
    """
    Return the explorer of a period, with the payments in files of the books, or in the settings' folder.

    Of a client, a book needs only the loaders and settings.
    """
    import billframes as bf
    from billframes._shared.notes import Notes, collect_notes
    from billframes.wings import module_of, wings

    book = bf.book(period, settings=bf.FirmSettings.load(settings) if settings else None, client=client)
    # The tab shows the notes of the payments.
    with collect_notes(Notes()):
        payments = module_of("ledger", "month_reports").payments_of(book, ledger or []) if "ledger" in wings() else None
    return bf.explore(book, payments=payments, **texts)


def _start(path: Path) -> Mapping[str, Any]:
    """Wait for the command's file, set its variables (None removes one), and return what the page shows."""
    from billframes.errors import BillframesError

    until = time.monotonic() + _TIMEOUT
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.02)
    if not path.exists():
        raise BillframesError("The dashboard's data were not ready within a minute. Reload the page.")
    given = json.loads(path.read_text(encoding="utf-8"))
    for name, value in given["variables"].items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
    shown: Mapping[str, Any] = given["shown"]
    return shown
