"""Made-up firms and their books, with disagreements drawn at random and the reasons that they must have.

python -m tests.ledger.made_up 2000
"""

from __future__ import annotations

import datetime as dt
import random
import sys
from collections import Counter

import pandas as pd

from billframes.analysis import tie_out
from billframes.ledger import read_ledger
from billframes.ledger.writing import write_report

__all__ = ["Firm"]

CLIENTS = ("Alder & Co", "Birch Holdings LLC", "Cedar Trust", "Dock Street Partners", "Elm, Inc.")
AGING = ("Date", "Transaction type", "Num", "Customer full name", "Due date", "Amount", "Open balance")
LIST = ("Date", "Transaction type", "Num", "Name", "Memo", "Due date", "Amount", "Open balance")
AS_OF = dt.date(2026, 10, 31)


class Firm:
    """A firm with some invoices. `expected` has the cents of each reason."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.expected: Counter[str] = Counter()
        self.ours: list[dict] = []
        self.open_rows: list[list] = []
        self.history: list[list] = []
        self.amounts: set[int] = set()
        kinds = self.random.sample(sorted(DISAGREEMENTS), 5)
        for number in range(1001, 1001 + self.random.randrange(5, 30)):
            self.invoice(str(number), self.random.choice(kinds) if self.random.random() < 0.5 else "agrees")

    def cents(self) -> int:
        """Return an amount that no other row has."""
        while (amount := self.random.randrange(10_000, 900_000)) in self.amounts:
            pass
        self.amounts.add(amount)
        return amount

    def invoice(self, number: str, kind: str) -> None:
        client = self.random.choice(CLIENTS)
        date = AS_OF - dt.timedelta(days=self.random.randrange(1, 200))
        amount = self.cents()
        balance = self.random.choice([amount, amount // 2])
        # What is here: state, amount, balance; and in the books: amount, balance, memo.
        here, there = ["final", amount, balance], [amount, balance, ""]
        reasons = DISAGREEMENTS.get(kind, lambda *_: {})(self, here, there, (number, client, date))
        self.expected.update(reasons)
        state, our_amount, our_balance = here
        self.ours.append(
            {
                "invoice_id": f"i{number}",
                "invoice_number": number,
                "invoice_state": state,
                "invoice_date": pd.Timestamp(date),
                "client_id": client[:1],
                "client_name": client,
                "amount": our_amount / 100,
                "balance": our_balance / 100,
            }
        )
        if there[0] is not None:
            self.add("Invoice", number, client, date, *there)

    def add(
        self, kind: str, number: str, client: str, date: dt.date, amount: int, balance: int, memo: str = ""
    ) -> None:
        due = date + dt.timedelta(days=30)
        if balance:
            self.open_rows.append([date, kind, number, f"{client}:Matter", due, amount, balance])
        if kind == "Invoice":
            self.history.append([date, kind, number, client, memo, due, amount, balance])

    def tie_out(self, **options) -> pd.DataFrame:
        """Read the books' reports, and compare."""
        half = len(self.open_rows) // 2
        groups = {"1 - 30 days past due": self.open_rows[:half], "CURRENT": self.open_rows[half:]}
        aging = write_report("A/R Aging Detail Report", "As of Oct 31, 2026", AGING, groups)
        listed = write_report("Invoice List by Date", "January 1-October 31, 2026", LIST, {"": self.history})
        return tie_out(
            pd.DataFrame(self.ours),
            ledger=read_ledger(aging, dates="mdy"),
            history=read_ledger(listed, dates="mdy"),
            as_of=AS_OF,
            **options,
        )

    def check(self) -> None:
        """Assert that the reasons are those drawn, and that everything adds up."""
        rows, by_reason = self.tie_out(), self.tie_out(by="reason")
        got = dict(zip(by_reason["reason"], (by_reason["difference_amount"] * 100).round().astype(int), strict=True))
        assert {name: cents for name, cents in got.items() if cents} == {
            name: cents for name, cents in self.expected.items() if cents
        }
        final = [each["balance"] for each in self.ours if each["invoice_state"] == "final"]
        total = sum(row[-1] for row in self.open_rows)
        assert round(rows["balance"].sum() * 100) == round(sum(final) * 100)
        assert round(rows["ledger_balance"].sum() * 100) == total
        parts = rows["billed_difference_amount"] + rows["settled_difference_amount"]
        assert (parts - rows["difference_amount"]).abs().max() < 0.005
        assert rows["invoice_id"].dropna().is_unique


def paid_in_ledger(firm, here, there, _):
    paid = firm.random.randrange(1, there[1] + 1)
    there[1] -= paid
    return {"paid_in_ledger": paid}


def paid_here(firm, here, there, _):
    paid = here[2] // 3
    here[2] -= paid
    return {"paid_here": -paid}


def amount_differs(firm, here, there, _):
    more = firm.random.randrange(1, 99)
    there[0] += more
    there[1] += more
    return {"amount_differs": -more}


def amount_and_payment(firm, here, there, _):
    there[0], there[1] = there[0] - 500, there[1] - 700
    return {"amount_differs": 500, "paid_in_ledger": 200}


def not_final_here(firm, here, there, _):
    here[0] = firm.random.choice(["draft", "review", "approved"])
    return {"not_final_here": -there[1]}


def voided_in_ledger(firm, here, there, _):
    there[:] = [0, 0, "Voided"]
    return {"voided_in_ledger": here[2]}


def missing_in_ledger(firm, here, there, _):
    there[0] = None
    return {"missing_in_ledger": here[2]}


def missing_here(firm, here, there, about):
    amount = firm.cents()
    firm.add("Invoice", f"OB-{about[0]}", *about[1:], amount, amount)
    return {"missing_here": -amount}


def duplicate_number(firm, here, there, about):
    amount = firm.cents()
    firm.add("Invoice", about[0], "Nobody we know", about[2] - dt.timedelta(days=9), amount, amount)
    return {"duplicate_number": -amount}


def unapplied_in_ledger(firm, here, there, about):
    """The client paid the invoice here; in the books, the payment is on no invoice."""
    firm.add("Payment", "77", *about[1:], -there[1], -there[1])
    here[2] = 0
    firm.amounts.add(there[1])
    return {"unapplied_in_ledger": 0}


def credit_in_ledger(firm, here, there, about):
    amount = firm.cents()
    firm.add("Credit Memo", "CM-1", *about[1:], -amount, -amount)
    return {"credit_in_ledger": amount}


def journal_in_ledger(firm, here, there, about):
    amount = firm.cents()
    firm.add("Journal Entry", "JE-1", *about[1:], amount, amount)
    return {"journal_in_ledger": -amount}


DISAGREEMENTS = {
    each.__name__: each
    for each in (
        paid_in_ledger,
        paid_here,
        amount_differs,
        amount_and_payment,
        not_final_here,
        voided_in_ledger,
        missing_in_ledger,
        missing_here,
        duplicate_number,
        unapplied_in_ledger,
        credit_in_ledger,
        journal_in_ledger,
    )
}


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    for seed in range(count):
        try:
            Firm(seed).check()
        except AssertionError as error:
            sys.exit(f"seed {seed}: {error}")
    print(f"{count:,} firms: the reasons are those drawn, and both totals add up.")
