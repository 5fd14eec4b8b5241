"""Show the progress of a load by a bar in a notebook or on a terminal, if it takes longer than a second.

In a notebook an HTML display is updated in place and cleared at the end, so that the saved file has no dead widget. On
a terminal `tqdm` writes to stderr. Elsewhere nothing is shown.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

from billframes._shared.names import as_given
from billframes.errors import ParameterError

Progress = Callable[[int, int], None]
DELAY = 1.0


def _ignore(_done: int, _total: int) -> None:
    """Ignore the progress."""


def check_progress(value: Any) -> None:
    """Raise `ParameterError` if `progress=` is not True, False, None or a function."""
    if value is not None and not isinstance(value, bool) and not callable(value):
        raise ParameterError(f"{as_given('progress', value)} is not known; it takes True, False, None or a function.")


@contextmanager
def progress_reporter(progress: bool | Progress | None, label: str) -> Iterator[Progress]:
    """
    Yield the function that a load calls with the number of rows loaded and their total.

    None shows a bar in a notebook or on a terminal, True always, False never.
    """
    if callable(progress):
        yield progress
    elif progress is False or (progress is None and not _is_interactive()):
        yield _ignore
    elif _is_notebook():
        yield from _notebook_bar(label)
    else:
        yield from _terminal_bar(label)


def _is_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


def _is_interactive() -> bool:
    return _is_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def _terminal_bar(label: str) -> Iterator[Progress]:
    from tqdm import tqdm

    with tqdm(desc=label, unit=" rows", delay=DELAY, leave=False, file=sys.stderr) as bar:

        def update(done: int, total: int) -> None:
            bar.total = total or None
            bar.update(done - bar.n)

        yield update


def _notebook_bar(label: str) -> Iterator[Progress]:
    from IPython.display import HTML, display

    begun, handle = time.monotonic(), None

    def update(done: int, total: int) -> None:
        nonlocal handle
        if time.monotonic() - begun < DELAY:
            return
        bar = HTML(  # type: ignore[no-untyped-call]
            f"{escape(label)}: <progress value='{done}' max='{total or done}'></progress> {done:,} rows"
        )
        if handle is None:
            handle = display(bar, display_id=True)  # type: ignore[no-untyped-call]
        else:
            handle.update(bar)

    try:
        yield update
    finally:
        if handle is not None:
            handle.update(HTML(""))  # type: ignore[no-untyped-call]
