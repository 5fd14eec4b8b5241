"""Loaders of whom and what work is done for: clients and matters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Unpack, overload

import pandas as pd
import pyarrow as pa

from billframes.loaders.docs import shared_docs
from billframes.loaders.ledger_records import ClientVerbs, MatterVerbs
from billframes.loaders.loader import Frame, Id, Ids, Names, PagedLoader, Parameters, Progress
from billframes.loaders.options import ClientOptions, MatterOptions
from billframes.periods import DateLike
from billframes.schema.resources import CLIENTS, MATTERS

if TYPE_CHECKING:
    import polars as pl


__all__ = ["Clients", "Matters"]


class Clients(PagedLoader, ClientVerbs):
    """Load clients."""

    resource = CLIENTS

    @overload
    def __call__(
        self,
        query: str | None = None,
        *,
        to: Literal["pandas"] = "pandas",
        **options: Unpack[ClientOptions],
    ) -> pd.DataFrame: ...

    @overload
    def __call__(
        self,
        query: str | None = None,
        *,
        to: Literal["arrow"],
        **options: Unpack[ClientOptions],
    ) -> pa.Table: ...

    @overload
    def __call__(
        self,
        query: str | None = None,
        *,
        to: Literal["polars"],
        **options: Unpack[ClientOptions],
    ) -> pl.DataFrame: ...

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
    ) -> Frame:
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
        frame: Frame = self._load(
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

    @overload
    def __call__(
        self,
        query: str | None = None,
        *,
        to: Literal["pandas"] = "pandas",
        **options: Unpack[MatterOptions],
    ) -> pd.DataFrame: ...

    @overload
    def __call__(
        self,
        query: str | None = None,
        *,
        to: Literal["arrow"],
        **options: Unpack[MatterOptions],
    ) -> pa.Table: ...

    @overload
    def __call__(
        self,
        query: str | None = None,
        *,
        to: Literal["polars"],
        **options: Unpack[MatterOptions],
    ) -> pl.DataFrame: ...

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
    ) -> Frame:
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
        frame: Frame = self._load(
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
