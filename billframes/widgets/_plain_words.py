"""Say what an analysis counts in the words of its headings, without what only callers need.

The declaration names columns and arguments in backticks. Partners know the columns by their headings and have no
arguments, so clauses about arguments are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from billframes.analysis.spec import Analysis, measure

__all__ = ["meaning", "plain"]

_NAME = re.compile(r"`([^`]+)`")
_ASIDE = re.compile(r" ?\(([^()]*)\)")
_OUTSIDE = r"(?=[^()]*(?:\(|$))"
_CLAUSE = re.compile(rf"(?<=[.;:]) {_OUTSIDE}")
_PART = re.compile(rf", {_OUTSIDE}")
# In the explorer, this argument is always the same day.
_DAY = ("`as_of`", "the last day")


def meaning(analysis: Analysis) -> dict[str, list[str]]:
    """
    Return what counts, what is left out and what can't be told, by its heading.

    Examples
    --------
    >>> from billframes.analysis.spec import analyses
    >>> meaning(analyses()["utilization"])["Left out"][0]
    'Time on internal matters, always; “All hours” shows all of it.'
    """
    wanted = {name: texts for name, texts in analysis.parts.items() if name not in {"In short", "Example", "Formula"}}
    said = {heading: [words for text in texts if (words := plain(text))] for heading, texts in wanted.items()}
    return {heading: texts for heading, texts in said.items() if texts}


def plain(text: str) -> str:
    """
    Put headings in place of columns, and leave out clauses about arguments.

    Examples
    --------
    >>> plain("Time on internal matters; `matter_types=` chooses otherwise.")
    'Time on internal matters.'
    >>> plain("Non-billable time (`non_billable_hours`), except pro bono with `include_probono=True`.")
    'Non-billable time (“Non-billable hours”).'
    """
    text = _ASIDE.sub(lambda aside: "" if _of_callers(aside[1]) else aside[0], text.replace(*_DAY))
    words = _NAME.sub(_heading, " ".join(_clauses(text))).rstrip(";:, ")
    return words if not words or words[-1] in ".?!" else f"{words}."


def _clauses(text: str) -> Iterator[str]:
    for clause in _CLAUSE.split(text):
        first, *rest = _PART.split(clause)
        if not _of_callers(first):
            yield ", ".join([first, *(each for each in rest if not _of_callers(each))])


def _of_callers(text: str) -> bool:
    """Tell whether a text names an argument: in lower case, and not a column of results."""
    return any(measure(name) is None and name[0].islower() for name in _NAME.findall(text))


def _heading(name: re.Match[str]) -> str:
    found = measure(name[1])
    return f"“{found.title if found else name[1]}”"
