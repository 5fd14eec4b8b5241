"""Warn of frames with only a part of the firm's records, for analyses that compare work and invoices.

`coverage` refuses loads that are too narrow. This module warns if rows were removed after the load. For frames without
information about their load, it compares the invoices' amounts with the worth of the work.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any

import narwhals.stable.v2 as nw

from billframes._messages import warn
from billframes._names import join_names
from billframes.analysis.allocation import PREBILL, WRITE_UP
from billframes.analysis.column_types import ITEMS, Frame, as_arrow, column_names
from billframes.analysis.coverage import has_removed_rows, warn_of_removed_rows
from billframes.analysis.engine import collect_counts, collect_values, join_by_id, lazy
from billframes.analysis.expressions import as_day, as_float, count_if, midnight, value_if
from billframes.analysis.frames import select_columns
from billframes.analysis.grouping import Grouping
from billframes.errors import IncompleteDataWarning
from billframes.loading.load_info import load_info

__all__ = [
    "warn_of_details_not_in_all",
    "warn_of_inner_merge",
    "warn_of_late_start",
    "warn_of_missing_old_work",
    "warn_of_missing_work",
    "warn_of_partial_frames",
]

C = nw.col

# A new client or a small matter can have fewer rows.
_MANY, _SEVERAL = 50, 5
# Invoices usually bill the work of the month before.
_MONTH = 31
_A_CENT = 0.005
_WORDS = {
    "time_entries": "time",
    "expenses": "expenses",
    "fixed_fees": "fixed fees",
    "invoices": "fees of invoices without time (such as credit notes)",
}
# Items have these columns only after a merge with invoices.
_OF_INVOICES = frozenset({"balance", "due_date"})


def warn_of_partial_frames(
    analysis: str, natives: Mapping[str, Any], frames: Mapping[str, Frame], consequence: str
) -> None:
    """
    Warn if the frames seem to have only a part of the firm's records.

    Parameters
    ----------
    analysis : str
        The name of the analysis, for the message.
    natives : mapping of str to frame
        The frames as the user passed them, by the argument's name; None is ignored.
    frames : mapping of str to Frame
        The same frames, checked.
    consequence : str
        The consequence for the figures: the end of a sentence after "so".
    """
    # If rows of both work and invoices were removed, the rest may be all records of one client.
    of_one = all(has_removed_rows(natives.get(name)) for name in ("time_entries", "invoices"))
    if (of_one or not warn_of_removed_rows(analysis, natives, consequence)) and set(ITEMS) <= set(frames):
        counts = collect_counts(_invoice_sums(frames), *(_item_sums(name, frames[name]) for name in ITEMS))
        if not counts["hidden"]:
            warn_of_missing_work(analysis, counts["billed"], sum(counts[name] for name in ITEMS), consequence)


def warn_of_missing_work(analysis: str, billed: float, worth: float, consequence: str) -> None:
    """Warn if the invoices' amounts are far above the worth of the items on them."""
    if billed - worth * WRITE_UP > 1.0:
        warn(
            f"{analysis}: the invoices bill {billed:,.2f}, but the time entries, expenses and fixed fees on invoices "
            f"have a total of {worth:,.2f} only. Work seems to be missing, so {consequence}. Pass all work (bf.book "
            "loads it).",
            IncompleteDataWarning,
        )


def warn_of_late_start(
    analysis: str,
    time_entries: Any,
    work: tuple[Frame, str],
    counted: tuple[Frame, str],
    start: dt.date | None,
    consequence: str,
) -> None:
    """
    Warn of time entries that begin too late for the invoices or fees that they are compared with.

    Older invoices or fees show that the firm did not begin with the earliest entry.

    Parameters
    ----------
    analysis : str
        The name of the analysis, for the message.
    time_entries : frame
        The entries as the user passed them. If they have information about their load, `coverage` uses that instead.
    work, counted : tuple of Frame and str
        The entries, and the invoices or fees, each with its date column.
    start : date, optional
        The first day of the invoices or fees that count. Without it, there is no warning.
    consequence : str
        The consequence for the figures: the end of a sentence after "so".
    """
    if start is None or load_info(time_entries) is not None:
        return
    entries, others = (_days(*each) for each in (work, counted))
    of_entries = {"begin": C("_day").min(), "rows": nw.len()}
    values = collect_values(
        (entries, of_entries), (others.filter(C("_day") >= midnight(start)), {"first": C("_day").min()})
    )
    begin, first = as_day(values["begin"]), as_day(values["first"])
    if begin and first and values["rows"] >= _MANY and (first - begin).days < _MONTH:
        _warn_if_others_are_older(analysis, begin, others, consequence)


def warn_of_missing_old_work(analysis: str, entries: Frame, others: Frame, consequence: str) -> None:
    """Warn if several invoices are older than all time entries, by `invoice_date` and `date`."""
    begin = as_day(collect_values((_days(entries, "date"), {"begin": C("_day").min()}))["begin"])
    if begin:
        _warn_if_others_are_older(analysis, begin, _days(others, "invoice_date"), consequence)


