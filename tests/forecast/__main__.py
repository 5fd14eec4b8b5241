"""Print how good cash forecasts are for made-up firms, by the length of the mirror.

    python -m tests.forecast                     # all firms, 2 seeds: about ten minutes
    python -m tests.forecast --seeds 8 --firms "solo,big steady"

The error of a firm is the sum of |forecast − cash| ÷ the sum of cash, over the forecasts of its seeds at that length of
the mirror; the table shows means over firms. The simple rule is 12 months' billing × the share of it that is paid. Each
day is one on which a forecast is made without a mirror, and refused if the library refuses it.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from billframes import analysis
from billframes.errors import ParameterError
from tests.forecast.firms import FIRMS, FIRST_DAY, HELD_OUT, OTHERS, WEEKS, Firm, Habits, make_firm

HORIZONS = (4, 8, 13, 26)
_ALL = FIRMS | OTHERS | HELD_OUT
LENGTHS = {"no mirror": (-1, -1), "3 months": (12, 16), "12 months": (48, 56), "24 months": (104, 108)}
# Not a multiple of four weeks, in which some clients pay.
_EVERY = 19


def records(habits: Habits, seed: int) -> pd.DataFrame:
    """Return the forecasts of a firm with a mirror, and those without one, with the cash that came in."""
    firm = make_firm(habits, seed)
    since = WEEKS - 1 - 168 + 12 * (seed % 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        record = _of_long_horizons(analysis.cash_forecast_record, firm.frames(WEEKS - 1, since))
        week = ((record["as_of"] - FIRST_DAY).dt.days - 6) // 7
        alone = [_without_mirror(firm, each) for each in range(since + seed % 5, WEEKS - 1 - HORIZONS[-1], _EVERY)]
    total = np.r_[0.0, np.cumsum(firm.cash)]
    found = pd.concat([record.assign(week=week, mirror=week - since), *alone], ignore_index=True)
    came = total[(found["week"] + 1 + found["weeks"]).astype(int)] - total[found["week"] + 1]
    return found.assign(cash=came, seed=seed)


def _of_long_horizons(function: Any, frames: dict[str, Any]) -> pd.DataFrame:
    """Call an analysis, without 4 weeks if these are refused: they need 100 invoices a year."""
    try:
        return function(**frames, horizons=HORIZONS)
    except ParameterError:
        return function(**frames, horizons=HORIZONS[1:])


def _without_mirror(firm: Firm, week: int) -> pd.DataFrame:
    """Return the forecasts at the end of a week; none if the data are refused."""
    frames = firm.frames(week, week) | {"receipts": None, "since": None}
    try:
        rows = _of_long_horizons(analysis.cash_forecast, frames)
    except ParameterError:
        return pd.DataFrame()
    return rows.assign(week=week, mirror=-1, weeks=((rows["end"] - rows["start"]).dt.days + 1) // 7)


def summary(found: pd.DataFrame) -> pd.DataFrame:
    """Return errors, bias and coverage by firm, length of the mirror, and weeks."""
    rows = []
    for length, (low, high) in LENGTHS.items():
        part = found[found["mirror"].between(low, high)]
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
    columns = ["error", "naive", "covered"]
    for title, firms in (("first", FIRMS), ("other", OTHERS), ("held out", HELD_OUT)):
        part = table[table["firm"].isin(firms)]
        print(f"Means over the {title} firms, in %\n", _means(part, "mirror", [*columns, "bias", "width"], LENGTHS))
        for length in ("no mirror", "12 months"):
            print(f"\nBy firm, {length}, in %\n", _means(part[part["mirror"] == length], "firm", columns, firms))
        for length, cells in part.groupby("mirror"):
            better = (cells["error"] < cells["naive"]).mean()
            print(f"{length}: better than the simple rule in {better:.0%} of {len(cells)} cells of firm and weeks.")


def _means(table: pd.DataFrame, key: str, columns: list[str], order: Collection[str]) -> str:
    means = table.pivot_table(columns, index=key, columns="weeks")[columns] * 100
    return means.round().astype("Int64").reindex([each for each in order if each in means.index]).to_string()


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.forecast", description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--firms", default=",".join(_ALL))
    parser.add_argument("--habit", action="append", default=[], help="a habit of all firms, such as tax=0.13")
    options = parser.parse_args(arguments)
    habits: dict[str, Any] = {name: float(value) for name, _, value in (each.partition("=") for each in options.habit)}
    firms = []
    for name in _names(options.firms):
        seeds = max(options.seeds // 3, 1) if name.startswith(("big", "doubles")) else options.seeds
        own = replace((_ALL)[name], **habits)
        firms += [(name, own, seed) for seed in range(seeds)]
    found = [records(own, seed).assign(firm=name) for name, own, seed in firms]
    show(summary(pd.concat(found, ignore_index=True)))


def _names(text: str) -> list[str]:
    return [name for name in _ALL if name in text]


if __name__ == "__main__":
    main()
