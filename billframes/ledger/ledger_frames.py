"""Frames of `read_ledger` as arguments of analyses: what is known about their report, and their rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

from billframes._shared.names import type_in_words
from billframes.analysis.data.native import without_attrs
from billframes.errors import LedgerError, ParameterError

__all__ = ["ledger_rows", "same_company", "stated_about"]


def stated_about(ledger: Any, name: str) -> dict[str, Any]:
    """Return what is known about the report of a ledger frame; refuse other arguments."""
    if not isinstance(ledger, pd.DataFrame) or "ledger" not in ledger.attrs:
        given = "missing" if ledger is None else type_in_words(ledger)
        raise ParameterError(f"{name} is {given}; pass the frame that bf.read_ledger returns.")
    return dict(ledger.attrs["ledger"])


def same_company(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Refuse reports of two companies."""
    if None not in (one["company"], other["company"]) and one["company"] != other["company"]:
        raise LedgerError(f"{one['file']} and {other['file']} are of two companies; pass those of one.")


def ledger_rows(ledger: pd.DataFrame, columns: Sequence[str] = ()) -> list[dict[str, Any]]:
    """
    Return the rows of a ledger frame as dicts of some columns, by default all; None is missing.

    Of a report of several accounts, only those of receivables count: the others repeat the same entries.
    """
    about = ledger.attrs["ledger"]
    plain = without_attrs(ledger)[[*(columns or ledger.columns)]]
    rows: list[dict[str, Any]] = pa.Table.from_pandas(plain, preserve_index=False).to_pylist()
    accounts = {row["account"] for row in rows} if about["by_account"] else set()
    if len(accounts) > 1:
        owed = {each for each in accounts if each and "receivable" in each.casefold()}
        if not owed:
            raise LedgerError(
                f"{about['file']} lists {len(accounts)} accounts, and none is called receivable; export "
                "Accounts Receivable only."
            )
        rows = [row for row in rows if row["account"] in owed]
    return rows
