"""Findings of client guidelines as a page and a workbook, with one sheet for each person, newest work first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from billframes._shared.export import safe_sheet_name
from billframes._shared.format import count_of, format_number, short_date
from billframes.analysis.declare.columns import UNASSIGNED
from billframes.guidelines.file import rule_title
from billframes.guidelines.summary import summary
from billframes.report.html import templates
from billframes.report.prebill_sheets import ITEM_KINDS, Columns, about_sheet, plain_text, workbook_of

KEYS = {"user": "Person", "responsible": "Responsible lawyer", "client": "Client", "matter": "Matter"}
"""The keys of sheets, with their headings."""


@dataclass(frozen=True, slots=True)
class _Sheet:
    name: str
    items: int
    at_risk: str
    rows: list[dict[str, str]]
    findings: pd.DataFrame


def _sheets(findings: pd.DataFrame, by: str) -> Iterator[_Sheet]:
    """Yield a sheet for each person or other key, by the amount at risk. Invoices and matters are their lawyer's."""
    names = findings[f"{by}_name"]
    if by == "user":
        names = names.fillna(findings["responsible_name"])
    names = names.fillna(UNASSIGNED)
    totals = {name: summary(rows).iloc[-1] for name, rows in findings.groupby(names)}
    for name in sorted(totals, key=lambda each: (-(totals[each]["at_risk"] or 0), each)):
        rows = findings[names == name].sort_values("date", ascending=False, kind="stable")
        yield _Sheet(
            name, totals[name]["items"], _money(totals[name]["at_risk"]), list(map(_row, rows.to_dict("records"))), rows
        )


def _row(row: dict[Any, Any]) -> dict[str, str]:
    texts = {name: plain_text(row[name]) for name in ("name", "clause", "value", "fix")}
    texts |= {name: _sentence(row[name]) for name in ("severity", "problem")}
    texts["changeable"] = "yes" if row["changeable"] == "yes" else _CHANGEABLE[row["changeable"]]
    names = {"who": row["user_name"], "client": row["client_name"], "matter": row["matter_name"]}
    return {
        **texts,
        **{name: plain_text(value) for name, value in names.items()},
        "day": short_date(row["date"]) if pd.notna(row["date"]) else "",
        "item_amount": _money(row["item_amount"]),
        "at_risk": _money(row["at_risk"]),
    }


_CHANGEABLE = {"take it off the draft first": "Take it off the draft first", "no": "It is on a final invoice"}


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _money(amount: Any) -> str:
    return format_number(None if amount is None else float(amount), "cents")


def describe_findings(findings: pd.DataFrame) -> str:
    """Return the number of items and findings, and the amount at risk, as a sentence."""
    if findings.empty:
        return "No findings."
    total = summary(findings).iloc[-1]
    count = f"{count_of(len(findings), 'finding')} on {count_of(total['items'], 'item')}"
    risk = "amounts at risk are hidden" if total["at_risk"] is None else f"{_money(total['at_risk'])} at risk"
    return f"{count}; {risk}."


def guideline_page(findings: pd.DataFrame, *, by: str = "user", scope: str = "") -> str:
    """Return the findings as one HTML page, which prints a sheet for each person."""
    page: str = (
        templates()
        .get_template("guidelines.html")
        .render(
            sheets=list(_sheets(findings, by)),
            summary=describe_findings(findings),
            scope=scope,
            heading=KEYS[by],
            by_person=by == "user",
        )
    )
    return page


_COLUMNS = {
    "date": ("Date", "date", 13),
    "user_name": ("Who", "text", 20),
    "client_name": ("Client", "text", 24),
    "matter_name": ("Matter", "text", 24),
    "item": ("Item", "text", 11),
    "severity": ("Severity", "text", 11),
    "name": ("Rule", "text", 20),
    "clause": ("Clause", "text", 9),
    "problem": ("Problem", "text", 34),
    "value": ("What was found", "text", 26),
    "fix": ("What to do", "text", 36),
    "item_amount": ("Item’s amount", "money", 13),
    "at_risk": ("At risk", "money", 12),
    "changeable": ("Can be changed", "text", 18),
    "item_id": ("Item id", "text", 38),
}


def guideline_workbook(findings: pd.DataFrame, *, settings: str, by: str = "user") -> bytes:
    """Return the findings as an Excel workbook: amounts by client and rule, then a sheet for each person."""
    sums = summary(findings)
    sheets: dict[str, tuple[str, Columns, pd.DataFrame]] = {
        "summary": ("Summary", _SUMMARY, sums.assign(rule=sums["rule"].map(rule_title)))
    }
    sheets["about"] = about_sheet(settings)
    for sheet in _sheets(findings, by):
        name, number = safe_sheet_name(sheet.name), 2
        while name.casefold() in sheets:
            name, number = f"{safe_sheet_name(sheet.name)[:27]} {number}", number + 1
        items, severity = sheet.findings["item"].map(ITEM_KINDS), sheet.findings["severity"].astype("str")
        sheets[name.casefold()] = (name, _COLUMNS, sheet.findings.assign(item=items, severity=severity))
    return workbook_of("Client guidelines", sheets.values())


_SUMMARY = {
    "client": ("Client", "text", 32),
    "rule": ("Rule", "text", 26),
    "items": ("Items", "count", 9),
    "findings": ("Findings", "count", 10),
    "at_risk": ("At risk", "money", 14),
}
