"""Convert client balances, which the API sends in one of two field sets, to the columns of `aging`.

Set A has a figure for each bucket. Set B has a figure for each number of days: the balance that is overdue for more
days. So a bucket is the difference of two figures.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, cast

import narwhals.stable.v2 as nw
from narwhals.stable.v2.typing import IntoFrameT

from billframes._messages import warn
from billframes._names import first_few
from billframes.analysis.column_types import Frame, column_names
from billframes.analysis.engine import collect
from billframes.analysis.expressions import null_column
from billframes.analysis.frames import from_native, select_columns, to_native
from billframes.analysis.metrics import bucket_measures, shared_measures
from billframes.analysis.spec import Analysis, FromBook
from billframes.errors import IncompleteDataWarning, MissingColumnError, ParameterError

__all__ = ["ANALYSIS", "normalize_balances"]


C = nw.col

_SET_A = ("current", "overdue0_to30", "overdue30_to60", "overdue60_to90", "overdue_over90")
_SET_B = ("overdue30", "overdue60", "overdue90")
_BUCKETS = ("current", "1-30", "31-60", "61-90", "91+")
# Adding floats leaves differences of this size between equal amounts.
_TOLERANCE = 1e-6


def normalize_balances(client_balances: IntoFrameT) -> IntoFrameT:
    """
    Client balances with the columns of `aging`, from either field set of the API's balances.

    The buckets of set A are used as they are. The figures of set B are cumulative ("more than N days overdue"), so
    its buckets are the differences between balance and overdue, overdue and more than 30 days, and so on. If a figure
    is larger than the one before, the figures are not cumulative (or include credits), and the buckets are missing.
    If a row has both sets complete, set A counts.

    Parameters
    ----------
    client_balances : frame
        From the loader `client_balances()`: `client_id`, `balance`, `overdue` and the columns of set A (`current`,
        `overdue0_to30`, `overdue30_to60`, `overdue60_to90`, `overdue_over90`), of set B (`overdue30`, `overdue60`,
        `overdue90`), or of both. A set that the server does not send is missing.

    Returns
    -------
    frame
        Of the same kind as the input, with the same rows in the same order: `client_id`, `client_name` if the input has
        it and, as float64 money, `current`, `1-30`, `31-60`, `61-90`, `91+`, `total` and `overdue`. The column
        `weighted_days_overdue` is always missing, because it can't be calculated from balances.

    Raises
    ------
    MissingColumnError
        The frame has the columns of neither set.
    ParameterError
        A row has neither set complete. The message names the clients.

    Warns
    -----
    IncompleteDataWarning
        Figures of set B rise from one number of days to the next. The warning names the clients.

    Notes
    -----
    On lazy frames this runs a small query. The result stays lazy.

    Examples
    --------
    Of 100 owed, 70 are overdue: 30 of them for more than 30 days and 10 for more than 90.

    >>> import pandas as pd
    >>> balances = pd.DataFrame({
    ...     "client_id": ["c1"], "balance": [100.0], "overdue": [70.0], "overdue30": [30.0], "overdue60": [10.0],
    ...     "overdue90": [10.0],
    ... })
    >>> normalize_balances(balances)[["current", "1-30", "31-60", "61-90", "91+", "total"]]
       current  1-30  31-60  61-90   91+  total
    0     30.0  40.0   20.0    0.0  10.0  100.0
    """
    rows = _figures(from_native(client_balances=client_balances)["client_balances"])
    cumulative = ("balance", "overdue", *_SET_B)
    rows = rows.with_columns(
        _has_a=_all_known("balance", "overdue", *_SET_A),
        _has_b=_all_known(*cumulative),
        _falls=_never_rises(*cumulative),
    )
    _check(rows)
    differences = [*(C(one) - C(next_) for one, next_ in pairwise(cumulative)), C("overdue90")]
    usable = (C("_has_b") > 0) & (C("_falls") > 0)
    buckets = {
        name: nw.when(C("_has_a") > 0).then(C(bucket)).otherwise(nw.when(usable).then(difference))
        for name, bucket, difference in zip(_BUCKETS, _SET_A, differences, strict=True)
    }
    rows = rows.with_columns(**buckets, total=C("balance"), weighted_days_overdue=null_column(nw.Float64))
    there = column_names(rows)
    keys = [name for name in ("client_id", "client_name") if name in there]
    return to_native(rows.select(*keys, *ANALYSIS.measure_names), client_balances)


def _figures(balances: Frame) -> Frame:
    """Select the figures of both sets; a set with an absent column is missing."""
    columns = column_names(balances)
    complete = [figures for figures in (_SET_A, _SET_B) if set(figures) <= set(columns)]
    if not complete:
        raise MissingColumnError(
            f"client_balances needs all columns of one set: {', '.join(_SET_A)}; or {', '.join(_SET_B)}. "
            f"It has {', '.join(columns) or 'none'}. The loader client_balances() supplies them."
        )
    there = [name for figures in complete for name in figures]
    rows = select_columns(balances, "client_balances", ("client_id", "balance", "overdue", *there), ("client_name",))
    absent = [null_column(nw.Float64).alias(name) for name in (*_SET_A, *_SET_B) if name not in there]
    return rows.with_columns(*[C(name).cast(nw.Float64) for name in ("balance", "overdue", *there)], *absent)


def _all_known(*figures: str) -> nw.Expr:
    """Return 1.0 if no figure is missing, else 0.0."""
    known: Any = nw.lit(1.0)
    for name in figures:
        known = nw.when(C(name).is_null()).then(nw.lit(0.0)).otherwise(known)
    return cast("nw.Expr", known)


def _never_rises(*figures: str) -> nw.Expr:
    """Return 1.0 if no figure is larger than the one before it, else 0.0."""
    falls: Any = nw.lit(1.0)
    for one, next_ in pairwise(figures):
        falls = nw.when(C(next_) > C(one) + _TOLERANCE).then(nw.lit(0.0)).otherwise(falls)
    return cast("nw.Expr", falls)


def _check(rows: Frame) -> None:
    """Raise if a row has neither set complete, and warn if the figures of set B rise."""
    unusable = rows.filter((C("_has_a") < 1) & ((C("_has_b") < 1) | (C("_falls") < 1))).select("client_id", "_has_b")
    found = cast("nw.DataFrame[Any]", collect(unusable))
    clients = list(zip(found["client_id"].to_list(), found["_has_b"].to_list(), strict=True))
    incomplete = [str(client) for client, has_b in clients if has_b < 1]
    rising = [str(client) for client, has_b in clients if has_b > 0]
    if incomplete:
        raise ParameterError(
            f"client_balances has neither set of figures complete for {len(incomplete)} clients: "
            f"{first_few(incomplete, most=10)}. Load them again with client_balances(), or leave these rows out."
        )
    if rising:
        warn(
            f"client_balances: the figures of {len(rising)} clients rise from one number of days to the next, so their "
            f"buckets are missing: {first_few(rising, most=10)}. Their total and overdue are as sent. aging() "
            "calculates the buckets from invoices.",
            IncompleteDataWarning,
        )


ANALYSIS = Analysis(
    name="normalize_balances",
    question="What does each client owe, and for how long, as the server adds it up?",
    summary=(
        "It converts the two sets of balance fields that servers send to the columns of `aging`. Figures that "
        "contradict each other are reported in a warning and not converted."
    ),
    example=(
        "Of 100 owed, 70 is overdue: 30 for more than 30 days and 10 for more than 90. So 30 is current, 40 "
        "is in `1-30`, 20 in `31-60` and 10 in `91+`."
    ),
    formula="set A: the figures as sent; set B: the difference between one number of days and the next",
    left_out=(
        "The buckets of clients whose figures of set B rise: they are missing, and a warning names the clients.",
    ),
    cannot_tell=(
        "Weighted days overdue: only sums are sent, not invoices.",
        "The day on which the server counted the days.",
    ),
    columns=(
        *shared_measures("current"),
        *bucket_measures("1-30", "31-60", "61-90", "91+"),
        *shared_measures("total", "overdue", "weighted_days_overdue"),
    ),
    book=FromBook(note="The balances are loaded on first use, with one request per client."),
)
