"""Random firms and rules for credits, and the credits of their fees by SQL, in whole numbers."""

from __future__ import annotations

import datetime as dt
import random
import sqlite3
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from billframes.book import Book
from billframes.config.firm import FirmSettings
from billframes.periods import Period
from tests.analysis.conftest import arrow, pandas
from tests.firms import COLUMNS

__all__ = ["START", "book_of", "credits_by_sql", "random_firm", "random_rule"]

START, END = dt.date(2026, 1, 1), dt.date(2026, 6, 30)
PEOPLE = ("ada", "ben", "cy", "dee")
Rows = list[dict[str, Any]]


def _day(seeded: random.Random, last: int = 200) -> str:
    return str(START + dt.timedelta(seeded.randrange(-20, last)))


def random_firm(seeded: random.Random) -> tuple[dict[str, Rows], dict[str, dict[str, float]]]:
    """Return the records of a firm, and the weights of originators by matter."""
    rows: dict[str, Rows] = {name: [] for name in COLUMNS}
    rows["users"] = [
        {"user_id": each, "name": f"{each.title()} Stone", "email": f"{each}@f.example"} for each in PEOPLE
    ]
    weights = {}
    for number in range(seeded.randrange(1, 5)):
        people = seeded.sample(PEOPLE, seeded.randrange(4))
        matter = {"matter_id": f"m{number}", "name": f"Matter {number}", "reference": f"R-{number}", "client_id": "c"}
        responsible = seeded.choice([*PEOPLE, None])
        rows["matters"].append(matter | {"responsible_id": responsible, "originator_ids": people})
        if len(people) > 1 and seeded.random() < 0.5:
            parts = seeded.choice([(0.75, 0.25), (0.5, 0.3, 0.2), (0.99, 0.01)])
            weights[f"m{number}"] = dict(zip(seeded.sample(PEOPLE, len(parts)), parts, strict=True))
    for number in range(seeded.randrange(1, 7)):
        _add_invoice(rows, f"i{number}", seeded)
    return rows, weights


def _add_invoice(rows: dict[str, Rows], invoice: str, seeded: random.Random) -> None:
    on = {"invoice_id": invoice, "client_id": "c", "date": "2025-12-01"}
    matters = [each["matter_id"] for each in rows["matters"]]
    kind = seeded.choice(["time", "time", "time", "mixed", "fixed", "credit note"])
    worth = 0
    for _ in range(seeded.randrange(1, 6)) if kind in ("time", "mixed") else ():
        hours, rate = seeded.randrange(1, 40) / 4, seeded.choice([40, 80, 120])
        worth += hours * rate
        entry = {"matter_id": seeded.choice(matters), "user_id": seeded.choice(PEOPLE), "billing_type": "billable"}
        rows["time_entries"].append(on | entry | {"hours": hours, "rate": rate, "amount": hours * rate})
    if kind in ("mixed", "fixed"):
        amount, matter = seeded.randrange(1, 500_000) / 100, seeded.choice(matters)
        fee = {"fixed_fee_id": f"f_{invoice}", "matter_id": matter, "amount": amount}
        rows["fixed_fees"].append(on | fee)
        worth += amount
        has_value, covered = seeded.random() < 0.5, seeded.choice([0, 1, 3])
        for _ in range(covered):
            hours = seeded.randrange(0, 20) / 4
            entry = {"matter_id": matter, "user_id": seeded.choice(PEOPLE), "billing_type": "fixedFee", "hours": hours}
            own = {"fixed_fee_id": f"f_{invoice}", "invoice_id": None, "amount": hours * 80 if has_value else None}
            rows["time_entries"].append(on | entry | own)
    if seeded.random() < 0.3:
        cost = seeded.randrange(1, 90_000) / 100
        rows["expenses"].append(on | {"matter_id": matters[0], "amount": cost})
        worth += cost
    # A credit note is below 0, and an invoice can be written down or up; fixed fees are billed as they are.
    change = 0 if kind == "fixed" else seeded.randrange(-20_000, 5_000) / 100
    amount = -seeded.randrange(1, 90_000) / 100 if kind == "credit note" else round(worth + change, 2)
    if kind == "credit note":
        rows["expenses"] = [each for each in rows["expenses"] if each["invoice_id"] != invoice]
    # The period is not before the data.
    last = 200 if rows["invoices"] else 180
    bill = {
        "invoice_id": invoice,
        "client_id": "c",
        "invoice_date": _day(seeded, last),
        "amount": amount,
        "balance": 0.0,
    }
    rows["invoices"].append(bill | {"invoice_state": "final" if seeded.random() < 0.9 else "draft"})
    for name in ("time_entries", "expenses"):
        for number, each in enumerate(rows[name]):
            each["time_entry_id" if name == "time_entries" else "expense_id"] = f"{name}{number}"


