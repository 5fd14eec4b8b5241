"""Read the XML formats, 2.0 to 2.2 and 2000, as lines with the fields of 98BI: one per fee, expense and adjustment.

A file is parsed piece by piece. Its entities are never resolved: a document type that could define one is refused, and
nothing is fetched. XML has the rates of taxes, and the total of an item without tax, so the tax and the total with tax
are calculated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import BinaryIO, NamedTuple
from xml.parsers import expat

from billframes.ebilling.amounts import ZERO, exact_sum, money_text, product, read_number
from billframes.ebilling.findings import Finding
from billframes.ebilling.ledes_formats import LEDES_2000, NOTE, OFTEN, REJECTED, TAGS, XML_ROOTS, LedesFormat, Severity
from billframes.ebilling.parsed_file import ParsedFile, unknown_format
from billframes.errors import LedesFormatError

_PIECE = 1 << 20
_DEEPEST = 100
# Of many segments, the least average of bytes.
_SHORTEST = 60
# Text of one element.
_LONGEST = 10_000_000
_ITEMS = {"fee": "F", "expense": "E", "matter_disc_cred": ""}
_SEGMENTS = frozenset({*TAGS, *_ITEMS, "tax", "tax_item_fee", "tax_item_expense"})
# Tags without a column that are needed to calculate or to check.
_OTHERS = {
    "fee": {"base_amount", "total_amount"},
    "expense": {"base_amount", "total_amount"},
    "matter": {"matter_total_detail_fees", "matter_total_detail_exp", "matter_total_due"},
    "tax": {"tx_id", "tax_type", "tax_tiers", "tax_rate_percent", "tax_on_tax", "increase_decrease"},
    "tax_item_fee": {"tx_id"},
    "tax_item_expense": {"tx_id"},
    "tk_sum": {"tk_id"},
    "matter_disc_cred": {"disc_cred_category", "disc_cred_amount", "increase_decrease", "disc_cred"},
}
_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_CENT = Decimal("0.01")

_Values = dict[str, str]


class _KnownError(Exception):
    """The format is known, and nothing else is asked for."""


class _Tax(NamedTuple):
    rate: Decimal | None
    type: str


@dataclass(slots=True)
class _Item:
    """A fee, an expense or an adjustment, with the line of its segment."""

    kind: str
    line: int
    values: _Values = field(default_factory=dict)
    taxes: list[str] = field(default_factory=list)
    size: int = 0


@dataclass(slots=True)
class _Matter:
    values: _Values
    items: list[_Item] = field(default_factory=list)
    people: dict[str, _Values] = field(default_factory=dict)


def parse_xml(stream: BinaryIO, parsed: ParsedFile, *, encoding: str | None, only_format: bool = False) -> LedesFormat:
    """
    Read a file into `parsed`, and return its format; `only_format` reads no further than to the root element.

    The encoding is by default as the file declares it. Raise `LedesFormatError` if it is not well-formed, could define
    entities, or is of another format.
    """
    reader = _Reader(parsed, stream.read(40), encoding, only_format=only_format)
    stream.seek(0)
    try:
        while piece := stream.read(_PIECE):
            reader.parser.Parse(piece, False)
        reader.parser.Parse(b"", True)
    except _KnownError:
        pass
    except (expat.ExpatError, LookupError, ValueError) as error:
        if isinstance(error, LedesFormatError):
            raise
        raise LedesFormatError(f"This is not a LEDES file that can be read: its XML is damaged ({error}).") from None
    assert reader.form is not None  # noqa: S101 - a document without a root is not well-formed
    return reader.form


class _Reader:
    def __init__(self, parsed: ParsedFile, beginning: bytes, encoding: str | None, *, only_format: bool) -> None:
        self._parsed = parsed
        self._beginning = beginning.decode("latin-1")
        self._only_format = only_format
        self.form: LedesFormat | None = None
        self._depth = self._characters = self._numbered = self._item_start = self._segments = self._items = 0
        self._text: list[str] = []
        # The open segments, with the values of their tags.
        self._open: list[tuple[str, _Values]] = []
        self._kept: dict[str, _Values] = {"firm": {}, "client": {}}
        self._taxes: dict[str, _Tax] = {}
        self._matters: list[_Matter] = []
        self._item: _Item | None = None
        self.parser = expat.ParserCreate(encoding, namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._document_type
        self.parser.SkippedEntityHandler = self._entity
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._add_text

    def _document_type(self, name: str, _system: str | None, _public: str | None, has_declarations: bool) -> None:
        if has_declarations or name != LEDES_2000.first_line:
            raise LedesFormatError(
                "This LEDES file is refused: its document type could define entities. Ask for a file without DOCTYPE."
            )

    def _entity(self, name: str, _is_parameter: object = None) -> None:
        raise LedesFormatError(f"This LEDES file is refused: it uses the entity {name[:40]!r}, which is not defined.")

    def _add_text(self, text: str) -> None:
        self._characters += len(text)
        if self._characters > _LONGEST:
            raise LedesFormatError(f"This LEDES file is refused: a text in it has more than {_LONGEST:,} characters.")
        if self._open:
            self._text.append(text)

    def _start(self, name: str, _: dict[str, str]) -> None:
        tag = name.rsplit(" ", 1)[-1].lower()
        self._depth += 1
        self._text.clear()
        self._characters = 0
        if self._depth == 1:
            self.form = XML_ROOTS.get(tag)
            if self.form is None:
                raise unknown_format(self._beginning)
            if self._only_format:
                raise _KnownError
        elif self._depth > _DEEPEST:
            raise LedesFormatError("This LEDES file is refused: its elements are nested too deeply.")
        elif tag in _SEGMENTS:
            self._open_segment(tag)

    def _open_segment(self, tag: str) -> None:
        self._parsed.check_size(self._segments, self.parser.CurrentByteIndex, _SHORTEST)
        self._segments += 1
        values: _Values = {}
        if tag == "matter":
            self._matters.append(_Matter(values))
        elif tag in _ITEMS:
            self._item = _Item(_ITEMS[tag], self.parser.CurrentLineNumber, values)
            self._item_start = self.parser.CurrentByteIndex
        elif tag in self._kept:
            self._kept[tag] = values
        self._open.append((tag, values))

    def _end(self, name: str) -> None:
        tag = name.rsplit(" ", 1)[-1].lower()
        self._depth -= 1
        if not self._open:
            return
        segment, values = self._open[-1]
        if tag == segment:
            self._open.pop()
            self._close_segment(segment, values)
        elif column := TAGS.get(segment, {}).get(tag) or (tag if tag in _OTHERS.get(segment, ()) else ""):
            text = "".join(self._text).strip()
            values[column] = _DAY.sub(r"\1\2\3", text) if column.endswith("_date") else text
        self._text.clear()
        self._characters = 0

    def _close_segment(self, segment: str, values: _Values) -> None:
        if segment in {"lf_address", "cl_address"}:
            self._kept["firm" if segment == "lf_address" else "client"] |= values
        elif segment == "tax":
            self._taxes[values.get("tx_id", "")] = _tax(values)
        elif segment.startswith("tax_item") and self._item is not None:
            self._item.taxes.append(values.get("tx_id", ""))
        elif segment == "tk_sum" and self._matters:
            self._matters[-1].people[values.pop("tk_id", "")] = values
        elif segment in _ITEMS and self._item is not None and self._matters:
            self._item.size = self.parser.CurrentByteIndex - self._item_start
            self._items += 1
            self._parsed.check_size(self._items, self.parser.CurrentByteIndex, LEDES_2000.shortest)
            self._matters[-1].items.append(self._item)
        elif segment == "invoice":
            self._add_invoice(values)
            self._matters = []

    def _add_invoice(self, values: _Values) -> None:
        assert self.form is not None  # noqa: S101 - the root element is known
        part = self._parsed.part(self.form)
        shared = self._kept["firm"] | self._kept["client"] | values
        sums = _Sums(self._parsed, shared)
        for matter in self._matters:
            for item in matter.items:
                self._numbered += 1
                line = self._line(item, sums) | matter.values | shared
                person = matter.people.get(item.values.get("timekeeper_id", ""), {})
                names = [person.get(name, "") for name in ("timekeeper_last_name", "timekeeper_first_name")]
                line |= person | {"timekeeper_name": ", ".join(filter(None, names))}
                texts = (line.get(name, "") for name in part.columns.names)
                self._parsed.add_line(part, item.line, texts, item.size)
            sums.check_matter(matter.values, matter.items)
        sums.check_invoice()

    def _line(self, item: _Item, sums: _Sums) -> _Values:
        values = item.values
        line = {**values, "line_item_number": str(self._numbered)}
        if not item.kind:
            _set_adjustment(item, line)
        line["exp_fee_inv_adj_type"] = item.kind
        net = read_number(line.get("total_amount", ""))
        taxes = [self._taxes.get(each, _Tax(None, "")) for each in item.taxes]
        line["line_item_tax_type"] = "+".join(tax.type for tax in taxes)
        rates = [tax.rate for tax in taxes if tax.rate is not None]
        tax = product(net, sum(rates, ZERO)) if net is not None and len(rates) == len(taxes) else None
        if tax is not None and net is not None:
            line["line_item_tax_rate"] = f"{sum(rates, Decimal(0)):f}"
            line["line_item_tax_total"] = money_text(tax)
            line["line_item_total"] = money_text(net + tax) if tax else line["total_amount"]
        sums.add(item, net, tax)
        return line


def _tax(values: _Values) -> _Tax:
    """Return the rate of a tax; None if the tax is more than a rate of the item's amount."""
    plain = all(values.get(tag, "").upper() not in {"Y", "YES", "TRUE", "1"} for tag in ("tax_tiers", "tax_on_tax"))
    plain = plain and values.get("increase_decrease", "").casefold() != "decrease"
    return _Tax(read_number(values.get("tax_rate_percent", "")) if plain else None, values.get("tax_type", ""))


