"""Read the records of bills from a book or from frames of any engine, as Python values.

Each frame is filtered by its own engine first, so that only the requested records are converted.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import repeat
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.compute as pc

from billframes._shared.names import closest, type_in_words
from billframes.client import Client
from billframes.config.firm import FirmSettings
from billframes.errors import MissingColumnError, ParameterError
from billframes.loading.load_info import load_info
from billframes.periods import Period
from billframes.schema.records import LEDES_CODES

Row = dict[str, Any]
C = nw.col

FRAMES = ("time_entries", "expenses", "fixed_fees", "invoices", "matters", "users", "codes")
OPEN_STATES = ("draft", "review", "approved")

# The frame of each kind of item. Its columns are read as the fields of `BillItem`.
KINDS = {"time_entry": "time_entries", "fixed_fee": "fixed_fees", "expense": "expenses"}
# The columns of each kind of item that have codes; a matter's `ledes_…_required` tells whether one is required.
CODES = {
    "time_entry": ("activity_code", "task_code"),
    "fixed_fee": ("activity_code", "task_code"),
    "expense": ("expense_code",),
}
_SHARED = ("date", "matter_id", "client_id", "user_id", "description", "amount", "invoice_id")
_NEEDED = {
    "time_entry": (*_SHARED, "billing_type", "hours", "rate", *CODES["time_entry"]),
    "fixed_fee": _SHARED,
    "expense": _SHARED,
}
_OPTIONAL = {
    "time_entry": ("invoice_number",),
    "fixed_fee": ("invoice_number", *CODES["fixed_fee"], "modified_at"),
    "expense": ("invoice_number", *CODES["expense"], "modified_at"),
}
_INVOICES = ("invoice_id", "invoice_number", "invoice_date", "invoice_state", "client_id", "matter_id", "amount")
_MATTERS = (
    "matter_id",
    "client_id",
    "reference",
    "ledes_enabled",
    *(flag for _, flag in LEDES_CODES.values()),
    "ledes_code_set_ids",
)
_MATTERS_OPTIONAL = (
    *("name", "client_reference", "client_name", "responsible_id", "responsible_name"),
    *("practice_area_label", "matter_type", "archived", "opened"),
)
_CLIENTS = ("name", "contact_street", "contact_city", "contact_state", "contact_zip", "contact_country")
_USERS = ("user_id", "first_name", "last_name", "role", "initials")
# For the invoices of more clients, one load of the whole firm takes fewer requests.
_FEW_CLIENTS = 5

# Filters of a load that remove nothing from an invoice's amount, with the value for which this is true.
_HARMLESS = {"billed": True, "billing_type": "billable"}


@dataclass(slots=True)
class BillItem:
    """A time entry, an expense or a fixed fee; `has_codes` is False until its codes are read."""

    kind: str
    id: str
    date: Any = None
    day: str = ""
    matter_id: str | None = None
    client_id: str | None = None
    user_id: str | None = None
    description: str | None = None
    amount: Any = None
    invoice_id: str | None = None
    invoice_number: str | None = None
    billing_type: str = ""
    hours: Any = None
    rate: Any = None
    activity_code: str | None = None
    task_code: str | None = None
    expense_code: str | None = None
    modified_at: Any = None
    has_codes: bool = True

    @property
    def place(self) -> Row:
        """The item's kind, date and matter, for findings."""
        return {"item": self.kind, "date": self.date, "matter_id": self.matter_id}