def _share(seeded: random.Random, most: int = 30) -> float:
    return seeded.choice([0, 1, 5, 10, 15, 20, 25, most]) / 100


def _days(seeded: random.Random) -> dict[str, str]:
    middle = START + dt.timedelta(seeded.randrange(180))
    return seeded.choice([{}, {"until": str(middle)}, {"start": str(middle)}])


def random_rule(seeded: random.Random, matters: Iterable[str]) -> dict[str, Any]:
    """Return a rule with shares of the firm, of some matters and of some people, for some days."""
    rule: dict[str, Any] = {each: _share(seeded) for each in ("firm", "originating", "responsible")}
    rule["users"] = {
        each: {"originating": _share(seeded), "responsible": _share(seeded)} | _days(seeded)
        for each in PEOPLE
        if seeded.random() < 0.2
    }
    rule["matters"] = {}
    for matter in matters:
        if seeded.random() < 0.4:
            people = seeded.sample(PEOPLE, 2)
            named = dict.fromkeys(people, 0.125) if seeded.random() < 0.4 else _share(seeded)
            own = {"firm": _share(seeded), "originating": named, "responsible": _share(seeded)}
            kept = {each: value for each, value in own.items() if seeded.random() < 0.7}
            rule["matters"][matter] = kept | _days(seeded)
    return rule


def book_of(rows: dict[str, Rows], settings: FirmSettings | None = None, end: dt.date = END) -> Book:
    """Return a book of the first half of 2026 with these records."""
    book = Book(Period(START, end), settings=settings, client=None)  # type: ignore[arg-type]
    for name in ("time_entries", "expenses", "fixed_fees", "invoices", "matters", "users", "clients"):
        columns = [*COLUMNS[name].split(), *(["reference"] if name == "matters" else [])]
        setattr(book, name, pandas(arrow({each: [row.get(each) for row in rows[name]] for each in columns})))
    return book


# Shares are whole numbers of this part: 1,000ths of the rules, of thirds, halves and 100ths of originators.
_PARTS = 1_000 * 600

