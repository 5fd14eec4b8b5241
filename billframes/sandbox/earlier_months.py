"""The sandbox's firm as it was at the ends of earlier months, for a mirror with a history.

Each record has the instants at which it was made and last changed; an invoice was last changed when it was paid. So the
firm of an earlier day is today's without what was made later, and with invoices open that were paid later. Clients,
matters and people are those of today.
"""

from __future__ import annotations

import datetime as dt
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from billframes.errors import ParameterError
from billframes.sandbox.clock import BEGINNING, instant_text
from billframes.sandbox.server import Sandbox

_LONGEST = 30
_ITEMS = ("time_entry", "expense", "fixed_fee")


def replay(months: int = 18) -> Iterator[Sandbox]:
    """
    Yield the running sandbox at the end of each of the last months, and then as it is.

    All have the same address, so that a mirror that is refreshed from each of them has a version for each month's end.
    The sandbox is stopped when the next one is requested, and the last one when the loop ends.

    Parameters
    ----------
    months : int
        How many months before 31 October 2026 the first one is; at most 30.

    Yields
    ------
    Sandbox

    Raises
    ------
    ParameterError
        `months` is below 1 or above 30.

    Examples
    --------
    >>> for firm in replay(18):  # doctest: +SKIP
    ...     bf.mirror("firm", client=bf.connect(firm.base_url, firm.tokens["full"])).refresh()
    """
    if not isinstance(months, int) or not 1 <= months <= _LONGEST:
        raise ParameterError(f"months={months!r} takes a whole number from 1 to {_LONGEST}.")
    with tempfile.TemporaryDirectory(prefix="billframes-") as folder:
        whole, past = Path(folder) / "whole.db", Path(folder) / "past.db"
        with Sandbox() as seeded:
            shutil.copyfile(seeded.database, whole)
            port = int(seeded.base_url.rpartition(":")[2])
        for back in range(months, -1, -1):
            shutil.copyfile(whole, past)
            _rewind(past, _month_end(back))
            with Sandbox(db=past, port=port) as firm:
                yield firm


def _month_end(back: int) -> dt.datetime:
    """Return the evening of the last day of the month some months before the sandbox's beginning."""
    years, month = divmod(BEGINNING.month - back, 12)
    following = BEGINNING.replace(year=BEGINNING.year + years, month=month + 1, day=1)
    return following - dt.timedelta(days=1)


def _rewind(path: Path, instant: dt.datetime) -> None:
    """Turn a database into that of an earlier instant, with its clock."""
    at = {"at": instant_text(instant)}
    with closing(sqlite3.connect(path)) as connection, connection:
        for table in _ITEMS:
            connection.execute(f"DELETE FROM {table} WHERE created_at > :at", at)  # noqa: S608
            # What is billed was changed when it was billed, or later.
            connection.execute(
                f"""
                UPDATE {table} SET
                    invoice_id = CASE WHEN bill.made <= :at THEN invoice_id END,
                    modified_at = max(modified_at, bill.made)
                FROM (SELECT invoice_id AS id, created_at AS made FROM invoice) AS bill WHERE bill.id = invoice_id
                """,  # noqa: S608
                at,
            )
            connection.execute(f"UPDATE {table} SET modified_at = :at WHERE modified_at > :at", at)  # noqa: S608
        connection.execute("DELETE FROM invoice WHERE created_at > :at", at)
        connection.execute("UPDATE invoice SET balance = amount, modified_at = created_at WHERE modified_at > :at", at)
        offset = (instant - dt.datetime.now(dt.UTC)).total_seconds()
        sql = "INSERT OR REPLACE INTO setting VALUES ('clock_offset_seconds', ?)"
        connection.execute(sql, (str(offset),))
