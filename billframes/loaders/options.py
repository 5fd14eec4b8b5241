"""What loaders take by keyword, as type checkers see it.

A loader's signature is spelled out where it is defined. Its overloads, which tell a type checker the kind of frame
that `to=` gives, name the same arguments by these; a test compares the two.
"""

from __future__ import annotations

from typing import TypedDict

from billframes.loaders.loader import Id, Ids, Names, Parameters, Progress
from billframes.periods import DateLike

__all__ = [
    "ClientOptions",
    "CostOptions",
    "InvoiceOptions",
    "MatterOptions",
    "PagedOptions",
    "TimeEntryOptions",
    "UserOptions",
]


class PagedOptions(TypedDict, total=False):
    """What every loader of a list in pages takes."""

    select: Names | None
    sort: Names | None
    modified_since: DateLike | None
    limit: int | None
    progress: bool | Progress | None
    params: Parameters | None


class CostOptions(PagedOptions, total=False):
    """What `expenses` and `fixed_fees` take."""

    user_id: Ids | None
    matter_id: Ids | None
    client_id: Ids | None
    invoice_id: Id | None
    billed: bool | None


class TimeEntryOptions(CostOptions, total=False):
    """What `time_entries` takes."""

    fixed_fee_id: Id | None
    billing_type: str | None


class InvoiceOptions(PagedOptions, total=False):
    """What `invoices` takes."""

    invoice_state: str | None
    client_id: Ids | None
    matter_id: Ids | None


class ClientOptions(PagedOptions, total=False):
    """What `clients` takes."""

    reference: str | None


class MatterOptions(PagedOptions, total=False):
    """What `matters` takes."""

    reference: str | None
    client_reference: str | None
    user_id: Ids | None
    responsible_id: Id | None
    originator_id: Id | None
    client_id: Ids | None
    practice_area_id: Id | None
    archived: bool | None


class UserOptions(TypedDict, total=False):
    """What `users` takes."""

    email: str | None
    role: str | None
    query_full_match: bool | None
    select: Names | None
    params: Parameters | None
