"""Write the pages of the analyses, and the table of the explorer's tabs, from their declarations.

Run `python docs/make_analyses.py` after a change of an analysis' signature or declaration. A test fails if a page is
out of date. Text outside the marked parts is written by hand and kept. A new analysis gets a new page in `analyses/`.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from billframes.analysis.declare.glossary import GLOSSARY
from billframes.analysis.declare.lookup import analyses
from billframes.analysis.declare.metrics import UNITS, Measure
from billframes.analysis.declare.spec import Analysis
from billframes.analysis.results.fact import FACT_COLUMNS

DOCS = Path(__file__).parent
END = "<!-- end -->"
WIDTH = 120


def pages() -> dict[Path, str]:
    """Return the text of each page, with its generated part up to date."""
    parts = {
        DOCS / "glossary.md": (
            "glossary",
            "Glossary",
            _wrapped("\n".join(f"- **{each.name.capitalize()}**: {each.meaning}" for each in GLOSSARY)),
        ),
        DOCS / "analyses.md": ("questions", "Analyses", _questions()),
        DOCS / "reference" / "explorer-filters.md": ("tabs", "Filtering", _tabs()),
    }
    parts[DOCS / "reference" / "facts.md"] = ("facts", "Facts", _facts())
    for each in analyses().values():
        parts[DOCS / "analyses" / f"{each.name}.md"] = (each.name, each.title, section(each))
    return {path: page(_text(path), *part) for path, part in parts.items()}


def page(text: str, name: str, title: str, generated: str) -> str:
    """Replace the generated part of a page; if there is none, add it at the end, below the title."""
    begin, heading = f"<!-- {name}: begin (python docs/make_analyses.py) -->", f"# {title}\n"
    if begin not in text:
        text = f"{text or heading}\n{begin}\n{END}\n"
    before, rest = text.split(begin)
    return f"{before}{begin}\n\n{generated}\n\n{END}{rest.partition(END)[2]}"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _questions() -> str:
    rows = [f"| [{each.title}](analyses/{each.name}.md) | {each.question} |" for each in analyses().values()]
    return "\n".join(["| analysis | the question it answers |", "| --- | --- |", *rows])


def _glossary() -> str:
    return _wrapped("\n".join(f"- **{each.name.capitalize()}**: {each.meaning}" for each in GLOSSARY))


def _tabs() -> str:
    """Return the table of the explorer's tabs, with the filters that count in each."""
    tabs = sorted((each.tab for each in analyses().values() if each.tab), key=lambda tab: tab.place)
    rows = [f"| {each.title} | {each.about_filters} |" for each in tabs]
    return "\n".join(["| tab | filters |", "| --- | --- |", *rows])


def _facts() -> str:
    """Return a table of the columns of each fact."""
    blocks = []
    for name, columns in FACT_COLUMNS.items():
        rows = [f"| `{names.replace(', ', '`, `')}` | {text} |" for names, text in columns.items()]
        blocks.append("\n".join([f"## `{name}`\n", "| column | what it is |", "|---|---|", *rows]))
    return "\n\n".join(blocks)


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
    """Return a call with the names of the arguments, and their defaults except None."""
    parts, star = [], False
    for each in inspect.signature(function).parameters.values():
        if each.kind is each.KEYWORD_ONLY and not star:
            parts, star = [*parts, "*"], True
        plain = each.default in (each.empty, None)
        parts.append(each.name if plain else f"{each.name}={each.default!r}".replace("'", '"'))
    return f"{function.__name__}({', '.join(parts)})"


def _wrapped(block: str) -> str:
    """Wrap lines at the width of the page."""
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
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
