"""Write the tables of fields and tags in reference/ledes-fields.md from their declaration.

Run `python docs/make_ledes_fields.py` after a field has changed. A test checks that the tables are up to date.
"""

from __future__ import annotations

from pathlib import Path

from billframes.ebilling.ledes_formats import FIELDS, OFTEN, TAGS, LedesField

PAGE = Path(__file__).parent / "reference" / "ledes-fields.md"
BEGIN, END = "<!-- fields: begin (python docs/make_ledes_fields.py) -->", "<!-- fields: end -->"
KINDS = {"date": "YYYYMMDD", "type": "F, E, IF, IE", "rate": "0 to 1", "ACCOUNT_TYPE": "O or T"}


def page(text: str) -> str:
    """Return the page with its generated tables replaced."""
    before, rest = text.split(BEGIN)
    tables = "\n\n".join([_fields(), "The tags of XML become these columns:", _tags()])
    return f"{before}{BEGIN}\n\n{tables}\n\n{END}{rest.split(END)[1]}"


def _fields() -> str:
    head = ["| field | form | required on | `bf.ebilling.ledes` takes it from |", "| --- | --- | --- | --- |"]
    return "\n".join([*head, *map(_row, FIELDS)])


def _row(field: LedesField) -> str:
    unit = "characters" if field.kind == "text" else "digits"
    form = KINDS.get(field.kind) or KINDS.get(field.label) or (f"{field.width} {unit}" if field.width else "text")
    needed = {"F E IF IE": "all lines", "F E": "F, E"}.get(field.needed, field.needed)
    often = " (often)" if needed and field.lacking == OFTEN else ""
    return f"| {field.name} | {form} | {needed}{often} | {field.source} |"


def _tags() -> str:
    head = ["| segment | tag | column |", "| --- | --- | --- |"]
    rows = [f"| {segment} | `{tag}` | `{column}` |" for segment, tags in TAGS.items() for tag, column in tags.items()]
    return "\n".join([*head, *(row for row in rows if not row.startswith("| expense "))]).replace(
        "| fee |", "| fee, expense |"
    )


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
