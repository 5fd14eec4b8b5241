"""Every resource of the API: where it is, what its list takes, and what its records are.

Pure declaration: the client builds its requests from it, the sandbox its routes and OpenAPI, the docs their
tables. Names are the wire's; Python's are their snake_case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import get_args

from billframes.schema import records as r

__all__ = [
    "CLIENTS",
    "CODES",
    "CUSTOM_FIELDS",
    "EXPENSES",
    "FIXED_FEES",
    "INVOICES",
    "MATTERS",
    "PRACTICE_AREAS",
    "RESOURCES",
    "TIME_ENTRIES",
    "USERS",
    "Alternate",
    "Filter",
    "Resource",
]

MAX_LIMIT = 1000
MAX_OFFSET = 2_147_483_647
ALL_ZERO_ID = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True, slots=True)
class Filter:
    """
    A query parameter that narrows a list.

    `kind` is id, date, flag, text or enum; `field` is the record's property it must equal, where there is one.
    `described` is False for a parameter that the description lacks and other servers of this family know: it is sent,
    and applied to the rows that come, because a server that ignores it is right to.
    """

    name: str
    kind: str
    description: str
    values: tuple[str, ...] = ()
    field: str | None = None
    described: bool = True


@dataclass(frozen=True, slots=True)
class Alternate:
    """
    Another `select` name for a detail, which other servers of this family have.

    `name` is theirs, `described` the description's own, None where the detail comes without being asked for; `brings`
    is the record's property.
    """

    name: str
    described: str | None
    brings: str


@dataclass(frozen=True, slots=True)
class Resource:
    """
    One collection of the API.

    `name` is the loader's, `id` the property that identifies a record, `sort` maps the wire's sort names to the
    record's properties (dotted for nested ones), `order` the properties rows are ordered by where the caller asks
    for nothing, `date` the property that startDate and endDate apply to, `alternates` the `select` names that other
    servers of this family have.
    """

    name: str
    path: str
    record: type[r.Record]
    id: str
    filters: tuple[Filter, ...] = ()
    select: tuple[str, ...] = ()
    sort: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    paginated: bool = True
    order: tuple[str, ...] = ()
    date: str | None = None
    detail: type[r.Record] | None = None
    entity: str | None = None
    alternates: tuple[Alternate, ...] = ()

    @property
    def noun(self) -> str:
        """What one record is called: "time entry"."""
        words = self.name.replace("_", " ")
        return words.removesuffix("ies") + "y" if words.endswith("ies") else words.removesuffix("s")


def _values(annotation: object) -> tuple[str, ...]:
    """Return the declared values of an enum annotation."""
    values: tuple[str, ...] = get_args(annotation)[1].extra["values"]
    return values


_START = Filter("startDate", "date", "First day, inclusive.")
_END = Filter("endDate", "date", "Last day, inclusive.")
_USER = Filter("userId", "id", "Only this user's.", field="userId")
_MATTER = Filter("matterId", "id", "Only this matter's.", field="matterId")
_CLIENT = Filter("clientId", "id", "Only this client's.", field="clientId")
_BILLED = Filter("billed", "flag", "True: only what is on an invoice in any state.", field="billed")
_INVOICE = Filter("invoiceId", "id", "Only what is on this invoice.", field="invoiceId", described=False)
_ITEM_SELECT = ("client", "matter", "user", "meta")
_INVOICE_BY_NAME = (Alternate("invoice", None, "invoice"),)
_ITEM_SORT = MappingProxyType({"date": "date", "amount": "amount", "description": "description"})
_ITEM_FILTERS = (_START, _END, _USER, _MATTER, _CLIENT, _INVOICE, _BILLED)

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
        Filter("fixedFeeId", "id", "Only time under this fixed fee.", field="fixedFeeId"),
        Filter("billingType", "enum", "Only this billing type.", _values(r.BillingType), field="billingType"),
        _BILLED,
    ),
    select=(*_ITEM_SELECT, "fixedFee"),
    alternates=_INVOICE_BY_NAME,
    sort=MappingProxyType(
        {"date": "date", "hours": "hours", "description": "description", "created": "meta.createdAt"}
    ),
    order=("date",),
    date="date",
)

EXPENSES = Resource(
    name="expenses",
    path="/v2/expenses",
    record=r.ExpenseList,
    detail=r.ExpenseDetail,
    id="expenseId",
    filters=_ITEM_FILTERS,
    select=_ITEM_SELECT,
    alternates=_INVOICE_BY_NAME,
    sort=_ITEM_SORT,
    order=("date",),
    date="date",
)

FIXED_FEES = Resource(
    name="fixed_fees",
    path="/v2/fixed-fees",
    record=r.FixedFeeList,
    detail=r.FixedFeeDetail,
    id="fixedFeeId",
    filters=_ITEM_FILTERS,
    select=_ITEM_SELECT,
    alternates=_INVOICE_BY_NAME,
    sort=_ITEM_SORT,
    order=("date",),
    date="date",
)

INVOICES = Resource(
    name="invoices",
    path="/v2/invoices",
    record=r.InvoiceList,
    id="invoiceId",
    filters=(
        _START,
        _END,
        Filter("invoiceState", "enum", "Only this state.", _values(r.InvoiceState), field="invoiceState"),
        _CLIENT,
        # An invoice may cover several matters and shows one, so its matterId need not be the one asked for.
        Filter("matterId", "id", "Only invoices that cover this matter."),
    ),
    select=("client", "matter", "meta"),
    sort=MappingProxyType(
        {
            "client.name": "client.name",
            "client.reference": "client.reference",
            "invoicedate": "invoiceDate",
            "amount": "amount",
            "balance": "balance",
            "invoicenumber": "invoiceNumber",
            "state": "invoiceState",
        }
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
        Filter("query", "text", "Part of the name or reference."),
        Filter("reference", "text", "The whole reference.", field="reference"),
    ),
    select=("contact", "meta", "customFields"),
    sort=MappingProxyType({"name": "name", "reference": "reference"}),
    order=("name",),
    entity="client",
)

MATTERS = Resource(
    name="matters",
    path="/v2/matters",
    record=r.MatterList,
    detail=r.MatterDetail,
    id="matterId",
    filters=(
        Filter("query", "text", "Part of the matter's or the client's name or reference."),
        Filter("reference", "text", "The whole reference.", field="reference"),
        Filter("clientReference", "text", "The client's whole reference."),
        Filter("userId", "id", "Only matters this user is assigned to."),
        Filter("responsibleId", "id", "Only this responsible attorney's.", field="responsibleId"),
        Filter("originatorId", "id", "Only matters this attorney originated."),
        _CLIENT,
        Filter("practiceAreaId", "id", "Only this practice area's.", field="practiceAreaId"),
        Filter("archived", "flag", "True: only archived; False: only active; absent: all.", field="archived"),
    ),
    select=(
        "matter",
        "ledesConfiguration",
        "responsible",
        "originator",
        "practiceArea",
        "meta",
        "customFields",
    ),
    alternates=(Alternate("client", "matter", "client"),),
    sort=MappingProxyType(
        {
            "name": "name",
            "reference": "reference",
            "client.name": "client.name",
            "client.reference": "client.reference",
        }
    ),
    order=("name",),
    entity="matter",
)

USERS = Resource(
    name="users",
    path="/v2/users",
    record=r.UserList,
    id="userId",
    filters=(
        Filter("email", "text", "The e-mail address."),
        Filter("role", "enum", "Only this role.", _values(r.Role), field="role"),
        Filter("query", "text", "Part of first name, last name, initials or e-mail."),
        Filter("queryFullMatch", "flag", "True: `query` must be the whole field."),
    ),
    select=("customFields",),
    paginated=False,
    entity="user",
)

PRACTICE_AREAS = Resource(
    name="practice_areas",
    path="/v2/practice-areas",
    record=r.PracticeAreaList,
    id="practiceAreaId",
    paginated=False,
)

CODES = Resource(name="codes", path="/v2/codes", record=r.CodeDetail, id="code", paginated=False)

CUSTOM_FIELDS = Resource(
    name="custom_fields",
    path="/v2/custom-fields",
    record=r.CustomFieldList,
    id="id",
    filters=(Filter("entity", "enum", "What the field is on.", _values(r.CustomFieldEntity), field="entity"),),
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
