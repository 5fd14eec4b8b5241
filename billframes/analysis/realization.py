"""Realization: how much of the work's worth was billed, and how much of that is settled."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import narwhals.stable.v2 as nw
from narwhals.stable.v2.typing import IntoFrameT

from billframes._warn import warn
from billframes.analysis._billing import (
    billable_time,
    billed_at,
    invoice_terms,
    say_unknown,
    state_of,
    time_on_invoices,
    warn_of_absent_items,
    warn_of_unknown_invoices,
)
from billframes.analysis._checks import choice, within
from billframes.analysis._explanation import Explanation
from billframes.analysis._frames import Frame, close, collect_row, flag, mapped, nothing, open_frames, ratio
from billframes.analysis._group import add_up, attach, base_of, finish, sums_by_type, with_matter_type, with_times
from billframes.analysis._keys import UNKNOWN, By, Key, Sources, find_keys, matter_type_key
from billframes.analysis._passes import computed, deferred, lookup
from billframes.analysis._people import settle
from billframes.errors import IncompleteDataWarning, RatesHiddenWarning
from billframes.periods import DateLike, Period, resolve
from billframes.settings.firm import FirmSettings

__all__ = ["EXPLANATION", "realization"]

C = nw.col

MATTER_TYPES = ("hourly", "fixedFee", "contingency", "probono", "internal", UNKNOWN)
LEFT_OUT = ("contingency", "probono", "internal")
_ROW = ("worth", "hours", "_fees", "_paid", "_hidden", "_rows")
# Result columns that are worth something, and the billing state that each adds up.
_BY_STATE = {
    "worked_amount": "final",
    "unbilled_amount": "unbilled",
    "prebill_amount": "prebill",
    "unknown_amount": "unknown",
}
_AMOUNTS = (*_BY_STATE, "cohort_amount", "left_out_amount", "standard_amount")
_MEASURES = (
    *_AMOUNTS,
    *(f"_hidden_{name}" for name in _AMOUNTS),
    "billed_amount",
    "settled_amount",
    "billable_hours",
    "left_out_hours",
    "left_out_billed_amount",
)


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked, once the arguments are checked."""

    basis: str
    period: Period
    keys: tuple[Key, ...]
    sources: Sources
    kind: Key | None
    matter_types: frozenset[str] | None

    @property
    def base(self) -> list[str]:
        """What rows are first added up over."""
        user = ("user_id",) if self.sources.settings.standard_rates else ()
        return list(dict.fromkeys(["_type", *user, *base_of(self.keys)]))

    @property
    def counted(self) -> nw.Expr:
        """Whether a matter's type is one that counts."""
        if self.matter_types is None:
            return ~C("_type").is_in(LEFT_OUT)
        return C("_type").is_in(sorted(self.matter_types))


