"""Files that commands write: whole or not at all, and refused before any work where they can't be written."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from billframes.errors import ParameterError

__all__ = ["check_out", "write"]


def check_out(out: Path) -> None:
    """Raise `ParameterError` where no file can be written at `out`."""
    if out.is_dir():
        raise ParameterError(f"--out {out} is a folder; give the name of a file in it.")
    if not out.parent.is_dir():
        raise ParameterError(f"--out {out} can't be written: there is no folder {out.parent}.")
    if not os.access(out.parent, os.W_OK):
        raise ParameterError(f"--out {out} can't be written: the folder {out.parent} is read-only.")


def write(out: Path, content: bytes) -> None:
    """Write beside `out` and rename, so that nobody ever opens half a file."""
    handle, name = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        # A temporary file is private; this one has the rights that any new file would have.
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(out)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
