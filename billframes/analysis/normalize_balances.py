"""Client balances in one form: the columns of aging, from either field set of the API's balances.

Set A has a figure for each bucket. Set B has, for each number of days, everything overdue longer than that, so that a
bucket is the difference of two figures.
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
# Figures that are equal to the cent may differ in what adding doubles leaves behind.
_SAME = 1e-6


def normalize_balances(client_balances: IntoFrameT) -> IntoFrameT:
    """
    Client balances as the columns of `aging`, from either field set of the balances endpoint.

    Set A's buckets are taken as they are. Set B is cumulative ("more than N days overdue"): its buckets are the
    differences from balance to overdue, to more than 30 days, and so on. If these figures do not fall from one to
    the next, they are not running totals (or credits are among them) and the buckets are missing. If a row has both
    sets whole, set A counts.

    Parameters
    ----------
    client_balances : frame
        What the loader `client_balances()` gives: `client_id`, `balance`, `overdue` and the columns of set A
        (`current`, `overdue0_to30`, `overdue30_to60`, `overdue60_to90`, `overdue_over90`), of set B (`overdue30`,
        `overdue60`, `overdue90`), or of both; the set that a server does not send is missing in its rows.

    Returns
    -------
    frame
        Of the same kind as the input, a row a row, in their order: `client_id`, `client_name` if it is there and,
        as float64 money, `current`, `1-30`, `31-60`, `61-90`, `91+`, `total`, `overdue`; `weighted_days_overdue`,
        which balances can't tell, is missing.

    Raises
    ------
    MissingColumnError
        The frame has the columns of neither set.
    ParameterError
        A row has neither set complete; names the clients.

    Warns
    -----
    IncompleteDataWarning
        Set B figures that do not fall from one to the next; names the clients.

    Notes
    -----
    On lazy frames this runs a small query; the result stays lazy.

    Examples
    --------
    Of 100 owed, 70 are overdue, 30 of them for more than 30 days and 10 for more than 90:

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
    rows = rows.with_columns(
        _a=_known("balance", "overdue", *_SET_A), _b=_known("balance", "overdue", *_SET_B)
    ).with_columns(_falls=_falling("balance", "overdue", *_SET_B))
    _check(rows)
    falls = ("balance", "overdue", *_SET_B)
    differences = [*(C(one) - C(next_) for one, next_ in pairwise(falls)), C("overdue90")]
    usable = (C("_b") > 0) & (C("_falls") > 0)
    buckets = {
        name: nw.when(C("_a") > 0).then(C(own)).otherwise(nw.when(usable).then(difference))
        for name, own, difference in zip(_BUCKETS, _SET_A, differences, strict=True)
    }
    rows = rows.with_columns(**buckets, total=C("balance"), weighted_days_overdue=null_column(nw.Float64))
    there = column_names(rows)
    named = [name for name in ("client_id", "client_name") if name in there]
    return cast(
        "IntoFrameT",
        to_native(rows.select(*named, *_BUCKETS, "total", "overdue", "weighted_days_overdue"), client_balances),
    )


def _figures(balances: Frame) -> Frame:
    """Select the figures of both sets; a set of which a column is absent is missing."""
    columns = column_names(balances)
    whole = [figures for figures in (_SET_A, _SET_B) if set(figures) <= set(columns)]
    if not whole:
        raise MissingColumnError(
            f"client_balances has neither set of figures whole, neither {', '.join(_SET_A)} nor {', '.join(_SET_B)}; "
            f"it has {', '.join(columns) or 'none'}. The loader client_balances() supplies them."
        )
    there = [name for figures in whole for name in figures]
    rows = select_columns(balances, "client_balances", ("client_id", "balance", "overdue", *there), ("client_name",))
    absent = [null_column(nw.Float64).alias(name) for name in (*_SET_A, *_SET_B) if name not in there]
    return rows.with_columns(*[C(name).cast(nw.Float64) for name in ("balance", "overdue", *there)], *absent)


def _known(*figures: str) -> nw.Expr:
    """Return 1.0 if no figure is missing."""
    known: Any = nw.lit(1.0)
    for name in figures:
        known = nw.when(C(name).is_null()).then(nw.lit(0.0)).otherwise(known)
    return cast("nw.Expr", known)


def _falling(*figures: str) -> nw.Expr:
    """Return 1.0 if no figure is larger than the one before it."""
    falling: Any = nw.lit(1.0)
    for one, after in pairwise(figures):
        falling = nw.when(C(after) > C(one) + _SAME).then(nw.lit(0.0)).otherwise(falling)
    return cast("nw.Expr", falling)


def _check(rows: Frame) -> None:
    odd = rows.filter((C("_a") < 1) & ((C("_b") < 1) | (C("_falls") < 1))).select("client_id", "_b")
    found = cast("nw.DataFrame[Any]", collect(odd))
    named = list(zip(found["client_id"].to_list(), found["_b"].to_list(), strict=True))
    neither = [str(client) for client, whole in named if whole < 1]
    rising = [str(client) for client, whole in named if whole > 0]
    if neither:
        raise ParameterError(
            f"client_balances has neither set of figures complete for {len(neither)} clients: "
            f"{first_few(neither, most=10)}. Load them again with client_balances(), or leave these rows out."
        )
    if rising:
        warn(
            f"client_balances of {len(rising)} clients do not fall from one number of days to the next, so their "
            f"buckets are missing: {first_few(rising, most=10)}. Their total and overdue are as sent; aging tells the "
            "buckets.",
            IncompleteDataWarning,
        )


ANALYSIS = Analysis(
    name="normalize_balances",
    question="What does each client owe, and for how long, as the server adds it up?",
    summary=(
        "It turns the two sets of balance fields that servers send into the columns of `aging`. Figures that "
        "contradict each other are reported and not converted."
    ),
    example=(
        "Of 100 owed, 70 is overdue: 30 for more than 30 days and 10 for more than 90. So 30 is current, 40 "
        "is in `1-30`, 20 in `31-60` and 10 in `91+`."
    ),
    formula="set A as it is; of set B, the difference between one number of days and the next",
    left_out=("Buckets of clients whose set B figures rise from one to the next: missing, with a warning.",),
    cannot_tell=("Weighted days overdue: balances come added up.", "The day that the server counts days to."),
    columns=(
        *shared_measures("current"),
        *bucket_measures("1-30", "31-60", "61-90", "91+"),
        *shared_measures("total", "overdue", "weighted_days_overdue"),
    ),
    book=FromBook(note="The balances are loaded on first use, with one request a client."),
)
