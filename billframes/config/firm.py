"""The firm's settings, which the API does not have: calendar, people's hours, leave, targets and rates.

No setting is guessed. An omitted setting has the default shown, or its columns are missing in results.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, cast

from billframes._shared.messages import warn
from billframes._shared.names import join_names, type_in_words
from billframes._shared.suggestions import SuggestsAttributes, suggest_fields, suggest_settings
from billframes.config import read_keys
from billframes.config.credits import CreditRule, read_credits
from billframes.config.firm_values import FIRM, READERS, WEEKDAYS, Target
from billframes.config.ledger import LedgerSettings, read_names
from billframes.config.taxes import PaymentOrder, Tax, read_payment_order, read_taxes
from billframes.config.watch import Rule, read_rules
from billframes.errors import ConfigError, IncompleteDataWarning, ParameterError
from billframes.periods import MONTHS, DateLike, FiscalYear
from billframes.wings import module_of, wings

__all__ = ["FirmSettings", "Target", "Tax", "describe_settings"]

_READERS = READERS | {
    "taxes": read_taxes,
    "payment_order": read_payment_order,
    "ledger": read_names,
    "credits": read_credits,
    "watch": read_rules,
}
_BY_USER = ("user_hours", "user_start", "user_end", "leave", "targets", "standard_rates", "cost_rates", "roles")


@suggest_settings
@suggest_fields
@dataclass(frozen=True, kw_only=True)
class FirmSettings(SuggestsAttributes):
    """
    A firm's calendar, targets and rates, which analyses take as `settings=`.

    Users are named by id or by e-mail address; for e-mail addresses, analyses also need the users frame. Analyses warn
    of users and matters that are named here but missing from the users or matters frame passed to them. On lazy frames
    this takes one small query for each of the two.

    Parameters
    ----------
    currency : str
        ISO 4217 code of the currency of all amounts, such as "USD". The API does not have it. By default, reports,
        charts and tables show no currency.
    time_zone : str
        IANA name of the firm's time zone.
    working_days : sequence of str
        Working days of the week: "Mon" to "Sun".
    holidays : sequence of date
        Days off that fall on working days.
    hours_per_day : float
        Available hours per working day.
    user_hours : mapping of user to float
        Available hours per working day of users whose hours differ from `hours_per_day`.
    user_start, user_end : mapping of user to date
        First and last day in the firm, inclusive. There are no available hours on other days.
    leave : mapping of user to list of date or (first, last)
        Days of leave; of a pair, both ends are inclusive. A pair must be in a list: `[("2026-08-03", "2026-08-14")]`.
    targets : mapping of user to Target
        `{"hours": 1600, "fees": 480000, "period": "year"}`, or `"month"`: client hours, fees billed, or both. The
        firm's own target has the name "firm", and can also have a `utilization` such as 0.7: the monthly report shows
        utilization beside it, and fees billed beside the firm's target as a budget.
    fiscal_year_start : str, optional
        The month in which the fiscal year begins, such as "07", or its first day, such as "04-06". Periods such as
        "FY2026" and "fiscal ytd", and the keys `fiscal_year` and `fiscal_quarter`, need it. Yearly targets and years to
        date follow it; by default they are those of the calendar year.
    fiscal_year_name : {"end", "start"}
        Whether a fiscal year is named after the calendar year in which it ends or begins.
    realization_floor : float, optional
        The billing realization below which the monthly report names practice areas and clients, such as 0.9 for 90%.
    standard_rates, cost_rates : mapping of user to float
        Money per hour. A standard rate may have dates: with `{"2025-01-01": 380, "2026-01-01": 400}` the rate is 380
        for work of 2025 and 400 from 2026 on. Work before the first date has no standard rate.
    budgets : mapping of matter id to float
        Money.
    originator_weights : mapping of matter id to mapping of user to float
        The share of a matter that each originator is credited with; the shares add up to 1.
    roles : mapping of user to str
        Roles that take precedence over those of the users list.
    taxes : sequence of Tax
        Taxes in the invoices' amounts, which the API does not show, such as
        `{"name": "GST", "rate": 0.05, "on": ["time", "fixed_fees"], "clients": ["c1"], "start": "2026-01-01"}`. `on`
        can also have "expenses", and is all three kinds if omitted. `except_clients` can replace `clients`; `start` and
        `end` are invoice dates, both inclusive. Several taxes on one item add up. Fees never include tax; balances do.
    payment_order : "proportional" or sequence of str
        What a part payment of an invoice settles: all parts in proportion, or each part in full before the next, such
        as `("tax", "expenses", "fees")`. Invoices below 0, or with a part below 0, are always settled in proportion.
    discounts : {"time", "items"}
        Which items bear an invoice's discount in figures of fees: only time, because a fixed fee is an agreed amount,
        or time and fixed fees by their value ("items").
    matter_types : sequence of str
        The types of matter that count in realization, write-downs and effective rates; by default all but contingency,
        pro bono and internal.
    report : mapping of str to str
        The look of the monthly report: `title`, the firm's name; `logo`, a PNG, JPEG or SVG file; `accent`, a colour
        such as "#1f4e79"; `paper`, "A4" or "Letter". Without `paper`, amounts in USD and CAD are printed on Letter.
        `order` is the order of people on the firm's page of the week: "name", by default, within each role, or "hours".
    guidelines : str
        A file or folder of clients' billing guidelines; in a file of settings, its place is relative to that file.
    guidelines_field : str
        The matters' custom-field column that tells whether a client has guidelines, so that their lack is reported.
    ledger : LedgerSettings
        Names in the firm's books, such as `{"customers": {"Acme Inc": "c1"}, "trust_accounts": ["IOLTA"]}`: customers
        that are named differently from the client, and the items and accounts of write-offs, discounts, trust money,
        expenses and tax.
    credits : CreditRule, optional
        Whose credit the fees are, such as `{"firm": 0.1, "originating": 0.2, "responsible": 0.1}`; the rest is for the
        work. `book.credits` and `billframes credits` use it.
    watch : sequence of Rule
        What `billframes watch` looks for, such as `{"figure": "wip", "by": "client", "above": 50000}`.

    Raises
    ------
    ParameterError
        A value is invalid. The message names its key.

    Examples
    --------
    >>> firm = FirmSettings(hours_per_day=7.5, leave={"u1": [("2026-10-05", "2026-10-09")]})
    >>> firm.leave["u1"]
    [(datetime.date(2026, 10, 5), datetime.date(2026, 10, 9))]
    """

    source: ClassVar[str] = ""
    """Path of the file that the settings were loaded from; empty if they were not loaded."""

    currency: str = ""
    time_zone: str = "UTC"
    working_days: Sequence[str] = ("Mon", "Tue", "Wed", "Thu", "Fri")
    holidays: Sequence[DateLike] = ()
    hours_per_day: float = 8.0
    user_hours: Mapping[str, float] = field(default_factory=dict)
    user_start: Mapping[str, DateLike] = field(default_factory=dict)
    user_end: Mapping[str, DateLike] = field(default_factory=dict)
    leave: Mapping[str, Sequence[DateLike | Sequence[DateLike]]] = field(default_factory=dict)
    targets: Mapping[str, Target] = field(default_factory=dict)
    fiscal_year_start: str | int | None = None
    fiscal_year_name: Literal["end", "start"] = "end"
    realization_floor: float | None = None
    standard_rates: Mapping[str, float | Mapping[Any, float]] = field(default_factory=dict)
    cost_rates: Mapping[str, float] = field(default_factory=dict)
    budgets: Mapping[str, float] = field(default_factory=dict)
    originator_weights: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    taxes: Sequence[Tax | Mapping[str, Any]] = ()
    payment_order: PaymentOrder | Sequence[str] = "proportional"
    discounts: Literal["time", "items"] = "time"
    matter_types: Sequence[str] = ()
    report: Mapping[str, str] = field(default_factory=dict)
    guidelines: str = ""
    guidelines_field: str = "cf_outside_counsel_guidelines"
    ledger: LedgerSettings | Mapping[str, Any] = field(default_factory=LedgerSettings)
    credits: CreditRule | Mapping[str, Any] | None = None
    watch: Sequence[Rule | Mapping[str, Any]] = ()

    def __post_init__(self) -> None:
        for name, read in _READERS.items():
            # The class is frozen for users. Here text dates become dates, and ids become text.
            object.__setattr__(self, name, read(getattr(self, name), name))
        self._check_people()
        if self.watch and "watch" in wings():
            # Which figures and keys there are is known to the analyses only.
            module_of("watch", "names").check(self)

    def _check_people(self) -> None:
        """Raise if a user's end is before their start; warn if hours per day look like a share of full time."""
        for user, end in self.user_end.items():
            if user in self.user_start and self.user_start[user] > end:  # type: ignore[operator]
                raise ParameterError(f"user_start[{user!r}]={self.user_start[user]} is after their user_end ({end}).")
        parts = {user: hours for user, hours in self.user_hours.items() if 0 < hours < 1}
        # Analyses make settings of a subclass from these: the user has seen the warning already.
        if parts and type(self) is FirmSettings:
            user, hours = next(iter(parts.items()))
            warn(
                f"user_hours are hours a day, but user_hours[{user!r}]={hours:g}. A person who works {hours:.0%} of "
                f"{self.hours_per_day:g} hours has {hours * self.hours_per_day:g}.",
                IncompleteDataWarning,
            )

    @property
    def books(self) -> LedgerSettings:
        """The names in the firm's books."""
        return cast("LedgerSettings", self.ledger)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of the watch."""
        return cast("tuple[Rule, ...]", self.watch)

    @property
    def fiscal_year(self) -> FiscalYear | None:
        """The firm's fiscal year; None if the settings do not say when it begins."""
        start = self.fiscal_year_start
        return FiscalYear.read(start, self.fiscal_year_name) if start else None

    def targets_of(self, measure: Literal["hours", "fees"]) -> dict[str, tuple[float, Literal["month", "year"]]]:
        """
        Return the users who have a target of hours or of fees, with its amount and period.

        Examples
        --------
        >>> FirmSettings(targets={"u1": {"fees": 480_000, "period": "year"}}).targets_of("fees")
        {'u1': (480000.0, 'year')}
        """
        people = {user: each for user, each in self.targets.items() if user != FIRM}
        return {user: (each[measure], each["period"]) for user, each in people.items() if measure in each}

    @property
    def paper_size(self) -> str:
        """The paper of printed reports, "A4" or "Letter"."""
        return self.report.get("paper") or ("Letter" if self.currency in {"USD", "CAD"} else "A4")

    @property
    def firm_target(self) -> Mapping[str, Any]:
        """The target of the whole firm; empty if there is none."""
        return self.targets.get(FIRM, {})

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """
        Read settings from a TOML file with the same keys.

        Parameters
        ----------
        path : str or Path
            Such as "firm.toml". Dates are TOML dates or ISO text. A
            person's leave is an array. Leave of several days is an array of two dates in it.

        Raises
        ------
        ConfigError
            The file can't be read, is not TOML, or has an unknown key or an invalid value.
        """
        values = read_keys(path, "firm settings", [each.name for each in fields(cls)])
        for table, key in ((values, "guidelines"), (values.get("report"), "logo"), (values.get("ledger"), "folder")):
            if isinstance(table, dict) and isinstance(table.get(key), str):
                table[key] = str(Path(path).parent / table[key])
        try:
            settings = cls(**values)
        except ParameterError as error:
            raise ConfigError(f"{path}: {error}") from error
        # Not a field, because two files with the same content are the same settings.
        object.__setattr__(settings, "source", str(Path(path).absolute()))
        return settings

    @property
    def emails(self) -> frozenset[str]:
        """The e-mail addresses in the settings, in lower case."""
        named = [user for name in _BY_USER for user in getattr(self, name)]
        named += [user for weights in self.originator_weights.values() for user in weights]
        return frozenset(user.lower() for user in named if "@" in user)

    @property
    def named(self) -> dict[str, dict[str, list[str]]]:
        """The ids in the settings, by "users", "matters" and "clients", each with the keys that contain it."""
        users: dict[str, list[str]] = {}
        matters: dict[str, list[str]] = {}
        clients = {each for tax in self.taxes if isinstance(tax, Tax) for each in (*tax.clients, *tax.except_clients)}
        for key in _BY_USER:
            for user in getattr(self, key):
                if (key, user) != ("targets", FIRM):
                    users.setdefault(user, []).append(key)
        for key in ("budgets", "originator_weights"):
            for matter in getattr(self, key):
                matters.setdefault(matter, []).append(key)
        for user in {user for weights in self.originator_weights.values() for user in weights}:
            users.setdefault(user, []).append("originator_weights")
        return {"users": users, "matters": matters, "clients": {each: ["taxes"] for each in sorted(clients)}}

    def without(self, users: Collection[str]) -> Self:
        """Remove the settings of some users, by id. The weights of originators stay: they must add up to 1."""
        changes: dict[str, Any] = {
            key: {user: value for user, value in getattr(self, key).items() if user not in users} for key in _BY_USER
        }
        return replace(self, **changes)

    def by_id(self, ids: Mapping[str, str]) -> Self:
        """
        Replace e-mail addresses by ids, given by address in lower case.

        Raise `ParameterError` if no user has an address of the settings, or a key names a user twice.
        """
        changes: dict[str, Any] = {name: _replace_addresses(getattr(self, name), ids, name) for name in _BY_USER}
        changes["originator_weights"] = {
            matter: _replace_addresses(weights, ids, f"originator_weights[{matter!r}]")
            for matter, weights in self.originator_weights.items()
        }
        return replace(self, **changes)


