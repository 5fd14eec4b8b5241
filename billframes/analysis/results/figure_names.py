"""Find figures by name: the columns of analyses that can stand side by side."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from billframes._shared.names import as_given, closest
from billframes.analysis.data.native import wrap_frame
from billframes.analysis.declare.columns import column_names
from billframes.analysis.declare.glossary import term
from billframes.analysis.declare.lookup import analyses, measure, qualified_name
from billframes.analysis.declare.metrics import SHARED, Measure, bucket_measure
from billframes.analysis.declare.spec import Analysis
from billframes.analysis.results.result_rows import ResultRows, read_result
from billframes.errors import ParameterError
from billframes.loading.load_info import attached

# The most figures that an error lists beside those of a name.
_FEW = 5

FIGURES = "figures"
"""The name under which a result keeps the analysis of each column."""

# The analyses whose figures can stand side by side. A figure of several is calculated by the first.
_ANALYSES = (
    *("utilization", "realization", "contribution", "wip", "aging", "timekeeping_lag", "billing_lag", "write_downs"),
    *(
        "profitability",
        "fixed_fee_realization",
        "exposure",
        "leverage",
        "effective_rates",
        "fees_collected",
        "cash_forecast",
    ),
)


@dataclass(frozen=True, slots=True)
class Figure:
    """
    A figure.

    Parameters
    ----------
    column : str
        Its column among other figures, which does not depend on them.
    analysis : Analysis
        The analysis that calculates it.
    measure : Measure
        Its column in a result of this analysis.
    """

    column: str
    analysis: Analysis
    measure: Measure


@functools.cache
def figure_names() -> dict[str, Figure]:
    """
    Return all figures: each by its qualified name, and those with a main meaning by their bare name, too.

    A name has a main meaning if it is declared once, for all analyses. An analysis that counts something else declares
    its own meaning, and so has another figure.
    """
    found: dict[str, Figure] = {}
    columns: dict[tuple[str, Measure], str] = {}
    declared = Counter(
        each.name for each in {column for analysis in analyses().values() for column in analysis.columns}
    )
    for name in filter(analyses().__contains__, _ANALYSES):
        analysis = analyses()[name]
        for each in analysis.columns:
            # A running share depends on the order of the rows; days of a forecast are the same in all rows.
            if each.unit == "text" or each.name == "running_share" or (analysis.is_forecast and each.unit == "date"):
                continue
            bare = analysis.short[0] if each.name == "total" and analysis.short else each.name
            is_one = each == SHARED[bare] if bare in SHARED else declared[bare] == 1
            is_main = bare != each.name or (not bucket_measure(bare) and is_one)
            column = columns.setdefault((bare, each), bare if is_main else qualified_name(name, bare))
            found[f"{name}.{each.name}"] = figure = Figure(column, analysis, each)
            if is_main:
                found.setdefault(bare, figure)
    return found


def find_figures(names: Iterable[str]) -> list[Figure]:
    """Look up several figures; one that is named twice is returned once."""
    found = {figure.column: figure for figure in map(find_figure, names)}
    if not found:
        raise ParameterError(
            "figures needs the names of figures, such as figures('client_hours', 'billed_amount', by='user'). "
            "bf.explain('figures') lists them."
        )
    return list(found.values())


def find_figure(name: str) -> Figure:
    """
    Look up a figure by its bare, qualified or short name.

    Examples
    --------
    >>> find_figure("billed_amount").analysis.name, find_figure("contribution.billed_amount").column
    ('realization', 'contribution_billed_amount')
    >>> find_figure("receivables").column
    'receivable_amount'
    """
    if not isinstance(name, str):
        raise ParameterError(
            f"{as_given('figure', name)} is not the name of a figure; write names, such as 'billed_amount'."
        )
    known, text = figure_names(), name
    words = {each.name: (*each.short, each.name) for each in analyses().values() if each.short}
    short = {word: names[0] for names in words.values() for word in names}
    columns = {each.column: key for key, each in reversed(known.items())}
    for key in (text, short.get(text, ""), columns.get(text, "")):
        if key in known:
            return known[key]
    if several := same_name(text):
        alike = sorted((key for key in known if "." not in key and text in key.split("_")), key=len)
        several = {key: known[key] for key in alike[:_FEW] if len(several) == 1} | several
        choices = "; ".join(f"{key!r} ({_meaning(each)})" for key, each in several.items())
        raise ParameterError(f"{text!r} does not say which figure is meant. Write one of: {choices}.")
    stem, _, last = text.rpartition(".")
    own = next((each for each in analyses() if stem in ("", each) and last in analyses()[each].measure_names), "")
    own = own or (text if text in analyses() else "")
    if text in _ANALYSES:
        first = list(dict.fromkeys(repr(each.column) for each in known.values() if each.analysis.name == text))[:6]
        raise ParameterError(f"{text!r} is an analysis. Write the names of its figures, such as {', '.join(first)}.")
    if own:
        raise ParameterError(f"{text!r} can't stand beside other figures; call book.{own}(…).")
    meant = term(text)
    named = next((each for each in (*titled(text), *(meant.names if meant else ())) if each in known), "")
    hint = f" Did you mean {named!r}?" if named else closest(text, [*short, *known], many=True)
    raise ParameterError(f"There is no figure {text!r}.{hint} bf.explain('figures') lists all of them.")


def _meaning(figure: Figure) -> str:
    found = measure(figure.column)
    return found.meaning.rstrip(".") if found else ""


def figure_columns(columns: Iterable[Any], spans: Iterable[str] = ()) -> dict[str, Measure]:
    """
    Return the measures of those columns of a result that are figures, also those of an earlier period and changes.

    `spans` are the columns of labelled spans of days.
    """
    ends = ("", "_previous", "_year_ago", "_since_previous", "_since_year_ago")
    figures = {each.column for each in figure_names().values()}
    known = {f"{each}{end}" for each in figures for end in ends}
    found = {name: measure(name) or _of_span(name, figures) for name in columns if name in known.union(spans)}
    return {name: each for name, each in found.items() if each}


def _of_span(name: str, figures: Iterable[str]) -> Measure | None:
    """Return the measure of a figure's column of one span; its title ends with the label."""
    stem = max((each for each in figures if name.startswith(f"{each}_")), key=len, default="")
    found, label = measure(stem), name.removeprefix(f"{stem}_").replace("_", " ")
    return found and replace(found, name=name, title=f"{found.title}, {label}", ratios=(), parts=None, formula="")


def read_figures(result: Any, shown: str) -> tuple[ResultRows, dict[str, Measure]]:
    """Read a result of `figures` for a chart or a table, and return the measures of its figures."""
    frame = wrap_frame(result, "result", f"the {shown} takes a frame, the result of billframes.figures()")
    found = figure_columns(column_names(frame), attached(result, FIGURES) or ())
    return read_result(result, [*found] or ["billed_amount"], "figures", shown), found


def name_to_write(column: str) -> str:
    """Return the name by which a figure is asked for: its column, or qualified as in "contribution.billed_amount"."""
    return (
        column if column in figure_names() else next(k for k, each in figure_names().items() if each.column == column)
    )


def titled(title: str) -> list[str]:
    """Return the figures with a title, each by the name to write."""
    columns = (each.column for each in figure_names().values() if each.measure.title.lower() == title.lower())
    return [name_to_write(each) for each in dict.fromkeys(columns)]


def same_name(name: str) -> dict[str, Figure]:
    """Return the different figures of several analyses with a bare name, each by the name to write."""
    several: dict[str, Figure] = {}
    for key, each in figure_names().items():
        if key.endswith(f".{name}"):
            several.setdefault(name_to_write(each.column), each)
    return several
