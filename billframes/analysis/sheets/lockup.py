"""Lock-up: the days of fees that are tied up in work in progress and in receivables."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from billframes._shared.names import type_in_words
from billframes.analysis.data.arguments import read_date, read_whole_number
from billframes.analysis.data.expressions import RESIDUE
from billframes.analysis.data.native import as_table
from billframes.analysis.declare.key_words import TIMES
from billframes.analysis.declare.lookup import analyses
from billframes.analysis.declare.metrics import Measure, retitled, shared_measures
from billframes.analysis.declare.spec import Analysis, ChartSpec, FromBook, TableSpec
from billframes.analysis.keys.by import By, names_in
from billframes.analysis.results.figure_rows import joined
from billframes.analysis.results.result_rows import key_columns
from billframes.errors import ParameterError
from billframes.periods import DateLike, shift_days


def lockup(
    wip_amount: float | None,
    receivable_amount: float | None,
    fees_amount: float | None,
    *,
    days: float = 365,
) -> pd.DataFrame:
    """
    Days of fees that are tied up in work in progress and in receivables.

    Parameters
    ----------
    wip_amount : float
        Work in progress on a day, without contingency matters: the `total` of `wip`. None if it is unknown, for example
        because rates are hidden.
    receivable_amount : float
        Receivables on that day: the `total` of `aging`.
    fees_amount : float
        Fees billed in the days up to that day: the `fees_amount` of `contribution`.
    days : float
        The number of days in which the fees were billed, above 0; a year by default.

    Returns
    -------
    DataFrame
        One row: `wip_amount`, `receivable_amount`, `fees_amount`, `days` and, as float64 days, `wip_days`,
        `receivable_days` (amount ÷ fees * days) and `lockup_days` (their sum). Days are missing if an amount is
        unknown, or if fees are 0 or less.

    Raises
    ------
    ParameterError
        An amount is not a number, or `days` is not above 0.

    See Also
    --------
    billframes.Book.lockup : Calculates the amounts from a book's frames.

    Examples
    --------
    >>> lockup(100_000, 60_000, 730_000)[["wip_days", "receivable_days", "lockup_days"]]
       wip_days  receivable_days  lockup_days
    0      50.0             30.0         80.0
    """
    given = {"wip_amount": wip_amount, "receivable_amount": receivable_amount, "fees_amount": fees_amount}
    amounts = {name: _number(value, name) for name, value in given.items()}
    length = _number(days, "days")
    if not 0 < length < math.inf:
        raise ParameterError(f"days={days!r} must be a number above 0: the days in which the fees were billed.")
    return _in_days(pd.DataFrame([amounts]), length)


def _in_days(amounts: pd.DataFrame, days: float) -> pd.DataFrame:
    """Add the days that each amount is of the fees of so many days."""
    fees = amounts["fees_amount"]
    per_day = fees.where(fees > RESIDUE) / days
    parts = {f"{name}_days": amounts[f"{name}_amount"] / per_day for name in ("wip", "receivable")}
    return amounts.assign(days=days, **parts, lockup_days=parts["wip_days"] + parts["receivable_days"])


def _number(value: float | None, name: str) -> float:
    try:
        return math.nan if value is None else float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ParameterError(
            f"{name} is {type_in_words(value)}, not a number; from a frame with one row, pass a value such as "
            "frame['total'].iloc[0]."
        ) from error


def lockup_of_book(book: Any, *, by: By = None, as_of: DateLike | None = None, days: int = 365) -> pd.DataFrame:
    """
    Days of fees tied up in work in progress and receivables.

    Parameters
    ----------
    by : str or list of str, optional
        Keys to group by, such as "responsible", except months, quarters and years; None gives one row.
    days : int
        Fees are those of the final invoices dated in this number of days up to and including that day; at most those
        since the first day of the data, the first with a time entry or an invoice.
    """
    last = read_date(book._days.as_of(as_of, ("time_entries", "invoices"), "lockup"), "as_of")
    first = shift_days(last, 1 - read_whole_number(days, "days", "days"))
    first = max(first, book.first_day or first)
    if times := set(TIMES).intersection(names_in(by)):
        raise ParameterError(f"lockup is of one day and can't be by {min(times)}; pass as_of= for each day.")
    results = {
        "wip": book.wip(by, as_of=last),
        "aging": book.aging(by, as_of=last),
        "contribution": book.contribution(by, start=first, end=last),
    }
    keys = key_columns([*results["wip"]], analyses()["wip"])
    # An amount that has no row for a group is 0 there.
    sums = {"wip": ["total", "contingent_amount"], "aging": ["total"], "contribution": ["fees_amount"]}
    amounts_of = {
        name: {each: result[each].to_numpy("float64", na_value=math.nan) for each in sums[name]}
        for name, result in results.items()
    }
    labels, found = joined({name: (as_table(each, keys), amounts_of[name]) for name, each in results.items()}, sums)
    names = {"wip": "wip_amount", "aging": "receivable_amount", "contribution": "fees_amount"}
    amounts = {name: found[of][sums[of][0]] for of, name in names.items()}
    rows = labels.join(_in_days(pd.DataFrame(amounts), float((last - first).days + 1)))
    rows = rows.assign(contingent_amount=found["wip"]["contingent_amount"])
    rows = rows.sort_values(keys, ignore_index=True) if keys else rows
    for offset, (name, day) in enumerate({"as_of": last, "fees_start": first, "fees_end": last}.items()):
        rows.insert(len(keys) + offset, name, pd.Timestamp(day).as_unit("us"))
    return rows


ANALYSIS = Analysis(
    function=lockup,
    question="For how many days are we financing our clients?",
    summary=(
        "It shows how many days of fees are tied up in work that is not invoiced yet and in invoices that are not paid "
        "yet. Work on contingency matters is shown beside it."
    ),
    example=(
        "With fees of 730000 a year, work in progress of 100000 is 50 days and receivables of 60000 are 30 "
        "days: the lock-up is 80 days."
    ),
    formula="(`wip_amount` + `receivable_amount`) ÷ `fees_amount` × `days`",
    numerator="work in progress, without contingency matters, and open receivables on a day",
    denominator="time fees and fixed fees billed in the days up to that day, a year by default",
    left_out=(
        "Work on contingency matters, because its fee depends on the outcome: it is in `contingent_amount`. Invoices "
        "on such matters count, in receivables and in fees.",
        "Expenses, in the fees only: they are part of work in progress and receivables.",
    ),
    cannot_tell=(
        "Days until cash is received: the billing system has no dates of payment, so the days are an estimate from "
        "the fees.",
        "The fees before the first day of the data. A book divides by the days since then, if these are fewer: `days` "
        "says how many.",
    ),
    own=("returns", "raises"),
    columns=(
        Measure("as_of", "As of", "date", "The day of the amounts, in the result of a book."),
        Measure("fees_start", "Fees from", "date", "First day of the fees, in the result of a book."),
        Measure("fees_end", "Fees to", "date", "Last day of the fees, in the result of a book."),
        *shared_measures("wip_amount", "receivable_amount"),
        retitled(
            "fees_amount",
            "All fees counted",
            "Net billed time fees and fixed fees on final invoices of the days counted, a year by default.",
        ),
        Measure("days", "Days of fees", "days", "The number of days in which the fees were billed."),
        Measure(
            "wip_days",
            "Days of work in progress",
            "days",
            "Work in progress ÷ all fees counted × days of fees.",
            formula="wip_amount / fees_amount * days",
        ),
        Measure(
            "receivable_days",
            "Days of receivables",
            "days",
            "Receivables ÷ all fees counted × days of fees.",
            formula="receivable_amount / fees_amount * days",
        ),
        Measure(
            "lockup_days",
            "Lock-up",
            "days",
            "Days of work in progress + days of receivables.",
            formula="wip_days + receivable_days",
        ),
        *shared_measures("contingent_amount"),
    ),
    table=TableSpec(
        title="Lock-up",
        brief=(
            *("wip_amount", "receivable_amount", "fees_amount", "wip_days", "receivable_days", "lockup_days"),
            "contingent_amount",
        ),
        columns=(
            *("as_of", "wip_amount", "receivable_amount", "fees_amount", "fees_start", "fees_end", "days"),
            *("wip_days", "receivable_days", "lockup_days", "contingent_amount"),
        ),
        optional=("as_of", "fees_start", "fees_end", "contingent_amount"),
        if_any=("contingent_amount",),
        adds_up=False,
    ),
    chart=ChartSpec(
        kind="stacks",
        title="Days of fees tied up",
        columns=("wip_days", "receivable_days"),
        words=["{lockup_days} days"],
        shows="days of work in progress (pale) and of receivables (dark).",
        more="The text beside a bar is the sum of both. If several results are concatenated, such as one row per month "
        "with `month` as the first column, each row is one bar.",
    ),
    book=FromBook(
        method=lockup_of_book,
        note="Receivables and fees are of matters of every type: the total of `aging`, and the `fees_amount` of "
        "`contribution`.",
    ),
)