def check_settings(settings: object) -> None:
    """Raise `ParameterError` if `settings` is neither `FirmSettings` nor None."""
    if isinstance(settings, str | Path):
        name = repr(str(settings))
        raise ParameterError(f"settings={name} is not FirmSettings; pass bf.FirmSettings.load({name}).")
    if settings is not None and not isinstance(settings, FirmSettings):
        raise ParameterError(f"settings is {type_in_words(settings)}; pass FirmSettings(...).")


def describe_settings(settings: FirmSettings | None) -> str:
    """Describe in a sentence the settings that figures are calculated with."""
    if settings is None:
        plain = _describe_day(FirmSettings())
        return f"No firm settings: {plain}, without holidays, leave, part time, or people who joined or left."
    given = [words for key, words in _DESCRIPTIONS.items() if getattr(settings, key)]
    if year := settings.fiscal_year:
        given.append(f"fiscal years from {year.day} {MONTHS[year.month - 1]}")
    if settings.payment_order != "proportional":
        given.append(f"payments that settle {', then '.join(settings.payment_order)}")
    if settings.discounts != "time":
        given.append("discounts on fixed fees, too")
    if settings.matter_types:
        given.append(f"matters of the types {join_names(settings.matter_types)}")
    source = f" from {Path(settings.source).name}" if settings.source else ""
    return f"Firm settings{source}: {_describe_day(settings)}{', with ' if given else ''}{join_names(given)}."


