"""Files of any software are read and checked line by line."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest
from hypothesis import given, settings, strategies as st

from billframes.ebilling import ledes, ledes_check, parsed_file, read_ledes, read_text_lines, reading
from billframes.ebilling.findings import FILE_COLUMNS
from billframes.ebilling.ledes_formats import LEDES_98BI, LEDES_1998B
from billframes.errors import IncompleteDataWarning, LedesFormatError, ParameterError

from .firm import PROFILE, frames

GOOD = ledes(frames([(2.0, 350.0, 700.0), (0.33, 345.5, 114.02)], [25.1]), "96542", profile=PROFILE).text
FIRST, NAMES, *LINES = GOOD.split("\r\n")


def findings_in(tmp_path, text):
    path = tmp_path / "bill.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    found = ledes_check(path)
    assert tuple(found.columns) == FILE_COLUMNS
    lines = [None if line != line else int(line) for line in found["line"].astype("float64")]
    return list(zip(lines, found["field"], found["problem"], strict=True))


def with_field(number, value, line=0):
    """The file with one field of one line changed."""
    fields = LINES[line].removesuffix("[]").split("|")
    fields[number - 1] = value
    lines = [*LINES]
    lines[line] = "|".join(fields) + "[]"
    return "\r\n".join([FIRST, NAMES, *lines])


def test_a_good_file_has_no_findings(tmp_path):
    assert findings_in(tmp_path, GOOD) == findings_in(tmp_path, GOOD + "\r\n") == []
    assert read_ledes(GOOD).equals(read_ledes(tmp_path / "bill.txt"))


@pytest.mark.parametrize(
    ("number", "value", "problem"),
    [
        (1, "2026-11-05", "is not a date as YYYYMMDD"),
        (1, "20261131", "is not a date as YYYYMMDD"),
        (2, "", "is empty"),
        (2, "1" * 21, "has 21 characters; the format takes 20"),
        (3, "NULL", "is the text NULL; an empty field has nothing between the pipes"),
        (5, "839.13", "differs between lines of one invoice"),
        (9, "2", "is used twice in the invoice"),
        (10, "f", "is not one of F, E, IF and IE"),
        (11, "-2.00", "is negative; some portals refuse negative units"),
        (11, "2,00", "is not a number of digits with one point and at most four decimals"),
        (13, "700.01", "is not units × unit cost + adjustment"),
        (13, "$700.00", "is not a number of digits with one point and at most four decimals"),
        (14, "20261231", "is outside the billing period"),
        (15, "A102", "is an activity code, not a task code"),
        (16, "E101", "a fee has an expense code"),
        (17, "L110", "is a task code, not an activity code"),
        (18, "", "is empty"),
        (19, "", "is empty"),
        (19, "Café", "has a character that is not plain ASCII"),
        (20, "", "is empty"),
        (21, "1e3", "is not a number of digits with one point and at most four decimals"),
        (22, "Ada Lovelace", "is not written 'Last, First'"),
        (23, "Senior Partner", "has 14 characters; the format takes 10"),
    ],
)
def test_a_wrong_field_is_found_on_its_line(tmp_path, number, value, problem):
    found = findings_in(tmp_path, with_field(number, value))
    label = NAMES.removesuffix("[]").split("|")[number - 1]
    assert (problem, f"{number} {label}") in [(said, field) for _, field, said in found]
    assert {line for line, _, said in found if said == problem} <= {3, 4}


def test_a_total_that_is_not_the_sum_is_found(tmp_path):
    text = GOOD.replace("839.12", "839.13")
    assert findings_in(tmp_path, text) == [(3, "5 INVOICE_TOTAL", "is not the sum of the lines")]


def test_the_structure_of_a_file_is_checked_line_by_line(tmp_path):
    short = LINES[0].replace("|Draft motion", "")
    text = "\r\n".join([FIRST, NAMES, short, "", LINES[1].removesuffix("[]"), NAMES, FIRST, LINES[2] + LINES[2]])
    assert findings_in(tmp_path, text) == [
        (3, "the file", "the line does not have 24 columns"),
        (4, "the file", "the line is empty"),
        (5, "the file", "the line does not end with []"),
        (6, "the file", "the names of the fields are repeated"),
        (7, "the file", "the file's first line is repeated"),
        (8, "the file", "several records are on one line"),
        (8, "9 LINE_ITEM_NUMBER", "is used twice in the invoice"),
    ]
    with pytest.warns(IncompleteDataWarning, match="1 line does not have 24 columns"):
        assert len(read_ledes(text)) == 4


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (GOOD.replace("\r\n", "\n"), "line ends are LF"),
        (GOOD.replace("\r\n", "\r"), "line ends are CR"),
        (GOOD.replace("\r\n", "\n", 1), "line ends differ"),
        (b"\xef\xbb\xbf" + GOOD.encode(), "the file begins with a byte-order mark"),
        (GOOD.encode("utf-16"), "the file begins with a byte-order mark"),
        (GOOD.replace("Draft", "Entwürfe").encode("latin-1"), "has a character that is not plain ASCII"),
        (
            GOOD.replace("LEDES1998B[]", "LEDES98BI V2[]"),
            "the first line is that of 98BI, but the heading has 24 names",
        ),
        (GOOD.replace(NAMES + "\r\n", ""), "the line with the names of the fields is missing"),
        (f"{FIRST}\r\n{NAMES}", "there is no line of a bill"),
        (GOOD.replace(FIRST + "\r\n", ""), "the first line is missing"),
    ],
)
def test_files_of_other_software_are_read_and_checked(tmp_path, content, problem):
    assert problem in [said for _, _, said in findings_in(tmp_path, content)]


def test_columns_in_another_order_are_read_by_their_names(tmp_path):
    def turned(line):
        return "|".join(reversed(line.removesuffix("[]").split("|"))) + "[]"

    text = "\r\n".join([FIRST, *map(turned, [NAMES, *LINES])])
    found = findings_in(tmp_path, text)
    assert found == [(2, "the file", "the names of the fields are not those of LEDES 1998B in their order")]
    assert read_ledes(text).equals(read_ledes(GOOD))


def headed(changes, more=(), first=FIRST):
    """Return the file with some names of its heading changed, and more fields at the end of each line."""
    names = [changes.get(name, name) for name in NAMES.removesuffix("[]").split("|")]
    rows = [[*names, *(name for name, _ in more)]]
    rows += [[*line.removesuffix("[]").split("|"), *(value for _, value in more)] for line in LINES]
    return "\r\n".join([first, *("|".join(row) + "[]" for row in rows)])


OTHER = [("INVOICE_CURRENCY", "INR"), ("TIMEKEEPER_LAST_NAME", "Doe"), ("TIMEKEEPER_FIRST_NAME", "Jane"), ("X", "CL")]


@pytest.mark.parametrize("first", [FIRST, "LEDES98BI V2[]", "LEDES1998BI[]"])
def test_values_are_under_the_names_of_their_heading_and_in_no_other_column(first):
    with pytest.warns(IncompleteDataWarning, match="the heading does not name .*, so these fields are missing"):
        found = read_ledes(headed({}, OTHER, first))
    good = read_ledes(GOOD)
    assert found[[*good.columns]].equals(good)
    filled = found.drop(columns=good.columns).dropna(axis="columns").iloc[0]
    assert filled.to_dict() == {name.lower(): value for name, value in OTHER[:3]}


@pytest.mark.parametrize(
    ("changes", "lost"),
    [
        ({"LINE_ITEM_DESCRIPTION": "NARRATIVE"}, ["line_item_description"]),
        ({"LINE_ITEM_TOTAL": "LINE_ITEM_NUMBER_OF_UNITS"}, ["line_item_total", "line_item_number_of_units"]),
        ({"TIMEKEEPER_NAME": ""}, ["timekeeper_name"]),
        ({"CLIENT_MATTER_ID": "CLIENT_TAX_ID"}, ["client_matter_id"]),
    ],
)
def test_a_value_without_the_name_of_a_field_is_missing(changes, lost):
    text, good = headed(changes), read_ledes(GOOD)
    with pytest.warns(IncompleteDataWarning, match="the heading does not name"):
        found = read_ledes(text)
    assert found[lost].isna().all(axis=None)
    assert found[good.columns.drop(lost)].equals(good.drop(columns=lost))
    (value,) = ledes_check(text).query("problem.str.startswith('the names of the fields')")["value"]
    assert all(name.upper() in value for name in lost)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16", "utf-8-sig"])
def test_a_file_is_read_in_the_encodings_that_windows_writes(encoding):
    assert read_ledes(GOOD.encode(encoding)).equals(read_ledes(GOOD))
    assert "Save it as ASCII, without a byte-order mark." in ledes_check(GOOD.encode(encoding))["fix"].tolist()


def test_a_file_that_cannot_be_opened_is_one_sentence(tmp_path):
    for path in (tmp_path / "no.txt", tmp_path):
        with pytest.raises(ParameterError, match="can't be read"):
            ledes_check(path)
    with pytest.raises(ParameterError, match="int is not a LEDES file"):
        read_ledes(3)
    with pytest.raises(ParameterError, match="For a file, leave out"):
        ledes_check(tmp_path, "96542")


pieces = st.sampled_from(
    [FIRST, NAMES, *LINES, LEDES_1998B.heading, "[]", "|", "\r\n", "\n", "\r", "\x00", "é", "NULL", "1e5", ""]
)


files = st.binary(max_size=300) | st.lists(pieces | st.text(max_size=20), max_size=12).map("".join)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning")
@given(files)
def test_no_file_raises_another_error(content):
    from billframes.ebilling.reading import check_file

    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    with suppress(LedesFormatError):
        assert tuple(check_file(data).columns) == FILE_COLUMNS
        assert tuple(read_ledes(data).columns) in {LEDES_1998B.columns, LEDES_98BI.columns}


@pytest.mark.parametrize("more", ["\n", "x\n", "\r", "[]"])
def test_a_file_of_line_ends_and_the_like_stops_soon(more):
    begun = time.process_time()
    found = reading.check_file((f"{GOOD}\r\n" + more * 1_000_000).encode(), max_findings=500)
    assert (len(found), found["severity"].iloc[-1]) == (501, "rejected")
    assert "there are more than 500 findings" in " ".join(found["problem"])
    with pytest.raises(ParameterError, match="not a LEDES file that can be read: there are more than 500 findings"):
        read_ledes(f"{GOOD}\r\n" + "x\n" * 1000, max_findings=500)
    assert time.process_time() - begun < 5


def test_a_line_that_does_not_end_is_not_read(monkeypatch):
    monkeypatch.setattr(read_text_lines, "_LONGEST_LINE", 1000)
    with pytest.raises(ParameterError, match="the line has more than 1,000 characters"):
        read_ledes(f"{GOOD}\r\n{'x' * 2000}")


def test_many_lines_of_almost_nothing_are_refused(monkeypatch):
    monkeypatch.setattr(parsed_file, "_MANY", 100)
    monkeypatch.setattr(parsed_file, "_LINES", 10)
    with pytest.raises(ParameterError, match="the lines have fewer than 60 characters"):
        read_ledes(f"{FIRST}\r\n{NAMES}\r\n" + ("|" * 23 + "[]\r\n") * 200)
    assert len(read_ledes("\r\n".join([FIRST, NAMES, *LINES * 100]))) == 100 * len(LINES)


def test_a_file_beyond_the_limit_is_refused_with_its_number(tmp_path):
    path = tmp_path / "bill.txt"
    path.write_text(GOOD, newline="")
    for read in (read_ledes, ledes_check):
        with pytest.raises(ParameterError, match=r"bill.txt has more than 100 bytes\..* raise max_bytes\."):
            read(path, max_bytes=100)
        with pytest.raises(ParameterError, match="max_findings=0 is not a limit"):
            read(path, max_findings=0)


@pytest.mark.parametrize("digits", [13, 17, 1_100_000])
def test_a_number_wider_than_any_field_is_a_finding(tmp_path, digits):
    text = with_field(11, "9" * digits).replace("|350.00|", f"|{'9' * digits}|", 1)
    found = [problem for _, _, problem in findings_in(tmp_path, text)]
    assert "has more than 10 digits before the point" in found


def test_a_long_value_is_cut_in_findings(tmp_path):
    path = tmp_path / "bill.txt"
    path.write_text(with_field(24, "9" * 5000), newline="")
    assert ledes_check(path)["value"].str.len().max() == 1000
