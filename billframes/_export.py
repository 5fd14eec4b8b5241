"""Frames as files that are safe to open: what CSV and Excel downloads have in common.

A spreadsheet runs text that begins like a formula, and names of clients and matters come from elsewhere; such text
gets an apostrophe in front, as spreadsheets themselves mark text. Numbers and dates are never touched.
"""

from __future__ import annotations

import io
import re
import unicodedata
from typing import Any

import pandas as pd

from billframes.errors import ConfigError

__all__ = ["file_name", "neutral", "to_csv", "to_excel"]

# What spreadsheets take for the beginning of a formula, or skip before one; the wide forms count in East Asia.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
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
    """
    Write a frame as CSV, in UTF-8 with the mark by which Excel knows it; the index is not written.

    Examples
    --------
    >>> to_csv(pd.DataFrame({"client_name": ["=1+1"], "hours": [-1.5]})).decode("utf-8-sig").splitlines()
    ['client_name,hours', "'=1+1,-1.5"]
    """
    return _safe(frame).to_csv(index=False, lineterminator="\r\n").encode("utf-8-sig")


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


def _safe(frame: pd.DataFrame) -> pd.DataFrame:
    texts = {name: frame[name].map(_text) for name in frame.columns if _may_hold_text(frame[name])}
    return frame.assign(**texts).rename(columns=neutral)


def _may_hold_text(column: pd.Series[Any]) -> bool:
    return not (
        pd.api.types.is_numeric_dtype(column.dtype)
        or pd.api.types.is_bool_dtype(column.dtype)
        or pd.api.types.is_datetime64_any_dtype(column.dtype)
    )


def _text(value: object) -> object:
    """Write lists as text; what is then text is made safe."""
    return neutral("; ".join(map(str, value)) if isinstance(value, list | tuple) else value)


def _sheet(words: str) -> str:
    return re.sub(r"[\[\]:*?/\\']", " ", words).strip()[:31] or "billframes"
