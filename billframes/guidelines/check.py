"""Check work against the guidelines of clients: every finding, and the amount that it puts at risk."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from itertools import chain
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from billframes._shared.names import first_few, join_names, type_in_words
from billframes._shared.notes import note
from billframes._shared.suggestions import SuggestsAttributes, suggest_fields
from billframes.analysis.data.arguments import read_date
from billframes.analysis.rules.amounts import HIDDEN_RATES
from billframes.analysis.rules.codes import NO_GUIDELINES, NOT_JUDGED
from billframes.book import Book
from billframes.client import Client
from billframes.config.firm import FirmSettings, check_settings
from billframes.ebilling.source import BillSource, Row
from billframes.errors import ConfigError, ParameterError
from billframes.guidelines.declare import BEYOND, ITEM_KINDS, SEVERITIES, GuidelineRule, RuleKind, within
from billframes.guidelines.file import RULES, GuidelineFile, named_files
from billframes.guidelines.narratives import EMPTY, FOREIGN, UNCLEAR
from billframes.guidelines.summary import summary
from billframes.guidelines.words import word_list
from billframes.guidelines.work import CHECK, Work, read_work
from billframes.loading.load_info import load_day
from billframes.loading.progress import Progress
from billframes.periods import DateLike, Period, resolve

COLUMNS = (
    *("item", "item_id", "date", "client_id", "client_name", "matter_id", "matter_name", "user_id", "user_name"),
    *("responsible_id", "responsible_name", "invoice_number", "rule", "name", "severity", "problem", "value", "fix"),
    *("clause", "at_risk", "item_amount", "changeable"),
)
_DECIMALS = ("at_risk", "item_amount")
_DTYPES: dict[str, Any] = {
    "date": "datetime64[us]",
    "severity": pd.CategoricalDtype(list(SEVERITIES), ordered=True),
    **dict.fromkeys(_DECIMALS, object),
}
_CENT = Decimal("0.01")
_CURRENCY = RuleKind(
    title="currency",
    keys={},
    on=ITEM_KINDS,
    problem="the client’s guidelines are for {currency}, and the firm bills in another currency",
    fix="Correct the currency in the guideline file or in the firm’s settings.",
)


@suggest_fields
@dataclass(frozen=True, repr=False)
class Guidelines(SuggestsAttributes):
    """
    The billing guidelines of clients, and what of the firm's work they refuse or cut.

    Parameters
    ----------
    files : tuple of GuidelineFile
        One for each client, or for some of its matters.

    Examples
    --------
    >>> guidelines = bf.Guidelines.read(bf.book("2026-10").settings.guidelines)
    >>> [each.client for each in guidelines.files]
    ['Granite Mutual Insurance Company']
    """

    files: tuple[GuidelineFile, ...]

    def __repr__(self) -> str:
        return f"<billframes guidelines of {first_few([each.client for each in self.files], 2)}>"

    @classmethod
    def read(cls, *paths: str | os.PathLike[str]) -> Self:
        """
        Read guideline files.

        Parameters
        ----------
        *paths : str or Path
            Files, such as "granite.toml", and folders of them. The firm's settings can name a folder:
            `bf.Guidelines.read(book.settings.guidelines)`.

        Raises
        ------
        ConfigError
            A file can't be read, is not TOML, or has an unknown key or an invalid value, or a folder has no file.
        ParameterError
            A path is empty, or is not a path.
        """
        return cls(tuple(chain.from_iterable(map(_files_at, paths or ("",)))))

    def check(
        self,
        given: Book | Mapping[str, Any],
        invoice: str | int | Iterable[str | int] | None = None,
        *,
        start: DateLike | None = None,
        end: DateLike | None = None,
        as_of: DateLike | None = None,
        client: Client | None = None,
        progress: bool | Progress | None = None,
        settings: FirmSettings | None = None,
    ) -> pd.DataFrame:
        """
        Find the items that a client may refuse or cut by its billing guidelines, and the amount at risk.

        Without `invoice`, unbilled billable time, unbilled expenses and the items of invoices that are not final are
        checked. Sums over days, budgets and duplicates also count the client's other items, but only those checked are
        reported. Narratives are judged by word lists and patterns. Findings show the matched words, not narratives.

        Parameters
        ----------
        given : Book or mapping of str to frame
            A book, or frames of any engine by name, as for `ledes_check`, with all items of the clients.
        invoice : str, int or list of str, optional
            Numbers or ids of invoices.
        start, end : str or date, optional
            First and last day of the unbilled work, inclusive, or a whole period as `start`. By default all days.
        as_of : str or date, optional
            The day from which the age of work is counted, by default the day on which time entries were loaded.
        client : Client, optional
            The client to read codes of expenses with, if frames are given and a rule has `codes` of expenses.
        progress : bool or callable, optional
            Progress of reading codes, as for the loaders.
        settings : FirmSettings, optional
            The firm's settings, by default those of the book, or of `client`: the currency, the time zone, roles and
            days off count.

        Returns
        -------
        DataFrame
            One row per finding, by `severity` ("refused", "cut", "review"), then the largest `at_risk` first: `item`
            ("time_entry", "expense" or "fixed_fee") and `item_id` (both missing if the finding concerns an invoice or a
            matter), `date`, `client_id`, `client_name`, `matter_id`, `matter_name`, `user_id`, `user_name`,
            `responsible_id`, `responsible_name`, `invoice_number`, `rule` (its table in the file), `name`, `severity`,
            `problem`, `value` (what was found), `fix`, `clause`, `at_risk` and `item_amount` (Decimal; None if rates
            are hidden), and `changeable`: "yes", "take it off the draft first", or "no" for final invoices.

        Raises
        ------
        ConfigError
            A guideline file has a name that is unknown, or two files are for the same matter.
        ParameterError
            An invoice is unknown, a frame is missing, or a period can't be read.
        MissingColumnError
            A frame lacks a column.

        Warns
        -----
        IncompleteDataWarning
            Narratives were not judged, because they are empty or not in the guidelines' language, or nothing of an
            invoice was checked, because no file is for its client, matters and days.
        RatesHiddenWarning
            Time has no amount, so that amounts at risk are missing.

        Examples
        --------
        The settings of the sandbox's firm name a folder with the guidelines of one client:

        >>> book = bf.book("2026-10")
        >>> guidelines = bf.Guidelines.read(book.settings.guidelines)
        >>> findings = guidelines.check(book)
        >>> findings["severity"].value_counts()[["refused", "cut", "review"]].tolist()
        [9, 113, 46]
        >>> guidelines.summary(findings).iloc[-1]["at_risk"]
        Decimal('29319.34')
        """
        check_settings(settings)
        source = BillSource(given, client, settings)
        settings = source.settings or FirmSettings()
        ids = {str(row.get("email")).lower(): id_ for id_, row in source.users.items() if row.get("email")}
        roles = {ids.get(user.lower(), user): role for user, role in settings.roles.items()}
        named = named_files(self.files, source, roles)
        invoices = None if invoice is None else source.find_invoices(invoice)
        period = resolve(start, end)
        day = _as_of(as_of, source, settings)
        items = read_work(source, [id_ for _, ids in named for id_ in ids], settings.time_zone, roles)
        items["chosen"] = _chosen(items, invoices, period)
        checked = [
            Work(items[items["matter_id"].isin(ids)], file, source, day, settings, progress) for file, ids in named
        ]
        found = [each for work in checked for each in _findings(work) if len(each)]
        _note_unchecked(invoices or (), checked)
        _note_silence(checked)
        chosen = items[items["chosen"] & (items["item"] == "time_entry")]
        hidden = int((chosen["amount"].isna() & (chosen["hours"] != 0)).sum())
        so = "amounts at risk that include them are missing"
        note(HIDDEN_RATES, hidden, CHECK, which=" under guidelines", consequence=so)
        people = dict(zip(items["user_id"], items["user_name"], strict=True))
        # Work and findings together would take twice the memory.
        del checked, items, chosen
        return _frame(found, source, people)

    summary = staticmethod(summary)

    @staticmethod
    def words(name: str | None = None) -> list[str]:
        """
        Return a word list that client guidelines can name, or the names of all lists.

        Parameters
        ----------
        name : str, optional
            Such as "clerical".

        Returns
        -------
        list of str
            The phrases of the list, in the syntax of `own_words`; without a name, the names of the lists.

        Raises
        ------
        ParameterError
            There is no such list.

        Examples
        --------
        >>> bf.Guidelines.words("experts")
        ['expert|experts', 'consultant|consultants']
        """
        return word_list(name)


def _files_at(path: Any) -> Iterator[GuidelineFile]:
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(f"Guidelines.read takes files and folders; one of them is {type_in_words(path)}.")
    if not os.fspath(path):
        raise ParameterError(
            "There is no path of guidelines: pass a file or a folder, or name one with `guidelines` in the firm's "
            "settings."
        )
    folder = Path(path)
    files = sorted(folder.glob("*.toml")) if folder.is_dir() else [folder]
    if not files:
        raise ConfigError(f"{path} has no guideline file; these end with .toml.")
    yield from map(GuidelineFile.load, files)


def _as_of(given: DateLike | None, source: BillSource, settings: FirmSettings) -> dt.date:
    day = load_day(source.native("time_entries"), settings.time_zone) if given is None else read_date(given, "as_of")
    if day is None:
        raise ParameterError("as_of= is needed: the frames do not say on which day they were loaded.")
    return day


def _chosen(items: pd.DataFrame, invoices: Iterable[Row] | None, period: Period) -> pd.Series[bool]:
    if invoices is not None:
        return items["invoice_id"].isin([each["invoice_id"] for each in invoices])
    return items["is_open"] & within(items["date"], period.start, period.end)


def _findings(work: Work) -> Iterator[pd.DataFrame]:
    currency = work.settings.currency
    if work.file.currency and currency and currency != work.file.currency:
        yield _judge(
            GuidelineRule("currency", {"severity": "refused", "currency": work.file.currency}), _CURRENCY, work
        )
    for rule in work.file.rules:
        yield _judge(rule, RULES[rule.kind], work)


def _judge(rule: GuidelineRule, kind: RuleKind, work: Work) -> pd.DataFrame:
    """Run one rule: select items, find those beyond the limit, and add the words and the amount at risk."""
    rows = work.select(rule, kind)
    hits = kind.judge(rule, rows, work) if len(rows) else rows.iloc[:0]
    if hits.empty:
        return hits
    if "client_id" in hits:
        hits = hits.assign(**{name: None for name in _OF_ITEM if name not in hits})
    else:
        hits = hits[rows["chosen"].loc[hits.index]]
        hits = work.items.loc[hits.index, list(_OF_ITEM)].join(hits)
    for name, text in {"severity": rule.get("severity"), "problem": kind.problem.format_map(rule.values)}.items():
        hits[name] = hits[name].fillna(text) if name in hits else text
    hits["at_risk"] = _at_risk(hits, rule, kind)
    texts = {"name": rule.get("name", kind.title), "fix": rule.get("advice", kind.fix), "clause": rule.get("clause")}
    # A finding about a whole invoice or matter has its own columns; others have only these.
    return hits.assign(rule=rule.kind, **texts).drop(columns="excess", errors="ignore")


_OF_ITEM = (
    *("item", "item_id", "date", "client_id", "matter_id", "user_id", "invoice_number"),
    *("amount", "is_open", "is_unbilled"),
)


def _at_risk(hits: pd.DataFrame, rule: GuidelineRule, kind: RuleKind) -> pd.Series[Any]:
    """
    Return the amounts at risk: 0 for a review; the item if it is refused; a share of it or the excess if it is cut.

    An excess is at most the item's amount, and nothing of a negative item is at risk.
    """
    amount = hits["amount"].clip(lower=0.0)
    excess = hits["excess"].astype("float64") if "excess" in hits else pd.Series(np.nan, index=hits.index)
    # Without an excess it is the whole item.
    beyond = pd.concat([excess, amount], axis=1).min(axis=1).where(amount.notna())
    cut = amount * rule.get("share") if rule.get("share") is not None else beyond
    refused = beyond if kind.refuses == BEYOND else amount
    return refused.where(hits["severity"] == "refused", cut).mask(hits["severity"] == "review", 0.0)


def _cents(amounts: pd.Series[Any]) -> pd.Series[Any]:
    """Round amounts half up to cents. Each amount is converted once, because that takes long."""
    codes, unique = pd.factorize(amounts.astype("float64"))
    exact = [Decimal(f"{amount:.6f}").quantize(_CENT, ROUND_HALF_UP) for amount in unique]
    return pd.Series(np.array([*exact, None], dtype=object)[codes], index=amounts.index, dtype=object)


def _frame(found: list[pd.DataFrame], source: BillSource, people: Mapping[str, str]) -> pd.DataFrame:
    if not found:
        return pd.DataFrame({name: pd.Series(dtype=_DTYPES.get(name, "str")) for name in COLUMNS})
    rows = pd.concat(found, ignore_index=True)
    found.clear()
    rows["severity"] = rows["severity"].astype(_DTYPES["severity"])
    order = ["severity", "at_risk", "date", "item_id", "rule"]
    rows = rows.sort_values(order, ascending=[True, False, True, True, True], na_position="first", ignore_index=True)
    rows["user_name"] = rows["user_id"].map(people)
    matters = source.matters.values()
    rows["client_name"] = rows["client_id"].map({row["client_id"]: row.get("client_name") for row in matters})
    for column, name in (("matter_name", "name"), *((each, each) for each in ("responsible_id", "responsible_name"))):
        rows[column] = rows["matter_id"].map({row["matter_id"]: row.get(name) for row in matters})
    open_ = np.where(rows["is_open"].astype(bool), "take it off the draft first", "no")
    rows["changeable"] = np.where(rows["is_unbilled"].astype(bool), "yes", open_)
    rows = rows.assign(at_risk=_cents(rows["at_risk"]), item_amount=_cents(rows["amount"]))
    return rows.reindex(columns=COLUMNS).astype({name: _DTYPES.get(name, "str") for name in COLUMNS})


def _note_unchecked(invoices: Iterable[Row], checked: list[Work]) -> None:
    """Say which invoices no file is for: without findings, they would look as if they kept the guidelines."""
    covered: set[str] = set()
    for work in checked:
        chosen = work.items["chosen"] & within(work.items["date"], work.file.effective, work.file.until)
        covered |= {*work.items.loc[chosen, "invoice_id"]}
    names = [
        f"{each['invoice_number'] or each['invoice_id']} ({each.get('client_name') or each['client_id']})"
        for each in invoices
        if each["invoice_id"] not in covered
    ]
    note(NO_GUIDELINES, len(names), CHECK, invoices=first_few(names))


def _note_silence(checked: list[Work]) -> None:
    total, counts = 0, pd.Series(dtype="int64")
    for work in checked:
        kinds = [RULES[rule.kind] for rule in work.file.rules]
        if any(kind.reads_text for kind in kinds):
            items = work.items[work.items["chosen"] & (work.items["item"] == "time_entry")]
            total += len(items)
            counts = counts.add(work.language.loc[items.index].value_counts(), fill_value=0)
    silent = {name: int(counts.get(name, 0)) for name in (FOREIGN, UNCLEAR, EMPTY)}
    words = [f"{count:,} {name}" for name, count in silent.items() if count]
    more = " For unclear ones, only word lists are used." if silent[UNCLEAR] else ""
    note(NOT_JUDGED, sum(silent.values()), CHECK, total=total, kinds=join_names(words), more=more)
