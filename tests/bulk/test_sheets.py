"""Whatever a workbook has in it, reading it is quick, and each workbook that can't be read is one error."""

from __future__ import annotations

import io
import time
import zipfile

import pandas as pd
import pytest

import billframes as bf
from billframes._shared.workbook_sheets import CellError
from billframes.bulk.edited_frame import read_workbook

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
LINKS = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
HEADINGS = ("time_entry_id", "description", "hours", "date")
ROWS = "".join(
    f'<row r="{row}"><c r="A{row}" t="inlineStr"><is><t>id{row}</t></is></c><c r="B{row}" t="s"><v>{row - 2}</v></c>'
    f'<c r="C{row}"><v>1.5</v></c><c r="D{row}" s="1"><v>46300</v></c></row>'
    for row in (2, 3)
)
HEAD = "".join(f'<c r="{"ABCD"[at]}1" t="inlineStr"><is><t>{name}</t></is></c>' for at, name in enumerate(HEADINGS))
SHEET = f'<worksheet {MAIN}><sheetData><row r="1">{HEAD}</row>{ROWS}</sheetData></worksheet>'
PARTS = {
    "_rels/.rels": f"<Relationships {LINKS}>"
    f'<Relationship Id="r" Type="{KINDS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook {MAIN} xmlns:r="{KINDS}"><sheets><sheet name="s" r:id="a"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f"<Relationships {LINKS}>"
    f'<Relationship Id="a" Type="{KINDS}/worksheet" Target="/xl/sheet.xml"/>'
    f'<Relationship Id="b" Type="{KINDS}/sharedStrings" Target="strings.xml"/>'
    f'<Relationship Id="c" Type="{KINDS}/styles" Target="styles.xml"/></Relationships>',
    "xl/styles.xml": f'<styleSheet {MAIN}><cellXfs><xf/><xf numFmtId="14"/><xf numFmtId="9"/></cellXfs></styleSheet>',
    "xl/strings.xml": f"<sst {MAIN}><si><t>One</t></si>"
    "<si><r><t>Tw</t></r><r><t>o</t></r><rPh><t>x</t></rPh></si></sst>",
    "xl/sheet.xml": SHEET,
}


def read(folder, limits=None, **changed):
    """Read a workbook with other parts: `sheet=` is "xl/sheet.xml"."""
    parts = PARTS | {f"xl/{name}.xml": text for name, text in changed.items()}
    path = folder / "edited.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return read_workbook(path, **(limits or {}))[1]


def inside(more):
    """The sheet with more XML after its last row."""
    return SHEET.replace("</sheetData>", f"{more}</sheetData>")


def test_a_sheet_has_the_values_of_its_cells(tmp_path):
    frame = read(tmp_path)
    expected = {"time_entry_id": ["id2", "id3"], "description": ["One", "Two"], "hours": [1.5, 1.5]}
    assert frame.drop(columns="date").to_dict("list") == expected
    assert frame["date"].tolist() == [pd.Timestamp("2026-10-05")] * 2


@pytest.mark.parametrize("change", [
    lambda xml: xml.replace("<", "<x:").replace("<x:/", "</x:").replace("xmlns=", "xmlns:x="),
    lambda xml: xml.replace('"', "'").replace("><", ">\n  <"),
    lambda xml: xml.replace("http://schemas.openxmlformats.org/spreadsheetml/2006/", "http://purl.oclc.org/ooxml/spreadsheetml/"),
    lambda xml: xml.encode("utf-16"),
])  # fmt: skip
def test_a_sheet_is_the_same_however_its_xml_is_written(tmp_path, change):
    assert read(tmp_path, sheet=change(SHEET)).equals(read(tmp_path))


def test_hidden_rows_and_merged_cells_are_found_however_they_are_written(tmp_path):
    hidden = SHEET.replace('<row r="3"', "<row\nhidden='true' r='3'")
    assert read(tmp_path, sheet=hidden).attrs["hidden"] == [1]
    merged = SHEET.replace("</worksheet>", "<mergeCells><mergeCell\tref='B2:B3'/></mergeCells></worksheet>")
    with pytest.raises(bf.errors.ParameterError, match=r"has merged cells \(B2:B3\)"):
        read(tmp_path, sheet=merged)


@pytest.mark.parametrize("repeated", ["<row ", "<mergeCell ", "<c ", "<row hidden=", "<f>"])
def test_a_tag_that_is_repeated_in_a_comment_takes_no_time(tmp_path, repeated):
    begun = time.process_time()
    assert read(tmp_path, sheet=inside(f"<!--{repeated * 300_000}-->")).equals(read(tmp_path))
    assert time.process_time() - begun < 2


