"""Look up what is declared: the analyses by name, and the measure and the heading of a column."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import replace

from billframes._shared.format import label_of
from billframes.analysis.declare.metrics import SHARED, Measure, bucket_measure, period_measure, title_of_key
from billframes.analysis.declare.spec import PACKAGE, Analysis
from billframes.wings import analysis_modules


class _Analyses(Mapping[str, Analysis]):
    """The analyses by name; the module of one is imported when it is first asked for."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._modules = modules

    def __getitem__(self, name: str) -> Analysis:
        found: Analysis = importlib.import_module(self._modules[name]).ANALYSIS
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._modules

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)


@functools.cache
def analyses() -> Mapping[str, Analysis]:
    """Return the analyses of `sheets` and of the wings by the names of their modules, in alphabetical order."""
    names = [each.name for each in pkgutil.iter_modules(importlib.import_module(PACKAGE).__path__)]
    own = [f"{PACKAGE}.{name}" for name in names if not name.startswith("_")]
    return _Analyses(dict(sorted((each.rpartition(".")[2], each) for each in (*own, *analysis_modules()))))


def path_of(analysis: str) -> str:
    """Return how users call an analysis, or `figures`, which is not one, for messages."""
    return f"billframes.analysis.{analysis}()" if analysis in analyses() else f"billframes.{analysis}()"


def result_to_pass(analysis: str, argument: str) -> str:
    """Return advice for an argument of an analysis, or of `figures`, given to its chart or table; else nothing."""
    of_figures = {"by", "where", "start", "end", "as_of", "compare", "top", "spans"}
    takes = analyses()[analysis].takes if analysis in analyses() else of_figures
    return f"Pass the result of book.{analysis}({argument}=…)." if argument in takes else ""


@functools.cache
def measures() -> dict[str, Measure]:
    """Return the measures of all analyses, by column."""
    declared = (column for each in analyses().values() for column in each.columns)
    return {column.name: column for column in declared if not bucket_measure(column.name)} | SHARED


@functools.cache
def _qualified_measures() -> dict[str, Measure]:
    declared = (_qualified(each, column) for each in analyses().values() for column in each.columns)
    return {each.name: each for each in declared}


def qualified_name(analysis: str, column: str) -> str:
    """Return the name among other figures of a figure that counts something else than the main one of its name."""
    return f"{analysis}_{column}"


def _qualified(analysis: Analysis, column: Measure) -> Measure:
    # The titles of buckets are the same in all analyses.
    of = f" ({analysis.title.lower()})" if bucket_measure(column.name) else ""
    return replace(
        column, name=qualified_name(analysis.name, column.name), title=f"{column.title}{of}", ratios=(), formula=""
    )


# The ends of columns that `figures` adds, longest first, with the ends of their titles.
_COMPARED = {
    "_since_previous": "change from the period before",
    "_since_year_ago": "change from a year before",
    "_previous": "the period before",
    "_year_ago": "a year before",
}


def _compared(name: str) -> Measure | None:
    """Return the measure of a column of an earlier period, or of a change."""
    end = next((end for end in _COMPARED if name.endswith(end)), "")
    found = measure(name.removesuffix(end)) if end else None
    if found is None:
        return None
    unit = "points" if found.unit == "ratio" and "_since" in end else found.unit
    return replace(
        found, name=name, title=f"{found.title}, {_COMPARED[end]}", unit=unit, ratios=(), parts=None, formula=""
    )


def measure(name: str, analysis: Analysis | None = None) -> Measure | None:
    """Look up the measure of a column, first in the analysis that the result is of; None if the column is a key."""
    if not isinstance(name, str):
        return None
    own = next((each for each in analysis.columns if each.name == name), None) if analysis else None
    known = own or bucket_measure(name) or period_measure(name) or measures().get(name)
    return known or _qualified_measures().get(name) or _compared(name)


def weight_of(each: Measure) -> str:
    """Return the column that weighs the rows in a total: a denominator that adds up; empty if there is none."""
    found = measures().get(each.parts[1]) if each.parts else None
    return found.name if found and found.adds_up else ""


def heading_of(column: str) -> str:
    """Return the heading of a column, as people see it."""
    found = measure(column)
    return found.title if found else label_of(title_of_key(column))
