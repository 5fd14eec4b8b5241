"""Frames as files that are safe to open: what CSV and Excel downloads have in common.

A spreadsheet runs text that begins like a formula, and names of clients and matters come from elsewhere; such text
gets an apostrophe in front, as spreadsheets themselves mark text. Numbers and dates are never touched.

A CSV file does not say what separates its fields. A reader that splits at semicolons, as Excel does in much of Europe,
would begin a field within a text. So all text is in quotes, and what would begin a formula after a separator is marked
as well.
"""

from __future__ import annotations

import csv
import io
import os
import re
import tempfile
import unicodedata
from pathlib import Path
from secrets import token_hex
from typing import Any

import pandas as pd

from billframes.errors import ConfigError, ParameterError

__all__ = ["check_out", "file_name", "neutral", "to_csv", "to_excel", "write"]

# What spreadsheets take for the beginning of a formula, or skip before one; the wide forms count in East Asia.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_AFTER_SEPARATOR = re.compile(rf"([;|\t\r\n][\s\"']*)(?=[{re.escape(''.join(_FORMULA[:4] + _FORMULA[7:]))}])")
_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10))}
# Longer than this, with a folder before it, is refused by some systems.
_LONGEST = 100


def neutral(value: object) -> object:
    """
    Keep text from being run as a formula; anything but text stays as it is.

    Examples
    --------
    >>> neutral("=1+1"), neutral("Acme"), neutral(-5.0)
    ("'=1+1", 'Acme', -5.0)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def file_name(words: str, ending: str) -> str:
    """
    Make a file name of any words, one that every system takes and that leads into no other folder.

    Examples
    --------
    >>> file_name("Realization: client ../Söhne & Cie", "csv")
    'realization-client-sohne-cie.csv'
    >>> file_name("???", "xlsx"), file_name("con", "csv")
    ('billframes.xlsx', 'billframes-con.csv')
    """
    plain = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode()
    stem = re.sub(r"[^a-z0-9_]+", "-", plain.lower()).strip("-")[:_LONGEST].strip("-")
    return f"{f'billframes-{stem}' if stem in _RESERVED else stem or 'billframes'}.{ending}"


def to_csv(frame: pd.DataFrame) -> bytes:
    r"""
    Write a frame as CSV, in UTF-8 with the mark by which Excel knows it; the index is not written.

    Texts and dates are in quotes. A missing value is an empty field without quotes.

    Examples
    --------
    >>> rows = pd.DataFrame({"client_name": ["=1+1", "A;=B", None], "hours": [-1.5, 2.0, None]})
    >>> print(to_csv(rows).decode("utf-8-sig").replace("\r\n", "\n"), end="")
    "client_name","hours"
    "'=1+1",-1.5
    "A;'=B",2.0
    ,
    """
    missing = token_hex() if len(frame.columns) > 1 else ""
    text: str = _safe(frame, inside=True).to_csv(
        index=False, lineterminator="\r\n", quoting=csv.QUOTE_NONNUMERIC, na_rep=missing
    )
    # A line of one empty field would be no line, so its quotes stay.
    return (text.replace(f'"{missing}"', "") if missing else text).encode("utf-8-sig")


def to_excel(frame: pd.DataFrame, *, sheet: str = "billframes", time_zone: str = "UTC") -> bytes:
    """
    Write a frame as an Excel workbook of one sheet; the index is not written.

    Parameters
    ----------
    frame : DataFrame
    sheet : str
        The sheet's name; what Excel does not take is left out of it.
    time_zone : str
        The firm's: instants are written as the clock showed there, because Excel knows no time zones.

    Raises
    ------
    ConfigError
        The Excel writer is not installed.
    """
    try:
        import xlsxwriter  # noqa: F401
    except ImportError:
        raise ConfigError("Excel files need a writer: pip install 'billframes[dashboard]'.") from None
    plain = _safe(frame)
    for name in plain.columns:
        if isinstance(plain[name].dtype, pd.DatetimeTZDtype):
            plain[name] = plain[name].dt.tz_convert(time_zone).dt.tz_localize(None)
    options = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    buffer = io.BytesIO()
    kwargs: dict[str, Any] = {"date_format": "yyyy-mm-dd", "datetime_format": "yyyy-mm-dd hh:mm"}
    with pd.ExcelWriter(buffer, engine="xlsxwriter", engine_kwargs={"options": options}, **kwargs) as writer:
        plain.to_excel(writer, sheet_name=_sheet(sheet), index=False, freeze_panes=(1, 0))
        writer.sheets[_sheet(sheet)].autofit()
    return buffer.getvalue()


def _safe(frame: pd.DataFrame, *, inside: bool = False) -> pd.DataFrame:
    """Return a frame without formulas; `inside` marks those after a separator inside of a text, too."""
    mark = _neutral_inside if inside else neutral
    texts = {name: frame[name].map(lambda value: mark(_joined(value))) for name in _text_columns(frame)}
    return frame.assign(**texts).rename(columns=mark)


def _text_columns(frame: pd.DataFrame) -> list[Any]:
    return [name for name in frame.columns if _may_hold_text(frame[name])]


def _may_hold_text(column: pd.Series[Any]) -> bool:
    return not (
        pd.api.types.is_numeric_dtype(column.dtype)
        or pd.api.types.is_bool_dtype(column.dtype)
        or pd.api.types.is_datetime64_any_dtype(column.dtype)
    )


def _joined(value: object) -> object:
    """Write a list as text."""
    return "; ".join(map(str, value)) if isinstance(value, list | tuple) else value


def _neutral_inside(value: object) -> object:
    """
    Mark what would begin a formula at the start of a text, and after a separator in it.

    Examples
    --------
    >>> _neutral_inside("Call; =1+1"), _neutral_inside("A; B - C")
    ("Call; '=1+1", 'A; B - C')
    """
    return neutral(_AFTER_SEPARATOR.sub(r"\1'", value) if isinstance(value, str) else value)


def _sheet(words: str) -> str:
    return re.sub(r"[\[\]:*?/\\']", " ", words).strip()[:31] or "billframes"


def check_out(out: Path) -> None:
    """Raise `ParameterError` where no file can be written at `out`."""
    if out.is_dir():
        raise ParameterError(f"--out {out} is a folder; give the name of a file in it.")
    if not out.parent.is_dir():
        raise ParameterError(f"--out {out} can't be written: there is no folder {out.parent}.")
    if not os.access(out.parent, os.W_OK):
        raise ParameterError(f"--out {out} can't be written: the folder {out.parent} is read-only.")


def write(out: Path, content: bytes) -> None:
    """Write beside `out` and rename, so that nobody ever opens half a file."""
    handle, name = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        # A temporary file is private; this one has the rights that any new file would have.
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(out)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
