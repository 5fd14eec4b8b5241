"""The loader of invoices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Unpack, overload

import pandas as pd
import pyarrow as pa

from billframes.loaders.docs import shared_docs
from billframes.loaders.loader import Frame, Ids, Names, PagedLoader, Parameters, Progress
from billframes.loaders.options import InvoiceOptions
from billframes.periods import DateLike
from billframes.schema.resources import INVOICES

if TYPE_CHECKING:
    import polars as pl


__all__ = ["Invoices"]


class Invoices(PagedLoader):
    """Load invoices."""

    resource = INVOICES

    @overload
    def __call__(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        to: Literal["pandas"] = "pandas",
        **options: Unpack[InvoiceOptions],
    ) -> pd.DataFrame: ...

    @overload
    def __call__(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        to: Literal["arrow"],
        **options: Unpack[InvoiceOptions],
    ) -> pa.Table: ...

    @overload
    def __call__(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        to: Literal["polars"],
        **options: Unpack[InvoiceOptions],
    ) -> pl.DataFrame: ...

    @shared_docs(
        dated="invoice date",
        select="client, matter, meta",
        sort="client.name, client.reference, invoicedate, amount, balance, invoicenumber, state",
        order="invoice date",
        row="an invoice; `matter_id` is one of its matters, `due_date` is missing unless it is final",
    )
    def __call__(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        invoice_state: str | None = None,
        client_id: Ids | None = None,
        matter_id: Ids | None = None,
        select: Names | None = None,
        sort: Names | None = None,
        modified_since: DateLike | None = None,
        limit: int | None = None,
        progress: bool | Progress | None = None,
        params: Parameters | None = None,
        to: str = "pandas",
    ) -> Frame:
        """
        Load invoices.

        Parameters
        ----------
        {period}
        invoice_state : str, optional
            "draft", "review", "approved" or "final".
        client_id : str, UUID or list of these, optional
            Only these clients'; one id or a list.
        matter_id : str, UUID or list of these, optional
            Only invoices that cover these matters; one id or a list.
        {paged}

        Returns
        -------
        {returns}

        Raises
        ------
        {raises}

        Examples
        --------
        >>> bf.invoices("2026-Q3", invoice_state="final")["due_date"].isna().any()
        np.False_
        """
        frame: Frame = self._load(
            {"invoice_state": invoice_state, "client_id": client_id, "matter_id": matter_id},
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

    @shared_docs(dated="invoice date")
    def count(
        self,
        start: DateLike | None = None,
        end: DateLike | None = None,
        *,
        invoice_state: str | None = None,
        client_id: Ids | None = None,
        matter_id: Ids | None = None,
        modified_since: DateLike | None = None,
        params: Parameters | None = None,
    ) -> int:
        """
        Count the invoices that match, with one small request.

        Parameters are those of the loader; the records themselves are not loaded.

        Returns
        -------
        int

        Raises
        ------
        {raises}
        """
        return self._count(
            {"invoice_state": invoice_state, "client_id": client_id, "matter_id": matter_id},
            start=start,
            end=end,
            modified_since=modified_since,
            params=params,
        )
