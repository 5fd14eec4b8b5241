"""The sums that the page answers from, and their packing into text.

`Cube.of` makes them from the report's book by `figures`, so the page has the same figures. A report on a part of the
firm has only this part's sums. There are no entries, narratives or contacts in them.
"""

from __future__ import annotations

import base64
import datetime as dt
import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from billframes._shared.format import count_of, long_date, month_name
from billframes._shared.names import join_names
from billframes.analysis.declare.columns import UNASSIGNED
from billframes.analysis.declare.metrics import title_of_key
from billframes.analysis.keys.by import columns_of
from billframes.analysis.results.explain import plain_words
from billframes.periods import Period, month_end
from billframes.report.ask.subjects import BALANCES, FLOWS, Subject, subjects
from billframes.report.figures import limits
from billframes.report.month import Month

# Sums are exact to the cent with fewer digits, which take less room.
_DECIMALS = 6
_MOST_MONTHS = 36


@dataclass(frozen=True)
class Cube:
    """
    The sums of a report by some keys: flows by month, and balances.

    `months` are the first days of the months of flows.
    """

    month: Month
    keys: tuple[str, ...]
    months: Sequence[dt.date]
    flows: pd.DataFrame
    balances: pd.DataFrame

    @classmethod
    def of(cls, month: Month, keys: Iterable[str] = FLOWS) -> Cube:
        """Return the sums of a report's book."""
        by = [each for each in BALANCES if each in {*keys}]
        with month.collecting_notes():
            flows = _figures(month, [*by, "month"], is_balance=False, start=month.earlier(_MOST_MONTHS - 1))
            balances = _figures(month, by, is_balance=True, as_of=month.as_of)
        back = max(
            (_months_between(dt.date.fromisoformat(f"{each}-01"), month.first) for each in flows["month"]), default=0
        )
        return cls(month, tuple(by), [month.earlier(each) for each in range(back, -1, -1)], flows, balances)

    def packed(self) -> str:
        """Return the sums and their declarations as JSON, compressed, in the letters of base64."""
        text = json.dumps(self._contents(), separators=(",", ":"))
        return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()

    @property
    def about(self) -> str:
        """Say what the page holds."""
        by = join_names([title_of_key(each) for each in self.keys])
        return f"The page holds sums of {count_of(len(self.months), 'month')} by {by}; no entries and no narratives."

    def _contents(self) -> Mapping[str, Any]:
        names = {key: self._names(key) for key in self.keys}
        return {
            "about": self.about,
            "balances": self._table(self.balances, names),
            "currency": self.month.currency,
            "day": long_date(self.month.as_of),
            "flows": self._table(self.flows, names),
            "keys": {key: title_of_key(key) for key in (*self.keys, "month")},
            "months": [
                {"id": f"{each:%Y-%m}", "name": month_name(each), "whole": self._is_whole(each)} for each in self.months
            ],
            "names": {
                key: [{"id": id_, "name": name or UNASSIGNED} for id_, name in found.items()]
                for key, found in names.items()
            },
            "subjects": [_subject(each, self.month) for each in subjects(self.month)],
            "yearStart": max(0, len(self.months) - 1 - _months_between(self.month.year_start, self.month.first)),
        }

    def _is_whole(self, first: dt.date) -> bool:
        return self.month.is_known(Period(first)) and month_end(first) <= self.month.last

    def _names(self, key: str) -> pd.Series[str]:
        """Return the names of a key's values by id; a missing id is empty."""
        columns = columns_of(key, self.flows)
        both = pd.concat([_texts(frame, columns) for frame in (self.flows, self.balances)])
        return both.drop_duplicates(columns[0]).set_index(columns[0])[columns[-1]].sort_values(kind="stable")

    def _table(self, frame: pd.DataFrame, names: Mapping[str, pd.Series[str]]) -> Mapping[str, Any]:
        codes = {
            key: found.index.get_indexer(_texts(frame, columns_of(key, frame)).iloc[:, 0])
            for key, found in names.items()
        }
        if "month" in frame:
            codes["month"] = pd.Index([f"{each:%Y-%m}" for each in self.months]).get_indexer(frame["month"])
        sums = frame.select_dtypes("number").round(_DECIMALS)
        return {
            "codes": {key: _base64(found, "<u2") for key, found in codes.items()},
            "rows": len(frame),
            "sums": {str(name): _base64(sums[name], "<f8") for name in sums},
        }


def _figures(month: Month, by: Sequence[str], *, is_balance: bool, **days: dt.date) -> pd.DataFrame:
    asked = [each for each in subjects(month) if each.is_balance is is_balance]
    names = dict.fromkeys(name for each in asked for name, figure in each.by_name.items() if figure.measure.adds_up)
    where = {month.scope.key: month.scope.id} if month.scope else None
    found = month.firm_book.figures(*names, by=by, where=where, **{"start": month.first, "end": month.last, **days})
    return month.with_distinct_names(found)


def _subject(subject: Subject, month: Month) -> Mapping[str, Any]:
    found = list(subject.by_name.values())
    column_of = {each.measure.name: each.column for each in found}
    floors = limits(month)
    return {
        "name": subject.name,
        "title": subject.title,
        "isBalance": subject.is_balance,
        "columns": [
            {
                "name": each.column,
                # A balance is called so beside other figures.
                "title": subject.title if each.measure.name == "total" else each.measure.title,
                "unit": each.measure.unit,
                "meaning": plain_words(each.measure.meaning),
                "parts": [column_of[part] for part in each.measure.ratios[0]] if each.measure.ratios else None,
                "floor": floors[each.column][0] if each.column in floors else None,
            }
            for each in found
        ],
    }


def _texts(frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    return frame[list(columns)].astype("str").fillna("")


def _base64(values: Any, dtype: str) -> str:
    return base64.b64encode(np.asarray(values, dtype=dtype).tobytes()).decode()


def _months_between(first: dt.date, last: dt.date) -> int:
    return (last.year - first.year) * 12 + last.month - first.month
