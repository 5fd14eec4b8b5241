"""Findings: the reasons for which a client's portal would reject a bill, as rows of a frame."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from billframes._shared.format import count_of
from billframes.ebilling.ledes_formats import FIELDS, NOTE, OFTEN, REJECTED, Severity
from billframes.errors import ParameterError

_COMMON = ("invoice_number", "item_id", "field", "severity", "problem", "value", "fix")
INVOICE_COLUMNS = (*_COMMON, "item", "date", "matter_id", "matter_name", "responsible_id", "responsible_name")
"""Columns of findings in the firm's own data."""
FILE_COLUMNS = (*_COMMON, "line")
"""Columns of findings in a file."""

_DTYPES: dict[str, Any] = {
    "severity": pd.CategoricalDtype([REJECTED, OFTEN, NOTE], ordered=True),
    "line": "Int64",
    "date": "datetime64[us]",
}
_NAMES = {field.number: field.name for field in FIELDS}
# The field of findings about a client's billing guidelines, which belong to no field of the file.
GUIDELINES = -1
_NAMES[GUIDELINES] = "client guidelines"
_SHOWN = 3


@dataclass(slots=True)
class Finding:
    """
    One reason for which a portal would reject a bill.

    `field` is the field's number; 0 is the file as a whole. `item_id` is missing if the finding concerns a whole
    invoice, matter or person. `line` is that of a file, `place` has the item, date, matter and responsible lawyer.
    Descriptions of work are not quoted.
    """

    field: int
    severity: Severity
    problem: str
    value: str = ""
    fix: str = ""
    invoice_number: str | None = None
    item_id: str | None = None
    line: int | None = None
    place: dict[str, Any] | None = None


@dataclass(slots=True)
class Problem:
    """A problem with a field of a line, as the rules yield it; `at` is the index of the line, from 0."""

    at: int
    field: int
    severity: Severity
    problem: str
    value: str = ""


def guideline_findings(
    findings: pd.DataFrame, items: Collection[str], invoices: Collection[str | None], coded: Collection[str | None]
) -> Iterator[Finding]:
    """
    Yield the findings of `Guidelines.check` on some items and invoices, except those that only ask for a review.

    Findings about codes are left out for items in `coded`, which have such findings already.
    """
    needed = (*(name for name in INVOICE_COLUMNS if name != "field"), "rule", "clause")
    if not isinstance(findings, pd.DataFrame) or not set(needed) <= set(findings.columns):
        raise ParameterError(
            "guidelines= takes the result of Guidelines.check; pass bf.Guidelines.read(folder).check(book)."
        )
    for row in findings[findings["severity"] != "review"].to_dict("records"):
        values = {name: None if pd.isna(row[name]) else row[name] for name in needed}
        number, item_id = values["invoice_number"], values["item_id"]
        if (item_id not in items if item_id else number not in invoices) or (
            row["rule"] == "codes" and item_id in coded
        ):
            continue
        clause = f" (clause {values['clause']})" if values["clause"] else ""
        place = {name: values[name] for name in ("item", "date", "matter_id", "matter_name")}
        texts = (f"{row['problem']}{clause}", values["value"] or "", row["fix"])
        yield Finding(GUIDELINES, OFTEN, *texts, number, item_id, place=place)


def findings_frame(findings: Iterable[Finding], columns: Sequence[str]) -> pd.DataFrame:
    """Return findings as a frame: sorted by line for a file; else by invoice, severity and field."""
    rows = [_row(each) for each in findings]
    frame = pd.DataFrame({name: [row.get(name) for row in rows] for name in columns})
    frame = frame.astype({name: _DTYPES.get(name, "str") for name in columns})
    frame["_field"] = pd.Series([row["_field"] for row in rows], dtype="int64")
    keys = ["line", "_field"] if "line" in frame else ["invoice_number", "severity", "_field", "date", "item_id"]
    na_position: Literal["first", "last"] = "first" if "line" in frame else "last"
    return frame.sort_values(keys, na_position=na_position)[list(columns)].reset_index(drop=True)


def _row(finding: Finding) -> dict[str, Any]:
    same = {name: getattr(finding, name) for name in (*_COMMON, "line")}
    named = {"field": _NAMES.get(finding.field, "the file"), "value": finding.value or None, "_field": finding.field}
    return same | named | (finding.place or {})


def list_reasons(findings: pd.DataFrame) -> str:
    """List the reasons for rejection, each once, with the number of times; then what to do, if that is one step."""
    rejected = findings[findings["severity"] == REJECTED]
    reasons = (rejected["field"].astype(str) + ": " + rejected["problem"].astype(str)).value_counts(sort=True)
    texts = [
        f"{reason} ({count} times)" if count > 1 else str(reason) for reason, count in reasons.head(_SHOWN).items()
    ]
    others = len(reasons) - _SHOWN
    more = f"; and {count_of(others, 'more reason')}" if others > 0 else ""
    fixes = rejected["fix"].unique()
    fix = fixes[0] if len(fixes) == 1 else "Each has its fix in error.findings."
    return f"{'; '.join(texts)}{more}. {fix}"
