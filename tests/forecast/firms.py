"""Made-up firms: their work, invoices and payments over six years, as frames, and the cash that came in.

Time is in weeks from Monday, 6 January 2020. A firm has matters that begin and end. Their work is billed each month or
every few months, and clients pay after their own habits. `Firm.frames` gives what the API and a mirror would have
shown. The method was chosen on `FIRMS` and mended on `OTHERS`, which are of other kinds; `HELD_OUT` were used for
neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = ["FIRMS", "FIRST_DAY", "HELD_OUT", "OTHERS", "WEEKS", "Firm", "Habits", "make_firm"]

WEEKS, _LONGEST = 320, 105
FIRST_DAY = pd.Timestamp("2020-01-06")
_NEVER = 10**6
_LIFE, _BEFORE = 40.0, 80

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Habits:
    """
    How a firm and its clients work, bill and pay.

    Parameters
    ----------
    matters, work : float
        Active matters, and the mean worth of a week of one.
    wait, spread, shape : float
        The mean weeks until a payment, how clients differ in it, and how even one client is.
    every : int
        Matters that are not billed each month, the part `quarterly` of all, are billed every so many months.
    one_day, flat : bool, float
        All bills are of the first week of a month; this part of the matters has a flat fee a month.
    paid_every : int
        Clients pay in the last week of each month (1) or quarter (3); 0 is any week.
    peak : float
        Work from January to April, as a multiple of that in the other months.
    begins, stops : int
        The weeks in which the firm begins, and in which the large client's work ends.
    """

    matters: int
    work: float = 900.0
    wait: float = 8.0
    spread: float = 0.6
    shape: float = 2.0
    whale: float = 0.0
    runs: float = 0.2
    bonus: float = 0.0
    never: float = 0.02
    partial: float = 0.08
    plan: float = 0.01
    hidden: float = 0.5
    cut: float = 0.04
    season: bool = False
    slower: float = 1.0
    growth: float = 0.0
    one_off: float = 0.3
    quarterly: float = 0.1
    skip: float = 0.12
    terms: bool = False
    purge: bool = False
    migrated: int = 0
    credits: bool = False
    tax: float = 0.0
    every: int = 3
    one_day: bool = False
    flat: float = 0.0
    paid_every: int = 0
    peak: float = 1.0
    begins: int = -80
    stops: int = 400


FIRMS = {
    "solo": Habits(10, wait=6, spread=0.5, shape=3),
    "small steady": Habits(48, wait=6, spread=0.5, shape=3),
    "big steady": Habits(900, wait=7, spread=0.5, shape=3),
    "small lumpy": Habits(48, work=600, wait=6, spread=0.5, shape=3, whale=0.45, runs=0.5, bonus=0.1),
    "big concentrated": Habits(500, shape=3, whale=0.5, runs=0.8),
    "disputes": Habits(100, spread=0.7, shape=1.5, never=0.1, partial=0.25, plan=0.1),
    "writes off": Habits(100, never=0.08, hidden=1.0, cut=0.15),
    "seasonal": Habits(100, wait=7, spread=0.5, shape=3, season=True),
    "slows down": Habits(100, wait=6, spread=0.5, shape=3, slower=1.6),
    "grows, new clients": Habits(60, wait=7, spread=0.8, growth=0.4, one_off=0.8),
    "quarterly, late bills": Habits(60, wait=6, spread=0.5, shape=3, quarterly=0.6, skip=0.35),
    "year-end purge": Habits(100, never=0.06, purge=True),
    "migrated": Habits(100, never=0.03, migrated=140),
    "due-date payers": Habits(100, wait=2, spread=0.3, terms=True),
}

OTHERS = {
    "tax season": Habits(60, wait=6, peak=3),
    "paid by the quarter": Habits(80, wait=5, paid_every=3),
    "bills on a day, paid in 10 days": Habits(60, wait=1.5, spread=0.3, shape=4, one_day=True),
    "bills on a day, slowly paid": Habits(60, one_day=True),
    "bills on a day, paid at month's end": Habits(60, wait=5, one_day=True, paid_every=1),
    "bills twice a year": Habits(120, wait=6, quarterly=1.0, every=6),
    "doubles each year": Habits(40, wait=7, growth=1.0),
    "shrinks by 30% a year": Habits(150, wait=7, growth=-0.3),
    "large client stops": Habits(60, wait=7, whale=0.4, stops=225),
    "flat fees": Habits(80, wait=5, flat=0.8, one_day=True),
    "insurance defence": Habits(150, wait=10, whale=0.7, runs=0.9, cut=0.3),
    "few large bills": Habits(14, work=6000, wait=12, shape=1.5),
    "private clients": Habits(80, wait=6, one_off=1.0, plan=0.3, never=0.08),
    "young": Habits(80, wait=7, begins=105),
    "pays faster": Habits(100, wait=8, slower=0.6),
}

HELD_OUT = {
    "flat fees by the quarter": Habits(60, wait=5, flat=0.9, quarterly=1.0),
    "grows by 30%, due-date payers": Habits(70, wait=2, spread=0.3, terms=True, growth=0.3, one_day=True),
    "slow and disputed": Habits(90, wait=16, never=0.12, plan=0.2, skip=0.3),
    "shrinks, large client pays in runs": Habits(90, growth=-0.2, whale=0.35, runs=0.6),
    "two seasons, paid at month's end": Habits(80, wait=6, peak=2, season=True, paid_every=1),
    "one lawyer, flat fees": Habits(14, work=700, wait=5, flat=0.7),
}


@dataclass(frozen=True)
class Firm:
    """
    A firm's records by week.

    Parameters
    ----------
    invoices : DataFrame
        `week`, `amount` as first billed, `client`.
    events : DataFrame
        What lowered balances: `invoice`, `week`, `amount`, `kind` (cash, cut, hidden).
    work : DataFrame
        `week`, `worth`, `invoice` (-1: not billed), `client`, `flat` (a fixed fee).
    habits : Habits
    """

    invoices: pd.DataFrame
    events: pd.DataFrame
    work: pd.DataFrame
    habits: Habits

    @property
    def cash(self) -> Array:
        """The cash of each week."""
        paid = self.events[self.events["kind"] == "cash"]
        return np.bincount(np.clip(paid["week"], 0, WEEKS), paid["amount"], WEEKS + 1)[:WEEKS]

    def frames(self, last: int, since: int) -> dict[str, Any]:
        """Return invoices and time entries as they are at the end of a week, and receipts since the end of another."""
        events = self.events[self.events["week"] <= last]
        shown = self.invoices["week"] <= last
        at, number = self.invoices.index, self.invoices.index.max() + 1
        fallen = np.bincount(events["invoice"], events["amount"], number)[at]
        cut = events[(events["kind"] == "cut") & (not self.habits.credits)]
        cuts = np.bincount(cut["invoice"], cut["amount"], number)[at]
        invoices = pd.DataFrame(
            {
                "invoice_id": _ids(self.invoices.index),
                "invoice_date": _day(self.invoices["week"], 2),
                "invoice_state": "final",
                "amount": self.invoices["amount"] - cuts,
                "balance": (self.invoices["amount"] - fallen).where(lambda left: left > 0.01, 0.0),
                "client_id": "c" + self.invoices["client"].astype(str),
                "client_name": "Client " + self.invoices["client"].astype(str),
            }
        )[shown]
        seen = events[events["week"] > since]
        adjusted = seen["amount"].where((seen["kind"] == "cut") & (not self.habits.credits), 0.0)
        receipts = pd.DataFrame(
            {
                "invoice_id": _ids(seen["invoice"]),
                "after": _day(seen["week"] - 1, 6),
                "until": _day(seen["week"], 6),
                "fall_amount": seen["amount"],
                "adjusted_amount": adjusted,
                "implied_receipt_amount": seen["amount"].where(seen["kind"] != "cut", 0.0),
            }
        )
        work = self.work[self.work["week"] <= last]
        billed = work["invoice"].where(work["invoice"].isin(self.invoices.index[shown]), -1)
        items = pd.DataFrame(
            {
                "date": _day(work["week"], 1),
                "billing_type": "billable",
                "hours": 1.0,
                "amount": work["worth"],
                "invoice_id": pd.Series(_ids(billed), index=work.index).where(billed >= 0, None),
                "client_id": "c" + work["client"].astype(str),
            }
        )
        fees = items[work["flat"]].drop(columns=["billing_type", "hours"])
        day = (FIRST_DAY + pd.Timedelta(days=7 * last + 6)).date()
        first = (FIRST_DAY + pd.Timedelta(days=7 * since + 6)).date()
        return {
            "invoices": invoices.reset_index(drop=True),
            "receipts": receipts.reset_index(drop=True),
            "time_entries": items[~work["flat"]].reset_index(drop=True),
            **({"fixed_fees": fees.reset_index(drop=True)} if self.habits.flat else {}),
            "as_of": day,
            "since": first,
        }


def _ids(numbers: Any) -> list[str]:
    return [f"i{each}" for each in numbers]


def _day(weeks: Any, day: int) -> Any:
    return FIRST_DAY + pd.to_timedelta(np.asarray(weeks) * 7 + day, unit="D")


def make_firm(habits: Habits, seed: int) -> Firm:
    """Make a firm's six years."""
    random = np.random.default_rng([seed, habits.matters, int(habits.wait * 10), int(habits.never * 1000)])
    work, matters = _work(habits, random)
    bills, of_bill = _bills(habits, work, matters, random)
    work["invoice"] = of_bill
    invoices = _with_success_fees(bills, habits, random)
    events = _events(invoices, habits, random)
    return _moved(Firm(invoices, events, work, habits))


