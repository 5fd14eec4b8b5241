"""The subjects that a reader can ask about, the sums that the page answers from, and their packing into text.

`Cube.of` makes them from the report's book by `figures`, so the page has the same figures. A report on a part of the
firm has only this part's sums. There are no entries, narratives or contacts in them.
"""

from __future__ import annotations

import base64
import datetime as dt
import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from billframes._shared.format import count_of, long_date, month_name
from billframes._shared.names import join_names
from billframes.analysis.declare.columns import UNASSIGNED
from billframes.analysis.declare.key_words import PEOPLE_AND_MATTERS
from billframes.analysis.declare.lookup import analyses
from billframes.analysis.declare.metrics import bucket_measure, title_of_key
from billframes.analysis.results.explain import plain_words
from billframes.analysis.results.figure_names import Figure, find_figures
from billframes.analysis.results.figures_side_by_side import MISSING
from billframes.loading.load_info import attached
from billframes.periods import Period, month_end, months_between
from billframes.report.figures import limits
from billframes.report.month import Month
from billframes.wings import in_report

# Sums are exact to the cent with fewer digits, which take less room.
_DECIMALS = 6
_MOST_MONTHS = 36
FLOWS = ("client", "matter", "practice_area", "responsible", "user", "month")
"""The keys of work, fees and cash."""
BALANCES = FLOWS[:-1]
"""The keys of balances, which are those of one day."""


@dataclass(frozen=True)
class Subject:
    """
    Something that can be asked about.

    `figures` are the names of its columns, the first of which ranks the rows and is drawn by month. `options` are those
    of `figures` that it needs. `since` is the first day from which it is known, if later than that of the data.
    """

    name: str
    title: str
    figures: tuple[str, ...]
    is_balance: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    since: dt.date | None = None

    @property
    def by_name(self) -> dict[str, Figure]:
        """The declarations of its figures."""
        return dict(zip(self.figures, find_figures(self.figures), strict=True))


def subjects(month: Month) -> list[Subject]:
    """Return the subjects of a report; those of the wings, such as cash, come before the balances."""
    of_wings = [subject for each in in_report("subjects") for subject in each(month)]
    return sorted([*_SUBJECTS, *of_wings], key=lambda each: each.is_balance)


def _ages(analysis: str, *others: str) -> Iterator[str]:
    """Name the parts of a balance by age, which add up to it, without the names of parts in other results."""
    columns = [each.name for each in analyses()[analysis].columns if bucket_measure(each.name)]
    return (f"{analysis}.{each}" for each in columns if each not in others)


