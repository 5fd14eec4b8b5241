"""Explanations of analyses, and their display in a terminal and in a notebook."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_WIDTH = 100
# Headings that can't be made from the name.
_TITLES = {"lockup": "Lock-up", "wip": "Work in progress"}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Explanation:
    """
    The meaning of one analysis in plain words, declared beside its code.

    Shown as text in a terminal and as HTML in a notebook. Names of columns and arguments are in backticks.
    """

    name: str
    # The partner's question that the analysis answers, in one sentence.
    question: str
    # Two sentences: what the analysis does, and its purpose or a common misunderstanding.
    summary: str
    # One worked example, with the figures of the example in the function's docstring.
    example: str
    # One line, such as "billed ÷ value".
    formula: str
    # The figures above and below the line of a ratio. Without a denominator, `numerator` says what is counted.
    numerator: str = ""
    denominator: str = ""
    # Records that are not counted, and the columns that show them.
    left_out: tuple[str, ...] = ()
    # Facts that the API does not have, so that nobody reads them into the figure.
    cannot_tell: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The name as a heading, such as "Effective rates"."""
        return _TITLES.get(self.name, self.name.replace("_", " ").capitalize())

    @property
    def parts(self) -> dict[str, tuple[str, ...]]:
        """The texts by heading, without empty ones; a heading can have several paragraphs."""
        parts = {
            "Numerator" if self.denominator else "Counted": (self.numerator,),
            "Denominator": (self.denominator,),
            "Not counted": self.left_out,
            "The billing system can’t tell": self.cannot_tell,
        }
        sentences = {heading: tuple(_sentence(text) for text in texts if text) for heading, texts in parts.items()}
        first = {"In short": (self.summary,), "Example": (self.example,), "Formula": (self.formula,)}
        return first | {heading: texts for heading, texts in sentences.items() if texts}

    @property
    def shown_parts(self) -> dict[str, tuple[str, ...]]:
        """The texts by heading, as they are shown."""
        return self.parts

    def __repr__(self) -> str:
        lines = [self.title, "=" * len(self.title), *textwrap.wrap(self.question, _WIDTH)]
        for heading, texts in self.shown_parts.items():
            lines += ["", heading]
            for text in texts:
                first = "  - " if len(texts) > 1 else "  "
                rest = " " * len(first)
                lines += textwrap.wrap(text, _WIDTH, initial_indent=first, subsequent_indent=rest)
        return "\n".join([*lines, "", f"In full: {self._in_full}; special words: bf.explain('glossary')"])

    @property
    def _in_full(self) -> str:
        return f"help(bf.analysis.{self.name})"

    def _repr_html_(self) -> str:
        head = f"<h3>{as_html(self.title)}</h3><p>{as_html(self.question)}</p>"
        return f'<div style="max-width: 46em; text-align: left">{head}{definition_list(self.shown_parts)}</div>'


def definition_list(parts: Mapping[str, Sequence[str]]) -> str:
    """Return headings with their texts as an HTML list."""
    # JupyterLab's style would float `dt` in a narrow column beside `dd`.
    place = "float: none; clear: both; width: auto"
    rows = "".join(
        f'<dt style="{place}; margin: 0.6em 0 0.1em"><strong>{as_html(heading)}</strong></dt>'
        + "".join(f'<dd style="{place}; margin: 0 0 0.2em 1.5em">{as_html(text)}</dd>' for text in texts)
        for heading, texts in parts.items()
    )
    return f'<dl style="max-width: 46em; text-align: left">{rows}</dl>'


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}{'' if text[-1] in '.?!' else '.'}"


def as_html(text: str) -> str:
    """Escape text for HTML, and turn backticks into `code` elements."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
