"""The work for one client: its items as one table, with what the rules select by."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from billframes._shared.messages import warn
from billframes.analysis.data.call import Call
from billframes.analysis.data.data import Data
from billframes.analysis.data.engine import to_arrow
from billframes.analysis.data.expressions import C
from billframes.analysis.data.native import select_columns
from billframes.analysis.declare.columns import IDS, ITEMS
from billframes.config.firm import FirmSettings
from billframes.ebilling.codes import read_codes
from billframes.ebilling.source import OPEN_STATES, BillItem, BillSource
from billframes.errors import IncompleteDataWarning
from billframes.guidelines.declare import GuidelineRule, RuleKind, within
from billframes.guidelines.narratives import EMPTY, FOREIGN, UNCLEAR, languages
from billframes.guidelines.words import Phrases, word_list
from billframes.loading.progress import Progress

CHECK = "Guidelines.check"
"""The name of the check in notes."""
_SHARED = ("date", "matter_id", "description", "amount", "invoice_id")
_TIME = ("hours", "billing_type", "user_id")
_OPTIONAL = ("user_id", "user_name", "rate", "task_code", "activity_code", "expense_code", "created_at", "modified_at")
_KINDS = {"time": ("time_entry",), "expenses": ("expense",), "both": ("time_entry", "expense")}
_CODES = ("task_code", "activity_code", "expense_code")


@dataclass
class Work:
    """The items of one client, one row each; `chosen` marks those to report."""

    items: pd.DataFrame
    file: Any
    source: BillSource
    as_of: dt.date
    settings: FirmSettings
    progress: bool | Progress | None = None

    def select(self, rule: GuidelineRule, kind: RuleKind) -> pd.DataFrame:
        """Return the items that a rule looks at: by kind, day of work, matter, person and role."""
        items = self.items
        kinds = _KINDS[rule.get("on")] if rule.get("on") else kind.on
        wanted = items["item"].isin(kinds)
        if not (kind.reads_text and self.file.fixed_fee_time):
            wanted &= ~items["is_fixed"]
        for key, column in _SCOPE.items():
            if rule.get(key):
                wanted &= items[column].isin(rule.get(key))
        days = items["invoice_date"].fillna(items["date"]) if kind.by_invoice else items["date"]
        in_force = rule.covers(days) & within(days, self.file.effective, self.file.until)
        if kind.history:
            rows = items[wanted]
            return rows.assign(chosen=rows["chosen"] & in_force)
        wanted &= in_force
        return items[wanted if kind.sums else wanted & items["chosen"]]

    @functools.cached_property
    def language(self) -> pd.Series[Any]:
        """The language of each item's narrative. Each text is judged once."""
        texts = self.items["description"].fillna("")
        unique = pd.Series(texts.unique())
        return texts.map(dict(zip(unique, languages(unique), strict=True)))

    def is_judged(self, rows: pd.DataFrame, *, also_unclear: bool) -> pd.Series[bool]:
        """Tell which rows have a text of the guidelines' language."""
        silent = {FOREIGN, EMPTY} if also_unclear else {FOREIGN, EMPTY, UNCLEAR}
        return ~self.language.loc[rows.index].isin(silent)

    def matches(
        self, rule: GuidelineRule, rows: pd.DataFrame, *, default: Iterable[str] = (), prefix: str = ""
    ) -> pd.Series[Any]:
        """
        Return the words and codes of each row that a rule names; empty if none, or if an exception is in the text.

        Word lists are used for texts of their language only, own words for all. Without words and codes in the rule,
        every row matches, with an empty value: None marks rows that don't match.
        """
        names, own = rule.get(f"{prefix}words") or list(default), rule.get(f"{prefix}own_words") or []
        codes = tuple(rule.get(f"{prefix}codes") or ())
        if not (names or own or codes):
            return pd.Series("", index=rows.index, dtype=object)
        listed = [phrase for name in names for phrase in word_list(name)]
        judged = self.is_judged(rows, also_unclear=True)
        texts = rows["description"].fillna("")
        words = look_for(Phrases([*own, *listed]), texts.where(judged, ""))
        if own and not judged.all():
            words = words.mask(~judged, look_for(Phrases(own), texts))
        if rule.get("except"):
            words = words.where(look_for(Phrases(rule.get("except")), texts) == "", "")
        for column in _CODES if codes else ():
            code = rows[column]
            if column == "expense_code" and (rows["item"] == "expense").any():
                code = code.fillna(self.expense_codes)
            code = code.fillna("")
            words = words.mask((words == "") & code.str.startswith(codes), code)
        return words.where(words != "", None)

    @functools.cached_property
    def expense_codes(self) -> pd.Series[Any]:
        """The codes of the expenses to report. Lists don't have them, so they are read one by one."""
        rows = self.items[(self.items["item"] == "expense") & self.items["chosen"]]
        lacking = rows[rows["expense_code"].isna()]
        expenses = [
            BillItem("expense", id_, modified_at=None if pd.isna(at) else at.to_pydatetime(), has_codes=False)
            for id_, at in zip(lacking["item_id"], lacking["modified_at"], strict=True)
        ]
        read_codes(expenses, self.source.client, progress=self.progress, store=self.source.code_store)
        unknown = sum(not each.has_codes for each in expenses)
        if unknown:
            warn(
                f"The codes of {unknown:,} expenses are not known, so rules with codes do not find them. "
                "Pass client=, or a book.",
                IncompleteDataWarning,
            )
        read = pd.Series([each.expense_code for each in expenses], index=lacking.index, dtype=object)
        return rows["expense_code"].fillna(read)

    @functools.cached_property
    def firm_hours(self) -> pd.DataFrame:
        """Billable hours by person and day, for all clients of the firm."""
        entries = Call(Data(time_entries=self.source.native("time_entries")), CHECK).whole("time_entries")
        rows = select_columns(entries, "time_entries", ("user_id", "date", "hours", "billing_type"))[0]
        rows = rows.filter(
            (C("billing_type") == "billable") & C("user_id").is_in(list(self.items["user_id"].dropna().unique()))
        )
        found: pd.DataFrame = to_arrow(rows.group_by("user_id", "date").agg(C("hours").sum())).to_pandas()
        return found


