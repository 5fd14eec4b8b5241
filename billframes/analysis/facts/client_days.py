"""The days on which the firm worked for each client, invoiced it, or opened a matter of it."""

from __future__ import annotations

from collections.abc import Iterable

import narwhals.stable.v2 as nw

from billframes.analysis.data.call import Reader
from billframes.analysis.data.engine import stack
from billframes.analysis.data.expressions import C
from billframes.analysis.declare.columns import DATE_OF, Frame

_FRAMES = ("time_entries", "matters", "invoices")


def client_days(of: Reader, *, own: Iterable[str] = ()) -> Frame:
    """Return the different days of each client: `client_id`, `day`, and whether `is_work`; a day can be missing."""
    parts = []
    for name in _FRAMES:
        rows = of.select(name, ("client_id", DATE_OF[name])).filter(~C("client_id").is_null())
        days = rows.select(C("client_id").cast(nw.String), day=C(DATE_OF[name])).unique()
        parts.append(days.with_columns(is_work=nw.lit(name == "time_entries")))
    return stack(parts)
