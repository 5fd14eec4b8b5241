"""The report's notebook: its parameters, the load, and one cell for each section of the outline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from billframes._shared.export import check_output
from billframes.report.outline import OUTLINE

_ABOUT = """\
# The monthly report

Its cells show the sections that `billframes report` writes to one HTML file. You can change, move or remove cells, and
run it in Jupyter.

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


def new_notebook() -> dict[str, Any]:
    """Return the report's notebook as JSON values."""
    code: dict[str, Any] = {"cell_type": "code", "execution_count": None, "outputs": []}
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": _ABOUT},
        {**code, "metadata": {"tags": ["parameters"]}, "source": _PARAMETERS},
        *({**code, "metadata": {}, "source": each} for each in (_LOAD, *(x.cell for x in OUTLINE if x.on_page))),
    ]
    return {
        "cells": [{"id": f"cell-{place}", **each} for place, each in enumerate(cells)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


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
    check_output(path, "path=")
    Path(path).write_text(json.dumps(new_notebook(), indent=1) + "\n", encoding="utf-8")
