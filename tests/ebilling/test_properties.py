"""For generated invoices, the file equals each to the cent, and an independent parser reads the same lines."""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given, strategies as st

from billframes.ebilling import ledes, ledes_check, read_ledes
from billframes.ebilling.amounts import spread
from billframes.ebilling.ledes_formats import FIELDS_1998B, LEDES_1998B
from billframes.errors import LedesError
from tests.examples import examples

from .firm import PROFILE, frames

CENT = Decimal("0.01")
few = examples(14)

money = st.integers(-200_000, 2_000_000).map(lambda cents: cents / 100)
words = st.text(st.characters(codec="latin-1", exclude_categories=["Cc"]), min_size=1, max_size=40).filter(str.strip)


@st.composite
def times(draw):
    """Time entries with unusual hours and rates, amounts rounded in different ways, and corrections."""
    hours = draw(st.integers(-40, 240).map(lambda tenths: tenths / 10) | st.floats(0.001, 24))
    rate = draw(st.integers(0, 90_000).map(lambda cents: cents / 100))
    amount = draw(st.just(round(hours * rate, 2)) | money)
    return {"hours": hours, "rate": rate, "amount": amount, "description": "x" + draw(words)}


@st.composite
def bills(draw):
    """Frames of an invoice that is at most the sum of its items, and a profile."""
    items = [draw(st.lists(times(), max_size=6)), draw(st.lists(money, max_size=3)), draw(st.lists(money, max_size=2))]
    given_frames = frames(*items)
    worth = Decimal(repr(given_frames["invoices"]["amount"].item()))
    written_down = draw(st.just(0) | st.integers(0, 300_000))
    given_frames["invoices"]["amount"] = float(worth - Decimal(written_down) / 100)
    profile = replace(
        PROFILE,
        credit_notes=True,
        adjustments=draw(st.sampled_from(["refuse", "invoice", "lines"])),
        fixed_fees=draw(st.sampled_from(["IF", "F"])),
    )
    return given_frames, profile


def file_or_none(bill):
    """The file, or None if it is refused for the reasons that ledes_check gives."""
    given_frames, profile = bill
    found = ledes_check(given_frames, "96542", profile=profile, notes=True)
    rejected = set(found.query("severity == 'rejected'")["field"])
    if not rejected:
        return ledes(given_frames, "96542", profile=profile)
    assert rejected <= {"5 INVOICE_TOTAL", "9 LINE_ITEM_NUMBER"}
    with pytest.raises(LedesError) as error:
        ledes(given_frames, "96542", profile=profile)
    assert error.value.findings.equals(found)
    return None


def decimals(column):
    return [Decimal(each) for each in column.fillna("0")]


@pytest.mark.slow
@few
@given(bill=bills())
def test_lines_add_up_to_the_invoice_and_each_line_adds_up(bill):
    file = file_or_none(bill)
    if file is None:
        return
    lines, amount = file.lines, Decimal(repr(bill[0]["invoices"]["amount"].item()))
    totals = decimals(lines["line_item_total"])
    assert sum(totals) == amount == Decimal(lines["invoice_total"].iloc[0])
    columns = ("line_item_number_of_units", "line_item_unit_cost", "line_item_adjustment_amount")
    for units, cost, adjustment, total in zip(*(decimals(lines[name]) for name in columns), totals, strict=True):
        assert (units * cost).quantize(CENT, ROUND_HALF_UP) + adjustment == total
        assert units >= 0
        assert cost >= 0


@pytest.mark.slow
@few
@given(bill=bills())
def test_the_file_is_ascii_within_its_widths_and_reads_back_the_same(bill, tmp_path):
    file = file_or_none(bill)
    if file is None:
        return
    assert file.text.isascii()
    for field in FIELDS_1998B:
        if field.kind == "text" and field.width:
            assert file.lines[field.column].fillna("").str.len().max() <= field.width
    assert read_ledes(file.text).equals(file.lines)
    path = file.save(tmp_path / "bill.txt", overwrite=True)
    assert not (ledes_check(path)["severity"] == "rejected").any()


@pytest.mark.slow
@few
@given(bill=bills())
def test_an_independent_parser_reads_the_same_lines(bill, independent_parser):
    file = file_or_none(bill)
    # Its grammar has no negative total of an invoice.
    if file is None or file.lines["invoice_total"].iloc[0].startswith("-"):
        return
    parsed = independent_parser.parse(file.text)["line_items"]
    assert len(parsed) == len(file.lines)
    for line, row in zip(parsed, file.lines.fillna("").to_dict("records"), strict=True):
        for name, value in line.items():
            said = f"{value:%Y%m%d}" if hasattr(value, "year") else str(value)
            assert said == " ".join(row[name].split()) or said == row[name], name


def test_the_independent_parser_reads_the_standards_sample(independent_parser):
    from .test_ledes import SAMPLE

    (line,) = independent_parser.parse("\r\n".join(["LEDES1998B[]", LEDES_1998B.heading, SAMPLE]))["line_items"]
    assert (line["line_item_adjustment_amount"], line["line_item_total"]) == (Decimal(-70), Decimal(630))


@given(st.integers(-(10**9), 10**9), st.lists(st.integers(0, 10**9), min_size=1, max_size=20).filter(any))
def test_a_spread_amount_adds_up_and_is_fair(cents, weights):
    amount, parts = Decimal(cents) / 100, [Decimal(each) / 100 for each in weights]
    shares = spread(amount, parts)
    assert sum(shares) == amount
    for share, part in zip(shares, parts, strict=True):
        assert abs(share - amount * part / sum(parts)) < CENT


@pytest.mark.parametrize("size", [10**11, 10**12, float("inf")])
def test_amounts_beyond_the_format_are_findings(size):
    found = ledes_check(frames([], [size], amount=size), "96542")
    assert "rejected" in set(found["severity"])
