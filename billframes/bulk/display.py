"""Show a plan as HTML in a notebook and as text in a terminal, and sum up its outcomes.

A plan is shown with its counts first, then its notes, the cells that will change, and those that are not sent. All
text from the data is escaped.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice

import pandas as pd

from billframes._messages import plain
from billframes.bulk.cells import text_of_cell
from billframes.bulk.changes import HELD, Cell, Change, Changes
from billframes.schema.resources import Resource

__all__ = ["as_html", "as_text", "headline", "not_done", "summed_up"]

# Rows shown of each table; `plan.frame` has them all.
_MOST = 200
_MOST_IN_TEXT = 40
_WIDEST = 60
_DONE = {"update": "updated", "create": "created", "delete": "deleted"}
_STYLE = (
    "<style>.bf-plan table{border-collapse:collapse;font-size:13px;margin:4px 0 12px}"
    ".bf-plan td,.bf-plan th{border:1px solid #c9c9c9;padding:3px 8px;text-align:left;vertical-align:top;"
    "white-space:pre-wrap;overflow-wrap:break-word;max-width:36em}"
    ".bf-plan caption{caption-side:top;text-align:left;font-weight:600;padding:4px 0;color:inherit}"
    ".bf-plan .bf-before{color:#8a1c1c}.bf-plan .bf-after{color:#14532d}"
    '[data-jp-theme-light="false"] .bf-plan .bf-before{color:#f3a5a5}'
    '[data-jp-theme-light="false"] .bf-plan .bf-after{color:#9adfb0}</style>'
)


def headline(resource: Resource, changes: Changes) -> str:
    """
    Return what a plan's changes do, in one sentence.

    Such as "3 time entries will be updated, 1 created; 2 cells are not sent (2 billed)."
    """
    noun, nouns = resource.noun, resource.name.replace("_", " ")
    counts = changes.counts
    done = [(counts[action], words) for action, words in _DONE.items() if counts[action]]
    if not done:
        first = "Nothing will be sent"
    else:
        number = done[0][0]
        first = f"{number:,} {noun if number == 1 else nouns} will be {done[0][1]}"
        first += "".join(f", {more:,} {words}" for more, words in done[1:])
    held = {name: counts[name] for name in HELD if counts[name]}
    if held:
        total = sum(held.values())
        named = ", ".join(f"{number:,} {name}" for name, number in held.items())
        first += f"; {total:,} {'is' if total == 1 else 'are'} not sent ({named})"
    unchanged = counts["no change"]
    if unchanged:
        first += f"; {unchanged:,} {'has' if unchanged == 1 else 'have'} no change"
    return f"{first}."


def _cells(changes: Changes, *, sent: bool) -> Iterator[tuple[Change, Cell]]:
    """Yield the cells that are sent, or those that are not; a deletion counts as one."""
    for change in changes:
        if change.action == "delete" or (change.status and change.status != "no change"):
            if change.is_sent is sent:
                yield change, Cell("", None, None, change.status, change.reason)
        else:
            yield from ((change, cell) for cell in change.cells if (cell.status == "will change") is sent)


def _record(change: Change, first_row: int = 1) -> str:
    if change.action == "create":
        return "new" if change.place is None else f"new (row {change.place + first_row:,})"
    known = (change.present.get(name) for name in ("date", "matter_name", "name"))
    said = [_short(value) for value in known if value is not None]
    return " · ".join([*(["delete"] if change.action == "delete" else []), *said, str(change.id)])


def _shown(value: object) -> str:
    text = text_of_cell(value)
    return "–" if text is None else text


def as_text(resource: Resource, changes: Changes, notes: Sequence[str], first_row: int = 1) -> str:
    """Return a plan as text; `first_row` is the number that the edited file shows for its first record."""
    lines = [headline(resource, changes), *notes]
    for title, sent in (("Will change:", True), ("Not sent:", False)):
        rows = list(islice(_cells(changes, sent=sent), _MOST_IN_TEXT + 1))
        if rows:
            lines += ["", title, *(_line(*row, first_row) for row in rows[:_MOST_IN_TEXT])]
            if len(rows) > _MOST_IN_TEXT:
                lines.append("  … the rest is in plan.frame")
    return plain("\n".join(lines))


def _line(change: Change, cell: Cell, first_row: int) -> str:
    said = f"  {_record(change, first_row)}"
    if cell.column:
        said += f"  {cell.column}: {_short(cell.before)} → {_short(cell.after)}"
    if cell.status != "will change":
        said += f"  [{cell.status}{f': {cell.reason}' if cell.reason else ''}]"
    return said


def _short(value: object) -> str:
    text = " ".join(_shown(value).split())
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


def as_html(resource: Resource, changes: Changes, notes: Sequence[str]) -> str:
    """Return a plan as HTML."""
    listed = "".join(f"<li>{_text(note)}</li>" for note in notes)
    parts = [f'{_STYLE}<div class="bf-plan"><p><strong>{_text(headline(resource, changes))}</strong></p>']
    parts.append(f"<ul>{listed}</ul>" if listed else "")
    parts.append(_table("Will change", _cells(changes, sent=True), ("record", "column", "before", "after")))
    held = _cells(changes, sent=False)
    parts.append(_table("Not sent", held, ("record", "column", "before", "after", "status", "reason")))
    return "".join([*parts, "</div>"])


def _table(caption: str, rows: Iterator[tuple[Change, Cell]], names: Sequence[str]) -> str:
    first = list(islice(rows, _MOST))
    if not first:
        return ""
    statuses = Counter(cell.status for _, cell in chain(first, rows))
    total = statuses.total()
    heads = "".join(f'<th scope="col">{name}</th>' for name in names)
    body = "".join(_row(change, cell, len(names)) for change, cell in first)
    left = f"<p>{total - _MOST:,} more are in <code>plan.frame</code>.</p>" if total > _MOST else ""
    counts = "" if len(statuses) < 2 else f" ({', '.join(f'{number:,} {name}' for name, number in statuses.items())})"
    return (
        f"<table><caption>{caption}: {total:,}{_text(counts)}</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{body}</tbody></table>{left}"
    )


def _row(change: Change, cell: Cell, number: int) -> str:
    cells = [
        ("", _record(change)),
        ("", cell.column or "–"),
        ("bf-before", _shown(cell.before)),
        ("bf-after", _shown(cell.after)),
        ("", cell.status),
        ("", cell.reason),
    ]
    return "<tr>" + "".join(f'<td class="{name}">{_text(text)}</td>' for name, text in cells[:number]) + "</tr>"


def _text(words: object) -> str:
    """Escape a text, and keep Jupyter from reading dollar signs as a formula."""
    return f'<span class="mathjax_ignore tex2jax_ignore">{html.escape(plain(str(words)))}</span>'


def summed_up(outcomes: pd.DataFrame) -> str:
    """Return how many changes have each outcome, such as "12 done, 1 billed"."""
    return ", ".join(f"{number:,} {name}" for name, number in outcomes["outcome"].value_counts().items() if number)


def not_done(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Return the changes that were not made, to be read by people: id, columns, outcome and reason, all as text."""
    wrong = outcomes.loc[outcomes["outcome"] != "done", ["id", "columns", "outcome", "reason"]]
    return wrong.astype({"outcome": str}).fillna({"id": "new", "reason": ""})
