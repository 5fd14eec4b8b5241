"""Find out from its answers by which `select` names a server sends a detail.

Servers of this family differ in a few names: matters bring their client by `matter` or by `client`, and some servers
send the invoice of a time entry, expense or fixed fee only when `invoice` is selected. A load begins with the names of
the API's description. If one is refused, or a detail is missing although its id is there, the load tries the alternate
name once. The client remembers the result, so that later loads use the right name from the start.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from billframes._names import closest, snake_case
from billframes.errors import ParameterError, RefusedError
from billframes.loading.query_args import ListRequest
from billframes.schema.decode import ListBody
from billframes.schema.resources import RESOURCES, Alternate, Resource

__all__ = ["Naming", "See", "SelectNames", "comes"]

T = TypeVar("T")
See = Callable[[ListBody[Any]], ListBody[Any]]


class SelectNames(Mapping[str, tuple[str, ...]]):
    """
    The alternate `select` names in use, by loader, such as ``{"matters": ("client",)}``; empty if there are none.

    Parameters
    ----------
    known : mapping of str to str or list of str, optional
        The names that are known beforehand.

    Raises
    ------
    ParameterError
        There is no such loader, or it has no such alternate name.
    """

    def __init__(self, known: Mapping[str, str | Iterable[str]] | None = None) -> None:
        self._lock = threading.Lock()
        self._found: dict[tuple[str, str], bool] = {}
        if known is not None and not isinstance(known, Mapping):
            raise ParameterError(f"select_names={known!r} is not a mapping of loaders to names.")
        for resource, names in (known or {}).items():
            for name in [names] if isinstance(names, str) else names:
                self._found[resource, _checked(resource, name)] = True

    def __getitem__(self, resource: str) -> tuple[str, ...]:
        names = tuple(name for (each, name), taken in sorted(self._found.items()) if each == resource and taken)
        if not names:
            raise KeyError(resource)
        return names

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({resource for (resource, _), taken in self._found.items() if taken}))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return f"SelectNames({dict(self)})"

    def takes(self, resource: Resource, alternate: Alternate) -> bool | None:
        """Tell whether the server takes an alternate; None if that was not tried."""
        return self._found.get((resource.name, alternate.name))

    def learn(self, resource: Resource, alternate: Alternate, *, taken: bool) -> None:
        """Remember whether the server takes an alternate."""
        with self._lock:
            self._found[resource.name, alternate.name] = taken


def _checked(resource: str, name: str) -> str:
    accepted = {each.name: [one.name for one in each.alternates] for each in RESOURCES if each.alternates}
    if name not in accepted.get(resource, ()):
        raise ParameterError(
            f"select_names: {resource!r} has no alternate name {name!r}; "
            f"there are {', '.join(f'{names[0]!r} of {each!r}' for each, names in accepted.items())}."
            f"{closest(resource, accepted) if resource not in accepted else ''}"
        )
    return name


class _OtherNamesError(Exception):
    """The list must be requested again with other names; caught in this module."""


class Naming:
    """
    The `select` names of one load: those of the description, or alternates.

    Parameters
    ----------
    known : SelectNames
        The names that the client knows of its server; this load adds what it finds out.
    request : ListRequest
        The request, in the names of the API's description.
    """

    def __init__(self, known: SelectNames, request: ListRequest) -> None:
        self._known = known
        self._request = request
        self._resource = request.resource
        self._trying: Alternate | None = None
        self._sign = self._reference_comes
        self._refusal: RefusedError | None = None
        self._words = _words(request)
        fixed = "select" in request.extra
        self._alternates = () if fixed else tuple(each for each in self._resource.alternates if self._wants(each))

    def run(self, attempt: Callable[[ListRequest, See], T]) -> T:
        """
        Load with the known names, and once with an alternate if the server does not take these.

        Parameters
        ----------
        attempt : callable
            Called with the request, and with a function that must be called with every page before it is used.
        """
        while True:
            try:
                return attempt(self._named(), self._see)
            except _OtherNamesError:
                continue
            except RefusedError as error:
                self._refused(error)

    def _wants(self, alternate: Alternate) -> bool:
        """Tell whether the caller leaves the choice to the load: the name is neither selected nor excluded."""
        own = {alternate.name, f"-{alternate.name}", f"-{alternate.described_name}"}
        return own.isdisjoint(self._words)

    def _named(self) -> ListRequest:
        """Return the request in the names to use now."""
        words = self._words
        for each in self._alternates:
            if each is self._trying or self._known.takes(self._resource, each):
                words = (*(word for word in words if word != each.described_name), each.name)
        if words == self._words:
            return self._request
        select = ("select", ",".join(words))
        streams = tuple((*(pair for pair in stream if pair[0] != "select"), select) for stream in self._request.streams)
        return replace(self._request, streams=streams)

    def _see(self, page: ListBody[Any]) -> ListBody[Any]:
        """Return the page, unless it shows that the list must be requested with other names."""
        records = page.data or []
        if self._trying is not None:
            self._judge(self._trying, records)
            return page
        for each in self._alternates:
            if self._known.takes(self._resource, each) is None:
                for sign in (self._reference_comes, self._details_come):
                    if sign(each, records) is False:
                        self._trying, self._sign = each, sign
                        raise _OtherNamesError
        return page

    def _judge(self, trying: Alternate, records: list[Any]) -> None:
        """Keep or reject the alternate, as soon as a page shows whether it works."""
        came = True if self._refusal else self._sign(trying, records)
        if came is None:
            return
        self._known.learn(self._resource, trying, taken=came)
        self._trying = None
        if not came:
            raise _OtherNamesError

    def _reference_comes(self, alternate: Alternate, records: list[Any]) -> bool | None:
        return comes(alternate.reference, records)

    def _details_come(self, alternate: Alternate, records: list[Any]) -> bool | None:
        """
        Tell whether there are any details of those without an id; None if no rows, or no such details, were requested.

        If there are none, the server may ignore the whole `select` because of one name it does not know.
        """
        asked = [name for name in self._words if name in _WITHOUT_ID]
        if alternate.described_name not in self._words or not records or not asked:
            return None
        return any(getattr(record, snake_case(name)) is not None for name in asked for record in records)

    def _refused(self, error: RefusedError) -> None:
        """Try other names after a refusal, or raise it."""
        if self._trying is not None:
            tried, self._trying = self._trying, None
            if self._refusal is not None:
                # Refused with either name, so for another reason: nothing was learned.
                raise self._refusal from None
            self._known.learn(self._resource, tried, taken=False)
            return
        untried = (each for each in self._alternates if self._known.takes(self._resource, each) is None)
        trying = next((each for each in untried if each.described_name in self._words), None)
        if trying is None or self._refusal is not None or error.status not in {400, 422}:
            raise error
        self._trying, self._refusal = trying, error


_WITHOUT_ID = frozenset({"meta", "ledesConfiguration"})


def _words(request: ListRequest) -> tuple[str, ...]:
    query = request.streams[0] if request.streams else ()
    text = next((value for name, value in query if name == "select"), "")
    return tuple(word for word in text.split(",") if word)


def comes(reference: str, records: list[Any]) -> bool | None:
    """Tell whether a reference is there in records that have its id; None if no record has it."""
    came = None
    for record in records:
        if getattr(record, f"{reference}_id", None):
            each = getattr(record, reference)
            if each is not None and each != type(each)():
                return True
            came = False
    return came
