"""The requirements of one client for its e-bills that the API does not have: ids, titles, and the form of write-downs.

A profile is stored as a TOML file and checked when it is read: unknown keys, invalid values and values that contradict
each other raise an error, which names the nearest known key or the accepted values.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, Self

from billframes._names import closest
from billframes._suggestions import suggest_fields
from billframes.config import read_keys
from billframes.ebilling.format import is_plain
from billframes.errors import ConfigError, ParameterError

__all__ = ["REQUIREMENTS", "LedesProfile", "look_up"]

Adjustments = Literal["refuse", "invoice", "lines"]
FixedFees = Literal["IF", "F"]

REQUIREMENTS = ("task", "activity", "expense")
_BY_ROLE = {"principal": "PARTNR", "attorney": "ASSOC", "paralegal": "PARALG"}
_CHOICES: dict[str, tuple[str, ...]] = {"adjustments": ("refuse", "invoice", "lines"), "fixed_fees": ("IF", "F")}
_WIDTHS = {"law_firm_id": 20, "client_id": 20, "matter_ids": 20, "client_matter_ids": 20, "timekeeper_ids": 20}
_WIDTHS |= {"timekeeper_names": 30, "classifications": 10}
_UUID = re.compile(r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)


@suggest_fields
@dataclass(frozen=True, kw_only=True)
class LedesProfile:
    """
    The requirements of one client for its e-bills.

    Users are named by id or e-mail address, matters by id or by the firm's reference.

    Parameters
    ----------
    law_firm_id : str
        The firm's id; in the US its federal tax id. Field 20.
    client : str, optional
        The client of the profile, by reference, id or name. Bills of other clients are refused.
    client_id : str, optional
        The firm's code of the client, if the client has no usable reference. Field 3.
    matter_ids : mapping of matter to str
        The firm's codes of matters that have no usable reference. Field 4.
    client_matter_id : str, optional
        The matters' custom-field column with the client's own number of the matter, such as
        "cf_client_matter_number". Field 24. If it or `client_matter_ids` is given, every matter needs a number.
    client_matter_ids : mapping of matter to str
        The client's own numbers of matters whose custom field is empty. Field 24.
    timekeeper_ids : str or mapping of user to str, optional
        The users' ids as registered with the client: a custom-field column of users, or a table. By default their
        initials. Field 18.
    timekeeper_names : mapping of user to str
        Names that differ from "Last, First" of the users list. Field 22.
    classifications : mapping of user or role to str
        Such as `{"timekeeper": "LGLAST"}`. By default principals are PARTNR, attorneys ASSOC and paralegals PARALG;
        other roles have no default. Field 23.
    adjustments : {"refuse", "invoice", "lines"}
        What to do if an invoice is below the sum of its items: refuse it, write one adjustment of the invoice, or
        spread the difference over the fees in proportion to their amounts.
    fixed_fees : {"IF", "F"}
        Write fixed fees as adjustments of the invoice's fees, or as fees of one unit.
    invoice_description : str
        Field 8.
    billing_start, billing_end : date, optional
        Fields 6 and 7. By default the first and last day of the lines.
    max_description : int, optional
        The largest number of characters of a line's description that the client's portal accepts.
    require : sequence of {"task", "activity", "expense"}
        Codes that the client requires on every line, whatever the matter's settings are.

    Raises
    ------
    ParameterError
        A value is invalid or contradicts another. The message names the key.

    Examples
    --------
    >>> profile = LedesProfile(law_firm_id="06-1234567", adjustments="lines", require=["task"])
    >>> profile.classification("u1", None, "attorney")
    'ASSOC'
    """

    law_firm_id: str
    client: str | None = None
    client_id: str | None = None
    matter_ids: Mapping[str, str] = field(default_factory=dict)
    client_matter_id: str | None = None
    client_matter_ids: Mapping[str, str] = field(default_factory=dict)
    timekeeper_ids: str | Mapping[str, str] | None = None
    timekeeper_names: Mapping[str, str] = field(default_factory=dict)
    classifications: Mapping[str, str] = field(default_factory=dict)
    adjustments: Adjustments = "refuse"
    fixed_fees: FixedFees = "IF"
    invoice_description: str = ""
    billing_start: dt.date | None = None
    billing_end: dt.date | None = None
    max_description: int | None = None
    require: Iterable[str] = ()

    def __post_init__(self) -> None:
        for key in ("law_firm_id", "client", "client_id", "client_matter_id", "invoice_description"):
            _check_text(key, getattr(self, key))
        for key in ("matter_ids", "client_matter_ids", "timekeeper_names", "classifications"):
            _check_table(key, getattr(self, key))
        if not self.law_firm_id:
            raise ParameterError("law_firm_id is empty; it takes the firm's id, in the US its federal tax id.")
        for key, choices in _CHOICES.items():
            _check_choice(key, getattr(self, key), choices)
        self._check_columns()
        self._check_numbers()
        require = (self.require,) if isinstance(self.require, str) else tuple(self.require)
        for each in require:
            _check_choice("require", each, REQUIREMENTS)
        # The class is frozen for users.
        object.__setattr__(self, "require", require)

    def _check_columns(self) -> None:
        if isinstance(self.timekeeper_ids, Mapping):
            _check_table("timekeeper_ids", self.timekeeper_ids)
            owners: dict[str, str] = {}
            for user, each in self.timekeeper_ids.items():
                if owners.setdefault(each, user) != user:
                    raise ParameterError(f"timekeeper_ids gives {each!r} to two people; each needs an id of their own.")
        for key, frame in (("timekeeper_ids", "users"), ("client_matter_id", "matters")):
            value = getattr(self, key)
            if value is not None and not isinstance(value, Mapping) and not str(value).startswith("cf_"):
                raise ParameterError(
                    f"{key}={value!r} is not a custom-field column of {frame}; these begin with 'cf_'."
                )
        if self.client_id and _UUID.fullmatch(self.client_id):
            raise ParameterError(f"client_id={self.client_id!r} is a UUID; it takes the firm's own code of the client.")

    def _check_numbers(self) -> None:
        limit = self.max_description
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
            raise ParameterError(f"max_description={limit!r} is not a number of characters.")
        for key in ("billing_start", "billing_end"):
            day = getattr(self, key)
            if day is not None and (not isinstance(day, dt.date) or isinstance(day, dt.datetime)):
                raise ParameterError(f"{key}={day!r} is not a date.")
        if self.billing_start and self.billing_end and self.billing_start > self.billing_end:
            raise ParameterError(f"billing_start={self.billing_start} is after billing_end={self.billing_end}.")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """
        Read a profile from a TOML file with the same keys.

        Parameters
        ----------
        path : str or Path
            Such as "granite.toml".

        Raises
        ------
        ConfigError
            The file can't be read, is not TOML, or has an unknown key or an invalid value.
        """
        values = read_keys(path, "a LEDES profile", [each.name for each in fields(cls)])
        if "law_firm_id" not in values:
            raise ConfigError(f"{path} has no law_firm_id: the firm's id, in the US its federal tax id.")
        try:
            return cls(**values)
        except ParameterError as error:
            raise ConfigError(f"{path}: {error}") from error

    def classification(self, user_id: str, email: str | None, role: str | None) -> str:
        """Return a user's classification; empty if it is not in the profile and the role has no default."""
        given = look_up(self.classifications, user_id, email, role)
        return given or _BY_ROLE.get(role or "", "")


