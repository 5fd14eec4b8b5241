# Written by `python -m tests.typing.make_stub` from the loaders' signatures; not edited by hand.
import datetime as dt
from collections.abc import Collection, Mapping
from typing import Any, Literal, TypedDict, Unpack, overload

import pandas as pd
import polars as pl
import pyarrow as pa
from msgspec import UNSET, UnsetType

from billframes.bulk.plan import Plan
from billframes.loaders.loader import Id, Ids, Loader, Names, Parameters
from billframes.loading.progress import Progress
from billframes.loading.record import Record
from billframes.loading.request_bodies import SetFields
from billframes.periods import DateLike

__all__ = [
    "ClientBalancesLoader",
    "Clients",
    "CodeSets",
    "Codes",
    "CustomFields",
    "Expenses",
    "FixedFees",
    "Health",
    "Invoices",
    "Matters",
    "PracticeAreas",
    "TimeEntries",
    "Users",
]

class _Counted(TypedDict, total=False):
    modified_since: DateLike | None
    params: Parameters | None

class _Paged(TypedDict, total=False):
    select: Names | None
    sort: Names | None
    limit: int | None
    progress: bool | Progress | None

class _SingleRecords(Loader):
    def delete(self, id: Id) -> None: ...
    def get(self, id: Id) -> Record: ...
    def plan(self, edited: Any = None, *, delete: Id | Collection[Id] = (), duplicates: bool = False) -> Plan: ...

class _ToOnly(Loader):
    @overload
    def __call__(self, *, to: Literal["pandas"] = "pandas") -> pd.DataFrame: ...
    @overload
    def __call__(self, *, to: Literal["arrow"]) -> pa.Table: ...
    @overload
    def __call__(self, *, to: Literal["polars"]) -> pl.DataFrame: ...

class _ClientBalancesLoaderOptions(TypedDict, total=False):
    normalize: bool
    progress: bool | Progress | None

class ClientBalancesLoader(Loader):
    @overload
    def __call__(
        self,
        client_ids: Id | Collection[Id] | None = None,
        *,
        to: Literal["pandas"] = "pandas",
        **options: Unpack[_ClientBalancesLoaderOptions],
    ) -> pd.DataFrame: ...
    @overload
    def __call__(
        self,
        client_ids: Id | Collection[Id] | None = None,
        *,
        to: Literal["arrow"],
        **options: Unpack[_ClientBalancesLoaderOptions],
    ) -> pa.Table: ...
    @overload
    def __call__(
        self,
        client_ids: Id | Collection[Id] | None = None,
        *,
        to: Literal["polars"],
        **options: Unpack[_ClientBalancesLoaderOptions],
    ) -> pl.DataFrame: ...

class _Clients(_Counted, total=False):
    reference: str | None

class _ClientsOptions(_Clients, _Paged, total=False): ...

class Clients(_SingleRecords):
    @overload
    def __call__(
        self, query: str | None = None, *, to: Literal["pandas"] = "pandas", **options: Unpack[_ClientsOptions]
    ) -> pd.DataFrame: ...
    @overload
    def __call__(
        self, query: str | None = None, *, to: Literal["arrow"], **options: Unpack[_ClientsOptions]
    ) -> pa.Table: ...
    @overload
    def __call__(
        self, query: str | None = None, *, to: Literal["polars"], **options: Unpack[_ClientsOptions]
    ) -> pl.DataFrame: ...
    def count(self, query: str | None = None, **options: Unpack[_Clients]) -> int: ...
    def create(
        self,
        *,
        name: str,
        reference: str | UnsetType | None = UNSET,
        contact: Mapping[str, Any] | Record | UnsetType = UNSET,
        notes: str | UnsetType | None = UNSET,
        custom_fields: Mapping[str, Any] | UnsetType | None = UNSET,
    ) -> Record | None: ...
    def update(
        self,
        id: Id,
        *,
        name: str | UnsetType | None = UNSET,
        reference: str | UnsetType | None = UNSET,
        notes: str | UnsetType | None = UNSET,
        contact: Mapping[str, Any] | Record | SetFields | UnsetType = UNSET,
        custom_fields: Mapping[str, Any] | UnsetType | None = UNSET,
    ) -> Record | None: ...

class CodeSets(_ToOnly): ...
class Codes(_ToOnly): ...

class CustomFields(Loader):
    @overload
    def __call__(self, entity: str | None = None, *, to: Literal["pandas"] = "pandas") -> pd.DataFrame: ...
    @overload
    def __call__(self, entity: str | None = None, *, to: Literal["arrow"]) -> pa.Table: ...
    @overload
    def __call__(self, entity: str | None = None, *, to: Literal["polars"]) -> pl.DataFrame: ...

class _Expenses(_Counted, total=False):
    user_id: Ids | None
    matter_id: Ids | None
    client_id: Ids | None
    invoice_id: Id | None
    billed: bool | None
    user: Names | None
    matter: Names | None
    client: Names | None

class _ExpensesOptions(_Expenses, _Paged, total=False): ...

