"""Facts for figures of one's own: the rows that the analyses add up, with the names of clients, matters and people."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any, Literal, ParamSpec, TypeVar, cast

import narwhals.stable.v2 as nw
from narwhals.stable.v2.typing import IntoFrameT

from billframes._shared.suggestions import check_choice
from billframes.analysis.data.call import Call
from billframes.analysis.data.data import Data
from billframes.analysis.data.expressions import C
from billframes.analysis.facts import invoices as of_invoices, work as of_work
from billframes.analysis.facts.labels import with_names
from billframes.analysis.rules.loads import need_work_on_invoices
from billframes.config.firm import FirmSettings
from billframes.config.firm_values import DISCOUNTS
from billframes.periods import Period

P = ParamSpec("P")
T = TypeVar("T")
FactName = Literal["work", "invoices"]
_FACTS = {"work": of_work.work, "invoices": of_invoices.invoices}
# Users know fees as those of time and fixed fees, whose amounts are in `amount`.
_OF_WORK = {"fees": "time_fees", "settled_fees": "settled_time_fees"}
FACT_COLUMNS = {
    "work": {names.replace("fees", "time_fees"): text for names, text in of_work.COLUMNS.items()},
    "invoices": of_invoices.COLUMNS,
}
"""What the columns of each fact are. Several that share a meaning are separated by commas."""


def _with_columns(function: Callable[P, T]) -> Callable[P, T]:
    """Add what the columns of the facts are to the docstring of a function."""
    parts = []
    for name, columns in FACT_COLUMNS.items():
        rows = (f"`{names.replace(', ', '`, `')}`: {text}" for names, text in columns.items())
        parts += [f'    The columns of "{name}":\n', *(f"    - {row}" for row in rows), ""]
    doc = function.__doc__ or ""
    function.__doc__ = doc.replace("    {columns}\n", textwrap.indent("\n".join(parts), "    "))
    return function


@_with_columns
def fact(
    name: FactName,
    *,
    time_entries: IntoFrameT,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    invoices: IntoFrameT,
    matters: IntoFrameT | None = None,
    discounts: Literal["time", "items"] | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT:
    """
    Rows that the analyses add up, for figures of your own.

    "work" has one row per item, with its value, its fees and its part of the balance, and one per part of an invoice
    that no item explains. "invoices" has one row per invoice, with its fees, expenses and tax, settled and open. No row
    depends on a day or a period. Pass all items and invoices, of any date: January's work is on February's invoice.

    Parameters
    ----------
    name : {"work", "invoices"}
    time_entries : frame
        With `hours`, `billing_type`, `amount` and `invoice_id`.
    expenses, fixed_fees : frame, optional
        With None, no rows count. An invoice's fees are its amount less its expenses, so pass them if there are any.
    invoices : frame
        With `invoice_id`, `invoice_date`, `invoice_state`, `amount` and `balance`.
    matters : frame, optional
        For types of matters.
    discounts : {"time", "items"}
        Which items bear an invoice's discount: only time, or time and fixed fees by their value ("items"). By default
        as the settings say, or time.
    settings : FirmSettings, optional
        The firm's settings. Used are `discounts`, `taxes` and `payment_order`.

    Returns
    -------
    frame
        Of the kind of the input. `client_name`, `matter_name` and `user_name` follow their ids. A missing number is not
        known: add up with `skipna=False`, so that the sum is missing, too.

    {columns}

    Raises
    ------
    MissingColumnError, ParameterError
        A frame lacks a column, or an argument or a frame is not valid. Doubtful data give warnings, also kept as notes.

    Examples
    --------
    An invoice of 800 bills time worth 1,000:

    >>> entries = pd.DataFrame({
    ...     "user_id": ["u1", "u2"], "user_name": ["Ada", "Ben"], "hours": [2.0, 2.0], "billing_type": ["billable"] * 2,
    ...     "amount": [600.0, 400.0], "invoice_id": ["i1"] * 2,
    ... })
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1"], "invoice_date": pd.to_datetime(["2026-10-05"]), "client_id": ["c1"],
    ...     "invoice_state": ["final"], "amount": [800.0], "balance": [200.0],
    ... })
    >>> work = fact("work", time_entries=entries, invoices=invoices)
    >>> work[["kind", "user_name", "value", "time_fees", "settled_time_fees", "open"]]
       kind user_name  value  time_fees  settled_time_fees   open
    0  time       Ada  600.0      480.0              360.0  120.0
    1  time       Ben  400.0      320.0              240.0   80.0
    """
    frames = {"time_entries": time_entries, "expenses": expenses, "fixed_fees": fixed_fees, "invoices": invoices}
    return cast("IntoFrameT", fact_of(Data(settings, **frames, matters=matters), name, discounts))


def fact_of(data: Data, name: str, discounts: str | None = None) -> Any:
    """Return the rows of a fact of the data, with names and in the user's kind of frame."""
    check_choice(name, "name", tuple(_FACTS))
    discounts = (data.given_settings or FirmSettings()).discounts if discounts is None else discounts
    check_choice(discounts, "discounts", DISCOUNTS)
    call = Call(data, "fact")
    call.require("invoices", "invoice_state", "invoice_date", "amount", "balance")
    need_work_on_invoices(call, Period(None, None))
    rows = call.fact(_FACTS[name], discounts=discounts).rename(_OF_WORK if name == "work" else {})
    rows = rows.with_columns(C(*_coded(rows)).cast(nw.String))
    rows = with_names(call, rows)
    return call.result(rows.with_columns(C(*_coded(rows)).cast(nw.String)))


def _coded(rows: Any) -> list[str]:
    return [name for name, dtype in rows.collect_schema().items() if dtype in (nw.String, nw.Categorical, nw.Enum)]
