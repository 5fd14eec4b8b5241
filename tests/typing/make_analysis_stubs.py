"""Write what type checkers and editors know of the analyses, from their declarations.

    python -m tests.typing.make_analysis_stubs

Run it after an analysis was added. Tables and charts are made when billframes is imported, which type checkers can't
see.
"""

from __future__ import annotations

import re
from pathlib import Path

import billframes
from billframes.analysis.spec import analyses

ROOT = Path(billframes.__file__).parent
HEAD = "# Written by `python -m tests.typing.make_analysis_stubs` from what the analyses declare; not edited by hand."


def stubs() -> dict[Path, str]:
    """Return the text of each stub."""
    root = ROOT / "__init__.pyi"
    charts = [name for name, each in analyses().items() if each.chart]
    tables = [name for name, each in analyses().items() if each.table]
    return {
        root: _root(root.read_text(encoding="utf-8")),
        ROOT / "plots" / "__init__.pyi": _attributes("from ._declaration import Plot", "Plot", charts),
        ROOT / "tables" / "__init__.pyi": _attributes(
            "from ._declaration import TableOf as TableOf", "TableOf", tables
        ),
    }


def _root(text: str) -> str:
    """Put a line for each analysis in place of those that are there."""
    names = sorted([*analyses(), "explain"])
    lines = "".join(f"from .analysis.{name} import {name} as {name}\n" for name in names)
    return re.sub(r"(from \.analysis\..*\n)+", lines, text)


def _attributes(imports: str, kind: str, names: list[str]) -> str:
    return "\n".join([HEAD, imports, "", *(f"{name}: {kind}" for name in names), ""])


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