_SCOPE = {
    "matters": "matter_id",
    "practice_areas": "practice_area",
    "matter_types": "matter_type",
    "users": "user_id",
    "roles": "role",
}


def look_for(phrases: Phrases, texts: pd.Series[Any]) -> pd.Series[Any]:
    """Return the words of each text that match, joined by commas. Each text is searched once."""
    unique = pd.Series(texts.unique(), dtype=object)
    likely = phrases.may_be_in(pa.array(unique, pa.string()))
    found = {text: ", ".join(phrases.found_in(text)) for text in unique[likely]}
    return pd.Series([found.get(text, "") for text in texts], index=texts.index, dtype=object)


def read_work(source: BillSource, matter_ids: Collection[str], zone: str, roles: Mapping[str, str]) -> pd.DataFrame:
    """
    Read all items on matters, billed or not: billable and fixed-fee time, expenses and fixed fees.

    `zone` is the firm's, for the day on which an entry was made. `roles` take precedence over those of the users.
    """
    call = Call(Data(**{name: source.native(name) for name in ITEMS}), CHECK)
    tables = [_items(call, name, matter_ids) for name in ITEMS]
    items = _to_pandas(pa.concat_tables(tables))
    items["created"] = items.pop("created_at").dt.tz_convert(zone).dt.tz_localize(None).dt.normalize()
    invoices = {row["invoice_id"]: row for row in source.invoices}
    states = items["invoice_id"].map({id_: str(row["invoice_state"]) for id_, row in invoices.items()})
    items["is_unbilled"] = items["invoice_id"].isna()
    items["is_open"] = items["is_unbilled"] | states.isin(OPEN_STATES)
    dates = items["invoice_id"].map({id_: row["invoice_date"] for id_, row in invoices.items()})
    items["invoice_date"] = pd.to_datetime(dates)
    items["invoice_number"] = items["invoice_id"].map({id_: row["invoice_number"] for id_, row in invoices.items()})
    return _with_people(_with_matters(items, source), source, roles)


def _to_pandas(table: pa.Table) -> pd.DataFrame:
    """Convert a table. Texts become Python objects, because they are looked up many times."""
    columns: dict[str, Any] = {}
    for name in table.column_names:
        column = table[name].combine_chunks()
        if pa.types.is_string(column.type):
            coded = column.dictionary_encode()
            values = np.array([*coded.dictionary.to_pylist(), None], dtype=object)
            columns[name] = values[coded.indices.fill_null(len(values) - 1).to_numpy()]
        else:
            columns[name] = column.to_pandas()
    return pd.DataFrame(columns)


def _items(call: Call, name: str, matter_ids: Collection[str]) -> pa.Table:
    needed = (IDS[name], *_SHARED, *(_TIME if name == "time_entries" else ()))
    rows = call.select(name, needed, _OPTIONAL)
    rows = rows.filter(C("matter_id").is_in(list(matter_ids)))
    if name == "time_entries":
        rows = rows.filter(C("billing_type").is_in(["billable", "fixedFee"]))
    table = to_arrow(rows.rename({IDS[name]: "item_id"}))
    table = table.append_column("item", pa.repeat(pa.scalar(IDS[name].removesuffix("_id")), len(table)))
    columns = {
        column: table[column].cast(kind) if column in table.column_names else pa.nulls(len(table), kind)
        for column, kind in _TYPES.items()
    }
    return pa.table(columns)


_TEXTS = (
    *("item", "item_id", "matter_id", "user_id", "user_name", "description", "invoice_id", "billing_type"),
    *_CODES,
)
_TYPES = {
    **dict.fromkeys(_TEXTS, pa.string()),
    **dict.fromkeys(("hours", "rate", "amount"), pa.float64()),
    "date": pa.timestamp("us"),
    **dict.fromkeys(("created_at", "modified_at"), pa.timestamp("us", "UTC")),
}


def _with_matters(items: pd.DataFrame, source: BillSource) -> pd.DataFrame:
    names = {"client_id": "client_id", "matter_type": "matter_type", "practice_area": "practice_area_label"}
    for column, name in (names | {"archived": "archived", "opened": "opened"}).items():
        items[column] = items["matter_id"].map({id_: row.get(name) for id_, row in source.matters.items()})
    return items


def _with_people(items: pd.DataFrame, source: BillSource, roles: Mapping[str, str]) -> pd.DataFrame:
    known = {id_: str(row["role"]) for id_, row in source.users.items() if row["role"] is not None} | dict(roles)
    names = {id_: f"{row['first_name']} {row['last_name']}" for id_, row in source.users.items()}
    items["role"] = items["user_id"].map(known)
    items["user_name"] = items["user_name"].fillna(items["user_id"].map(names))
    items["is_fixed"] = items["billing_type"] == "fixedFee"
    # Fixed-fee time is not billed by the hour, so nothing of it is at risk.
    items["amount"] = items["amount"].mask(items["is_fixed"], 0.0)
    items["rate"] = items["rate"].fillna(items["amount"] / items["hours"].where(items["hours"] != 0))
    return items
