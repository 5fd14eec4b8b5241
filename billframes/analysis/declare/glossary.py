"""The special words of `glossary.toml`, as `bf.explain("value")` and `bf.explain("glossary")` show them."""

from __future__ import annotations

import re
import textwrap
import tomllib
from dataclasses import dataclass, field, replace
from importlib import resources

from billframes.analysis.declare.explanation import as_html, definition_list

_WIDTH = 100


@dataclass(frozen=True, slots=True, repr=False)
class Term:
    """One special word."""

    # The word, such as "value".
    name: str
    # The definition, one to three sentences.
    meaning: str
    # Other words that lead to it.
    also: tuple[str, ...] = ()
    # The one of them that was looked up.
    asked: str = field(default="", compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, analyses and arguments that the meaning names."""
        return tuple(re.findall(r"`(\w+)`", self.meaning))

    @property
    def _heading(self) -> str:
        return f"{self.asked}: see {self.name}" if self.asked else self.name.capitalize()

    def __repr__(self) -> str:
        return "\n".join(
            [self._heading, *textwrap.wrap(self.meaning, _WIDTH, initial_indent="  ", subsequent_indent="  ")]
        )

    def _repr_html_(self) -> str:
        return f"<p><strong>{as_html(self._heading)}</strong>: {as_html(self.meaning)}</p>"


class Glossary(tuple[Term, ...]):
    """All special words, in alphabetical order."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self))

    def _repr_html_(self) -> str:
        return definition_list({each.name: (each.meaning,) for each in self})


def term(name: str) -> Term | None:
    """
    Look up a word, ignoring case, spaces, hyphens, the plural's "s" and the order of two words; None for others.

    Examples
    --------
    >>> term("Lock up").name
    'lock-up'
    """
    plain = _plain(name)
    spelled = (plain, plain.removesuffix("s"), "".join(reversed(_words(name))))
    found = next((_BY_NAME[each] for each in spelled if each in _BY_NAME), None)
    return found if found is None or _plain(found.name) in spelled[:2] else replace(found, asked=name)


def _words(name: str) -> list[str]:
    return re.split(r"[\s_-]+", name.lower())


def _plain(name: str) -> str:
    return "".join(_words(name))


def _terms() -> list[Term]:
    words = tomllib.loads(resources.files(__package__).joinpath("glossary.toml").read_text("utf-8"))
    return [Term(name, each["meaning"], tuple(each.get("also", ()))) for name, each in words.items()]


GLOSSARY = Glossary(sorted(_terms(), key=lambda each: each.name))
"""Every special word."""

_BY_NAME = {_plain(name): each for each in GLOSSARY for name in (each.name, *each.also)}
