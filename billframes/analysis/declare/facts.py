"""Declare a fact once: rows that several analyses add up, with their amounts, marks and date.

A fact has its own module in `model`, with a class of what the rows are chosen by, such as `BilledWork`, the function
`rows`, and `FACT`. An analysis is then a list of sums over the rows, and of ratios of these sums:

    rows = FACT.rows(frames, BilledWork(grouping=grouping, periods=[period]))
    result = add_up(rows, SUMS, grouping, ANALYSIS.measure_names)

Two analyses have the same figure if they have the same `Sum` over the same fact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from billframes.analysis.declare.columns import Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """
    Rows that analyses add up.

    Parameters
    ----------
    name : str
    row : str
        What one row is, before rows are added up by the keys and marks that an analysis needs.
    frames : tuple of str
        The frames that it can't be read without.
    date : {"work", "invoice", "day"}
        The date by which rows count in a period; "day" for rows that are open on one day.
    amounts : mapping of str to str
        The columns to add up, and what they are.
    marks : mapping of str to str
        The columns that conditions of sums are made of, and what they are. Rows have them if the choice asks for them.
    grouping : callable
        Takes `by`, the frames and the settings, and returns the grouping. It refuses keys that the rows don't have.
    rows : callable
        Takes the frames and what the rows are chosen by, and returns the rows, added up by the columns from which the
        keys are derived (`Grouping.base`) and by the marks. It notes what is wrong with the frames.
    as_loaded : bool
        Whether the amounts are only known for the day of the load.
    """

    name: str
    row: str
    frames: tuple[str, ...]
    date: Literal["work", "invoice", "day"]
    amounts: Mapping[str, str]
    marks: Mapping[str, str]
    grouping: Callable[..., Any]
    rows: Callable[..., Frame]
    as_loaded: bool = False
