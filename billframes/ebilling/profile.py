"""The requirements of one client for its e-bills that the API does not have: ids, titles, taxes, and write-downs.

A profile is stored as a TOML file and checked when it is read: unknown keys, invalid values and values that contradict
each other raise an error, which names the nearest known key or the accepted values.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, Self

from billframes._shared.names import closest
from billframes._shared.suggestions import SuggestsAttributes, check_keys, suggest_fields
from billframes.config import read_keys
from billframes.config.firm_values import read_date, read_list, read_number
from billframes.ebilling.ledes_formats import FIELDS, LEDES_98BI, LEDES_1998B, LedesFormat
from billframes.ebilling.plain_text import is_plain
from billframes.errors import ConfigError, ParameterError

Adjustments = Literal["refuse", "invoice", "lines"]
FixedFees = Literal["IF", "F"]

REQUIREMENTS = ("task", "activity", "expense")
_BY_ROLE = {"principal": "PARTNR", "attorney": "ASSOC", "paralegal": "PARALG"}
_CHOICES: dict[str, tuple[str, ...]] = {"adjustments": ("refuse", "invoice", "lines"), "fixed_fees": ("IF", "F")}
_CHOICES |= {"format": ("1998B", "98BI V2"), "account_type": ("O", "T")}
ADDRESS_KEYS = ("name", "address_1", "address_2", "city", "region", "postcode", "country")
"""The keys of an address, in the order of its fields."""
_COUNTRY = re.compile("[A-Z]{2,3}")
_WIDTHS = {"law_firm_id": 20, "client_id": 20, "matter_ids": 20, "client_matter_ids": 20, "timekeeper_ids": 20}
_WIDTHS |= {"timekeeper_names": 30, "classifications": 10, "po_numbers": 100, "tax_lines": 20}
_UUID = re.compile(r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_ON = {"fees": ("time_entry", "fixed_fee"), "expenses": ("expense",), "both": ("time_entry", "fixed_fee", "expense")}
_TAX_KEYS = ("type", "rate", "on", "codes", "matters", "from", "until")
_TYPE_WIDTH = 20


@dataclass(frozen=True, slots=True)
class LedesTax:
    """A tax of a profile: its kinds of items, prefixes of codes, matters, and first and last invoice date."""

    type: str
    rate: Decimal
    on: str = "both"
    codes: tuple[str, ...] = ()
    matters: tuple[str, ...] = ()
    start: dt.date | None = None
    end: dt.date | None = None

    def holds(self, kind: str, codes: Iterable[str | None], matter: Iterable[str], day: dt.date | None) -> bool:
        """Tell whether the tax is charged on a kind of item, with codes, on a matter with names, on an invoice."""
        return (
            kind in _ON[self.on]
            and (not self.codes or any(code and code.startswith(self.codes) for code in codes))
            and (not self.matters or not {each.casefold() for each in self.matters}.isdisjoint(matter))
            and is_between(day, self.start, self.end)
        )


def is_between(day: dt.date | None, start: dt.date | None, end: dt.date | None) -> bool:
    """Tell whether a day is between two days, which are inclusive; None is open, and a day that is later than all."""
    return end is None if day is None else (start is None or start <= day) and (end is None or day <= end)


@suggest_fields
@dataclass(frozen=True, kw_only=True)
class LedesProfile(SuggestsAttributes):
    """
    The requirements of one client for its e-bills.

    Users are named by id or e-mail address, matters by id or by the firm's reference.

    Parameters
    ----------
    law_firm_id : str
        The firm's id; in the US its federal tax id. Field 20.
    client : str, optional
        The client of the profile, by reference, id or full name. Bills of other clients are refused.
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
    format : {"1998B", "98BI V2"}
        The file's format. 98BI has tax on each line.
    currency : str, optional
        The ISO 4217 code of the currency, such as "GBP". Required for 98BI. It must be that of the firm's settings.
    account_type : {"O", "T"}, optional
        "O" if the client pays itself, "T" if a third party pays. Required for 98BI.
    po_numbers : mapping of matter to str
        The client's purchase orders. Field 25.
    firm : mapping of str to str
        The firm's `name`, `address_1`, `address_2`, `city`, `region`, `postcode` and `country`. Fields 34 to 40.
    client_address : mapping of str to str
        The client's, with the same keys and `tax_id`, if they differ from the clients frame. Fields 26 and 41 to 47.
    tax : sequence of mapping, optional
        Taxes, each with `type` and `rate`, such as `{"type": "VAT", "rate": 0.2}`. `on` is "fees", "expenses" or "both"
        (the default); `codes` are prefixes of codes, and `matters` ids or references; `from` and `until` are invoice
        dates, both inclusive. The first tax that holds for a line counts. By default, the `taxes` of the firm's
        settings.
    tax_lines : str, optional
        For 1998B, the expense code of one line with the invoice's tax, such as "E124". By default, an invoice with tax
        is refused.
    tax_codes : sequence of str
        The client's own codes of lines of tax. Such lines in files are not checked as work.
    credit_notes : bool, default False
        Whether the client's portal takes invoices below 0 as files.

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
    format: Literal["1998B", "98BI V2"] = "1998B"
    currency: str | None = None
    account_type: Literal["O", "T"] | None = None
    po_numbers: Mapping[str, str] = field(default_factory=dict)
    firm: Mapping[str, str] = field(default_factory=dict)
    client_address: Mapping[str, str] = field(default_factory=dict)
    tax: Sequence[Mapping[str, Any] | LedesTax] | None = None
    tax_lines: str | None = None
    tax_codes: Iterable[str] = ()
    credit_notes: bool = False

    def __post_init__(self) -> None:
        for key in ("law_firm_id", "client", "client_id", "client_matter_id", "invoice_description", "tax_lines"):
            _check_text(key, getattr(self, key))
        for key in ("matter_ids", "client_matter_ids", "timekeeper_names", "classifications", "po_numbers"):
            _check_table(key, getattr(self, key))
        if not self.law_firm_id:
            raise ParameterError("law_firm_id is empty; it takes the firm's id, in the US its federal tax id.")
        for key, choices in _CHOICES.items():
            if key != "account_type" or self.account_type is not None:
                _check_choice(key, getattr(self, key), choices)
        self._check_columns()
        self._check_numbers()
        require = (self.require,) if isinstance(self.require, str) else tuple(self.require)
        for each in require:
            _check_choice("require", each, REQUIREMENTS)
        codes = (self.tax_codes,) if isinstance(self.tax_codes, str) else tuple(self.tax_codes)
        taxes = None if self.tax is None else _read_taxes(self.tax)
        self._check_international()
        for key, value in (("require", require), ("tax_codes", codes), ("tax", taxes)):
            # The class is frozen for users.
            object.__setattr__(self, key, value)

    @property
    def form(self) -> LedesFormat:
        """The file's format."""
        return LEDES_98BI if self.format == "98BI V2" else LEDES_1998B

    @property
    def writes_taxes(self) -> bool:
        """Whether files have tax: on each line, or as one line."""
        return self.form.has_taxes or self.tax_lines is not None

    def _check_international(self) -> None:
        for key, names in (("firm", ADDRESS_KEYS), ("client_address", (*ADDRESS_KEYS, "tax_id"))):
            _check_address(key, getattr(self, key), names)
        if self.currency is not None and not re.fullmatch("[A-Z]{3}", str(self.currency)):
            raise ParameterError(f"currency={self.currency!r} is not a currency code; it takes three capital letters.")
        if not isinstance(self.credit_notes, bool):
            raise ParameterError(f"credit_notes={self.credit_notes!r} is neither true nor false.")
        if not self.form.has_taxes:
            return
        for key in ("currency", "account_type"):
            if getattr(self, key) is None:
                raise ParameterError(f"98BI V2 needs {key} in the profile.")
        if self.tax_lines is not None:
            raise ParameterError("tax_lines is for 1998B; 98BI V2 has the tax on each line. Keep one of the two.")

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
    """Return the table's value for the first of the names that it has, or an empty text. Case does not matter."""
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