def realization(
    time_entries: IntoFrameT,
    invoices: IntoFrameT,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    *,
    by: By = None,
    basis: Literal["invoice_date", "work_date"] = "invoice_date",
    start: DateLike | None = None,
    end: DateLike | None = None,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    settings: FirmSettings | None = None,
    matter_types: Collection[str] | None = None,
) -> IntoFrameT:
    """
    Billed ÷ worked: what the work on final invoices was billed at, by what it is worth at its rates.

    An invoice's net billed time fees are its amount less its expenses and fixed fees. They are spread over its
    billable entries in proportion to `amount` (over hours where amounts are hidden or add up to nothing), and
    follow each entry's own matter, client and user. What no entry can take (a credit note, an invoice without
    billable time) stays with the client; its matter and user are `Unassigned`.

    Pass wide frames: January's work is on February's invoice, and an invoice can only be spread rightly with
    all its entries, expenses and fixed fees there. The period is applied here.

    Parameters
    ----------
    time_entries : frame
        With `date`, `matter_id`, `hours`, `billing_type`, `amount` and `invoice_id`, and what `by` needs.
    invoices : frame
        With `invoice_id`, `invoice_date`, `invoice_state`, `amount` and `balance`.
    expenses, fixed_fees : frame, optional
        With `invoice_id` and `amount`. None is taken as none at all, with a warning: pass an empty frame to
        say that there are none.
    by : str or list of str, optional
        What to group by; None gives one row. Months are those of the basis.
    basis : {"invoice_date", "work_date"}
        Final invoices dated in the period with all the work on them; or billable time dated in the period,
        followed to whatever invoice it is on. By work date, invoices without time have no place and are left
        out.
    start, end : str or date, optional
        First and last day, inclusive, None is open; or a whole period such as "2026-Q3" as `start`.
    matters, users : frame, optional
        With `matter_id` and `matter_type`, or `user_id`, `name` and `role`, and what else `by` names.
    settings : FirmSettings, optional
        `standard_rates` add the standard columns; `originator_weights` split by originator.
    matter_types : collection of str, optional
        Types of matter that count. "Unknown" is what has none, credit notes among it, and is implied where all
        five types are named. All but contingency, pro bono and internal by default.

    Returns
    -------
    frame
        Of the kind passed in, sorted by label: the keys and, as float64, money unrounded,

        - `worked_amount`: worth of the billable time on the final invoices counted; missing where rates are hidden
        - `billed_amount`: net billed time fees
        - `write_down_amount`: worked - billed; negative is a write-up
        - `billing_realization`: billed ÷ worked; missing for 0 ÷ 0, as on invoices of fixed fees only
        - `settled_amount`: net billed time fees * (amount - balance) ÷ amount of each invoice, 0 where the amount
          is 0; payments, credits and write-offs can't be told apart
        - `settlement_ratio`: settled ÷ billed
        - `overall_realization`: billing_realization * settlement_ratio
        - `billable_hours`: hours on those invoices
        - `effective_rate`: billed ÷ hours, known with rates hidden, too
        - with `basis="work_date"`: `unbilled_amount`, `prebill_amount` (on a draft, review or approved invoice),
          `unknown_amount` (on an invoice not among those passed), `cohort_amount` (these and worked), and
          `billed_to_worked` (billed ÷ cohort)
        - with standard rates: `standard_amount` (hours at standard rates; missing where someone has none),
          `worked_to_standard`, `billed_to_standard`
        - `left_out_hours`, `left_out_amount`, `left_out_billed_amount`: time on matters whose type does not count

    Raises
    ------
    ParameterError
        An argument is unknown, or frames are of different engines.
    MissingColumnError
        A column is missing.

    Warns
    -----
    RatesHiddenWarning
        Billable entries have no amount: what needs it is missing.
    IncompleteDataWarning
        Entries name an invoice that was not passed (by invoice date: unless the entry's own `invoice_date` says
        it is of another period), matter types are unknown, or expenses or fixed fees were not passed.
        On lazy frames this runs two small queries; the result stays lazy.

    Examples
    --------
    An invoice of 900 with an expense of 100 bills time worth 1,000 at 800, of which a quarter is outstanding:

    >>> import pandas as pd
    >>> entries = pd.DataFrame({
    ...     "date": pd.to_datetime(["2026-09-01", "2026-09-02"]), "user_id": ["u1", "u2"],
    ...     "user_name": ["Ada", "Ben"], "matter_id": ["m1", "m1"], "client_id": ["c1", "c1"],
    ...     "hours": [2.0, 2.0], "billing_type": ["billable", "billable"], "amount": [600.0, 400.0],
    ...     "invoice_id": ["i1", "i1"],
    ... })
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1"], "invoice_date": pd.to_datetime(["2026-10-05"]), "client_id": ["c1"],
    ...     "invoice_state": ["final"], "amount": [900.0], "balance": [225.0],
    ... })
    >>> expenses = pd.DataFrame({"invoice_id": ["i1"], "amount": [100.0]})
    >>> matters = pd.DataFrame({"matter_id": ["m1"], "matter_type": ["hourly"]})
    >>> result = realization(entries, invoices, expenses, expenses.head(0), by="user", start="2026-10",
    ...                      matters=matters)
    >>> result[["user_name", "worked_amount", "billed_amount", "billing_realization", "effective_rate"]]
      user_name  worked_amount  billed_amount  billing_realization  effective_rate
    0       Ada          600.0          480.0                  0.8           240.0
    1       Ben          400.0          320.0                  0.8           160.0
    >>> result[["settled_amount", "settlement_ratio", "overall_realization"]]
       settled_amount  settlement_ratio  overall_realization
    0           360.0              0.75                  0.6
    1           240.0              0.75                  0.6
    """
    choice(basis, "basis", ("invoice_date", "work_date"))
    period, types = resolve(start, end), _types(matter_types)
    frames = open_frames(
        time_entries=time_entries,
        invoices=invoices,
        expenses=expenses,
        fixed_fees=fixed_fees,
        matters=matters,
        users=users,
    )
    settings = settle(settings, frames.get("users"))
    rows = frozenset(frames["time_entries"].collect_schema().names())
    sources = Sources(rows, frames.get("matters"), frames.get("users"), settings)
    asked = _Question(basis, period, find_keys(by, sources), sources, matter_type_key(sources), types)
    warn_of_absent_items(expenses=expenses, fixed_fees=fixed_fees)
    return cast("IntoFrameT", close(_answer(frames, asked), time_entries))


