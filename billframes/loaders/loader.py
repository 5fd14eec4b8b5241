"""The base of all loaders: the client they use, and how a call becomes a load.

A loader is a callable object for one resource. `ListLoader` loads a list, `PagedLoader` one that comes in pages and can
be counted; `billframes.loaders.single_records` adds the methods for single records. Their arguments come from the
resource (see `billframes.loaders.arguments`).

Another source of the same records, such as the mirror, subclasses these with the same `resource`: it gets the same
names, arguments and docstrings, and overrides `_load` and `_count`, which receive the checked request.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import UUID

from billframes._names import snake_case
from billframes._suggestions import SuggestsNames
from billframes.loaders.arguments import count_arguments, list_arguments
from billframes.loaders.methods import declared, install
from billframes.loading.connection import ApiConnection
from billframes.loading.load import checked_format, count_records, load
from billframes.loading.progress import Progress, check_progress
from billframes.loading.query_args import ListRequest, build_request
from billframes.schema.decode import ListBody, decode_page
from billframes.schema.resources import Resource

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


__all__ = ["Frame", "Id", "Ids", "ListLoader", "Loader", "Names", "PagedLoader", "Parameters", "Progress"]

Id = str | UUID
Ids = Id | Collection[Id]
Names = str | Iterable[str]
Parameters = Mapping[str, Any]
# Text, because Polars is an extra and is not imported here.
Frame: TypeAlias = "pd.DataFrame | pa.Table | pl.DataFrame"


class Loader(SuggestsNames):
    """
    A resource as a callable: calling it loads a frame.

    Parameters
    ----------
    client : callable
        Returns the client to load with; the module-level loaders return the default one.
    """

    resource: Resource

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if hasattr(cls, "resource"):
            install(cls)

    def __init__(self, client: Callable[[], ApiConnection]) -> None:
        self._client = client

    @property
    def _spoken_name(self) -> str:
        """What messages call the loader."""
        return self.resource.name

    def decode(self, body: bytes) -> ListBody[Any]:
        """Decode one answer of the list; raises `DecodeError` if it breaks the API's description."""
        return decode_page(body, self.resource)

    def __repr__(self) -> str:
        return f"<billframes loader {self.resource.name}>"


class ListLoader(Loader):
    """A loader of a list."""

    @declared(list_arguments, returns="Frame")
    def __call__(self, arguments: dict[str, Any]) -> Frame:
        """
        {head}

        {parameters}

        Returns
        -------
        DataFrame
            One row for each {noun}. Columns and dtypes depend on the arguments alone, so an empty result has them all.
            Missing is missing, never 0 or "". `frame.attrs["load"]` says how it was loaded.

        {load_raises}

        {examples}
        """
        kind = checked_format(arguments.pop("to"))
        progress = arguments.pop("progress", None)
        check_progress(progress)
        frame: Frame = self._load(self._request(arguments), to=kind, progress=progress)
        return frame

    def _request(self, arguments: dict[str, Any]) -> ListRequest:
        names = [snake_case(each.name) for each in self.resource.filters]
        filters = {name: arguments.pop(name) for name in names if name in arguments}
        return build_request(self.resource, filters, **arguments)

    def _load(self, request: ListRequest, *, to: str, progress: bool | Progress | None) -> Any:
        """Load what a request asks for into a frame of the kind `to`."""
        return load(self._client(), request, to=to, progress=progress)


class PagedLoader(ListLoader):
    """A loader of a list that comes in pages."""

    @declared(count_arguments, returns="int")
    def count(self, arguments: dict[str, Any]) -> int:
        """
        Count the {nouns} that match, with one small request.

        The records are loaded only if a filter has to be applied here, because the API's description lacks it.

        {parameters}

        Returns
        -------
        int

        {load_raises}
        """
        request = self._request({**arguments, "select": ()})
        if request.local_filters:
            # The server's own count may be of more records than were asked for.
            request = self._request({**arguments, "select": "meta"})
            return int(self._load(request, to="arrow", progress=False).num_rows)
        return self._count(request)

    def _count(self, request: ListRequest) -> int:
        """Count what a request asks for."""
        return count_records(self._client(), request)
