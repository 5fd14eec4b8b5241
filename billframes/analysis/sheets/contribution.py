"""Contribution: all fees by any key, largest first; by originator, each fee counts once.

Time fees and fixed fees on all final invoices of the period count, also those of contingency matters, which
`realization` leaves out.
"""

from __future__ import annotations

from billframes.analysis.data.call import Call
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import Frame
from billframes.analysis.declare.metrics import of_all_types, retitled, shared_measures
from billframes.analysis.declare.spec import Analysis, ChartSpec, TableSpec
from billframes.analysis.keys.by import By
from billframes.analysis.keys.groupby import Keys, Sum
from billframes.analysis.rules.fees import FEES, all_fees
from billframes.periods import DateLike

_SUMS = (Sum("worked_amount", "value"), *FEES, Sum("settled_amount", "settled_fees"))


@sheet("time_entries", "expenses?", "fixed_fees?", "invoices", "matters?", "users?", "clients?")
def contribution(
    call: Call,
    *,
    by: By = "client",
    start: DateLike | None = None,
    end: DateLike | None = None,
) -> Frame:
    """
    All fees by any key, with their share and running share, largest first.

    Fees are the net billed time fees (see `realization`) and the fixed fees on final invoices dated in the period, of
    matters of every type. They add up to the invoices' amounts less their expenses. Pass items and invoices of any
    date, as for `realization`; the period is applied here.

    With `by="originator"`, a matter's fees are split equally among its originators, or by the settings'
    `originator_weights`.

    Parameters
    ----------
    time_entries : frame
        With `hours`, `billing_type`, `amount` and `invoice_id`, and the columns that `by` needs.
    matters : frame, optional
        With the columns that `by` needs, such as `originator_ids` and `originator_names`.

    Examples
    --------
    >>> entries = pd.DataFrame({
    ...     "client_id": ["c1", "c2"], "client_name": ["Acme", "Zenith"], "hours": [2.0, 1.0],
    ...     "billing_type": ["billable", "billable"], "amount": [800.0, 400.0], "invoice_id": ["i1", "i2"],
    ... })
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1", "i2"], "invoice_date": pd.to_datetime(["2026-10-05", "2026-10-06"]),
    ...     "invoice_state": ["final", "final"], "amount": [1000.0, 300.0], "balance": [0.0, 0.0],
    ... })
    >>> expenses = pd.DataFrame({"invoice_id": ["i1"], "amount": [100.0]})
    >>> fees = pd.DataFrame({"client_id": ["c1"], "invoice_id": ["i1"], "amount": [200.0]})
    >>> result = contribution(entries, expenses=expenses, fixed_fees=fees, invoices=invoices, start="2026-10")
    >>> result[["client_name", "billed_amount", "fees_amount", "share", "running_share"]]
      client_name  billed_amount  fees_amount  share  running_share
    0        Acme          700.0        900.0   0.75           0.75
    1      Zenith          300.0        300.0   0.25           1.00

    Ada and Ben brought in the matter of these entries. With weights, three quarters of its fees are Ada's:

    >>> entries, none = entries.assign(matter_id="m1"), pd.DataFrame()
    >>> matters = pd.DataFrame({
    ...     "matter_id": ["m1"], "originator_ids": [["u1", "u2"]], "originator_names": [["Ada", "Ben"]],
    ... })
    >>> firm = bf.FirmSettings(originator_weights={"m1": {"u1": 0.75, "u2": 0.25}})
    >>> users = pd.DataFrame({"user_id": ["u1", "u2"], "name": ["Ada", "Ben"]})
    >>> frames = {"expenses": none, "fixed_fees": none, "invoices": invoices, "matters": matters, "users": users}
    >>> contribution(entries, **frames, by="originator", settings=firm)[["originator_name", "fees_amount"]]
      originator_name  fees_amount
    0             Ada        975.0
    1             Ben        325.0
    """
    keys = Keys.of(call, by)
    totals = all_fees(call, keys, call.period(start, end), sums=_SUMS)
    fees = keys.finish(totals, [name for name in ANALYSIS.measure_names if not name.endswith("share")])
    return keys.with_shares(fees, "fees_amount", ANALYSIS.measure_names)


ANALYSIS = Analysis(
    function=contribution,
    question="Which clients, matters or people do the fees come from?",
    summary=(
        "It shows the fees on final invoices, from large to small, and the share of each row in all fees. By "
        "originator, it credits each matter's fees to the people who brought it in, equally or by the weights in the "
        "firm's settings."
    ),
    example=(
        "Acme's invoice of 1000 has 700 of time, a fixed fee of 200 and expenses of 100, so its fees are 900. "
        "Zenith is billed 300. Acme has 75% of all fees and Zenith 25%."
    ),
    formula="fees ÷ all fees",
    numerator="net billed time fees and fixed fees on final invoices dated in the period",
    denominator="the same of all rows together",
    left_out=(
        "Expenses and tax: they are not fees.",
        "Work that is not on a final invoice of the period.",
        "Nothing else. Invoices without items, such as credit notes, belong to their client; by matter, user and "
        "similar keys they are `Unassigned`, even if they name a matter. Their balances (`aging`) are on that matter.",
    ),
    cannot_tell=(
        "The cash received, and when it was received.",
        "Who did the work for a fixed fee: it counts for the user of the fee.",
        "Agreed parts of originators that are not in the settings, and who was originator when the work was done: the "
        "matter's present originators count.",
    ),
    arguments={
        "by": 'Months are those of the invoices\' dates. "originator" divides the fees among originators, whoever did '
        'the work; `by=["originator", "user"]` shows who did it.',
        "start": "By invoice date.",
        "settings": "Used are `originator_weights`, which add up to 1 for each matter, and `roles`.",
    },
    rows="largest fees first, then by label: the keys, then",
    columns=(
        retitled(
            "worked_amount",
            "Value of time billed, all types",
            "Value, at its rates, of the billable time on the invoices counted; by originator, everyone’s on their "
            "matters. Matters of every type count.",
        ),
        *of_all_types("billed_amount"),
        *shared_measures("fixed_fee_amount", "fees_amount"),
        *of_all_types("settled_amount"),
        retitled(
            "share",
            "Share of fees",
            "The row’s part of the fees of all rows.",
            formula="fees_amount / sum(fees_amount)",
        ),
        *shared_measures("running_share"),
    ),
    table=TableSpec(title="All fees"),
    chart=ChartSpec(
        kind="running_share",
        title="All fees (bars) and running share (line)",
        columns=("fees_amount", "running_share"),
        words=["{fees_amount} · {share}"],
        shows="fees (bars) and their running share (line, read at the top).",
        more="The text at the right is the fees and their share.",
    ),
)
