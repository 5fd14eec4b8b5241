"""The base classes of all loaders.

A loader is a callable object for one resource. `ListLoader` loads a list, and `PagedLoader` a list that is paged and
can be counted. `billframes.loaders.single_records` adds the methods for single records. The arguments are derived from
the resource (see `billframes.loaders.arguments`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any
from uuid import UUID

from billframes._shared.find_named import find_named
from billframes._shared.names import as_given
from billframes._shared.suggestions import SuggestsNames, check_choice
from billframes.config.firm_calendar import FirmCalendar
from billframes.errors import ParameterError
from billframes.loaders.arguments import count_arguments, list_arguments
from billframes.loaders.methods import DocOfCall, declared_method
from billframes.loading.connection import ApiConnection, Connected
from billframes.loading.convert import FORMATS, Frame
from billframes.loading.load import count_records, load
from billframes.loading.progress import Progress, check_progress
from billframes.loading.query_args import ListRequest, build_request
from billframes.schema.resources import RESOURCE_OF, Filter, Resource

Id = str | UUID
Ids = Id | Collection[Id]
Names = str | Iterable[str]
Parameters = Mapping[str, Any]
# The columns with the names and the references of the records by which filters take names.
_NAMES, _REFERENCES = ("name", "label"), ("reference", "email")


class Loader(SuggestsNames):
    """A callable that loads the frame of one resource from the client or mirror that `owner` returns."""

    _resource: Resource
    _about: str

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if hasattr(cls, "_resource"):
            cls._about, cls.__doc__ = cls.__doc__ or "", DocOfCall()  # type: ignore[assignment]

    def __init__(self, owner: Callable[[], Connected]) -> None:
        self._owner = owner

    @property
    def _connection(self) -> ApiConnection:
        return self._owner()._connection

    @property
    def _spoken_name(self) -> str:
        return self._resource.name

    def _instead(self, argument: str) -> str:
        is_day = argument in ("as_of", "at", "version")
        return f"For an earlier day: mirror.as_of(day).{self._spoken_name}(…)." if is_day else ""

    def __repr__(self) -> str:
        about = self._about.strip().partition("\n")[0]
        return f"<billframes loader {self._resource.name}: {about[:1].lower()}{about[1:].rstrip('.')}>"


class ListLoader(Loader):
    """A loader of a list."""

    @declared_method(list_arguments, returns="Frame")
    def __call__(self, arguments: dict[str, Any]) -> Frame:
        """
        {head}

        {parameters}

        Returns
        -------
        DataFrame
            One row for each {noun}. Columns and dtypes depend only on the arguments, so an empty result has them, too.
            Missing values are never replaced by 0 or "". `frame.attrs["load"]` says how the frame was loaded.

        {load_raises}

        {examples}
        """
        kind = check_choice(arguments.pop("to"), "to", FORMATS)
        progress = arguments.pop("progress", None)
        check_progress(progress)
        frame: Frame = self._load(self._request(self._with_ids(arguments)), to=kind, progress=progress)
        return frame

    def _with_ids(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Replace the names of clients, matters, people and practice areas by their ids."""
        given = dict(arguments)
        named = {each: given.pop(each.name_argument, None) for each in self._resource.filters if each.named_in}
        named = {each: names for each, names in named.items() if names is not None}
        for each in named:
            if given[each.argument] is not None:
                raise ParameterError(f"{each.name_argument}= and {each.argument}= are both given; give one of them.")
        if named:
            # Other arguments are checked before names are looked up.
            self._request(dict(given))
        return given | {each.argument: self._ids_of(each, names) for each, names in named.items()}

    def _ids_of(self, declared: Filter, given: Any) -> str | list[str]:
        """
        Return the id of a name, or the ids of a list of names, that a filter takes.

        The whole list is loaded: a server's search could miss a record whose name fits, too.
        """
        texts = [*given] if declared.many and isinstance(given, list | tuple | set) else [given]
        for each in texts:
            if not isinstance(each, str) or not each.strip():
                raise ParameterError(f"{as_given(declared.name_argument, each)} is not a name.")
        resource = RESOURCE_OF[declared.named_in]
        select = () if resource.select else None
        table = load(self._connection, build_request(resource, {}, select=select), to="arrow", progress=False)
        columns = [next((each for each in few if each in table.column_names), "") for few in (_NAMES, _REFERENCES)]
        ids, *more = (table[each].to_pylist() if each else [""] * len(table) for each in (resource.id_column, *columns))
        known = [(id_, name or "", reference or "") for id_, name, reference in zip(ids, *more, strict=True)]
        found = [find_named(each, known, resource.noun, f" bf.{resource.name}() lists them.")[0] for each in texts]
        return found if declared.many else found[0]

    def _request(self, arguments: dict[str, Any]) -> ListRequest:
        names = self._resource.filters_by_argument
        filters = {name: arguments.pop(name) for name in names if name in arguments}
        return build_request(self._resource, filters, calendar=FirmCalendar(self._owner), **arguments)

    def _load(self, request: ListRequest, *, to: str, progress: bool | Progress | None) -> Any:
        return load(self._connection, request, to=to, progress=progress)


class PagedLoader(ListLoader):
    """A loader of a paged list."""

    @declared_method(count_arguments, returns="int")
    def count(self, arguments: dict[str, Any]) -> int:
        """
        Count the {nouns} that match, with one small request.

        The records are loaded and counted only if a filter is not in the API's description.

        {parameters}

        Returns
        -------
        int

        {load_raises}
        """
        arguments = self._with_ids(arguments)
        request = self._request({**arguments, "select": ()})
        if request.local_filters:
            # The server may ignore the filter, and count more records.
            request = self._request({**arguments, "select": "meta"})
            return int(self._load(request, to="arrow", progress=False).num_rows)
        return count_records(self._connection, request)