class BillSource:
    """
    Reads records from a book, or from frames by their loader's name.

    `client`, by default the book's, reads single records; `settings` are the firm's, by default the book's or the
    client's.
    """

    def __init__(self, given: Any, client: Client | None, settings: FirmSettings | None = None) -> None:
        self._given = given
        of_data = given if hasattr(given, "settings") else client
        self.settings: FirmSettings | None = settings or getattr(of_data, "settings", None)
        if isinstance(given, Mapping):
            lacking = [name for name in FRAMES if given.get(name) is None]
            if lacking:
                raise ParameterError(
                    f"The frames lack {', '.join(lacking)}. E-billing takes {', '.join(FRAMES)}. Pass an empty frame "
                    "if there are no such records, or pass a book (bf.book)."
                )
        # On a book, asking for a frame loads it, so its class is looked at first.
        elif not all(hasattr(type(given), name) or hasattr(given, name) for name in FRAMES):
            raise ParameterError(
                f"{type(given).__name__} is neither a book nor frames by name; pass bf.book(...), or a dict such as "
                "{'invoices': bf.invoices(), 'time_entries': bf.time_entries(), ...}."
            )
        # The book's client can be a mirror, which has no single records with the codes of expenses and fixed fees.
        of_book = getattr(given, "client", None)
        self.client: Client | None = client or (of_book if isinstance(of_book, Client) else None)
        # A mirror remembers codes on disk.
        self.code_store: Any = getattr(of_book, "_item_codes", None)
        # Whether items of the invoices' clients are enough, and these clients' ids; if empty, all items are read.
        self.is_narrow = hasattr(given, "_items_of_clients")
        self._client_ids: list[str] = []

    @property
    def period(self) -> Period:
        """The book's period; an open period if frames are given."""
        period: Period = getattr(self._given, "period", Period())
        return period

    def native(self, name: str) -> Any:
        """Return a frame as it was given; items on invoices of a few clients are loaded for these clients only."""
        if self._client_ids and name in KINDS.values():
            return self._given._items_of_clients(name, self._client_ids)
        return self._given.get(name) if isinstance(self._given, Mapping) else getattr(self._given, name)

    @functools.cached_property
    def invoices(self) -> list[Row]:
        """All invoices."""
        columns = self._columns("invoices", _INVOICES, ("client_name", "client_reference"))
        columns["day"] = columns.pop("invoice_date_text")
        return _rows(columns)

    @functools.cached_property
    def matters(self) -> dict[str, Row]:
        """All matters by id, with their custom fields."""
        customs = [name for name in self.names("matters") if name.startswith("cf_")]
        columns = self._columns("matters", _MATTERS, (*_MATTERS_OPTIONAL, *customs))
        return {row["matter_id"]: row for row in _rows(columns)}

    @functools.cached_property
    def users(self) -> dict[str, Row]:
        """All users by id, with their custom fields."""
        customs = [name for name in self.names("users") if name.startswith("cf_")]
        return {row["user_id"]: row for row in _rows(self._columns("users", _USERS, ("email", *customs)))}

    @functools.cached_property
    def clients(self) -> dict[str, Row]:
        """All clients by id, with their addresses; none if frames without clients were given."""
        if isinstance(self._given, Mapping) and self._given.get("clients") is None:
            return {}
        return {row["client_id"]: row for row in _rows(self._columns("clients", ("client_id",), _CLIENTS))}

    @functools.cached_property
    def codes(self) -> dict[str, list[Any]]:
        """All codes, by column."""
        return self._columns("codes", ("code_type", "code", "code_set_id", "selectable"), ())

    def names(self, name: str) -> list[str]:
        """Return the columns of a frame."""
        names: list[str] = _open(self.native(name), name).collect_schema().names()
        return names

    def items_of(self, invoices: Mapping[str, Row]) -> list[BillItem]:
        """Return all items on invoices, which are given by id: first the fees, then the expenses, each by date."""
        client_ids = {client_id for row in invoices.values() for client_id in self._clients_of(row)}
        self.is_narrow = self.is_narrow and len(client_ids) <= _FEW_CLIENTS
        self._client_ids = sorted(client_ids) if self.is_narrow else []
        return self._items(C("invoice_id").is_in(list(invoices)))

    def _clients_of(self, invoice: Row) -> set[str]:
        """Return the invoice's client and the client of its matter, which differ if the matter was moved."""
        matter = self.matters.get(invoice["matter_id"] or "", invoice)
        return {invoice["client_id"], matter["client_id"]}

    def unbilled_items(self, period: Period, matter_ids: Collection[str]) -> list[BillItem]:
        """Return the items of a period on these matters, without those on final invoices."""
        wanted = C("matter_id").is_in(list(matter_ids))
        if period.start is not None:
            wanted &= C("date") >= dt.datetime.combine(period.start, dt.time())
        if period.end is not None:
            wanted &= C("date") < dt.datetime.combine(period.end + dt.timedelta(days=1), dt.time())
        not_final = [row["invoice_id"] for row in self.invoices if row["invoice_state"] in OPEN_STATES]
        return self._items(wanted & (C("invoice_id").is_null() | C("invoice_id").is_in(not_final)))

    def _items(self, wanted: nw.Expr) -> list[BillItem]:
        items = [item for kind in KINDS for item in self._items_of_kind(kind, wanted)]
        items.sort(key=lambda item: (item.kind == "expense", item.day, item.kind, item.id))
        return items

    def _items_of_kind(self, kind: str, wanted: nw.Expr) -> list[BillItem]:
        id_ = f"{kind}_id"
        columns = self._columns(KINDS[kind], (id_, *_NEEDED[kind]), _OPTIONAL[kind], wanted)
        columns["id"], columns["day"] = columns.pop(id_), columns.pop("date_text")
        fixed = {"kind": kind, "has_codes": CODES[kind][-1] in columns}
        # Whole columns at once, because a hundred thousand keyword calls would take seconds.
        values = (columns.get(each.name) or repeat(fixed.get(each.name, each.default)) for each in fields(BillItem))
        return list(map(BillItem, *values)) if columns["id"] else []

    def _columns(
        self, name: str, needed: Sequence[str], optional: Iterable[str], wanted: nw.Expr | None = None
    ) -> dict[str, list[Any]]:
        frame = _open(self.native(name), name)
        present = frame.collect_schema().names()
        lacking = [each for each in needed if each not in present]
        if lacking:
            raise MissingColumnError(
                f"{name} has no column {', '.join(map(repr, lacking))}; it has {', '.join(present) or 'none'}. "
                f"The loader {name}() supplies it."
            )
        frame = frame if wanted is None else frame.filter(wanted)
        frame = frame.select(*needed, *(each for each in optional if each in present and each not in needed))
        eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        # The Arrow table of a filtered pandas frame has its index as an additional column.
        table = eager.to_arrow()
        columns = {each: table[each].to_pylist() for each in frame.collect_schema().names()}
        for each in ("date", "invoice_date"):
            if each in columns:
                columns[f"{each}_text"] = _day_texts(table[each], name, each)
        return columns

    def find_invoices(self, invoice: str | int | Iterable[str | int]) -> list[Row]:
        """Return the invoices with one or several numbers or ids."""
        is_one = isinstance(invoice, str) or not isinstance(invoice, Iterable)
        return [self.find_invoice(str(each)) for each in ([invoice] if is_one else invoice)]  # type: ignore[union-attr]

    def find_invoice(self, number_or_id: str) -> Row:
        """Return the invoice with a number or an id; raise `ParameterError` if no invoice has it, or several do."""
        text = str(number_or_id)
        found = [row for row in self.invoices if text.lower() == str(row["invoice_id"]).lower()]
        found = found or [row for row in self.invoices if row["invoice_number"] == text]
        if not found:
            numbers = [row["invoice_number"] for row in self.invoices]
            raise ParameterError(
                f"There is no invoice {text!r} among the {len(numbers):,} invoices.{closest(text, numbers)}"
            )
        if len(found) > 1:
            ids = ", ".join(str(row["invoice_id"]) for row in found)
            raise ParameterError(f"{len(found)} invoices have the number {text!r}. Give the id instead: {ids}.")
        return found[0]

    def incomplete_loads(self, invoice: Row) -> list[str]:
        """Return the reasons for which frames may lack items of an invoice, according to how they were loaded."""
        return [reason for name in KINDS.values() if (reason := self._reason_incomplete(name, invoice))]

    def _reason_incomplete(self, name: str, invoice: Row) -> str | None:
        native = self.native(name)
        info = load_info(native)
        if info is None:
            return None
        words = name.replace("_", " ")
        if info.start is not None or info.end is not None:
            return f"{words} were loaded from {info.start or 'the first'} to {info.end or 'the last'} only"
        harmless = {"client_id": invoice["client_id"], "invoice_id": invoice["invoice_id"], **_HARMLESS}
        for argument, value in info.arguments.items():
            values = value if isinstance(value, list | tuple | set) else [value]
            if harmless.get(argument, ...) not in values:
                return f"{words} were loaded with {argument}="
        if info.rows is not None and not isinstance(nw.from_native(native), nw.LazyFrame) and len(native) < info.rows:
            return f"rows of {words} were removed after the load"
        return None


def _open(native: Any, name: str) -> Any:
    try:
        return nw.from_native(native)
    except TypeError as error:
        raise ParameterError(
            f"{name} is {type_in_words(native)}; it takes a pandas, Polars, Arrow, DuckDB or PySpark frame."
        ) from error


def _rows(columns: Mapping[str, Sequence[Any]]) -> list[Row]:
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _day_texts(column: pa.ChunkedArray, name: str, label: str) -> list[str]:
    """Write dates as in the format; a missing date is an empty text."""
    kind = column.type
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        raise ParameterError(
            f"{name} has instants with a time zone in {label!r}; convert them to dates of the firm's calendar, with "
            ".dt.tz_convert(zone).dt.tz_localize(None)."
        )
    if not (pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_null(kind)):
        raise ParameterError(f"{name} has {kind} in {label!r}; it takes dates.")
    if pa.types.is_null(kind):
        return [""] * len(column)
    return [text or "" for text in pc.strftime(column, "%Y%m%d").to_pylist()]
