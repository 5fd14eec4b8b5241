"""The method of a book for credits: whose the fees of the period are by the firm's rule."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from billframes.config.credits import CreditRule
from billframes.periods import DateLike, Period

Rule = CreditRule | Mapping[str, Any] | str | Path


class BookCredits:
    """The credits of a book's period, as a method of the book."""

    def credits(
        self: Any,
        *,
        rule: Rule | None = None,
        compare: Rule | None = None,
        base: Literal["billed", "collected"] | None = None,
        by: Literal["user", "role", "matter"] = "user",
        start: DateLike | None = None,
        end: DateLike | None = None,
        payments: pd.DataFrame | None = None,
    ) -> pd.DataFrame:
        """
        Divide the fees of the period among those who brought, answer for and did the work, by the firm's rule.

        Parameters
        ----------
        rule : mapping or path, optional
            The keys of `[credits]` in the firm's settings, or a TOML file with this table. By default the settings'.
        compare : mapping or path, optional
            Another rule, for what it would change.
        base : {"billed", "collected"}, optional
            Fees on final invoices dated in the period, or fees paid in cash in it. By default the rule's.
        by : {"user", "role", "matter"}
            One row per person and role; per role; or per matter, person and role.
        start, end : date-like, optional
            Another period than the book's. A period that is not over ends on the day of the load.
        payments : DataFrame, optional
            From `payments`, for `base="collected"`.

        Returns
        -------
        DataFrame
            What is nobody's comes first, then the firm's, then people, the largest credit first. `base_amount` are the
            fees that a row's `rate` is of; a fee is in the base of several rows. `credit_amount` adds up to the fees of
            the period, and of each matter, to the cent. With brackets, `payout_amount` is what they pay of the credit.
            With `compare`, `compared_amount` is the credit under the other rule, and `difference_amount` how much more
            that is. `attrs["credits"]` has the fees, and how fixed fees were shared.

        Raises
        ------
        ParameterError, ConfigError
            A rule is not valid or names someone unknown, or the payments don't cover the period.

        Examples
        --------
        >>> book = bf.book("2026-10")
        >>> rows = book.credits(rule={"firm": 0.1, "originating": 0.2}, by="role")
        >>> round(float(rows["credit_amount"].sum() - book.contribution(by=None)["fees_amount"].iloc[0]), 2)
        0.0
        """
        from billframes.credits.calculation import credits_of_book

        period = Period(*self._days.span(start, end))
        return credits_of_book(self, rule, compare, base, by, period, payments)


METHODS = BookCredits
