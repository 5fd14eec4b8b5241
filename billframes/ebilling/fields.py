"""The 24 fields of LEDES 1998B, declared once for reading, writing, checks and docs.

The format is frozen: text between pipes, no quoting, ASCII, `[]` at the end of each line. A line is a fee (F), an
expense (E), or an adjustment of the invoice's fees (IF) or expenses (IE).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["BY_COLUMN", "COLUMNS", "END", "FIELDS", "FIRST_LINE", "HEADING", "TYPES", "LedesField"]

FIRST_LINE = "LEDES1998B[]"
END = "[]"
TYPES = ("F", "E", "IF", "IE")
_ALL, _ITEMS, _FEES = "F E IF IE", "F E", "F"

Kind = Literal["date", "text", "number", "money", "type"]
About = Literal["invoice", "matter", "item", "timekeeper"]


@dataclass(frozen=True, slots=True)
class LedesField:
    """
    A field of the format.

    Parameters
    ----------
    number : int
        Its place in a line, from 1.
    label : str
        Its name in the file's second line.
    kind : {"date", "text", "number", "money", "type"}
        What it holds; numbers and money have up to four decimals.
    width : int, optional
        Most characters of a text, most digits before the point of a number; None is any.
    needed : str
        Types of lines that must have it.
    about : {"invoice", "matter", "item", "timekeeper"}
        What it says something of: an invoice's fields are the same on each of its lines.
    """

    number: int
    label: str
    kind: Kind
    width: int | None
    needed: str
    about: About

    @property
    def column(self) -> str:
        """The column of frames that holds it."""
        return self.label.lower().replace("/", "_")

    @property
    def name(self) -> str:
        """Number and name, as findings show them."""
        return f"{self.number} {self.label}"

    def is_needed(self, line_type: str) -> bool:
        """Tell whether lines of a type must have the field."""
        return line_type in self.needed.split()


FIELDS = (
    LedesField(1, "INVOICE_DATE", "date", 8, _ALL, "invoice"),
    LedesField(2, "INVOICE_NUMBER", "text", 20, _ALL, "invoice"),
    LedesField(3, "CLIENT_ID", "text", 20, _ALL, "invoice"),
    LedesField(4, "LAW_FIRM_MATTER_ID", "text", 20, _ALL, "matter"),
    LedesField(5, "INVOICE_TOTAL", "money", 12, _ALL, "invoice"),
    LedesField(6, "BILLING_START_DATE", "date", 8, _ALL, "invoice"),
    LedesField(7, "BILLING_END_DATE", "date", 8, _ALL, "invoice"),
    LedesField(8, "INVOICE_DESCRIPTION", "text", None, "", "invoice"),
    LedesField(9, "LINE_ITEM_NUMBER", "text", 20, _ALL, "item"),
    LedesField(10, "EXP/FEE/INV_ADJ_TYPE", "type", 2, _ALL, "item"),
    LedesField(11, "LINE_ITEM_NUMBER_OF_UNITS", "number", 10, _ITEMS, "item"),
    LedesField(12, "LINE_ITEM_ADJUSTMENT_AMOUNT", "money", 10, "", "item"),
    LedesField(13, "LINE_ITEM_TOTAL", "money", 10, _ALL, "item"),
    LedesField(14, "LINE_ITEM_DATE", "date", 8, _ALL, "item"),
    LedesField(15, "LINE_ITEM_TASK_CODE", "text", 20, "", "item"),
    LedesField(16, "LINE_ITEM_EXPENSE_CODE", "text", 20, "", "item"),
    LedesField(17, "LINE_ITEM_ACTIVITY_CODE", "text", 20, "", "item"),
    LedesField(18, "TIMEKEEPER_ID", "text", 20, _FEES, "timekeeper"),
    LedesField(19, "LINE_ITEM_DESCRIPTION", "text", None, _FEES, "item"),
    LedesField(20, "LAW_FIRM_ID", "text", 20, _ALL, "invoice"),
    LedesField(21, "LINE_ITEM_UNIT_COST", "number", 10, _ITEMS, "item"),
    LedesField(22, "TIMEKEEPER_NAME", "text", 30, _FEES, "timekeeper"),
    LedesField(23, "TIMEKEEPER_CLASSIFICATION", "text", 10, _FEES, "timekeeper"),
    LedesField(24, "CLIENT_MATTER_ID", "text", 20, "", "matter"),
)
COLUMNS = tuple(field.column for field in FIELDS)
BY_COLUMN = {field.column: field for field in FIELDS}
HEADING = "|".join(field.label for field in FIELDS) + END