def test_a_cell_far_away_from_the_headings_changes_nothing(tmp_path):
    far = '<row r="1048570"><c r="XFD1048570"><v>1</v></c></row>'
    assert read(tmp_path, sheet=inside(far)).equals(read(tmp_path))
    formatted = "".join(f'<row r="{row}"><c r="A{row}" s="1"/></row>' for row in range(10, 500))
    assert read(tmp_path, sheet=inside(formatted)).equals(read(tmp_path))


def test_a_value_far_down_is_refused_with_its_row_and_the_limit_can_be_raised(tmp_path):
    far = inside('<row r="1048570"><c r="A1048570"><v>1</v></c></row>')
    with pytest.raises(
        bf.errors.ParameterError, match=r"more than 3,000,000 cells\. It has a value in row 1,048,570\. .*--max-cells"
    ):
        read(tmp_path, sheet=far)
    near = inside('<row r="1000"><c r="A1000"><v>1</v></c></row>')
    with pytest.raises(bf.errors.ParameterError, match="a value in row 1,000"):
        read(tmp_path, {"max_cells": 3000}, sheet=near)
    assert len(read(tmp_path, {"max_cells": 4000}, sheet=near)) == 999


@pytest.mark.parametrize(
    ("limits", "problem"),
    [
        ({"max_cells": 11}, "more than 11 cells"),
        ({"max_bytes": 1500}, "more than 1,500 bytes when unpacked.*--max-bytes"),
    ],
)
def test_a_workbook_beyond_a_limit_is_refused(tmp_path, limits, problem):
    assert len(read(tmp_path, {"max_cells": 12, "max_bytes": 10_000})) == 2
    with pytest.raises(bf.errors.ParameterError, match=problem):
        read(tmp_path, limits)


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path):
    book = "<x/>".join(PARTS["xl/workbook.xml"].rpartition("</workbook>")[::2])
    begun = time.process_time()
    with pytest.raises(bf.errors.ParameterError, match="more than 1,000,000 bytes when unpacked"):
        read(tmp_path, {"max_bytes": 10**6}, sheet=inside(" " * 30_000_000), workbook=book + "</workbook>")
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(
    ("part", "text", "problem"),
    [
        ("sheet", '<!DOCTYPE a [<!ENTITY b "c">]>' + SHEET, "declares a document type"),
        ("sheet", inside("<a>" * 200 + "</a>" * 200), "nested too deeply"),
        ("sheet", inside('<row r="2"/>'), "rows are not in order"),
        ("sheet", inside('<row r="1048577"/>'), "rows are not in order"),
        ("sheet", inside('<row r="9"><c r="A8"/></row>'), "a cell is not in its row"),
        ("sheet", inside('<row r="9"><c r="XFE9"/></row>'), "a cell is in no column"),
        ("sheet", inside('<row r="9"><c r="A9"><v>1</v></c><c r="A9"><v>1</v></c></row>'), "a cell is there twice"),
        ("sheet", inside('<row r="9"><c r="A9" t="s"><v>-1</v></c></row>'), "negative number"),
        ("sheet", inside('<row r="9"><c r="A9" t="s"><v>2</v></c></row>'), "IndexError"),
        ("sheet", inside('<row r="9"><c r="A9" t="z"><v>2</v></c></row>'), "KeyError"),
        ("sheet", inside(f'<row r="9"><c r="A9"><v>{"9" * 9_999}</v></c></row>'), "ValueError"),
        ("sheet", SHEET[:-3], "ExpatError"),
        ("strings", "", "ExpatError"),
    ],
)
def test_what_is_no_workbook_is_one_error(tmp_path, part, text, problem):
    with pytest.raises(
        bf.errors.ParameterError, match=rf"edited\.xlsx can't be read as an Excel workbook: .*{problem}"
    ):
        read(tmp_path, **{part: text})


def test_a_part_that_is_there_twice_is_refused(tmp_path):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in PARTS.items():
            archive.writestr(name, text)
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("xl/sheet.xml", SHEET)
    path = tmp_path / "twice.xlsx"
    path.write_bytes(content.getvalue())
    with pytest.raises(bf.errors.ParameterError, match="two parts have one name"):
        read_workbook(path)


def test_cells_without_a_usable_value_are_kept_as_such(tmp_path):
    cells = '<c r="A9" t="e"><v>#REF!</v></c><c r="B9"><f>1+1</f></c>'
    cells += '<c r="C9" s="2"><v>0.5</v></c><c r="D9" s="1"><v>1e9</v></c>'
    last = read(tmp_path, sheet=inside(f'<row r="9">{cells}</row>')).iloc[-1]
    assert last["time_entry_id"] == CellError("#REF!")
    assert str(last["description"]).startswith("=1+1 (without its result")
    assert str(last["hours"]) == "0.5 (shown as a percentage)"
    assert "there is no such date" in str(last["date"])