def _check_address(key: str, value: Any, names: tuple[str, ...]) -> None:
    if not isinstance(value, Mapping):
        raise ParameterError(f"{key}={value!r} is not a table of an address.")
    check_keys(key, value, names)
    first = 34 if key == "firm" else 41
    for name, each in value.items():
        width = 20 if name == "tax_id" else FIELDS[first - 1 + ADDRESS_KEYS.index(name)].width
        _check_text(f"{key}.{name}", each, width)
    if value.get("country") and not _COUNTRY.fullmatch(value["country"]):
        raise ParameterError(f"{key}.country={value['country']!r} is not a code of two or three capital letters.")


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


def _read_taxes(value: Any) -> tuple[LedesTax, ...]:
    """Read the taxes of a profile; raise `ParameterError` with the key of a value that is invalid."""
    if isinstance(value, Mapping):
        raise ParameterError("tax is one table; write each tax as [[tax]], or as a table in a list.")
    return tuple(
        each if isinstance(each, LedesTax) else _read_tax(each, f"tax[{nth}]")
        for nth, each in enumerate(read_list(value, "tax"))
    )


def _read_tax(value: Any, key: str) -> LedesTax:
    if not isinstance(value, Mapping):
        raise ParameterError(f"{key}={value!r} is not a tax; it takes {{'type': 'VAT', 'rate': 0.2}}.")
    check_keys(key, value, _TAX_KEYS)
    if missing := [name for name in ("type", "rate") if name not in value]:
        raise ParameterError(f"{key} has no {missing[0]}; a tax needs a type, such as 'VAT', and a rate.")
    kind, on = value["type"], value.get("on", "both")
    if not isinstance(kind, str) or not kind or not is_plain(kind) or len(kind) > _TYPE_WIDTH:
        raise ParameterError(f"{key} has the type {kind!r}; it takes at most {_TYPE_WIDTH} ASCII characters.")
    if on not in _ON:
        raise ParameterError(f"{key} has on={on!r}; it takes one of {(*_ON,)}.{closest(str(on), _ON)}")
    rate = read_number(value["rate"], f"{key}: rate")
    if not 0 <= rate <= 1:
        hint = f" Write {rate:g}% as {rate / 100:g}." if 1 < rate <= 100 else ""
        raise ParameterError(f"{key} has rate={value['rate']!r}, which is not a rate from 0 to 1.{hint}")
    codes, matters = (
        tuple(map(str, read_list(value.get(name, ()), f"{key}: {name}"))) for name in ("codes", "matters")
    )
    days = [read_date(value[name], f"{key}: {name}") if name in value else None for name in ("from", "until")]
    if days[0] and days[1] and days[0] > days[1]:
        raise ParameterError(f"{key} has from={days[0]}, which is after until={days[1]}.")
    return LedesTax(kind, Decimal(repr(value["rate"])), on, codes, matters, *days)