class Expenses(_SingleRecords):
    @overload
    def __call__(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        to: Literal["pandas"] = "pandas",
        **options: Unpack[_ExpensesOptions],
    ) -> pd.DataFrame: ...
    @overload
    def __call__(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        to: Literal["arrow"],
        **options: Unpack[_ExpensesOptions],
    ) -> pa.Table: ...
    @overload
    def __call__(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        to: Literal["polars"],
        **options: Unpack[_ExpensesOptions],
    ) -> pl.DataFrame: ...
    def count(
        self, start: DateLike | None = None, end: DateLike | None = None, **options: Unpack[_Expenses]
    ) -> int: ...
    def create(
        self,
        *,
        matter_id: Id,
        date: DateLike,
        description: str,
        amount: float,
        user_id: Id | UnsetType | None = UNSET,
        expense_code: str | UnsetType | None = UNSET,
    ) -> Record | None: ...
    def update(
        self,
        id: Id,
        *,
        matter_id: Id | UnsetType | None = UNSET,
        user_id: Id | UnsetType | None = UNSET,
        date: DateLike | UnsetType | None = UNSET,
        description: str | UnsetType | None = UNSET,
        amount: float | UnsetType | None = UNSET,
        expense_code: str | UnsetType | None = UNSET,
    ) -> Record | None: ...

class _FixedFees(_Counted, total=False):
    user_id: Ids | None
    matter_id: Ids | None
    client_id: Ids | None
    invoice_id: Id | None
    billed: bool | None
    user: Names | None
    matter: Names | None
    client: Names | None

class _FixedFeesOptions(_FixedFees, _Paged, total=False): ...

class FixedFees(_SingleRecords):
    @overload
    def __call__(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        to: Literal["pandas"] = "pandas",
        **options: Unpack[_FixedFeesOptions],
    ) -> pd.DataFrame: ...
    @overload
    def __call__(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        to: Literal["arrow"],
        **options: Unpack[_FixedFeesOptions],
    ) -> pa.Table: ...
    @overload
    def __call__(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        to: Literal["polars"],
        **options: Unpack[_FixedFeesOptions],
    ) -> pl.DataFrame: ...
    def count(
        self, start: DateLike | None = None, end: DateLike | None = None, **options: Unpack[_FixedFees]
    ) -> int: ...
    def create(
        self,
        *,
        matter_id: Id,
        date: DateLike,
        description: str,
        amount: float,
        user_id: Id | UnsetType | None = UNSET,
        activity_code: str | UnsetType | None = UNSET,
        task_code: str | UnsetType | None = UNSET,
    ) -> Record | None: ...
    def update(
        self,
        id: Id,
        *,
        date: DateLike | UnsetType | None = UNSET,
        matter_id: Id | UnsetType | None = UNSET,
        user_id: Id | UnsetType | None = UNSET,
        description: str | UnsetType | None = UNSET,
        amount: float | UnsetType | None = UNSET,
        activity_code: str | UnsetType | None = UNSET,
        task_code: str | UnsetType | None = UNSET,
    ) -> Record | None: ...

class Health(_ToOnly): ...

class _Invoices(_Counted, total=False):
    invoice_state: str | None
    client_id: Ids | None
    matter_id: Ids | None
    client: Names | None
    matter: Names | None

class _InvoicesOptions(_Invoices, _Paged, total=False): ...

class Invoices(Loader):
    @overload
    def __call__(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        to: Literal["pandas"] = "pandas",
        **options: Unpack[_InvoicesOptions],
    ) -> pd.DataFrame: ...
    @overload
    def __call__(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        to: Literal["arrow"],
        **options: Unpack[_InvoicesOptions],
    ) -> pa.Table: ...
    @overload
    def __call__(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        to: Literal["polars"],
        **options: Unpack[_InvoicesOptions],
    ) -> pl.DataFrame: ...
    def count(
        self, start: DateLike | None = None, end: DateLike | None = None, **options: Unpack[_Invoices]
    ) -> int: ...

class _Matters(_Counted, total=False):
    reference: str | None
    client_reference: str | None
    user_id: Ids | None
    responsible_id: Id | None
    originator_id: Id | None
    client_id: Ids | None
    practice_area_id: Id | None
    archived: bool | None
    user: Names | None
    responsible: str | None
    originator: str | None
    client: Names | None
    practice_area: str | None

class _MattersOptions(_Matters, _Paged, total=False): ...

