"""Stale: old work in progress, archived matters with open amounts, idle matters, and open fixed fees.

Amounts are calculated by `wip` and `aging`, grouped by matter. A finding shows which of them need attention. Work on
contingency matters is beside the other amounts: it waits for the outcome.
"""

from __future__ import annotations

from billframes.analysis.data.arguments import read_date, read_whole_number
from billframes.analysis.data.call import Call
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import Frame
from billframes.analysis.declare.metrics import Measure, shared_measures
from billframes.analysis.declare.spec import Analysis, FromBook, TableSpec
from billframes.analysis.facts.open_matters import OpenMatters
from billframes.periods import DateLike


@sheet("time_entries", "expenses?", "fixed_fees?", "invoices", "matters", "users?")
def stale(call: Call, *, as_of: DateLike, wip_days: int = 90, idle_days: int = 180) -> Frame:
    """
    Old work in progress, archived matters with open amounts, idle matters, and open fixed fees.

    A matter can have several rows. Rows of one finding add up; the same work can be in rows of several findings. Work
    on contingency matters is in `contingent_amount`, all other amounts in `open_amount`. The findings are

    - "old work in progress": work older than `wip_days`, as in `wip`; `since` is the date of the oldest item
    - "archived with work in progress": all work of an archived matter and its billable hours; `since` as before
    - "archived with receivables": an archived matter's balances less credits, as in `aging`, `since` its last invoice
    - "no work or invoice": work and balances of a matter that is not archived and was opened, worked on and invoiced
      (final, above 0) more than `idle_days` ago; `since` is the latest of these days
    - "open fixed fee": a fee dated up to `as_of` and on no final invoice by then; `since` is its date, and `hours`
      those linked to it up to then; `effort_amount` is missing without standard rates or if a person has no rate

    Parameters
    ----------
    time_entries : frame
        All of them, with the columns that `wip` needs, `matter_id` and `fixed_fee_id`, which fixed fees need, too.
    invoices : frame
        All of them, with the columns that `aging` needs.
    matters : frame
        All of them, archived ones included, with `matter_id`, `name`, `archived`, `client_id`, `client_name`,
        `responsible_id` and `responsible_name`; optionally with `opened`, and with `matter_type`, to know contingency.
    users : frame, optional
        With `user_id` and `email`, for settings that name people by their e-mail address.
    wip_days : int
        Work in progress is old if it is older than this number of days.
    idle_days : int
        A matter is idle if its last work, invoice or opening was more than this number of days ago.

    Examples
    --------
    >>> entries = pd.DataFrame({
    ...     "date": pd.to_datetime(["2026-06-01", "2026-03-01"]), "user_id": ["u1", "u1"], "client_id": ["c1", "c1"],
    ...     "matter_id": ["m1", "m2"], "hours": [2.0, 1.0], "billing_type": ["billable", "billable"],
    ...     "amount": [600.0, 300.0], "invoice_id": [None, "i1"], "fixed_fee_id": [None, None],
    ... })
    >>> none = pd.DataFrame({"date": pd.to_datetime([]), "matter_id": [], "amount": [], "invoice_id": []})
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1"], "invoice_date": pd.to_datetime(["2026-03-15"]), "invoice_state": ["final"],
    ...     "due_date": pd.to_datetime(["2026-04-15"]), "amount": [300.0], "balance": [0.0],
    ... })
    >>> matters = pd.DataFrame({
    ...     "matter_id": ["m1", "m2"], "name": ["Sale", "Lease"], "archived": [True, False], "client_id": ["c1", "c1"],
    ...     "client_name": ["Acme", "Acme"], "responsible_id": ["u1", "u1"], "responsible_name": ["Ada", "Ada"],
    ... })
    >>> result = stale(
    ...     entries, expenses=none, fixed_fees=none.assign(fixed_fee_id=[]), invoices=invoices, matters=matters,
    ...     as_of="2026-10-31",
    ... )
    >>> result[["finding", "matter_name", "since", "open_amount"]]
                              finding matter_name      since  open_amount
    0            old work in progress        Sale 2026-06-01        600.0
    1  archived with work in progress        Sale 2026-06-01        600.0
    2              no work or invoice       Lease 2026-03-15          0.0
    """
    day = call.day(read_date(as_of, "as_of"))
    for name, value in (("wip_days", wip_days), ("idle_days", idle_days)):
        read_whole_number(value, name, "days")
    open_matters = OpenMatters.of(call, day, wip_days)
    return call.listed(open_matters.findings(call, idle_days), ANALYSIS.schema)


ANALYSIS = Analysis(
    function=stale,
    question="Which work waits too long, and which matters should be billed, closed or resumed?",
    summary=(
        "It lists old work in progress, and archived matters with work in progress or receivables. It also lists "
        "matters without recent work or invoices, and fixed fees that are not invoiced yet."
    ),
    example=(
        'The matter "Sale" is archived, and its work of June worth 600 is on no invoice. This gives two findings: old '
        'work, and work on an archived matter. The matter "Lease" had its last work and invoice in March: it is idle.'
    ),
    formula=("one row per finding and matter or fixed fee; amounts as in work in progress and receivables by matter"),
    left_out=(
        "Archived matters are not listed as idle. Neither are matters that were opened, worked on or invoiced within "
        "the limit, nor matters without any date, work or invoice.",
        "Work and fees dated after the day, and items on a final invoice dated on or before the day.",
    ),
    cannot_tell=(
        "Whether work waits for a reason, such as a fee due at the end.",
        "Whether a matter was already archived on the day: the status is as loaded.",
        "The hours planned for a fixed fee: they are not in the billing system.",
    ),
    own=("users",),
    rows="by finding, largest amount first, then by name:",
    keys=(
        *("finding", "matter_id", "matter_name", "client_id", "client_name", "responsible_id", "responsible_name"),
        "fixed_fee_id",
    ),
    arguments={"settings": "`standard_rates`: for the effort on fixed fees."},
    columns=(
        Measure("finding", "Finding", "text", "The reason for the row, such as old work in progress."),
        Measure("since", "Waiting since", "date", "The day from which the days count."),
        Measure("days_since", "Days waiting", "count", "Days from that day to the day of the report."),
        Measure(
            "open_amount",
            "Open amount",
            "money",
            "The work in progress, the receivables or the fixed fee of the finding, without work on contingency.",
        ),
        *shared_measures("contingent_amount", "hours"),
        Measure("effort_amount", "Value of hours", "money", "Hours linked to the fixed fee, at standard rates."),
        *shared_measures("last_work_date", "last_invoice_date"),
    ),
    table=TableSpec(
        title="Stale work and matters",
        without=("finding",),
        optional=("effort_amount",),
        brief=("days_since", "open_amount", "contingent_amount", "hours", "last_work_date"),
        if_any=("contingent_amount",),
        keys=("finding", "matter_name", "client_name", "responsible_name"),
        adds_up=False,
    ),
    book=FromBook(first=""),
)
