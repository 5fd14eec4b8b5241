"""One firm with every edge at once, and every analysis asked of it: what all engines must answer alike.

A new analysis joins with a line in `CALLS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from billframes import FirmSettings
from billframes.analysis import aging, realization, utilization

__all__ = ["CALLS", "rich"]

Frames = dict[str, Any]

SETTINGS = FirmSettings(
    holidays=["2026-10-05"],
    user_hours={"u2": 4.0},
    leave={"u1": ["2026-10-06"]},
    targets={"u1": {"hours": 1800, "period": "year"}},
    standard_rates={"u1": 400.0, "u2": 250.0},
    originator_weights={"m5": {"u1": 0.25, "u2": 0.75}},
)


def rich(firm: Any) -> Frames:
    """
    Frames with what goes wrong somewhere: missing ids, names, amounts and due dates, corrections, hidden rates,
    invoices of several matters, of fixed fees only, credit notes, prebills, and ids that nothing explains.
    """
    return {
        "time_entries": firm.entries(
            ("2026-09-30", "u1", "c1", "m1", "billable", 2.0, 600.0, "i1"),
            ("2026-10-01", "u1", "c1", "m1", "billable", 3.0, 900.0, "i1"),
            ("2026-10-01", "u2", "c2", "m2", "billable", 1.5, 300.0, "i1"),
            ("2026-10-02", "u2", "c2", "m2", "billable", -0.5, -100.0, "i2"),
            ("2026-10-10", "u2", "c2", "m2", "billable", 4.0, None, "i2"),
            ("2026-10-12", "u1", "c3", "m3", "nonBillable", 2.0, None, None),
            ("2026-10-12", "u3", "c3", "m4", "nonBillable", 1.0, None, None),
            ("2026-10-13", "u9", "c3", "m5", "billable", 2.0, 500.0, "i3"),
            ("2026-10-14", "u1", "c3", "m5", "fixedFee", 3.0, None, "i3"),
            ("2026-10-15", "u1", "c1", "m1", "billable", 1.0, 300.0, None),
            ("2026-10-16", "u1", "c1", "m1", "billable", 1.0, 300.0, "lost"),
            ("2026-10-31", None, None, "m9", "billable", 1.0, 200.0, "i4"),
            ("2026-11-01", "u1", "c1", "m1", "billable", 8.0, 2400.0, None),
        ),
        "invoices": firm.invoices(
            ("i1", "2026-10-05", "final", "2026-11-04", "c1", 1700.0, 425.0),
            ("i2", "2026-10-06", "final", None, "c2", 1000.0, 1000.0),
            ("i3", "2026-10-20", "final", "2026-09-01", "c3", 450.0, 450.0),
            ("i4", "2026-10-31", "draft", None, None, 200.0, 200.0),
            ("i5", "2026-10-07", "final", "2026-10-07", "c1", -150.0, -150.0),
            ("i6", "2026-10-08", "final", "2026-06-01", "c3", 80.0, 80.0),
            ("i7", "2026-12-01", "final", "2026-12-31", "c3", 80.0, 80.0),
        ),
        "expenses": firm.items(("m1", "u1", 100.0, "i1"), ("m2", None, 40.0, "i2"), ("m1", "u1", 10.0, None)),
        "fixed_fees": firm.items(("m5", None, 300.0, "i3"), ("m3", "u1", 80.0, "i6")),
        "matters": firm.matters(),
        "users": firm.users(),
    }


def call(function: Callable[..., Any], *frames: str, **options: Any) -> Callable[[Frames], Any]:
    """Ask one thing of a firm: with the frames of these names, by keyword, and these options."""
    return lambda firm: function(**{name: firm[name] for name in frames}, **options)


PEOPLE = ("matters", "users")
BILLS = ("invoices", "expenses", "fixed_fees")
WORK = ("time_entries", *BILLS, *PEOPLE)

# Every key on some analysis, and every analysis by no key and by several.
CALLS: dict[str, Callable[[Frames], Any]] = {
    "utilization by user": call(utilization, "time_entries", *PEOPLE, start="2026-10", settings=SETTINGS),
    "utilization by role and month": call(
        utilization, "time_entries", *PEOPLE, start="2026-09-30", end="2026-11-01", by=["role", "month"]
    ),
    "utilization of the firm": call(utilization, "time_entries", *PEOPLE, start="2026-10", by=None),
    "utilization by client": call(
        utilization, "time_entries", *PEOPLE, start="2026-10", by="client", roster="active", include_probono=True
    ),
    "realization by originator": call(
        realization, *WORK, start="2026-10", by="originator", matter_types=["hourly", "contingency"], settings=SETTINGS
    ),
    "realization by client and month": call(realization, *WORK, by=["client", "month"], settings=SETTINGS),
    "realization by work date": call(realization, *WORK, by="matter", basis="work_date", start="2026-10"),
    "realization of the firm": call(realization, *WORK, basis="work_date"),
    "aging by client": call(aging, "invoices", as_of="2026-11-15", by="client"),
    "aging by matter and user": call(aging, *WORK, as_of="2026-11-15", by=["matter", "user"]),
    "aging by practice area": call(aging, *WORK, as_of="2026-11-15", by=["practice_area", "quarter"]),
    "aging by invoice date": call(aging, "invoices", as_of="2026-11-15", basis="invoice_date"),
}
