"""The questions that an assistant can ask. Each answer is the library's own, with what it means beside it.

A tool is a method; its docstring is the description that the model reads, and the types of its arguments make their
schema. Names of figures, analyses and keys are looked up in the declarations, so a new analysis needs no change here.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal

import pandas as pd
from msgspec import Meta

from billframes._shared.find_named import similar_names
from billframes._shared.names import closest, first_few
from billframes.analysis.declare.columns import IDS
from billframes.analysis.declare.glossary import term
from billframes.analysis.declare.key_words import PEOPLE_AND_MATTERS, SHORT_NAMES, TIMES
from billframes.analysis.declare.lookup import analyses, measure as find_measure
from billframes.analysis.declare.metrics import Measure
from billframes.analysis.keys.by import names_in
from billframes.analysis.results.explain import explain as explain_word
from billframes.analysis.results.figure_names import FIGURES, figure_names, find_figure, find_figures, name_to_write
from billframes.analysis.results.figures_side_by_side import MISSING, TOTAL
from billframes.analysis.results.result_rows import total_of
from billframes.assistant.answers import MOST_ROWS, cell, definitions, rows_add_up, table
from billframes.assistant.books import from_books
from billframes.assistant.source import Source
from billframes.book import Book
from billframes.book.records import by_invoice, shown_columns, with_details
from billframes.errors import ParameterError

TOOLS = ("about", "explain", "values", "figures", "records", "analysis")
CREDITS = "credits"
"""The tool that only a server with `--credits` has, because whose the fees are is a firm's most private figure."""

STANDS_OUT = "stands_out"
"""The tool that only an installation with the watch has."""

_NARRATIVES = frozenset({"description", "narrative", "notes", "memo", "text", "comment"})
_CONTACTS = ("contact_", "email", "phone")
_UNKNOWN_CURRENCY = "the firm's currency, which the billing system does not name"
_OWNERS = re.compile("^(client|matter|user)_")

Names = Annotated[list[str], Meta(min_length=1, max_length=12)]
By = list[str] | str | None
Where = dict[str, str | float | bool | list[str | float | bool | None] | None] | None
Top = Annotated[int, Meta(ge=1, description=f"at most {MOST_ROWS} rows")]

Day = Annotated[str | None, Meta(description="the data as they were on a day, for balances of the past; mirror only")]


