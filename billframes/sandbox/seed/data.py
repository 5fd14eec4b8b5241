"""Read the firm's texts, people and codes from the TOML files beside this module.

To change a narrative, client or custom field, edit those files. Each is read once per process, when the first firm is
created; the order of its entries decides which are drawn.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

__all__ = ["AREAS", "AREA_BY_KEY", "AREA_LABELS", "Area", "code_rows", "code_set_rows", "read"]


@cache
def read(name: str) -> dict[str, Any]:
    """
    Return the content of a TOML file, with tuples in place of lists.

    Parameters
    ----------
    name : str
        The file's name without `.toml`.
    """
    file = resources.files(__package__).joinpath(f"{name}.toml")
    content: dict[str, Any] = _fixed(tomllib.loads(file.read_text(encoding="utf-8")))
    return content


def _fixed(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _fixed(each) for name, each in value.items()}
    return tuple(map(_fixed, value)) if isinstance(value, list) else value


@dataclass(frozen=True, slots=True)
class Area:
    """The common properties of a practice area's matters."""

    key: str
    label: str
    share: float
    """Share of the firm's matters."""
    people: int
    """How often people drawn at random work in it, beside other areas."""
    months: tuple[int, int]
    """Shortest and longest life of a matter."""
    write_down: float
    """Mean share of worked fees that is not billed."""
    spend: float
    """Expenses on a matter in a month of work."""
    code_set: str
    matters: tuple[str, ...]
    """Names of matters; {other} is whoever is on the other side, {place} a place."""


AREAS = tuple(Area(**each) for each in read("matters")["areas"])
AREA_BY_KEY = {area.key: area for area in AREAS}
AREA_LABELS: tuple[tuple[str, str], ...] = (
    *((area.key, area.label) for area in AREAS),
    *read("matters")["unused_areas"],
)

CodeRow = tuple[str, str, str, str, str | None, int, int]


def code_set_rows() -> tuple[tuple[str, str, str], ...]:
    """Return the rows of the table `code_set`."""
    rows: tuple[tuple[str, str, str], ...] = read("codes")["code_sets"]
    return rows


def code_rows() -> Iterator[CodeRow]:
    """
    Return the rows of the table `code`: those a litigation department or an insurer's auditor expects on a bill.

    Headings (L100, P200) group tasks and can't be put on an entry. Each code belongs to one set;
    activity and expense codes have sets of their own.
    """
    for group in read("codes")["codes"]:
        kind, codes = group["kind"], group["codes"]
        parents = {code: _parent(kind, code, [each for each, _ in codes]) for code, _ in codes}
        headings = set(parents.values())
        for position, (code, label) in enumerate(codes):
            yield kind, code, label, group["code_set"], parents[code], int(code not in headings), position


def _parent(kind: str, code: str, codes: list[str]) -> str | None:
    """Return a task's heading: L200 for L210; C200 and A103 have none."""
    heading = code[:2] + "00"
    return heading if kind == "task" and heading != code and heading in codes else None
