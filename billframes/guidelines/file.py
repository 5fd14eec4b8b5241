"""Guideline files: one TOML file for each client, checked when it is read and when its names are looked up."""

from __future__ import annotations

import datetime as dt
import os
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from numbers import Real
from pathlib import Path
from typing import Any, Self

from billframes._shared.format import count_of
from billframes._shared.names import closest, first_few
from billframes._shared.suggestions import SuggestsAttributes
from billframes.analysis.declare.columns import ENUMS
from billframes.config import read_keys
from billframes.ebilling.source import BillSource
from billframes.errors import ConfigError
from billframes.guidelines import item_rules, matter_rules, sum_rules
from billframes.guidelines.declare import COMMON, GuidelineRule, RuleKind
from billframes.guidelines.keys import choice, day, flag, read_table, text, texts

# In the order in which messages list them.
_NAMES = (
    *("block", "barred", "vague", "rates", "staff", "expense", "travel", "increment", "entry_hours", "day_hours"),
    *("age", "approval", "budget", "invoice", "codes", "duplicates", "meetings", "matter", "recording", "wording"),
    "calendar",
)
_DECLARED = ChainMap(*map(vars, (item_rules, sum_rules, matter_rules)))
RULES: dict[str, RuleKind] = {name: _DECLARED[name] for name in _NAMES}
_TOP = {
    **dict.fromkeys(("client", "title", "currency"), text),
    **dict.fromkeys(("effective", "until"), day),
    "matters": texts,
    "language": choice("en"),
    "fixed_fee_time": flag,
}


@dataclass(frozen=True, kw_only=True, repr=False)
class GuidelineFile(SuggestsAttributes):
    r"""
    The billing guidelines of one client, which a file states.

    Parameters
    ----------
    client : str
        The client's name, reference or id.
    rules : tuple of GuidelineRule
        The rules, in the order of the file.
    title : str
        The guidelines' title.
    effective, until : date, optional
        First and last day of the work that they apply to.
    matters : tuple of str
        The matters that they apply to, by reference or id; all of the client's if empty.
    currency : str
        The currency that the client accepts.
    language : str
        The language of the word lists.
    fixed_fee_time : bool
        Whether the narratives of fixed-fee time are judged, too.
    path : str
        The file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "acme.toml")
    ...     _ = file.write_text('client = "Acme"\n[entry_hours]\nmax = 10\nseverity = "review"')
    ...     guidelines = GuidelineFile.load(file)
    >>> guidelines.client, [rule.kind for rule in guidelines.rules]
    ('Acme', ['entry_hours'])
    """

    client: str
    rules: tuple[GuidelineRule, ...]
    title: str = ""
    effective: dt.date | None = None
    until: dt.date | None = None
    matters: tuple[str, ...] = ()
    currency: str = ""
    language: str = ""
    fixed_fee_time: bool = False
    path: str = ""

    def __repr__(self) -> str:
        return f"<billframes guidelines of {self.client}, {count_of(len(self.rules), 'rule')}>"

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """
        Read a guideline file.

        Parameters
        ----------
        path : str or Path
            Such as "granite.toml".

        Raises
        ------
        ConfigError
            The file can't be read, is not TOML, or has an unknown key or an invalid value. The message names it.
        """
        values = read_keys(Path(path), "billing guidelines", [*_TOP, *RULES])
        try:
            top = read_table({key: each for key, each in values.items() if key in _TOP}, _TOP, ("client",), "the file")
            rules = tuple(_rules({key: each for key, each in values.items() if key in RULES}, top.get("language")))
        except ConfigError as error:
            raise ConfigError(f"{path}: {error}") from error
        top["matters"] = tuple(top.get("matters", ()))
        return cls(rules=rules, path=str(path), **top)


def rule_title(name: str) -> str:
    """Return a rule's title for readers; other words are returned unchanged."""
    return RULES[name].title if name in RULES else name


def _rules(tables: Mapping[str, Any], language: str | None) -> Iterator[GuidelineRule]:
    for name, value in tables.items():
        given = value if isinstance(value, list) else [value]
        if not given or not all(isinstance(each, dict) for each in given):
            raise ConfigError(f"[{name}] is not a table; write its keys below a line [{name}].")
        for table in given:
            yield _rule(name, table, language)


def _rule(name: str, table: Mapping[str, Any], language: str | None) -> GuidelineRule:
    kind, where = RULES[name], f"[{name}]"
    values = read_table(table, {**kind.keys, **COMMON}, kind.required, where)
    if "severity" not in values:
        raise ConfigError(f"{where} has no severity; it takes 'refused', 'cut' or 'review'.")
    if kind.needs and not values.keys() & set(kind.needs):
        raise ConfigError(
            f"{where} needs {', '.join(kind.needs[:-1])} or {kind.needs[-1]}.".replace("needs  or", "needs")
        )
    if kind.review_only and values["severity"] != "review":
        raise ConfigError(f"{where} takes only severity = 'review', because the data can only give a hint.")
    if "share" in values and values["severity"] != "cut":
        raise ConfigError(f"{where} has share and severity = {values['severity']!r}; share is only for 'cut'.")
    if name == "approval" and "per" not in values and values.keys() & {"over_hours", "over_amount", "given"}:
        raise ConfigError(f"{where} has a limit, but no per; it takes 'entry', 'matter' or 'matter and month'.")
    if language is None and (kind.english or values.keys() & {"words", "if_words"}):
        raise ConfigError(f"{where} uses word lists of a language; add language = 'en' at the top of the file.")
    return GuidelineRule(name, values)


