"""Find the lawyers responsible for matters, and for invoices with items of these matters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import narwhals.stable.v2 as nw

from billframes.analysis.data.call import Reader
from billframes.analysis.data.engine import ids_frame, join_by_id, to_dicts
from billframes.analysis.declare.columns import ITEMS


def responsible_of_matters(of: Reader) -> dict[str, dict[str, Any]]:
    """Return `responsible_id` and `responsible_name`, by the matter's id."""
    rows = to_dicts(of.select("matters", ("matter_id", "responsible_id", "responsible_name")))
    return {row.pop("matter_id"): row for row in rows}


def responsible_of_invoices(invoices: Mapping[str, str | None], of: Reader) -> dict[str, dict[str, Any]]:
    """
    Return `responsible_id` and `responsible_name` of invoices, by id: those of the matters that they bill.

    `invoices` has the ids with the `matter_id` of each. If several lawyers are responsible, all are named and the id is
    None.
    """
    if "matters" not in of or not invoices:
        return {}
    people = responsible_of_matters(of)
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for invoice, matter in _matters_of(invoices, of):
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


def _matters_of(invoices: Mapping[str, str | None], of: Reader) -> Iterable[tuple[str, Any]]:
    yield from invoices.items()
    for name in ITEMS:
        if name in of:
            items = of.select(name, ("invoice_id", "matter_id"))
            on_invoices = join_by_id(items, ids_frame(items, "invoice_id", invoices), "invoice_id", "inner")
            for row in to_dicts(on_invoices.group_by("invoice_id", "matter_id").agg(_rows=nw.len())):
                yield row["invoice_id"], row["matter_id"]
