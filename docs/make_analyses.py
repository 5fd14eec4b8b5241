"""Write the sections of analyses.md from what each analysis says of itself.

`python docs/make_analyses.py` after an analysis was added or its signature or declaration has changed; a test
compares the page with it. What stands outside the marked parts is written by hand and kept; an analysis that the page
does not have yet gets a section of its own before the mark for new ones.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from billframes.analysis.glossary import GLOSSARY
from billframes.analysis.metrics import UNITS, Measure
from billframes.analysis.spec import Analysis, analyses

PAGE = Path(__file__).parent / "analyses.md"
NEW = "<!-- new analyses go above this line -->"
END = "<!-- end -->"
WIDTH = 120


def begin(name: str) -> str:
    """Return the mark before an analysis' generated part."""
    return f"<!-- {name}: begin (python docs/make_analyses.py) -->"


def page(text: str) -> str:
    """Return the page with its generated parts made anew, and a section for each analysis that has none."""
    if begin("glossary") in text:
        before, rest = text.split(begin("glossary"))
        words = _wrapped(GLOSSARY._repr_markdown_())
        text = f"{before}{begin('glossary')}\n\n{words}\n\n{END}{rest.partition(END)[2]}"
    for each in analyses().values():
        if begin(each.name) not in text:
            text = text.replace(NEW, f"## {each.title}\n\n{begin(each.name)}\n{END}\n\n{NEW}")
        before, rest = text.split(begin(each.name))
        text = f"{before}{begin(each.name)}\n\n{section(each)}\n\n{END}{rest.partition(END)[2]}"
    return text


def section(analysis: Analysis) -> str:
    """Return the generated part of one analysis: its question, call, definition and columns."""
    blocks = [f"*{analysis.question}*", analysis.summary, f"*Example.* {analysis.example}"]
    blocks += [f"`{_call(analysis.function)}`", f"**{analysis.formula}**"]
    for heading, texts in analysis.parts.items():
        if heading not in {"In short", "Example", "Formula"}:
            listed = "\n".join(f"- {text}" for text in texts)
            blocks.append(f"**{heading}**: {texts[0]}" if len(texts) == 1 else f"**{heading}**\n\n{listed}")
    return "\n\n".join([*map(_wrapped, blocks), _table(analysis.columns)])


def _call(function: Callable[..., Any]) -> str:
    """Show a signature without types and with only the defaults that say something."""
    parts, star = [], False
    for each in inspect.signature(function).parameters.values():
        if each.kind is each.KEYWORD_ONLY and not star:
            parts, star = [*parts, "*"], True
        plain = each.default in (each.empty, None)
        parts.append(each.name if plain else f"{each.name}={each.default!r}".replace("'", '"'))
    return f"{function.__name__}({', '.join(parts)})"


def _wrapped(block: str) -> str:
    """Break lines at the page's width, as the rest of it is."""
    lines = block.split("\n")
    return "\n".join(
        wrapped
        for line in lines
        for wrapped in textwrap.wrap(
            line,
            WIDTH,
            subsequent_indent="  " if line.startswith("- ") else "",
            break_long_words=False,
            break_on_hyphens=False,
        )
        or [""]
    )


def _table(measures: Sequence[Measure]) -> str:
    rows = [("column", "unit", "is"), ("---",) * 3, *((f"`{m.name}`", UNITS[m.unit], m.meaning) for m in measures)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
