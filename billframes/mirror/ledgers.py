"""Keep the reports of the firm's books that were read, so that last month's cash is known next month.

The table `ledgers` has one row per report: its file, day, period and totals, and its transactions. It does not belong
to a version, and rows are only added. If a later report has the same days, it takes the place of the earlier one there,
and the change of the total is noted.
"""

from __future__ import annotations

import datetime as dt
import io
import json
from typing import Any, TypedDict

import msgspec
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from billframes.errors import MirrorError
from billframes.mirror.data_files import check_content
from billframes.mirror.storage import Storage

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
