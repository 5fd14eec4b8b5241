"""Declare every resource of the API: its path, its records, its filters, `select` names and sorts.

These declarations are the only place that has a list of filters, `select` names and sorts. The client builds its
requests, the loaders' signatures and their docstrings from them. The sandbox builds its routes and its OpenAPI document
from them. The names are those of the API; Python arguments have the same names in snake_case.

To add a filter to a list, add a `Filter` to its resource here and run `python -m tests.typing.make_stub`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, get_args

from billframes._shared.names import snake_case
from billframes.schema import records as r

MAX_LIMIT = 1000
MAX_OFFSET = 2_147_483_647
ALL_ZERO_ID = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True, slots=True)
class Filter:
    """
    A query parameter that narrows a list; the loader's argument is its API name in snake_case.

    `description` says which records the list then has. `field` is the record's property that must equal the given
    value; if a row has another value, the server is in error. A filter that is not `described` by the API is sent, and
    then applied to the received rows, because a server may ignore it. `present_if` is a boolean property that is true
    if `field` has a value: a row with the flag but without the value can't be filtered. `many` is whether the loader
    also takes a list of ids, and reads one list for each. `named_in` is the list whose records the ids belong to: with
    it, the loader also takes their names, as an argument without "_id".
    """

    name: str
    kind: str
    description: str
    values: tuple[str, ...] = ()
    field: str | None = None
    described: bool = True
    present_if: str | None = None
    many: bool = False
    positional: bool = False
    named_in: str = ""

    @property
    def argument(self) -> str:
        """The name of the loader's argument."""
        return snake_case(self.name)

    @property
    def name_argument(self) -> str:
        """The name of the loader's argument that takes names."""
        return self.argument.removesuffix("_id")


@dataclass(frozen=True, slots=True)
class Alternate:
    """
    Another `select` name for a detail, which some servers use.

    `name` is their name. `described_name` is the name in the API's description; None if the detail is always sent.
    `reference` is the record's property that has the detail.
    """

    name: str
    described_name: str | None
    reference: str


@dataclass(frozen=True, slots=True)
class Resource:
    """
    One collection of the API.

    A single record is at `path/{id}`; `detail` declares it, and is None if the API can't read one. `select` are the
    details that the list has on request, `alternates` the names that some servers use for them. `sort` has the API's
    sort names, and the record's property of each, dotted for nested ones. `order` are the properties that rows are
    sorted by by default. `date` is the property that startDate and endDate apply to. `entity` is that of its custom
    fields' definitions. `creates` and `updates` declare the bodies of requests; None if the API has no such operation.
    """

    name: str
    path: str
    record: type[r.ApiRecord]
    id: str
    filters: tuple[Filter, ...] = ()
    select: tuple[str, ...] = ()
    sort: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    paginated: bool = True
    order: tuple[str, ...] = ()
    date: str | None = None
    detail: type[r.ApiRecord] | None = None
    entity: str | None = None
    alternates: tuple[Alternate, ...] = ()
    creates: type[r.WriteBody] | None = None
    updates: type[r.WriteBody] | None = None

    @property
    def noun(self) -> str:
        """The name of one record, for messages: "time entry"."""
        return self.nouns.removesuffix("ies") + "y" if self.nouns.endswith("ies") else self.nouns.removesuffix("s")

    @property
    def nouns(self) -> str:
        """The name of several records, for messages: "time entries"."""
        return self.name.replace("_", " ")

    @property
    def id_column(self) -> str:
        """The name of `id` in frames and records: "time_entry_id"."""
        return snake_case(self.id)

    @property
    def date_column(self) -> str | None:
        """The name of `date` in frames and records; None for a list without dates."""
        return snake_case(self.date) if self.date else None

    @property
    def filters_by_argument(self) -> dict[str, Filter]:
        """The filters by the names of the loader's arguments."""
        return {each.argument: each for each in self.filters}


def _values(annotation: object) -> tuple[str, ...]:
    values: tuple[str, ...] = get_args(annotation)[1].extra["values"]
    return values


def _sorts(*names: str) -> Mapping[str, str]:
    """Return the record's property of each sort: it has the sort's name, unless it follows "="."""
    pairs = (each.partition("=") for each in names)
    return MappingProxyType({name: field or name for name, _, field in pairs})


_START = Filter("startDate", "date", "First day, inclusive.")
_END = Filter("endDate", "date", "Last day, inclusive.")
_USER = Filter("userId", "id", "Only records of this user.", field="userId", many=True, named_in="users")
_MATTER = Filter("matterId", "id", "Only records of this matter.", field="matterId", many=True, named_in="matters")
_CLIENT = Filter("clientId", "id", "Only records of this client.", field="clientId", many=True, named_in="clients")
_BILLED = Filter(
    "billed",
    "flag",
    "True: only records that are on an invoice in any state, drafts included. False: only records on no invoice.",
    field="billed",
)
_INVOICE = Filter(
    "invoiceId", "id", "Only records on this invoice.", field="invoiceId", described=False, present_if="billed"
)
_ITEM_SELECT = ("client", "matter", "user", "meta")
_INVOICE_BY_NAME = (Alternate("invoice", None, "invoice"),)
# What expenses and fixed fees have in common.
_ITEM: dict[str, Any] = {
    "filters": (_START, _END, _USER, _MATTER, _CLIENT, _INVOICE, _BILLED),
    "select": _ITEM_SELECT,
    "alternates": _INVOICE_BY_NAME,
    "sort": _sorts("date", "amount", "description"),
    "order": ("date",),
    "date": "date",
}