class Matters(_SingleRecords):
    @overload
    def __call__(
        self, query: str | None = None, *, to: Literal["pandas"] = "pandas", **options: Unpack[_MattersOptions]
    ) -> pd.DataFrame: ...
    @overload
    def __call__(
        self, query: str | None = None, *, to: Literal["arrow"], **options: Unpack[_MattersOptions]
    ) -> pa.Table: ...
    @overload
    def __call__(
        self, query: str | None = None, *, to: Literal["polars"], **options: Unpack[_MattersOptions]
    ) -> pl.DataFrame: ...
    def archive(self, id: Id) -> Record | None: ...
    def count(self, query: str | None = None, **options: Unpack[_Matters]) -> int: ...
    def create(
        self,
        *,
        name: str,
        client_id: Id,
        responsible_id: Id,
        reference: str | UnsetType | None = UNSET,
        matter_type: str | UnsetType = UNSET,
        originator_id: Id | UnsetType | None = UNSET,
        opened: DateLike | UnsetType | None = UNSET,
        archived: bool | UnsetType = UNSET,
        conflict_information: Mapping[str, Any] | Record | UnsetType | None = UNSET,
        billing_instructions: str | UnsetType | None = UNSET,
        notes: str | UnsetType | None = UNSET,
        referral_sources: str | UnsetType | None = UNSET,
        practice_area_id: Id | UnsetType | None = UNSET,
        rate_group_id: Id | UnsetType | None = UNSET,
        custom_fields: Mapping[str, Any] | UnsetType | None = UNSET,
    ) -> Record | None: ...
    def unarchive(self, id: Id) -> Record | None: ...
    def update(
        self,
        id: Id,
        *,
        name: str | UnsetType | None = UNSET,
        reference: str | UnsetType | None = UNSET,
        client_id: Id | UnsetType | None = UNSET,
        responsible_id: Id | UnsetType | None = UNSET,
        opened: DateLike | UnsetType | None = UNSET,
        archived: bool | UnsetType | None = UNSET,
        conflict_information: Mapping[str, Any] | Record | SetFields | UnsetType | None = UNSET,
        billing_instructions: str | UnsetType | None = UNSET,
        notes: str | UnsetType | None = UNSET,
        referral_sources: str | UnsetType | None = UNSET,
        practice_area_id: Id | UnsetType | None = UNSET,
        custom_fields: Mapping[str, Any] | UnsetType | None = UNSET,
    ) -> Record | None: ...

class PracticeAreas(_ToOnly):
    def create(self, *, label: str, default: bool | UnsetType = UNSET) -> Record | None: ...
    def delete(self, id: Id) -> None: ...
    def update(
        self, id: Id, *, label: str | UnsetType | None = UNSET, default: bool | UnsetType | None = UNSET
    ) -> Record | None: ...

class _TimeEntries(_Counted, total=False):
    user_id: Ids | None
    matter_id: Ids | None
    client_id: Ids | None
    invoice_id: Id | None
    fixed_fee_id: Id | None
    billing_type: str | None
    billed: bool | None
    user: Names | None
    matter: Names | None
    client: Names | None

class _TimeEntriesOptions(_TimeEntries, _Paged, total=False): ...

class TimeEntries(_SingleRecords):
    @overload
    def __call__(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        to: Literal["pandas"] = "pandas",
        **options: Unpack[_TimeEntriesOptions],
    ) -> pd.DataFrame: ...
    @overload
    def __call__(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        to: Literal["arrow"],
        **options: Unpack[_TimeEntriesOptions],
    ) -> pa.Table: ...
    @overload
    def __call__(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        to: Literal["polars"],
        **options: Unpack[_TimeEntriesOptions],
    ) -> pl.DataFrame: ...
    def count(
        self, start: DateLike | None = None, end: DateLike | None = None, **options: Unpack[_TimeEntries]
    ) -> int: ...
    def create(
        self,
        *,
        matter_id: Id,
        date: DateLike,
        description: str,
        hours: float,
        user_id: Id | UnsetType | None = UNSET,
        time: str | dt.time | UnsetType | None = UNSET,
        rate: float | UnsetType | None = UNSET,
        billing_type: str | UnsetType = UNSET,
        fixed_fee_id: Id | UnsetType | None = UNSET,
        activity_code: str | UnsetType | None = UNSET,
        task_code: str | UnsetType | None = UNSET,
        acting_user: Id | None = None,
    ) -> Record | None: ...
    def update(
        self,
        id: Id,
        *,
        user_id: Id | UnsetType | None = UNSET,
        matter_id: Id | UnsetType | None = UNSET,
        date: DateLike | UnsetType | None = UNSET,
        time: str | dt.time | UnsetType | None = UNSET,
        description: str | UnsetType | None = UNSET,
        hours: float | UnsetType | None = UNSET,
        rate: float | UnsetType | None = UNSET,
        billing_type: str | UnsetType | None = UNSET,
        fixed_fee_id: Id | UnsetType | None = UNSET,
        activity_code: str | UnsetType | None = UNSET,
        task_code: str | UnsetType | None = UNSET,
    ) -> Record | None: ...

class _UsersOptions(TypedDict, total=False):
    email: str | None
    role: str | None
    query_full_match: bool | None
    select: Names | None
    params: Parameters | None

class Users(Loader):
    @overload
    def __call__(
        self, query: str | None = None, *, to: Literal["pandas"] = "pandas", **options: Unpack[_UsersOptions]
    ) -> pd.DataFrame: ...
    @overload
    def __call__(
        self, query: str | None = None, *, to: Literal["arrow"], **options: Unpack[_UsersOptions]
    ) -> pa.Table: ...
    @overload
    def __call__(
        self, query: str | None = None, *, to: Literal["polars"], **options: Unpack[_UsersOptions]
    ) -> pl.DataFrame: ...
    def update(self, id: Id, *, custom_fields: Mapping[str, Any] | UnsetType | None = UNSET) -> Record | None: ...