def _types(matter_types: Collection[str] | None) -> frozenset[str] | None:
    if matter_types is None:
        return None
    names = [matter_types] if isinstance(matter_types, str) else list(matter_types)
    for name in names or [""]:
        choice(name, "matter_types", MATTER_TYPES)
    # Whoever names every type wants everything: credit notes too, which are on no matter.
    return frozenset(MATTER_TYPES if {*names, UNKNOWN} == set(MATTER_TYPES) else names)


def _answer(frames: dict[str, Frame], asked: _Question) -> Frame:
    kind = asked.kind.base if asked.kind else ()
    columns = [name for name in ("date", *kind, *asked.base) if not name.startswith("_")]
    entries = frames["time_entries"]
    time = billable_time(deferred(entries), columns, ("invoice_date",))
    on_invoices = computed(time_on_invoices(time), entries)
    keep = [name for name in asked.base if name.startswith("client_")]
    terms = invoice_terms(on_invoices, frames["invoices"], frames.get("expenses"), frames.get("fixed_fees"), keep)
    if asked.basis == "work_date":
        work = computed(_followed(time, terms, asked), entries)
    else:
        final = within(terms.filter(C("_invoice_state") == "final"), "_invoice_date", asked.period)
        warn_of_unknown_invoices(on_invoices, terms, asked.period)
        work = computed(_invoiced(time, final, asked), entries)
        work = nw.concat([work, _beside_work(final, work, asked)]).with_columns(_state=nw.lit("final"))
    _warn(work, asked)
    totals = add_up(attach(_measured(work, asked), asked.keys, asked.sources, _MEASURES), asked.keys, _MEASURES)
    return _result(totals, asked)


def _invoiced(time: Frame, final: Frame, asked: _Question) -> Frame:
    """Add up all work on final invoices dated in the period."""
    terms = final.select("invoice_id", "_per_worth", "_per_hour", "_settled", "_invoice_date")
    rows = with_times(lookup(time, terms, "invoice_id", "inner"), asked.keys, "_invoice_date")
    return sums_by_type(_rows(rows.with_columns(_fees=billed_at()), asked), asked.base, _ROW)


def _beside_work(final: Frame, work: Frame, asked: _Question) -> Frame:
    """Give a row of no hours to each invoice whose fees no entry can take: credit notes, fixed fees only."""
    rest = with_times(final.filter(C("_by_worth") + C("_by_hours") < 1), asked.keys, "_invoice_date")
    rest = rest.with_columns(_type=nw.lit(UNKNOWN))
    there, wanted = rest.collect_schema(), work.collect_schema()
    keys = [C(name) if name in there else nothing(wanted[name]).alias(name) for name in asked.base]
    measures = dict.fromkeys(_ROW, nw.lit(0.0)) | {
        "_fees": C("_rest"),
        "_paid": C("_rest") * C("_settled"),
    }
    return rest.select(*keys, **measures)


def _followed(time: Frame, terms: Frame, asked: _Question) -> Frame:
    """Add up the billable time dated in the period, by the state of the invoice it is on."""
    columns = ("invoice_id", "_per_worth", "_per_hour", "_settled", "_invoice_state")
    rows = lookup(within(time, "date", asked.period), terms.select(*columns), "invoice_id")
    rows = with_times(rows.with_columns(_state=state_of()), asked.keys, "date")
    billed = nw.when(C("_state") == "final").then(billed_at()).otherwise(nw.lit(0.0))
    return sums_by_type(_rows(rows.with_columns(_fees=billed), asked), [*asked.base, "_state"], _ROW)


def _rows(rows: Frame, asked: _Question) -> Frame:
    return with_matter_type(rows, asked.kind, asked.sources).with_columns(
        worth=C("worth").fill_null(0.0),
        _paid=C("_fees") * C("_settled").fill_null(0.0),
        _hidden=flag(C("worth").is_null()),
        _rows=nw.lit(1.0),
    )


def _measured(work: Frame, asked: _Question) -> Frame:
    """Tell apart what counts from what is left out, and the billing states."""

    def only(condition: nw.Expr, value: str | nw.Expr) -> nw.Expr:
        return nw.when(condition).then(C(value) if isinstance(value, str) else value).otherwise(nw.lit(0.0))

    counted, final = asked.counted, C("_state") == "final"
    where = {name: counted & (C("_state") == state) for name, state in _BY_STATE.items()}
    where |= {"cohort_amount": counted, "left_out_amount": ~counted}
    rate = mapped("user_id", asked.sources.settings.standard_rates, None, nw.Float64)
    if "user_id" not in asked.base:
        rate = nothing(nw.Float64)
    return work.with_columns(
        **{name: only(condition, "worth") for name, condition in where.items()},
        **{f"_hidden_{name}": only(condition, "_hidden") for name, condition in where.items()},
        standard_amount=only(counted & final, (C("hours") * rate).fill_null(0.0)),
        _hidden_standard_amount=only(counted & final & rate.is_null(), "_rows"),
        billed_amount=only(counted, "_fees"),
        settled_amount=only(counted, "_paid"),
        billable_hours=only(counted & final, "hours"),
        left_out_hours=only(~counted, "hours"),
        left_out_billed_amount=only(~counted, "_fees"),
    )