_DESCRIPTIONS = {
    "holidays": "holidays",
    "user_hours": "part time",
    "user_start": "dates of joining",
    "user_end": "dates of leaving",
    "leave": "leave",
    "targets": "targets",
    "realization_floor": "a realization floor",
    "standard_rates": "standard rates",
    "cost_rates": "cost rates",
    "budgets": "budgets",
    "originator_weights": "originators’ shares",
    "roles": "roles",
    "taxes": "taxes",
}


def _describe_day(settings: FirmSettings) -> str:
    week = [day for day in WEEKDAYS if day in settings.working_days]
    together = len(week) > 2 and WEEKDAYS.index(week[-1]) - WEEKDAYS.index(week[0]) == len(week) - 1
    days = f"{week[0]} to {week[-1]}" if together else ", ".join(week)
    return f"{settings.hours_per_day:g} hours a day, {days or 'no working day'}"


def _replace_addresses(values: Mapping[str, Any], ids: Mapping[str, str], key: str) -> dict[str, Any]:
    renamed: dict[str, Any] = {}
    for user, value in values.items():
        user_id = ids.get(user.lower()) if "@" in user else user
        if user_id is None:
            raise ParameterError(
                f"{key} names {user!r}, but no user has that e-mail address. Correct it, or use the user_id."
            )
        if user_id in renamed:
            raise ParameterError(f"{key} names the user {user!r} twice, by id and by e-mail address. Keep one of them.")
        renamed[user_id] = value
    return renamed
