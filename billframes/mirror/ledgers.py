"""Keep the reports of the firm's books that were read, so that last month's cash is known next month.

The table `ledgers` has one row per report: its file, day, period and totals, and its transactions. It does not belong
to a version, and rows are only added. If a later report has the same days, it takes the place of the earlier one there,
and the change of the total is noted.
"""

from __future__ import annotations

import datetime as dt
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypedDict

import msgspec
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from billframes._shared.messages import warn
from billframes.errors import BillframesWarning, MirrorError
from billframes.mirror.data_files import check_content
from billframes.mirror.mirror import Mirror
from billframes.mirror.storage import Storage
from billframes.periods import Period

LEDGERS = "ledgers"
_TEXTS = ("file", "report", "company", "basis", "as_of", "start", "end", "stamp")
# The columns of a report that is read with its texts.
_MORE = ("memo", "description")
_DAMAGED = (MirrorError, pa.ArrowException, OSError, ValueError, TypeError, KeyError, RecursionError)
_SCHEMA = pa.schema(
    dict.fromkeys(_TEXTS, pa.string())
    | {"amount": pa.float64(), "open_balance": pa.float64(), "rows": pa.int64(), "about": pa.string()}
    | {"transactions": pa.binary()}
)


@dataclass(frozen=True, slots=True)
class Restated:
    """A month whose amounts in a report are not those of an earlier report: the files, the month, both amounts."""

    file: str
    earlier_file: str
    month: str
    amount: float
    earlier_amount: float


class LedgerTable:
    """The table `ledgers` of a mirror."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def read(self, like: pd.DataFrame) -> list[pd.DataFrame]:
        """
        Return the reports that were kept, as `read_ledger` returned them, in the order in which they were read.

        `like` is an empty one. Raise `MirrorError` if the table has others.
        """
        rows = self._storage.rows(LEDGERS, _SCHEMA)
        try:
            return [_frame(row, like) for row in rows]
        except (
            MirrorError,
            msgspec.MsgspecError,
            pa.ArrowException,
            OSError,
            ValueError,
            TypeError,
            KeyError,
        ) as error:
            raise self._storage.unusable(LEDGERS) from error

    def add(self, ledger: pd.DataFrame) -> None:
        """Keep a report, if the same one is not kept already."""
        row = _row(ledger)
        shown = pa.schema([each for each in _SCHEMA if each.name not in {"about", "transactions"}])
        if {name: row[name] for name in shown.names} not in self._storage.rows(LEDGERS, shown):
            self._storage.add_rows(LEDGERS, [row], _SCHEMA)


def keep_reports(client: object, reports: Iterable[pd.DataFrame]) -> None:
    """Keep reports of the books if the client is a mirror; if it can't be written, only warn."""
    if not isinstance(client, Mirror):
        return
    try:
        for each in reports:
            LedgerTable(client._storage).add(each)
    except MirrorError as error:
        warn(f"The reports of the books were read, but the mirror has not kept them. {error}", BillframesWarning)


def restated(ledger: pd.DataFrame, earlier: pd.DataFrame) -> Iterator[Restated]:
    """Compare the amounts of two reports in the months that both have in full."""
    (first, last), (start, end) = period_of(ledger), period_of(earlier)
    sums = [each.groupby(each["date"].dt.strftime("%Y-%m"))["amount"].sum() for each in (ledger, earlier)]
    for month in sorted({*sums[0].index, *sums[1].index}):
        days = pd.Period(month, "M")
        begin, until = days.start_time.date(), days.end_time.date()
        if max(first, start) <= begin and until <= min(last, end):
            now, then = (float(each.get(month, 0.0)) for each in sums)
            if abs(now - then) >= 0.005:
                yield Restated(ledger.attrs["ledger"]["file"], earlier.attrs["ledger"]["file"], month, now, then)


def period_of(ledger: pd.DataFrame) -> tuple[dt.date, dt.date]:
    """Return the first and last day of a report; those of its rows if it does not say them; none without rows."""
    stated, days = Period.stated(ledger.attrs["ledger"]), ledger["date"].dt.date
    return stated.start or min(days, default=dt.date.max), stated.end or max(days, default=dt.date.min)


def _row(ledger: pd.DataFrame) -> dict[str, Any]:
    about = ledger.attrs["ledger"]
    buffer = io.BytesIO()
    plain = ledger.copy(deep=False)
    plain.attrs = {}
    pq.write_table(pa.Table.from_pandas(plain, preserve_index=False), buffer)
    return {
        **{name: about[name] for name in _TEXTS},
        "amount": round(float(ledger["amount"].sum()), 2),
        "open_balance": round(float(ledger["open_balance"].sum()), 2),
        "rows": len(ledger),
        "about": json.dumps(about),
        "transactions": buffer.getvalue(),
    }


class _About(TypedDict):
    """What is known of a report; others are in some reports only."""

    report: str
    file: str
    company: str | None
    as_of: dt.date | None
    start: dt.date | None
    end: dt.date | None
    basis: str | None
    open_items: bool
    history: bool
    by_account: bool
    payments: str | None


def _frame(row: dict[str, Any], like: pd.DataFrame) -> pd.DataFrame:
    content, columns = row["transactions"], pa.Schema.from_pandas(like, preserve_index=False)
    check_content(io.BytesIO(content), LEDGERS, row["rows"], len(content))
    stored = pq.read_table(io.BytesIO(content))
    texts = [pa.field(name, pa.string()) for name in stored.column_names if name in _MORE]
    frame: pd.DataFrame = stored.cast(pa.schema([*columns, *texts])).to_pandas().astype(like.dtypes)
    msgspec.json.decode(row["about"], type=_About)
    frame.attrs["ledger"] = msgspec.json.decode(row["about"])
    return frame
