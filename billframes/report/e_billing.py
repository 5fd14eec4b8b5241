"""E-billing: what clients' portals would reject of the month's work, as `billframes ledes --check` counts it."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from dataclasses import dataclass, field

import pandas as pd

from billframes.analysis.data.distinct_names import DistinctNames
from billframes.book import Book
from billframes.ebilling import ledes_check

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
        counts = Counter(self.findings["responsible_name"].fillna("Unassigned"))
        return ", ".join(
            f"{name} {count}" for name, count in sorted(counts.items(), key=lambda each: (-each[1], each[0]))
        )

    def for_matters(self, matter_ids: set[str]) -> EBilling:
        """Return the findings on some of the matters with LEDES billing."""
        if not (self.needed and matter_ids):
            return EBilling()
        found = self.findings
        found = found[found["matter_id"].isin(matter_ids)].reset_index(drop=True) if len(found) else found
        return EBilling(found, frozenset(each for each in self.unknown_codes if each[1] in matter_ids), needed=True)


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
