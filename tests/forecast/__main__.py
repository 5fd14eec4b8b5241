"""Print how good cash forecasts are for made-up firms, by the length of the mirror.

    python -m tests.forecast                     # all firms, 2 seeds
    python -m tests.forecast --seeds 8 --firms "solo,big steady"
    python -m tests.forecast --try prebills      # or voided, months: what is not built in

The error of a firm is the sum of |forecast − cash| ÷ the sum of cash, over the forecasts of its seeds at that length of
the mirror; the table shows means over firms. The naive rule is 12 months' billing × the share of it that is paid.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd

from billframes import analysis
from billframes.errors import ParameterError
from tests.forecast.firms import FIRMS, FIRST_DAY, WEEKS, Habits, make_firm
from tests.forecast.tries import TRIES, table

HORIZONS = (4, 8, 13, 26)
LENGTHS = {"no mirror": (0, 0), "3 months": (12, 16), "12 months": (48, 56), "24 months": (104, 108)}


def records(habits: Habits, seed: int) -> pd.DataFrame:
    """Return the record of a firm's forecasts, with the cash that came in."""
    firm = make_firm(habits, seed)
    since = WEEKS - 1 - 168 + 12 * (seed % 4)
    frames = firm.frames(WEEKS - 1, since)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            record = analysis.cash_forecast_record(**frames, horizons=HORIZONS)
        except ParameterError:
            # Firms with fewer than 100 invoices a year are refused 4 weeks.
            record = analysis.cash_forecast_record(**frames, horizons=HORIZONS[1:])
    week = ((record["as_of"] - FIRST_DAY).dt.days - 6) // 7
    total = np.r_[0.0, np.cumsum(firm.cash)]
    came = total[(week + 1 + record["weeks"]).astype(int)] - total[week + 1]
    return record.assign(age=week - since, cash=came, seed=seed)


def summary(found: pd.DataFrame) -> pd.DataFrame:
    """Return errors, bias and coverage by firm, length of the mirror, and weeks."""
    rows = []
    for length, (low, high) in LENGTHS.items():
        part = found[found["age"].between(low, high)]
        for (firm, weeks), group in part.groupby(["firm", "weeks"]):
            cash = group["cash"].sum()
            rows.append(
                {
                    "firm": firm,
                    "mirror": length,
                    "weeks": int(weeks),
                    "error": (group["cash_amount"] - group["cash"]).abs().sum() / cash,
                    "bias": group["cash_amount"].sum() / cash - 1,
                    "naive": (group["naive_amount"] - group["cash"]).abs().sum() / cash,
                    "covered": group["cash"].between(group["low_amount"], group["high_amount"]).mean(),
                    "width": ((group["high_amount"] - group["low_amount"]) / group["cash_amount"]).mean(),
                }
            )
    return pd.DataFrame(rows)


def show(table: pd.DataFrame) -> None:
    """Print the means over firms, and each firm beside the naive rule."""
    print("Means over firms, in %\n", _means(table, "mirror", ["error", "naive", "bias", "covered", "width"], LENGTHS))
    print("\nBy firm, all lengths, in %\n", _means(table, "firm", ["error", "naive", "covered"], FIRMS))
    better = (table["error"] < table["naive"]).mean()
    print(f"\nBetter than the naive rule in {better:.0%} of {len(table)} cells of firm, mirror and weeks.")


def _means(table: pd.DataFrame, key: str, columns: list[str], order: Collection[str]) -> str:
    means = table.pivot_table(columns, index=key, columns="weeks")[columns] * 100
    return means.round().astype("Int64").reindex([each for each in order if each in means.index]).to_string()


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.forecast", description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--firms", default=",".join(FIRMS))
    parser.add_argument("--habit", action="append", default=[], help="a habit of all firms, such as tax=0.13")
    parser.add_argument("--try", dest="tried", choices=TRIES, help="compare the forecast with another one")
    options = parser.parse_args(arguments)
    habits: dict[str, Any] = {name: float(value) for name, _, value in (each.partition("=") for each in options.habit)}
    firms = []
    for name in _names(options.firms):
        seeds = max(options.seeds // 3, 1) if name.startswith("big") else options.seeds
        own = FIRMS[name] if not habits else Habits(**{**vars_of(FIRMS[name]), **habits})
        firms += [(name, own, seed) for seed in range(seeds)]
    if options.tried:
        print(f"{options.tried}: means over firms, in %\n", table(options.tried, firms))
        return
    found = [records(own, seed).assign(firm=name) for name, own, seed in firms]
    show(summary(pd.concat(found, ignore_index=True)))


def vars_of(habits: Habits) -> dict[str, Any]:
    """Return the habits by name."""
    return {name: getattr(habits, name) for name in habits.__dataclass_fields__}


def _names(text: str) -> list[str]:
    return [name for name in FIRMS if name in text]


if __name__ == "__main__":
    main()
