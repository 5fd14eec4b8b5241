"""Show the progress of a load: a bar only in a notebook or on a terminal, and only after a second.

In a notebook one HTML display is updated in place and cleared at the end, so that no dead widget is left in the
saved file; on a terminal `tqdm` writes to stderr; otherwise nothing is shown.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

from billframes.errors import ParameterError

__all__ = ["Progress", "checked_progress", "reporting"]

Progress = Callable[[int, int], None]
DELAY = 1.0


def _nothing(_done: int, _total: int) -> None:
    """Show nothing."""


def checked_progress(value: Any) -> None:
    """Raise `ParameterError` if `progress=` is not True, False, None or a function."""
    if value is not None and not isinstance(value, bool) and not callable(value):
        raise ParameterError(f"progress={value!r} is not known; it takes True, False, None or a function.")


@contextmanager
def reporting(progress: bool | Progress | None, label: str) -> Iterator[Progress]:
    """
    Yield the function that a load calls with its progress.

    Parameters
    ----------
    progress : bool or callable, optional
        None shows a bar in a notebook or on a terminal, True always, False never. A callable is called with the number
        of rows loaded and their total.
    label : str
        What is being loaded.
    """
    if callable(progress):
        yield progress
    elif progress is False or (progress is None and not _watched()):
        yield _nothing
    elif _in_kernel():
        yield from _in_notebook(label)
    else:
        yield from _on_terminal(label)


def _in_kernel() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


def _watched() -> bool:
    return _in_kernel() or (sys.stderr is not None and sys.stderr.isatty())


def _on_terminal(label: str) -> Iterator[Progress]:
    from tqdm import tqdm

    with tqdm(desc=label, unit=" rows", delay=DELAY, leave=False, file=sys.stderr) as bar:

        def update(done: int, total: int) -> None:
            bar.total = total or None
            bar.update(done - bar.n)

        yield update


def _in_notebook(label: str) -> Iterator[Progress]:
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