def _work(habits: Habits, random: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the worth of each matter and week, and the matters with their clients."""
    weeks = np.arange(-_BEFORE, WEEKS)
    size = habits.matters * (1 + habits.growth) ** (np.maximum(weeks, 0) / 52)
    start = np.repeat(weeks, random.poisson(np.where(weeks < habits.begins, 0.0, size / _LIFE)))
    life = random.exponential(_LIFE, len(start)).astype(int) + 2
    pool = max(int(habits.matters * 0.7), 12)
    own = random.random(len(start)) < habits.one_off
    client = np.where(own, pool + np.arange(len(start)), random.integers(0, pool, len(start)))
    level = random.lognormal(-0.5, 1.0, len(start)) * habits.work
    if habits.whale:
        # One client, with four long matters, is a given part of all the work.
        whale = habits.matters * habits.work * habits.whale / (1 - habits.whale) / 4
        start, life = np.r_[start, [-_BEFORE] * 4], np.r_[life, [min(WEEKS, habits.stops) + _BEFORE] * 4]
        client, level = np.r_[client, [pool + len(own)] * 4], np.r_[level, [whale] * 4]
    matter = np.repeat(np.arange(len(start)), life)
    week = start[matter] + np.arange(life.sum()) - np.repeat(np.cumsum(life) - life, life)
    worth = level[matter] * random.gamma(1.2, 1 / 1.2, len(matter))
    if habits.season:
        worth *= np.select([_month(week) == 12, _month(week) == 8], [0.75, 0.85], 1.05)
    worth *= np.where(_month(week) <= 4, habits.peak, 1.0) * 3 / (habits.peak + 2)
    flat = random.random(len(start)) < habits.flat if habits.flat else np.zeros(len(start), bool)
    rows = pd.DataFrame(
        {"matter": matter, "week": week, "worth": worth, "client": client[matter], "flat": flat[matter]}
    )
    rows.loc[rows["flat"], "worth"] = level[matter][rows["flat"]]
    rows = _fees_of_months(rows[rows["week"] < WEEKS])
    return rows, pd.DataFrame({"client": client, "quarterly": random.random(len(start)) < habits.quarterly})


def _fees_of_months(rows: pd.DataFrame) -> pd.DataFrame:
    """Turn the work of matters with flat fees into one fee a month, of its last week."""
    days = _day(rows["week"], 0)
    month = rows["flat"] * (days.year * 12 + days.month) + ~rows["flat"] * -rows["week"]
    last = {"week": "max", "worth": "sum", "client": "first", "flat": "first"}
    found = rows.groupby(["matter", month.rename("month")], as_index=False).agg(last)
    return found.drop(columns="month")


def _month(week: Any) -> Array:
    return np.asarray(_day(np.clip(week, -_BEFORE, WEEKS + 60), 0).month)


def _bills(habits: Habits, work: pd.DataFrame, matters: pd.DataFrame, random: Any) -> tuple[pd.DataFrame, Array]:
    """Bill each matter in the weeks after its month or quarter; some months are skipped, and some work never billed."""
    days = _day(work["week"], 0)
    month = np.asarray(days.year * 12 + days.month - 1)
    both, of_both = np.unique(np.stack([work["matter"], month]), axis=1, return_inverse=True)
    lag = 1 + (random.random((both.shape[1], 6)) < habits.skip).cumprod(1).sum(1)
    lag = np.where(matters["quarterly"].to_numpy()[both[0]], 1 + (-1 - both[1]) % habits.every, lag)
    bill, of_bill = np.unique(np.stack([both[0], both[1] + lag]), axis=1, return_inverse=True)
    row = of_bill.ravel()[of_both.ravel()]
    first = pd.to_datetime([f"{each // 12}-{each % 12 + 1:02d}-01" for each in bill[1]])
    monday = np.ceil((first - FIRST_DAY).days.to_numpy() / 7).astype(int)
    week = monday + random.choice(4, bill.shape[1], p=[0.3, 0.4, 0.2, 0.1]) * (not habits.one_day)
    week = np.where(random.random(bill.shape[1]) < 0.03, _NEVER, week)
    worth = np.bincount(row, work["worth"], bill.shape[1])
    realized = np.clip(random.normal(0.93, 0.06, bill.shape[1]), 0.6, 1.05)
    sent = (week >= 0) & (week < WEEKS) & (worth > 20)
    order = np.argsort(np.where(sent, week, _NEVER), kind="stable")[: sent.sum()]
    number = np.full(bill.shape[1], -1)
    number[order] = np.arange(len(order))
    client = matters["client"].to_numpy()[bill[0]]
    amounts = worth * realized * (1 + habits.tax)
    return pd.DataFrame({"week": week[order], "amount": amounts[order], "client": client[order]}), number[row]


def _with_success_fees(invoices: pd.DataFrame, habits: Habits, random: Any) -> pd.DataFrame:
    """Add, now and then, an invoice of fifteen times the usual amount."""
    weeks = np.flatnonzero(random.random(WEEKS) < habits.bonus / 4.3)
    amount = random.lognormal(0, 0.4, len(weeks)) * 15 * invoices["amount"].mean()
    client = random.choice(invoices["client"], len(weeks))
    return pd.concat([invoices, pd.DataFrame({"week": weeks, "amount": amount, "client": client})], ignore_index=True)


def _events(invoices: pd.DataFrame, habits: Habits, random: Any) -> pd.DataFrame:
    """Return what lowers each invoice's balance: payments, part payments, plans, cuts, write-offs."""
    week, amount, number = invoices["week"].to_numpy(), invoices["amount"].to_numpy(), len(invoices)
    paid = _week_of_payment(invoices, habits, random)
    _, client = np.unique(invoices["client"], return_inverse=True)
    bad = random.beta(0.3, 0.3 * (1 / max(habits.never, 1e-9) - 1), client.max() + 1)[client]
    never, chance = random.random(number) < bad, random.random(number)
    plan = ~never & (chance < habits.plan)
    part = ~never & ~plan & (chance < habits.plan + habits.partial)
    full = ~never & ~plan & ~part
    cut = np.where(full & (random.random(number) < habits.cut), random.uniform(0.05, 0.3, number), 0.0)
    found = [_of(full, paid, amount * (1 - cut), "cash"), _of(cut > 0, np.maximum(paid - 1, week), amount * cut, "cut")]
    share, rest = random.uniform(0.3, 0.85, number), random.random(number)
    found.append(_of(part, paid, amount * share, "cash"))
    late, written = part & (rest < 0.7), part & (rest >= 0.7) & (rest < 0.94)
    found.append(_of(late, paid + random.integers(3, 16, number), amount * (1 - share), "cash"))
    kind = "hidden" if habits.hidden > 0.5 else "cut"
    found.append(_of(written, paid + random.integers(15, 50, number), amount * (1 - share), kind))
    rates = random.integers(5, 12, number)
    found += [_of(plan & (rates > nth), paid + 4 * nth, amount / rates, "cash") for nth in range(12)]
    given_up, unmarked = never & (random.random(number) < 0.7), random.random(number) < habits.hidden
    week_of = week + random.integers(35, 95, number)
    found += [_of(given_up & unmarked, week_of, amount, "hidden"), _of(given_up & ~unmarked, week_of, amount, "cut")]
    events = pd.concat(found, ignore_index=True)
    age = events["week"] - week[events["invoice"]]
    return _purged(invoices, events[age < _LONGEST], habits, random)


def _of(chosen: Array, week: Array, amount: Array, kind: str) -> pd.DataFrame:
    at = np.flatnonzero(chosen)
    return pd.DataFrame({"invoice": at, "week": week[at].astype(int), "amount": amount[at], "kind": kind})


def _week_of_payment(invoices: pd.DataFrame, habits: Habits, random: Any) -> Array:
    _, client = np.unique(invoices["client"], return_inverse=True)
    clients, week, number = client.max() + 1, invoices["week"].to_numpy(), len(invoices)
    wait = habits.wait * random.lognormal(-(habits.spread**2) / 2, habits.spread, clients)
    terms = random.choice([2, 4, 8, 13], clients, p=[0.2, 0.5, 0.2, 0.1]) if habits.terms else np.zeros(clients)
    runs, day = random.random(clients) < habits.runs, random.integers(0, 4, clients)
    if habits.whale:
        runs[np.argmax(np.bincount(client, invoices["amount"]))] = True
    slower = np.where(week > 225, habits.slower, 1.0)
    days = wait[client] * slower * random.gamma(habits.shape, 1 / habits.shape, number) + terms[client]
    paid = (week + np.maximum(np.round(days), 0)).astype(int)
    paid = np.where(runs[client], paid + (day[client] - paid) % 4, paid)
    if habits.season:
        month, chance = _month(paid), random.random(number)
        early, late = (month == 1) & (chance < 0.45), (month == 8) & (chance < 0.5)
        paid = np.select([early, late, (month == 2) & (chance < 0.25)], [paid - 4, paid + 4, paid - 8], paid)
    if habits.paid_every:
        paid = _next_run(paid, habits.paid_every)
    return np.maximum(paid, week)


def _next_run(week: Array, months: int) -> Array:
    """Return the last week of the month or quarter of each week."""
    days = _day(week, 0)
    month = days.year * 12 + days.month
    first = pd.to_datetime([f"{each // 12}-{each % 12 + 1:02d}-01" for each in month + (-month) % months])
    return np.asarray(np.ceil((first - FIRST_DAY).days.to_numpy() / 7).astype(int) - 1)


def _purged(invoices: pd.DataFrame, events: pd.DataFrame, habits: Habits, random: Any) -> pd.DataFrame:
    """Write off, unmarked, four fifths of what is older than half a year in the last week of each year."""
    if not habits.purge:
        return events
    week, number = invoices["week"].to_numpy(), len(invoices)
    months = _month(np.arange(WEEKS))
    ends = np.flatnonzero((months == 12) & (np.r_[months[1:], 1] == 1))
    end = ends[np.minimum(np.searchsorted(ends, week + 26), len(ends) - 1)]
    due = (end - week >= 26) & (end - week < _LONGEST) & (random.random(number) < 0.8)
    at = events["invoice"].to_numpy()
    events = events[~(due[at] & (events["week"].to_numpy() >= end[at]))]
    left = invoices["amount"].to_numpy() - np.bincount(events["invoice"], events["amount"], number)
    return pd.concat([events, _of(due & (left > 0.01), end, left, "hidden")], ignore_index=True)


def _moved(firm: Firm) -> Firm:
    """Keep only what was open on the day on which a firm moved to the system, with its open balance as the amount."""
    day = firm.habits.migrated
    if not day:
        return firm
    invoices, events = firm.invoices.copy(), firm.events
    old = (invoices["week"] < day).to_numpy()
    before = events[old[events["invoice"]] & (events["week"] <= day)]
    invoices["amount"] -= np.bincount(before["invoice"], before["amount"], len(invoices))
    gone = old & (invoices["amount"] < 0.01).to_numpy()
    events = events.drop(before.index)
    # Of the work, only what was not billed yet came along.
    work = firm.work[firm.work["week"] >= day - 8]
    return Firm(invoices[~gone], events[~gone[events["invoice"]]], work, firm.habits)
