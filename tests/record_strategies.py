"""Hypothesis strategies for records of the API's declaration, and their JSON.

Values are written in the different ways of servers: numbers as `100`, `1e2` or `1.50`, instants with any offset and up
to seven decimals, enums in any case and with unknown values, embedded objects with any subset of their fields.
"""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from msgspec import Struct, structs

from billframes.schema.sources import Field, fields_of

EPOCH = dt.datetime(1970, 1, 1)


@dataclass(frozen=True)
class RawNumber:
    """A number as it is written in JSON."""

    text: str


@dataclass(frozen=True)
class Instant:
    """An instant as it is written in JSON, and its microseconds since 1970."""

    text: str
    microseconds: int


def dumps(value: Any) -> str:
    """Write JSON, with numbers and instants as they are written in `RawNumber` and `Instant`."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(name)}:{dumps(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(dumps, value)) + "]"
    if isinstance(value, RawNumber):
        return value.text
    return json.dumps(value.text if isinstance(value, Instant) else value)


def is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct)


def wire_names(record: type[Struct]) -> dict[str, str]:
    """A declaration's attributes and their names in JSON."""
    return dict(zip(record.__struct_fields__, record.__struct_encode_fields__, strict=True))


ODD_TEXTS = [
    "",
    " ",
    "\x00",
    "a\x00b",
    "\u2028",
    "𝔘ñí",
    "مكتب المحاماة",
    "法律事務所",
    "<b>&amp;",
    "=1+1",
    "NaN",
    "None",
]
texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.sampled_from([*ODD_TEXTS, "x" * 20_000, "法" * 20_000]),
)
ids = st.one_of(st.uuids().map(str), st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6))
dates = st.one_of(
    st.dates(), st.sampled_from([dt.date.min, dt.date.max, dt.date(2024, 2, 29), dt.date(2000, 2, 29)])
).map(lambda day: day.isoformat())
numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(2**53), 2**53).map(str),
    st.sampled_from(["100", "1e2", "1.50", "1E+2", "-0.0", "0", "-0", "12.30", "1e-7", "9007199254740993", "5e-324"]),
).map(RawNumber)
times = st.builds(
    lambda moment, decimals: (
        (moment.strftime("%H:%M"), moment.strftime("%H:%M:%S"))[decimals >= 0]
        + (f".{moment.microsecond:06d}7"[: decimals + 1] if decimals > 0 else "")
    ),
    st.times(),
    st.integers(-1, 7),
)
junk = st.recursive(st.none() | st.booleans() | texts, lambda inner: st.lists(inner, max_size=2), max_leaves=3)


def _instant(moment: dt.datetime, decimals: int, offset: int | None) -> Instant:
    digits = f"{moment.microsecond:06d}9"[:decimals]
    kept = int(digits[:6].ljust(6, "0"))
    sign = "-" if (offset or 0) < 0 else "+"
    zone = {None: "", 0: "Z"}.get(offset, f"{sign}{abs(offset or 0) // 60:02d}:{abs(offset or 0) % 60:02d}")
    whole = moment.replace(microsecond=0)
    text = whole.isoformat() + (f".{digits}" if digits else "") + zone
    elapsed = (whole - EPOCH) // dt.timedelta(microseconds=1)
    return Instant(text, elapsed + kept - (offset or 0) * 60_000_000)


# At both ends of time, the instant in UTC may be outside a datetime's range.
ends = st.builds(
    _instant,
    st.sampled_from([dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999)]),
    st.sampled_from([0, 3, 7]),
    st.sampled_from([None, 0, -14 * 60, 14 * 60]),
)
instants = ends | st.builds(
    _instant,
    st.datetimes() | st.just(dt.datetime(2024, 2, 29, 23, 59, 59, 999999)),
    st.integers(0, 7),
    st.none() | st.just(0) | st.integers(-14 * 60, 14 * 60),
)


@st.composite
def enums(draw, values: tuple[str, ...]) -> str:
    known = draw(st.sampled_from(values or ("",)))
    change = draw(st.sampled_from([str, str.upper, str.lower, str.swapcase]))
    return change(known) if draw(st.integers(0, 9)) else draw(texts)


def values_of(field: Field, owner: type[Struct]) -> st.SearchStrategy:
    """The values that a field may have in JSON."""
    if is_struct(field.type):
        values = records(field.type)
    else:
        values = {
            "id": ids,
            "text": texts,
            "enum": enums(field.notes.get("values", ())),
            "date": dates,
            "instant": instants,
            "time": times,
            "flag": st.booleans(),
        }.get(field.notes.get("kind", "text"), numbers)
    if field.is_list:
        values = st.lists(values, max_size=3)
    return st.none() | values if field.nullable else values


@st.composite
def records(draw, record: type[Struct], **given: Any) -> dict[str, Any]:
    """Records of a declaration: all required fields, some of the others, and some that are not declared."""
    names = wire_names(record)
    required = {each.name for each in structs.fields(record) if each.required}
    fields = {field.name: field for field in fields_of(record) if field.name != "custom_fields"}
    made = draw(
        st.fixed_dictionaries(
            {names[name]: values_of(field, record) for name, field in fields.items() if name in required},
            optional={names[name]: values_of(field, record) for name, field in fields.items() if name not in required},
        )
    )
    if not draw(st.integers(0, 4)):
        made["novelty"] = draw(junk)
    return {**made, **given}


NAMES = {
    "Court": "cf_court",
    "court": "cf_court",
    "Court!": "cf_court",
    "Court 1": "cf_court_1",
    "Budget (USD)": "cf_budget_usd",
    "Name": "cf_name",
    "Matter Id": "cf_matter_id",
    "createdAt": "cf_created_at",
    "法院": "cf_法院",
    "Größe": "cf_größe",
    "!!!": None,
}
TYPES = ("text", "number", "boolean", "date", "enum")


@st.composite
def definitions(draw, entity: str) -> list[dict[str, Any]]:
    """Definitions of custom fields of one entity."""
    made = []
    for number in range(draw(st.integers(0, 6))):
        kind = draw(st.sampled_from(TYPES))
        field = {
            "id": str(number),
            "entity": entity,
            "name": draw(st.sampled_from(sorted(NAMES))),
            "valueType": draw(st.sampled_from([kind, kind.upper()])),
        }
        if kind == "enum":
            labels = draw(st.lists(st.sampled_from(["Late", "Early", "late", "", "法"]), max_size=3))
            field["options"] = draw(
                st.sampled_from([None, [{"optionId": f"o{i}", "label": each} for i, each in enumerate(labels)]])
            )
        made.append(field)
    return made


@st.composite
def custom_values(draw, fields: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A record's values of some of the custom fields."""
    made = []
    for field in draw(st.lists(st.sampled_from(fields), unique_by=lambda each: each["id"])) if fields else ():
        kind = field["valueType"].lower()
        labels = tuple(each["label"] for each in field.get("options") or ())
        value = {"text": texts, "number": numbers, "boolean": st.booleans(), "date": dates, "enum": enums(labels)}[kind]
        options = {"optionId": "o0"} if labels and kind == "enum" else {}
        made.append({**field, **options, "value": draw(st.none() | value)})
    return made
