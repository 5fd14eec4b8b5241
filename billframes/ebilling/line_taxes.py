"""The tax of each line: from a client's profile, else from the taxes of the firm's settings.

The API's invoices have one amount and no tax. A file with tax is made only if the items and the tax of each line make
the invoice. A file has one rate a line, so two taxes on a line are one rate, with both names: "GST+PST".
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Mapping, Sequence
from decimal import Decimal

from billframes.config.firm import FirmSettings
from billframes.config.taxes import Tax
from billframes.ebilling.bill_lines import Line
from billframes.ebilling.profile import LedesTax, is_between
from billframes.ebilling.source import Row

# The kinds of items in the firm's settings.
_KINDS = {"time_entry": "time", "fixed_fee": "fixed_fees", "expense": "expenses"}


class LineTaxes:
    """
    The taxes on the lines of an invoice: those of the profile, of which the first that holds counts, else the
    settings'.
    """

    def __init__(
        self,
        taxes: Sequence[LedesTax] | None,
        settings: FirmSettings | None,
        invoice: Row,
        matters: Mapping[str, Row],
    ) -> None:
        self._taxes = taxes
        self._have_codes = any(tax.codes for tax in taxes or ())
        self._client_id = invoice["client_id"]
        self._day = dt.date.fromisoformat(invoice["day"]) if invoice["day"] else None
        self._matters = matters
        firm = settings.taxes if settings is not None and taxes is None else ()
        self._of_firm = [tax for tax in firm if isinstance(tax, Tax) and self._is_charged(tax)]

    @property
    def exist(self) -> bool:
        """Whether there are any taxes."""
        return bool(self._taxes or self._of_firm)

    def _is_charged(self, tax: Tax) -> bool:
        of_client = self._client_id in tax.clients if tax.clients else self._client_id not in tax.except_clients
        return of_client and is_between(self._day, tax.start, tax.end)

    def rate_of(self, line: Line) -> tuple[Decimal, str]:
        """Return the rate and the type of the tax on a line; a rate of 0 without a type if there is none."""
        item = line.item
        codes = (item.task_code, item.expense_code, item.activity_code) if item and self._have_codes else ()
        return self._rate("time_entry" if item is None else item.kind, line.matter_id or "", codes)

    @functools.cache  # noqa: B019 - lives as long as one check
    def _rate(self, kind: str, matter_id: str, codes: tuple[str | None, ...]) -> tuple[Decimal, str]:
        if self._taxes is None:
            taxes = [tax for tax in self._of_firm if _KINDS[kind] in tax.on]
            return sum((Decimal(repr(tax.rate)) for tax in taxes), Decimal(0)), "+".join(tax.name for tax in taxes)
        matter = self._matters.get(matter_id, {})
        names = {str(matter.get(name)).casefold() for name in ("matter_id", "reference")}
        found = next((tax for tax in self._taxes if tax.holds(kind, codes, names, self._day)), None)
        return (found.rate, found.type) if found else (Decimal(0), "")
