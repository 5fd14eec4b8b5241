"""Read an edited frame of any engine: its columns, its rows, which rows are new, and how it was loaded.

A frame that can't be planned at all is refused here, before any request: one without the column of ids, with an id
twice, or of another resource.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import pandas as pd
from narwhals.exceptions import DuplicateError

from billframes._shared.export import is_cut
from billframes._shared.format import label_of
from billframes._shared.limits import WORKBOOK_BYTES, WORKBOOK_CELLS, checked_limit
from billframes._shared.names import closest, first_few
from billframes._shared.workbook_archive import DamagedWorkbookError
from billframes._shared.workbook_sheets import Percentage, ReadSheet, Workbook
from billframes.bulk.cells import UnreadableCellError, read_cell
from billframes.bulk.columns import EditColumn, columns_of
from billframes.errors import BillframesError, ParameterError
from billframes.loading.ids import identifier, path_segment
from billframes.loading.load_info import attached, load_info
from billframes.schema.resources import CLIENTS, EXPENSES, FIXED_FEES, INVOICES, MATTERS, TIME_ENTRIES, Resource

# The texts that `astype(str)` makes of missing values.
_MISSING_AS_TEXT = frozenset({"nan", "NaN", "NaT", "<NA>", "None"})
# In some countries, a point before three digits separates thousands.
_AMBIGUOUS = re.compile(r"[+-]?[1-9][0-9]{0,2}[.][0-9]{3}")
# Ids named in a message.
_MOST_NAMED = 3


class UnreadableCell(NamedTuple):
    """A cell that can't be read: the text that it shows, and the problem with the expected value."""

    shown: str
    expected: str


class EditedRow(NamedTuple):
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


# In this order, because records also have the ids of others: the first resource whose id a sheet has is the sheet's.
_RESOURCES = (TIME_ENTRIES, EXPENSES, FIXED_FEES, MATTERS, CLIENTS)
# The row of headings is searched in the first rows.
_FIRST_ROWS = 20


def read_workbook(
    path: Path, *, max_bytes: int = WORKBOOK_BYTES, max_cells: int = WORKBOOK_CELLS
) -> tuple[Resource, pd.DataFrame]:
    """
    Read the sheet that has records; return their resource, by the column of ids, and the cells by heading.

    `attrs["first_row"]` of the frame is the row of the first record in the sheet, `attrs["hidden"]` the positions of
    hidden rows. A file that can't be read with certainty, or is beyond a limit when unpacked, is a `ParameterError`.
    """
    checked_limit("max_bytes", max_bytes), checked_limit("max_cells", max_cells)
    if not path.is_file():
        raise ParameterError(f"There is no file {path}.")
    try:
        with closing(Workbook(path, max_bytes, max_cells)) as book:
            ids = {each.id_column for each in _RESOURCES}
            read = (
                (name, book.read(part, lambda names: bool(ids & {*names}), _FIRST_ROWS)) for name, part in book.sheets
            )
            found = [(name, sheet) for name, sheet in read if sheet is not None]
    except BillframesError:
        raise
    except Exception as error:
        # A damaged file can raise any error of the parser and of the converters of numbers and dates.
        raise ParameterError(
            f"{path.name} can't be read as an Excel workbook: it is damaged, or of another format "
            f"({str(error) if isinstance(error, DamagedWorkbookError) else type(error).__name__})."
        ) from error
    name, sheet = _only_one(found, path.name)
    resource = _checked_resource(name, sheet, path.name)
    lists = zip(sheet.names, sheet.columns, strict=True)
    frame = pd.DataFrame({heading: pd.Series(each, dtype=object) for heading, each in lists})
    first = sheet.heading + 1
    frame.attrs["first_row"] = first
    frame.attrs["hidden"] = [row - first for row in sheet.hidden]
    return resource, frame


def _has_ids(names: Sequence[str]) -> bool:
    return any(each.id_column in names for each in _RESOURCES)


def _only_one(found: Sequence[tuple[str, ReadSheet]], file: str) -> tuple[str, ReadSheet]:
    if not found:
        ids = ", ".join(each.id_column for each in _RESOURCES)
        raise ParameterError(f"{file} has no sheet with records: no sheet has one of the columns {ids}.")
    if len(found) > 1:
        named = ", ".join(repr(name) for name, _ in found)
        raise ParameterError(f"{file} has several sheets with records ({named}); keep one of them.")
    return found[0]


def _checked_resource(name: str, sheet: ReadSheet, file: str) -> Resource:
    """Return the resource of a sheet's records; refuse headings and cells that can't be read with certainty."""
    repeated = [heading for heading, uses in Counter(sheet.names).items() if uses > 1]
    if repeated:
        raise ParameterError(f"{file} has the heading {repeated[0]!r} more than once; rename or delete one column.")
    resource = next(each for each in _RESOURCES if each.id_column in sheet.names)
    # If its own column of ids was deleted, its rows would be read as other records, such as matters.
    headings = set(sheet.names)
    most_similar = max((resource, *_RESOURCES), key=lambda each: len(headings & columns_of(each).keys()))
    if most_similar is not resource:
        raise ParameterError(
            f"The rows of the sheet {name!r} look like {most_similar.nouns}, but it has no column "
            f"{most_similar.id_column!r}. Add it; it is empty in rows that are to be created."
        )
    if sheet.merged:
        raise ParameterError(
            f"The sheet {name!r} has merged cells ({sheet.merged}). Only the first of them has the value, and the "
            "others would be emptied: unmerge them, and fill every cell."
        )
    return resource
