"""What all loaders share: the client they use, and how a call becomes a load."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import UUID

from billframes.loading.connection import Connection
from billframes.loading.load import checked_format, load, total_of
from billframes.loading.progress import Progress, checked_progress
from billframes.loading.query_args import build_request
from billframes.periods import DateLike
from billframes.schema.decode import ListBody, decode_page
from billframes.schema.resources import Resource

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


__all__ = ["Frame", "Id", "Ids", "Loader", "Names", "PagedLoader", "Parameters", "Progress"]

Id = str | UUID
Ids = Id | Collection[Id]
Names = str | Iterable[str]
Parameters = Mapping[str, Any]
# Text, because Polars is an extra and is not imported here.
Frame: TypeAlias = "pd.DataFrame | pa.Table | pl.DataFrame"


class Loader:
    """
    A resource as a callable: calling it loads a frame.

    Parameters
    ----------
    client : callable
        Returns the client to load with; the module-level loaders return the default one.
    """

    resource: Resource

    def __init__(self, client: Callable[[], Connection]) -> None:
        self._client = client

    def decode(self, body: bytes) -> ListBody[Any]:
        """Decode one answer of the list; raises `DecodeError` where it breaks the API's description."""
        return decode_page(body, self.resource)

    def __repr__(self) -> str:
        return f"<billframes loader {self.resource.name}>"


class PagedLoader(Loader):
    """A loader of a list that comes in pages."""

    def _load(
        self,
        filters: Mapping[str, Any],
        *,
        to: str,
        progress: bool | Progress | None = None,
        start: DateLike | None = None,
        end: DateLike | None = None,
        **options: Any,
    ) -> Any:
        kind = checked_format(to)
        checked_progress(progress)
        request = build_request(self.resource, filters, start=start, end=end, **options)
        return load(self._client(), request, to=kind, progress=progress)

    def _count(
        self,
        filters: Mapping[str, Any],
        *,
        start: DateLike | None = None,
        end: DateLike | None = None,
        **options: Any,
    ) -> int:
        request = build_request(self.resource, filters, start=start, end=end, select=(), **options)
        if request.kept:
            # The server's own count may be of more than was asked for.
            table = self._load(filters, to="arrow", progress=False, start=start, end=end, select="meta", **options)
            return int(table.num_rows)
        return total_of(self._client(), request)
