"""The report's notebook: its parameters, the load, and one cell for each section of the outline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from billframes.report.outline import OUTLINE

_ABOUT = """\
# The monthly report

`billframes report` runs this notebook and writes the outputs of its cells to one HTML file. You can change, move or
remove cells, and run it in Jupyter.

The address and the credential are read from `BILLFRAMES_BASE_URL` and `BILLFRAMES_TOKEN`, or from your profile. Never
write them here."""
_PARAMETERS = """\
month = "2026-10"
title = ""  # the firm's name
settings = ""  # a TOML file: holidays, leave, part time, targets
as_of = ""  # receivables are aged to this day; by default the month's last day
generated = ""  # when the report was made, as text
ledger = []  # files with reports of the firm's books, such as "A_R Aging Detail.csv"
remark = ""  # a line in a box under the title
only = ""  # such as "client:Acme", "practice_area:Litigation" or "responsible:Ann Lee"; by default the whole firm
narratives = False  # whether to list time entries with their descriptions"""
_LOAD = """\
import billframes as bf
from billframes import report

client = bf.connect(progress=False)
firm = report.load(month, settings=settings, as_of=as_of, only=only, ledger=ledger)"""


def new_notebook() -> Any:
    """Return the report's notebook. What the command says when a cell begins is in the cell's metadata."""
    from nbformat import v4

    about: Any = v4.new_markdown_cell(_ABOUT)  # type: ignore[no-untyped-call]
    cells = [
        (_PARAMETERS, {"tags": ["parameters"]}),
        (_LOAD, {"step": "Loading time, invoices and matters"}),
        *((each.cell, {"step": each.step} if each.step else {}) for each in OUTLINE if each.on_page),
    ]
    made = [about, *(v4.new_code_cell(source, metadata=metadata) for source, metadata in cells)]  # type: ignore[no-untyped-call]
    for place, each in enumerate(made):
        each["id"] = f"cell-{place}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return v4.new_notebook(cells=made, metadata={"kernelspec": kernel, "language_info": {"name": "python"}})  # type: ignore[no-untyped-call]


def write_notebook(path: str | Path) -> None:
    """
    Write the report's notebook, to change it and run it in Jupyter.

    Parameters
    ----------
    path : str or Path
        Such as "monthly.ipynb".

    Examples
    --------
    >>> from billframes import report
    >>> report.write_notebook("monthly.ipynb")  # doctest: +SKIP
    """
    import nbformat

    nbformat.write(new_notebook(), path)  # type: ignore[no-untyped-call]
