"""Write frames to CSV and Excel files that are safe to open, and write files completely or not at all.

A spreadsheet runs text that begins like a formula. Names of clients and matters are written by others, so such text
gets an apostrophe in front, as spreadsheets themselves mark text. Numbers and dates are not changed.

A CSV file does not declare its separator. Excel in much of Europe splits at semicolons and could begin a field inside a
text. All text is therefore in quotes, and an apostrophe is also put before a formula after a separator inside a text.

An Excel cell holds 32,767 characters. A longer text is cut, and ends with a note.
"""

from __future__ import annotations

import csv
import io
import math
import os
import re
import tempfile
import textwrap
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from secrets import token_hex
from typing import Any

import pandas as pd

from billframes._shared.messages import warn
from billframes.errors import BillframesWarning, ConfigError, ParameterError

NUMBER_FORMATS = {
    **dict.fromkeys(("money", "rate", "hours"), "#,##0.00"),
    "ratio": "0.0%",
    "points": "+0.0%;-0.0%;0.0%",
    "multiple": "0.00",
    "days": "#,##0.0",
    "count": "#,##0",
    "date": "[$-409]d mmm yyyy",
    "month": "[$-409]mmm yyyy",
    "text": "General",
}
"""The number format of each unit. Names of months are English, whatever the language of Excel."""
# Excel's number of the paper's size.
A4 = 9
PAGE_WIDTH = 230
"""The characters across a landscape page, in type of about 7 points. Wider sheets take two pages."""
# Characters that begin a formula in a spreadsheet, or that it skips before one; the wide forms apply in East Asia.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_AFTER_SEPARATOR = re.compile(rf"([;|\t\r\n][\s\"';|]*)([{re.escape(''.join(_FORMULA[:4] + _FORMULA[7:]))}])?")
_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10))}
# Some systems refuse longer paths, including the folder.
_LONGEST = 100
# Characters of a column in Excel; longer texts are cut off on the screen.
_WIDEST, _NARROWEST = 60, 10
# The height of a line in points.
_LINE_HEIGHT = 15
# Characters of an Excel cell, counted in UTF-16.
_CELL = 32_767
_CUT = " […] (cut: an Excel cell holds no more)"


# Texts that pandas reads as missing values.
_READ_AS_MISSING = {
    *("#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA"),
    *("NULL", "NaN", "None", "n/a", "nan", "null"),
}


def mark_missing(value: object) -> object:
    """Mark text that pandas would read as a missing value. Other values are not changed."""
    return f"'{value}" if isinstance(value, str) and value in _READ_AS_MISSING else value


def neutralize(value: object) -> object:
    """Mark text that would run as a formula. Other values are not changed."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def excel_text(value: object) -> object:
    """
    Mark text that would run as a formula, and cut text that is too long for an Excel cell. Keep other values.

    Line ends become line feeds, because Excel shows a carriage return as `_x000D_`.
    """
    text = neutralize(value)
    text = plain_line_ends(text) if isinstance(text, str) else text
    if not isinstance(text, str) or len(text) * 2 <= _CELL or len(wide := text.encode("utf-16-le")) <= _CELL * 2:
        return text
    return wide[: (_CELL - len(_CUT)) * 2].decode("utf-16-le", errors="ignore").rstrip() + _CUT


def plain_line_ends(text: str) -> str:
    """Return a text with the line ends that spreadsheets use."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def is_cut(value: object) -> bool:
    """Tell whether a text is only the beginning of a longer one, as `excel_text` cut it."""
    return isinstance(value, str) and value.endswith(_CUT)


def file_name(words: str, ending: str) -> str:
    """Return a file name for any words that is valid on every system and contains no folder."""
    plain = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode()
    stem = re.sub(r"[^a-z0-9_]+", "-", plain.lower()).strip("-")[:_LONGEST].strip("-")
    return f"{f'billframes-{stem}' if stem in _RESERVED else stem or 'billframes'}.{ending}"


def check_marks(decimal: str, delimiter: str) -> None:
    """Raise `ParameterError` if a CSV file can't have this decimal mark and this delimiter."""
    if decimal not in {".", ","} or delimiter not in {",", ";", "\t"} or decimal == delimiter:
        raise ParameterError(
            f"decimal={decimal!r} and delimiter={delimiter!r} don't fit together. A decimal mark is '.' or ','; a "
            "delimiter is ',', ';' or a tab, and not the decimal mark."
        )


