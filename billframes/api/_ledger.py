"""Loaders of what work is done for and billed on: clients, matters and invoices."""

from __future__ import annotations

import pandas as pd

from billframes.api._docs import shared_docs
from billframes.api._ledger_verbs import ClientVerbs, MatterVerbs
from billframes.api._loader import Id, Ids, Names, PagedLoader, Parameters, Progress
from billframes.api.resources import CLIENTS, INVOICES, MATTERS
from billframes.periods import DateLike

__all__ = ["Clients", "Invoices", "Matters"]


class Invoices(PagedLoader):
    """Load invoices."""

    resource = INVOICES

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
    ) -> pd.DataFrame:
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
        frame: pd.DataFrame = self._load(
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


class Clients(PagedLoader, ClientVerbs):
    """Load clients."""

    resource = CLIENTS

    @shared_docs(select="contact, meta, customFields", sort="name, reference", order="name", row="a client")
    def __call__(
        self,
        query: str | None = None,
        *,
        reference: str | None = None,
        select: Names | None = None,
        sort: Names | None = None,
        modified_since: DateLike | None = None,
        limit: int | None = None,
        progress: bool | Progress | None = None,
        params: Parameters | None = None,
        to: str = "pandas",
    ) -> pd.DataFrame:
        """
        Load clients.

        Parameters
        ----------
        query : str, optional
            Part of the name or reference.
        reference : str, optional
            The whole reference.
        {paged}

        Returns
        -------
        {returns}

        Raises
        ------
        {raises}

        Examples
        --------
        >>> bf.clients(limit=3).shape[0]
        3
        """
        frame: pd.DataFrame = self._load(
            {"query": query, "reference": reference},
            select=select,
            sort=sort,
            modified_since=modified_since,
            limit=limit,
            progress=progress,
            params=params,
            to=to,
        )
        return frame

    @shared_docs(dated="")
    def count(
        self,
        query: str | None = None,
        *,
        reference: str | None = None,
        modified_since: DateLike | None = None,
        params: Parameters | None = None,
    ) -> int:
        """
        Count the clients that match, with one small request.

        Parameters are those of the loader; the records themselves are not loaded.

        Returns
        -------
        int

        Raises
        ------
        {raises}
        """
        return self._count(
            {"query": query, "reference": reference},
            modified_since=modified_since,
            params=params,
        )


class Matters(PagedLoader, MatterVerbs):
    """Load matters."""

    resource = MATTERS

    @shared_docs(
        select="matter, ledesConfiguration, responsible, originator, practiceArea, meta, customFields",
        sort="name, reference, client.name, client.reference",
        order="name",
        row="a matter",
    )
    def __call__(
        self,
        query: str | None = None,
        *,
        reference: str | None = None,
        client_reference: str | None = None,
        user_id: Ids | None = None,
        responsible_id: Id | None = None,
        originator_id: Id | None = None,
        client_id: Ids | None = None,
        practice_area_id: Id | None = None,
        archived: bool | None = None,
        select: Names | None = None,
        sort: Names | None = None,
        modified_since: DateLike | None = None,
        limit: int | None = None,
        progress: bool | Progress | None = None,
        params: Parameters | None = None,
        to: str = "pandas",
    ) -> pd.DataFrame:
        """
        Load matters.

        Parameters
        ----------
        query : str, optional
            Part of the matter's or the client's name or reference.
        reference : str, optional
            The matter's whole reference.
        client_reference : str, optional
            The client's whole reference.
        user_id : str, UUID or list of these, optional
            Only matters these users are assigned to; one id or a list.
        responsible_id : str or UUID, optional
            Only this responsible attorney's.
        originator_id : str or UUID, optional
            Only matters this attorney originated.
        client_id : str, UUID or list of these, optional
            Only these clients'; one id or a list.
        practice_area_id : str or UUID, optional
            Only this practice area's.
        archived : bool, optional
            True: only archived; False: only active; None: all.
        {paged}

        Returns
        -------
        {returns}

        Raises
        ------
        {raises}

        Examples
        --------
        >>> bf.matters(archived=False)["archived"].any()
        np.False_
        """
        frame: pd.DataFrame = self._load(
            {
                "query": query,
                "reference": reference,
                "client_reference": client_reference,
                "user_id": user_id,
                "responsible_id": responsible_id,
                "originator_id": originator_id,
                "client_id": client_id,
                "practice_area_id": practice_area_id,
                "archived": archived,
            },
            select=select,
            sort=sort,
            modified_since=modified_since,
            limit=limit,
            progress=progress,
            params=params,
            to=to,
        )
        return frame

    @shared_docs(dated="")
    def count(
        self,
        query: str | None = None,
        *,
        reference: str | None = None,
        client_reference: str | None = None,
        user_id: Ids | None = None,
        responsible_id: Id | None = None,
        originator_id: Id | None = None,
        client_id: Ids | None = None,
        practice_area_id: Id | None = None,
        archived: bool | None = None,
        modified_since: DateLike | None = None,
        params: Parameters | None = None,
    ) -> int:
        """
        Count the matters that match, with one small request.

        Parameters are those of the loader; the records themselves are not loaded.

        Returns
        -------
        int

        Raises
        ------
        {raises}
        """
        return self._count(
            {
                "query": query,
                "reference": reference,
                "client_reference": client_reference,
                "user_id": user_id,
                "responsible_id": responsible_id,
                "originator_id": originator_id,
                "client_id": client_id,
                "practice_area_id": practice_area_id,
                "archived": archived,
            },
            modified_since=modified_since,
            params=params,
        )
