"""The formats of LEDES files: their fields, first lines and tags, declared once for reader, writer, checks and docs.

A text format (1998B, 98BI) has text between pipes, no quoting, and `[]` at the end of each line. A line is a fee (F),
an expense (E), or an adjustment of the invoice's fees (IF) or expenses (IE). 98BI has the fields of 1998B, and 28 more
for tax, currency and addresses. XML files (2.0 to 2.2, 2000) are read as lines with the fields of 98BI.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Severity = Literal["rejected", "often rejected", "note"]
REJECTED: Severity = "rejected"
OFTEN: Severity = "often rejected"
NOTE: Severity = "note"

END = "[]"
TYPES = ("F", "E", "IF", "IE")
_ALL, _ITEMS, _FEES, _TAXED = "F E IF IE", "F E", "F", "with tax"

Kind = Literal["date", "text", "number", "money", "type", "rate"]
Subject = Literal["invoice", "matter", "item", "timekeeper"]


@dataclass(frozen=True, slots=True)
class LedesField:
    """
    A field of the formats: its place in a line from 1, and its name in the file's second line.

    `width` is the largest number of characters of a text, or of digits before the point of a number; None is any.
    `needed` are the types of lines that must have it, or "with tax"; `subject` is what it describes, and `source` where
    `ledes` takes it from. `lacking`, `wide` and `differs` are the severities if it is needed and empty, too wide, or
    not the same on all lines of its invoice or matter, according to `same_on`.
    """

    number: int
    label: str
    kind: Kind
    width: int | None
    needed: str
    subject: Subject
    source: str
    lacking: Severity = REJECTED
    wide: Severity = REJECTED
    same_on: Literal["invoice", "matter"] | None = None
    differs: Severity = OFTEN

    @property
    def column(self) -> str:
        """The column's name in frames."""
        return self.label.lower().replace("/", "_")

    @property
    def name(self) -> str:
        """Number and label, as in findings."""
        return f"{self.number} {self.label}"

    def is_needed(self, line_type: str) -> bool:
        """Tell whether lines of a type must have the field."""
        return line_type in self.needed.split()


def _address(first: int, owner: str, source: str) -> tuple[LedesField, ...]:
    """Return the seven fields of a name and an address. Their widths are known from one source only."""
    labels = ("NAME", "ADDRESS_1", "ADDRESS_2", "CITY", "STATEorREGION", "POSTCODE", "COUNTRY")
    widths = (60, 60, 60, 40, 40, 20, 3)
    needed = (_ALL, "", "", "", "", "", _TAXED if owner == "LAW_FIRM" else "")
    return tuple(
        LedesField(number, f"{owner}_{label}", "text", width, need, "invoice", source, OFTEN, OFTEN, "invoice")
        for number, (label, width, need) in enumerate(zip(labels, widths, needed, strict=True), start=first)
    )


_F = LedesField
_CODE = "the item; required if the matter or `require` says so"
_ON_ALL: tuple[Severity, Severity, Literal["invoice"], Severity] = (REJECTED, REJECTED, "invoice", REJECTED)
_INVOICE: tuple[Severity, Severity, Literal["invoice"]] = (REJECTED, REJECTED, "invoice")
_MATTER: tuple[Severity, Severity, Literal["matter"]] = (REJECTED, REJECTED, "matter")

