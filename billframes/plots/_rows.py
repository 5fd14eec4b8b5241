"""What the rows of a result are called, and which columns they are told apart by."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import pandas as pd

from billframes.errors import MissingColumnError

__all__ = ["Rows", "rows_of"]

TIMES = ("month", "quarter", "year")
_NAMES = {
    "user": "timekeeper",
    "responsible": "responsible",
    "practice_area": "practice area",
    "matter_type": "matter type",
}


@dataclass(frozen=True)
class Rows:
    """
    A result, ready to draw.

    Parameters
    ----------
    frame : DataFrame
        The result as pandas, in its own order.
    labels : list of str
        What each row is called; one that occurs twice is numbered.
    what : str
        What the rows are by, such as "client"; empty where the result is one row of everything.
    over_time : bool
        Whether the rows are months, quarters or years.
    """

    frame: pd.DataFrame
    labels: list[str]
    what: str
    over_time: bool

    @property
    def by(self) -> str:
        """The words that end a title, such as " by client"."""
        return f" by {self.what}" if self.what else ""


def rows_of(result: Any, measures: Sequence[str], analysis: str, others: Sequence[str] = ()) -> Rows:
    """
    Read a result of an analysis.

    Parameters
    ----------
    result : frame
        Of any engine.
    measures : sequence of str
        Columns that the chart needs.
    analysis : str
        The analysis the result should be of, for the error's words.
    others : sequence of str
        More columns that are no keys. Every column before the first measure is one.

    Raises
    ------
    MissingColumnError
        A column is missing.
    """
    frame = _pandas(result)
    missing = [name for name in measures if name not in frame.columns]
    if missing:
        raise MissingColumnError(
            f"The chart needs the column {missing[0]!r}, which the frame does not have; pass a result of "
            f"billframes.{analysis}(). It has: {', '.join(map(str, frame.columns))}."
        )
    known = {*measures, *others}
    keys = _keys(list(itertools.takewhile(lambda name: name not in known, frame.columns)))
    over_time = len(keys) == 1 and keys[0] in TIMES
    texts = [[_text(value, over_time) for value in frame[key]] for key in keys]
    labels = [" · ".join(row) for row in zip(*texts, strict=True)] if keys else ["All"] * len(frame)
    return Rows(frame, _told_apart(labels), " and ".join(map(_named, keys)), over_time)


def _pandas(result: Any) -> pd.DataFrame:
    frame = nw.from_native(result)
    collected = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return collected.to_pandas().reset_index(drop=True)


def _keys(columns: list[str]) -> list[str]:
    """Leave out ids that a label stands beside."""
    labelled = {name.rpartition("_")[0] for name in columns if name.endswith(("_name", "_label"))}
    return [name for name in columns if not (name.endswith("_id") and name.removesuffix("_id") in labelled)]


def _named(key: str) -> str:
    stem = key.removesuffix("_name").removesuffix("_label")
    return _NAMES.get(stem, stem.removeprefix("cf_").replace("_", " "))


def _text(value: Any, over_time: bool) -> str:
    if pd.isna(value):
        return "Unassigned"
    text = str(value)
    if over_time and len(text) == len("2026-10"):
        try:
            return dt.date.fromisoformat(f"{text}-01").strftime("%b\n%Y")
        except ValueError:
            return text
    # A dollar sign would start a formula in matplotlib's own mark-up.
    return text.replace("$", r"\$")


def _told_apart(labels: list[str]) -> list[str]:
    seen: dict[str, int] = {}
    apart = []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        apart.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return apart
