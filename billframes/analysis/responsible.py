"""Find who is responsible for matters, and for the invoices that have items on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa

from billframes.analysis.column_types import ITEMS, Frame
from billframes.analysis.engine import from_arrow, join_by_id, to_dicts
from billframes.analysis.frames import select_columns

__all__ = ["responsible_of_invoices", "responsible_of_matters"]


def responsible_of_matters(matters: Frame) -> dict[str, dict[str, Any]]:
    """Return `responsible_id` and `responsible_name` by the matter's id."""
    rows = to_dicts(select_columns(matters, "matters", ("matter_id", "responsible_id", "responsible_name")))
    return {row.pop("matter_id"): row for row in rows}


def responsible_of_invoices(
    invoices: Mapping[str, str | None], frames: Mapping[str, Frame]
) -> dict[str, dict[str, Any]]:
    """
    Name who is responsible for invoices: for the matters that they have items on.

    Parameters
    ----------
    invoices : mapping of str to str or None
        Ids of invoices, with the id of the matter that each names itself.
    frames : mapping of str to Frame
        `matters` and those of the items that were passed.

    Returns
    -------
    dict of str to dict
        `responsible_id` and `responsible_name` by the invoice's id. Several people are all named, without an id.
    """
    if "matters" not in frames or not invoices:
        return {}
    people = responsible_of_matters(frames["matters"])
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for invoice, matter in _pairs(invoices, frames):
        person = people.get(matter or "")
        if person is not None and person["responsible_id"] is not None:
            found[invoice][person["responsible_id"]] = person["responsible_name"] or person["responsible_id"]
    return {
        invoice: {
            "responsible_id": next(iter(names)) if len(names) == 1 else None,
            "responsible_name": ", ".join(sorted(names.values())),
        }
        for invoice, names in found.items()
    }


def _pairs(invoices: Mapping[str, str | None], frames: Mapping[str, Frame]) -> Iterable[tuple[str, Any]]:
    """List each invoice with each matter that it has items on."""
    yield from invoices.items()
    for name in ITEMS:
        if name in frames:
            items = select_columns(frames[name], name, ("invoice_id", "matter_id"))
            wanted = from_arrow(items, pa.table({"invoice_id": pa.array(list(invoices), pa.string())}))
            on_these = join_by_id(items, wanted, "invoice_id", "inner")
            for row in to_dicts(on_these.group_by("invoice_id", "matter_id").agg(_rows=nw.len())):
                yield row["invoice_id"], row["matter_id"]