def _result(totals: Frame, asked: _Question) -> Frame:
    known = {name: nw.when(C(f"_hidden_{name}") == 0).then(C(name)) for name in _AMOUNTS}
    totals = (
        totals.with_columns(**known)
        .with_columns(
            write_down_amount=C("worked_amount") - C("billed_amount"),
            billing_realization=ratio("billed_amount", "worked_amount"),
            settlement_ratio=ratio("settled_amount", "billed_amount"),
            effective_rate=ratio("billed_amount", "billable_hours"),
            billed_to_worked=ratio("billed_amount", "cohort_amount"),
            worked_to_standard=ratio("worked_amount", "standard_amount"),
            billed_to_standard=ratio("billed_amount", "standard_amount"),
        )
        .with_columns(overall_realization=C("billing_realization") * C("settlement_ratio"))
    )
    return finish(totals, asked.keys, _columns(asked))


def _columns(asked: _Question) -> Sequence[str]:
    of_cohort = ("unbilled_amount", "prebill_amount", "unknown_amount", "cohort_amount", "billed_to_worked")
    of_standard = ("standard_amount", "worked_to_standard", "billed_to_standard")
    return (
        "worked_amount",
        "billed_amount",
        "write_down_amount",
        "billing_realization",
        "settled_amount",
        "settlement_ratio",
        "overall_realization",
        "billable_hours",
        "effective_rate",
        *(of_cohort if asked.basis == "work_date" else ()),
        *(of_standard if asked.sources.settings.standard_rates else ()),
        "left_out_hours",
        "left_out_amount",
        "left_out_billed_amount",
    )


def _warn(work: Frame, asked: _Question) -> None:
    """Say what could be counted and not placed, or not be known."""
    count = collect_row(
        work,
        hidden=C("_hidden").sum(),
        unknown=nw.when(C("_state") == "unknown").then(C("_rows")).otherwise(nw.lit(0.0)).sum(),
        untyped=nw.when(C("_type") == UNKNOWN).then(C("_rows")).otherwise(nw.lit(0.0)).sum(),
    )
    say_unknown(int(count["unknown"]), "counted in unknown_amount")
    if count["hidden"]:
        warn(
            f"{int(count['hidden'])} billable time entries have no amount (the credential lacks read.rates); "
            "what they are worth, and realization, is missing where they count.",
            RatesHiddenWarning,
        )
    every_type = asked.matter_types is not None and asked.matter_types >= frozenset(MATTER_TYPES)
    if count["untyped"] and not every_type:
        verb = "counted" if asked.matter_types is None or UNKNOWN in asked.matter_types else "left out"
        warn(
            f"{int(count['untyped'])} time entries are on matters of unknown type; they are {verb}. "
            "Pass matters= (the loader matters(), archived ones too).",
            IncompleteDataWarning,
        )


EXPLANATION = Explanation(
    name="realization",
    question="How much of what the work is worth was billed, and how much of that is settled?",
    formula=(
        "`billing_realization` = `billed_amount` ÷ `worked_amount`; "
        "`overall_realization` = `billing_realization` × `settlement_ratio`"
    ),
    numerator=(
        "`billed_amount`: net billed time fees, which are the invoice's amount less its expenses and fixed fees, "
        "spread over its billable entries in proportion to `amount` (to hours where amounts are hidden). They follow "
        "each entry's own matter, client and user."
    ),
    denominator=(
        "`worked_amount`: worth at their rates of the billable entries on the final invoices counted: those dated in "
        'the period, or with `basis="work_date"` those with work of the period.'
    ),
    left_out=(
        "Time on contingency, pro bono and internal matters, whose worth at hourly rates is not what the firm expects "
        "to bill: `left_out_hours`, `left_out_amount`, `left_out_billed_amount`; `matter_types=` chooses otherwise.",
        "Fixed fees and expenses, and non-billable time, which is worth nothing. An invoice of fixed fees alone has no "
        "billing realization: not 0, not 1.",
        'With `basis="work_date"`, invoices without time. Work on no final invoice yet is in `unbilled_amount`, '
        "`prebill_amount` and `unknown_amount`, not in `worked_amount`.",
    ),
    cannot_tell=(
        "Payments from credits and write-offs: `settled_amount` is what is no longer open, whatever settled it, so it "
        "is not called collected.",
        "Hours as billed, and which entry a write-down was for: it is spread over the whole invoice.",
        "Standard rates; the firm's settings can give them (`standard_amount`).",
    ),
)
"""What `bf.explain("realization")` says."""
