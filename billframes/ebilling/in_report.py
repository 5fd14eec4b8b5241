"""E-billing: what clients' portals would reject of the month's work, as `billframes ledes --check` counts it."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pandas as pd

from billframes._shared.format import count_of
from billframes.analysis.data.distinct_names import DistinctNames
from billframes.analysis.declare.columns import UNASSIGNED
from billframes.analysis.declare.metrics import Measure
from billframes.book import Book
from billframes.ebilling.check import ledes_check
from billframes.report.key_points import Point
from billframes.report.month import Month
from billframes.report.section_spec import SectionSpec
from billframes.report.table_spec import ReportTable
from billframes.report.to_do import ToDo, by_person, names

_E_BILLING = (
    "Findings of the LEDES check that clients’ portals reject, on the month’s work that is not on a final invoice. An "
    "item can have several findings, and a finding without an item concerns a person or a matter."
)
FINDINGS = Measure("findings", "Findings", "count", "The number of findings; each row is one.", adds_up=True)
_UNKNOWN = "its code is not known"
_WORK = "E-billing: the month’s work that is not on a final invoice has"


@dataclass(frozen=True)
class EBilling:
    """
    Findings that portals reject on the month's work that is on no final invoice: on an item, a person or a matter.

    `unknown_codes` are items whose codes are not known, with their matters; `needed` says whether matters need LEDES.
    """

    findings: pd.DataFrame = field(default_factory=pd.DataFrame)
    unknown_codes: frozenset[tuple[str, str]] = frozenset()
    needed: bool = False

    @property
    def rejected(self) -> int:
        """How many findings portals reject."""
        return len(self.findings)

    @property
    def count(self) -> str:
        """The number of findings in words."""
        return f"{self.rejected or 'no'} finding{'' if self.rejected == 1 else 's'} that clients’ portals reject"

    @property
    def summary(self) -> str:
        """The findings in a few sentences; empty if no matter needs LEDES."""
        if not self.needed:
            return ""
        unknown = len(self.unknown_codes)
        more = f" The codes of {unknown} expenses and fixed fees are not known." if unknown else ""
        by = f" By responsible lawyer: {self.by_responsible}." if self.rejected else ""
        return f"{_WORK} {self.count}.{by}{more}"

    @property
    def by_responsible(self) -> str:
        """The findings by responsible lawyer, such as "Ada Ruiz 3, Ben Okafor 1"."""
        counts = Counter(self.findings["responsible_name"].fillna(UNASSIGNED))
        return ", ".join(
            f"{name} {count}" for name, count in sorted(counts.items(), key=lambda each: (-each[1], each[0]))
        )

    def for_matters(self, matters: pd.DataFrame) -> EBilling:
        """Return the findings on those of the matters that have LEDES billing."""
        ids = set(matters.loc[matters["ledes_enabled"].fillna(False), "matter_id"])
        if not (self.needed and ids):
            return EBilling()
        found = self.findings
        found = found[found["matter_id"].isin(ids)].reset_index(drop=True) if len(found) else found
        return EBilling(found, frozenset(each for each in self.unknown_codes if each[1] in ids), needed=True)


def load(month: Month, _files: Sequence[str]) -> None:
    """Check the month's work, and keep what was found with the month."""
    month.parts["ebilling"] = check_e_billing(month.firm_book, month.first, month.last)


def _found(month: Month) -> EBilling:
    found: EBilling = month.parts["ebilling"] if "ebilling" in month.parts else EBilling()
    return found


def check_e_billing(book: Book, first: dt.date, last: dt.date) -> EBilling:
    """
    Check the month's work on matters with LEDES billing that is on no final invoice.

    Codes of expenses and fixed fees are loaded one by one, only for matters that require them. A mirror knows only the
    codes that it has stored.
    """
    if not book.matters["ledes_enabled"].fillna(False).any():
        return EBilling()
    found = ledes_check(book, start=first, end=last, progress=False)
    found = DistinctNames(book.clients, book.matters, book.users)(found[found["severity"] == "rejected"])
    unknown = found["problem"].str.startswith(_UNKNOWN)
    items = found.loc[unknown, ["item_id", "matter_id"]]
    known = found[~unknown].reset_index(drop=True)
    return EBilling(known, frozenset(items.itertuples(index=False, name=None)), needed=True)


def about_open_work(month: Month) -> str:
    """Return the findings in a few sentences."""
    return _found(month).summary


def points(month: Month) -> Iterator[Point]:
    """Say how many findings the month's unbilled work has."""
    found = _found(month)
    if not found.rejected:
        return
    headline = f"The {month.noun}’s unbilled work has {found.count}."
    yield Point(headline, f"By responsible lawyer: {found.by_responsible}.", "work_in_progress", 1.0)


def _codes(month: Month) -> Iterator[ToDo]:
    found = _found(month)
    if not found.rejected:
        return
    items = found.findings.dropna(subset=["item_id"]).drop_duplicates("item_id")
    amounts = _amounts(month)
    for person, mine in by_person(items):
        what, amount = f"Add codes to {count_of(len(mine), 'item')}", float(mine["item_id"].map(amounts).sum())
        yield ToDo(person, what, names(mine["matter_name"]), amount, "work_in_progress", person)


TO_DO = (_codes,)


def _amounts(month: Month) -> dict[str, float]:
    book = month.firm_book
    frames = ((book.time_entries, "time_entry_id"), (book.expenses, "expense_id"), (book.fixed_fees, "fixed_fee_id"))
    return {str(id_): amount for frame, key in frames for id_, amount in frame[[key, "amount"]].to_numpy()}


def _table(month: Month) -> ReportTable | None:
    found = _found(month)
    if not found.needed:
        return None
    labels = ("responsible_name", "matter_name", "date", "item", "field", "problem", "value", "fix")
    rows = found.findings.reindex(columns=[*labels])
    rows = rows.sort_values(["responsible_name", "matter_name", "date"], kind="stable", ignore_index=True)
    return ReportTable(
        title="E-billing",
        label="item_id",
        labels=labels,
        rows=rows.assign(findings=1.0),
        total=rows.iloc[:0],
        columns=(FINDINGS,),
        meaning=(_E_BILLING, found.summary),
    )


SECTIONS = {"invoices": (SectionSpec(name="rejected_items", tables=(_table,), on_page=False),)}
