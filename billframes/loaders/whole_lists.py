"""Loaders of lists that come whole: users, practice areas and custom fields' definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Unpack, overload

import pandas as pd
import pyarrow as pa

from billframes.loaders.docs import shared_docs
from billframes.loaders.ledger_records import PracticeAreaVerbs, UserVerbs
from billframes.loaders.loader import Frame, Names, PagedLoader, Parameters
from billframes.loaders.options import UserOptions
from billframes.loading.convert import convert
from billframes.loading.dictionary_encoder import Enum
from billframes.loading.load import checked_format
from billframes.schema.columns import plain
from billframes.schema.resources import CUSTOM_FIELDS, PRACTICE_AREAS, USERS
from billframes.schema.sources import sources_of

if TYPE_CHECKING:
    import polars as pl


__all__ = ["CustomFields", "PracticeAreas", "Users"]


class Users(PagedLoader, UserVerbs):
    """Load users."""

    resource = USERS

    @overload
    def __call__(
        self,
        query: str | None = None,
        *,
        to: Literal["pandas"] = "pandas",
        **options: Unpack[UserOptions],
    ) -> pd.DataFrame: ...

    @overload
    def __call__(
        self,
        query: str | None = None,
        *,
        to: Literal["arrow"],
        **options: Unpack[UserOptions],
    ) -> pa.Table: ...

    @overload
    def __call__(
        self,
        query: str | None = None,
        *,
        to: Literal["polars"],
        **options: Unpack[UserOptions],
    ) -> pl.DataFrame: ...

    @shared_docs(row="a user, in the server's order")
    def __call__(
        self,
        query: str | None = None,
        *,
        email: str | None = None,
        role: str | None = None,
        query_full_match: bool | None = None,
        select: Names | None = None,
        params: Parameters | None = None,
        to: str = "pandas",
    ) -> Frame:
        """
        Load users.

        Parameters
        ----------
        query : str, optional
            Part of first name, last name, initials or e-mail.
        email : str, optional
            The e-mail address.
        role : str, optional
            "principal", "attorney", "paralegal", "timekeeper", "operator" or "accountant".
        query_full_match : bool, optional
            True: `query` must be the whole field.
        select : str or list of str, optional
            Details to ask for (customFields); "-customFields" leaves them out. None asks for all.
        params : mapping, optional
            Extra query parameters, passed through unchecked.
        to : {"pandas", "arrow", "polars"}, default "pandas"
            The kind of frame to return.

        Returns
        -------
        {returns}

        Raises
        ------
        {raises}

        Examples
        --------
        >>> bf.users(role="principal")["role"].unique().tolist()
        ['principal']
        """
        filters = {"query": query, "email": email, "role": role, "query_full_match": query_full_match}
        frame: Frame = self._load(filters, select=select, params=params, to=to)
        return frame


class PracticeAreas(PagedLoader, PracticeAreaVerbs):
    """Load practice areas."""

    resource = PRACTICE_AREAS

    @overload
    def __call__(self, *, to: Literal["pandas"] = "pandas") -> pd.DataFrame: ...

    @overload
    def __call__(self, *, to: Literal["arrow"]) -> pa.Table: ...

    @overload
    def __call__(self, *, to: Literal["polars"]) -> pl.DataFrame: ...

    def __call__(self, *, to: str = "pandas") -> Frame:
        """
        Load practice areas.

        Returns
        -------
        DataFrame
            One row a practice area: `practice_area_id`, `label` and `default` (bool), in the server's order.
        """
        frame: Frame = self._load({}, to=to)
        return frame


class CustomFields(PagedLoader):
    """Load custom fields' definitions."""

    resource = CUSTOM_FIELDS

    @overload
    def __call__(
        self,
        entity: str | None = None,
        *,
        to: Literal["pandas"] = "pandas",
    ) -> pd.DataFrame: ...

    @overload
    def __call__(
        self,
        entity: str | None = None,
        *,
        to: Literal["arrow"],
    ) -> pa.Table: ...

    @overload
    def __call__(
        self,
        entity: str | None = None,
        *,
        to: Literal["polars"],
    ) -> pl.DataFrame: ...

    def __call__(self, entity: str | None = None, *, to: str = "pandas") -> Frame:
        """
        Load custom fields' definitions.

        Parameters
        ----------
        entity : {"client", "matter", "user"}, optional
            What the fields are on; None is all three, one request each.

        Returns
        -------
        DataFrame
            One row a field: `id`, `entity` and `value_type` (category), `name`, and for enums `option_ids` and
            `option_labels`, lists in display order.

        Raises
        ------
        ParameterError
            The entity is none of the three.
        """
        kind = checked_format(to)
        if entity is not None:
            frame: Frame = self._load({"entity": entity}, to=kind)
            return frame
        parts: list[pa.Table] = [self._load({"entity": each}, to="arrow") for each in _entities()]
        frame = convert(_together(parts), kind)
        return frame


def _together(parts: list[pa.Table]) -> pa.Table:
    """Put tables together as if they were one load: each enum's categories are those of all its rows."""
    table = pa.concat_tables(parts)
    for place, source in enumerate(sources_of(CUSTOM_FIELDS.record)):
        if source.column.kind == "enum":
            codes = Enum(source.column.values)
            encoded = codes.column(codes.encode(plain(table.column(place)).to_pylist()))
            table = table.set_column(place, source.column.field, encoded)
    return table


def _entities() -> tuple[str, ...]:
    return CUSTOM_FIELDS.filters[0].values  # noqa: PD011 - no pandas here
