"""The instants and times of a page, parsed at once, equal those of the parsers for single values."""

import random

import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from billframes.schema.decode import microseconds, parse_instant, parse_time
from billframes.schema.instants import UnreadableError, read_instants, read_times

# Texts of one layout.
FEW = 16
OFFSETS = ["", "Z", "+05:30", "-08:00", "+00:00", "-00:00", "+14:00", "-12:00", "+23:59", "+0530", "+05", "+05:30:15"]
STRANGE = ["z", "+24:00", "+14:60", "-99:99", "z ", "+5:30", "Z0", " Z", "+05:30Z"]
ODD = [
    *(
        "2026-10-01",
        "2026-10-01T09:12",
        "2026-10-01T09Z",
        "2026-10-01t09:12:33Z",
        "20261001T091233Z",
        "2026-W40-4T09:12:33Z",
    ),
    *("2026-10-01T09:12:33,123Z", "2026-10-01X09:12:33Z", "2026-10-01T09:12:33.Z", "0000-01-01T00:00:00Z", "", "soon"),
    *(
        "2026-02-30T09:12:33Z",
        "2026-10-01T24:00:00Z",
        "2026-10-01T09:60:00Z",
        "2026-10-01T09:12:60Z",
        "2026-13-01T09:12:33Z",
    ),
    *(
        "٢٠٢٦-10-01T09:12:33Z",
        "2026-10-01T09:12:33.12٣Z",
        "12026-10-01T09:12:33Z",
        "-001-10-01T09:12:33Z",
        "2026-10-01T09:12:33\x00",
    ),
]
YEARS = [(1, 1), (1, 9999), (2026, 2026), (9999, 9999)]


def written(chance, years, decimals, zone, separator):
    """Return an instant as text, in one layout."""
    day = f"{chance.randint(*years):04}-{chance.choice([1, 3, 12]):02}-{chance.randint(1, 31):02}"
    time = f"{chance.randint(0, 23):02}:{chance.randint(0, 59):02}:{chance.choice([0, 9, 59]):02}"
    fraction = "." + "".join(chance.choice("0123456789") for _ in range(decimals)) if decimals else ""
    return f"{day}{separator}{time}{fraction}{zone}"


layouts = st.tuples(
    st.sampled_from(YEARS), st.integers(0, 10), st.sampled_from(OFFSETS * 3 + STRANGE), st.sampled_from("TTTT t")
)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(layouts, min_size=1, max_size=4),
    st.lists(st.sampled_from([None, *ODD]), max_size=3),
    st.integers(0, 2**32),
)
def test_instants_are_parsed_like_single_values(chosen, odd, seed):
    chance = random.Random(seed)
    texts = [written(chance, *layout) for layout in chosen for _ in range(2 * FEW)] + odd
    if chance.random() < 0.7:
        chance.shuffle(texts)
    assert outcome(texts, read_instants, "timestamp[us, tz=UTC]") == one_by_one(texts, microseconds)


@pytest.mark.parametrize("odd", ODD)
def test_an_unusual_instant_is_parsed_alone_or_refused_with_its_row(odd):
    chance = random.Random(7)
    texts = [written(chance, (2026, 2026), 7, "Z", "T") for _ in range(3 * FEW)]
    texts[FEW] = odd
    assert outcome(texts, read_instants, "timestamp[us, tz=UTC]") == one_by_one(texts, microseconds)


@pytest.mark.parametrize("text", ["1969-12-31T23:59:59.1234567Z", "0000-12-31T23:59:59Z"])
def test_an_instant_that_arrow_reads_otherwise_is_parsed_alone(text):
    """Arrow accepts the year 0, and drops nanoseconds before 1970 upwards."""
    assert outcome([text] * 2, read_instants, "timestamp[us, tz=UTC]") == one_by_one([text] * 2, microseconds)


@pytest.mark.parametrize("text", ["2026-10-01t09:12:33z", "2026-10-01T09:12:33z", "2026-10-01t09:12:33.5000000z"])
@pytest.mark.parametrize("count", [1, 2 * FEW])
def test_small_letters_are_accepted_as_in_rfc_3339(text, count):
    assert read_instants([text] * count).to_pylist() == [parse_instant(text)] * count


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["", "", "Z", "+05:30", " "])), min_size=1, max_size=3),
    st.lists(st.sampled_from([None, "09:12", "T09:12:33", "09", "24:00:00", "09:60:00", "noon", ""]), max_size=2),
    st.integers(0, 2**32),
)
def test_times_are_parsed_like_single_values(chosen, odd, seed):
    chance = random.Random(seed)
    texts = [
        written(chance, (2026, 2026), decimals, zone, "T")[11:] for decimals, zone in chosen for _ in range(2 * FEW)
    ] + odd
    chance.shuffle(texts)
    assert outcome(texts, read_times, "time64[us]") == one_by_one(texts, since_midnight)


def outcome(texts, read, kind):
    """Return the microseconds, or the row of the text that can't be parsed."""
    try:
        found = read(texts)
    except UnreadableError as error:
        return error.row
    assert str(found.type) == kind
    return found.view(pa.int64()).to_pylist()


def one_by_one(texts, parse):
    """Return the same with the parser for single values."""
    found = []
    for row, text in enumerate(texts):
        try:
            found.append(None if text is None else parse(text))
        except ValueError:
            return row
    return found


def since_midnight(text):
    time = parse_time(text)
    return time.hour * 3_600_000_000 + time.minute * 60_000_000 + time.second * 1_000_000 + time.microsecond
