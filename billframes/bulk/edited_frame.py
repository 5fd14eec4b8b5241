"""Read an edited frame of any engine: its columns, its rows, which rows are new, and how it was loaded.

A frame that can't be planned at all is refused here, before any request: one without the column of ids, with an id
twice, or of another resource.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
from narwhals.exceptions import DuplicateError

from billframes._shared.export import is_cut
from billframes._shared.format import label_of
from billframes._shared.names import closest, first_few
from billframes._shared.workbook_sheets import Percentage
from billframes.bulk.cells import UnreadableCellError, read_cell
from billframes.bulk.columns import EditColumn
from billframes.errors import ParameterError
from billframes.loading.ids import identifier, path_segment
from billframes.loading.load_info import attached, load_info
from billframes.schema.resources import CLIENTS, EXPENSES, FIXED_FEES, INVOICES, MATTERS, TIME_ENTRIES, Resource

# The texts that `astype(str)` makes of missing values.
_MISSING_AS_TEXT = frozenset({"nan", "NaN", "NaT", "<NA>", "None"})
# In some countries, a point before three digits separates thousands.
_AMBIGUOUS = re.compile(r"[+-]?[1-9][0-9]{0,2}[.][0-9]{3}")
# Ids named in a message.
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class UnreadableCell:
    """A cell that can't be read: the text that it shows, and the problem with the expected value."""

    shown: str
    expected: str


@dataclass(frozen=True, slots=True)
class EditedRow:
    """A row of the edited frame: its position from 0, its id (None for a new record), and its cells by column."""

    place: int
    id: str | None
    cells: Mapping[str, Any]


class EditedRows:
    """The rows of an edited frame."""

    def __init__(
        self, edited: Any, frame: nw.DataFrame[Any], resource: Resource, columns: Mapping[str, EditColumn]
    ) -> None:
        self._frame, self._columns = frame, columns
        self.info = load_info(edited)
        self.known_columns = [name for name in frame.columns if name in columns]
        self.unknown_columns = [name for name in frame.columns if name not in columns]
        # None for new rows.
        self.ids = [_id_of(value, resource) for value in frame[resource.id_column].to_list()]
        _check_unique(filter(None, self.ids), resource)
        self._compared = [name for name in self.known_columns if name != resource.id_column]
        self._values: dict[str, list[Any]] = {}

    def values(self, column: str) -> list[Any]:
        """Return a column's cells; nothing if the frame lacks the column."""
        if column not in self._frame.columns:
            return []
        if column not in self._values:
            self._values[column] = [_cell(self._columns[column], each) for each in self._frame[column].to_list()]
        return self._values[column]

    def is_empty(self, column: str) -> bool:
        """Tell whether a column has no value in the rows of existing records."""
        return all(value is None for id_, value in zip(self.ids, self.values(column), strict=True) if id_ is not None)

    def __iter__(self) -> Iterator[EditedRow]:
        cells = [self.values(name) for name in self._compared]
        for place, id_ in enumerate(self.ids):
            yield EditedRow(place, id_, {name: each[place] for name, each in zip(self._compared, cells, strict=True)})


def read_edited(edited: Any, resource: Resource, columns: Mapping[str, EditColumn]) -> EditedRows:
    """Check an edited frame, and return its rows."""
    try:
        frame = nw.from_native(edited, eager_only=True)
    except DuplicateError as error:
        raise ParameterError(f"The frame has a column more than once; rename or drop one. {error}") from None
    except TypeError:
        raise ParameterError(
            f"{resource.name}.plan takes a frame of pandas, Polars or Arrow, not {type(edited).__name__}."
        ) from None
    _check_resource([str(name) for name in frame.columns], edited, resource, columns)
    return EditedRows(edited, frame, resource, columns)


def checked_ids(ids: Any, resource: Resource) -> list[str]:
    """Return the ids passed as `delete=`; raise `ParameterError` if one is invalid or there twice."""
    ids_list = [ids] if isinstance(ids, str) or not hasattr(ids, "__iter__") else list(ids)
    given = [identifier(each, "delete", resource.id_column) for each in ids_list]
    for each in given:
        path_segment(each, "delete")
    _check_unique(given, resource)
    return given


def _check_resource(names: Sequence[str], edited: Any, resource: Resource, columns: Collection[str]) -> None:
    load = attached(edited, "load")
    loaded = load.get("resource") if isinstance(load, Mapping) else None
    if loaded is not None and loaded != resource.name:
        raise ParameterError(
            f"This frame was loaded as {loaded}, so {resource.name}.plan can't take it; use {loaded}.plan."
        )
    id_ = resource.id_column
    other = next((name for name in _IDS if name in names and name not in columns), None)
    if other is not None:
        raise ParameterError(
            f"The frame has the column {other!r}, so its rows are {_IDS[other].replace('_', ' ')}, not "
            f"{resource.nouns}. Use bf.{_IDS[other]}, or drop the column if it is your own."
        )
    if id_ not in names:
        if id_ in getattr(getattr(edited, "index", None), "names", ()):
            raise ParameterError(f"{id_} is the frame's index, and has to be a column: use edited.reset_index().")
        if label_of(id_) in names:
            raise ParameterError(
                f"The frame has the title {label_of(id_)!r} in place of {id_!r}. Write the file with "
                "bf.export(frame, path, names=True), and edit that."
            )
        # The names of other records' ids look similar, but must not be suggested.
        hint = closest(id_, [name for name in names if name not in _IDS])
        raise ParameterError(
            f"The frame has no column {id_!r}, so it does not say which {resource.nouns} to change."
            f"{hint} Add it; it is empty in rows that are to be created."
        )


_IDS = {each.id_column: each.name for each in (TIME_ENTRIES, EXPENSES, FIXED_FEES, INVOICES, MATTERS, CLIENTS)}


def _cell(column: EditColumn, value: Any) -> Any:
    try:
        _check_unambiguous(column, value)
        return read_cell(column, value)
    except UnreadableCellError as error:
        return UnreadableCell(str(value), str(error))


def _check_unambiguous(column: EditColumn, value: Any) -> None:
    """
    Raise `UnreadableCellError` if a cell probably means something else than it would be read as.

    These are a percentage as hours or money, a text such as "1.250" that is another number in other countries, a text
    such as "nan", and a text that was cut to fit an Excel cell.
    """
    if column.kind == "text" and isinstance(value, str) and value in _MISSING_AS_TEXT:
        raise UnreadableCellError("is how Python writes a missing value; leave the cell empty, or give another text")
    if column.kind == "text" and is_cut(value):
        raise UnreadableCellError("is the beginning of a text that Excel can't hold; edit it in pandas, as a whole")
    if column.kind in {"money", "hours", "rate"}:
        if isinstance(value, Percentage):
            raise UnreadableCellError("is a percentage; give the number itself")
        if isinstance(value, str) and _AMBIGUOUS.fullmatch(value.strip()):
            plain = value.strip().replace(".", "")
            raise UnreadableCellError(f"is {plain} in some countries and {float(value):g} in others; give a number")


def _id_of(value: Any, resource: Resource) -> str | None:
    text = read_cell(EditColumn("id", "id"), value)
    if text is None or not text:
        return None
    name = resource.id_column
    path_segment(identifier(text, name), name)
    return str(text)


def _check_unique(ids: Iterable[str], resource: Resource) -> None:
    uses = Counter(each.casefold() for each in ids)
    twice = [each for each, number in uses.items() if number > 1]
    if twice:
        raise ParameterError(
            f"{resource.id_column} {first_few(twice, _MOST_NAMED)} is in more than one row, so the intended values are "
            "unclear. Keep one row for each id."
        )