def look_up(table: Mapping[str, str], *names: str | None) -> str:
    """
    Return the table's value for the first of the names that it has, or an empty text. Case does not matter.

    Examples
    --------
    >>> look_up({"Ada@Firm.example": "A1"}, "u1", "ada@firm.example"), look_up({}, "u1")
    ('A1', '')
    """
    lowered = {key.casefold(): value for key, value in table.items()} if table else {}
    return next((lowered[name.casefold()] for name in names if name and name.casefold() in lowered), "")


def _check_choice(key: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        accepted = ", ".join(map(repr, choices))
        raise ParameterError(f"{key}={value!r} is not known; it takes one of {accepted}.{closest(value, choices)}")


def _check_table(key: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        raise ParameterError(f"{key}={value!r} is not a table of names and values.")
    for name, each in value.items():
        _check_text(f"{key}[{str(name)!r}]", each, _WIDTHS[key])
        if not each:
            raise ParameterError(f"{key}[{str(name)!r}] is empty.")


def _check_text(key: str, value: Any, width: int | None = None) -> None:
    if value is None and key != "law_firm_id":
        return
    if not isinstance(value, str):
        raise ParameterError(f"{key}={value!r} is not a text; put it in quotes.")
    width = width or _WIDTHS.get(key)
    if width and len(value) > width:
        raise ParameterError(f"{key}={value!r} has {len(value)} characters; the format takes {width}.")
    # The client's name or reference is only compared, not written to the file.
    if key != "client" and not is_plain(value):
        raise ParameterError(
            f"{key} has a character that a LEDES file can't hold; it takes ASCII without '|' and '[]'."
        )
