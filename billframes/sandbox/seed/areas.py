"""The practice areas: how long their matters run, how they are billed, and how much of the work gets paid."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["AREAS", "LABELS", "Area"]


@dataclass(frozen=True, slots=True)
class Area:
    """What the matters of a practice area have in common."""

    key: str
    label: str
    share: float
    """Share of the firm's matters."""
    months: tuple[int, int]
    """Shortest and longest life of a matter."""
    write_down: float
    """Mean share of worked fees that is not billed."""
    spend: float
    """Expenses on a matter in a month of work."""
    code_set: str
    matters: tuple[str, ...]
    """Names of matters; {other} is whoever is on the other side, {place} a place."""


AREAS = (
    Area(
        *("litigation", "Litigation", 0.24, (9, 30), 0.082, 0.9, "UTBMS-LIT"),
        (
            *(
                "{other} v. {client}",
                "{client} v. {other}",
                "{other} contract dispute",
                "{other} supply agreement claim",
            ),
            *("{place} premises liability", "{other} trade secrets action", "Arbitration with {other}"),
            *("{other} insurance coverage action", "{place} construction defect", "Subpoena from {other}"),
        ),
    ),
    Area(
        *("corporate", "Corporate", 0.2, (3, 16), 0.055, 0.35, "UTBMS-PRJ"),
        (
            *(
                "Acquisition of {other}",
                "Series B financing",
                "Sale of {place} division",
                "{other} joint venture",
            ),
            *("Commercial contracts", "Credit facility amendment", "Reorganization of subsidiaries"),
            *("Stock option plan", "{other} distribution agreement", "Governance and minute books"),
        ),
    ),
    Area(
        *("realestate", "Real Estate", 0.15, (2, 12), 0.06, 0.6, "UTBMS-PRJ"),
        (
            *(
                "Purchase of {place} warehouse",
                "{place} office lease",
                "{place} zoning appeal",
                "Sale of {place} parcel",
            ),
            *(
                "Refinancing of {place} property",
                "{place} easement",
                "Lease-up of {place} retail",
                "{other} ground lease",
            ),
        ),
    ),
    Area(
        *("employment", "Employment", 0.13, (3, 20), 0.105, 0.45, "UTBMS-LIT"),
        (
            *(
                "{other} discrimination charge",
                "{other} wage claim",
                "Handbook revision",
                "{other} separation",
            ),
            *("{other} non-compete", "Workplace investigation ({place})", "{other} retaliation claim"),
        ),
    ),
    Area(
        *("ip", "Intellectual Property", 0.1, (4, 24), 0.04, 0.7, "UTBMS-COU"),
        (
            *("Trademark portfolio", "{other} infringement opinion", "Patent prosecution, docket {number}"),
            *("License with {other}", "{other} opposition proceeding", "Freedom-to-operate review"),
        ),
    ),
    Area(
        *("estate", "Estate Planning", 0.16, (2, 7), 0.0, 0.3, "UTBMS-COU"),
        (
            *("Estate plan", "Family trust", "Estate of {relative}", "Charitable remainder trust"),
            *("Powers of attorney and directives", "Gift planning", "Administration of {relative} trust"),
        ),
    ),
    Area(
        *("family", "Family", 0.08, (5, 16), 0.12, 0.5, "UTBMS-LIT"),
        (
            *(
                "Dissolution of marriage",
                "Custody modification",
                "Prenuptial agreement",
                "Support modification",
            ),
            *("Guardianship of {relative}", "Post-judgment motion"),
        ),
    ),
)

# Bankruptcy is a practice area the firm keeps but has no matters in.
LABELS = (*((area.key, area.label) for area in AREAS), ("bankruptcy", "Bankruptcy"))