def named_files(
    files: Iterable[GuidelineFile], source: BillSource, roles: Mapping[str, str]
) -> list[tuple[GuidelineFile, list[str]]]:
    """
    Replace the names in guidelines by ids, and return each with the ids of its matters.

    Raise `ConfigError` if a name is unknown, or two files are for the same matter.
    """
    names = _Names(source, roles)
    found = [names.of_file(each) for each in files]
    for (one, matters), (other, others) in combinations(found, 2):
        if common := set(matters) & set(others):
            ids = sorted(names.matter_names[id_] for id_ in common)
            raise ConfigError(
                f"{one.path} and {other.path} are both for {one.client} ({first_few(ids, 3)}); give each its own "
                "matters."
            )
    return found


class _Names:
    """Finds clients, matters, people and others by the names that a file has for them."""

    def __init__(self, source: BillSource, roles: Mapping[str, str]) -> None:
        self.source = source
        self.matter_names = {
            id_: str(row.get("reference") or row.get("name") or id_) for id_, row in source.matters.items()
        }
        rows, users = source.matters.values(), source.users.items()
        clients = [row for row in (*rows, *source.invoices) if row.get("client_id") is not None]
        self.known: dict[str, dict[str, dict[str, str]]] = {
            "client": _by_name(
                (row["client_id"], row["client_id"], row.get("client_name"), row.get("client_reference"))
                for row in clients
            ),
            "matter": _by_name((id_, id_, row.get("reference")) for id_, row in source.matters.items()),
            "user": _by_name((id_, id_, row.get("email")) for id_, row in users),
            "role": _by_name((each, each) for each in (*ENUMS["role"], *roles.values())),
            "practice area": _by_name(
                (row["practice_area_label"],) * 2 for row in rows if row.get("practice_area_label")
            ),
            "matter type": _by_name((each, each) for each in ENUMS["matter_type"]),
        }

    def of_file(self, file: GuidelineFile) -> tuple[GuidelineFile, list[str]]:
        """Return a file with ids, and the ids of its matters."""
        try:
            client = self._id("client", file.client, "client")
            own = [id_ for id_, row in self.source.matters.items() if row["client_id"] == client]
            wanted = [self._id("matter", each, "matters") for each in file.matters]
            rules = tuple(GuidelineRule(each.kind, self._values(each)) for each in file.rules)
        except ConfigError as error:
            raise ConfigError(f"{file.path}: {error}" if file.path else str(error)) from error
        others = [name for name, id_ in zip(file.matters, wanted, strict=True) if id_ not in own]
        if others:
            raise ConfigError(f"{file.path}: matters names {others[0]!r}, which is not a matter of {file.client!r}.")
        return replace(file, rules=rules), [id_ for id_ in own if not wanted or id_ in wanted]

    def _values(self, rule: GuidelineRule) -> dict[str, Any]:
        where, values = f"[{rule.kind}]", dict(rule.values)
        for key, kind in _NAMED.items():
            if key in values:
                values[key] = [self._id(kind, each, f"{where} {key}") for each in values[key]]
        for key in ("approved", "given"):
            if key in values:
                kinds = ("user", "role", "matter")
                rows = values[key]
                values[key] = [
                    row | {each: self._id(each, row[each], f"{where} {key}") for each in kinds if each in row}
                    for row in rows
                ]
        if "max_by_role" in values:
            values["max_by_role"] = {
                self._id("role", each, where): count for each, count in values["max_by_role"].items()
            }
        matters, users = self.source.matters, self.source.users
        for key, records in (("field", matters), ("closed_field", matters), ("start_field", users)):
            if key in values and records:
                _check_field(f"{where} has {key} = {values[key]!r}", values[key], records, amounts=key == "field")
        return values

    def _id(self, kind: str, name: str, where: str) -> str:
        found = self.known[kind].get(name.casefold(), {})
        if not found:
            names = [each for ids in self.known[kind].values() for each in ids.values()]
            raise ConfigError(f"{where} names {name!r}, but there is no such {kind}.{closest(name, names)}")
        if len(found) > 1:
            raise ConfigError(f"{where} names {name!r}, which {len(found)} {kind}s have; give the id of one.")
        return next(iter(found))


_NAMED = {
    "matters": "matter",
    "practice_areas": "practice area",
    "matter_types": "matter type",
    "users": "user",
    "users_allowed": "user",
    "roles": "role",
}


def _check_field(which: str, name: str, records: Mapping[str, Mapping[str, Any]], *, amounts: bool) -> None:
    """Raise `ConfigError` if a field is not a column, or has values that can't be compared."""
    columns = list(next(iter(records.values())))
    if name not in columns:
        fields = [each for each in columns if each.startswith("cf_")]
        hint = closest(name, columns) or f" Custom fields are {', '.join(fields) or 'none'}."
        raise ConfigError(f"{which}, which is not a column.{hint}")
    for value in (row[name] for row in records.values()):
        if value is not None and value == value and not isinstance(value, Real if amounts else dt.date):
            raise ConfigError(f"{which}, with values such as {value!r}, not {'amounts' if amounts else 'dates'}.")


def _by_name(rows: Iterable[Iterable[Any]]) -> dict[str, dict[str, str]]:
    """Return ids and the name itself by each name in small letters."""
    found: dict[str, dict[str, str]] = {}
    for id_, *names in rows:
        for name in names:
            if name is not None:
                found.setdefault(str(name).casefold(), {})[id_] = str(name)
    return found
