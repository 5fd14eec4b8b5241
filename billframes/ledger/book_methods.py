"""The method of a book for reports of the firm's books: payments, and the invoices that lack some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pandas as pd

from billframes.config.taxes import PaymentOrder
from billframes.ledger.payments import payments
from billframes.periods import DateLike


class BookPayments:
    """The payments of a book's invoices, as a method of the book."""

    def payments(
        self: Any,
        ledger: pd.DataFrame,
        *,
        credits: pd.DataFrame | None = None,  # noqa: A002 - the field's word
        tax: float | Mapping[str, float] | None = None,
        order: PaymentOrder | Sequence[str] | None = None,
        allocate: Literal["stated", "oldest"] = "stated",
        by: Literal["payment", "invoice"] = "payment",
        as_of: DateLike | None = None,
    ) -> pd.DataFrame:
        """
        List the payments in the firm's books, by fees, expenses and tax; see `billframes.analysis.payments`.

        Parameters
        ----------
        ledger : DataFrame
            From `read_ledger` or `ledger_from_quickbooks`.
        credits, tax, order, allocate
            See `billframes.analysis.payments`.
        by : {"payment", "invoice"}
            "invoice" compares the payments of each invoice with the settled part of its amount, the largest gap first.
        as_of : date-like, optional
            The last day of payments. By invoice, it is by default the last day of the book's period, or the day of the
            load if that is earlier.
        """
        if by == "invoice":
            as_of = self._days.as_of(as_of, ("invoices",), "payments")
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
            by=by,
            as_of=as_of,
            settings=self.settings,
        )


METHODS = BookPayments
