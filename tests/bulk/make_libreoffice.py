"""Write `libreoffice.xlsx`: an export of the seeded firm, edited, and saved by LibreOffice.

    python -m tests.bulk.make_libreoffice

LibreOffice reads the edited export, keeps it in its own format, and writes it as a workbook again, as "Save as" does.
"""

from __future__ import annotations

import io
import subprocess
import tempfile
from pathlib import Path

import openpyxl

import billframes as bf
from billframes._shared.export import to_excel
from billframes.sandbox import Sandbox

SAVED = Path(__file__).with_name("libreoffice.xlsx")
ROWS = 8


def export(client: bf.Client) -> bytes:
    return to_excel(client.time_entries("2026-10", billed=False, limit=ROWS), sheet="time_entries")


def edit(content: bytes) -> openpyxl.Workbook:
    """Edit some cells, delete a row, add a row, hide a column and move one, as people do."""
    book = openpyxl.load_workbook(io.BytesIO(content))
    sheet = book.active
    place = {cell.value: cell.column for cell in sheet[1]}
    sheet.cell(2, place["description"]).value = "Réunion – “lease”\nsecond line"
    sheet.cell(3, place["hours"]).value = 2.75
    sheet.cell(4, place["activity_code"]).value = "A104"
    sheet.cell(5, place["date"]).value = sheet.cell(5, place["date"]).value.replace(day=3)
    sheet.cell(6, place["description"]).value = "'-10% agreed"
    for name in ("matter_id", "user_id"):
        sheet.cell(ROWS + 2, place[name]).value = sheet.cell(2, place[name]).value
    sheet.cell(ROWS + 2, place["date"]).value = sheet.cell(2, place["date"]).value
    sheet.cell(ROWS + 2, place["hours"]).value = "=1/4"
    sheet.cell(ROWS + 2, place["description"]).value = "A new row"
    sheet.delete_rows(ROWS + 1)
    sheet.column_dimensions[openpyxl.utils.get_column_letter(place["client_name"])].hidden = True
    sheet.move_range(f"A1:A{ROWS + 1}", cols=len(place))
    return book


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        Sandbox() as sandbox,
        bf.Client(sandbox.base_url, sandbox.tokens["full"]) as client,
    ):
        edited = Path(folder) / "edited.xlsx"
        edit(export(client)).save(edited)
        for kind, source in (("ods", edited), ("xlsx:Calc MS Excel 2007 XML", Path(folder) / "ods" / "edited.ods")):
            out = Path(folder) / kind.partition(":")[0]
            profile = f"-env:UserInstallation=file://{folder}/profile"
            command = ["soffice", profile, "--headless", "--convert-to", kind, "--outdir", str(out), str(source)]
            subprocess.run(command, check=True, capture_output=True, timeout=300)
        SAVED.write_bytes((Path(folder) / "xlsx" / "edited.xlsx").read_bytes())


if __name__ == "__main__":
    main()
