"""The meaning of the arguments that several analyses have; their docstrings are written from it.

An analysis that takes such an argument in another sense describes it in its own docstring, and names it in
`Analysis.own`.
"""

from __future__ import annotations

FRAMES = {
    ("expenses", "fixed_fees"): "With None, no rows count, with a warning. If the firm has none, pass an empty frame.",
    ("matters", "users", "clients"): "For the columns that `by` names, matter types and roles.",
}
"""Frames that an analysis can do without."""

OPTIONS = {
    "by": "Keys to group by; None gives one row.",
    "start": 'First and last day, inclusive, or a period such as "2026-Q3" as `start`.',
    "as_of": "The day to measure from; what is dated on it counts.",
    "settings": "The firm's settings.",
    "matter_types": "Types of matter that count; by default all but contingency, pro bono and internal.",
    "discounts": 'Which items bear an invoice\'s discount: only time, or time and fixed fees by their value ("items").',
    "buckets": "Upper bounds of the buckets in days, rising; the last bucket has no upper bound.",
    "roster": (
        '"timekeepers": everyone whose role is principal, attorney, paralegal or timekeeper, and others with client '
        'hours. "active": only those of them with an entry in the period.'
    ),
    "include_fixed_fee": "Whether `fixedFee` entries are client hours.",
    "include_probono": "Whether `nonBillable` entries on pro bono matters are client hours.",
}
OPTIONS["end"] = OPTIONS["start"]
