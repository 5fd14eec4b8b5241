"""Loaders of what gets billed beside time: expenses and fixed fees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Unpack, overload

import pandas as pd
import pyarrow as pa

from billframes.loaders.docs import shared_docs
from billframes.loaders.loader import Frame, Id, Ids, Names, PagedLoader, Parameters, Progress
from billframes.loaders.options import CostOptions
from billframes.loaders.work_records import ExpenseVerbs, FixedFeeVerbs
from billframes.periods import DateLike
from billframes.schema.resources import EXPENSES, FIXED_FEES

if TYPE_CHECKING:
    import polars as pl


__all__ = ["Expenses", "FixedFees"]


class Expenses(PagedLoader, ExpenseVerbs):
    """Load expenses."""

    resource = EXPENSES

    @overload
    def __call__(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        to: Literal["pandas"] = "pandas",
        **options: Unpack[CostOptions],
    ) -> pd.DataFrame: ...

    @overload
    def __call__(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        to: Literal["arrow"],
        **options: Unpack[CostOptions],
    ) -> pa.Table: ...

    @overload
    def __call__(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        to: Literal["polars"],
        **options: Unpack[CostOptions],
    ) -> pl.DataFrame: ...

    @shared_docs(
        dated="their date",
        select="client, matter, user, meta",
        sort="date, amount, description",
        order="date",
        row="an expense; `user_id` is missing where it belongs to the firm",
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
        Load expenses.

        Parameters
        ----------
        {period}
        user_id : str, UUID or list of these, optional
            Only these users'; one id or a list.
        matter_id : str, UUID or list of these, optional
            Only these matters'; one id or a list.
        client_id : str, UUID or list of these, optional
            Only these clients'; one id or a list.
        invoice_id : str or UUID, optional
            Only what is on this invoice. The API's description lacks this filter: it is sent, and applied here where
            the server ignores it, which reads all that the other filters leave.
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
        >>> bf.expenses("2026-09", billed=False)["billed"].any()
        np.False_
        """
        frame: Frame = self._load(
            {
                "user_id": user_id,
                "matter_id": matter_id,
                "client_id": client_id,
                "invoice_id": invoice_id,
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
        billed: bool | None = None,
        modified_since: DateLike | None = None,
        params: Parameters | None = None,
    ) -> int:
        """
        Count the expenses that match, with one small request.

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
                "billed": billed,
            },
            start=start,
            end=end,
            modified_since=modified_since,
            params=params,
        )


class FixedFees(PagedLoader, FixedFeeVerbs):
    """Load fixed fees."""

    resource = FIXED_FEES

    @overload
    def __call__(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        to: Literal["pandas"] = "pandas",
        **options: Unpack[CostOptions],
    ) -> pd.DataFrame: ...

    @overload
    def __call__(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        to: Literal["arrow"],
        **options: Unpack[CostOptions],
    ) -> pa.Table: ...

    @overload
    def __call__(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        to: Literal["polars"],
        **options: Unpack[CostOptions],
    ) -> pl.DataFrame: ...

    @shared_docs(
        dated="their date",
        select="client, matter, user, meta",
        sort="date, amount, description",
        order="date",
        row="a fixed fee; `user_id` is missing where it belongs to the firm",
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
        Load fixed fees.

        Parameters
        ----------
        {period}
        user_id : str, UUID or list of these, optional
            Only these users'; one id or a list.
        matter_id : str, UUID or list of these, optional
            Only these matters'; one id or a list.
        client_id : str, UUID or list of these, optional
            Only these clients'; one id or a list.
        invoice_id : str or UUID, optional
            Only what is on this invoice. The API's description lacks this filter: it is sent, and applied here where
            the server ignores it, which reads all that the other filters leave.
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
        >>> bf.fixed_fees("2026-Q3")["amount"].dtype
        dtype('float64')
        """
        frame: Frame = self._load(
            {
                "user_id": user_id,
                "matter_id": matter_id,
                "client_id": client_id,
                "invoice_id": invoice_id,
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
        billed: bool | None = None,
        modified_since: DateLike | None = None,
        params: Parameters | None = None,
    ) -> int:
        """
        Count the fixed fees that match, with one small request.

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
                "billed": billed,
            },
            start=start,
            end=end,
            modified_since=modified_since,
            params=params,
        )