def to_csv(frame: pd.DataFrame, *, decimal: str = ".", delimiter: str = ",") -> bytes:
    """
    Write a frame as CSV in UTF-8 with the byte order mark that Excel needs. The index is not written.

    Texts and dates are in quotes. A missing value is an empty field without quotes. The decimal mark and the delimiter
    must differ.
    """
    check_marks(decimal, delimiter)
    missing = token_hex() if len(frame.columns) > 1 else ""
    text: str = _safe(frame, neutralize_inside).to_csv(
        index=False,
        lineterminator="\r\n",
        quoting=csv.QUOTE_NONNUMERIC,
        na_rep=missing,
        decimal=decimal,
        sep=delimiter,
    )
    # With a single column, the quotes stay, because an empty line would be skipped.
    return (text.replace(f'"{missing}"', "") if missing else text).encode("utf-8-sig")


def to_excel(
    frame: pd.DataFrame, *, sheet: str = "billframes", time_zone: str = "UTC", formats: Mapping[str, str] | None = None
) -> bytes:
    """
    Write a frame as an Excel workbook with one sheet. The index is not written. Warn if texts are cut.

    Times are written in local time of `time_zone`, because Excel has no time zones. `formats` are number formats by
    column.
    """
    try:
        import xlsxwriter  # noqa: F401
    except ImportError:
        raise ConfigError("Excel files need a writer: pip install 'billframes[excel]'.") from None
    plain = _safe(frame, excel_text)
    _warn_of_cut(plain)
    for name in plain.columns:
        if isinstance(plain[name].dtype, pd.DatetimeTZDtype):
            plain[name] = plain[name].dt.tz_convert(time_zone).dt.tz_localize(None)
        elif pd.api.types.is_datetime64_any_dtype(plain[name].dtype) and has_only_days(plain[name]):
            plain[name] = plain[name].dt.date
    options = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    buffer = io.BytesIO()
    kwargs: dict[str, Any] = {"date_format": "yyyy-mm-dd", "datetime_format": "yyyy-mm-dd hh:mm"}
    with pd.ExcelWriter(buffer, engine="xlsxwriter", engine_kwargs={"options": options}, **kwargs) as writer:
        plain.to_excel(writer, sheet_name=safe_sheet_name(sheet), index=False, freeze_panes=(1, 0))
        added = {name: writer.book.add_format({"num_format": form}) for name, form in (formats or {}).items()}
        heading = writer.book.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"})
        _lay_out(writer.sheets[safe_sheet_name(sheet)], plain, added, heading)
    return buffer.getvalue()


def has_only_days(dates: pd.Series[Any]) -> bool:
    """Tell whether all instants are midnights."""
    return bool(dates.dropna().eq(dates.dropna().dt.normalize()).all())


def _lay_out(page: Any, frame: pd.DataFrame, formats: Mapping[str, Any], heading: Any) -> None:
    """Set column widths and formats, a filter row, and printing in landscape with the heading on every page."""
    widths = [_width(str(name), frame[name]) for name in frame.columns]
    for place, (name, width) in enumerate(zip(frame.columns, widths, strict=True)):
        page.set_column(place, place, width, formats.get(name))
        page.write_string(0, place, str(name), heading)
    # Programs other than Excel don't fit the row's height to its text.
    lines = [len(textwrap.wrap(str(name), int(width) - 3)) for name, width in zip(frame.columns, widths, strict=True)]
    page.set_row(0, _LINE_HEIGHT * max(lines, default=1))
    if len(frame.columns):
        page.autofilter(0, 0, len(frame), len(frame.columns) - 1)
        page.repeat_columns(0)
    page.repeat_rows(0)
    fit_landscape(page, across=max(1, math.ceil(sum(widths) / PAGE_WIDTH)), paper=None)