FIELDS = (
    _F(1, "INVOICE_DATE", "date", 8, _ALL, "invoice", "the invoice", *_INVOICE),
    _F(2, "INVOICE_NUMBER", "text", 20, _ALL, "invoice", "the invoice"),
    _F(3, "CLIENT_ID", "text", 20, _ALL, "invoice", "the client's reference, or `client_id`", *_MATTER),
    _F(4, "LAW_FIRM_MATTER_ID", "text", 20, _ALL, "matter", "the matter's reference, or `matter_ids`"),
    _F(5, "INVOICE_TOTAL", "money", 12, _ALL, "invoice", "the sum of field 13", *_ON_ALL),
    _F(6, "BILLING_START_DATE", "date", 8, _ALL, "invoice", "the first line, or `billing_start`", *_ON_ALL),
    _F(7, "BILLING_END_DATE", "date", 8, _ALL, "invoice", "the last line, or `billing_end`", *_ON_ALL),
    _F(8, "INVOICE_DESCRIPTION", "text", None, "", "invoice", "`invoice_description`", *_ON_ALL),
    _F(9, "LINE_ITEM_NUMBER", "text", 20, _ALL, "item", "numbered from 1 in each invoice"),
    _F(10, "EXP/FEE/INV_ADJ_TYPE", "type", 2, _ALL, "item", "the kind of item"),
    _F(11, "LINE_ITEM_NUMBER_OF_UNITS", "number", 10, _ITEMS, "item", "hours; 1 for other items"),
    _F(12, "LINE_ITEM_ADJUSTMENT_AMOUNT", "money", 10, "", "item", "calculated"),
    _F(13, "LINE_ITEM_TOTAL", "money", 10, _ALL, "item", "the item's amount; in 98BI with tax"),
    _F(14, "LINE_ITEM_DATE", "date", 8, _ALL, "item", "the item"),
    _F(15, "LINE_ITEM_TASK_CODE", "text", 20, "", "item", _CODE),
    _F(16, "LINE_ITEM_EXPENSE_CODE", "text", 20, "", "item", f"{_CODE}; else often required on E"),
    _F(17, "LINE_ITEM_ACTIVITY_CODE", "text", 20, "", "item", _CODE),
    _F(18, "TIMEKEEPER_ID", "text", 20, _FEES, "timekeeper", "the user's initials, or `timekeeper_ids`"),
    _F(19, "LINE_ITEM_DESCRIPTION", "text", None, _FEES, "item", "the item"),
    _F(20, "LAW_FIRM_ID", "text", 20, _ALL, "invoice", "`law_firm_id`", *_ON_ALL),
    _F(21, "LINE_ITEM_UNIT_COST", "number", 10, _ITEMS, "item", "the rate; the amount of other items"),
    _F(22, "TIMEKEEPER_NAME", "text", 30, _FEES, "timekeeper", "the user, or `timekeeper_names`"),
    _F(23, "TIMEKEEPER_CLASSIFICATION", "text", 10, _FEES, "timekeeper", "`classifications`, or the user's role"),
    _F(24, "CLIENT_MATTER_ID", "text", 20, "", "matter", "`client_matter_id`, or `client_matter_ids`"),
    _F(25, "PO_NUMBER", "text", 100, "", "matter", "`po_numbers`", *_MATTER),
    _F(26, "CLIENT_TAX_ID", "text", 20, "", "invoice", "`client_address`", *_MATTER),
    _F(27, "MATTER_NAME", "text", 255, _ALL, "matter", "the matter", *_MATTER),
    _F(28, "INVOICE_TAX_TOTAL", "money", 12, _ALL, "invoice", "the sum of field 49", OFTEN, REJECTED, "invoice"),
    _F(29, "INVOICE_NET_TOTAL", "money", 12, _ALL, "invoice", "field 5 less field 28", *_INVOICE),
    _F(30, "INVOICE_CURRENCY", "text", 3, _ALL, "invoice", "`currency`", *_INVOICE),
    _F(31, "TIMEKEEPER_LAST_NAME", "text", 30, _FEES, "timekeeper", "field 22", OFTEN),
    _F(32, "TIMEKEEPER_FIRST_NAME", "text", 30, _FEES, "timekeeper", "field 22", OFTEN),
    _F(33, "ACCOUNT_TYPE", "text", 1, _ALL, "matter", "`account_type`", *_MATTER),
    *_address(34, "LAW_FIRM", "`firm`"),
    *_address(41, "CLIENT", "`client_address`, or the client"),
    _F(48, "LINE_ITEM_TAX_RATE", "rate", 1, _ALL, "item", "`tax`, or the firm's `taxes`", OFTEN),
    _F(49, "LINE_ITEM_TAX_TOTAL", "money", 10, _ALL, "item", "(11 × 21 + 12) × 48", OFTEN),
    _F(50, "LINE_ITEM_TAX_TYPE", "text", 20, _TAXED, "item", "`tax`, or the firm's `taxes`", OFTEN),
    _F(51, "INVOICE_REPORTED_TAX_TOTAL", "money", 12, "", "invoice", "empty", OFTEN, OFTEN),
    _F(52, "INVOICE_TAX_CURRENCY", "text", 3, "", "invoice", "empty", OFTEN, OFTEN),
)


