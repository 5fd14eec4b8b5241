"""Point warnings and tracebacks at the user's own lines, however deep in billframes they arise.

IPython asks an exception for its own traceback (`_render_traceback_`). Lines of billframes, and of the libraries that
it calls, are left out: they don't help someone who gave a wrong period. `%xmode Verbose` shows all of them, and so does
`--debug` for the notebooks that commands run.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import traceback
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import TracebackType

__all__ = ["DEBUG_VARIABLE", "in_ipython", "warn"]

# Set by `--debug` for kernels that a command starts.
DEBUG_VARIABLE = "BILLFRAMES_DEBUG"
_PACKAGE = str(Path(__file__).parent)


def warn(message: str, category: type[Warning]) -> None:
    """Give a warning, shown at the first line outside billframes that led here."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def in_ipython(error: BaseException) -> list[str]:
    """Return the lines that IPython prints for an error: the user's own frames, and the message."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is None:
        return traceback.format_exception(error)
    form = shell.InteractiveTB
    if form.mode == "Verbose" or os.environ.get(DEBUG_VARIABLE):
        lines: list[str] = form.structured_traceback(type(error), error, error.__traceback__)
        return lines
    # A copy has no cause and no context, whose frames are the libraries'.
    alone = type(error).__new__(type(error), *error.args)
    alone.__dict__.update(error.__dict__)
    lines = form.structured_traceback(type(error), alone, _own_frames(error.__traceback__))
    return lines


def _own_frames(trace: TracebackType | None) -> TracebackType | None:
    own = None
    for each in reversed(list(_shown(trace))):
        own = TracebackType(own, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return own


def _shown(trace: TracebackType | None) -> Iterator[TracebackType]:
    """Return what comes before the first frame of billframes, and after it what is not a library's."""
    entered = False
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        entered = entered or file.startswith(_PACKAGE)
        if not (entered and file.startswith(_libraries())):
            yield trace
        trace = trace.tb_next


@cache
def _libraries() -> tuple[str, ...]:
    return (_PACKAGE, *(sysconfig.get_path(name) for name in ("stdlib", "platlib", "purelib")))