def _days(frame: Frame, column: str) -> Frame:
    """Select the dates of a column that are not missing, as `_day`."""
    days = as_arrow(frame, [column]).select(_day=C(column).cast(nw.Datetime("us")))
    return days.filter(~C("_day").is_null())


def _warn_if_others_are_older(analysis: str, begin: dt.date, others: Frame, consequence: str) -> None:
    if collect_counts((others, {"earlier": count_if(C("_day") < midnight(begin))}))["earlier"] >= _SEVERAL:
        warn(
            f"{analysis}: the earliest of the time entries passed is of {begin}, so "
            f"{consequence}. Pass all time entries, whenever the work was done.",
            IncompleteDataWarning,
        )


def warn_of_inner_merge(entries: Frame) -> None:
    """Warn of time entries that were merged with invoices, if all of them are on invoices."""
    if _OF_INVOICES.isdisjoint(column_names(entries)):
        return
    ids = select_columns(entries, "time_entries", ("invoice_id",))
    counts = collect_counts((ids, {"rows": nw.len(), "unbilled": as_float(C("invoice_id").is_null()).sum()}))
    if counts["rows"] >= _MANY and not counts["unbilled"]:
        warn(
            "The time entries have columns of the invoices, and none of them is unbilled, so unbilled_amount has no "
            "time. Merge with how='left': how='inner' drops unbilled entries.",
            IncompleteDataWarning,
        )


def warn_of_details_not_in_all(
    analysis: str, grouping: Grouping, amounts: Mapping[str, Callable[[], tuple[Frame, str]]]
) -> None:
    """
    Warn of keys that only some of the frames have, such as a client's custom field joined to the time entries only.

    Parameters
    ----------
    analysis : str
        The name of the analysis, for the message.
    grouping : Grouping
    amounts : mapping of str to callable
        For frames of items, and for the invoices, a function that returns the rows that count, and their column of
        amounts. It is only called if the frame lacks a key.
    """
    for column, supplier in grouping.details.items():
        lacking = [name for name in grouping.sources.kinds_without(column) if name in amounts]
        sums = collect_counts(*(_sum_of_known(name, *amounts[name](), supplier) for name in lacking))
        parts = [f"{_WORDS[name]} of {sums[name]:,.2f}" for name in lacking if abs(sums[name]) >= _A_CENT]
        if parts:
            warn(
                f"{analysis}: {column} is not a column of {join_names(lacking)}, so {join_names(parts)} are in the row "
                f"without a value. Pass {supplier}= (the loader {supplier}()), from which all rows get the value.",
                IncompleteDataWarning,
            )


def _sum_of_known(name: str, rows: Frame, amount: str, supplier: str) -> tuple[Frame, dict[str, nw.Expr]]:
    """Add up the rows that have a matter, user or client; other rows have no value anyway."""
    id_ = f"{supplier.removesuffix('s')}_id"
    rows = rows.filter(~C(id_).is_null()) if id_ in column_names(rows) else rows
    return rows, {name: C(amount).sum()}


def _invoice_sums(frames: Mapping[str, Frame]) -> tuple[Frame, dict[str, nw.Expr]]:
    """Add up the invoices, except those of contingency matters: their amounts don't depend on hours."""
    matters = frames.get("matters")
    types = () if matters is None else column_names(matters)
    known = matters is not None and {"matter_id", "matter_type"} <= set(types)
    known = known and "matter_id" in column_names(frames["invoices"])
    columns = ("invoice_state", "amount", *(("matter_id",) if known else ()))
    rows = select_columns(lazy(frames["invoices"]), "invoices", columns)
    rows = rows.filter(C("invoice_state").is_in(["final", *PREBILL]))
    if known and matters is not None:
        kinds = select_columns(matters, "matters", ("matter_id", "matter_type"))
        rows = join_by_id(rows, kinds.filter(~C("matter_id").is_null()), "matter_id")
        rows = rows.filter((C("matter_type") != "contingency").fill_null(True))
    return rows, {"billed": C("amount").fill_null(0.0).sum()}


def _item_sums(name: str, frame: Frame) -> tuple[Frame, dict[str, nw.Expr]]:
    time = ("hours", "billing_type") if name == "time_entries" else ()
    rows = select_columns(lazy(frame), name, ("invoice_id", "amount", *time)).filter(~C("invoice_id").is_null())
    if not time:
        return rows, {name: C("amount").fill_null(0.0).sum()}
    billable = C("billing_type") == "billable"
    hidden = as_float(billable & C("amount").is_null() & (C("hours") != 0)).sum()
    return rows, {name: value_if(billable, C("amount").fill_null(0.0)).sum(), "hidden": hidden}
