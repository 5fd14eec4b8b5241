"""Client balances in the buckets of `aging`, from either of the two field sets of the API.

Set A has a figure for each bucket. Set B has a figure for each number of days: the balance that is overdue for more
days. So a bucket is the difference of two figures.
"""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from billframes._shared.names import first_few, snake_case
from billframes._shared.notes import Rule, note
from billframes.schema.records import BALANCE_SETS

_BUCKETS = ("current", "1-30", "31-60", "61-90", "91+")
_SET_A, _CUMULATIVE = (tuple(map(snake_case, BALANCE_SETS[each])) for each in ("A", "B"))
# Adding floats leaves differences of this size between equal amounts.
_TOLERANCE = 1e-6


def bucketed(balances: pa.Table) -> pa.Table:
    """
    Return the columns of `aging` for a table with the columns of both sets.

    If a row has both sets complete, set A counts. If figures of set B rise from one number of days to the next, they
    are not cumulative (or include credits), so the buckets are missing, with a warning that names the clients.

    Examples
    --------
    Of 100 owed, 70 are overdue: 30 of them for more than 30 days and 10 for more than 90.

    >>> figures = {"balance": 100.0, "overdue": 70.0, "overdue30": 30.0, "overdue60": 10.0, "overdue90": 10.0}
    >>> absent = dict.fromkeys(("current", "overdue0_to30", "overdue30_to60", "overdue60_to90", "overdue_over90"))
    >>> schema = pa.schema({"client_id": pa.string()} | dict.fromkeys(figures | absent, pa.float64()))
    >>> row, = bucketed(pa.Table.from_pylist([{"client_id": "c1"} | figures | absent], schema)).to_pylist()
    >>> row["current"], row["1-30"], row["31-60"], row["61-90"], row["91+"], row["total"]
    (30.0, 40.0, 20.0, 0.0, 10.0, 100.0)
    """
    cumulative = [balances[name] for name in _CUMULATIVE]
    differences = [pc.subtract(one, other) for one, other in pairwise(cumulative)]
    falls = _all([pc.greater_equal(each, -_TOLERANCE) for each in differences])
    has_a = _all([pc.is_valid(balances[name]) for name in _SET_A])
    rising = balances["client_id"].filter(pc.and_not(pc.invert(pc.fill_null(falls, True)), has_a)).to_pylist()
    note(_RISING, len(rising), "client_balances", few=first_few(rising, most=10) if rising else "")
    figures = {"current": "current"} | dict(zip(_BUCKETS[1:], (name for name in _SET_A if "_" in name), strict=True))
    columns = {
        bucket: pc.if_else(has_a, balances[figures[bucket]], pc.if_else(pc.fill_null(falls, False), of_b, None))
        for bucket, of_b in zip(_BUCKETS, [*differences, cumulative[-1]], strict=True)
    }
    columns |= {"total": balances["balance"], "overdue": balances["overdue"]}
    columns["weighted_days_overdue"] = pa.nulls(len(balances), pa.float64())
    return pa.table({"client_id": balances["client_id"]} | columns)


def _all(conditions: list[pa.ChunkedArray]) -> pa.ChunkedArray:
    result = conditions[0]
    for each in conditions[1:]:
        result = pc.and_kleene(result, each)
    return result


_RISING = Rule(
    name="rising_buckets",
    seen="{subject}: the figures of {n} {n:client|clients} rise from one number of days to the next, so {n:its|their} "
    "buckets are missing: {few}. Total and overdue are as sent.",
    remedy="aging() calculates the buckets from invoices.",
    page="Receivables by invoice have the right buckets.",
    unit="clients",
)
