"""Explain the analyses: `bf.explain` for users of the functions, `meaning` for readers of results.

A declaration names columns and arguments in backticks. Readers of a report or a dashboard see the headings of columns
and pass no arguments. For them, names of columns are replaced by headings, and clauses about arguments are left out.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from billframes._shared.names import as_given, closest, snake_case
from billframes._shared.places import place_of
from billframes.analysis.declare.explanation import Explanation, as_html
from billframes.analysis.declare.glossary import GLOSSARY, Glossary, Term, term
from billframes.analysis.declare.lookup import analyses, measure
from billframes.analysis.declare.metrics import UNITS
from billframes.analysis.declare.spec import Analysis
from billframes.analysis.results.figure_names import Figure, figure_names, find_figure, name_to_write, same_name, titled
from billframes.analysis.results.figure_source import HORIZON
from billframes.errors import ParameterError


class Explanations(tuple[Analysis, ...]):
    """All analyses, each with the question that it answers."""

    __slots__ = ()

    def __repr__(self) -> str:
        width = max(len(each.name) for each in self)
        lines = [f"{each.name:<{width}}  {each.question}" for each in self]
        return "\n".join(
            [*lines, "", f"More on one: bf.explain({self[0].name!r}); special words: bf.explain('glossary')"]
        )

    def _repr_html_(self) -> str:
        return _html_table((f"`{each.name}`", each.question) for each in self)


class FigureList(tuple[Figure, ...]):
    """All figures, each with its analysis."""

    __slots__ = ()

    def _rows(self) -> Iterator[tuple[str, str, str]]:
        for each in reversed(self):
            found = measure(each.column) or each.measure
            yield each.analysis.name, name_to_write(each.column), f"{found.title}. {found.meaning}"

    def __repr__(self) -> str:
        width = max(len(name) for _, name, _ in self._rows())
        lines = []
        for analysis, rows in itertools.groupby(self._rows(), key=lambda row: row[0]):
            lines += ["", analysis, *(f"  {name:<{width}}  {text}" for _, name, text in rows)]
        return "\n".join([*lines[1:], "", "More on one: bf.explain('billed_amount')"])

    def _repr_html_(self) -> str:
        return _html_table((analysis, f"`{name}`", text) for analysis, name, text in self._rows())


def _html_table(rows: Iterable[Sequence[str]]) -> str:
    cells = ("".join(f'<td style="text-align: left">{as_html(each)}</td>' for each in row) for row in rows)
    return f"<table><tbody>{''.join(f'<tr>{row}</tr>' for row in cells)}</tbody></table>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class FigureExplanation(Explanation):
    """The explanation of a figure; the parameters are those of `Explanation`, and its texts by heading."""

    texts: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, figure: Figure) -> FigureExplanation:
        """Explain a figure."""
        analysis, found = figure.analysis, measure(figure.column) or figure.measure
        same = {each.analysis.name for each in figure_names().values() if each.column == figure.column}
        of_name = same_name(figure.measure.name).items()
        others = [f"`{key}`: {each.measure.meaning}" for key, each in of_name if each.column != figure.column]
        keys = "Any key of `by=` that its records have. Months are those of the date by which the analysis counts."
        if "start" not in analysis.takes:
            keys = "Any key of `by=`. By month, quarter or year, it is the balance at the end of each."
        if analysis.is_forecast:
            keys = f"Client, or none. It is what is expected within {HORIZON} weeks of the data."
        left_out = tuple(filter(None, (_without(figure, text) for text in analysis.parts.get("Not counted", ()))))
        pairs = [pair for pair in figure.measure.ratios if {*pair} <= {*analysis.measure_names}]
        formulas = [f"`{part}` ÷ `{whole}`" for part, whole in pairs]
        texts = {
            "Unit": (UNITS[found.unit],),
            "Formula": tuple(formulas),
            "Keys": (keys,),
            "Analysis": (
                f"`{analysis.name}`: {analysis.question}",
                *(f"Also in `{each}`." for each in sorted(same - {analysis.name})),
            ),
            "Other figures of this name": tuple(others),
            "Not counted": left_out,
            "The billing system can’t tell": analysis.parts.get("The billing system can’t tell", ()),
        }
        summary = f"{found.title}. {found.meaning}"
        return cls(
            name=figure.column,
            question=summary,
            summary=summary,
            example="",
            formula=analysis.formula,
            left_out=left_out,
            cannot_tell=analysis.cannot_tell,
            texts={heading: each for heading, each in texts.items() if each},
        )

    @property
    def parts(self) -> dict[str, tuple[str, ...]]:
        """The texts by heading."""
        return self.texts

    @property
    def _in_full(self) -> str:
        return "bf.explain('figures')"


def _without(figure: Figure, text: str) -> str:
    """Leave out sentences by which something is in this very figure."""
    names = "|".join(map(re.escape, (figure.column, figure.measure.name)))
    own = rf"(?:: |\(|\b(?:is|are) in (?:`\w+`(?:, | and ))*)`(?:{names})`"
    return " ".join(sentence for sentence in _split(_SENTENCE, text) if not re.search(own, sentence))


def explain(name: str | None = None) -> Explanation | Explanations | FigureList | Glossary | Term:
    """
    Explain an analysis, a figure or a special word.

    Parameters
    ----------
    name : str, optional
        An analysis, such as "realization"; a figure, such as "billed_amount"; a special word, such as "worth" or
        "lock-up"; "figures" for all figures, or "glossary" for all special words. None lists all analyses.

    Returns
    -------
    Explanation, Term, Glossary, FigureList or Explanations
        An object that is shown as text in a terminal and as HTML in a notebook. The parts of an explanation are
        attributes: `question`, `summary`, `example`, `formula`, `numerator`, `denominator`, `left_out`, `cannot_tell`.
        A special word has `name` and `meaning`. The lists are tuples of these. For a name that is both an analysis and
        a figure or a special word, the analysis is returned.

    Raises
    ------
    ParameterError
        No analysis, no figure and no special word has that name, or several figures have it.

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
    if not isinstance(name, str):
        raise ParameterError(f"{as_given('name', name)} is not a name; pass one, such as 'realization' or 'lock-up'.")
    if name in analyses():
        return analyses()[name]
    if name == "figures":
        return FigureList({each.column: each for each in reversed(figure_names().values())}.values())
    found = GLOSSARY if name == "glossary" else term(name)
    if found is not None:
        return found
    spoken = snake_case(name)
    if spoken in analyses():
        return analyses()[spoken]
    figures = titled(name)
    for each in (name, spoken, *(figures if len(figures) == 1 else ())):
        if each in figure_names() or same_name(each):
            return FigureExplanation.of(find_figure(each))
    words = [*analyses(), *figure_names(), *(each.name for each in GLOSSARY)]
    place, part = place_of(spoken), next(filter(None, map(term, spoken.split("_"))), None)
    hint = f" See {place}." if place else closest(name, words, many=True)
    hint = hint or (f" Did you mean {part.name!r}?" if part else "")
    takes = " bf.explain() lists the analyses, bf.explain('figures') the figures, and bf.explain('glossary') the words."
    raise ParameterError(f"name={name!r} is neither an analysis, nor a figure, nor a special word.{hint or takes}")


