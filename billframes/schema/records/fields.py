"""Declare the fields of records: what kind of value a field holds, and what its notes say.

A field's annotation is a Python type for msgspec plus one or more `Meta`. Their descriptions end up in the
docs' column tables and in the sandbox's OpenAPI; their `extra` says what only billframes asks for:

========== ===================================================================================
kind       what the value is, and so its dtype in a frame (see `billframes.schema.columns`)
values     an enum's declared values in the spec's order
missing    what it means when the value is missing
select     the `select` name that brings the field; None when it always comes
scope      the credential's scope that the field needs
reads      the attribute to read in its stead, where a value may have to be put together
repeated   True: many records have the same, as with codes; ids of other records always are
hidden     True: serves another field, is not a column
========== ===================================================================================

Enum values are declared as text, not as Python enums, because a value this description does not know must
survive decoding (it is kept, with a warning).
"""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any

from msgspec import Meta, Struct

__all__ = [
    "ApiRecord",
    "Date",
    "Flag",
    "Hint",
    "Hours",
    "Id",
    "Instant",
    "Label",
    "Money",
    "Number",
    "Rate",
    "Text",
    "TimeOfDay",
    "WriteBody",
    "enum",
    "note",
]


class ApiRecord(Struct, rename="camel", gc=False):
    """
    Base of everything the API answers with.

    Unknown properties are ignored. `gc=False` keeps the garbage collector off thousands of small structs,
    which halves the time decoding takes; records hold no cycles.
    """


class WriteBody(Struct, rename="camel", omit_defaults=True):
    """Base of everything the API takes: a property left UNSET is not sent, None is sent as null."""


def note(description: str, **extra: Any) -> Meta:
    """
    Describe a field.

    Parameters
    ----------
    description : str
        What the value is.
    **extra
        Any of the words in this module's table.
    """
    return Meta(description=description, extra=extra)


def enum(*values: str) -> Meta:
    """Declare the values of an enum, in the spec's order."""
    return Meta(extra={"kind": "enum", "values": values}, extra_json_schema={"enum": list(values)})


def _kind(kind: str, format_: str | None = None, **schema: Any) -> Meta:
    if format_:
        schema["format"] = format_
    return Meta(extra={"kind": kind}, extra_json_schema=schema or None)


Id = Annotated[str, _kind("id", "uuid")]
Text = Annotated[str, _kind("text")]
# A property the description does not have, which may stand in for one it has: read if it is text, else ignored.
Hint = Annotated[Any, _kind("text")]
# An empty label breaks the spec, but a load must not fail over it: documented, checked on writes, not on reads.
Label = Annotated[str, _kind("text", minLength=1)]
Date = Annotated[dt.date, _kind("date", "date")]
Instant = Annotated[str, _kind("instant", "date-time")]
TimeOfDay = Annotated[str, _kind("time", "time")]
Flag = Annotated[bool, _kind("flag")]
Money = Annotated[float, _kind("money", "double")]
Hours = Annotated[float, _kind("hours", "double")]
Rate = Annotated[float, _kind("rate", "double")]
Number = Annotated[float, _kind("number", "double")]
