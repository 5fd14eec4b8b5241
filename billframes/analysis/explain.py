"""`bf.explain`: every analysis in its own words.

The registry is the analyses' public list itself, and each text stands in the module of its function: an analysis
without one can't be added unnoticed.
"""

from __future__ import annotations

import sys
from typing import overload

import billframes.analysis as analyses
from billframes._names import closest
from billframes.analysis._explanation import Explanation, as_html
from billframes.errors import ParameterError

__all__ = ["Explanations", "explain", "explanations"]


class Explanations(tuple[Explanation, ...]):
    """All analyses, each with the question it answers."""

    __slots__ = ()

    def __repr__(self) -> str:
        width = max(len(each.name) for each in self)
        lines = [f"{each.name:<{width}}  {each.question}" for each in self]
        return "\n".join([*lines, "", f"More on one: bf.explain({self[0].name!r})"])

    def _repr_markdown_(self) -> str:
        return "\n".join(f"- `{each.name}`: {each.question}" for each in self)

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><td style="text-align: left"><code>{as_html(each.name)}</code></td>'
            f'<td style="text-align: left">{as_html(each.question)}</td></tr>'
            for each in self
        )
        return f"<table><tbody>{rows}</tbody></table>"


def explanations() -> Explanations:
    """Collect what every public analysis says of itself, in alphabetical order."""
    return Explanations(_of(name) for name in sorted(analyses.__all__))


@overload
def explain(name: None = None) -> Explanations: ...
@overload
def explain(name: str) -> Explanation: ...
def explain(name: str | None = None) -> Explanation | Explanations:
    """
    Say what an analysis means: formula, numerator, denominator, what is left out, what this API can't tell.

    Parameters
    ----------
    name : str, optional
        An analysis, such as "realization"; None lists all of them.

    Returns
    -------
    Explanation or Explanations
        Text that shows itself in a terminal and in a notebook, and whose parts are attributes: `question`,
        `formula`, `numerator`, `denominator`, `left_out`, `cannot_tell`. The list is a tuple of them.

    Raises
    ------
    ParameterError
        No analysis has that name.

    Examples
    --------
    >>> bf.explain("utilization").formula
    '`utilization` = `client_hours` ÷ `capacity_hours`'
    """
    if name is None:
        return explanations()
    if name not in analyses.__all__:
        known = sorted(analyses.__all__)
        raise ParameterError(
            f"name={name!r} is no analysis.{closest(name, known)} It takes {', '.join(map(repr, known))}, or nothing "
            "for a list of what each answers."
        )
    return _of(name)


def _of(name: str) -> Explanation:
    explanation: Explanation = sys.modules[getattr(analyses, name).__module__].EXPLANATION
    return explanation
