"""`bf.explain`: every analysis in its own words, and the special words."""

from __future__ import annotations

from billframes._names import closest
from billframes.analysis.explanation import Explanation, as_html
from billframes.analysis.glossary import GLOSSARY, Glossary, Term, term
from billframes.analysis.spec import Analysis, analyses
from billframes.errors import ParameterError

__all__ = ["Explanations", "explain"]


class Explanations(tuple[Analysis, ...]):
    """All analyses, each with the question it answers."""

    __slots__ = ()

    def __repr__(self) -> str:
        width = max(len(each.name) for each in self)
        lines = [f"{each.name:<{width}}  {each.question}" for each in self]
        return "\n".join(
            [*lines, "", f"More on one: bf.explain({self[0].name!r}); special words: bf.explain('glossary')"]
        )

    def _repr_markdown_(self) -> str:
        return "\n".join(f"- `{each.name}`: {each.question}" for each in self)

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><td style="text-align: left"><code>{as_html(each.name)}</code></td>'
            f'<td style="text-align: left">{as_html(each.question)}</td></tr>'
            for each in self
        )
        return f"<table><tbody>{rows}</tbody></table>"


def explain(name: str | None = None) -> Explanation | Explanations | Glossary | Term:
    """
    Say what an analysis or a special word means.

    Parameters
    ----------
    name : str, optional
        An analysis, such as "realization"; a special word, such as "worth" or "lock-up"; or "glossary" for all special
        words. None lists all analyses.

    Returns
    -------
    Explanation, Term, Glossary or Explanations
        Text that shows itself in a terminal and in a notebook. The parts of an explanation are attributes: `question`,
        `summary`, `example`, `formula`, `numerator`, `denominator`, `left_out`, `cannot_tell`; those of a special word
        are `name` and `meaning`. The lists are tuples of these. A name of both is the analysis.

    Raises
    ------
    ParameterError
        No analysis and no special word has that name.

    Examples
    --------
    >>> bf.explain("utilization").formula
    '`utilization` = `client_hours` ÷ `capacity_hours`'
    >>> bf.explain("unbilled")
    Unbilled
      On no invoice at all.
    """
    if name is None:
        return Explanations(analyses().values())
    if name in analyses():
        return analyses()[name]
    found = GLOSSARY if name == "glossary" else term(name)
    if found is None:
        words = [*analyses(), *(each.name for each in GLOSSARY)]
        raise ParameterError(
            f"name={name!r} is neither an analysis nor a special word.{closest(name, words)} It takes "
            f"{', '.join(map(repr, analyses()))}, a word of bf.explain('glossary'), or nothing for a list of what each "
            "analysis answers."
        )
    return found
