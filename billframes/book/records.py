"""Add dates, numbers, names and texts to the rows behind a figure, from a book's frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from billframes.analysis.declare.columns import IDS, ITEMS
from billframes.analysis.declare.lookup import analyses
from billframes.analysis.declare.metrics import Measure
from billframes.book.methods import call_analysis

_OF_INVOICE = ("invoice_number", "invoice_date", "due_date", "invoice_state", "client_name")
_AMOUNTS = ("hours", "balance", "amount")
_NAMES = ("user_name", "client_name", "matter_name")
_TEXTS = (*_NAMES, *_AMOUNTS, "billing_type", "invoice_state", "due_date", "invoice_number", "invoice_date")
_OF_ITEM = ("kind", "date", *(IDS[name] for name in ITEMS), "matter_id", "user_id")
DETAILS = (*_TEXTS, "description")


def with_details(rows: pd.DataFrame, frame_of: Callable[[str], pd.DataFrame], parts: Sequence[str]) -> pd.DataFrame:
    """
    Add the details of the items and invoices that rows are of. The columns with the `parts` in figures stay.

    `frame_of` returns the frame of a book with a name.
    """
    rows, is_item = rows.copy(), pd.Series(data=False, index=rows.index)
    for name in (*ITEMS, "invoices"):
        if not _says(id_ := IDS[name], rows):
            continue
        frame = frame_of(name)
        own = [each for each in DETAILS if each in frame and each not in parts]
        found = frame.drop_duplicates(id_).set_index(id_)[own].reindex(rows[id_]).set_axis(rows.index)
        for each in own:
            # An invoice's amount is not that of one of its items.
            column = found[each] if name in ITEMS or each in _OF_INVOICE else found[each].mask(is_item)
            rows[each] = rows[each].astype(object).where(rows[each].notna(), column) if each in rows else column
        is_item |= rows[id_].notna() if name in ITEMS else False
    return rows.infer_objects()


def draft_items(book: Any) -> pd.DataFrame:
    """Return the items on a book's bills that are not final. Codes are checked for e-billing only."""
    return call_analysis(analyses()["prebill_review"], book, {"codes": None, "code_sets": None})


def bills_of(items: pd.DataFrame) -> pd.DataFrame:
    """Return the bills of draft items, each with its largest item, whose lawyer sends the bill."""
    return items.sort_values("item_amount", ascending=False, kind="stable").drop_duplicates("invoice_id")


def by_invoice(rows: pd.DataFrame, parts: Sequence[str]) -> pd.DataFrame:
    """Add up the items of each invoice; an unknown part makes the sum missing."""
    ids = [name for name in rows if name not in {*parts, *_OF_ITEM}]
    groups = rows.assign(**{name: rows[name].isna() for name in parts}).groupby(ids, dropna=False, sort=False)
    sums = rows.groupby(ids, dropna=False, sort=False)[[*parts]].sum()
    return sums.mask(groups[[*parts]].any()).reset_index().assign(kind="invoice")


def shown_columns(rows: pd.DataFrame, parts: Sequence[Measure]) -> list[str]:
    """Return the columns of rows with details that tell a reader something, the most important first."""
    names = [each.name for each in parts]
    first = ["date"] if _says("date", rows) else ["invoice_date", "invoice_number"]
    same = {name for name in ("kind", "billing_type", "invoice_state") if name in rows and len({*rows[name]}) < 2}
    columns = [name for name in dict.fromkeys((*first, "kind", *names, *DETAILS)) if name not in same]
    columns = [name for name in columns if name in names or _says(name, rows)]
    if all(each.unit == "hours" for each in parts):
        return [name for name in columns if name not in {*_AMOUNTS, *_OF_INVOICE} - {*_NAMES}]
    if {*rows["kind"]} <= {"invoice"}:
        return columns
    repeated = {name for name in _AMOUNTS if name in columns and any(_equals(rows, name, part) for part in names)}
    return [name for name in columns if name not in {*repeated, "due_date"}]


def _says(name: str, rows: pd.DataFrame) -> bool:
    return name in rows and (rows.empty or bool(rows[name].notna().any()))


def _equals(rows: pd.DataFrame, name: str, part: str) -> bool:
    return name != part and np.allclose(rows[name].astype(float), rows[part].astype(float), equal_nan=True)
