"""Write the column tables of reference/columns.md from the declared records.

Run `python docs/make_columns.py` after a change of a record's declaration. A test fails if the page is out of date.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from billframes.loading.convert import to_pandas
from billframes.schema import resources
from billframes.schema.columns import Column
from billframes.schema.records import ClientBalances, CodeSet, HealthCheckResponse
from billframes.schema.sources import sources_of

PAGE = Path(__file__).parent / "reference" / "columns.md"
BEGIN, END = "<!-- columns: begin (python docs/make_columns.py) -->", "<!-- columns: end -->"

UNITS = {
    "money": "money",
    "rate": "money an hour",
    "hours": "hours",
    "date": "day",
    "instant": "instant, UTC",
    "time": "time of day",
}
HEADINGS = ("column", "dtype", "unit or values", "meaning", "a missing value means", "sent")


def declared() -> dict[str, tuple[Column, ...]]:
    """Return every loader's columns, in the loaders' order, without custom fields."""
    listed = {each.name: _columns(each.record) for each in resources.RESOURCES}
    return {
        **{name: listed[name] for name in ("time_entries", "expenses", "fixed_fees", "invoices", "clients")},
        "client_balances": (
            Column("client_id", "id", required=True, description="The client."),
            *_columns(ClientBalances),
        ),
        **{name: listed[name] for name in ("matters", "users", "practice_areas")},
        "codes": _codes(),
        "code_sets": _columns(CodeSet),
        "custom_fields": listed["custom_fields"],
        "health": tuple(
            Column("version", "text", description=each.description, missing=each.missing)
            if each.name == "version"
            else each
            for each in _columns(HealthCheckResponse)
        ),
    }


def tables() -> str:
    """Return the generated part of the page."""
    entities = {each.name for each in resources.RESOURCES if each.entity}
    return "\n\n".join(f"## {name}\n\n{_table(columns, name in entities)}" for name, columns in declared().items())


def page(text: str) -> str:
    """Return the page with its generated part replaced."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n\n{tables()}\n\n{END}{rest.split(END)[1]}"


def _columns(record: type) -> tuple[Column, ...]:
    return tuple(source.column for source in sources_of(record))


def _codes() -> tuple[Column, ...]:
    """Return the columns of codes, which the loader builds from three lists and the code sets."""
    own = {each.name: each for each in _columns(resources.CODES.record)}
    kinds = ("activity", "task", "expense")
    return (
        Column(
            "code_type",
            "enum",
            required=True,
            values=kinds,
            description="The kind of work or expense that the code is for.",
        ),
        *(own[name] for name in ("code", "label", "code_set_id")),
        Column("code_set_label", "text", description="The code set's label.", missing="the set is not listed"),
        own["parent_code"],
        Column("parent_label", "text", description="The heading's label.", missing="as for `parent_code`"),
        own["selectable"],
    )


def _table(columns: Sequence[Column], has_custom_fields: bool) -> str:
    dtypes = to_pandas(pa.schema([each.field for each in columns]).empty_table()).dtypes
    rows = [_row(column, str(dtypes[column.name]), _missing(column, columns)) for column in columns]
    if has_custom_fields:
        rows.append(("`cf_…`", "depends on the field", "", "A custom field.", "not filled in", "with `customFields`"))
    lines = [HEADINGS, ("---",) * len(HEADINGS), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _missing(column: Column, columns: Sequence[Column]) -> str:
    """Return the meaning of a missing value; a reference's fields are missing for the same reason as its id."""
    if column.required:
        return "never missing"
    ids = [each for each in columns if each.name.endswith("_id") and not each.name.startswith(column.name)]
    reference = next((each for each in ids if column.name.startswith(each.name.removesuffix("id"))), None)
    sent = reference is None and column.select in {None, "contact"}
    of_id = reference.missing if reference else ""
    return column.missing or of_id or ("not recorded" if sent else "not sent")


def _row(column: Column, dtype: str, missing: str) -> tuple[str, ...]:
    unit = ", ".join(f"`{value}`" for value in column.values) or UNITS.get(column.kind, "")
    needs = [f"`{column.select}`"] if column.select else []
    needs += [f"scope `{column.scope}`"] if column.scope else []
    sent = f"with {' and '.join(needs)}" if needs else "always"
    return (f"`{column.name}`", f"`{dtype}`", unit, column.description, missing, sent)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
