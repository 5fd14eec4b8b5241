"""Exports are safe to open, and have the frame's own numbers."""

from __future__ import annotations

import csv
import io
import os
import zipfile
from pathlib import Path

import openpyxl
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from billframes._shared.export import check_output, file_name, neutralize, to_csv, to_excel, write
from tests.frames import assert_frame_equal


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "client_name": pd.array(["=HYPERLINK(1)", "+1", "-1", "@x", "\tx", "\rx", 'Söhne, "A"', None], dtype="str"),
            "kind": pd.Categorical(["=1+1", "a", "a", "a", "a", "a", "a", None]),
            "originator_names": [["=a", "b"], [], None, ["c"], [], [], [], []],
            "amount": [-1.5, 2.0, None, 0.0, 1.0, 1.0, 1.0, -3.0],
            "created_at": pd.to_datetime(["2026-10-31T23:30"] * 8).tz_localize("UTC"),
            "=a": range(8),
        }
    )


def test_text_that_begins_like_a_formula_is_marked_and_numbers_are_not_touched(frame):
    back = pd.read_csv(io.BytesIO(to_csv(frame)), encoding="utf-8-sig", lineterminator="\n")
    names = back["client_name"].tolist()
    assert names[:5] == ["'=HYPERLINK(1)", "'+1", "'-1", "'@x", "'\tx"]
    assert names[6] == 'Söhne, "A"'
    assert back["kind"].iloc[0] == "'=1+1"
    assert back["originator_names"].iloc[0] == "'=a; b"
    assert back["amount"].dropna().tolist() == [-1.5, 2.0, 0.0, 1.0, 1.0, 1.0, -3.0]
    assert "'=a" in "".join(back.columns)


def test_only_a_durable_file_waits_for_the_disk_and_only_a_private_one_is_hidden(tmp_path, monkeypatch):
    waited = []
    monkeypatch.setattr(os, "fsync", waited.append)
    write(tmp_path / "private", b"x", private=True)
    assert waited == []
    write(tmp_path / "durable", b"x", durable=True)
    assert len(waited) == 1
    assert [(tmp_path / name).stat().st_mode & 0o077 == 0 for name in ("private", "durable")] == [True, False]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["A;=1+1", 'A;"=1+1', "A; \t@x", "A|+1", "A\r\n=1+1", "A\n-1", 'A";=1+1&"', ";＝1"])
def test_a_separator_within_a_text_begins_no_formula_however_a_reader_splits(separator, name):
    frame = pd.DataFrame({"client_name": ["Acme", name], "hours": [1.5, 2.0], "a;=b": ["x", name]})
    text = to_csv(frame).decode("utf-8-sig")
    cells = [cell for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) for cell in row]
    assert [cell for cell in cells if cell.strip(' \t\r\n"').startswith(("=", "+", "-", "@", "＝"))] == []


def test_texts_are_in_quotes_but_numbers_and_missing_values_are_not(frame):
    lines = to_csv(frame.drop(columns="originator_names").iloc[6:]).decode("utf-8-sig").split("\r\n")
    assert lines == [
        '"client_name","kind","amount","created_at","\'=a"',
        '"Söhne, ""A""","a",1.0,"2026-10-31 23:30:00+00:00",6',
        ',,-3.0,"2026-10-31 23:30:00+00:00",7',
        "",
    ]
    alone = pd.DataFrame({"client_name": ["Acme", None]})
    assert len(pd.read_csv(io.BytesIO(to_csv(alone)), skip_blank_lines=True)) == 2


@given(st.text(max_size=30))
def test_a_text_without_a_formula_is_unchanged_in_csv(text):
    frame = pd.DataFrame({"description": [text], "hours": [1.0]})
    (_, (back, hours)) = csv.reader(io.StringIO(to_csv(frame).decode("utf-8-sig"), newline=""))
    assert hours == "1.0"
    assert back == text or set(text) & set("=+-@＝＋－＠\t\r\n")
    assert back.replace("'", "") == text.replace("'", "")


def test_a_workbook_has_no_formula_and_times_of_the_firms_zone(frame):
    pytest.importorskip("xlsxwriter")
    data = to_excel(frame, sheet="Work [in] progress: all of the matters", time_zone="America/New_York")
    with zipfile.ZipFile(io.BytesIO(data)) as book:
        sheet, texts = (book.read(f"xl/{name}.xml").decode() for name in ("worksheets/sheet1", "sharedStrings"))
    assert "<f>" not in sheet
    assert "'=HYPERLINK(1)" in texts
    # 2026-10-31 19:30, as Excel counts days.
    assert "46326.8125" in sheet


def test_an_export_does_not_change_the_frame(frame):
    before = frame.copy(deep=True)
    to_csv(frame)
    assert_frame_equal(frame, before)


@given(st.text(max_size=200))
def test_any_words_make_a_file_name_without_a_folder(words):
    name = file_name(words, "csv")
    assert name.endswith(".csv")
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_.")
    assert name.count(".") == 1
    assert len(name) < 120


@given(st.text(max_size=5))
def test_no_exported_text_begins_like_a_formula(text):
    assert not str(neutralize(text)).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_in_excel_days_have_no_time_and_every_column_is_wide_enough():
    frame = pd.DataFrame(
        {
            "date": pd.to_datetime(["2026-10-31", None]),
            "created_at": pd.to_datetime(["2026-10-31T23:30", None]),
            "a_long_name_of_a_column": [1.0, 2.0],
            "description": ["x" * 500, None],
        }
    )
    sheet = openpyxl.load_workbook(io.BytesIO(to_excel(frame))).active
    assert [cell.number_format for cell in sheet[2][:2]] == ["yyyy-mm-dd", "yyyy-mm-dd hh:mm"]
    widths = [sheet.column_dimensions[letter].width for letter in "ABCD"]
    assert all(width > least for width, least in zip(widths, (10, 16, 23, 59), strict=True))
    assert widths[3] < 65
    assert sheet.auto_filter.ref == "A1:D3"
    assert (sheet.page_setup.orientation, sheet.print_title_rows) == ("landscape", "$1:$1")


def test_a_link_stays_a_link_and_its_target_is_written(tmp_path):
    for name in ("there", "not-there"):
        link, target = tmp_path / f"{name}.link", tmp_path / "reports" / name
        target.parent.mkdir(exist_ok=True)
        link.symlink_to(target)
        if name == "there":
            target.write_bytes(b"before")
        check_output(link)
        write(link, b"after")
        assert link.is_symlink()
        assert target.read_bytes() == b"after"


def test_a_pipe_and_a_device_are_written_and_not_replaced(tmp_path):
    reading, writing = os.pipe()
    link = tmp_path / "link"
    link.symlink_to(f"/proc/self/fd/{writing}")
    for out in (Path(f"/proc/self/fd/{writing}"), link, Path(os.devnull)):
        check_output(out)
        write(out, b"some")
    assert os.read(reading, 100) == b"somesome"
    assert Path(os.devnull).is_char_device()
    assert link.is_symlink()
    os.close(reading)
    os.close(writing)
