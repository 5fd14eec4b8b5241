"""Check ids before anything is sent; the errors say where to find an id.

The API's ids are UUIDs. Because other servers may have other ids, any single word with a digit and another character is
accepted. Names, e-mail addresses and lists written as one text are refused. Numbers are refused, too, because they are
usually invoice numbers or the references of clients and matters.
"""

from __future__ import annotations

import re
import uuid
from typing import Any
from urllib.parse import quote

from billframes._shared.names import as_given
from billframes.errors import ParameterError

EXAMPLE = "c0ffee00-1b5c-4f7a-9c1d-2f6f0c3e8a11"
_COULD_BE_ID = re.compile(r"(?=.*\d)(?!\d+$)[^\s@,;:/\\%'\"]+")
# The loader that lists the records an id belongs to, by the argument's name without "_id".
_LOADERS = {
    "client": "clients",
    "matter": "matters",
    **dict.fromkeys(("user", "acting_user", "responsible", "originator"), "users"),
    "practice_area": "practice_areas",
    "time_entry": "time_entries",
    "expense": "expenses",
    "fixed_fee": "fixed_fees",
    "invoice": "invoices",
}
_BY_NAME = ("clients", "matters", "users")
_LONGEST_NAME = 60


def identifier(value: Any, name: str, column: str | None = None) -> str:
    """
    Return an id as it is sent; the error for what can't be one says where to find it, by the `column` with such ids.

    Examples
    --------
    >>> identifier("Acme Corp", "client_id")
    Traceback (most recent call last):
    billframes.errors.ParameterError: client_id='Acme Corp' is not an id; an id looks like
    'c0ffee00-1b5c-4f7a-9c1d-2f6f0c3e8a11'. Find it in the column client_id of bf.clients('Acme Corp').
    """
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, str) and _COULD_BE_ID.fullmatch(value.strip()):
        return value.strip()
    where = _where_to_find(value, column or name)
    raise ParameterError(f"{as_given(name, value)} is not an id; an id looks like {EXAMPLE!r}.{where}")


def path_segment(id_: str, name: str) -> str:
    """Return an id as a segment of a URL's path; refuse it if the path could be read as that of another record."""
    # Quoting is not enough for slashes, because some servers and proxies unquote a path before they split it.
    if not id_.strip(".") or not id_.isprintable() or set(id_) & set("/\\%"):
        raise ParameterError(f"{name}={id_!r} is not an id; an id looks like {EXAMPLE!r}.")
    return quote(id_, safe="")


def _where_to_find(value: Any, column: str) -> str:
    """Return a sentence that says where to find the id; a text that could be a name is used to search by."""
    if isinstance(value, str) and all(map(_COULD_BE_ID.fullmatch, re.split(r"[,;]\s*", value))):
        return " Give several ids as a list."
    record = column.removesuffix("s").removesuffix("_id")
    loader = _LOADERS.get(record)
    if loader is None:
        return ""
    if loader == "invoices" and str(value).strip().isdigit():
        return f" Find it in the column invoice_id of bf.invoices(), where invoice_number is {str(value).strip()!r}."
    word = value.strip() if isinstance(value, str) and loader in _BY_NAME else ""
    argument = ""
    if 0 < len(word) <= _LONGEST_NAME:
        argument = f"email={word!r}" if loader == "users" and "@" in word else repr(word)
    return f" Find it in the column {'user' if loader == 'users' else record}_id of bf.{loader}({argument})."
