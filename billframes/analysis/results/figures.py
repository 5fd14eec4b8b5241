"""Figures of several analyses side by side, by the same keys.

Each analysis adds up its own rows; the results are joined by their ids, all rows of each. Joined before they are added
up, an invoice of two entries would count twice.
"""

from __future__ import annotations

import datetime as dt
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, cast

import narwhals.stable.v2 as nw
import pandas as pd
import pyarrow as pa

from billframes._names import closest
from billframes._notes import NOTES, Notes, collect_notes
from billframes.analysis.declare.columns import Frame
from billframes.analysis.declare.lookup import weight_of
from billframes.analysis.declare.spec import Analysis
from billframes.analysis.frames.checked_frames import share_checks
from billframes.analysis.frames.data_span import covers, first_date, first_day, read_period
from billframes.analysis.frames.engine import to_arrow
from billframes.analysis.frames.native import nan_to_null, to_native
from billframes.analysis.model.arguments import check_choice, read_date, read_whole_number
from billframes.analysis.model.keys import TIMES, By, columns_of, names_in
from billframes.analysis.results.forecast_given import NOT_BY, forecast, is_forecast
from billframes.analysis.results.names import Figure, find_figures
from billframes.analysis.results.payments_given import check_days, needs_payments, not_covered, payment_days
from billframes.analysis.results.result_rows import key_columns, total_of
from billframes.config.firm import FirmSettings
from billframes.days import CALENDAR_YEAR, FiscalYear, period_before, year_before
from billframes.errors import MissingColumnError, ParameterError
from billframes.loading.load_info import attach, load_day
from billframes.periods import DateLike, Period

if TYPE_CHECKING:
    from billframes.analysis.results._figure_names import FigureName

__all__ = ["FIGURES", "MISSING", "TOTAL", "Source", "figures", "figures_of"]

FIGURES, MISSING, TOTAL = "figures", "missing", "total"
"""The names under which a result keeps the analysis of each column, why columns are missing, and its total."""

Compare = Literal["previous", "year_ago"]
_FRAMES = ("time_entries", "expenses", "fixed_fees", "invoices", "matters", "users", "clients")
_DATES = {"time_entries": "date", "invoices": "invoice_date"}
_LABEL, _PLACE = "Others ({})", "_place"
_PAST = "Balances of earlier days are not known: they are as loaded. A mirror keeps those of earlier days."


@dataclass(frozen=True, slots=True)
class Source:
    """
    Where figures come from.

    Parameters
    ----------
    call : callable
        Takes an analysis, and by name `by` and either `start` and `end` or `as_of`. It returns the result.
    period : Period
    as_of : date, optional
        The day of balances; by default the last day of the period, or the day of the load if that is earlier.
    loaded : date, optional
        The day of the load; None if unknown.
    first_day : date, optional
        The first day of the data; None if unknown.
    year : FiscalYear
        The year that periods from its beginning are compared by.
    paid : Period
        The days that the payments cover, open where that is not known.
    """

    call: Callable[..., Any]
    period: Period
    as_of: dt.date | None = None
    loaded: dt.date | None = None
    first_day: dt.date | None = None
    year: FiscalYear = CALENDAR_YEAR
    paid: Period = field(default_factory=lambda: Period(None, None))

    def until(self, day: dt.date | None) -> dt.date | None:
        """Return a day, or the day of the load if that is earlier."""
        return min((each for each in (day, self.loaded) if each is not None), default=None)

    def rows(self, analysis: Analysis, by: Sequence[str]) -> tuple[pd.DataFrame, str]:
        """
        Return the rows of an analysis, and why those of some periods are missing.

        A balance by month, quarter or year is the balance at the end of each.
        """
        if needs_payments(analysis):
            check_days(self.paid, self.period.start, self.until(self.period.end))
        if "start" in analysis.takes:
            days = {"start": self.period.start, "end": self.period.end}
            return _pandas(self.call(analysis, by=[*by] or None, **days)), ""
        last = self.as_of or self.until(self.period.end)
        if last is None:
            raise ParameterError("as_of is needed for balances: the period has no last day.")
        if is_forecast(analysis):
            return _pandas(forecast(self.call, analysis, by, as_of=last)).drop(columns=["horizon", "start", "end"]), ""
        times = [key for key in by if key in TIMES]
        if not times:
            return _pandas(self.call(analysis, by=[*by] or None, as_of=last)), ""
        return self._at_ends(analysis, by, times, last)

    def _at_ends(
        self, analysis: Analysis, by: Sequence[str], times: Sequence[str], last: dt.date
    ) -> tuple[pd.DataFrame, str]:
        others = [key for key in by if key not in times]
        first = min(self.period.start or self.first_day or last, last)
        ends = [*_ends(first, last, times)]
        known = ends[-1:] if analysis.as_loaded else ends
        results = [_pandas(self.call(analysis, by=others or None, as_of=day)).assign(**at) for at, day in known]
        rows = pd.concat(results, ignore_index=True)
        keys = [*key_columns(_names(results[0]), analysis), *times]
        keys = [each for each in keys if each in rows]
        rows = rows[[*dict.fromkeys([*keys, *rows.columns])]]
        return rows, _PAST if len(ends) > len(known) else ""


