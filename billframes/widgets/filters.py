"""Filter a frame by a state, and count the rows of each option.

A row passes if it meets the criteria of all columns. The mask of a column is cached until its criterion changes, so a
change takes one new mask, a sum, and a count for each open control.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pandas as pd

from billframes.analysis.data.native import without_attrs
from billframes.analysis.declare.columns import IDS
from billframes.errors import ParameterError
from billframes.widgets.filter_fields import filter_fields
from billframes.widgets.options import ColumnOptions, Mask, Positions, options_of
from billframes.widgets.state import Criterion, FilterState, Range


class Filters:
    """
    A frame and the columns it can be filtered by.

    The frame is not changed here, and must not be changed elsewhere while it is filtered.
    """

    def __init__(self, frame: pd.DataFrame, *, period: str | None = None) -> None:
        if not isinstance(frame, pd.DataFrame):
            raise ParameterError(
                f"The filters take a pandas DataFrame, not {type(frame).__module__}.{type(frame).__qualname__}; "
                "pass frame.to_pandas(), or load it without to=."
            )
        if not frame.columns.is_unique:
            raise ParameterError("Two columns of the frame have the same name; rename one of them.")
        self.data = frame
        self.fields = filter_fields(frame, period)
        self._columns = without_attrs(frame)
        self._options: dict[str, ColumnOptions] = {}
        self._masks: dict[str, tuple[Criterion, Mask]] = {}

    @functools.cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns to filter by."""
        return tuple(field.column for field in self.fields)

    @functools.cached_property
    def rows(self) -> str:
        """A noun for the rows, from the id in the first column, such as "entries" or "invoices"; otherwise "rows"."""
        loaded = {id_: name for name, id_ in IDS.items()}
        name = loaded.get(str(self.data.columns[0]) if len(self.data.columns) else "", "rows")
        return {"time_entries": "entries", "users": "people"}.get(name, name.replace("_", " "))

    def options(self, column: str) -> ColumnOptions:
        """Return the options of a column, which are found when they are first needed."""
        if column not in self._options:
            field = next(each for each in self.fields if each.column == column)
            self._options[column] = options_of(self._columns, field)
        return self._options[column]

    def mask(self, state: FilterState) -> Mask:
        """Return which rows pass the filters."""
        return np.equal(self._failed_criteria(state), 0)

    def frame(self, state: FilterState) -> pd.DataFrame:
        """Return the rows that pass, with their index; the frame itself if there are no filters."""
        return self.data[self.mask(state)] if state.criteria else self.data

    def counts(self, state: FilterState, column: str) -> Positions:
        """Return for each option of a column the number of rows that pass the filters on all *other* columns."""
        failed = self._failed_criteria(state)
        if column in state.criteria:
            failed -= ~self._mask(column, state.criteria[column])
        return self.options(column).counts(failed == 0)

    def _failed_criteria(self, state: FilterState) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
        """Return for each row the number of criteria that it does not meet."""
        failed = np.zeros(len(self.data), dtype=np.uint8)
        for column, criterion in state.criteria.items():
            failed += ~self._mask(column, criterion)
        return failed

    def _mask(self, column: str, criterion: Criterion) -> Mask:
        cached = self._masks.get(column)
        if cached is None or cached[0] != criterion:
            if isinstance(criterion, Range):
                mask = _in_range(self._columns[column], criterion)
            else:
                mask = self.options(column).mask(criterion)
            cached = self._masks[column] = (criterion, mask)
        return cached[1]


def _in_range(values: pd.Series[Any], span: Range) -> Mask:
    dates = pd.api.types.is_datetime64_any_dtype(values.dtype)
    # Times on the last day are included.
    values = values.dt.normalize() if dates else values
    first, last = (pd.Timestamp(end, tz=values.dt.tz) if dates and end else end for end in (span.first, span.last))
    mask = values.notna()
    if first is not None:
        mask &= values >= first
    if last is not None:
        mask &= values <= last
    mask = mask | values.isna() if span.missing else mask
    return mask.fillna(False).to_numpy(dtype=bool)
