"""Make an answer of a result: its rows with titles and units, its total, and what it means.

Money is rounded to the cent, ratios to four digits; dates are text, and what is missing is null, never 0. An answer has
at most `MOST_ROWS` rows and `MOST_CHARACTERS` characters. It says so if rows are left out; totals are of all rows.
There are no pages, because assistants repeat the first one or add them up.
"""

from __future__ import annotations

import datetime as dt
import functools
import json
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from billframes.analysis.data.distinct_names import DistinctNames
from billframes.analysis.declare.key_words import TIMES
from billframes.analysis.declare.lookup import analyses, measure
from billframes.analysis.declare.metrics import title_of_key
from billframes.analysis.declare.spec import Analysis
from billframes.analysis.results.explain import plain_words
from billframes.analysis.results.figure_names import Figure
from billframes.assistant.text_of_data import safe_text

MOST_ROWS, MOST_CHARACTERS = 100, 30_000

_DIGITS = {"ratio": 4, "points": 4, "multiple": 3, "days": 1}
_A_CENT = 0.01


def cell(value: Any, unit: str = "text") -> Any:
    """Return a value as JSON."""
    if pd.api.types.is_list_like(value):
        return safe_text(", ".join(map(str, value)))
    if value is None or pd.isna(value):
        return None
    if isinstance(value, dt.date):
        return value.isoformat()[:10]
    if isinstance(value, bool) or type(value).__name__ == "bool":
        return bool(value)
    if not isinstance(value, numbers.Real):
        return safe_text(str(value))
    number = round(float(value), 2 if unit == "text" else _DIGITS.get(unit, 2))
    return int(number) if number.is_integer() else number


def table(rows: pd.DataFrame, analysis: Analysis | None = None) -> dict[str, Any]:
    """
    Return the columns and the rows of a result, with the titles and units that its analysis declares.

    Those who share a name have the reference beside it.
    """
    rows = DistinctNames()(rows)
    found = {str(name): measure(str(name), analysis) for name in rows}
    units = {name: each.unit if each else "text" for name, each in found.items()}
    titles = {name: each.title if each else title_of_key(name) for name, each in found.items()}
    return {
        "columns": [{"name": name, "title": titles[name], "unit": units[name]} for name in found],
        "rows": [
            [cell(value, unit) for value, unit in zip(row, units.values(), strict=True)]
            for row in rows.itertuples(index=False)
        ],
    }


def rows_add_up(rows: pd.DataFrame, total: Mapping[str, Any], wanted: Iterable[Figure], by: Sequence[str]) -> list[str]:
    """
    Return the figures whose rows add up to the total.

    Ratios don't, and neither do balances at the ends of several periods, nor figures that are missing in a row.
    """
    by_time = not {*by}.isdisjoint(TIMES)
    sums = [
        each.column for each in wanted if each.measure.adds_up and not (by_time and "start" not in each.analysis.takes)
    ]
    known = [name for name in sums if rows[name].notna().all() and total.get(name) is not None]
    return [name for name in known if abs(rows[name].sum() - total[name]) < _A_CENT]


def definitions(declared: Iterable[Analysis]) -> dict[str, Any]:
    """Return what analyses calculate, leave out, and can't tell, in the words that readers of a page see."""
    return {each.name: _definition(each.name) for each in declared}


@functools.cache
def _definition(name: str) -> dict[str, Any]:
    of = analyses()[name]
    texts = {"counted": [of.numerator], "divided_by": [of.denominator], "left_out": of.left_out}
    texts |= {"cannot_tell": of.cannot_tell}
    plain = {key: [words for text in each if (words := plain_words(text, of))] for key, each in texts.items()}
    return {"formula": of.formula} | {key: each for key, each in plain.items() if each}


def as_text(answer: Mapping[str, Any]) -> str:
    """Return an answer as compact JSON."""
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))


def fit(answer: dict[str, Any]) -> dict[str, Any]:
    """
    Shorten an answer to `MOST_CHARACTERS`: first its definitions, which `explain` has, then the last rows.

    It says what was left out. Totals stay those of all rows.
    """
    if len(as_text(answer)) <= MOST_CHARACTERS:
        return answer
    answer = dict(answer)
    if answer.get("definitions"):
        answer["definitions"] = "Left out, because the answer is long: ask `explain` for each analysis."
    rows = answer.get("rows", [])
    all_rows = len(rows)
    while rows and len(as_text(answer)) > MOST_CHARACTERS:
        rows = rows[: len(rows) * 9 // 10]
        left_out = f"The last {all_rows - len(rows)} of {all_rows} rows, because the answer is long. Ask for fewer."
        answer |= {"rows": rows, "rows_left_out": left_out} | ({"rows_add_up": []} if "rows_add_up" in answer else {})
    return answer
