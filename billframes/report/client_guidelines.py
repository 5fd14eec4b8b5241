"""Client guidelines: what clients may refuse or cut of the work that is not on a final invoice."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from billframes._shared.export import to_csv, write
from billframes._shared.format import format_number, long_date
from billframes._shared.names import first_few
from billframes._shared.notes import Rule, note
from billframes.analysis.data.distinct_names import DistinctNames
from billframes.book import Book
from billframes.errors import ConfigError
from billframes.guidelines import guideline_check, guideline_summary
from billframes.guidelines.file import read_guidelines
from billframes.guidelines.rules import rule_title


@dataclass(frozen=True)
class ClientGuidelines:
    """
    Findings on the work that is not on a final invoice at the end of the month; None without guideline files.

    `since_last_check` says what became of those that were saved by `billframes guidelines --save`. `without_file` are
    the ids of clients that have guidelines, and no file of them.
    """

    findings: pd.DataFrame | None = None
    since_last_check: str = ""
    without_file: frozenset[str] = frozenset()

    @property
    def by_rule(self) -> pd.DataFrame:
        """Items, findings and the amount at risk by client and rule; the last row counts each item once."""
        found = pd.DataFrame() if self.findings is None else guideline_summary(self.findings)
        if found.empty:
            return found
        return found.assign(rule=found["rule"].map(rule_title), at_risk=found["at_risk"].astype("float64"))

    @property
    def at_risk(self) -> float:
        """The amount at risk, each item once; 0 if amounts are hidden."""
        amount = self.by_rule["at_risk"].iloc[-1] if self.findings is not None else 0.0
        return 0.0 if pd.isna(amount) else float(amount)

    @property
    def summary(self) -> str:
        """The findings in a sentence; empty if the firm has no guideline files."""
        if self.findings is None:
            return ""
        items = self.by_rule["items"].iloc[-1]
        if not len(self.findings):
            return "Client guidelines: the work that is not on a final invoice has no findings."
        work = "of the work that is not on a final invoice"
        have = f"1 item {work} has" if items == 1 else f"{items:,} items {work} have"
        known = f"; clients may refuse or cut {format_number(self.at_risk, 'money')} of it" if self.at_risk else ""
        counted = f"{have} findings{known}. Each item counts once, with its largest finding."
        return f"Client guidelines: {counted} {self.since_last_check}".strip()

    def for_matters(self, matter_ids: Collection[str]) -> ClientGuidelines:
        """Return the findings on some of the matters."""
        if self.findings is None:
            return self
        findings = self.findings[self.findings["matter_id"].isin(matter_ids)].reset_index(drop=True)
        return ClientGuidelines(findings, without_file=self.without_file)


def check_client_guidelines(book: Book, last: dt.date) -> ClientGuidelines:
    """
    Check the work up to a day that is not on a final invoice, if the firm's settings name guideline files.

    Note clients with guidelines for which there is no file.
    """
    settings = book.settings
    if settings is None or not settings.guidelines:
        return ClientGuidelines()
    files = read_guidelines(settings.guidelines)
    lacking = _clients_without_file(book, settings.guidelines_field, {each.client.casefold() for each in files})
    findings = guideline_check(book, guidelines=files, end=last, as_of=last, progress=False)
    named = DistinctNames(book.clients, book.matters, book.users)(findings)
    return ClientGuidelines(named, compare_with_saved(findings, _saved_in(settings.guidelines)), lacking)


def save_check(findings: pd.DataFrame, guidelines: str, day: dt.date) -> None:
    """Save which items have findings, beside the guideline files. The next report says how many are unchanged."""
    rows = findings[[*_SAME]].dropna().drop_duplicates().assign(day=day.isoformat())
    write(_saved_in(guidelines), to_csv(rows))


_SAME = ("item_id", "rule")


def _saved_in(guidelines: str) -> Path:
    path = Path(guidelines)
    return (path if path.is_dir() else path.parent) / "last-check.csv"


def compare_with_saved(findings: pd.DataFrame, path: Path) -> str:
    """Say how many of the saved findings are still there."""
    if not path.is_file():
        return ""
    try:
        saved = pd.read_csv(path, dtype="str", encoding="utf-8-sig")
        days = saved["day"].map(dt.date.fromisoformat)
        same = saved[[*_SAME]].merge(findings[[*_SAME]].drop_duplicates(), on=list(_SAME))
    except (KeyError, ValueError, OSError) as error:
        raise ConfigError(
            f"{path} is not a saved check; delete it, and save one with billframes guidelines --save."
        ) from error
    if saved.empty:
        return ""
    day = long_date(days.max())
    return f"Of the {len(saved):,} findings on items that were saved on {day}, {len(same):,} are unchanged."


def _clients_without_file(book: Book, field: str, named: Collection[str]) -> frozenset[str]:
    """Return the ids of clients that have guidelines and no file, and note their names."""
    clients = book.clients
    if field not in clients:
        return frozenset()
    marked = clients[clients[field].fillna(False).astype(bool)]
    names = marked[["client_id", "name", "reference"]].fillna("")
    lacking = {
        row[0]: row[1] for row in names.itertuples(index=False) if not {each.casefold() for each in row} & set(named)
    }
    note(_NO_FILE, len(lacking), "guideline_check", few=first_few(sorted(lacking.values())) if lacking else "")
    return frozenset(map(str, lacking))


_NO_FILE = Rule(
    name="no_guideline_file",
    seen="{n} {n:client has|clients have} billing guidelines, but no guideline file: {few}. Their work was not "
    "checked.",
    page="Ask whoever keeps the firm's settings to add the files.",
    unit="clients",
)
