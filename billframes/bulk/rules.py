"""Check changes by the API's rules before anything is sent, so that the plan shows what the API would refuse.

LEDES requirements are checked on new records, and if a change touches a code or the matter. So the narrative of an old
entry without its code can still be corrected. The API does not tell which user a credential belongs to, so a new time
entry without a timekeeper is left for the server to check.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from billframes._shared.names import with_article
from billframes.bulk.changes import Change
from billframes.bulk.columns import EditColumn, columns_of
from billframes.bulk.server_records import RecordReader, ServerRecord
from billframes.loading.connection import request_threads
from billframes.schema.decode import decode_single
from billframes.schema.records import LEDES_CODES, CodeList
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

_LEDES = ("ledes_enabled", "ledes_code_set_ids", *(flag for _, flag in LEDES_CODES.values()))
# Columns with the id of another record, each with its resource and the columns of that record that the checks need.
_REFERENCES = {
    "matter_id": (MATTERS, _LEDES),
    "client_id": (CLIENTS, ()),
    "fixed_fee_id": (FIXED_FEES, ("matter_id",)),
}
# Columns with an id of which only the existence is checked, in the resource's list.
_LISTED_REFERENCES = {
    "user_id": USERS,
    "responsible_id": USERS,
    "originator_id": USERS,
    "practice_area_id": PRACTICE_AREAS,
}
# Records that prevent a deletion, by the resource of the record to delete: the filter to find them, and their resource.
_BLOCKING = {
    "clients": (("client_id", MATTERS), ("client_id", INVOICES)),
    "matters": tuple(("matter_id", each) for each in (TIME_ENTRIES, EXPENSES, FIXED_FEES, INVOICES)),
    "fixed_fees": (("fixed_fee_id", TIME_ENTRIES),),
}
_ADVICE = {"matters": " Archive it instead.", "fixed_fees": " Take it off them first."}


def _check_values(change: Change, resource: Resource, columns: Mapping[str, EditColumn]) -> None:
    for cell in change.sent_cells():
        column = columns[cell.column]
        if cell.after is None and column.required:
            always = f"{with_article(resource.noun)} always has a value here, so it can't be emptied"
            change.mark_invalid(cell.column, always)
        elif cell.after is not None and column.kind == "enum" and cell.after not in column.values:
            change.mark_invalid(cell.column, f"takes one of {', '.join(column.values)}")
    if change.action == "create":
        _check_required(change, resource)
    if change.changes("rate") and change.value_after("rate") is not None:
        kind = change.value_after("billing_type")
        if kind is not None and kind != "billable":
            change.mark_invalid("rate", f"only billable time has a rate, and this is {kind}")


def _check_required(change: Change, resource: Resource) -> None:
    assert resource.creates is not None  # noqa: S101 - only such resources have plans
    number = len(resource.creates.__struct_fields__) - len(resource.creates.__struct_defaults__)
    for name in (field.name for field in fields_of(resource.creates)[:number]):
        if change.value_after(name) is None and not any(cell.column == name for cell in change.cells):
            change.mark_invalid(name, f"a new {resource.noun} needs it")
    company, first, last = (change.value_after(f"contact_{part}_name") for part in ("company", "first", "last"))
    if resource is CLIENTS and not (company or (first and last)):
        change.mark_invalid("contact_company_name", "a new client needs a company name, or a first and a last name")


class RuleChecks:
    """The checks of updates and creates: `add` all changes, `read` each other record once, then `check` each change."""

    def __init__(self, resource: Resource, columns: Mapping[str, EditColumn], reader: RecordReader) -> None:
        self._resource, self._columns, self._reader = resource, columns, reader
        self._is_item = resource in (TIME_ENTRIES, EXPENSES, FIXED_FEES)
        self._codes_of_resource = LEDES_CODES.keys() & {*resource.updates.__struct_fields__} if resource.updates else ()
        self._wanted: dict[str, set[str]] = {name: set() for name in _REFERENCES}
        self._listed_columns: set[str] = set()
        self._needs_codes = False
        self._records: dict[str, Mapping[str, ServerRecord]] = {}
        self._ids: dict[str, Collection[str]] = {}
        self._codes: dict[tuple[str, str], dict[str, bool]] = {}

    def add(self, change: Change) -> None:
        """Note the other records that the checks of a change need."""
        if not change.is_sent:
            return
        for name, wanted in self._wanted.items():
            value = change.value_after(name) if self._needs(name, change) else None
            if value is not None:
                wanted.add(value)
        self._listed_columns |= {
            name for name in _LISTED_REFERENCES if change.changes(name) and change.value_after(name) is not None
        }
        if _touches_codes(change) and any(change.value_after(name) for name in LEDES_CODES):
            self._needs_codes = True

    def read(self) -> None:
        """Read the other records that the checks need."""
        for name, (resource, wanted) in _REFERENCES.items():
            ids = self._wanted[name]
            columns = [column for column in columns_of(resource).values() if column.name in wanted] if ids else []
            self._records[name] = self._reader.records(resource, ids, columns) if ids else {}
        # Several columns have ids of users, whose list is read once.
        listed = {each.name: each for name, each in _LISTED_REFERENCES.items() if name in self._listed_columns}
        for resource in listed.values():
            self._ids[resource.name] = self._reader.listed(resource, (), {}).keys()
        if self._needs_codes:
            self._codes = self._read_codes()

    def _needs(self, name: str, change: Change) -> bool:
        if _REFERENCES[name][0] is self._resource:
            return False
        if name == "matter_id":
            return self._is_item and (change.changes(name) or _touches_codes(change))
        if name == "fixed_fee_id":
            return change.changes(name) or (change.changes("matter_id") and change.value_after(name) is not None)
        return change.changes(name)

    def _read_codes(self) -> dict[tuple[str, str], dict[str, bool]]:
        self._reader.requests += 1
        body = self._reader.connection.fetch(CODES.path, resource=CODES.name).body
        listed = decode_single(body, CodeList, CODES.name)
        sets: dict[tuple[str, str], dict[str, bool]] = {}
        for kind in ("activity", "task", "expense"):
            for code in getattr(listed, kind):
                sets.setdefault((kind, code.code), {})[code.code_set_id] = code.selectable is not False
        return sets

    def check(self, change: Change) -> None:
        """Mark the cells that the API would refuse as `invalid`, with the rule as the reason."""
        if change.is_sent:
            _check_values(change, self._resource, self._columns)
            self._check_references(change)
            if self._is_item and _touches_codes(change):
                self._check_codes(change)
            self._check_fixed_fee(change)
        change.hold_back()

    def _check_references(self, change: Change) -> None:
        known: dict[str, tuple[Resource, Collection[str]]]
        known = {name: (resource, self._records[name]) for name, (resource, _) in _REFERENCES.items()}
        known |= {name: (each, self._ids.get(each.name, ())) for name, each in _LISTED_REFERENCES.items()}
        for name, (resource, ids) in known.items():
            value = change.value_after(name)
            if change.changes(name) and value is not None and value.casefold() not in ids:
                change.mark_invalid(name, f"there is no {resource.noun} with this id")

    def _check_codes(self, change: Change) -> None:
        matter = self._records["matter_id"].get(str(change.value_after("matter_id") or "").casefold(), {})
        all_codes = change.action == "create" or change.changes("matter_id")
        for name, (kind, flag) in LEDES_CODES.items():
            if name in self._codes_of_resource and (all_codes or change.changes(name)):
                problem = self._code_problem(kind, change.value_after(name), matter, required=matter.get(flag) is True)
                if problem:
                    change.mark_invalid(name, problem)

    def _code_problem(self, kind: str, code: str | None, matter: ServerRecord, *, required: bool) -> str | None:
        ledes = matter.get("ledes_enabled") is True
        if not code:
            return f"the matter requires {'an' if kind[0] in 'ae' else 'a'} {kind} code" if ledes and required else None
        sets = self._codes.get((kind, code))
        if sets is None:
            return f"there is no such {kind} code"
        # Without LEDES, codes of every set can be assigned.
        allowed = (matter.get("ledes_code_set_ids") or ()) if ledes else sets
        usable = [selectable for name, selectable in sets.items() if name in allowed]
        if not usable:
            return f"none of the matter's code sets has this {kind} code"
        return None if any(usable) else "is a heading, which can't be assigned"

    def _check_fixed_fee(self, change: Change) -> None:
        if self._resource is TIME_ENTRIES:
            fee = self._records["fixed_fee_id"].get(str(change.value_after("fixed_fee_id") or "").casefold())
            if fee and str(fee["matter_id"]).casefold() != str(change.value_after("matter_id") or "").casefold():
                column = "fixed_fee_id" if change.changes("fixed_fee_id") else "matter_id"
                change.mark_invalid(column, "the fixed fee is of another matter than the time entry")
        moved = self._resource is FIXED_FEES and change.id and change.changes("matter_id")
        if moved and self._reader.count(TIME_ENTRIES, {"fixed_fee_id": change.id}):
            change.mark_invalid("matter_id", "time entries of its matter are assigned to the fixed fee")


def _touches_codes(change: Change) -> bool:
    return change.action == "create" or any(change.changes(name) for name in ("matter_id", *LEDES_CODES))


def check_deletions(deletions: Sequence[Change], resource: Resource, reader: RecordReader) -> None:
    """Mark the deletions that the API would refuse because other records belong to the record."""
    blocking = _BLOCKING.get(resource.name, ())
    to_send = [change for change in deletions if change.is_sent]
    if not blocking or not to_send:
        return
    with request_threads(reader.connection.concurrency) as pool:
        belonging = pool.map(lambda change: _belonging_records(change, blocking, reader), to_send)
        for change, found in zip(to_send, belonging, strict=True):
            if found:
                change.status = "invalid"
                change.reason = f"it has {', '.join(found)}, so it can't be deleted.{_ADVICE.get(resource.name, '')}"


def _belonging_records(change: Change, blocking: Iterable[tuple[str, Resource]], reader: RecordReader) -> list[str]:
    numbers = ((other, reader.count(other, {name: change.id})) for name, other in blocking)
    return [f"{number:,} {other.nouns}" for other, number in numbers if number]
