"""Sections as HTML. The page needs no other files."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

from billframes._shared.format import format_value

if TYPE_CHECKING:
    import jinja2  # Workbooks and the explorer need this module, but not jinja2.


class Section:
    """A section of the report, shown by a notebook. The template escapes every value."""

    def __init__(self, template: str, **values: Any) -> None:
        self._html: str = templates().get_template(template).render(**values)

    def __repr__(self) -> str:
        return f"<report section of {len(self._html):,} characters>"

    def _repr_html_(self) -> str:
        return self._html


def anchor(title: str) -> str:
    """Return the id of the section with this title."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def unbroken(text: str) -> str:
    r"""
    Return a headline whose days stay on one line.

    Examples
    --------
    >>> unbroken("Fees fell (1–14 September 2026: 26,752).")
    'Fees fell (1\u2060–\u206014\xa0September 2026: 26,752).'
    """
    return re.sub(r"(\d)–(\d+) (?=[A-Z])", "\\1\u2060–\u2060\\2\xa0", text)


@functools.cache
def templates() -> jinja2.Environment:
    """Return the package's templates, which escape every value."""
    import jinja2

    loader = jinja2.PackageLoader("billframes.report", "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"anchor": anchor, "unbroken": unbroken}
    environment.filters["money"] = lambda value: format_value(value, "money")
    return environment