def _set_adjustment(item: _Item, line: _Values) -> None:
    item.kind = "IE" if line.get("disc_cred_category", "").casefold().startswith("exp") else "IF"
    amount = line.get("disc_cred_amount", "")
    if line.get("increase_decrease", "").casefold() == "decrease" and amount[:1] not in {"", "-"}:
        amount = f"-{amount}"
    line["line_item_adjustment_amount"] = item.values["total_amount"] = line["total_amount"] = amount
    line["line_item_description"] = line.get("disc_cred", "")


class _Sums:
    """Adds up an invoice's items, and reports sums that are not those of the file."""

    def __init__(self, parsed: ParsedFile, shared: _Values) -> None:
        self._parsed = parsed
        self._shared = shared
        self._amounts: list[Decimal | None] = []
        self._taxes: list[Decimal | None] = []
        self._line: int | None = None

    def add(self, item: _Item, net: Decimal | None, tax: Decimal | None) -> None:
        """Add an item, and check that its base amount is units × rate."""
        self._line = self._line or item.line
        self._amounts.append(net)
        self._taxes.append(tax)
        if net is None:
            self._report(
                13, "its total_amount is not a number", item.values.get("total_amount", ""), REJECTED, item.line
            )
        names = ("base_amount", "line_item_number_of_units", "line_item_unit_cost")
        texts = [item.values.get(name, "") for name in names]
        base, units, rate = map(read_number, texts)
        if base is not None and units is not None and rate is not None and not _are_near(base, units * rate, 1):
            self._report(13, "its base_amount is not units × rate", texts[0], OFTEN, item.line)

    def check_matter(self, values: _Values, items: Iterable[_Item]) -> None:
        """Check the matter's totals of fees and expenses."""
        for tag, kind in (("matter_total_detail_fees", "F"), ("matter_total_detail_exp", "E")):
            amounts = [read_number(item.values.get("total_amount", "")) for item in items if item.kind == kind]
            stated, total = read_number(values.get(tag, "")), exact_sum(amounts)
            if stated is not None and total is not None and not _are_near(stated, total, len(amounts)):
                noun = "fees" if kind == "F" else "expenses"
                value = f"{values[tag]}, but the {noun} add up to {total}"
                self._report(5, f"its {tag} is not the sum of its {noun}", value, OFTEN)

    def check_invoice(self) -> None:
        """Check the invoice's total and tax, if the taxes are rates of the items' amounts."""
        count = len(self._taxes)
        if None in self._amounts:
            return
        if unknown := self._taxes.count(None):
            self._parsed.unknown_taxes += unknown
            self._report(28, "some taxes are more than a rate of each item, so the totals are not checked", "", NOTE)
            return
        stated = read_number(self._shared.get("invoice_tax_total", "") or "0")
        net, tax = exact_sum(self._amounts), exact_sum(self._taxes)
        due = read_number(self._shared.get("invoice_total", ""))
        if stated is None or net is None or tax is None or due is None:
            return
        if not _are_near(due, net + stated, count):
            value = f"{due}, but the lines and the tax add up to {net + stated}"
            self._report(5, "is not the sum of the lines and the tax", value, REJECTED)
        if not _are_near(stated, tax, count):
            self._report(28, "is not the tax of the lines", f"{stated}, but the lines have {tax}", OFTEN)

    def _report(self, number: int, problem: str, value: str, severity: Severity, line: int | None = None) -> None:
        fix = "Correct it where the file is made."
        invoice = self._shared.get("invoice_number") or None
        self._parsed.add(Finding(number, severity, problem, value, fix, invoice, line=line or self._line))


def _are_near(one: Decimal, other: Decimal, lines: int) -> bool:
    """Compare sums within a cent for each line."""
    return abs(one - other) <= _CENT * max(lines, 1)
