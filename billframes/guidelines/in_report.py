"""Client guidelines: what clients may refuse or cut of the work that is not on a final invoice."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from billframes._shared.export import to_csv, write
from billframes._shared.format import count_of, format_number, long_date
from billframes._shared.names import first_few
from billframes._shared.notes import Rule, note
from billframes.analysis.data.distinct_names import DistinctNames
from billframes.analysis.declare.lookup import measures
from billframes.analysis.declare.metrics import Measure
from billframes.book import Book
from billframes.ebilling.in_report import FINDINGS
from billframes.errors import ConfigError
from billframes.guidelines.check import Guidelines
from billframes.guidelines.file import rule_title
from billframes.guidelines.work import CHECK
from billframes.report.month import Month
from billframes.report.section_spec import SectionSpec
from billframes.report.table_spec import ReportTable
from billframes.report.to_do import ToDo, by_person, names, open_work_by_client, person_of

_GUIDELINES = (
    "What clients may refuse or cut by their guidelines, of the work that is not on a final invoice. An item can have "
    "several findings. In the total it counts once, with its largest finding, so that the rows add up to more."
)


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
        found = pd.DataFrame() if self.findings is None else Guidelines.summary(self.findings)
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

    def for_matters(self, matters: pd.DataFrame) -> ClientGuidelines:
        """Return the findings on some of the matters."""
        if self.findings is None:
            return self
        findings = self.findings[self.findings["matter_id"].isin(set(matters["matter_id"]))].reset_index(drop=True)
        return ClientGuidelines(findings, without_file=self.without_file)


def load(month: Month, _files: Sequence[str]) -> None:
    """Check the work that is on no final invoice, and keep what was found with the month."""
    month.parts["guidelines"] = check_client_guidelines(month.firm_book, month.last)


def _found(month: Month) -> ClientGuidelines:
    found: ClientGuidelines = month.parts["guidelines"] if "guidelines" in month.parts else ClientGuidelines()
    return found


def about_open_work(month: Month) -> str:
    """Return the findings in a sentence."""
    return _found(month).summary


def _corrections(month: Month) -> Iterator[ToDo]:
    found = _found(month).findings
    if found is None:
        return
    for person, mine in by_person(found[found["severity"] != "review"]):
        at_risk, items = ClientGuidelines(mine).at_risk, mine["item_id"].nunique()
        clients = tuple(dict.fromkeys(mine["client_name"].dropna().astype("str")))
        detail = f"{names(mine['client_name'])} may refuse or cut {'it' if items == 1 else 'them'}"
        if at_risk:
            what = f"Correct {count_of(items, 'item')} before billing"
            yield ToDo(person, what, detail, at_risk, "realization", clients[0], names=clients)


def _missing_files(month: Month) -> Iterator[ToDo]:
    lacking = _found(month).without_file
    rows = open_work_by_client(month) if lacking else pd.DataFrame({"client_id": []})
    for row in rows[rows["client_id"].isin(lacking)].to_dict("records"):
        name = names([row["client_name"]])
        what, detail = f"Add the guideline file of {name}", "its work is not checked"
        yield ToDo(person_of(row), what, detail, float(row["total"]), "work_in_progress", name)


TO_DO = (_corrections, _missing_files)


def _at_risk(month: Month) -> ReportTable | None:
    if _found(month).findings is None:
        return None
    rows = _found(month).by_rule
    items = Measure("items", "Items", "count", "Time entries, expenses and fixed fees with findings.", adds_up=False)
    return ReportTable(
        title="At risk by rule",
        label="rule",
        labels=("client", "rule"),
        rows=rows.iloc[:-1],
        total=rows.iloc[-1:],
        columns=(items, FINDINGS, measures()["at_risk"]),
        meaning=(_GUIDELINES,),
    )


def _findings(month: Month) -> ReportTable | None:
    findings = _found(month).findings
    if findings is None:
        return None
    labels = ("client_name", "responsible_name", "user_name", "matter_name", "date", "severity", "name", "clause")
    amounts = {name: findings[name].astype("float64") for name in ("at_risk", "item_amount")}
    return ReportTable(
        title="Client guidelines",
        label="item_id",
        labels=(*labels, "problem", "value", "fix", "changeable"),
        rows=findings.assign(**amounts, severity=findings["severity"].astype("str")),
        total=_found(month).by_rule.iloc[-1:],
        columns=(measures()["at_risk"], measures()["item_amount"]),
        meaning=(_GUIDELINES,),
    )


def check_client_guidelines(book: Book, last: dt.date) -> ClientGuidelines:
    """
    Check the work up to a day that is not on a final invoice, if the firm's settings name guideline files.

    Note clients with guidelines for which there is no file.
    """
    settings = book.settings
    if settings is None or not settings.guidelines:
        return ClientGuidelines()
    guidelines = Guidelines.read(settings.guidelines)
    named = {each.client.casefold() for each in guidelines.files}
    lacking = _clients_without_file(book, settings.guidelines_field, named)
    findings = guidelines.check(book, end=last, as_of=last, progress=False)
    shown = DistinctNames(book.clients, book.matters, book.users)(findings)
    return ClientGuidelines(shown, compare_with_saved(findings, _saved_in(settings.guidelines)), lacking)


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
    note(_NO_FILE, len(lacking), CHECK, few=first_few(sorted(lacking.values())) if lacking else "")
    return frozenset(map(str, lacking))


_NO_FILE = Rule(
    name="no_guideline_file",
    seen="{n} {n:client has|clients have} billing guidelines, but no guideline file: {few}. Their work was not "
    "checked.",
    page="Ask whoever keeps the firm's settings to add the files.",
    unit="clients",
)

SECTIONS = {"invoices": (SectionSpec(name="guidelines", tables=(_at_risk, _findings), on_page=False),)}
