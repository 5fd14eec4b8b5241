"""Realization: the fees billed for work and the part that counts, as sums over the rows of `billed_work`."""

from __future__ import annotations

from collections.abc import Sequence

import narwhals.stable.v2 as nw

from billframes.analysis.declare.columns import Frame
from billframes.analysis.frames.expressions import rate_at_step, value_if
from billframes.analysis.frames.frames import Frames
from billframes.analysis.model.billed_work import FACT
from billframes.analysis.model.billed_work_choice import DUE, MIXED, UNSPREAD, BilledWork, has_mark
from billframes.analysis.model.sums import Sum, add_up

C = nw.col

LEFT_OUT = ("contingency", "probono", "internal")


def realized_fees(frames: Frames, of: BilledWork, columns: Sequence[str]) -> Frame:
    """Return the rows of `realization`."""
    types = of.matter_types
    counted = ~C("_type").is_in(LEFT_OUT) if types is None else C("_type").is_in(sorted(types))
    # Conditions that several sums need are computed once.
    marks = {"_counted": counted, "_left_out": ~counted, "_worked": counted & (C("_state") == "final")}
    work = FACT.rows(frames, of).with_columns(**marks)
    return add_up(work, _sums(of), of.grouping, columns)


def _sums(of: BilledWork) -> list[Sum]:
    counted, left_out, worked = C("_counted"), C("_left_out"), C("_worked")
    # Fees are missing if the worth that decides their allocation is hidden.
    unspread = value_if(has_mark(UNSPREAD), "_rows") if of.discounts == "items" else None
    sums = [
        Sum("worked_amount", "worth", worked, "_hidden"),
        Sum("billed_amount", "_fees", counted, unspread),
        Sum("settled_amount", "_paid", counted, unspread),
        Sum("billable_hours", "hours", worked),
        Sum("unknown_amount", "worth", counted & C("_state").is_in(["unknown", "untyped"]), "_hidden"),
        Sum("left_out_hours", "hours", left_out),
        Sum("left_out_amount", "worth", left_out, "_hidden"),
        Sum("left_out_billed_amount", "_fees", left_out, unspread),
        Sum("mixed_amount", "worth", worked & has_mark(MIXED), "_hidden"),
    ]
    sums += [Sum(name, name, counted, unspread) for name in of.settled]
    if of.basis == "work_date":
        states = {"unbilled_amount": "unbilled", "prebill_amount": "prebill"}
        sums += [Sum(name, "worth", counted & (C("_state") == state), "_hidden") for name, state in states.items()]
        sums.append(Sum("cohort_amount", "worth", counted, "_hidden"))
    if of.as_of is not None:
        due = counted & has_mark(DUE)
        sums += [Sum("due_amount", "_fees", due, unspread), Sum("due_settled_amount", "_paid", due, unspread)]
    if rates := of.grouping.settings.standard_rates:
        rate = rate_at_step(rates)
        unrated = value_if(rate.is_null(), "_rows")
        sums.append(Sum("standard_amount", (C("hours") * rate).fill_null(0.0), worked, unrated))
    return sums
