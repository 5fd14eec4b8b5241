"""Check changes by the API's rules before anything is sent: each refusal of the API is a row of the plan.

| rule | what is read for it |
|---|---|
| a required field is empty; a value is not one of an enum | nothing |
| a new client has neither a company name nor a first and a last name | nothing |
| a rate for time that is not billable | nothing |
| a matter, user, client, practice area or fixed fee that does not exist | the list or the record |
| a fixed fee of another matter than the time entry | the fixed fee |
| a code that does not exist, or is a heading | the codes |
| on a matter billed by LEDES: a required code is missing, or is outside the matter's code sets | the matter |
| a fixed fee with time entries is deleted, or moved to another matter | how many time entries it has |
| a client with matters or invoices, or a matter with any activity, is deleted | how many of each it has |

LEDES requirements are checked where a change touches a code or the matter, and on new records: an old entry without
its code can still have its narrative corrected. Which user a credential stands for can't be read, so a new time entry
without a timekeeper is left to the server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from billframes._names import with_article
from billframes.bulk.changes import Change
from billframes.bulk.columns import EditColumn, columns_of
from billframes.bulk.present import Server
from billframes.bulk.records import Record
from billframes.schema.decode import decode_single
from billframes.schema.records import CodeList
from billframes.schema.resources import (
    CLIENTS,
    CODES,
    EXPENSES,
    FIXED_FEES,
    INVOICES,
    MATTERS,
    PRACTICE_AREAS,
    TIME_ENTRIES,
    USERS,
    Resource,
)
from billframes.schema.sources import fields_of

__all__ = ["Checks", "check_deletions"]

# Column of a code: its kind, and the matter's setting that requires it.
_CODES = {
    "activity_code": ("activity", "ledes_activity_code_required"),
    "task_code": ("task", "ledes_task_code_required"),
    "expense_code": ("expense", "ledes_expense_code_required"),
}
_LEDES = ("ledes_enabled", "ledes_code_set_ids", *(flag for _, flag in _CODES.values()))
# Column of an id: the resource it is of. What else a check reads of that record.
_READ = {
    "matter_id": (MATTERS, _LEDES),
    "client_id": (CLIENTS, ()),
    "fixed_fee_id": (FIXED_FEES, ("matter_id",)),
}
_LISTED = {
    "user_id": USERS,
    "responsible_id": USERS,
    "originator_id": USERS,
    "practice_area_id": PRACTICE_AREAS,
}
# A record can't be deleted while there are any of these.
_KEEPING = {
    "clients": (("client_id", MATTERS), ("client_id", INVOICES)),
    "matters": (
        ("matter_id", TIME_ENTRIES),
        ("matter_id", EXPENSES),
        ("matter_id", FIXED_FEES),
        ("matter_id", INVOICES),
    ),
    "fixed_fees": (("fixed_fee_id", TIME_ENTRIES),),
}
_INSTEAD = {"matters": " Archive it instead.", "fixed_fees": " Take it off them first."}


def _check_values(change: Change, resource: Resource, columns: Mapping[str, EditColumn]) -> None:
    """Check what needs no other record."""
    for cell in change.sent_cells():
        column = columns[cell.column]
        if cell.after is None and column.required:
            change.refuse(cell.column, f"{with_article(resource.noun)} always has a value here, so it can't be emptied")
        elif cell.after is not None and column.kind == "enum" and cell.after not in column.values:
            change.refuse(cell.column, f"takes one of {', '.join(column.values)}")
    if change.action == "create":
        _check_needed(change, resource)
    if change.changes("rate") and change.after("rate") is not None:
        kind = change.after("billing_type")
        if kind is not None and kind != "billable":
            change.refuse("rate", f"only billable time has a rate, and this is {kind}")


def _check_needed(change: Change, resource: Resource) -> None:
    for name in _needed(resource):
        if change.after(name) is None and not any(cell.column == name for cell in change.cells):
            change.refuse(name, f"a new {resource.noun} needs it")
    if resource is CLIENTS and not _is_named(change):
        change.refuse("contact_company_name", "a new client needs a company name, or a first and a last name")


def _needed(resource: Resource) -> list[str]:
    """Return the fields that a create must have."""
    assert resource.creates is not None  # noqa: S101 - only such resources have plans
    number = len(resource.creates.__struct_fields__) - len(resource.creates.__struct_defaults__)
    return [field.name for field in fields_of(resource.creates)[:number]]


def _is_named(change: Change) -> bool:
    company, first, last = (change.after(f"contact_{part}_name") for part in ("company", "first", "last"))
    return bool(company or (first and last))


class Checks:
    """
    The checks of a plan's updates and creates by the API's rules.

    First each change is added, so that what the checks need of other records is read once; then each is checked.

    Parameters
    ----------
    resource : Resource
    columns : mapping of str to EditColumn
    server : Server
        Reads what the rules need, and nothing if no change needs it.
    """

    def __init__(self, resource: Resource, columns: Mapping[str, EditColumn], server: Server) -> None:
        self._resource, self._columns, self._server = resource, columns, server
        self._items = resource in (TIME_ENTRIES, EXPENSES, FIXED_FEES)
        self._wanted: dict[str, set[str]] = {name: set() for name in _READ}
        self._listed: set[str] = set()
        self._coded = False
        self._records: dict[str, Mapping[str, Record]] = {}
        self._ids: dict[str, set[str]] = {}
        self._codes: dict[tuple[str, str], dict[str, bool]] = {}

    def add(self, change: Change) -> None:
        """Note what the checks of a change need."""
        if not change.is_sent:
            return
        for name, wanted in self._wanted.items():
            value = change.after(name) if self._needs(name, change) else None
            if value is not None:
                wanted.add(value)
        self._listed |= {name for name in _LISTED if change.changes(name) and change.after(name) is not None}
        self._coded = self._coded or (_touches_codes(change) and any(change.after(name) for name in _CODES))

    def read(self) -> None:
        """Read what the checks need."""
        for name, (resource, wanted) in _READ.items():
            ids = self._wanted[name]
            columns = [column for column in columns_of(resource).values() if column.name in wanted] if ids else []
            self._records[name] = dict(self._server.records(resource, ids, columns).items()) if ids else {}
        # Users stand behind several columns and are read once.
        for resource in {_LISTED[name].name: _LISTED[name] for name in self._listed}.values():
            self._ids[resource.name] = {id_ for id_, _ in self._server.listed(resource, (), {}).items()}
        if self._coded:
            self._codes = self._read_codes()

    def _needs(self, name: str, change: Change) -> bool:
        if _READ[name][0] is self._resource:
            return False
        if name == "matter_id":
            return self._items and (change.changes(name) or _touches_codes(change))
        if name == "fixed_fee_id":
            return change.changes(name) or (change.changes("matter_id") and change.after(name) is not None)
        return change.changes(name)

    def _read_codes(self) -> dict[tuple[str, str], dict[str, bool]]:
        self._server.requests += 1
        body = self._server.connection.fetch(CODES.path, resource=CODES.name).body
        listed = decode_single(body, CodeList, CODES.name)
        sets: dict[tuple[str, str], dict[str, bool]] = {}
        for kind in ("activity", "task", "expense"):
            for code in getattr(listed, kind):
                sets.setdefault((kind, code.code), {})[code.code_set_id] = code.selectable is not False
        return sets

    def check(self, change: Change) -> None:
        """Mark the cells of a change that the API would refuse as `invalid`, with the rule."""
        if change.is_sent:
            _check_values(change, self._resource, self._columns)
            self._check_references(change)
            if self._items and _touches_codes(change):
                self._check_codes(change)
            self._check_fixed_fee(change)
        change.hold_back()

    def _check_references(self, change: Change) -> None:
        for name, (resource, _) in _READ.items():
            value = change.after(name)
            if change.changes(name) and value is not None and value.casefold() not in self._records[name]:
                change.refuse(name, f"there is no {resource.noun} with this id")
        for name, listed in _LISTED.items():
            value = change.after(name)
            if change.changes(name) and value is not None and value.casefold() not in self._ids[listed.name]:
                change.refuse(name, f"there is no {listed.noun} with this id")

    def _check_codes(self, change: Change) -> None:
        matter = self._records["matter_id"].get(str(change.after("matter_id") or "").casefold(), {})
        every = change.action == "create" or change.changes("matter_id")
        for name, (kind, flag) in _CODES.items():
            if self._takes(name) and (every or change.changes(name)):
                problem = self._problem(kind, change.after(name), matter, required=matter.get(flag) is True)
                if problem:
                    change.refuse(name, problem)

    def _takes(self, name: str) -> bool:
        updates = self._resource.updates
        return updates is not None and name in updates.__struct_fields__

    def _problem(self, kind: str, code: str | None, matter: Record, *, required: bool) -> str | None:
        ledes = matter.get("ledes_enabled") is True
        if not code:
            return f"the matter requires {'an' if kind[0] in 'ae' else 'a'} {kind} code" if ledes and required else None
        sets = self._codes.get((kind, code))
        if sets is None:
            return f"there is no such {kind} code"
        own = matter.get("ledes_code_set_ids") if ledes else None
        if ledes and own is None:
            own = ()
        usable = [selectable for name, selectable in sets.items() if own is None or name in own]
        if not usable:
            return f"none of the matter's code sets has this {kind} code"
        return None if any(usable) else "is a heading, which can't be assigned"

    def _check_fixed_fee(self, change: Change) -> None:
        if self._resource is TIME_ENTRIES:
            fee = self._records["fixed_fee_id"].get(str(change.after("fixed_fee_id") or "").casefold())
            if fee and str(fee["matter_id"]).casefold() != str(change.after("matter_id") or "").casefold():
                column = "fixed_fee_id" if change.changes("fixed_fee_id") else "matter_id"
                change.refuse(column, "the fixed fee is of another matter than the time entry")
        moved = self._resource is FIXED_FEES and change.id and change.changes("matter_id")
        if moved and self._server.count(TIME_ENTRIES, {"fixed_fee_id": change.id}):
            change.refuse("matter_id", "time entries of its matter are assigned to the fixed fee")


def _touches_codes(change: Change) -> bool:
    return change.action == "create" or any(change.changes(name) for name in ("matter_id", *_CODES))


def check_deletions(deletions: Sequence[Change], resource: Resource, server: Server) -> None:
    """Mark the deletions that the API would refuse, because other records belong to the record."""
    keeping = _KEEPING.get(resource.name, ())
    waiting = [change for change in deletions if change.is_sent]
    if not keeping or not waiting:
        return
    with ThreadPoolExecutor(server.connection.concurrency) as pool:
        for change, kept in zip(waiting, pool.map(_counter(keeping, server), waiting), strict=True):
            if kept:
                change.status = "invalid"
                change.reason = f"it has {', '.join(kept)}, so it can't be deleted.{_INSTEAD.get(resource.name, '')}"


def _counter(keeping: Iterable[tuple[str, Resource]], server: Server) -> Callable[[Change], list[str]]:
    def count(change: Change) -> list[str]:
        numbers = ((other, server.count(other, {name: change.id})) for name, other in keeping)
        return [f"{number:,} {other.name.replace('_', ' ')}" for other, number in numbers if number]

    return count
