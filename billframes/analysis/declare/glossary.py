"""The special words of the analyses, as `bf.explain("value")` and `bf.explain("glossary")` show them."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field, replace

from billframes.analysis.declare.explanation import as_html, definition_list

_WIDTH = 100


@dataclass(frozen=True, slots=True, repr=False)
class Term:
    """
    One special word.

    Parameters
    ----------
    name : str
        The word, such as "value".
    meaning : str
        The definition, one to three sentences.
    also : tuple of str
        Other words that lead to it.
    asked : str
        The one of them that was looked up.
    """

    name: str
    meaning: str
    also: tuple[str, ...] = ()
    asked: str = field(default="", compare=False)

    @property
    def _heading(self) -> str:
        return f"{self.asked}: see {self.name}" if self.asked else self.name.capitalize()

    def __repr__(self) -> str:
        return "\n".join(
            [self._heading, *textwrap.wrap(self.meaning, _WIDTH, initial_indent="  ", subsequent_indent="  ")]
        )

    def _repr_markdown_(self) -> str:
        return f"**{self._heading}**: {self.meaning}"

    def _repr_html_(self) -> str:
        return f"<p><strong>{as_html(self._heading)}</strong>: {as_html(self.meaning)}</p>"


class Glossary(tuple[Term, ...]):
    """All special words, in alphabetical order."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self))

    def _repr_markdown_(self) -> str:
        return "\n".join(f"- {each._repr_markdown_()}" for each in self)

    def _repr_html_(self) -> str:
        return definition_list({each.name: (each.meaning,) for each in self})


def term(name: str) -> Term | None:
    """
    Look up a word, ignoring case, spaces, hyphens and the plural's "s"; None if it is not in the glossary.

    Examples
    --------
    >>> term("Lock up").name
    'lock-up'
    """
    plain = _plain(name)
    found = _BY_NAME.get(plain) or _BY_NAME.get(plain.removesuffix("s"))
    if found is None or _plain(found.name) in (plain, plain.removesuffix("s")):
        return found
    return replace(found, asked=name)


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).lower()


