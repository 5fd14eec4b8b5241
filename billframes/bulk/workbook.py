"""Read an Excel workbook that `billframes export` wrote and people edited.

Columns are found by their headings, so they can be hidden or in another order, and there can be rows above the
headings. The column of ids shows which resource a sheet has. The apostrophe is removed that marks a text which would
otherwise run as a formula. A cell with an error, or with a formula whose result is not in the file, is not read as
empty. It becomes a cell that can't be sent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pandas as pd

from billframes._shared.limits import WORKBOOK_BYTES, WORKBOOK_CELLS, checked_limit
from billframes._shared.workbook_archive import DamagedWorkbookError
from billframes._shared.workbook_sheets import ReadSheet, Workbook
from billframes.bulk.columns import columns_of
from billframes.errors import BillframesError, ParameterError
from billframes.schema.resources import CLIENTS, EXPENSES, FIXED_FEES, MATTERS, TIME_ENTRIES, Resource

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
            read = ((name, book.read(part, _has_ids, _FIRST_ROWS)) for name, part in book.sheets)
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
