"""The methods of a book for reports of the firm's books: payments, and the invoices that lack some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pandas as pd

from billframes.config.firm import FirmSettings
from billframes.config.taxes import PaymentOrder
from billframes.ledger.payment_gaps import payment_gaps
from billframes.ledger.payments import payments
from billframes.periods import DateLike


class BookPayments:
    """The payments of a book's invoices, as methods of the book."""

    def payments(
        self: Any,
        ledger: pd.DataFrame,
        *,
        credits: pd.DataFrame | None = None,  # noqa: A002 - the field's word
        tax: float | Mapping[str, float] | None = None,
        order: PaymentOrder | Sequence[str] | None = None,
        allocate: Literal["stated", "oldest"] = "stated",
        settings: FirmSettings | None = None,
    ) -> pd.DataFrame:
        """
        List the amounts that left invoices, by fees, expenses and tax; see `billframes.analysis.payments`.

        Parameters
        ----------
        ledger : DataFrame
            From `read_ledger` or `ledger_from_quickbooks`.
        credits, tax, order, allocate
            See `billframes.analysis.payments`.
        settings : FirmSettings, optional
            Instead of the book's.
        """
        return payments(
            ledger,
            time_entries=self.time_entries,
            expenses=self.expenses,
            fixed_fees=self.fixed_fees,
            invoices=self.invoices,
            credits=credits,
            tax=tax,
            order=order,
            allocate=allocate,
            settings=settings or self.settings,
        )

    def payment_gaps(self: Any, payments: pd.DataFrame, *, as_of: DateLike | None = None) -> pd.DataFrame:
        """
        List invoices whose payments are not the settled part of their amount; see `billframes.analysis.payment_gaps`.

        Parameters
        ----------
        payments : DataFrame
            From `payments`.
        as_of : date-like, optional
            By default the last day of the book's period, or the day of the load if that is earlier.
        """
        return payment_gaps(payments, self.invoices, as_of=self._days.as_of(as_of, ("invoices",), "payment_gaps"))


METHODS = BookPayments
