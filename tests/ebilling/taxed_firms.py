"""Write e-bills of random taxed firms, and read them back: `python -m tests.ebilling.taxed_firms`.

The reader here knows nothing of billframes. It splits the file at pipes, and every amount is compared with what the
firm billed, to the cent.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from billframes.config.firm import FirmSettings
from billframes.ebilling import LedesProfile, ledes, ledes_check
from billframes.errors import LedesError

from .firm import frames

CENT = Decimal("0.01")
KINDS = {"F": "time", "IF": "fixed_fees", "E": "expenses"}
# Firms state taxes in their settings, or in a client's profile.
SETTINGS = (
    [{"name": "VAT", "rate": 0.2}],
    [{"name": "GST", "rate": 0.05}, {"name": "PST", "rate": 0.08, "on": ["time", "fixed_fees"]}],
    [{"name": "GST", "rate": 0.05}, {"name": "QST", "rate": 0.09975}],
    [{"name": "HST", "rate": 0.13, "on": ["time"], "start": "2026-01-01"}],
    [{"name": "VAT", "rate": 0.19, "end": "2020-12-31"}, {"name": "VAT", "rate": 0.081, "start": "2021-01-01"}],
    [],
)
PROFILES = (
    [{"type": "VAT", "rate": 0.2, "on": "fees"}],
    [{"type": "VAT", "rate": 0, "matters": ["0529"]}, {"type": "VAT", "rate": 0.175}],
    [{"type": "HST", "rate": 0.15, "on": "expenses"}],
    [{"type": "GST+PST", "rate": 0.13, "until": "2026-12-31"}],
)


def cents(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, ROUND_HALF_UP)


@dataclass
class Firm:
    """A firm with one invoice."""

    frames: dict[str, Any]
    settings: FirmSettings
    profile: LedesProfile
    amount: Decimal
    tax: Decimal
    written_down: bool
    # The rate and name of the tax on each kind of item and matter.
    rates: dict[tuple[str, str], tuple[Decimal, str]] = field(default_factory=dict)


def make_firm(seed: int) -> Firm:
    """Make a firm's invoice, taxed line by line and sometimes written down."""
    chance = random.Random(seed)
    times = []
    for _ in range(chance.randint(1, 12)):
        hours = chance.choice([chance.randint(1, 90) / 10, chance.randint(1, 30) / 6, -0.5])
        rate = chance.randint(9_000, 95_000) / 100
        amount = float(cents(Decimal(repr(hours)) * Decimal(repr(rate))))
        times.append({"hours": hours, "rate": rate, "amount": amount, "matter_id": chance.choice(["m1", "m1", "m2"])})
    expenses = [chance.randint(-500, 60_000) / 100 for _ in range(chance.randint(0, 4))]
    fees = [chance.randint(1, 400_000) / 100 for _ in range(chance.choice([0, 0, 1]))]
    given = frames(times, expenses, fees, amount=0.0)
    rates, settings, profile = make_taxes(chance)
    taxed = [(Decimal(repr(each["amount"])), *rates["time", each["matter_id"]]) for each in times]
    taxed += [(Decimal(repr(each)), *rates["expenses", "m1"]) for each in expenses]
    taxed += [(Decimal(repr(each)), *rates["fixed_fees", "m1"]) for each in fees]
    tax = sum((cents(base * rate) for base, rate, _ in taxed), Decimal(0))
    gross = tax + sum(base for base, _, _ in taxed)
    written_down = chance.random() < 0.4 and gross > 100
    amount = cents(gross * Decimal(chance.randint(70, 99)) / 100) if written_down else gross
    given["invoices"]["amount"] = float(amount)
    return Firm(given, settings, profile, amount, tax, written_down, rates)


def make_taxes(chance: random.Random) -> tuple[dict[tuple[str, str], tuple[Decimal, str]], FirmSettings, LedesProfile]:
    """Return the rates on each kind of item and matter, and the settings and the profile that state them."""
    profile = LedesProfile(law_firm_id="24", currency="CAD", account_type="O", firm={"name": "Firm", "country": "CA"})
    profile = replace(profile, adjustments=chance.choice(["lines", "invoice"]), credit_notes=True)
    text_format = chance.choice(["98BI V2", "98BI V2", "1998B"])
    profile = replace(profile, format=text_format, tax_lines="E124" if text_format == "1998B" else None)
    if chance.random() < 0.5:
        taxes = chance.choice(SETTINGS)
        today = [tax for tax in taxes if tax.get("end", "2026-11-05") >= "2026-11-05"]
        rates = {}
        for kind in KINDS.values():
            on = [tax for tax in today if kind in tax.get("on", KINDS.values())]
            rate = sum((Decimal(repr(tax["rate"])) for tax in on), Decimal(0))
            rates |= dict.fromkeys([(kind, "m1"), (kind, "m2")], (rate, "+".join(tax["name"] for tax in on)))
        return rates, FirmSettings(taxes=taxes), profile
    taxes = chance.choice(PROFILES)
    rates = {}
    for kind in KINDS.values():
        for matter, reference in (("m1", "0528"), ("m2", "0529")):
            of_kind = {"both", "expenses" if kind == "expenses" else "fees"}
            on = (
                tax
                for tax in taxes
                if reference in tax.get("matters", [reference]) and tax.get("on", "both") in of_kind
            )
            tax = next(on, {"rate": 0, "type": ""})
            rates[kind, matter] = Decimal(repr(tax["rate"])), tax["type"]
    return rates, FirmSettings(), replace(profile, tax=taxes)


