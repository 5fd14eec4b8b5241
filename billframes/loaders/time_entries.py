"""The loader of time entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Unpack, overload

import pandas as pd
import pyarrow as pa

from billframes.loaders.docs import shared_docs
from billframes.loaders.loader import Frame, Id, Ids, Names, PagedLoader, Parameters, Progress
from billframes.loaders.options import TimeEntryOptions
from billframes.loaders.work_records import TimeEntryVerbs
from billframes.periods import DateLike
from billframes.schema.resources import TIME_ENTRIES

if TYPE_CHECKING:
    import polars as pl


__all__ = ["TimeEntries"]


class TimeEntries(PagedLoader, TimeEntryVerbs):
    """Load time entries."""

    resource = TIME_ENTRIES

    @overload
    def __call__(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        to: Literal["pandas"] = "pandas",
        **options: Unpack[TimeEntryOptions],
    ) -> pd.DataFrame: ...

    @overload
    def __call__(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        to: Literal["arrow"],
        **options: Unpack[TimeEntryOptions],
    ) -> pa.Table: ...

    @overload
    def __call__(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        to: Literal["polars"],
        **options: Unpack[TimeEntryOptions],
    ) -> pl.DataFrame: ...

    @shared_docs(
        dated="their date",
        select="client, matter, user, meta, fixedFee",
        sort="date, hours, description, created",
        order="date",
        row="a time entry",
    )
    def __call__(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        user_id: Ids | None = None,
        matter_id: Ids | None = None,
        client_id: Ids | None = None,
        invoice_id: Id | None = None,
        fixed_fee_id: Id | None = None,
        billing_type: str | None = None,
        billed: bool | None = None,
        select: Names | None = None,
        sort: Names | None = None,
        modified_since: DateLike | None = None,
        limit: int | None = None,
        progress: bool | Progress | None = None,
        params: Parameters | None = None,
        to: str = "pandas",
    ) -> Frame:
        """
        Load time entries.

        Parameters
        ----------
        {period}
        user_id : str, UUID or list of these, optional
            Only these timekeepers'; one id or a list.
        matter_id : str, UUID or list of these, optional
            Only these matters'; one id or a list.
        client_id : str, UUID or list of these, optional
            Only these clients'; one id or a list.
        invoice_id : str or UUID, optional
            Only what is on this invoice. The API's description lacks this filter: it is sent, and applied here where
            the server ignores it, which reads all that the other filters leave.
        fixed_fee_id : str or UUID, optional
            Only time under this fixed fee.
        billing_type : str, optional
            "nonBillable", "billable" or "fixedFee".
        billed : bool, optional
            True: only what is on an invoice in any state, drafts included; False: only what is on none.
        {paged}

        Returns
        -------
        {returns}

        Raises
        ------
        {raises}

        Examples
        --------
        >>> entries = bf.time_entries("2026-10", billing_type="billable")
        >>> entries[["hours", "amount"]].dtypes.astype(str).tolist()
        ['float64', 'float64']
        """
        frame: Frame = self._load(
            {
                "user_id": user_id,
                "matter_id": matter_id,
                "client_id": client_id,
                "invoice_id": invoice_id,
                "fixed_fee_id": fixed_fee_id,
                "billing_type": billing_type,
                "billed": billed,
            },
            start=start,
            end=end,
            select=select,
            sort=sort,
            modified_since=modified_since,
            limit=limit,
            progress=progress,
            params=params,
            to=to,
        )
        return frame

    @shared_docs(dated="their date")
    def count(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        user_id: Ids | None = None,
        matter_id: Ids | None = None,
        client_id: Ids | None = None,
        invoice_id: Id | None = None,
        fixed_fee_id: Id | None = None,
        billing_type: str | None = None,
        billed: bool | None = None,
        modified_since: DateLike | None = None,
        params: Parameters | None = None,
    ) -> int:
        """
        Count the time entries that match, with one small request.

        Parameters are those of the loader; the records themselves are not loaded, except with `invoice_id=`.

        Returns
        -------
        int

        Raises
        ------
        {raises}
        """
        return self._count(
            {
                "user_id": user_id,
                "matter_id": matter_id,
                "client_id": client_id,
                "invoice_id": invoice_id,
                "fixed_fee_id": fixed_fee_id,
                "billing_type": billing_type,
                "billed": billed,
            },
            start=start,
            end=end,
            modified_since=modified_since,
            params=params,
        )