class Tools:
    """The questions, and the data that answer them."""

    def __init__(self, source: Source, *, narratives: bool) -> None:
        self._source, self._narratives = source, narratives

    def about(self) -> dict[str, Any]:
        """Say what data there are: their day and age, the dates of the work, and the keys to group and filter by."""
        book = self._source.book()
        entries, currency = book.time_entries["date"], book.settings.currency if book.settings else ""
        frames = {name: getattr(book, f"{name}s") for name in ("client", "matter", "user")}
        fields = [f"{name}_{each}" for name, frame in frames.items() for each in frame if each.startswith("cf_")]
        return {
            "work_dated": [cell(entries.min()), cell(entries.max())],
            "keys": list(SHORT_NAMES),
            "custom_fields": fields,
            "money": f"Amounts are in {currency or _UNKNOWN_CURRENCY}.",
            "narratives": self._narratives,
            **self._source.provenance(book),
        }

    def explain(self, name: str = "", search: str = "") -> dict[str, Any]:
        """
        Explain a figure, an analysis or a special word.

        Without a name, list all figures and analyses, or those with the words of `search`.
        """
        if not name or name == "figures":
            return _list_all(search)
        if name in analyses():
            of = analyses()[name]
            columns = [f"{each.name} ({each.unit}): {each.title}. {each.meaning}" for each in of.columns]
            own = {"name": name, "question": of.question, "summary": of.summary, "columns": columns}
            return own | {"definitions": definitions([of])}
        try:
            figure = find_figure(name)
        except ParameterError:
            return {"name": name, "text": repr(explain_word(name))}
        found = find_measure(figure.column) or figure.measure
        own = {"name": name_to_write(figure.column), "title": found.title, "unit": found.unit, "meaning": found.meaning}
        ratio = " or ".join(f"{part} ÷ {whole}" for part, whole in figure.measure.ratios)
        own |= {"ratio": ratio} if ratio else {}
        return own | {"analysis": figure.analysis.name, "definitions": definitions([figure.analysis])}

    def values(self, key: str, search: str = "", top: Top = 20) -> dict[str, Any]:
        """List the exact values of a key, for `where`: client, matter, user, practice_area, a custom field."""
        found = _values(self._source.book(), key)
        if search:
            hits = found[found.columns[-1]].astype(str).str.casefold().str.contains(search.casefold(), regex=False)
            if not hits.any():
                hint = similar_names(search, [*map(str, found[found.columns[-1]])])
                raise ParameterError(
                    f"None of the {len(found)} values of {key!r} contains {search!r}.{hint} Leave "
                    "search empty to list them."
                )
            found = found[hits]
        return {"found": len(found)} | table(found.head(min(top, MOST_ROWS)))

    def figures(
        self,
        measures: Names,
        period: str,
        by: By = None,
        where: Where = None,
        compare: Literal["previous", "year_ago"] | None = None,
        top: Top = 25,
        data_of: Day = None,
    ) -> dict[str, Any]:
        """
        Calculate figures side by side, by the same keys, with their total and definitions.

        period: "2026-10", "2026-Q3", "2026", "2026-01-01 to 2026-09-30", "last month". by: client, user,
        practice_area, responsible, month, client_cf_industry. where: {"practice_area": "Litigation"}; a list is any of
        them, null is without one. The `top` groups by the first figure are shown, and one row adds up the others.
        """
        book, keys, wanted = self._source.book(period, data_of), names_in(by), find_figures(measures)
        grouped = any(key not in TIMES for key in keys)
        most = min(top, MOST_ROWS) if grouped else None
        self._check_keys(book, keys, where)
        of_cash = [each.analysis for each in wanted if each.analysis.needs_payments]
        payments = from_books(of_cash[0], book, self._source) if of_cash else {}
        rows = book.figures(*measures, by=keys or None, where=where, compare=compare, top=most, **payments)
        if len(rows) > MOST_ROWS + 1:
            raise ParameterError(
                f"That is {len(rows)} rows, and an answer has {MOST_ROWS}. Use fewer keys or a smaller top."
            )
        total = rows.attrs[TOTAL]
        return {
            **table(rows),
            "total": {name: cell(value, _unit(find_measure(name))) for name, value in total.items()},
            "rows_add_up": rows_add_up(rows, total, wanted, keys) if len(rows) > 1 else [],
            "missing": rows.attrs[MISSING],
            "from": rows.attrs[FIGURES],
            **self._meaning(book, dict.fromkeys(rows.attrs[FIGURES].values())),
        }

    def records(
        self, measure: str, period: str, where: Where = None, top: Top = 20, data_of: Day = None
    ) -> dict[str, Any]:
        """List the records behind a figure, such as invoices or entries, the largest first; the total is of all."""
        figure, book = find_figure(measure), self._source.book(period, data_of)
        self._check_keys(book, [], where)
        of, name = figure.analysis, figure.column
        payments = from_books(of, book, self._source) if of.needs_payments else {}
        rows = book.rows(measure, where=where, **payments)
        rows = by_invoice(rows, [name]) if of.records == "invoice" else rows
        rows = rows.sort_values(name, key=abs, ascending=False, kind="stable", ignore_index=True)
        listed = with_details(rows.head(min(top, MOST_ROWS)), partial(getattr, book), [name])
        ids = [each for each in IDS.values() if each in listed and listed[each].notna().any()]
        shown = self._shown(shown_columns(listed, [replace(figure.measure, name=name)]))
        return {
            **table(listed[list(dict.fromkeys([*ids, *shown]))]),
            "counted": len(rows),
            "total": cell(rows[name].sum(skipna=False), figure.measure.unit),
            **self._meaning(book, [of.name]),
        }

    def analysis(
        self,
        name: str,
        period: str,
        by: By = None,
        measure: str | None = None,
        top: Top = 25,
        data_of: Day = None,
    ) -> dict[str, Any]:
        """
        Run one analysis, such as stale, missing_time, overdue_invoices, prebill_review; `explain` lists them.

        measure: only for bridge (why did it change?) and compare.
        """
        if name not in analyses():
            raise ParameterError(f"There is no analysis {name!r}.{closest(name, analyses())} `explain` lists them.")
        of, book = analyses()[name], self._source.book(period, data_of)
        takes = inspect.signature(getattr(type(book), name)).parameters
        given: dict[str, Any] = {"by": names_in(by) or None, "measure": measure}
        given = {key: each[0] if key == "by" and len(each) == 1 else each for key, each in given.items() if each}
        for key in given:
            if key not in takes:
                raise ParameterError(f"{name} takes no {key}: leave it out.")
        self._check_keys(book, names_in(by), None)
        given |= from_books(of, book, self._source)
        # A report of what is open has the clients' own names.
        of_books = of.book.first == "ledger"
        result: pd.DataFrame = getattr(self._source.unchanged(book) if of_books else book, name)(**given)
        result = self._source.changed(name, result) if of_books else result
        order = of.tab.order if of.tab and not {*names_in(by)} & {*TIMES} else ""
        if order in result and "by" in takes:
            result = result.sort_values(order, ascending=False, kind="stable", na_position="last")
        shown = result[self._shown(result.columns)]
        # Rows of some lists overlap, such as cash by one day and by a later one: their tables have no total either.
        adds_up = of.table is not None and of.table.adds_up and len(result) > 0
        totals = total_of(result.select_dtypes("number")) if adds_up else {}
        return {
            **table(shown.head(min(top, MOST_ROWS)), of),
            "rows_in_all": len(result),
            "total": {key: cell(each, _unit(find_measure(key, of))) for key, each in totals.items() if pd.notna(each)},
            **self._meaning(book, [name]),
        }

    def credits(
        self,
        period: str,
        by: Literal["user", "role", "matter"] = "user",
        compare: dict[str, float] | None = None,
        base: Literal["billed", "collected"] | None = None,
        top: Top = 50,
        data_of: Day = None,
    ) -> dict[str, Any]:
        """
        Say whose the fees of a period are by the firm's rule for credits, and what other shares would change.

        What is nobody's comes first. compare: other shares, such as {"originating": 0.15}; the others stay.
        """
        # A server without the wing has no such tool.
        from billframes.credits.rules import describe_rule, read_rule, with_shares

        book = self._source.book(period, data_of)
        rule = read_rule(book.settings.credits if book.settings else None, "rule")
        other = with_shares(rule, compare) if compare else None
        cash = analyses()["fees_collected" if (base or rule.base) == "collected" else "contribution"]
        payments = from_books(cash, book, self._source)
        rows = book.credits(rule=rule, compare=other, base=base, by=by, **payments)
        totals = rows.filter(like="_amount").drop(columns="base_amount").sum()
        rows["rate"] = rows["rate"].mul(100).round(2)
        return {
            **table(rows.rename(columns={"rate": "rate_percent"}).head(min(top, MOST_ROWS))),
            "rows_in_all": len(rows),
            "total": {name: cell(each) for name, each in totals.items()},
            "fees": rows.attrs["credits"],
            "rules": [describe_rule(each) for each in (rule, other) if each],
            **self._meaning(book, [cash.name]),
        }

    def stands_out(self) -> dict[str, Any]:
        """Say what stands out on the day of the data by the firm's own rules and limits, in sentences."""
        # An installation without the wing has no such tool.
        from billframes.assistant.standing_out import found_by_rules

        book = self._source.book()
        found, names = found_by_rules(book, self._why_left_out, narratives=self._narratives)
        return found | self._meaning(book, names)

    def _shown(self, columns: Any) -> list[str]:
        """Return the columns that an answer may have: no contacts, and no narratives unless they were asked for."""
        return [str(each) for each in columns if not self._why_left_out(str(each))]

    def _why_left_out(self, column: str) -> str:
        plain = _OWNERS.sub("", column)
        if plain.startswith(_CONTACTS):
            return "contacts and e-mail addresses are left out of answers."
        if self._narratives or plain not in _NARRATIVES:
            return ""
        return "narratives are left out of answers, unless the server is started with --narratives."

    def _check_keys(self, book: Book, by: list[str], where: Where) -> None:
        """
        Refuse keys whose values may not be in answers, periods as values, and a name that several have.

        Other keys and values are checked by the library.
        """
        for key in [*by, *(where or {})]:
            if said := self._why_left_out(key):
                raise ParameterError(f"{key!r}: {said}")
        for key, given in (where or {}).items():
            if key in (*TIMES, *PEOPLE_AND_MATTERS):
                _refuse_twins(_values(book, key), key, given if isinstance(given, list) else [given])

    def _meaning(self, book: Book, names: Any) -> dict[str, Any]:
        return {
            "provenance": self._source.provenance(book),
            "definitions": definitions(analyses()[each] for each in names),
        }


