"""One note names the share by which most invoices are above their items, and legitimate firms don't see it."""

from __future__ import annotations

import warnings

import pytest

from billframes.analysis import reconcile
from billframes.config.firm import FirmSettings
from billframes.loading.load_info import attach

COSTS = "matter_id user_id client_id date amount invoice_id"
SEEN = "are above their items by the same"


def frames(firm, shares, *, whole=True, expenses=100.0, fees=0.0, kinds=("time", "expenses", "fees")):
    """Return invoices that are above the taxed kinds of their items by these shares."""
    ids = [f"i{number}" for number in range(len(shares))]
    worths = [700.0 + 37.31 * number for number in range(len(shares))]
    work = [
        ("2026-09-01", "u1", "c1", "m1", "billable", 3.0, worth, id_) for worth, id_ in zip(worths, ids, strict=True)
    ]
    amounts = []
    for worth, share in zip(worths, shares, strict=True):
        items = {"time": worth, "expenses": expenses, "fees": fees}
        amounts.append(round(sum(each * (1 + share * (kind in kinds)) for kind, each in items.items()), 2))
    bills = [
        (id_, "2026-10-05", "final", "2026-11-04", "c1", each, 0.0) for id_, each in zip(ids, amounts, strict=True)
    ]
    costs = {name: [("m1", "u1", "c1", "2026-09-01", each, id_) for id_ in ids] for name, each in
             (("expenses", expenses), ("fixed_fees", fees))}  # fmt: skip
    found = {
        "time_entries": firm.entries(*work),
        **{name: firm.frame(COSTS, *rows) for name, rows in costs.items()},
        "invoices": firm.invoices(*bills),
    }
    info = {name: {"rows": len(each)} for name, each in found.items()} if whole else {}
    return {name: attach(each, "load", info[name]) if whole else each for name, each in found.items()}


def notes(given_frames, **options):
    """Return the warnings of `reconcile`."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        reconcile(**given_frames, **options)
    return [str(each.message) for each in caught]


@pytest.mark.parametrize(
    ("share", "kinds", "said"),
    [
        (0.05, ("time", "expenses", "fees"), '5%.*"rate": 0.05, "on": ["time", "fixed_fees", "expenses"]'),
        (0.13, ("time", "fees"), '13%.*"rate": 0.13, "on": ["time", "fixed_fees"]'),
        (0.149, ("time",), '14.9%.*"rate": 0.149, "on": ["time"]'),
    ],
)
def test_a_whole_load_names_the_share_and_never_missing_work(pandas_firm, share, kinds, said):
    given_frames = frames(pandas_firm, [share] * 7 + [0.0, -0.1], kinds=kinds, fees=90.0)
    (note,) = notes(given_frames)
    percent, state = said.split(".*")
    assert note.startswith(f"7 of 9 invoices {SEEN} {percent}. This may be a tax, a surcharge or another currency.")
    assert state in note
    assert "taxes=" in note
    assert "missing" not in note


def test_it_is_one_note_on_every_engine_and_none_once_the_tax_is_stated(firm):
    given_frames = frames(firm, [0.13] * 6, whole=False)
    (note,) = notes(given_frames)
    assert note.startswith(
        f"6 of 6 invoices {SEEN} 13%. This may be a tax, a surcharge or another currency, or work on them may be "
    )
    assert notes(given_frames, settings=FirmSettings(taxes=[{"name": "HST", "rate": 0.13}])) == []


@pytest.mark.parametrize(
    "shares",
    [
        [0.0] * 9,
        [0.0] * 5 + [0.05] * 4,
        [0.02, 0.05, 0.11, 0.3, 0.17, 0.08, 0.24, 0.4, 0.6],
        [-0.1] * 9,
        [0.13, 0.13],
        [0.001] * 9,
    ],
    ids=["at their items", "a few", "write-ups", "discounts", "two invoices", "rounded up"],
)
def test_firms_without_a_share_of_most_invoices_see_no_note(pandas_firm, shares):
    assert notes(frames(pandas_firm, shares)) == []


def test_where_many_invoices_are_written_down_the_tax_of_a_quarter_is_named(pandas_firm):
    written_down = [0.13 - 0.011 * number for number in range(1, 21)]
    (note,) = notes(frames(pandas_firm, [0.13] * 9 + written_down))
    assert f"of 29 invoices {SEEN} 13%." in note
    for legitimate in ([0.13] * 9 + [0.0] * 10 + written_down[:6], [0.13] * 6 + written_down[:18]):
        assert notes(frames(pandas_firm, legitimate)) == []


def test_contingency_and_fixed_fees_and_hidden_rates_give_no_note(pandas_firm):
    given_frames = frames(pandas_firm, [0.0] * 6, fees=500.0)
    contingent = given_frames | {"invoices": given_frames["invoices"].assign(matter_id="m5", amount=[9_000.0] * 6)}
    assert notes(contingent) == []
    fixed_only = given_frames | {
        "time_entries": given_frames["time_entries"].assign(billing_type="fixedFee", amount=None)
    }
    fixed_only["invoices"] = fixed_only["invoices"].assign(amount=600.0)
    assert notes(fixed_only) == []
    hidden = frames(pandas_firm, [0.05] * 6)
    hidden["time_entries"] = hidden["time_entries"].assign(amount=None)
    assert not any(SEEN in each for each in notes(hidden))
