"""`python -m tests.notebooks.run_notebooks PATHS…` runs notebooks, and prints where the outputs stored in them differ.

All of them run in one process, each in a namespace of its own, as cells of a kernel do. Pictures are not drawn; only
their places are compared, because they differ with the version of matplotlib.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
from IPython.core import pylabtools
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type


class Shown(DisplayHook):
    """Keeps the results of cells among what they show."""

    def __call__(self, result: object = None) -> None:
        if result is not None:
            data, metadata = self.compute_format_data(result)
            self.shell.display_pub.publish(data, metadata)


class Shell(InteractiveShell):
    display_pub_class = Type(CapturingDisplayPublisher)
    displayhook_class = Type(Shown)


def comparable(outputs: list[Any], said: str = "", complaints: str = "") -> dict[str, Any]:
    """Return what a cell printed and showed, without pictures."""
    shown = [
        {kind: "" if kind == "image/png" else "".join(text) for kind, text in each["data"].items()}
        for each in outputs
        if "data" in each
    ]
    return {"printed": said, "complaints": complaints, "shown": shown}


def differences(path: Path, shell: InteractiveShell) -> Iterator[str]:
    """Run the cells of a notebook, and yield a text for each that gives other outputs."""
    shell.reset(new_session=True)
    pd.reset_option("display.float_format")
    # That of notebooks; terminals have as many as fit.
    pd.options.display.max_columns = 20
    os.chdir(path.parent)
    shown = shell.display_pub.outputs
    for number, cell in enumerate(nbformat.read(path, as_version=4).cells):
        if cell.cell_type != "code":
            continue
        shown.clear()
        printed, complaints = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(complaints):
            done = shell.run_cell(cell.source, store_history=True)
        now = comparable(shown, printed.getvalue(), complaints.getvalue() + str(done.error_in_exec or ""))
        stored = comparable(cell.outputs, "".join("".join(each.get("text", "")) for each in cell.outputs))
        if now != stored:
            texts = (json.dumps(each, indent=1, sort_keys=True).replace("\\n", "\n") for each in (stored, now))
            lines = (each.splitlines() for each in texts)
            yield "\n".join(difflib.unified_diff(*lines, f"{path.name}, cell {number}, stored", "now", lineterm=""))


def main() -> int:
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    pylabtools.print_figure = lambda *_args, **_kwargs: ""
    shell, paths = Shell.instance(), [Path(each).resolve() for each in sys.argv[1:]]
    found = [each for path in paths for each in differences(path, shell)]
    print("\n\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