def fit_landscape(
    page: Any,
    *,
    across: int = 1,
    down: int = 0,
    paper: int | None = A4,
    margins: tuple[float, float, float, float] | None = None,
) -> None:
    """
    Print a sheet in landscape on so many pages across and down; 0 is as many as needed.

    `paper` is Excel's number of the paper's size; None is the printer's. `margins` are inches left, right, above and
    below.
    """
    page.set_landscape()
    if paper is not None:
        page.set_paper(paper)
    if margins is not None:
        page.set_margins(*margins)
    page.fit_to_pages(across, down)


def _width(heading: str, values: pd.Series[Any]) -> float:
    """Return a width in characters: Excel shows ### for a date or number that is wider than its column."""
    word = max(map(len, heading.split()), default=0)
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        widest = len("2026-10-31 23:59")
    else:
        widest = max((len(str(value)) for value in values.dropna()), default=0)
    # The filter's button takes the room of three characters.
    return min(_WIDEST, max(widest, word + 3, _NARROWEST)) + 1.0


def _warn_of_cut(frame: pd.DataFrame) -> None:
    cut = {name: number for name in _text_columns(frame) if (number := sum(map(is_cut, frame[name])))}
    if cut:
        named = ", ".join(f"{name} ({number:,})" for name, number in cut.items())
        warn(
            f"Texts of more than {_CELL:,} characters are cut, because an Excel cell holds no more: {named}. "
            "CSV and Parquet files have all of them.",
            BillframesWarning,
        )


def _safe(frame: pd.DataFrame, mark: Callable[[object], object]) -> pd.DataFrame:
    """Return a frame with `mark` applied to its texts and column names."""
    texts = {name: frame[name].map(lambda value: mark(_joined(value))) for name in _text_columns(frame)}
    return frame.assign(**texts).rename(columns=mark)


def _text_columns(frame: pd.DataFrame) -> list[Any]:
    types = pd.api.types
    others = (types.is_numeric_dtype, types.is_bool_dtype, types.is_datetime64_any_dtype)
    return [name for name in frame.columns if not any(each(frame[name].dtype) for each in others)]


def _joined(value: object) -> object:
    return "; ".join(map(str, value)) if isinstance(value, list | tuple) else value


def neutralize_inside(value: object) -> object:
    """Mark formulas at the start of a text and after a separator within it."""
    if isinstance(value, str):
        value = _AFTER_SEPARATOR.sub(lambda found: f"{found[1]}'{found[2]}" if found[2] else found[0], value)
    return neutralize(value)


def safe_sheet_name(words: str) -> str:
    """Return words as a sheet's name, without characters that Excel does not allow."""
    return re.sub(r"[\[\]:*?/\\']", " ", words).strip()[:31] or "billframes"


def check_output(given: str | Path, argument: str = "--out ") -> None:
    """Raise `ParameterError` if a file can't be written there; a text that ends with a slash is a folder."""
    out = _target(given)
    if _is_stream(out):
        return
    if str(given).endswith(("/", os.sep)) and not out.is_dir():
        raise ParameterError(f"{argument}{given} can't be written: there is no folder {out}.")
    if out.is_dir():
        raise ParameterError(f"{argument}{given} is a folder; give the name of a file in it.")
    if not out.parent.is_dir():
        raise ParameterError(f"{argument}{given} can't be written: there is no folder {out.parent}.")
    if not os.access(out.parent, os.W_OK):
        raise ParameterError(f"{argument}{given} can't be written: the folder {out.parent} is read-only.")


def _target(given: str | Path) -> Path:
    """Return the file that a link leads to; a link to a pipe has no other name."""
    out = Path(given).absolute()
    return out if _is_stream(out) else Path(os.path.realpath(out))


def _is_stream(out: Path) -> bool:
    return out.exists() and not out.is_file() and not out.is_dir()


def make_folder(folder: Path) -> None:
    """Make a folder and those above it. Raise `ParameterError` if that is impossible."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(f"--out {folder} can't be made: {error.strerror}.") from None


def write(out: Path, content: bytes, *, private: bool = False, durable: bool = False) -> None:
    """
    Write a temporary file beside `out` and rename it, so that `out` is never incomplete.

    A `private` file is only for its owner, and a `durable` one is there also if the power fails. The target of a link
    is written, and so is a pipe or a device.
    """
    out = _target(out)
    if _is_stream(out):
        out.write_bytes(content)
        return
    handle, name = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        if not private:
            # Temporary files are private; give this one the permissions of a new file.
            Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(out)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
