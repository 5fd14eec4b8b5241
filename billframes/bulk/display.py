"""Show a plan as HTML in a notebook and as text in a terminal, and sum up its outcomes.

A plan is shown with its counts first, then its notes, the cells that will change, and those that are not sent. All
text from the data is escaped.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice, takewhile

import pandas as pd

from billframes._shared.messages import clean_text, cut
from billframes.bulk.cells import text_of_cell
from billframes.bulk.changes import NOT_SENT, CellChange, Change, count_changes
from billframes.schema.resources import Resource

# Rows shown of each table; `plan.frame` has them all.
_MOST_ROWS = 200
_MOST_ROWS_IN_TEXT = 40
_WIDEST = 60
_ACTION_WORDS = {"update": "updated", "create": "created", "delete": "deleted"}
_STYLE = (
    "<style>.bf-plan table{border-collapse:collapse;font-size:13px;margin:4px 0 12px}"
    ".bf-plan td,.bf-plan th{border:1px solid #c9c9c9;padding:3px 8px;text-align:left;vertical-align:top;"
    "white-space:pre-wrap;overflow-wrap:break-word;max-width:36em}"
    ".bf-plan caption{caption-side:top;text-align:left;font-weight:600;padding:4px 0;color:inherit}"
    ".bf-plan .bf-before{color:#8a1c1c}.bf-plan .bf-after{color:#14532d}"
    '[data-jp-theme-light="false"] .bf-plan .bf-before{color:#f3a5a5}'
    '[data-jp-theme-light="false"] .bf-plan .bf-after{color:#9adfb0}</style>'
)


def headline(resource: Resource, changes: Sequence[Change]) -> str:
    """Sum up a plan, such as "3 time entries will be updated; 2 are not sent (2 billed)"."""
    counts = count_changes(changes)
    parts = ["Nothing will be sent"]
    sent = [(counts[action], word) for action, word in _ACTION_WORDS.items() if counts[action]]
    if sent:
        (number, word), *others = sent
        noun = resource.noun if number == 1 else resource.nouns
        parts = [", ".join([f"{number:,} {noun} will be {word}", *(f"{more:,} {word}" for more, word in others)])]
    not_sent = {status: counts[status] for status in NOT_SENT if counts[status]}
    if not_sent:
        total = sum(not_sent.values())
        named = ", ".join(f"{number:,} {status}" for status, number in not_sent.items())
        parts.append(f"{total:,} {'is' if total == 1 else 'are'} not sent ({named})")
    unchanged = counts["no change"]
    if unchanged:
        parts.append(f"{unchanged:,} {'has' if unchanged == 1 else 'have'} no change")
    return f"{'; '.join(parts)}."


def _cells(changes: Sequence[Change], *, sent: bool) -> Iterator[tuple[Change, CellChange]]:
    """Yield the cells that are sent, or those that are not; a deletion counts as one cell."""
    for change in changes:
        if change.action == "delete" or (change.status and change.status != "no change"):
            if change.is_sent is sent:
                yield change, CellChange("", None, None, change.status, change.reason)
        else:
            yield from ((change, cell) for cell in change.cells if (cell.status == "will change") is sent)


def _record_label(change: Change, first_row: int = 1) -> str:
    if change.action == "create":
        return "new" if change.place is None else f"new (row {change.place + first_row:,})"
    known = (change.current.get(name) for name in ("date", "matter_name", "name"))
    parts = [_short(value) for value in known if value is not None]
    return " · ".join([*(["delete"] if change.action == "delete" else []), *parts, str(change.id)])


def _cell_text(value: object) -> str:
    text = text_of_cell(value)
    return "–" if text is None else text


def as_text(resource: Resource, changes: Sequence[Change], notes: Sequence[str], first_row: int = 1) -> str:
    """Return a plan as text; `first_row` is the number that the edited file shows for its first record."""
    lines = [headline(resource, changes), *notes]
    for title, sent in (("Will change:", True), ("Not sent:", False)):
        rows = list(islice(_cells(changes, sent=sent), _MOST_ROWS_IN_TEXT + 1))
        if rows:
            lines += ["", title, *(_line(*row, first_row) for row in rows[:_MOST_ROWS_IN_TEXT])]
            if len(rows) > _MOST_ROWS_IN_TEXT:
                lines.append("  … the rest is in plan.frame")
    return clean_text("\n".join(lines))


def _line(change: Change, cell: CellChange, first_row: int) -> str:
    line = f"  {_record_label(change, first_row)}"
    if cell.column:
        line += f"  {cell.column}: {' → '.join(_both_short(cell))}"
    if cell.status != "will change":
        line += f"  [{cell.status}{f': {cell.reason}' if cell.reason else ''}]"
    return line


def _short(value: object) -> str:
    return cut(_in_one_line(value), _WIDEST)


def _both_short(cell: CellChange) -> list[str]:
    """Return the texts before and after; of long ones, from just before their first difference if it is far."""
    texts = [_in_one_line(cell.before), _in_one_line(cell.after)]
    same = takewhile(lambda pair: pair[0] == pair[1], zip(*texts, strict=False))
    start = len([*same]) - _WIDEST // 3
    far = start > _WIDEST // 3 and max(map(len, texts)) > _WIDEST
    return [cut(f"…{text[start:]}" if far else text, _WIDEST) for text in texts]


def _in_one_line(value: object) -> str:
    return " ".join(_cell_text(value).split())


def as_html(resource: Resource, changes: Sequence[Change], notes: Sequence[str]) -> str:
    """Return a plan as HTML."""
    listed = "".join(f"<li>{_escaped(note)}</li>" for note in notes)
    parts = [f'{_STYLE}<div class="bf-plan"><p><strong>{_escaped(headline(resource, changes))}</strong></p>']
    parts.append(f"<ul>{listed}</ul>" if listed else "")
    parts.append(_table("Will change", _cells(changes, sent=True), ("record", "column", "before", "after")))
    not_sent = _cells(changes, sent=False)
    parts.append(_table("Not sent", not_sent, ("record", "column", "before", "after", "status", "reason")))
    return "".join([*parts, "</div>"])


def _table(caption: str, rows: Iterator[tuple[Change, CellChange]], names: Sequence[str]) -> str:
    first = list(islice(rows, _MOST_ROWS))
    if not first:
        return ""
    statuses = Counter(cell.status for _, cell in chain(first, rows))
    total = statuses.total()
    heads = "".join(f'<th scope="col">{name}</th>' for name in names)
    body = "".join(_row(change, cell, len(names)) for change, cell in first)
    left = f"<p>{total - _MOST_ROWS:,} more are in <code>plan.frame</code>.</p>" if total > _MOST_ROWS else ""
    counts = "" if len(statuses) < 2 else f" ({', '.join(f'{number:,} {name}' for name, number in statuses.items())})"
    return (
        f"<table><caption>{caption}: {total:,}{_escaped(counts)}</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{body}</tbody></table>{left}"
    )


def _row(change: Change, cell: CellChange, number: int) -> str:
    cells = [
        ("", _record_label(change)),
        ("", cell.column or "–"),
        ("bf-before", _cell_text(cell.before)),
        ("bf-after", _cell_text(cell.after)),
        ("", cell.status),
        ("", cell.reason),
    ]
    return "<tr>" + "".join(f'<td class="{name}">{_escaped(text)}</td>' for name, text in cells[:number]) + "</tr>"


def _escaped(words: object) -> str:
    """Escape a text, and keep Jupyter from reading dollar signs as a formula."""
    return f'<span class="mathjax_ignore tex2jax_ignore">{html.escape(clean_text(str(words)))}</span>'


def outcome_counts(outcomes: pd.DataFrame) -> str:
    """Return how many changes have each outcome, such as "12 done, 1 billed"."""
    return ", ".join(f"{number:,} {name}" for name, number in outcomes["outcome"].value_counts().items() if number)


def changes_not_made(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Return the changes that were not made, to be read by people: id, columns, outcome and reason, all as text."""
    wrong = outcomes.loc[outcomes["outcome"] != "done", ["id", "columns", "outcome", "reason"]]
    return wrong.astype({"outcome": str}).fillna({"id": "new", "reason": ""})