def _ends(first: dt.date, last: dt.date, times: Sequence[str]) -> Iterator[tuple[dict[str, Any], dt.date]]:
    """Yield the labels of each month, quarter or year up to a day, and its last day."""
    if unknown := {*times} & {"fiscal_year", "fiscal_quarter"}:
        raise ParameterError(f"by={min(unknown)!r}: balances are by month, quarter or year.")
    days = pd.date_range(first, last, freq="D")
    names = {"month": days.strftime("%Y-%m"), "year": days.year, "quarter": days.to_period("Q").strftime("%Y-Q%q")}
    frame = pd.DataFrame({time: names[time] for time in times} | {"_day": days})
    for labels, group in frame.groupby([*times]):
        yield dict(zip(times, labels, strict=True)), group["_day"].max().date()


def _names(rows: pd.DataFrame) -> list[str]:
    return [str(name) for name in rows.columns]


def _pandas(result: Any) -> pd.DataFrame:
    return result if isinstance(result, pd.DataFrame) else to_arrow(nw.from_native(result)).to_pandas()


@dataclass(slots=True)
class _Joined:
    """
    The joined rows: the keys, and the columns of each analysis under names such as "wip.total".

    Parameters
    ----------
    rows : DataFrame
    keys : list of str
    missing : dict of str to str
        Why figures are missing, by column.
    """

    rows: pd.DataFrame
    keys: list[str]
    missing: dict[str, str] = field(default_factory=dict)

    def add_up(self, keys: list[str], wanted: Sequence[Figure]) -> _Joined:
        """Add up by fewer keys. Ratios are those of the sums; a figure that can't be added up is missing."""
        of_time = [each for each in self.keys if each in TIMES and each not in keys]
        several = self.rows.duplicated(keys, keep=False) if keys else pd.Series(len(self.rows) > 1, self.rows.index)
        is_one = not keys and len(self.rows) != 1
        groups = self.rows[several].groupby(keys, dropna=False, sort=False) if keys else [((), self.rows[several])]
        added = []
        for values, group in groups if several.any() or is_one else ():
            row = dict(zip(keys, values if isinstance(values, tuple) else (values,), strict=True))
            row |= dict.fromkeys([each for each in _names(self.rows) if each.endswith(".")], True)
            for analysis in {each.analysis.name: each.analysis for each in wanted}.values():
                start = f"{analysis.name}."
                own = [each for each in _names(group) if each.startswith(start) and each != start]
                totals = total_of(group[own].set_axis([each.removeprefix(start) for each in own], axis="columns"))
                balance = "start" not in analysis.takes and of_time
                row |= {f"{start}{name}": float("nan") if balance else value for name, value in totals.items()}
            added.append(row)
        made = pd.DataFrame(added, columns=[*keys, *(each for each in self.rows if each not in self.keys)])
        single = self.rows[~several][made.columns]
        rows = (
            pd.concat([single, made], ignore_index=True)
            if len(single) and len(made)
            else (made if len(made) else single)
        )
        missing = dict(self.missing)
        for each in wanted if added else ():
            name = _source(each)
            if name in made and made[name].isna().all() and not self.rows.loc[several, name].isna().all():
                missing.setdefault(each.column, "That of several rows can't be calculated from theirs.")
        return _Joined(_sorted(rows, keys), keys, missing)