_TERMS = (
    Term(
        "available hours",
        "The hours a person could work: working days × hours a day, less leave and days not in the firm. In results, "
        "`capacity_hours`.",
        ("capacity",),
    ),
    Term(
        "aging",
        "Sorting amounts by the days since they were due, or since the work was done, into buckets.",
        ("invoice aging",),
    ),
    Term(
        "block billing",
        "One time entry for several tasks. Clients' billing guidelines may refuse it: a check of guidelines finds it.",
    ),
    Term(
        "collections",
        "The work of getting invoices paid: `overdue_invoices` lists what is late. `fees_collected` counts the cash, "
        "which only the firm's books know.",
    ),
    Term(
        "compensation",
        "What the firm pays its people. The billing system doesn't have it. `contribution` and `scorecard` have "
        "figures that such plans use.",
    ),
    Term(
        "days sales outstanding",
        "Receivables, counted in days of fees: `receivable_days` of `lockup`. `days_to_pay` counts the days until "
        "clients paid.",
        ("DSO",),
    ),
    Term("forecast", "The cash expected from open invoices, open work and future work: `cash_forecast`."),
    Term(
        "profit",
        "Fees less the cost of the hours, at the cost rates in the firm's settings: `profitability`. Other costs of "
        "the firm are not known.",
    ),
    Term(
        "trust money",
        "Money that the firm holds for a client, such as a retainer. Its balance is not known. `from_trust_amount` of "
        "`fees_collected` is the cash that came from trust accounts.",
        ("trust", "retainer"),
    ),
    Term(
        "week",
        "From Monday to Sunday, as in periods such as “2026-W41” and in rows by week.",
    ),
    Term(
        "write-off",
        "A balance that the firm no longer claims. The billing system doesn't distinguish it from a payment; with the "
        "payments from the firm's books, `written_off_amount` shows it.",
        ("written off",),
    ),
    Term("basis", "The date that puts a figure into a period: the invoice's date, or the date of the work."),
    Term(
        "fees billed",
        "The fees charged for time: net billed time fees, `billed_amount`. For fixed fees and expenses, the amount "
        "billed is their amount.",
        ("billed",),
    ),
    Term("budget", "The fees that a matter may cost, from the firm's settings: `budget_burn`."),
    Term("bucket", "A range of days by which amounts are sorted, such as `31-60`, both ends inclusive."),
    Term(
        "client hours",
        "Hours worked for clients: billable and fixed-fee time, except on internal matters. Pro bono time counts if "
        "requested.",
    ),
    Term("contingency", "A type of matter. Its fee depends on the outcome, not on the value of its hours."),
    Term("cost rate", "The cost of a person's hour to the firm, from its settings."),
    Term("credit note", "A final invoice with a negative amount. It usually has no items, so it belongs to no matter."),
    Term("current", "Not past due. An invoice due today is current."),
    Term(
        "due",
        "Of an invoice: its due date is on or before the day of the report. Only invoices that are due can be expected "
        "to be settled.",
    ),
    Term("effective rate", "Fees billed ÷ hours: the fees that an hour earned."),
    Term(
        "all fees",
        "Net billed time fees and fixed fees on final invoices; `fees_amount`. Expenses are not fees.",
        ("fees",),
    ),
    Term(
        "value of time worked",
        "Value of the billable time dated in a period, invoiced or not; `cohort_amount`. The value of time billed of "
        "the same period is of other work: that on the period's invoices.",
        ("cohort", "all worked"),
    ),
    Term("final", "Of an invoice: sent. Only final invoices are owed and count as billed."),
    Term(
        "fixed fee",
        "An agreed amount for work. Time under a fixed fee has hours, but no separate value: the fee pays for it.",
    ),
    Term(
        "idle hours",
        "Available hours of people on the roster for whom nobody recorded time in the period.",
    ),
    Term("item", "A time entry, an expense or a fixed fee. Invoices bill items."),
    Term("lag", "The days between the work and its entry, or between the work and its invoice."),
    Term(
        "not counted",
        "Left out deliberately. Separate columns show these hours and amounts.",
        ("left out",),
    ),
    Term("leverage", "Client hours of non-principals ÷ those of principals; or the same with the number of people."),
    Term(
        "lock-up",
        "Work in progress and receivables, counted in days of fees: how long the firm finances its clients.",
    ),
    Term(
        "mixed",
        "Of an invoice: it bills both time and fixed fees. Its discount reduces the fees for time only, unless "
        "`discounts` spreads it over fixed fees, too.",
    ),
    Term(
        "net billed time fees",
        "An invoice's amount less tax, expenses and fixed fees, spread over its billable time entries in proportion to "
        "their value, or to their hours if rates are hidden. The firm's settings state the tax.",
    ),
    Term(
        "originator",
        "The person who brought a matter to the firm. `contribution` by originator credits people with its fees.",
        ("origination",),
    ),
    Term("overdue", "At least one day past the due date."),
    Term(
        "draft bill",
        "An invoice that is not sent yet: draft, in review or approved. Its items are not billed, although the billing "
        "system marks them as billed.",
        ("prebill", "on draft bills"),
    ),
    Term(
        "realization",
        "Fees billed ÷ value of time billed: the part of the value that was charged.",
        ("billing realization",),
    ),
    Term(
        "receivables",
        "Open balances of final invoices: the amounts that clients owe, as `aging` and `overdue_invoices` show them.",
        ("A/R", "accounts receivable", "balance", "who owes"),
    ),
    Term("responsible", "The lawyer who is responsible for a matter, whoever works on it.", ("responsible lawyer",)),
    Term(
        "roster",
        "The people whose available hours count: principals, attorneys, paralegals and timekeepers, and anyone else "
        "with client hours.",
    ),
    Term(
        "settled",
        "No longer open: amount less balance. The billing system does not distinguish payments from credits and "
        "write-offs, so settled is not the same as collected. A part payment settles all parts of an invoice in "
        "proportion, unless the firm's settings have a payment order.",
        ("settled share", "settlement"),
    ),
    Term(
        "standard rate",
        "The firm's own rate for a person, from its settings. The billing system has no standard rates.",
    ),
    Term(
        "target",
        "Client hours, or fees billed, that a person should reach in a month or a year, prorated by working days. "
        "Target attainment compares the hours, and “target reached” the fees.",
    ),
    Term("target attainment", "Client hours ÷ target hours, for people who have a target.", ("pace",)),
    Term("timekeeper", "A person whose role is principal, attorney, paralegal or timekeeper."),
    Term("unassigned", "The row of records without the key, such as fees without a user. It makes the rows add up."),
    Term("unbilled", "On no invoice at all."),
    Term(
        "unknown",
        "Of an invoice: not in the frames passed, so its state is unknown. Its items are counted separately, in "
        "`unknown_amount`, with a warning. A matter type or a role that is missing is also called unknown.",
    ),
    Term(
        "unpriced",
        "Of billable time: without an amount, although other entries have one. Its hours count, but it adds no money.",
    ),
    Term("utilization", "Client hours ÷ available hours."),
    Term(
        "work in progress",
        "Time, expenses and fixed fees that are not on a final invoice yet, at their value.",
        ("wip", "backlog"),
    ),
    Term(
        "value",
        "The value of a time entry at its own rate: hours × rate, which is its amount before any discount. The value "
        "of an expense or a fixed fee is its amount.",
        ("worth",),
    ),
    Term("worked rate", "Value of time billed ÷ hours: the value of an hour, before any discount."),
    Term(
        "value of time billed",
        "Value of the billable time on the final invoices counted, whenever the work was done; `worked_amount`. Fees "
        "billed are compared with it.",
        ("worked",),
    ),
    Term(
        "write-down",
        "Value of time billed − fees billed, as in `write_downs`. Negative is a write-up.",
        ("written down", "write-up", "discount", "leakage"),
    ),
)

GLOSSARY = Glossary(sorted(_TERMS, key=lambda each: each.name))
"""Every special word."""

_BY_NAME = {_plain(name): each for each in GLOSSARY for name in (each.name, *each.also)}