@dataclass(frozen=True, slots=True)
class LedesFormat:
    """
    A format: its name as `ledes_format` returns it, the usual first line (or root element), and others that are often
    rejected.

    `not_ascii` is the severity of characters that are not ASCII, and `shortest` the least characters of a line that has
    the fields which the format requires.
    """

    name: str
    first_line: str
    also: frozenset[str]
    fields: tuple[LedesField, ...]
    not_ascii: Severity | None
    shortest: int

    @property
    def labels(self) -> tuple[str, ...]:
        """The names in the file's second line, in capitals."""
        return tuple(field.label.upper() for field in self.fields)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns' names in frames."""
        return tuple(field.column for field in self.fields)

    @property
    def heading(self) -> str:
        """The file's second line."""
        return "|".join(field.label for field in self.fields) + END

    @property
    def is_xml(self) -> bool:
        """Whether files of the format are XML."""
        return not self.first_line.endswith(END)

    @property
    def has_taxes(self) -> bool:
        """Whether lines have tax."""
        return len(self.fields) > len(FIELDS_1998B)


FIELDS_1998B = FIELDS[:24]
_BI = frozenset({"LEDES1998BI V2[]", "LEDES1998BI[]", "LEDES98BI[]"})
LEDES_1998B = LedesFormat("1998B", "LEDES1998B[]", frozenset(), FIELDS_1998B, REJECTED, 60)
LEDES_98BI = LedesFormat("98BI", "LEDES98BI V2[]", _BI, FIELDS, OFTEN, 130)
LEDES_98BI_51 = LedesFormat("98BI 51 fields", "LEDES1998BI[]", _BI, FIELDS[:51], OFTEN, 130)
LEDES_2000 = LedesFormat("2000", "ledesxml", frozenset(), FIELDS, None, 200)
XML_ROOTS = MappingProxyType(
    {
        LEDES_2000.first_line: LEDES_2000,
        **{
            f"ledesxmlebilling2.{nth}": LedesFormat(
                f"XML 2.{nth}", f"ledesxmlebilling2.{nth}", frozenset(), FIELDS, None, 200
            )
            for nth in range(3)
        },
    }
)
"""The XML formats by their root element."""

_ADDRESS = ("address_1", "address_2", "city", "state_province", "zip_postal_code", "country")
_ITEM = {
    "charge_date": "line_item_date",
    "units": "line_item_number_of_units",
    "rate": "line_item_unit_cost",
    "item_disc_cred_amount": "line_item_adjustment_amount",
    "discount_amount": "line_item_adjustment_amount",
    "charge_desc": "line_item_description",
    "task_code": "line_item_task_code",
    "acca_task": "line_item_task_code",
    "task_activity": "line_item_activity_code",
    "acca_activity": "line_item_activity_code",
    "expense_code": "line_item_expense_code",
    "acca_expense": "line_item_expense_code",
    "tk_id": "timekeeper_id",
}


def _address_tags(owner: str) -> dict[str, str]:
    labels = [field.column for field in FIELDS if re.match(rf"{owner}_(ADD|CITY|STATE|POST|COUNTRY)", field.label)]
    return dict(zip(_ADDRESS, labels, strict=True))


TAGS = MappingProxyType(
    {
        "firm": {"lf_vendor_id": "law_firm_id", "lf_tax_id": "law_firm_id", "lf_name": "law_firm_name"},
        "lf_address": _address_tags("LAW_FIRM"),
        "client": {"cl_id": "client_id", "cl_tax_id": "client_tax_id", "cl_name": "client_name"},
        "cl_address": _address_tags("CLIENT"),
        "invoice": {
            "inv_date": "invoice_date",
            "inv_id": "invoice_number",
            "inv_total_net_due": "invoice_total",
            "inv_start_date": "billing_start_date",
            "inv_end_date": "billing_end_date",
            "inv_desc": "invoice_description",
            "inv_total_tax": "invoice_tax_total",
            "inv_currency": "invoice_currency",
        },
        "matter": {
            "lf_matter_id": "law_firm_matter_id",
            "cl_matter_id": "client_matter_id",
            "po_number": "po_number",
            "matter_name": "matter_name",
            "account_type": "account_type",
        },
        "tk_sum": {
            "tk_level": "timekeeper_classification",
            "tk_lname": "timekeeper_last_name",
            "tk_fname": "timekeeper_first_name",
        },
        "fee": _ITEM,
        "expense": _ITEM,
    }
)
"""The column of each tag, by the segment of XML that it is in."""
