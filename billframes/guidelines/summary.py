"""Add up findings by client and rule, each item once."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pandas as pd

from billframes.errors import MissingColumnError


def summary(findings: pd.DataFrame) -> pd.DataFrame:
    """
    Add up findings by client and rule.

    Parameters
    ----------
    findings : DataFrame
        Of `Guidelines.check`.

    Returns
    -------
    DataFrame
        `client`, `rule`, `items` (how many have a finding), `findings`, and `at_risk` (Decimal; None if an amount is
        hidden). In the last row, "All", each item counts once, with its largest amount. There, a finding about an
        invoice or a matter counts only as far as it exceeds its items.

    Raises
    ------
    MissingColumnError
        The frame is not a result of `Guidelines.check`.

    Examples
    --------
    >>> findings = pd.DataFrame({
    ...     "client_name": ["Acme", "Acme"], "rule": ["block", "age"], "item": ["time_entry"] * 2,
    ...     "item_id": ["t1"] * 2, "matter_id": ["m1"] * 2, "invoice_number": [None] * 2,
    ...     "at_risk": [Decimal("50.00"), Decimal("100.00")],
    ... })
    >>> summary(findings)
      client   rule  items  findings at_risk
    0   Acme    age      1         1  100.00
    1   Acme  block      1         1   50.00
    2    All    All      1         2  100.00
    """
    lacking = [name for name in _NEEDED if name not in findings.columns]
    if lacking:
        raise MissingColumnError(f"The findings have no column {lacking[0]!r}; pass the result of Guidelines.check.")
    whole = [None if each is None else int(each * 100) for each in findings["at_risk"]]
    cents = findings.assign(cents=pd.Series(whole, index=findings.index, dtype="Int64"))
    rows = [
        {"client": client, "rule": rule, **_sums(part)}
        for (client, rule), part in cents.groupby(["client_name", "rule"], sort=True, dropna=False)
    ]
    return pd.DataFrame([*rows, {"client": "All", "rule": "All", **_sums(cents)}])


_NEEDED = ("client_name", "rule", "item", "item_id", "matter_id", "invoice_number", "at_risk")


def _sums(findings: pd.DataFrame) -> dict[str, Any]:
    """Count items and findings, and add up the amounts, each item with its largest."""
    of_item = findings["item_id"].notna()
    keys = ["item", "item_id"]
    largest = findings[of_item].sort_values("cents", ascending=False).drop_duplicates(keys)
    counts = {"items": len(largest), "findings": len(findings)}
    if findings["cents"].isna().any():
        return counts | {"at_risk": None}
    total = int(largest["cents"].sum())
    # A finding about an invoice or a matter contains its items, so that only the rest is added.
    others = findings[~of_item].sort_values("cents", ascending=False).drop_duplicates(["invoice_number", "matter_id"])
    for row in others.to_dict("records"):
        key = "invoice_number" if isinstance(row["invoice_number"], str) else "matter_id"
        total += max(int(row["cents"]) - int(largest.loc[largest[key] == row[key], "cents"].sum()), 0)
    return counts | {"at_risk": Decimal(total).scaleb(-2)}