def _unit(found: Measure | None) -> str:
    return found.unit if found else "text"


def _refuse_twins(known: pd.DataFrame, key: str, given: list[Any]) -> None:
    """Refuse a name that several have, also if only one of them has records in the period."""
    for value in given:
        ids = known.loc[known[known.columns[-1]] == value, known.columns[0]].drop_duplicates()
        if len(ids) > 1:
            raise ParameterError(
                f"{len(ids)} values of {key!r} are called {value!r}. Give one of the ids: {first_few([*ids])}."
            )


def _list_all(search: str) -> dict[str, Any]:
    """Return all figures and analyses, each in one line, or those that have the words."""
    words = search.casefold().split()
    lines = {
        name_to_write(each.column): f"{found.title}, {found.unit}: {found.meaning}"
        for each in figure_names().values()
        if (found := find_measure(each.column))
    }
    questions = {name: each.question for name, each in analyses().items()}
    hits = [
        {name: text for name, text in every.items() if all(word in f"{name} {text}".casefold() for word in words)}
        for every in (lines, questions)
    ]
    if not any(hits) and (word := term(search)):
        return {"name": search, "text": repr(word)}
    if not any(hits):
        hint = closest(search, [*lines, *questions], many=True)
        raise ParameterError(
            f"No figure and no analysis has the words {search!r}.{hint} Leave search empty to list all of them."
        )
    return {"figures": hits[0], "analyses": hits[1]}