TIME_ENTRIES = Resource(
    name="time_entries",
    path="/v2/time-entries",
    record=r.TimeEntryList,
    detail=r.TimeEntryDetail,
    id="timeEntryId",
    filters=(
        _START,
        _END,
        _USER,
        _MATTER,
        _CLIENT,
        _INVOICE,
        Filter("fixedFeeId", "id", "Only time entries that this fixed fee covers.", field="fixedFeeId"),
        Filter(
            "billingType", "enum", "Only entries of this billing type.", _values(r.BillingType), field="billingType"
        ),
        _BILLED,
    ),
    select=(*_ITEM_SELECT, "fixedFee"),
    alternates=_INVOICE_BY_NAME,
    sort=_sorts("date", "hours", "description", "created=meta.createdAt"),
    order=("date",),
    date="date",
    creates=r.CreateTimeEntry,
    updates=r.UpdateTimeEntry,
)

EXPENSES = Resource(
    name="expenses",
    path="/v2/expenses",
    record=r.ExpenseList,
    detail=r.ExpenseDetail,
    id="expenseId",
    **_ITEM,
    creates=r.CreateExpense,
    updates=r.UpdateExpense,
)

FIXED_FEES = Resource(
    name="fixed_fees",
    path="/v2/fixed-fees",
    record=r.FixedFeeList,
    detail=r.FixedFeeDetail,
    id="fixedFeeId",
    **_ITEM,
    creates=r.CreateFixedFee,
    updates=r.UpdateFixedFee,
)

INVOICES = Resource(
    name="invoices",
    path="/v2/invoices",
    record=r.InvoiceList,
    id="invoiceId",
    filters=(
        _START,
        _END,
        Filter("invoiceState", "enum", "Only invoices in this state.", _values(r.InvoiceState), field="invoiceState"),
        _CLIENT,
        # An invoice may cover several matters and shows one of them, so its matterId may differ from the filter's.
        Filter("matterId", "id", "Only invoices that cover this matter.", many=True, named_in="matters"),
    ),
    select=("client", "matter", "meta"),
    sort=_sorts(
        *("client.name", "client.reference", "invoicedate=invoiceDate", "amount", "balance"),
        *("invoicenumber=invoiceNumber", "state=invoiceState"),
    ),
    order=("invoiceDate",),
    date="invoiceDate",
)

CLIENTS = Resource(
    name="clients",
    path="/v2/clients",
    record=r.ClientList,
    detail=r.ClientDetail,
    id="clientId",
    filters=(
        Filter("query", "text", "Part of the name or the reference.", positional=True),
        Filter("reference", "text", "The exact reference.", field="reference"),
    ),
    select=("contact", "meta", "customFields"),
    sort=_sorts("name", "reference"),
    order=("name",),
    entity="client",
    creates=r.CreateClient,
    updates=r.UpdateClient,
)

MATTERS = Resource(
    name="matters",
    path="/v2/matters",
    record=r.MatterList,
    detail=r.MatterDetail,
    id="matterId",
    filters=(
        Filter("query", "text", "Part of the matter's or the client's name or reference.", positional=True),
        Filter("reference", "text", "The exact reference.", field="reference"),
        Filter("clientReference", "text", "The client's exact reference."),
        Filter("userId", "id", "Only matters that this user is assigned to.", many=True, named_in="users"),
        Filter(
            "responsibleId", "id", "Only matters of this responsible attorney.", field="responsibleId", named_in="users"
        ),
        Filter("originatorId", "id", "Only matters that this attorney originated.", named_in="users"),
        _CLIENT,
        Filter(
            "practiceAreaId",
            "id",
            "Only matters of this practice area.",
            field="practiceAreaId",
            named_in="practice_areas",
        ),
        Filter(
            "archived", "flag", "True: only archived matters. False: only active ones. None: all.", field="archived"
        ),
    ),
    select=("matter", "ledesConfiguration", "responsible", "originator", "practiceArea", "meta", "customFields"),
    alternates=(Alternate("client", "matter", "client"),),
    sort=_sorts("name", "reference", "client.name", "client.reference"),
    order=("name",),
    entity="matter",
    creates=r.CreateMatter,
    updates=r.UpdateMatter,
)

USERS = Resource(
    name="users",
    path="/v2/users",
    record=r.UserList,
    id="userId",
    filters=(
        Filter("email", "text", "The e-mail address."),
        Filter("role", "enum", "Only users with this role.", _values(r.Role), field="role"),
        Filter("query", "text", "Part of the first name, last name, initials or e-mail address.", positional=True),
        Filter("queryFullMatch", "flag", "True: `query` must match the whole field."),
    ),
    select=("customFields",),
    paginated=False,
    entity="user",
    updates=r.UpdateUser,
)

PRACTICE_AREAS = Resource(
    name="practice_areas",
    path="/v2/practice-areas",
    record=r.PracticeAreaList,
    id="practiceAreaId",
    paginated=False,
    creates=r.CreatePracticeArea,
    updates=r.UpdatePracticeArea,
)

CODES = Resource(name="codes", path="/v2/codes", record=r.CodeDetail, id="code", paginated=False)

CUSTOM_FIELDS = Resource(
    name="custom_fields",
    path="/v2/custom-fields",
    record=r.CustomFieldList,
    id="id",
    filters=(
        Filter(
            "entity",
            "enum",
            "Only fields of this kind of record.",
            _values(r.CustomFieldEntity),
            field="entity",
            positional=True,
        ),
    ),
    paginated=False,
)

RESOURCES = (
    CLIENTS,
    CODES,
    CUSTOM_FIELDS,
    EXPENSES,
    FIXED_FEES,
    INVOICES,
    MATTERS,
    PRACTICE_AREAS,
    TIME_ENTRIES,
    USERS,
)
RESOURCE_OF: Mapping[str, Resource] = MappingProxyType({each.name: each for each in RESOURCES})
"""The lists by name."""
