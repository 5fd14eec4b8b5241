"""Check the firm's rules for an answer: sentences on what they find, with the figures and limits.

The sentences are made from the frames of the assistant's book, so they have its pseudonyms.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any, cast

from billframes.analysis.declare.metrics import title_of_key
from billframes.analysis.results.figure_names import find_figure
from billframes.assistant.answers import MOST_ROWS, cell
from billframes.assistant.text_of_data import safe_text
from billframes.book import Book
from billframes.config.firm import FirmSettings
from billframes.config.watch import Rule
from billframes.report import rules
from billframes.watch.look import look_at
from billframes.watch.state import declared

_COLUMNS = ("text", "key", "value", "rule", "by", "is", "limit")
_LONGEST = 500


def found_by_rules(
    book: Book, why_left_out: Callable[[str], str], *, narratives: bool
) -> tuple[dict[str, Any], list[str]]:
    """Check the firm's rules, its floor and target, and the report's rules of a figure by a key; name the analyses."""
    settings, day = book.settings or FirmSettings(), cast("dt.date", book.loaded_on("time_entries", "invoices"))
    if not narratives:
        # The sentences on fixed fees have their descriptions.
        book.fixed_fees = book.fixed_fees.assign(description=book.fixed_fees["fixed_fee_id"].astype("str"))
    own = [*settings.watch, rules.floor_of(settings), rules.target_of(settings), rules.CONCENTRATION]
    watched = [each for each in dict.fromkeys(own) if isinstance(each, Rule)]
    unchecked = {each: said for each in watched if (said := why_left_out(each.by))}
    figures = {each.figure: find_figure(each.figure) for each in watched if each.figure}
    seen = look_at(book, [each for each in watched if each not in unchecked], day)
    rows = [
        [
            safe_text(each.text, _LONGEST),
            cell(each.key),
            cell(each.value, figures[each.rule.figure].measure.unit if each.rule.figure else "ratio"),
            *(each.rule.rule or each.rule.figure, each.rule.by, each.rule.how, each.rule.limit),
        ]
        for each in seen.holding
    ]
    answer = {
        "columns": [{"name": name, "title": title_of_key(name), "unit": "text"} for name in _COLUMNS],
        "rows": rows[:MOST_ROWS],
        "rows_in_all": len(rows),
        "rules": [declared(each) for each in watched],
        "unchecked": [
            {"rule": declared(each), "text": safe_text(text, _LONGEST)}
            for each, text in (unchecked | seen.unchecked).items()
        ],
    }
    return answer, list(dict.fromkeys(each.analysis.name for each in figures.values()))