_TABLES = """
CREATE TABLE invoice (id, day, cents); CREATE TABLE entry (invoice, matter, user, value);
CREATE TABLE cost (invoice, cents); CREATE TABLE fee (id, invoice, matter, cents);
CREATE TABLE cover (fee, user, value, hours);
CREATE TABLE matter (id, responsible); CREATE TABLE brought (matter, user, part);
CREATE TABLE own (matter, user, start, until, firm, originating, responsible); CREATE TABLE named (matter, user, share);
"""
# Integers are divided towards 0 in SQLite: these are the floor of a ÷ b and what remains.
_QUERY = """
WITH covered AS (
  SELECT fee, SUM(value IS NULL) AS hidden, SUM(value) AS value, SUM(hours) AS hours FROM cover GROUP BY fee),
share AS (
  SELECT cover.fee, cover.user, CASE WHEN hidden = 0 AND covered.value > 0 THEN 'value' ELSE 'hours' END AS how,
    SUM(CASE WHEN hidden = 0 AND covered.value > 0 THEN cover.value ELSE cover.hours END) AS part,
    CASE WHEN hidden = 0 AND covered.value > 0 THEN covered.value ELSE covered.hours END AS whole
  FROM cover JOIN covered ON covered.fee = cover.fee WHERE covered.hours > 0 GROUP BY 1, 2),
net AS (
  SELECT id, day, cents - COALESCE((SELECT SUM(cents) FROM cost WHERE invoice = id), 0)
    - COALESCE((SELECT SUM(cents) FROM fee WHERE invoice = invoice_.id), 0) AS cents,
    (SELECT SUM(value) FROM entry WHERE invoice = id) AS value
  FROM invoice AS invoice_ WHERE day BETWEEN :start AND :end),
quota AS (
  SELECT net.id AS invoice, day, matter, user, '' AS how, net.cents * SUM(entry.value) AS a, net.value AS b
  FROM net JOIN entry ON entry.invoice = net.id GROUP BY net.id, matter, user
  UNION ALL SELECT id, day, NULL, NULL, '', cents, 1 FROM net WHERE value IS NULL
  UNION ALL SELECT net.id, day, fee.matter, share.user, how, fee.cents * part, whole
  FROM net JOIN fee ON fee.invoice = net.id JOIN share ON share.fee = fee.id WHERE part > 0
  UNION ALL SELECT net.id, day, fee.matter, responsible, 'responsible', fee.cents, 1
  FROM net JOIN fee ON fee.invoice = net.id JOIN matter ON matter.id = fee.matter
  WHERE fee.id NOT IN (SELECT fee FROM share)),
floor AS (SELECT *, (a % b + b) % b AS r, (a - (a % b + b) % b) / b AS q FROM quota),
ranked AS (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY invoice ORDER BY r * 1.0 / b DESC, matter NULLS LAST, user NULLS LAST, how)
    AS place, SUM(q) OVER (PARTITION BY invoice) AS floors FROM floor),
billed AS (
  SELECT matter, user, day, q + (place <= (SELECT cents FROM invoice WHERE id = ranked.invoice)
    - COALESCE((SELECT SUM(cents) FROM cost WHERE cost.invoice = ranked.invoice), 0) - floors) AS cents FROM ranked),
ruled AS (
  SELECT billed.*, matter.responsible,
    COALESCE(m.firm, :firm) * 600 AS firm, m.originating AS m_originating, m.matter AS m_named,
    COALESCE(m.responsible, u.responsible, :responsible) * 600 AS of_responsible
  FROM billed LEFT JOIN matter ON matter.id = billed.matter
  LEFT JOIN own AS m ON m.matter = billed.matter AND day BETWEEN m.start AND m.until
  LEFT JOIN own AS u ON u.user = matter.responsible AND day BETWEEN u.start AND u.until),
originating AS (
  SELECT ruled.matter, ruled.day, brought.user, cents, part * COALESCE(m_originating, u.originating, :originating) AS n
  FROM ruled JOIN brought ON brought.matter IS ruled.matter
  LEFT JOIN own AS u ON u.user = brought.user AND ruled.day BETWEEN u.start AND u.until
  WHERE m_named IS NULL OR m_named NOT IN (SELECT matter FROM named)
  UNION ALL SELECT ruled.matter, day, named.user, cents, share * 600 FROM ruled JOIN named ON named.matter = m_named),
given AS (
  SELECT matter, 0 AS role, user, cents, n FROM originating
  UNION ALL SELECT matter, 1, responsible, cents, of_responsible FROM ruled
  UNION ALL SELECT matter, 3, NULL, cents, firm FROM ruled
  UNION ALL SELECT matter, 2, user, cents, :parts - firm - of_responsible
    - (SELECT SUM(n) FROM (SELECT DISTINCT o.user, n FROM originating AS o
       WHERE o.matter IS ruled.matter AND o.day = ruled.day)) FROM ruled),
summed AS (SELECT matter, role, user, SUM(cents * n) AS a FROM given WHERE n > 0 GROUP BY 1, 2, 3),
divided AS (SELECT *, (a % :parts + :parts) % :parts AS r FROM summed),
last AS (
  SELECT *, (a - r) / :parts AS q,
    ROW_NUMBER() OVER (PARTITION BY matter ORDER BY r DESC, role, user NULLS FIRST) AS place
  FROM divided)
SELECT matter, user, role, q + (place <= (SELECT SUM(cents) FROM billed WHERE billed.matter IS last.matter)
  - (SELECT SUM(q) FROM last AS l WHERE l.matter IS last.matter)) FROM last ORDER BY 1, 2, 3
"""


