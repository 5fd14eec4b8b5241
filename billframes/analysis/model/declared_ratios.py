"""Calculate ratios from their declarations (`metrics.ratio_measure`), in rows as `result_rows` does it in totals."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.declare.lookup import measure
from billframes.analysis.frames.expressions import ratio

__all__ = ["pair_of", "with_ratios"]


def with_ratios(frame: Frame, columns: Sequence[str]) -> Frame:
    """
    Add the ratios among these columns that a frame lacks; missing if the denominator is 0 or missing.

    Other columns that it lacks are not added.
    """
    there = set(column_names(frame))
    pairs = {name: pair for name in columns if name not in there and (pair := pair_of(name, there))}
    return frame.with_columns(**{name: ratio(*pair) for name, pair in pairs.items()}) if pairs else frame


def pair_of(name: str, there: Collection[str]) -> tuple[str, str] | None:
    """Return the numerator and denominator of a ratio, of the declared ones the first that is there; else None."""
    found = measure(name)
    pairs = (*found.ratios, *([found.parts] if found.parts else [])) if found else ()
    return next((pair for pair in pairs if set(pair) <= set(there)), None)
