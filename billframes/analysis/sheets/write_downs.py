"""Write-downs: the part of the value of time billed that was not billed, by any key.

Amounts are calculated by `realization`, grouped by invoice, too. So invoices can be counted, and write-ups are
separated from write-downs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

import narwhals.stable.v2 as nw

from billframes.analysis.data.call import Call
from billframes.analysis.data.engine import collect, join_by_id, sum_by, to_dicts
from billframes.analysis.data.expressions import RESIDUE, C, as_float, is_in_period, value_if
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import UNKNOWN, Frame, source_of
from billframes.analysis.declare.metrics import Measure, money, ratio_measure, retitled, shared_measures
from billframes.analysis.declare.spec import Analysis, ChartSpec, TableSpec
from billframes.analysis.facts.work import work
from billframes.analysis.keys.by import By, Key, names_in
from billframes.analysis.keys.groupby import Keys, Sum
from billframes.errors import ParameterError
from billframes.periods import DateLike, Period

_SIZE = Key(("invoice_size",), ("invoice_size",), (("invoice_size",),), missing=UNKNOWN)
_TEXTS = ("_name", "_label")
_SIZE_NAMES = frozenset({"size", "invoice_size"})
# The columns of `realization` that are used.
_AMOUNTS = (
    *("worked_amount", "billed_amount", "write_down_amount", "billable_hours", "unknown_amount", "left_out_amount"),
    *("left_out_billed_amount", "left_out_hours"),
)
_COUNTS = ("write_up_amount", "no_time_amount", "invoices", "written_down_invoices")
# Smaller write-downs come from adding floats.
_HALF_A_CENT = 0.005


SHARES = ("share", "running_share")


@sheet("time_entries", "expenses?", "fixed_fees?", "invoices", "matters?", "users?", "clients?")
def write_downs(
    call: Call,
    *,
    by: By = "responsible",
    start: DateLike | None = None,
    end: DateLike | None = None,
    sizes: Sequence[float] = (1_000, 5_000, 20_000),
    matter_types: Collection[str] | None = None,
    discounts: Literal["time", "items"] | None = None,
) -> Frame:
    """
    Write-downs on final invoices by any key, largest first, with their share and the number of invoices.

    A write-down is the value of the work on an invoice less the fees billed for it; the sums equal those of
    `realization`. Pass items and invoices of any date, as for `realization`; the period is applied here.

    Parameters
    ----------
    time_entries : frame
        With `hours`, `billing_type`, `amount`, `matter_id` and `invoice_id`, and the columns that `by` needs.
    sizes : sequence of float
        Bounds of invoice sizes in money, rising. An invoice with the amount of a bound is in the larger size. Invoices
        below 0 have the size `credit`.

    Examples
    --------
    >>> entries = pd.DataFrame({
    ...     "date": pd.to_datetime(["2026-09-01", "2026-09-02"]), "user_id": ["u1", "u2"], "client_id": ["c1", "c1"],
    ...     "matter_id": ["m1", "m2"], "matter_type": ["hourly", "hourly"], "billing_type": ["billable", "billable"],
    ...     "responsible_id": ["u1", "u2"], "responsible_name": ["Ada", "Ben"], "hours": [4.0, 2.0],
    ...     "amount": [1000.0, 400.0], "invoice_id": ["i1", "i2"],
    ... })
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1", "i2"], "invoice_date": pd.to_datetime(["2026-10-05", "2026-10-06"]),
    ...     "invoice_state": ["final", "final"], "amount": [900.0, 440.0], "balance": [0.0, 0.0],
    ... })
    >>> none = pd.DataFrame({"invoice_id": [], "amount": []})
    >>> result = write_downs(entries, expenses=none, fixed_fees=none, invoices=invoices, start="2026-10")
    >>> result[["responsible_name", "write_down_amount", "write_down_ratio", "write_up_amount"]]
      responsible_name  write_down_amount  write_down_ratio  write_up_amount
    0              Ada              100.0               0.1              0.0
    1              Ben              -40.0              -0.1             40.0
    """
    bounds, period, names = _bounds(sizes), call.period(start, end), names_in(by)
    own = [name for name in names if name not in _SIZE_NAMES]
    # An invoice is judged as a whole, so rows are added up by invoice first.
    whole = Keys.of(call, [*own, "invoice_id"])
    options: dict[str, Any] = {"start": start, "end": end, "matter_types": matter_types, "discounts": discounts}
    by_invoice = call.ask("realization", by=[*own, "invoice_id"], **options)
    items = _other_items(call, whole, period)
    rows = whole.combine([by_invoice.select(*whole.columns, *_AMOUNTS), items], (*_AMOUNTS, "_items"))
    keys = Keys.of(call, own)
    if len(own) < len(names):
        rows = _with_sizes(rows, call, bounds)
        keys = keys.with_key(_SIZE)
    columns = ANALYSIS.measure_names
    rows = _with_counts(rows)
    if call.added is not None:
        call.derive("realization", _by_invoice(to_dicts(collect(rows))))
    totals = keys.combine([rows], (*_AMOUNTS, *_COUNTS))
    finished = keys.labelled(totals, [each for each in columns if each not in SHARES], named=True)
    return keys.with_shares(finished, "write_down_amount", columns)


def _other_items(call: Call, keys: Keys, period: Period) -> Frame:
    """Return the keys and invoices of items on final invoices of the period, with `_items`, except billable hours."""
    kinds = {"time_entries": "time", "expenses": "expense", "fixed_fees": "fixed_fee"}
    # The type of a matter is found by its id.
    typed = {"matter_type": "matter_id"} if "matter_type" in call.columns("matters") else {}
    needed = [typed.get(each, each) for each in keys.base if not each.startswith("_") and not each.endswith(_TEXTS)]
    # Of items that lack a key, the group is unknown.
    with_keys = [
        kind
        for name, kind in kinds.items()
        if all(source_of(each, call.columns(name)) in call.columns(name) for each in needed)
    ]
    rows = call.fact(work, keys.own, only=tuple(kinds.values()))
    rows = rows.filter(C("is_final") & is_in_period("invoice_date", period) & C("kind").is_in([*with_keys, ""]))
    rows = rows.filter(~C("is_billable") | (C("hours") == 0))
    totals = keys.sum(rows, [Sum("_items", nw.lit(1.0))], date="invoice_date")
    return keys.finish(totals, ("_items",))


def _with_counts(rows: Frame) -> Frame:
    """
    Add the counts and amounts that depend on single invoices; each row is a group's part of one invoice.

    Whether an invoice is written up or down is decided for the invoice as a whole, so that the parts add up.
    """
    sums = ("worked_amount", "billed_amount", "billable_hours")
    of_invoice = sum_by(rows, ["invoice_id"], sums).rename({name: f"_{name}" for name in sums})
    rows = join_by_id(rows, of_invoice, "invoice_id")
    # Missing amounts are NaN here. On every engine, `<=` is false if the left number is NaN.
    up = C("_billed_amount") - C("_worked_amount")
    is_used, is_left_out = (
        nw.any_horizontal(*[~(C(name).abs() <= 0) for name in each], ignore_nulls=True)
        for each in (sums, ("left_out_hours", "left_out_billed_amount"))
    )
    has_part = ~(C("write_down_amount").abs() <= 0)
    has_no_time = (C("_worked_amount").abs() <= RESIDUE) & (C("_billable_hours").abs() <= RESIDUE)
    counts = {
        "write_up_amount": value_if(has_part, value_if(~(up <= _HALF_A_CENT), 0.0 - C("write_down_amount")) + up * 0.0),
        "no_time_amount": value_if(has_no_time, "write_down_amount"),
        "written_down_invoices": as_float(is_used & (up < -_HALF_A_CENT)) + up * 0.0,
        "invoices": as_float(is_used | is_left_out | (C("_items") > 0)),
    }
    return rows.with_columns(**counts)


def _by_invoice(rows: Sequence[Mapping[str, Any]]) -> dict[str, tuple[str, nw.Expr]]:
    """Return the sums that depend on single invoices as write-downs of these invoices, missing if it is unknown."""
    found = {}
    for name in ("write_up_amount", "no_time_amount"):
        unknown = {row["invoice_id"] for row in rows if row[name] is None or row[name] != row[name]}
        counted = {row["invoice_id"] for row in rows if row[name]} - unknown
        value = C("write_down_amount") if name == "no_time_amount" else 0.0 - C("write_down_amount")
        counts, is_unknown = (C("invoice_id").is_in([*each, ""]) for each in (counted, unknown))
        found[name] = (
            "write_down_amount",
            nw.when(is_unknown).then(nw.lit(float("nan"))).otherwise(value_if(counts, value)),
        )
    return found


def _with_sizes(rows: Frame, call: Call, bounds: Sequence[float]) -> Frame:
    labels = ["credit", f"under {bounds[0]:,g}", *(f"{low:,g} to {high:,g}" for low, high in pairwise(bounds))]
    size = nw.lit(f"{bounds[-1]:,g} and more")
    for label, bound in reversed(list(zip(labels, [0.0, *bounds], strict=True))):
        size = nw.when(C("amount") < bound).then(nw.lit(label)).otherwise(size)
    known = call.select("invoices", ("invoice_id", "amount")).filter(~C("amount").is_nan())
    return join_by_id(rows, known.select("invoice_id", invoice_size=size), "invoice_id").with_columns(
        C("invoice_size").fill_null(UNKNOWN)
    )


def _bounds(sizes: Sequence[float]) -> list[float]:
    bounds = [float(each) for each in sizes]
    if not bounds or bounds[0] <= 0 or any(low >= high for low, high in pairwise(bounds)):
        raise ParameterError(f"sizes={sizes!r} must be amounts above 0 that rise, such as (1_000, 5_000, 20_000).")
    return bounds


ANALYSIS = Analysis(
    function=write_downs,
    question="Whose work is billed at less than its value, and by how much?",
    summary=(
        "A write-down is the value of time billed less the fees billed; the largest come first. Write-ups and "
        "credits reduce these sums."
    ),
    example=(
        "Ada's work worth 1000 is billed at 900, so 100 is written down, which is 10%. Ben's work worth 400 is billed "
        "at 440, which is a write-down of -40 and a write-up of 40."
    ),
    formula="write-down = value of time billed − fees billed; share = write-down ÷ all write-downs",
    numerator="value of time billed − fees billed, on final invoices dated in the period, as in `realization`; "
    "`write_up_amount` and `no_time_amount` show what reduced or added to it",
    denominator="for the share, the same of all rows together; for the ratio, the value of time billed",
    left_out=(
        "Contingency, pro bono and internal matters, unless `matter_types` names them: they are in `left_out_amount` "
        "and `left_out_billed_amount`.",
        "Draft, review and approved invoices, because their amounts are not final.",
        "Time that was marked as non-billable before the invoice was made: it has no value.",
    ),
    cannot_tell=(
        "Why and by whom something was written down: the responsible lawyer is the present one of the matter.",
        "Whether it is a discount or a cap: an invoice has only one amount. Tax is known from the firm's settings.",
        "Write-offs after the invoice: they look like payments.",
    ),
    arguments={
        "by": 'Months are those of the invoices\' dates. "size" is the size of the invoice (see `sizes`).',
        "start": "By invoice date.",
        "settings": "Used are `originator_weights` and `roles`.",
    },
    rows="largest write-down first, then by label: the keys, then",
    columns=(
        *shared_measures("worked_amount", "billed_amount", "write_down_amount"),
        retitled(
            "share",
            "Share of write-downs",
            "The row’s part of the write-downs of all rows.",
            formula="write_down_amount / sum(write_down_amount)",
        ),
        *shared_measures("running_share"),
        ratio_measure("write_down_ratio", "Write-down ratio", "write_down_amount / worked_amount"),
        money(
            "write_up_amount",
            "Write-ups",
            "Amount billed above the value of all work on an invoice; it is already deducted from the write-down.",
        ),
        money(
            "no_time_amount",
            "Written down without time",
            "The part of the write-down on invoices without time: credit notes and reduced fixed fees.",
        ),
        retitled("invoices", "Final invoices", "Number of final invoices with an item or fees in the row."),
        Measure(
            "written_down_invoices",
            "Invoices with a write-down",
            "count",
            "Invoices with a write-down of at least a cent.",
        ),
        retitled(
            "unknown_amount",
            "Time of unknown state",
            "Value of time on invoices whose state is unknown, or of unknown billing type.",
        ),
        *shared_measures("left_out_amount", "left_out_billed_amount"),
    ),
    table=TableSpec(
        title="Write-downs",
        columns=(
            *("worked_amount", "billed_amount", "write_down_amount", "write_down_ratio", "share", "running_share"),
            *("write_up_amount", "no_time_amount", "invoices", "written_down_invoices"),
        ),
        brief=("worked_amount", "billed_amount", "write_down_amount", "write_down_ratio", "share", "invoices"),
    ),
    chart=ChartSpec(
        kind="running_share",
        title="Write-downs (bars) and running share (line)",
        columns=("write_down_amount", "running_share"),
        words=["{write_down_amount} · {write_down_ratio}", "{write_down_amount}"],
        shows="write-downs (bars) and their running share (line, read at the top).",
        more="The text at the right is the write-down and its ratio to the value.",
    ),
)