def _source(figure: Figure) -> str:
    return f"{figure.analysis.name}.{figure.measure.name}"


def _parts(figure: Figure) -> set[str]:
    """Return the columns of the analysis from which a total of the figure is calculated."""
    pairs = {name for pair in figure.measure.ratios for name in pair}
    return {figure.measure.name, *pairs, weight_of(figure.measure)}


def _joined(wanted: Sequence[Figure], source: Source, by: Sequence[str]) -> _Joined:
    """Join the rows of the analyses by their ids; each has all its rows."""
    joined = _Joined(pd.DataFrame(), [])
    errors: dict[str, Exception] = {}
    zeros: dict[str, list[str]] = {}
    for analysis in {each.analysis.name: each.analysis for each in wanted}.values():
        figures = [each for each in wanted if each.analysis is analysis]
        try:
            rows, reason = source.rows(analysis, by)
        except (ParameterError, MissingColumnError) as error:
            joined.missing |= dict.fromkeys((each.column for each in figures), _why_not(analysis, error))
            errors[analysis.name] = error
            continue
        keys = key_columns(_names(rows), analysis)
        used = [name for name in rows if name in set().union(*map(_parts, figures))]
        unknown = [name for name in used if len(rows) and rows[name].isna().all()]
        for each in figures:
            if reason or each.measure.name in unknown or each.measure.name not in used:
                joined.missing[each.column] = reason or _why(each, rows, keyed=bool(by))
        # A figure of which some rows are unknown stays missing there.
        adds_up = {each.name for each in analysis.columns if each.adds_up}
        zeros[analysis.name] = [] if reason else [name for name in used if name in adds_up and name not in unknown]
        renamed = rows[[*keys, *used]].rename(columns={name: f"{analysis.name}.{name}" for name in used})
        joined = _join(joined, renamed.assign(**{f"{analysis.name}.": True}), keys)
    if not joined.keys and joined.rows.empty and errors:
        raise next(iter(errors.values()))
    for name, columns in zeros.items():
        # A sum is 0 in groups of which its analysis has no row.
        joined.rows.loc[joined.rows[f"{name}."].isna(), [f"{name}.{each}" for each in columns]] = 0.0
    for each in wanted:
        if _source(each) not in joined.rows:
            joined.rows[_source(each)] = float("nan")
    return joined


def _why_not(analysis: Analysis, error: Exception) -> str:
    """Say why an analysis is not known by the keys. A forecast is neither known of past periods nor of small firms."""
    text = str(error.args[0])
    if text.startswith("by="):
        return NOT_BY if is_forecast(analysis) else f"It is not known by {text.split(chr(39))[1]}."
    if not is_forecast(analysis):
        raise error
    return text


def _join(joined: _Joined, rows: pd.DataFrame, keys: list[str]) -> _Joined:
    if joined.rows.empty and not joined.keys and not len(joined.rows.columns):
        return replace(joined, rows=rows, keys=keys)
    ids = [name for name in keys if not _is_label(name, keys)]
    if not ids:
        return replace(joined, rows=joined.rows.join(rows))
    both = joined.rows.merge(rows, on=ids, how="outer", suffixes=("", "_other"))
    for name in {*keys} - {*ids}:
        both[name] = both[name].fillna(both.pop(f"{name}_other"))
    return replace(joined, rows=both[[*keys, *(each for each in both if each not in keys)]])


def _is_label(name: str, keys: Iterable[str]) -> bool:
    return name.endswith(("_name", "_label")) and f"{name.rpartition('_')[0]}_id" in keys


def _why(figure: Figure, rows: pd.DataFrame, *, keyed: bool) -> str:
    """Say why a whole column is missing."""
    given = figure.measure.name in rows
    for part, whole in figure.measure.ratios if given else ():
        if {part, whole} <= {*rows} and rows[whole].notna().any():
            return f"Its denominator, {whole}, is 0." if rows[part].notna().any() else f"{part} is not known."
    starts = (f"`{figure.measure.name}`", *(["By "] if keyed else []))
    if said := [text for text in figure.analysis.left_out if given and text.startswith(starts)]:
        return said[0]
    if not given:
        return f"It needs options: call {figure.analysis.name}()."
    return (
        f"It is missing in all rows of {figure.analysis.name}; its warnings or bf.explain({figure.column!r}) say why."
    )