_SUBJECTS = (
    Subject("fees", "Fees", ("fees_amount", "billed_amount", "fixed_fee_amount", "left_out_billed_amount")),
    Subject("hours", "Hours", ("client_hours",)),
    Subject(
        "realization", "Realization", ("write_down_amount", "worked_amount", "billed_amount", "billing_realization")
    ),
    Subject("rate", "Effective rate", ("billed_amount", "realization.billable_hours", "effective_rate")),
    Subject("settled", "Settled", ("settled_amount", "billed_amount", "settlement_ratio")),
    Subject(
        "receivables",
        "Receivables",
        ("receivables", "overdue", "aging.current", *_ages("aging", "0-30"), "credit_amount"),
        is_balance=True,
    ),
    Subject("wip", "Work in progress", ("wip", *_ages("wip"), "contingent_amount"), is_balance=True),
)


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
            start = month.earlier(_MOST_MONTHS - 1)
            asked, keys = subjects(month), [*by, "month"]
            flows = _figures(
                month, keys, [each for each in asked if not (each.is_balance or each.options)], start=start
            )
            for each in asked:
                if each.options:
                    begin = max(start, each.since or start)
                    flows = _beside(flows, _figures(month, keys, [each], start=begin, **each.options), begin)
            balances = _figures(month, by, [each for each in asked if each.is_balance], as_of=month.as_of)
        first = dt.date.fromisoformat(f"{min(flows['month'], default=f'{month.earlier(0):%Y-%m}')}-01")
        return cls(month, tuple(by), [*months_between(first, month.earlier(0))], flows, balances)

    def packed(self) -> str:
        """Return the sums and their declarations as JSON, compressed, in the letters of base64."""
        text = json.dumps(self._contents(), separators=(",", ":"))
        return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()

    def _about(self) -> str:
        by = join_names([title_of_key(each) for each in self.keys])
        months = count_of(len(self.months), "month")
        return (
            f"The page holds sums of {months} by {by}; no entries and no narratives. Figures that are not made of such "
            "sums, such as utilization and medians, are in the report and its workbook."
        )

    def _contents(self) -> Mapping[str, Any]:
        names = {key: self._names(key) for key in self.keys}
        return {
            "about": self._about(),
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
            "subjects": [self._subject(each) for each in subjects(self.month)],
            "yearStart": max(
                0, len(self.months) - len([*months_between(self.month.year_start, self.month.earlier(0))])
            ),
        }

    def _subject(self, subject: Subject) -> Mapping[str, Any]:
        found = list(subject.by_name.values())
        column_of = {each.measure.name: each.column for each in found}
        floors = limits(self.month)
        frame = self.balances if subject.is_balance else self.flows
        missing = attached(frame, MISSING) or {}
        hidden = {name for name in frame if frame[name].isna().all()}
        return {
            "name": subject.name,
            "title": subject.title,
            "isBalance": subject.is_balance,
            "since": f"{subject.since:%Y-%m}" if subject.since else "",
            "columns": [
                {
                    "name": each.column,
                    # A balance is called so beside other figures.
                    "title": subject.title if each.measure.name == "total" else each.measure.title,
                    "unit": each.measure.unit,
                    "meaning": plain_words(each.measure.meaning),
                    "missing": missing.get(each.column, "") if each.column in hidden else "",
                    "parts": [column_of[part] for part in each.measure.ratios[0]] if each.measure.ratios else None,
                    "floor": floors[each.column][0] if each.column in floors else None,
                }
                for each in found
            ],
        }

    def _is_whole(self, first: dt.date) -> bool:
        return self.month.is_known(Period(first)) and month_end(first) <= self.month.last

    def _names(self, key: str) -> pd.Series[str]:
        """Return the names of a key's values by id; a missing id is empty."""
        id_, name = PEOPLE_AND_MATTERS[key]
        both = pd.concat([frame[[id_, name]].fillna("") for frame in (self.flows, self.balances)])
        return both.drop_duplicates(id_).set_index(id_)[name].sort_values(kind="stable")

    def _table(self, frame: pd.DataFrame, names: Mapping[str, pd.Series[str]]) -> Mapping[str, Any]:
        codes = {
            key: found.index.get_indexer(pd.Index(frame[PEOPLE_AND_MATTERS[key][0]].fillna("")))
            for key, found in names.items()
        }
        if "month" in frame:
            codes["month"] = pd.Index([f"{each:%Y-%m}" for each in self.months]).get_indexer(pd.Index(frame["month"]))
        sums = frame.select_dtypes("number").round(_DECIMALS)
        return {
            "codes": {key: _base64(found, "<u2") for key, found in codes.items()},
            "rows": len(frame),
            "sums": {str(name): _base64(sums[name], "<f8") for name in sums},
        }


def _figures(month: Month, by: Sequence[str], asked: Sequence[Subject], **how: Any) -> pd.DataFrame:
    names = dict.fromkeys(name for each in asked for name, figure in each.by_name.items() if figure.measure.adds_up)
    where: dict[str, Any] | None = {month.scope.key: month.scope.id} if month.scope else None
    found = month.firm_book.figures(*names, by=by, where=where, **{"start": month.first, "end": month.last, **how})
    return month.with_distinct_names(found)


def _beside(flows: pd.DataFrame, more: pd.DataFrame, since: dt.date) -> pd.DataFrame:
    """Add figures that are known from a day on: earlier they are missing, later without rows they are 0."""
    sums = {name: [*frame.select_dtypes("number")] for name, frame in (("left_only", flows), ("right_only", more))}
    both = flows.merge(more, on=[name for name in flows if name in more], how="outer", indicator="_side")
    is_known = both["month"] >= f"{since:%Y-%m}"
    both.loc[both["_side"].eq("right_only"), sums["left_only"]] = 0.0
    both.loc[both["_side"].eq("left_only") & is_known, sums["right_only"]] = 0.0
    both.attrs = {**more.attrs, **flows.attrs}
    return both.drop(columns="_side")


def _base64(values: Any, dtype: str) -> str:
    return base64.b64encode(np.asarray(values, dtype=dtype).tobytes()).decode()
