"""Items as they were loaded: time entries, expenses or fixed fees, by their own dates, whatever invoice they are on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import narwhals.stable.v2 as nw

from billframes.analysis.data.call import Reader
from billframes.analysis.data.expressions import columns_or_null
from billframes.analysis.declare.columns import Frame
from billframes.analysis.facts.work import with_matter_type


def items(of: Reader, *, own: Iterable[str] = (), frame: str = "time_entries") -> Frame:
    """
    Return the `date` of each item, and the columns in `own`, which are missing if the items lack them.

    `matter_type` is the type of the item's own, or else of its matter; "Unknown" if it is missing.
    """
    own = tuple(own)
    typed = "matter_type" in own
    names = tuple(dict.fromkeys((*own, "matter_id"))) if typed else own
    rows = of.select(frame, ("date",), names)
    rows = rows.select("date", *columns_or_null(rows, names, defaultdict(nw.String)))
    return with_matter_type(rows, of).select("date", *own) if typed else rows