def _sorted(rows: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Sort by the labels, then by their ids, in the order of the keys."""
    labels = [each for each in keys if not (each.endswith("_id") and any(_is_label(other, [each]) for other in keys))]
    ids = [f"{each.rpartition('_')[0]}_id" for each in labels]
    order = [each for pair in zip(labels, ids, strict=True) for each in pair if each in keys]
    return rows.sort_values(order, ignore_index=True, na_position="last") if order else rows.reset_index(drop=True)


def _kept(joined: _Joined, key: str, wanted: Any) -> _Joined:
    """Keep the rows with one of the values, which are ids or labels; None is a missing value."""
    columns = columns_of(key, joined.keys)
    wanted = [*wanted] if isinstance(wanted, (list, tuple, set, frozenset)) else [wanted]
    if not wanted:
        raise ParameterError(
            f"where={{{key!r}: []}} has no values, so every sum would be 0. Leave the key out for all."
        )
    if not columns:
        raise ParameterError(f"where={{{key!r}: …}}: none of the figures is known by {key!r}.")
    rows, found = joined.rows, pd.Series(data=False, index=joined.rows.index)
    for value in wanted:
        if value is None:
            found |= rows[columns[0]].isna()
            continue
        hits = pd.concat([rows[each].astype(object) == value for each in columns], axis="columns").any(axis="columns")
        if not hits.any():
            known = [str(each) for each in rows[columns[-1]].dropna().unique()]
            raise ParameterError(f"where={{{key!r}: {value!r}}}: no row has this value.{closest(str(value), known)}")
        if len(ids := rows.loc[hits, columns[0]].unique()) > 1:
            raise ParameterError(
                f"where={{{key!r}: {value!r}}}: several have this name. Write an id: {', '.join(map(repr, ids))}."
            )
        found |= hits
    return replace(joined, rows=rows[found].reset_index(drop=True))


def _rows(wanted: Sequence[Figure], source: Source, by: Sequence[str], where: Mapping[str, Any]) -> _Joined:
    joined = _joined(wanted, source, list(dict.fromkeys([*by, *where])))
    for key, values in where.items():
        joined = _kept(joined, key, values)
    shown = {column for key in by for column in columns_of(key, joined.keys)}
    filters = {column for key in where for column in columns_of(key, joined.keys)} - shown
    keys = [each for each in joined.keys if each not in filters]
    return joined.add_up(keys, wanted) if filters else replace(joined, rows=_sorted(joined.rows, keys))


def _top(joined: _Joined, wanted: Sequence[Figure], ranks: Mapping[Any, int], top: int) -> _Joined:
    """Keep the rows of the first groups, and add up the others."""
    first, *more = [each for each in joined.keys if each not in TIMES]
    label = more[0] if more and _is_label(more[0], [first]) else first
    place = [ranks.get(None if pd.isna(key) else key, len(ranks)) for key in joined.rows[first]]
    rows = joined.rows.assign(**{_PLACE: place})
    shown = rows[rows[_PLACE] < top].sort_values(_PLACE, kind="stable").drop(columns=_PLACE)
    rest = replace(joined, rows=rows[rows[_PLACE] >= top].drop(columns=_PLACE))
    if len(ranks) <= top:
        return replace(joined, rows=shown.reset_index(drop=True))
    others = rest.add_up([each for each in joined.keys if each not in (first, label)], wanted)
    made = others.rows.assign(**{first: None, label: _LABEL.format(len(ranks) - top)})
    made = made.astype({first: shown[first].dtype}) if first != label else made
    return _Joined(pd.concat([shown, made], ignore_index=True)[shown.columns], joined.keys, others.missing)


def _ranks(joined: _Joined, other: _Joined | None, wanted: Sequence[Figure]) -> dict[Any, int]:
    """Return the place of each group of the first key that is not a period, by the first figure, largest first."""
    if joined.rows[_source(wanted[0])].isna().all() and len(joined.rows):
        reason = joined.missing.get(wanted[0].column, "Its denominators are 0.")
        raise ParameterError(f"top= chooses by the first figure, and {wanted[0].column!r} is missing: {reason}")
    keys = [each for each in joined.keys if each not in TIMES]
    if not keys:
        raise ParameterError("top= needs rows to choose from: pass by=, such as by='client'.")
    groups = joined.add_up(keys[:1], wanted).rows.sort_values(_source(wanted[0]), ascending=False, na_position="last")
    found = [*groups[keys[0]], *([] if other is None else other.rows[keys[0]])]
    return {key: place for place, key in enumerate(dict.fromkeys(None if pd.isna(key) else key for key in found))}


def _earlier(source: Source, compare: Compare) -> Source:
    """Return the same for the period to compare with; if the period is not over, for as many days of it."""
    start, end = source.period.start, source.until(source.period.end)
    if start is None or end is None:
        raise ParameterError("compare= needs a period with a first and a last day: pass start= and end=.")
    before = period_before(source.period, end, source.year) if compare == "previous" else year_before(start, end)
    return replace(source, period=before)


def _before(
    joined: _Joined, wanted: Sequence[Figure], source: Source, compare: Compare, rows_of: Callable[..., _Joined]
) -> _Joined:
    """Return the rows of the earlier period; figures that are not known of it are missing."""
    earlier = _earlier(source, compare)
    reasons = {each.column: _PAST for each in wanted if each.analysis.as_loaded}
    if said := not_covered(source.paid, earlier.period.start, earlier.period.end):
        reasons |= {each.column: said for each in wanted if needs_payments(each.analysis)}
    if not covers(source.first_day, earlier.period.start):
        reasons = dict.fromkeys((each.column for each in wanted), f"The data begin on {source.first_day}.")
    known = [each for each in wanted if each.column not in reasons]
    other = rows_of(known, earlier) if known else _Joined(joined.rows[0:0], joined.keys)
    for each in wanted:
        if each not in known:
            other.rows[_source(each)] = float("nan")
    return replace(other, missing=other.missing | reasons)


def _finish(joined: _Joined, other: _Joined | None, wanted: Sequence[Figure], compare: str) -> pd.DataFrame:
    """Return the keys and the figures, with those of the earlier period and the changes beside them."""
    keys, ids = joined.keys, [name for name in joined.keys if not _is_label(name, joined.keys)]
    rows = _named(joined, wanted)
    if other is None:
        return rows
    then = _named(other, wanted).rename(columns={each.column: f"{each.column}_{compare}" for each in wanted})
    if ids:
        both = rows.assign(**{_PLACE: range(len(rows))}).merge(then, on=ids, how="outer", suffixes=("", "_other"))
        for name in {*keys} - {*ids}:
            both[name] = both[name].fillna(both.pop(f"{name}_other"))
        both = both.sort_values(_PLACE, ignore_index=True, kind="stable")
    else:
        both = rows.join(then)
    columns = [*keys]
    for each in wanted:
        now, before, change = (f"{each.column}{end}" for end in ("", f"_{compare}", f"_since_{compare}"))
        for name, part in ((now, joined), (before, other)):
            if each.measure.adds_up and each.column not in part.missing:
                both[name] = both[name].fillna(0.0)
        columns += [now, before]
        if each.measure.unit != "date":
            both[change] = both[now] - both[before]
            columns.append(change)
    return both[columns]


def _named(joined: _Joined, wanted: Sequence[Figure]) -> pd.DataFrame:
    return pd.DataFrame(
        {name: joined.rows[name] for name in joined.keys} | {each.column: joined.rows[_source(each)] for each in wanted}
    )


def figures_of(
    names: Sequence[str],
    source: Source,
    like: Any,
    *,
    by: By = None,
    where: Mapping[str, Any] | None = None,
    compare: Compare | None = None,
    top: int | None = None,
) -> Any:
    """Calculate figures from any source, as `figures` does from frames; the result is of the kind of `like`."""
    wanted, keys, filters = find_figures(names), names_in(by), where or {}
    _check(keys, filters, compare, top, source)
    rows_of = functools.partial(_rows, by=keys, where=filters)
    if compare:
        # Both periods then have the same number of days.
        source = replace(source, period=Period(source.period.start, source.until(source.period.end)))
    notes = Notes()
    with collect_notes(notes), share_checks():
        joined = rows_of(wanted, source)
        other = _before(joined, wanted, source, compare, rows_of) if compare else None
    notes.finish()
    if top:
        ranks = _ranks(joined, other, wanted)
        joined = _top(joined, wanted, ranks, top)
        other = other and _top(other, wanted, ranks, top)
    rows = _finish(joined, other, wanted, compare or "")
    total = _finish(joined.add_up([], wanted), other and other.add_up([], wanted), wanted, compare or "")
    missing = joined.missing | {
        f"{name}_{compare}": reason for name, reason in (other.missing if other else {}).items()
    }
    table = cast("Frame", nw.from_native(pa.Table.from_pandas(rows, preserve_index=False)))
    result = to_native(nan_to_null(table), like)
    result = attach(result, NOTES, notes.data())
    result = attach(result, FIGURES, {each.column: each.analysis.name for each in wanted})
    result = attach(result, MISSING, missing)
    sums = total.select_dtypes("number").iloc[0]
    return attach(result, TOTAL, {str(name): None if pd.isna(value) else float(value) for name, value in sums.items()})


def _check(keys: Sequence[str], where: Mapping[str, Any], compare: str | None, top: int | None, source: Source) -> None:
    """Refuse arguments that don't fit together."""
    if not isinstance(where, Mapping):
        raise ParameterError(f"where takes keys with their values, such as {{'client': 'Acme'}}; it is {where!r}.")
    if compare is not None:
        check_choice(compare, "compare", ("previous", "year_ago"))
        if {*keys} & {*TIMES}:
            raise ParameterError(
                "compare= is for rows without months, quarters or years: those stand one below the other already."
            )
        if source.as_of is not None:
            raise ParameterError("compare= takes the days of balances from the periods: leave out as_of=.")
    if times := {*where} & {*TIMES}:
        raise ParameterError(f"where={{{min(times)!r}: …}}: days are chosen by start= and end=.")
    if top is not None:
        read_whole_number(top, "top", "groups")


def figures(
    *names: FigureName,
    by: By = None,
    where: Mapping[str, Any] | None = None,
    start: DateLike | None = None,
    end: DateLike | None = None,
    as_of: DateLike | None = None,
    compare: Compare | None = None,
    top: int | None = None,
    payments: pd.DataFrame | None = None,
    settings: FirmSettings | None = None,
    **frames: Any,
) -> Any:
    """
    Calculate figures of several analyses side by side, by the same keys.

    Each figure is that of its own analysis: hours by the day of the work, fees by the day of the invoice.

    Parameters
    ----------
    *names : str
        Figures, such as "client_hours", "billed_amount", "billing_realization", "wip", "receivables".
        `bf.explain("figures")` lists them, and `bf.explain("billed_amount")` explains one. A name that several
        analyses have for different figures is written with the analysis, as "contribution.billed_amount".
    by : str or list of str, optional
        Keys to group by; None gives one row.
    where : mapping of str to object, optional
        Keys, each with a value or a list of values: ids or labels, exact; None is a missing value. An invoice's fee is
        first spread over all the work on it, as without a filter. The filter then keeps the parts of the matching
        work, so all values of a key, with None, add up to the whole.
    start, end : str or date, optional
        First and last day, inclusive, or a whole period such as "2026-Q3" as `start`.
    as_of : str or date, optional
        The day of balances (work in progress, receivables). By default the last day of the period, or the day of the
        load if that is earlier.
    compare : {"previous", "year_ago"}, optional
        The period before, or the same period a year before, to compare with. A period that is not over is compared
        with as many days.
    top : int, optional
        The number of groups of the first key to keep: those with the largest first figure. The others are added up in
        a row "Others (37)", which has no id.
    payments : DataFrame, optional
        From `payments`, for figures of cash, such as "collected_amount".
    settings : FirmSettings, optional
    **frames : frame
        The frames of the analyses by name: `time_entries`, `expenses`, `fixed_fees`, `invoices`, `matters`, `users`,
        `clients`; of any engine.

    Returns
    -------
    frame
        Of the same kind as the frames, sorted by label: the keys, and a column for each figure, float64 (dates are
        datetimes). With `compare`, each figure is followed by that of the other period and by the change, such as
        `billed_amount_previous` and `billed_amount_since_previous`. There are no rows of totals.

        Balances by month, quarter or year are those at the end of each, so they add up within a period only. A sum is
        0 in groups without records. `attrs["figures"]` has the analysis of each column, and `attrs["missing"]` the
        reason why a column or a part of it is missing.

    Raises
    ------
    ParameterError
        A figure, a key or a value of `where` is unknown, a name is of several figures, or no figure knows the keys;
        or a figure of cash has no payments, or none of a part of the period.
    MissingColumnError
        An analysis lacks a frame or a column.

    Warns
    -----
    BillframesWarning
        As the analyses warn, of each cause once.

    Examples
    --------
    >>> import pandas as pd
    >>> entries = pd.DataFrame({
    ...     "date": pd.to_datetime(["2026-10-01", "2026-10-02"]), "user_id": ["u1", "u2"], "user_name": ["Ada", "Ben"],
    ...     "matter_id": ["m1", "m1"], "hours": [2.0, 3.0], "billing_type": ["billable"] * 2, "amount": [600.0, 600.0],
    ...     "invoice_id": ["i1", None],
    ... })
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1"], "invoice_date": pd.to_datetime(["2026-10-05"]), "client_id": ["c1"],
    ...     "invoice_state": ["final"], "amount": [540.0], "balance": [0.0],
    ... })
    >>> matters = pd.DataFrame({"matter_id": ["m1"], "matter_type": ["hourly"]})
    >>> none = pd.DataFrame()
    >>> figures("billed_amount", "billing_realization", "wip", by="user", start="2026-10", time_entries=entries,
    ...         invoices=invoices, expenses=none, fixed_fees=none, matters=matters)
      user_id user_name  billed_amount  billing_realization  wip_amount
    0      u1       Ada          540.0                  0.9         0.0
    1      u2       Ben            0.0                  NaN       600.0
    """
    given = {name: frame for name, frame in frames.items() if frame is not None}
    for name in given:
        if name not in _FRAMES:
            raise ParameterError(
                f"figures takes no argument {name!r}.{closest(name, [*_FRAMES, 'where'])} Figures are named by "
                f"position, and frames are {', '.join(_FRAMES)}."
            )
    if not given:
        raise ParameterError("figures needs frames, such as time_entries= and invoices=; or call it on bf.book(...).")
    dated = {name: given[name] for name in _DATES if name in given}
    period = read_period(start, end, settings, *dated.values())
    zone = (settings or FirmSettings()).time_zone
    loaded = min((day for each in dated.values() if (day := load_day(each, zone)) is not None), default=None)

    def call(analysis: Analysis, **how: Any) -> Any:
        named = {name: frame for name, frame in given.items() if name in analysis.takes}
        lacking = [name for name in _needed(analysis) if name not in named]
        if lacking:
            raise ParameterError(f"{analysis.name} needs {' and '.join(f'{name}=' for name in lacking)}.")
        options = {**how, "settings": settings} | ({"payments": payments} if needs_payments(analysis) else {})
        return analysis.function(**named, **{name: each for name, each in options.items() if name in analysis.takes})

    day = None if as_of is None else read_date(as_of, "as_of")
    year = (settings and settings.fiscal_year) or CALENDAR_YEAR
    first = first_day(**dated)
    if first is None and (compare or period.start is None):
        # Before the first record nothing is known.
        days = (first_date(frame, _DATES[name]) for name, frame in dated.items())
        first = min((each for each in days if each is not None), default=None)
    source = Source(call, period, day, loaded, first, year, payment_days(names, payments))
    return figures_of(names, source, next(iter(given.values())), by=by, where=where, compare=compare, top=top)


def _needed(analysis: Analysis) -> list[str]:
    parameters = inspect.signature(analysis.function).parameters
    return [name for name in _FRAMES if name in parameters and parameters[name].default is inspect.Parameter.empty]
