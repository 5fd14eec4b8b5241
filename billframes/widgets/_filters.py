"""Filtering a frame by a state: which rows are let through, and how many each option would let through.

A row is let through when every column's criterion does. Each column's mask is kept until its criterion changes, so a
change costs one mask, a sum, and a count for each column that is looked at.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pandas as pd

from billframes.errors import ParameterError
from billframes.widgets._fields import fields_of, without_attrs
from billframes.widgets._options import Codes, Mask, Options, options_of
from billframes.widgets._state import Criterion, FilterState, Range

__all__ = ["Filters"]


class Filters:
    """
    A frame and what it can be filtered by; knows nothing of widgets.

    Parameters
    ----------
    frame : DataFrame
        pandas; it is never changed, and should not be while it is filtered.
    period : str, optional
        The date column that the period is of.

    Raises
    ------
    ParameterError
        The frame is not pandas, or has two columns of one name.
    MissingColumnError
        `period` is no column of dates.

    Examples
    --------
    >>> frame = pd.DataFrame({"billing_type": pd.Categorical(["billable", "fixedFee", "billable"])})
    >>> filters = Filters(frame)
    >>> state = FilterState({"billing_type": ("billable",)})
    >>> filters.mask(state).tolist()
    [True, False, True]
    """

    def __init__(self, frame: pd.DataFrame, *, period: str | None = None) -> None:
        if not isinstance(frame, pd.DataFrame):
            raise ParameterError(
                f"The filters take a pandas DataFrame, not {type(frame).__module__}.{type(frame).__qualname__}; "
                "pass frame.to_pandas(), or load it without to=."
            )
        if not frame.columns.is_unique:
            raise ParameterError("The frame has two columns of one name; rename one of them.")
        self.data = frame
        self.fields = fields_of(frame, period)
        self._columns = without_attrs(frame)
        self._options = {each.column: options_of(self._columns, each) for each in self.fields if each.kind == "choice"}
        self._masks: dict[str, tuple[Criterion, Mask]] = {}

    @functools.cached_property
    def columns(self) -> tuple[str, ...]:
        """What can be filtered by."""
        return tuple(field.column for field in self.fields)

    def options(self, column: str) -> Options:
        """Return what can be chosen of a column."""
        return self._options[column]

    def mask(self, state: FilterState) -> Mask:
        """Tell which rows are let through."""
        return np.equal(self._refusals(state), 0)

    def frame(self, state: FilterState) -> pd.DataFrame:
        """Return the rows that are let through, with their own index; the frame itself where nothing is filtered."""
        return self.data[self.mask(state)] if state.criteria else self.data

    def counts(self, state: FilterState, column: str) -> Codes:
        """Count for each option of a column the rows that all *other* columns let through."""
        refusals = self._refusals(state)
        if column in state.criteria:
            refusals -= ~self._mask(column, state.criteria[column])
        return self._options[column].counts(refusals == 0)

    def _refusals(self, state: FilterState) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
        """Count for each row the columns that keep it out."""
        refusals = np.zeros(len(self.data), dtype=np.uint8)
        for column, criterion in state.criteria.items():
            refusals += ~self._mask(column, criterion)
        return refusals

    def _mask(self, column: str, criterion: Criterion) -> Mask:
        kept = self._masks.get(column)
        if kept is None or kept[0] != criterion:
            choice = not isinstance(criterion, Range)
            mask = self._options[column].mask(criterion) if choice else _within(self._columns[column], criterion)  # type: ignore[arg-type]
            kept = self._masks[column] = (criterion, mask)
        return kept[1]


def _within(values: pd.Series[Any], span: Range) -> Mask:
    dates = pd.api.types.is_datetime64_any_dtype(values.dtype)
    # The last day counts to its end.
    values = values.dt.normalize() if dates else values
    first, last = (pd.Timestamp(end, tz=values.dt.tz) if dates and end else end for end in (span.first, span.last))
    mask = values.notna()
    if first is not None:
        mask &= values >= first
    if last is not None:
        mask &= values <= last
    mask = mask | values.isna() if span.missing else mask
    return mask.fillna(False).to_numpy(dtype=bool)
