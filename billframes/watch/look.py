"""Find what holds: each rule of the firm on the data of a mirror."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from billframes._shared.format import count_of, format_number, long_date
from billframes._shared.notes import Notes, collect_notes
from billframes.analysis.data.distinct_names import DistinctNames
from billframes.analysis.declare.columns import UNASSIGNED
from billframes.analysis.declare.key_words import columns_of
from billframes.analysis.declare.lookup import measure
from billframes.analysis.results.figure_names import Figure, figure_names, find_figure
from billframes.book import Book
from billframes.config.firm import FirmSettings
from billframes.config.watch import CHANGES, LAST_RUN, Rule
from billframes.errors import BillframesError, MirrorError, ParameterError
from billframes.mirror import Mirror
from billframes.periods import local_day
from billframes.report import rules
from billframes.watch.named import Held, named

_YEAR = 365
# The months whose ends give the usual balance.
_MONTHS_BACK = (3, 6, 9, 12)


Named = dict[str, tuple[str, float]]
"""The name and the figure of each group, by its id."""


@dataclass
class Seen:
    """
    What a look found: what holds, the figures of each rule by key, why rules could not be checked, and the analyses'
    notes.

    The figures are kept for the rules that compare with the last run, and for the sentences of what ended.
    """

    day: dt.date
    holding: list[Held] = field(default_factory=list)
    figures: dict[Rule, Named] = field(default_factory=dict)
    unchecked: dict[Rule, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def look(mirror: Mirror, settings: FirmSettings, last: Mapping[Rule, Named], last_day: str) -> Seen:
    """Check all rules; `last` has the figures of the last run on another version, of the day `last_day`."""
    day, notes = local_day(mirror.time, settings.time_zone), Notes("page")
    with collect_notes(notes):
        book = mirror.book(day, day, settings=settings)
        seen = look_at(book, settings.rules, day, mirror, last, last_day)
    seen.notes = [each.text("page") for each in notes if not each.rule.is_fact]
    return seen


def look_at(
    book: Book,
    watched: Iterable[Rule],
    day: dt.date,
    mirror: Mirror | None = None,
    last: Mapping[Rule, Named] | None = None,
    last_day: str = "",
) -> Seen:
    """Check rules on a book as of a day; without its mirror, those that need earlier versions are not checked."""
    seen = Seen(day)
    for rule in watched:
        try:
            if rule.rule:
                seen.holding += named(rule, book, day, mirror.age if mirror else None)
                continue
            rows = _Figures(mirror, book, rule, day).rows((last or {}).get(rule, {}))
        except BillframesError as error:
            seen.unchecked[rule] = str(error.args[0])
            continue
        seen.figures[rule] = {
            str(key): (str(row["name"]), float(row["value"]))
            for key, row in rows.iterrows()
            if math.isfinite(row["value"])
        }
        seen.holding += _held(rule, rows, last_day)
    return seen


class _Figures:
    def __init__(self, mirror: Mirror | None, book: Book, rule: Rule, day: dt.date) -> None:
        self._mirror, self._book, self._rule, self._day = mirror, book, rule, day
        self._figure = find_figure(rule.figure)
        self._is_balance = "start" not in self._figure.analysis.takes

    def rows(self, last: Named) -> pd.DataFrame:
        """Return the name, the value, the value before and the parts of each key that is large enough."""
        rule = self._rule
        rows = self._of(self._book, self._day - dt.timedelta(rule.days - 1), self._day)
        if rule.how not in CHANGES:
            return self._large(rows).assign(before=math.nan)
        if rule.against == LAST_RUN:
            usual = self._last(last)
        else:
            usual = self._usual_balance() if self._is_balance else self._usual()
        # A group without records now has fallen to 0.
        rows = rows.reindex(rows.index.union(usual.index))
        rows["name"] = rows["name"].fillna(usual["name"])
        for figure in self._sums:
            rows[figure] = rows[figure].fillna(0.0)
        return self._large(rows, usual).assign(before=usual["value"])

    def _last(self, last: Named) -> pd.DataFrame:
        rows = pd.DataFrame([*last.values()], index=[*last], columns=["name", "value"]).astype({"value": "float64"})
        for name in self._rule.least:
            rows[name] = rows["value"] if find_figure(name) == self._figure else math.nan
        return rows

    @property
    def _sums(self) -> list[str]:
        names = {"value": self._rule.figure, **{name: name for name in self._rule.least}}
        return [column for column, name in names.items() if find_figure(name).measure.adds_up]

    def _of(self, book: Book, start: dt.date, end: dt.date) -> pd.DataFrame:
        wanted = {"value": self._rule.figure, **{name: name for name in self._rule.least}, **parts_of(self._figure)}
        result = book.figures(*dict.fromkeys(wanted.values()), by=self._rule.by or None, start=start, end=end)
        column = self._figure.column
        if column in result.attrs["missing"] and result[column].isna().all():
            raise ParameterError(f"{self._rule.figure!r} is not known: {result.attrs['missing'][column]}")
        rows = DistinctNames(book.clients, book.matters, book.users)(result)
        keys = columns_of(self._rule.by, [*rows]) if self._rule.by else []
        found = {name: rows[find_figure(figure).column].astype("float64") for name, figure in wanted.items()}
        names = rows[keys[-1]].astype("object").fillna(UNASSIGNED) if keys else pd.Series("", index=rows.index)
        ids = rows[keys[0]].astype("object").fillna("").astype(str) if keys else names
        return pd.DataFrame({"name": names, **found}).set_axis(ids)

    def _usual(self) -> pd.DataFrame:
        """Return the figures of the year before; sums in proportion to the days."""
        end = self._day - dt.timedelta(self._rule.days)
        start = end - dt.timedelta(_YEAR - 1)
        first = self._book.first_day
        if first is None or first > start:
            raise ParameterError(f"The data begin on {first}, so what is usual in the year from {start} is not known.")
        rows = self._of(self._book, start, end)
        rows[self._sums] *= self._rule.days / _YEAR
        return rows

    def _usual_balance(self) -> pd.DataFrame:
        """Return the mean of the balances at the ends of the months 3, 6, 9 and 12 months back."""
        month = pd.Period(self._day, "M")
        found = []
        for day in ((month - back).end_time.date() for back in _MONTHS_BACK):
            book = self._book
            if self._figure.analysis.as_loaded:
                zone = (self._book.settings or FirmSettings()).time_zone
                version = self._mirror._version_of_day(day, zone) if self._mirror else None
                if self._mirror is None or version is None:
                    raise MirrorError(
                        f"{self._rule.figure!r} has a usual balance only in a mirror with versions of a year; it has "
                        f"none of {long_date(day)} or the week after."
                    )
                book = self._mirror.as_of(version[0]).book(day, day, settings=self._book.settings)
            found.append(self._of(book, day, day))
        rows = pd.concat(found)
        means = rows.drop(columns="name").groupby(level=0).sum(min_count=1) / len(found)
        return means.assign(name=rows["name"].groupby(level=0).last())

    def _large(self, rows: pd.DataFrame, usual: pd.DataFrame | None = None) -> pd.DataFrame:
        """Keep the groups that are as large as the rule says, now or usually."""
        for name, least in self._rule.least.items():
            there = rows[name] >= least
            rows = rows[there if usual is None else there | (usual[name].reindex(rows.index) >= least)]
        return rows


def parts_of(figure: Figure) -> dict[str, str]:
    """Return the figures that explain a ratio: what was written down, or its numerator, and its denominator."""
    if not figure.measure.ratios or figure.measure.unit != "ratio":
        return {}
    part, whole = figure.measure.ratios[0]
    part = "write_down_amount" if figure.column == "billing_realization" else part
    names = {"part": f"{figure.analysis.name}.{part}", "whole": f"{figure.analysis.name}.{whole}"}
    return names if figure_names().keys() >= {*names.values()} else {}


def _held(rule: Rule, rows: pd.DataFrame, last_day: str) -> Iterator[Held]:
    unit = find_figure(rule.figure).measure.unit
    order = (rows["value"] - rows["before"]).abs() if rule.how in CHANGES else rows["value"]
    for key, row in rows.loc[order.sort_values(ascending=rule.how == "below", kind="stable").index].iterrows():
        value, before = float(row["value"]), float(row["before"])
        amount = _change(value, before, unit) if rule.how in CHANGES else value
        if rule.holds(amount):
            text = _text(rule, row, last_day)
            yield Held(rule, str(key), str(row["name"]), value, before if math.isfinite(before) else None, text)


def _change(now: float, before: float, unit: str) -> float:
    """Return the difference of ratios and of days, and the share by which an amount changed."""
    if unit in {"ratio", "days"}:
        return now - before
    return now / before - 1 if before > 0 else math.nan


def verb_of(rule: Rule) -> str:
    """Return "are" for "Client hours" and "Fees billed", and "is" for "Work in progress"."""
    words = _title(find_figure(rule.figure)).partition(" of ")[0].split()
    return "are" if any(re.search("[^s]s$", word) for word in (words[0], words[-1])) else "is"


def what_of(rule: Rule, name: str) -> str:
    """Return a figure in words, with its group and its days."""
    figure = find_figure(rule.figure)
    whose = f" of {name}" if rule.by else ""
    days = f" in the last {count_of(rule.days, 'day')}" if "start" in figure.analysis.takes else ""
    return f"{_title(figure)}{whose}{days}"


def _title(figure: Figure) -> str:
    return (measure(figure.column) or figure.measure).title


def limit_of(rule: Rule) -> str:
    """Return the number of a rule in words, such as "below 85.0%"."""
    words = {"reaches": "at least"}.get(rule.how, rule.how)
    return f"{words} {rules.number(rule.limit, find_figure(rule.figure).measure.unit)}"


def _text(rule: Rule, row: Any, last_day: str) -> str:
    figure, value, what = find_figure(rule.figure), float(row["value"]), what_of(rule, str(row["name"]))
    unit = figure.measure.unit
    if rule.how not in CHANGES:
        return rules.beyond(what, value, unit, limit_of(rule), more=_parts(figure, row), verb=verb_of(rule))
    before = float(row["before"])
    by = format_number(abs(value / before - 1), "ratio") if unit not in {"ratio", "days"} else ""
    then = f"last watch, {last_day}" if rule.against == LAST_RUN else "usual"
    return rules.moved(what, value - before, value, unit, by=by, then=f"{then}: {rules.number(before, unit)}")


def _parts(figure: Figure, row: Any) -> str:
    names = parts_of(figure)
    if not names:
        return ""
    part, whole = (find_figure(name).measure for name in names.values())
    numbers = [format_number(float(row[name]), each.unit) for name, each in zip(names, (part, whole), strict=True)]
    if part.name == "write_down_amount":
        return f"{numbers[0]} of {numbers[1]} was written down"
    return f"{part.title.lower()} {numbers[0]}, {whole.title.lower()} {numbers[1]}"