def _values(book: Book, key: str) -> pd.DataFrame:
    """Return the values of a key, with their ids if they have any."""
    if key in TIMES:
        raise ParameterError(f'{key!r} is chosen by the period, such as "2026-10" or "2026-Q3".')
    if key in ("client", "matter", "user"):
        frame: pd.DataFrame = getattr(book, f"{key}s")
        more = [each for each in ("client_name",) if each in frame]
        return frame[[f"{key}_id", *more, "name"]].sort_values("name", ignore_index=True)
    if key == "originator":
        pairs = book.matters[["originator_ids", "originator_names"]].explode(["originator_ids", "originator_names"])
        pairs = pairs.set_axis(PEOPLE_AND_MATTERS[key], axis="columns")
        return _distinct(pairs)
    if key in PEOPLE_AND_MATTERS:
        return _distinct(book.matters[[*PEOPLE_AND_MATTERS[key]]])
    fields = {"matter_type": (book.matters, "matter_type"), "role": (book.users, "role")}
    for start, frame in (("client_", book.clients), ("matter_", book.matters), ("user_", book.users)):
        names = [str(each) for each in frame if str(each).startswith("cf_")]
        fields |= {f"{start}{each}": (frame, each) for each in names}
    if key not in fields:
        ends = [name for name in fields if name.endswith(f"_{key}")]
        hint = f" Write {' or '.join(ends)}." if ends else closest(key, [*SHORT_NAMES, *fields])
        raise ParameterError(f"There are no values of {key!r}.{hint} `about` lists the keys.")
    frame, column = fields[key]
    return _distinct(frame[[column]])


def _distinct(values: pd.DataFrame) -> pd.DataFrame:
    return values.dropna().drop_duplicates().sort_values(str(values.columns[-1]), ignore_index=True)
