"""Note frames with only a part of the firm's records, for analyses that compare work and invoices.

`loads` refuses loads that are too narrow. This module notes invoices or items that were not passed, and rows that were
removed after the load. For frames without information about their load, it compares the invoices' amounts with the
value of the work.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Mapping, Sequence

import narwhals.stable.v2 as nw

from billframes._names import join_names
from billframes._notes import Notes
from billframes.analysis.declare.columns import ITEMS, Frame, as_arrow, column_names
from billframes.analysis.frames.engine import collect_counts, collect_values, join_by_id
from billframes.analysis.frames.expressions import as_day, as_float, count_if, midnight, null_column, value_if
from billframes.analysis.frames.frames import Frames
from billframes.analysis.frames.repeated_ids import are_many
from billframes.analysis.model.allocation import NOT_TIME, PREBILL
from billframes.analysis.model.grouping import Grouping
from billframes.analysis.rules.amounts import count_other_units, note_other_units
from billframes.analysis.rules.invoices import (
    ABSENT_FROM_INVOICES,
    DETAILS_NOT_IN_ALL,
    EARLIER_WORK,
    INNER_MERGE,
    MISSING_WORK,
    UNKNOWN_INVOICE,
    WORK_NOT_PASSED,
)
from billframes.analysis.rules.loads import has_removed_rows, is_whole, note_removed_rows
from billframes.analysis.rules.people import UNKNOWN_MATTERS
from billframes.analysis.rules.tax_share import above_items, count_above_items, note_same_share
from billframes.config.firm import FirmSettings
from billframes.config.taxes import Tax
from billframes.loading.load_info import load_info
from billframes.periods import Period

C = nw.col

# A new client or a small matter can have fewer rows.
_MANY, _SEVERAL = 50, 5
# Invoices usually bill the work of the month before.
_MONTH = 31
_A_CENT = 0.005
# Some invoices bill more than the worth of their work. If they bill over 10% more, work is missing.
_WRITE_UP = 1.1
# A difference below this share of the fees can be due to rounding.
_NEGLIGIBLE = 0.005
_WORDS = {
    "time_entries": "time",
    "expenses": "expenses",
    "fixed_fees": "fixed fees",
    "invoices": "fees of invoices without time (such as credit notes)",
}
# Items have these columns only after a merge with invoices.
_OF_INVOICES = frozenset({"balance", "due_date"})


def note_partial_frames(frames: Frames, consequence: str, settings: FirmSettings | None, *more: str) -> None:
    """
    Note that the frames seem to have only a part of the firm's records.

    Parameters
    ----------
    frames : Frames
    consequence : str
        The consequence for the figures: the end of a sentence after "so".
    settings : FirmSettings, optional
        With `taxes`.
    *more : str
        Frames of which no row may be missing, besides items and invoices.
    """
    # If rows of both work and invoices were removed, the rest may be all records of one client.
    of_one = all(has_removed_rows(frames.natives.get(name)) for name in ("time_entries", "invoices"))
    cut = not of_one and note_removed_rows(frames, consequence, *ITEMS, "invoices", *more)
    if not cut and set(ITEMS) <= set(frames) and not is_whole(frames.natives):
        counts = collect_counts(_invoice_sums(frames), *(_item_sums(name, frames) for name in ITEMS))
        if not counts["hidden"]:
            worth = sum(counts[name] for name in ITEMS)
            note_missing_work(frames.notes, counts["billed"], worth, consequence, settings)


def note_matters_not_passed(
    frames: Frames, worked: Collection[str | None], passed: Collection[str | None], consequence: str
) -> None:
    """Note that many matters with work are not among those passed; `loads` checks matters that remember their load."""
    ids = set(worked) - {None}
    missing = len(ids - set(passed))
    if are_many(missing, len(ids)):
        frames.notes.add(UNKNOWN_MATTERS, missing, all=len(ids), consequence=consequence)


def note_missing_work(
    notes: Notes, billed: float, worth: float, consequence: str, settings: FirmSettings | None = None
) -> None:
    """Note invoices whose amounts are far above the value of the items on them, with the taxes of the settings."""
    rates = [float(each.rate) for each in settings.taxes if isinstance(each, Tax)] if settings else []
    if billed - worth * (1.0 + sum(rates)) * _WRITE_UP > 1.0:
        notes.add(MISSING_WORK, billed - worth, billed=billed, worth=worth, consequence=consequence)


def count_work_not_passed(rates: Frame, counted: nw.Expr, *, taxed: bool) -> tuple[Frame, dict[str, nw.Expr]]:
    """
    Count invoices whose fees are too high for the work that was passed, for `note_work_not_passed`.

    Invoices of contingency matters are not counted: their fees don't depend on hours.

    Parameters
    ----------
    rates : Frame
        The invoices, from `with_contingent`.
    counted : Expr
        Whether the analysis counts an invoice.
    taxed : bool
        Whether the settings have taxes.

    Returns
    -------
    Frame, dict of str to Expr
        The invoices with columns that several counts need, so that they are computed once, and the counts.
    """
    worth = C("_worth").fill_null(0.0)
    rates = rates.with_columns(
        _counted=counted & C("_contingent").is_null(),
        _evident=(C("_invoice_state") == "final") & C("_contingent").is_null(),
        # Time that is worth 0, or whose worth is hidden, is allocated by hours: its highest possible fee is unknown.
        _known=(C("_hidden") == 0) & (C("_by_hours") < 1) & (C("_cancelled") < 1),
    ).with_columns(**above_items(taxed=taxed))
    is_over = (C("_net") > 0.005) & (C("_net") > worth * _WRITE_UP)
    rates = rates.with_columns(_over=C("_counted") & C("_known") & is_over)
    rates, of_units = count_other_units(rates)
    return rates, {
        "over": count_if(C("_over")),
        "excess": value_if(C("_over"), C("_net") - worth).sum(),
        "fees": value_if(C("_counted"), C("_net").abs()).sum(),
        **of_units,
        **count_above_items(taxed=taxed),
    }


def note_work_not_passed(
    notes: Notes, counts: Mapping[str, float], invoices: Frame, *, taxed: bool, whole: bool
) -> None:
    """
    Note invoices whose fees are too high for the work that was passed.

    Parameters
    ----------
    notes : Notes
    counts, invoices
        From `count_work_not_passed`.
    taxed : bool
        Whether the settings have taxes.
    whole : bool
        Whether all items were loaded (`loads.is_whole`): then no work is missing.
    """
    if note_other_units(notes, counts):
        return
    if note_same_share(notes, counts, invoices, taxed=taxed, whole=whole) or whole:
        return
    if counts["excess"] > max(1.0, _NEGLIGIBLE * counts["fees"]):
        notes.add(WORK_NOT_PASSED, counts["excess"], invoices=int(counts["over"]))


def with_contingent(rates: Frame, frames: Frames) -> Frame:
    """Add `_contingent`: 1.0 for invoices of contingency matters, missing for others or without matter types."""
    invoices, matters = frames["invoices"], frames.get("matters")
    known = matters is not None and {"matter_id", "matter_type"} <= set(column_names(matters))
    if matters is None or not known or "matter_id" not in column_names(invoices):
        return rates.with_columns(_contingent=null_column(nw.Float64))
    kinds = frames.select("matters", ("matter_id", "matter_type")).filter(C("matter_type") == "contingency")
    matters_of = frames.select("invoices", ("invoice_id", "matter_id"))
    contingent = join_by_id(matters_of, kinds.select("matter_id"), "matter_id", "inner")
    return join_by_id(rates, contingent.select("invoice_id", _contingent=nw.lit(1.0)), "invoice_id")


def count_on_unknown_invoices(rates: Frame, period: Period) -> nw.Expr:
    """Count the entries whose invoice was not passed, except entries with an invoice date outside the period."""
    counts = C("_passed").is_null()
    if "_named_date" in column_names(rates):
        # An entry without an invoice date may be on an invoice of the period.
        if period.start is not None:
            counts = counts & (C("_named_date") >= midnight(period.start)).fill_null(True)
        if period.end is not None:
            counts = counts & (C("_named_date") <= midnight(period.end)).fill_null(True)
    return value_if(counts, C("_rows").fill_null(0.0)).sum()


def note_unknown_invoices(frames: Frames, count: float, consequence: str = "left out") -> None:
    """Note entries whose invoice was not passed; `consequence` ends the sentence "they are …"."""
    entries = f"{round(count):,} billable time {'entry' if count == 1 else 'entries'}"
    about = {"items": entries, "reasons": unknown_state_reasons(frames), "consequence": consequence}
    frames.notes.add(UNKNOWN_INVOICE, count, **about)


def unknown_state_reasons(frames: Frames, *, types: bool = False) -> str:
    """Return other reasons why the state of work is unknown, for warnings of invoices that were not passed."""
    states = ", or whose state is unknown" if frames.unknown_values("invoices", "invoice_state") else ""
    kinds = (
        ", or are of unknown billing type" if types and frames.unknown_values("time_entries", "billing_type") else ""
    )
    return states + kinds


def note_absent_items(frames: Frames, names: Sequence[str] = NOT_TIME) -> None:
    """Note items that were not passed; an empty frame of items gives no note."""
    absent = [f"`{name}`" for name in names if name not in frames]
    arguments = join_names([f"{each}=" for each in absent])
    frames.notes.add(ABSENT_FROM_INVOICES, len(absent), absent=join_names(absent), arguments=arguments)


def note_late_start(
    frames: Frames,
    work: tuple[Frame, str],
    counted: tuple[Frame, str],
    start: dt.date | None,
    consequence: str,
) -> None:
    """
    Note time entries that begin too late for the invoices or fees that they are compared with.

    Older invoices or fees show that the firm did not begin with the earliest entry.

    Parameters
    ----------
    frames : Frames
        If the time entries have information about their load, `loads` uses that instead.
    work, counted : tuple of Frame and str
        The entries, and the invoices or fees, each with its date column.
    start : date, optional
        The first day of the invoices or fees that count. Without it, there is no note.
    consequence : str
        The consequence for the figures: the end of a sentence after "so".
    """
    if start is None or load_info(frames.natives["time_entries"]) is not None:
        return
    entries, others = (_days(*each) for each in (work, counted))
    of_entries = {"begin": C("_day").min(), "rows": nw.len()}
    values = collect_values(
        (entries, of_entries), (others.filter(C("_day") >= midnight(start)), {"first": C("_day").min()})
    )
    begin, first = as_day(values["begin"]), as_day(values["first"])
    if begin and first and values["rows"] >= _MANY and (first - begin).days < _MONTH:
        _note_if_others_are_older(frames.notes, begin, others, consequence)


def note_missing_old_work(frames: Frames, others: Frame, consequence: str) -> None:
    """Note that several invoices are older than all time entries, by `invoice_date` and `date`."""
    begin = as_day(collect_values((_days(frames["time_entries"], "date"), {"begin": C("_day").min()}))["begin"])
    if begin:
        _note_if_others_are_older(frames.notes, begin, _days(others, "invoice_date"), consequence)


def _days(frame: Frame, column: str) -> Frame:
    days = as_arrow(frame, [column]).select(_day=C(column).cast(nw.Datetime("us")))
    return days.filter(~C("_day").is_null())


def _note_if_others_are_older(notes: Notes, begin: dt.date, others: Frame, consequence: str) -> None:
    earlier = collect_counts((others, {"earlier": count_if(C("_day") < midnight(begin))}))["earlier"]
    if earlier >= _SEVERAL:
        notes.add(EARLIER_WORK, earlier, begin=begin, consequence=consequence)


def note_inner_merge(frames: Frames) -> None:
    """Note time entries that were merged with invoices, if all of them are on invoices."""
    if _OF_INVOICES.isdisjoint(column_names(frames["time_entries"])):
        return
    ids = frames.select("time_entries", ("invoice_id",))
    counts = collect_counts((ids, {"rows": nw.len(), "unbilled": as_float(C("invoice_id").is_null()).sum()}))
    if counts["rows"] >= _MANY and not counts["unbilled"]:
        frames.notes.add(INNER_MERGE, counts["rows"], "time_entries")


def note_details_not_in_all(grouping: Grouping, amounts: Mapping[str, Callable[[], tuple[Frame, str]]]) -> None:
    """
    Note keys that only some of the frames have, such as a client's custom field joined to the time entries only.

    Parameters
    ----------
    grouping : Grouping
    amounts : mapping of str to callable
        For frames of items, and for the invoices, a function that returns the rows that count, and their column of
        amounts. It is only called if the frame lacks a key.
    """
    for column, supplier in grouping.details.items():
        lacking = [name for name in grouping.sources.kinds_without(column) if name in amounts]
        sums = collect_counts(*(_sum_of_known(name, *amounts[name](), supplier) for name in lacking))
        parts = [f"{_WORDS[name]} of {sums[name]:,.2f}" for name in lacking if abs(sums[name]) >= _A_CENT]
        about = {"column": f"`{column}`", "frames": join_names([f"`{each}`" for each in lacking]), "supplier": supplier}
        if parts:
            amount = sum(abs(sums[name]) for name in lacking)
            grouping.notes.add(DETAILS_NOT_IN_ALL, amount, about=column, parts=join_names(parts), **about)


def _sum_of_known(name: str, rows: Frame, amount: str, supplier: str) -> tuple[Frame, dict[str, nw.Expr]]:
    """Add up the rows that have a matter, user or client; other rows have no value anyway."""
    id_ = f"{supplier.removesuffix('s')}_id"
    rows = rows.filter(~C(id_).is_null()) if id_ in column_names(rows) else rows
    return rows, {name: C(amount).sum()}


def _invoice_sums(frames: Frames) -> tuple[Frame, dict[str, nw.Expr]]:
    """Add up the invoices, except those of contingency matters: their amounts don't depend on hours."""
    rows = frames.select("invoices", ("invoice_id", "invoice_state", "amount"), lazily=True)
    rows = with_contingent(rows.filter(C("invoice_state").is_in(["final", *PREBILL])), frames)
    return rows.filter(C("_contingent").is_null()), {"billed": C("amount").fill_null(0.0).sum()}


def _item_sums(name: str, frames: Frames) -> tuple[Frame, dict[str, nw.Expr]]:
    time = ("hours", "billing_type") if name == "time_entries" else ()
    rows = frames.select(name, ("invoice_id", "amount", *time), lazily=True).filter(~C("invoice_id").is_null())
    if not time:
        return rows, {name: C("amount").fill_null(0.0).sum()}
    billable = C("billing_type") == "billable"
    hidden = as_float(billable & C("amount").is_null() & (C("hours") != 0)).sum()
    return rows, {name: value_if(billable, C("amount").fill_null(0.0)).sum(), "hidden": hidden}
