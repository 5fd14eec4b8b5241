"""Notes: what an analysis saw in its frames that can make a figure wrong or missing.

A `Rule` declares the sentence of a kind of note: what was seen and how much, what may have caused it, and what to do
about it, which depends on the reader. `Notes` collects the notes of one call, so that each cause is said once, however
many analyses meet it. They are given as warnings, and kept with the result as data.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal

from billframes._shared.format import format_rounded, long_date
from billframes._shared.messages import warn
from billframes.errors import IncompleteDataWarning

NOTES = "notes"
"""The name under which a result keeps its notes."""

FACTS = "facts"
"""The name under which a result keeps its facts, such as which part of a load it is from."""

Reader = Literal["function", "book", "page"]
"""Who reads a note: who passed frames to a function, the user of a book, or a partner who reads a page."""

_SUBJECTS = {"wip": "Work in progress", "aging": "Receivables", "stale": "Open items"}
# A name of a column or argument; an argument before its value.
_NAME, _ARGUMENT = re.compile(r"`(\w+)`=?"), re.compile(r"`\w+`=(?=[\w'])")


class Count(int):
    """A number that chooses the form of a word: "{n} {n:entry|entries}" becomes "1 entry" or "1,200 entries"."""

    def __format__(self, form: str) -> str:
        one, _, several = form.partition("|")
        return (one if self == 1 else several) if several else format(int(self), form or ",")

    @classmethod
    def of(cls, value: float) -> Count:
        """Return a number rounded to a whole one, a half away from 0."""
        return cls(format_rounded(value, "{:.0f}"))


class Amount(float):
    """A number whose halves are rounded away from 0, whichever engine added it up."""

    def __format__(self, form: str) -> str:
        if form.endswith("f") and math.isfinite(self):
            return format_rounded(self, f"{{:{form}}}")
        return format(float(self), form)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """
    The sentence of a kind of note.

    The texts take values by name: `{n}` is the amount as a whole number, which also chooses forms (see `Count`),
    `{amount}` the amount itself, `{subject}` the analysis or frame. Names of columns and arguments stand in backticks:
    pages show them in words, and values without the argument. Pages write days in words, too.

    Parameters
    ----------
    name : str
    seen : str
        What was seen, how much it is, and the consequence for the figures.
    causes : str
        What may have caused it, as possibilities.
    remedy : str
        What someone who passed frames to a function can do.
    page : str, optional
        What the reader of a page can do, in words without Python. It is omitted if only frames passed by hand give the
        note.
    book : str, optional
        What the user of a book can do. By default it is `page`, or else `remedy`.
    unit : str
        What the amount counts.
    is_fact : bool
        Whether it is a fact of the result, which is shown with it and never a warning.
    category : type of Warning
    """

    name: str
    seen: str
    causes: str = ""
    remedy: str = ""
    page: str = ""
    book: str = ""
    unit: str = "records"
    is_fact: bool = False
    category: type[Warning] = IncompleteDataWarning

    def remedy_for(self, reader: Reader) -> str:
        """Return what a reader can do, as a text with the names of values."""
        if self.is_fact:
            return ""
        if reader == "page":
            return self.page or "Ask whoever prepares these figures to check the records."
        return (reader == "book" and (self.book or self.page)) or self.remedy


@dataclass(frozen=True, slots=True)
class Note:
    """
    What was seen in the frames of one call.

    `subject` is the analysis whose figures it concerns, or the frame. `about` tells causes of the same rule apart, such
    as a column. `values` are the other values of the sentence.
    """

    rule: Rule
    subject: str
    amount: float
    about: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)

    def text(self, reader: Reader = "function") -> str:
        """Return the whole sentence for a reader."""
        return self._in_words(" ".join(filter(None, self._parts(reader))), reader)

    def data(self, reader: Reader = "function") -> dict[str, Any]:
        """Return the note as JSON values."""
        return {
            "rule": self.rule.name,
            "subject": self.subject,
            "about": self.about,
            "amount": self.amount,
            "unit": self.rule.unit,
            "remedy": self._in_words(self.rule.remedy_for(reader), reader),
            "text": self.text(reader),
            "plain": self.text("page"),
        }

    def _parts(self, reader: Reader) -> list[str]:
        return [self.rule.seen, self.rule.causes, self.rule.remedy_for(reader)]

    def _in_words(self, template: str, reader: Reader) -> str:
        values = {name: _rounded(each) for name, each in self.values.items()}
        values |= {"subject": self.subject, "n": Count.of(self.amount), "amount": Amount(self.amount)}
        values["passed"] = "passed" if reader == "function" else "loaded"
        if reader != "page":
            return template.format(**values).replace("`", "")
        values |= {name: long_date(each) for name, each in values.items() if isinstance(each, dt.date)}
        values["subject"] = _SUBJECTS.get(self.subject, self.subject.replace("_", " ").capitalize())
        text = _ARGUMENT.sub("", template.format(**values))
        text = _NAME.sub(lambda found: found[1].replace("_", " "), text)
        return text[:1].upper() + text[1:]


def _rounded(value: Any) -> Any:
    if isinstance(value, int):
        return Count(value)
    return Amount(value) if isinstance(value, float) else value


class Notes:
    """
    The notes of one call of the analysis `subject`, each cause once.

    The reader is by default that of the outer block of `collect_notes`.
    """

    def __init__(self, reader: Reader | None = None, subject: str = "") -> None:
        outer = _OUTER.get()
        self.reader: Reader = reader or (outer.reader if outer is not None else "function")
        self.subject = subject
        self._notes: dict[tuple[str, str], Note] = {}

    def __iter__(self) -> Iterator[Note]:
        return iter(self._notes.values())

    def add(self, rule: Rule, amount: float, subject: str = "", /, *, about: Any = "", **values: Any) -> None:
        """
        Add a note if the amount is not 0. Of several with one cause, the largest amount is kept.

        `subject` is the frame; by default the analysis that was called. `about` tells causes of the same rule apart.
        """
        if amount:
            self.merge([Note(rule, subject or self.subject, float(amount), str(about), values)])

    def merge(self, notes: Iterable[Note]) -> None:
        """Add notes of another call."""
        for each in notes:
            earlier = self._notes.setdefault((each.rule.name, each.about), each)
            if abs(each.amount) > abs(earlier.amount):
                self._notes[each.rule.name, each.about] = each

    def finish(self) -> None:
        """Pass the notes on to the block of `collect_notes`, or else give them as warnings at the user's line."""
        outer = _OUTER.get()
        if outer is not None:
            outer.merge(self)
            return
        for each in self:
            if not each.rule.is_fact:
                warn(each.text(self.reader), each.rule.category)

    def data(self) -> list[dict[str, Any]]:
        """Return the notes as JSON values, without facts."""
        return [each.data(self.reader) for each in self if not each.rule.is_fact]

    def facts(self) -> list[dict[str, Any]]:
        """Return the facts as JSON values."""
        return [each.data(self.reader) for each in self if each.rule.is_fact]


_OUTER: ContextVar[Notes | None] = ContextVar("outer", default=None)


@contextmanager
def collect_notes(notes: Notes) -> Iterator[Notes]:
    """Collect the notes of the calls in this block, which then give no warnings."""
    token = _OUTER.set(notes)
    try:
        yield notes
    finally:
        _OUTER.reset(token)


def note(rule: Rule, amount: float, subject: str, /, *, about: Any = "", **values: Any) -> None:
    """Note something outside an analysis: it is collected by `collect_notes`, or given as a warning."""
    notes = Notes()
    notes.add(rule, amount, subject, about=about, **values)
    notes.finish()