def credits_by_sql(
    rows: dict[str, Rows], weights: dict[str, dict[str, float]], rule: dict[str, Any]
) -> list[tuple[str | None, str | None, int, int]]:
    """Return matter, person, the number of the role and cents."""
    with sqlite3.connect(":memory:") as sql:
        sql.executescript(_TABLES)
        cents = lambda name: lambda row: round(row[name] * 100)  # noqa: E731
        _insert(
            sql,
            "invoice",
            [r for r in rows["invoices"] if r["invoice_state"] == "final"],
            ["invoice_id", "invoice_date", cents("amount")],
        )
        billable = [row for row in rows["time_entries"] if row["billing_type"] == "billable"]
        _insert(sql, "entry", billable, ["invoice_id", "matter_id", "user_id", lambda row: round(row["amount"])])
        _insert(sql, "cost", rows["expenses"], ["invoice_id", cents("amount")])
        _insert(sql, "fee", rows["fixed_fees"], ["fixed_fee_id", "invoice_id", "matter_id", cents("amount")])
        covering = [row for row in rows["time_entries"] if row["billing_type"] == "fixedFee"]
        _insert(sql, "cover", covering, ["fixed_fee_id", "user_id", "amount", lambda row: round(row["hours"] * 4)])
        sql.execute("UPDATE cover SET value = CAST(value AS INTEGER)")
        _insert(sql, "matter", rows["matters"], ["matter_id", "responsible_id"])
        brought: list[tuple[Any, Any, int]] = [(None, None, 600)]
        for row in rows["matters"]:
            people = dict.fromkeys(row["originator_ids"] or [None], 1 / len(row["originator_ids"] or [None]))
            parts = weights.get(row["matter_id"], people)
            brought += [(row["matter_id"], user, round(part * 600)) for user, part in parts.items()]
        sql.executemany("INSERT INTO brought VALUES (?, ?, ?)", brought)
        for kind in ("matters", "users"):
            for name, own in rule[kind].items():
                shares = [own.get(each) for each in ("firm", "originating", "responsible")]
                if isinstance(shares[1], dict):
                    values = [(name, user, _thousandths(share)) for user, share in shares[1].items()]
                    sql.executemany("INSERT INTO named VALUES (?, ?, ?)", values)
                    shares[1] = None
                whose = (name, None) if kind == "matters" else (None, name)
                days = own.get("start", "0"), own.get("until", "9")
                sql.execute("INSERT INTO own VALUES (?, ?, ?, ?, ?, ?, ?)", [*whose, *days, *map(_thousandths, shares)])
        values = {each: _thousandths(rule[each]) for each in ("firm", "originating", "responsible")}
        return sql.execute(_QUERY, values | {"parts": _PARTS, "start": str(START), "end": str(END)}).fetchall()


def _thousandths(share: float | None) -> int | None:
    return None if share is None else int(Fraction(str(share)) * 1_000)


def _insert(sql: sqlite3.Connection, table: str, rows: Rows, columns: list[str | Callable[[Any], Any]]) -> None:
    values = [[each(row) if callable(each) else row[each] for each in columns] for row in rows]
    sql.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", values)
