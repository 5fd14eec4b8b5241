"""The subjects that a reader can ask about: the figures of each answer, the first of which ranks its rows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from billframes.analysis.declare.lookup import analyses
from billframes.analysis.declare.metrics import bucket_measure
from billframes.analysis.results.figure_names import Figure, find_figures
from billframes.report.month import Month
from billframes.wings import in_report

FLOWS = ("client", "matter", "practice_area", "responsible", "user", "month")
"""The keys of work, fees and cash."""
BALANCES = FLOWS[:-1]
"""The keys of balances, which are those of one day."""


@dataclass(frozen=True)
class Subject:
    """
    Something that can be asked about.

    `figures` are the names of its columns, the first of which ranks the rows and is drawn by month. `options` are those
    of `figures` that it needs. `since` is the first day from which it is known, if later than that of the data.
    """

    name: str
    title: str
    figures: tuple[str, ...]
    is_balance: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    since: dt.date | None = None

    @property
    def by_name(self) -> dict[str, Figure]:
        """The declarations of its figures."""
        return dict(zip(self.figures, find_figures(self.figures), strict=True))


def subjects(month: Month) -> list[Subject]:
    """Return the subjects of a report; those of the wings, such as cash, come before the balances."""
    of_wings = [subject for each in in_report("subjects") for subject in each(month)]
    return sorted([*_SUBJECTS, *of_wings], key=lambda each: each.is_balance)


def _ages(analysis: str, *others: str) -> Iterator[str]:
    """Name the parts of a balance by age, which add up to it, without the names of parts in other results."""
    columns = [each.name for each in analyses()[analysis].columns if bucket_measure(each.name)]
    return (f"{analysis}.{each}" for each in columns if each not in others)


_SUBJECTS = (
    Subject("fees", "Fees", ("fees_amount", "billed_amount", "fixed_fee_amount", "left_out_billed_amount")),
    Subject("hours", "Hours", ("client_hours",)),
    Subject(
        "realization", "Realization", ("write_down_amount", "worked_amount", "billed_amount", "billing_realization")
    ),
    Subject("rate", "Effective rate", ("billed_amount", "realization.billable_hours", "effective_rate")),
    Subject("settled", "Settled", ("settled_amount", "billed_amount", "settlement_ratio")),
    Subject(
        "receivables",
        "Receivables",
        ("receivables", "overdue", "aging.current", *_ages("aging", "0-30"), "credit_amount"),
        is_balance=True,
    ),
    Subject("wip", "Work in progress", ("wip", *_ages("wip"), "contingent_amount"), is_balance=True),
)
