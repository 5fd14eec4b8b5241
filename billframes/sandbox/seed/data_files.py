"""Read the firm's texts, people and codes from the TOML files in this folder.

To change a narrative, client or custom field, edit those files. Each file is read once per process, when the first firm
is created. The seed draws entries by their position, so a new order gives another firm.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any


@cache
def load_toml(name: str) -> dict[str, Any]:
    """Return the content of a TOML file, named without `.toml`, with tuples in place of lists."""
    file = resources.files(__package__).joinpath(f"{name}.toml")
    content: dict[str, Any] = _with_tuples(tomllib.loads(file.read_text(encoding="utf-8")))
    return content


def _with_tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with_tuples(each) for name, each in value.items()}
    return tuple(map(_with_tuples, value)) if isinstance(value, list) else value


@dataclass(frozen=True, slots=True)
class Area:
    """A practice area, and the properties of its matters."""

    key: str
    label: str
    share: float
    """Share of the firm's matters."""
    people_weight: int
    """How often people drawn at random work in it, compared with other areas."""
    months: tuple[int, int]
    """Shortest and longest duration of a matter."""
    write_down: float
    """Mean share of worked fees that is written down."""
    expense_chance: float
    """Chance of an expense in a month of work, before the matter's intensity is applied."""
    code_set: str
    matter_names: tuple[str, ...]
    """Templates of matters' names; {other} is the other party."""


AREAS = tuple(Area(**each) for each in load_toml("matters")["areas"])
AREA_BY_KEY = {area.key: area for area in AREAS}
AREA_LABELS: tuple[tuple[str, str], ...] = (
    *((area.key, area.label) for area in AREAS),
    *load_toml("matters")["unused_areas"],
)

CodeRow = tuple[str, str, str, str, str | None, int, int]


def code_set_rows() -> tuple[tuple[str, str, str], ...]:
    """Return the rows of the table `code_set`."""
    rows: tuple[tuple[str, str, str], ...] = load_toml("codes")["code_sets"]
    return rows


def code_rows() -> Iterator[CodeRow]:
    """
    Return the rows of the table `code`.

    Headings (L100, P200) group tasks and can't be put on an entry. Each code belongs to one code set.
    """
    for group in load_toml("codes")["codes"]:
        kind, codes = group["kind"], group["codes"]
        parents = {code: _parent(kind, code, [each for each, _ in codes]) for code, _ in codes}
        headings = set(parents.values())
        for position, (code, label) in enumerate(codes):
            yield kind, code, label, group["code_set"], parents[code], int(code not in headings), position


def _parent(kind: str, code: str, codes: list[str]) -> str | None:
    """Return a task's heading, such as L200 for L210; None for headings and for codes without one."""
    heading = code[:2] + "00"
    return heading if kind == "task" and heading != code and heading in codes else None