def read_file(text: str) -> list[dict[str, str]]:
    """Return the lines of a file by name."""
    first, heading, *lines = text.split("\r\n")
    assert first in {"LEDES98BI V2[]", "LEDES1998B[]"}
    assert all(line.endswith("[]") for line in lines)
    names = heading[:-2].split("|")
    assert len(names) == (52 if "BI" in first else 24)
    rows = [line[:-2].split("|") for line in lines]
    assert {len(row) for row in rows} == {len(names)}
    return [dict(zip(names, row, strict=True)) for row in rows]


def check_firm(seed: int) -> str:
    """Write the firm's e-bill and compare each amount; return "written", or "refused" if its tax is not known."""
    firm = make_firm(seed)
    options = {"profile": firm.profile, "settings": firm.settings}
    try:
        file = ledes(firm.frames, "96542", **options)
    except LedesError as error:
        # The tax on one write-down of fees with several rates is not known, nor that on more than the fees.
        reasons = error.findings.query("severity == 'rejected'")["problem"].tolist()
        assert firm.written_down, (seed, reasons)
        several = len({firm.rates[key] for key in firm.rates if key[0] != "expenses"}) > 1
        assert several or "more than the fees" in reasons[0], (seed, reasons)
        return "refused"
    lines = read_file(file.text)
    totals = [Decimal(line["LINE_ITEM_TOTAL"]) for line in lines]
    assert sum(totals) == firm.amount == Decimal(lines[0]["INVOICE_TOTAL"]), seed
    assert not (ledes_check(file.text, profile=firm.profile)["severity"] == "rejected").any(), seed
    (check_international if "LINE_ITEM_TAX_TOTAL" in lines[0] else check_tax_line)(firm, lines, seed)
    return "written"


def base_of(line: dict[str, str]) -> Decimal:
    number = {name: Decimal(line[name] or 0) for name in line if "UNIT" in name or "ADJUSTMENT_AMOUNT" in name}
    product = number["LINE_ITEM_NUMBER_OF_UNITS"] * number["LINE_ITEM_UNIT_COST"]
    return cents(product) + number["LINE_ITEM_ADJUSTMENT_AMOUNT"]


def check_international(firm: Firm, lines: list[dict[str, str]], seed: int) -> None:
    """Compare the rate and the tax of each line, and the sums."""
    taxes, off = [Decimal(line["LINE_ITEM_TAX_TOTAL"]) for line in lines], []
    for line, tax in zip(lines, taxes, strict=True):
        base = base_of(line)
        assert base + tax == Decimal(line["LINE_ITEM_TOTAL"]), seed
        rate = Decimal(line["LINE_ITEM_TAX_RATE"])
        matter = {"0528": "m1", "0529": "m2"}[line["LAW_FIRM_MATTER_ID"]]
        expected = {firm.rates[kind, matter] for kind in kinds_of(line)}
        assert (rate, line["LINE_ITEM_TAX_TYPE"]) in expected, seed
        off.append(abs(tax - cents(base * rate)))
    assert sum(each > 0 for each in off) <= 1, seed
    assert sum(off) <= CENT + CENT / 2 * len(lines), seed
    assert firm.written_down or not any(off), seed
    assert Decimal(lines[0]["INVOICE_TAX_TOTAL"]) == sum(taxes), seed
    assert Decimal(lines[0]["INVOICE_NET_TOTAL"]) == firm.amount - sum(taxes), seed


def kinds_of(line: dict[str, str]) -> list[str]:
    """Return what a line can be. Corrections of time and write-downs are adjustments of fees, as fixed fees are."""
    kind = line["EXP/FEE/INV_ADJ_TYPE"]
    return {"F": ["time"], "E": ["expenses"], "IE": ["expenses"], "IF": ["time", "fixed_fees"]}[kind]


def check_tax_line(firm: Firm, lines: list[dict[str, str]], seed: int) -> None:
    """Compare the line of tax with the tax on the other lines."""
    taxes = [Decimal(line["LINE_ITEM_TOTAL"]) for line in lines if line["LINE_ITEM_EXPENSE_CODE"] == "E124"]
    assert all(base_of(line) == Decimal(line["LINE_ITEM_TOTAL"]) for line in lines), seed
    assert len(taxes) == (1 if any(rate for rate, _ in used_rates(firm)) else 0), seed
    if not firm.written_down:
        assert sum(taxes) == firm.tax, seed


def used_rates(firm: Firm) -> set[tuple[Decimal, str]]:
    """Return the taxes on the firm's items."""
    used = {firm.rates["time", matter] for matter in firm.frames["time_entries"]["matter_id"]}
    used |= {firm.rates["expenses", "m1"]} if len(firm.frames["expenses"]) else set()
    return used | ({firm.rates["fixed_fees", "m1"]} if len(firm.frames["fixed_fees"]) else set())


def main(firms: int = 500) -> None:
    """Check firms until so many files were written."""
    outcomes: list[str] = []
    while outcomes.count("written") < firms:
        outcomes.append(check_firm(len(outcomes)))
    refused = outcomes.count("refused")
    print(f"{firms:,} files agree to the cent. {refused} more invoices were refused with the reason.")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
