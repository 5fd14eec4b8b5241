"""Show an error of billframes in IPython and Jupyter as the user's own lines and the message.

IPython asks an exception for its own traceback (`_render_traceback_`). Lines of billframes, and of the libraries that
it calls, are left out: they don't help someone who gave a wrong period. `%xmode Verbose` shows all of them, and so does
`--debug` for the notebooks that commands run.
"""

from __future__ import annotations

import os
import sysconfig
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

__all__ = ["DEBUG_VARIABLE", "in_ipython"]

# Set by `--debug` for kernels that a command starts.
DEBUG_VARIABLE = "BILLFRAMES_DEBUG"
_PACKAGE = str(Path(__file__).parent)
_LIBRARIES = (_PACKAGE, *(sysconfig.get_path(name) for name in ("stdlib", "platlib", "purelib")))


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
        if not (entered and file.startswith(_LIBRARIES)):
            yield trace
        trace = trace.tb_next
