"""Find out which `select` names a server accepts, if they differ from the API's description.

Servers of this family differ in a few names: the client of a matter is requested by `matter` or by `client`, and some
servers send the invoice of a time entry, expense or fixed fee only if `invoice` is selected. A load begins with the
names of the API's description. If one is refused, or if a detail is missing although its id is there, the load tries
the alternate name once. The client remembers the result, so that later loads use the right name from the start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from billframes._shared.names import closest, snake_case
from billframes.errors import ParameterError, RefusedError
from billframes.loading.query_args import ListRequest
from billframes.schema.decode import ListBody
from billframes.schema.resources import RESOURCES, Alternate, Resource

T = TypeVar("T")
NameCheck = Callable[[ListBody[Any]], ListBody[Any]]


class SelectNames(Mapping[str, tuple[str, ...]]):
    """The alternate `select` names that a server accepts, by loader, such as ``{"matters": ("client",)}``."""

    def __init__(self, known: Mapping[str, str | Iterable[str]] | None = None) -> None:
        self._found: dict[tuple[str, str], bool] = {}
        if known is not None and not isinstance(known, Mapping):
            raise ParameterError(f"select_names={known!r} is not a mapping of loaders to names.")
        for resource, names in (known or {}).items():
            for name in names if isinstance(names, Iterable) and not isinstance(names, str) else [names]:
                self._found[resource, _checked_name(resource, name)] = True

    def __getitem__(self, resource: str) -> tuple[str, ...]:
        names = tuple(name for (each, name), accepted in sorted(self._found.items()) if each == resource and accepted)
        if not names:
            raise KeyError(resource)
        return names

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({resource for (resource, _), accepted in self._found.items() if accepted}))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return f"SelectNames({dict(self)})"

    def is_accepted(self, resource: Resource, alternate: Alternate) -> bool | None:
        """Return whether the server accepts an alternate; None if that was not tried."""
        return self._found.get((resource.name, alternate.name))

    def record(self, resource: Resource, alternate: Alternate, *, accepted: bool) -> None:
        """Remember whether the server accepts an alternate."""
        self._found[resource.name, alternate.name] = accepted


def _checked_name(resource: str, name: str) -> str:
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


class NameResolver:
    """
    Loads a list with the `select` names that the server accepts: those of the API's description, or alternates.

    What it finds out is noted in `known`, the client's record of accepted alternates.
    """

    def __init__(self, known: SelectNames, request: ListRequest) -> None:
        self._known = known
        self._request = request
        self._resource = request.resource
        self._candidate: Alternate | None = None
        self._is_sent = self._is_reference_sent
        self._refusal: RefusedError | None = None
        self._selected = _selected(request)
        # The caller may neither select nor exclude the alternate name.
        self._alternates = tuple(
            each
            for each in self._resource.alternates
            if "select" not in request.own_parameters
            and {each.name, f"-{each.name}", f"-{each.described_name}"}.isdisjoint(self._selected)
        )

    def run(self, attempt: Callable[[ListRequest, NameCheck], T]) -> T:
        """
        Load with the known names, and again with an alternate name if the server does not accept these.

        `attempt` gets the request, and a function that must be called with every page before the page is used.
        """
        while True:
            try:
                return attempt(self._with_current_names(), self._check_names)
            except _OtherNamesError:
                continue
            except RefusedError as error:
                self._handle_refusal(error)

    def _with_current_names(self) -> ListRequest:
        names = self._selected
        for each in self._alternates:
            if each is self._candidate or self._known.is_accepted(self._resource, each):
                names = (*(name for name in names if name != each.described_name), each.name)
        if names == self._selected:
            return self._request
        select = ("select", ",".join(names))
        queries = tuple((*(pair for pair in query if pair[0] != "select"), select) for query in self._request.queries)
        return replace(self._request, queries=queries)

    def _check_names(self, page: ListBody[Any]) -> ListBody[Any]:
        """Return the page; raise `_OtherNamesError` if it shows that the list must be requested with other names."""
        records = page.data or []
        if self._candidate is not None:
            self._judge(self._candidate, records)
            return page
        for each in self._alternates:
            if self._known.is_accepted(self._resource, each) is None:
                for is_sent in (self._is_reference_sent, self._are_details_sent):
                    if is_sent(each, records) is False:
                        self._candidate, self._is_sent = each, is_sent
                        raise _OtherNamesError
        return page

    def _judge(self, candidate: Alternate, records: list[Any]) -> None:
        """Accept or reject the candidate, if the page shows whether the server accepts it."""
        sent = True if self._refusal else self._is_sent(candidate, records)
        if sent is None:
            return
        self._known.record(self._resource, candidate, accepted=sent)
        self._candidate = None
        if not sent:
            raise _OtherNamesError

    def _is_reference_sent(self, alternate: Alternate, records: list[Any]) -> bool | None:
        return is_reference_sent(alternate.reference, records)

    def _are_details_sent(self, alternate: Alternate, records: list[Any]) -> bool | None:
        """
        Return whether any requested detail without an id is there; None if there are no rows or no such details.

        If all are missing, the server may ignore all of `select` because of one unknown name.
        """
        details = [name for name in self._selected if name in _WITHOUT_ID]
        if alternate.described_name not in self._selected or not records or not details:
            return None
        return any(getattr(record, snake_case(name)) is not None for name in details for record in records)

    def _handle_refusal(self, error: RefusedError) -> None:
        if self._candidate is not None:
            candidate, self._candidate = self._candidate, None
            if self._refusal is not None:
                # Both names are refused, so the reason is another one.
                raise self._refusal from None
            self._known.record(self._resource, candidate, accepted=False)
            return
        untried = (each for each in self._alternates if self._known.is_accepted(self._resource, each) is None)
        first = next((each for each in untried if each.described_name in self._selected), None)
        if first is None or self._refusal is not None or error.status not in {400, 422}:
            raise error
        self._candidate, self._refusal = first, error


_WITHOUT_ID = frozenset({"meta", "ledesConfiguration"})


def _selected(request: ListRequest) -> tuple[str, ...]:
    query = request.queries[0] if request.queries else ()
    text = next((value for name, value in query if name == "select"), "")
    return tuple(name for name in text.split(",") if name)


def is_reference_sent(reference: str, records: list[Any]) -> bool | None:
    """Return whether a reference is there in a record that has its id; None if no record has its id."""
    sent = None
    for record in records:
        if getattr(record, f"{reference}_id", None):
            each = getattr(record, reference)
            if each is not None and each != type(each)():
                return True
            sent = False
    return sent