_NAME = re.compile(r"`([^`]+)`")
_ASIDE = re.compile(r" ?\(([^()]*)\)")
_INSIDE = re.compile(r"\([^()]*\)|`[^`]*`")
_SENTENCE, _CLAUSE, _PART = (re.compile(rf"{before} ") for before in (r"(?<=\.)", "(?<=[;:])", ","))
# Readers see the figures of one day, and can't choose another.
_DAY = ("`as_of`", "the last day")


def meaning(analysis: Analysis) -> dict[str, list[str]]:
    """
    Return what an analysis counts, what it leaves out and what it can't tell, by heading, in plain words.

    Examples
    --------
    >>> meaning(analyses()["utilization"])["Not counted"][0]
    'Time on internal matters, always. “All hours” includes all time.'
    """
    parts = {name: texts for name, texts in analysis.parts.items() if name not in {"In short", "Example", "Formula"}}
    plain = {
        heading: [words for text in texts if (words := plain_words(text, analysis))] for heading, texts in parts.items()
    }
    return {heading: texts for heading, texts in plain.items() if texts}


def plain_words(text: str, analysis: Analysis | None = None) -> str:
    """
    Replace names of columns by their headings, and leave out clauses about arguments.

    With an analysis, the headings are its own.

    Examples
    --------
    >>> plain_words("Time on internal matters; `matter_types=` chooses otherwise.")
    'Time on internal matters.'
    >>> plain_words("Non-billable time (`non_billable_hours`), except pro bono with `include_probono=True`.")
    'Non-billable time (“Non-billable hours”).'
    >>> plain_words("With `as_of=`, those due then. Matters without `opened`, as in `wip`, unless `largest` is given.")
    'Matters without “opened”, as in “Work in progress”.'
    """
    text = _ASIDE.sub(lambda aside: "" if _names_argument(aside[1]) else aside[0], text.replace(*_DAY))
    sentences = (" ".join(_clauses(sentence)).rstrip(" .;:,") for sentence in _split(_SENTENCE, text))
    heading = functools.partial(_heading, analysis)
    named = (_NAME.sub(heading, sentence) for sentence in sentences)
    return " ".join(f"{each[:1].upper()}{each[1:]}." for each in named if each)


def _split(pattern: re.Pattern[str], text: str) -> list[str]:
    """Split a text where a pattern is outside parentheses and backticks."""
    hidden = _INSIDE.sub(lambda inside: "x" * len(inside[0]), text)
    ends = [0, *(place for found in pattern.finditer(hidden) for place in found.span()), len(text)]
    return [text[start:end] for start, end in zip(ends[::2], ends[1::2], strict=True)]


def _clauses(sentence: str) -> Iterator[str]:
    """Yield the clauses of a sentence that are not about arguments."""
    for clause in _split(_CLAUSE, sentence):
        end = clause[-1:] if clause[-1:] in ";:" else ""
        first, *rest = _split(_PART, clause.removesuffix(end))
        if not _names_argument(first):
            yield ", ".join([first, *(each for each in rest if not _names_argument(each))]) + end


def _names_argument(text: str) -> bool:
    return any("=" in name or (name in _arguments() and measure(name) is None) for name in _NAME.findall(text))


@functools.cache
def _arguments() -> frozenset[str]:
    return frozenset().union(*(each.takes for each in analyses().values()))


def _heading(analysis: Analysis | None, found: re.Match[str]) -> str:
    """Return the heading of the column or analysis that a match of `_NAME` names."""
    name = found[1]
    named = measure(name, analysis) or analyses().get(name)
    return f"“{named.title if named else name.replace('_', ' ')}”"
