"""LibreOffice as the judge of workbooks: it calculates each formula by itself, and draws sheets."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import openpyxl

COMMAND = shutil.which("soffice")


def recalculated(content: bytes, folder: Path) -> openpyxl.Workbook:
    """Remove what the workbook says that its formulas give, and return it with what LibreOffice calculates."""
    source = folder / "formulas.xlsx"
    with zipfile.ZipFile(io.BytesIO(content)) as book, zipfile.ZipFile(source, "w") as bare:
        for name in book.namelist():
            bare.writestr(name, re.sub(rb"(</f>)<v>[^<]*</v>", rb"\1", book.read(name)))
    return openpyxl.load_workbook(convert(source, "xlsx:Calc MS Excel 2007 XML", folder / "calculated"), data_only=True)


def convert(source: Path, kind: str, out: Path) -> Path:
    """Convert a file, and return the new one."""
    profile = f"-env:UserInstallation=file://{out}/profile"
    command = [str(COMMAND), profile, "--headless", "--convert-to", kind, "--outdir", str(out), str(source)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return out / f"{source.stem}.{kind.partition(':')[0]}"
