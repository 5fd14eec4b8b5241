"""Make a LEDES file of invoices, unless a portal would reject it, and save it."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from decimal import Decimal
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from billframes._shared.export import write
from billframes._shared.format import count_of
from billframes.book import Book
from billframes.client import Client
from billframes.config.firm import FirmSettings
from billframes.ebilling.amounts import ZERO
from billframes.ebilling.check import check_invoices
from billframes.ebilling.code_rules import tax_lines
from billframes.ebilling.findings import INVOICE_COLUMNS, findings_frame, list_reasons
from billframes.ebilling.ledes_formats import END, LEDES_98BI, LEDES_1998B, REJECTED, LedesFormat
from billframes.ebilling.plain_text import is_plain
from billframes.ebilling.profile import LedesProfile
from billframes.ebilling.source import BillSource
from billframes.errors import LedesError, MissingColumnError, ParameterError
from billframes.loading.progress import Progress

_SHOWN = ["line_item_date", "exp_fee_inv_adj_type", "line_item_number_of_units", "line_item_unit_cost"]
_SHOWN += ["line_item_adjustment_amount", "line_item_total", "line_item_task_code", "timekeeper_name"]
_FEW = 5
_LEFT_OUT = ("invoice_number", "item", "item_id", "date", "reason")
_CHANGED = ("invoice_number", "item", "item_id", "date", "replaced")


class LedesFile:
    """
    A LEDES file. `ledes` makes it from invoices; it can also be made from the lines of `read_ledes`.

    Parameters
    ----------
    lines : DataFrame
        The 24 columns of 1998B, or the 52 columns of 98BI, as texts. The columns decide the format.
    findings : DataFrame, optional
        Findings that are often rejected, and notes, as `ledes_check` returns them.
    left_out : DataFrame, optional
        Items of the invoices that are not lines, with the reason: time that is not billable or that a fixed fee covers.
    changed : DataFrame, optional
        Items whose description had characters that the format can't have, and which were replaced.

    Raises
    ------
    MissingColumnError
        `lines` lacks a field.
    """

    def __init__(
        self,
        lines: pd.DataFrame,
        *,
        findings: pd.DataFrame | None = None,
        left_out: pd.DataFrame | None = None,
        changed: pd.DataFrame | None = None,
    ) -> None:
        self._form: LedesFormat = LEDES_98BI if "line_item_tax_total" in lines.columns else LEDES_1998B
        names = self._form.columns
        lacking = [name for name in names if name not in lines.columns]
        if lacking:
            raise MissingColumnError(
                f"lines has no column {', '.join(map(repr, lacking))}; bf.ebilling.read_ledes gives all {len(names)}."
            )
        self.lines = lines
        self.findings = findings_frame((), INVOICE_COLUMNS) if findings is None else findings
        self.left_out = _items_frame((), _LEFT_OUT) if left_out is None else left_out
        self.changed = _items_frame((), _CHANGED) if changed is None else changed

    @functools.cached_property
    def text(self) -> str:
        """
        The file's text: ASCII, with CRLF between lines.

        Raises
        ------
        LedesError
            A value has a character that the format can't have.
        """
        names = self._form.columns
        columns = [self.lines[name].fillna("").astype(str).tolist() for name in names]
        for name, values in zip(names, columns, strict=True):
            if not is_plain(" ".join(values)):
                raise LedesError(
                    f"{name} has a character that a LEDES file can't hold: it takes ASCII without '|', '[]'."
                )
        rows = ["|".join(row) + END for row in zip(*columns, strict=True)]
        return "\r\n".join([self._form.first_line, self._form.heading, *rows])

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """
        Write the file, completely or not at all.

        Parameters
        ----------
        path : str or Path
            Must end with ".txt", which portals require.
        overwrite : bool, default False
            Whether an existing file may be replaced.

        Returns
        -------
        Path

        Raises
        ------
        ParameterError
            The file exists, its folder does not, or its name does not end with ".txt".
        """
        out = Path(path).absolute()
        if out.suffix.lower() != ".txt":
            raise ParameterError(f"{out.name} does not end with .txt, which portals require.")
        if out.exists() and not overwrite:
            raise ParameterError(f"{out} exists already; choose another name, or give overwrite=True.")
        if not out.parent.is_dir():
            raise ParameterError(f"{out} can't be written: there is no folder {out.parent}.")
        try:
            write(out, self.text.encode("ascii"))
        except OSError as error:
            raise ParameterError(f"{out} can't be written: {error.strerror}.") from error
        return out

    @functools.cached_property
    def totals(self) -> dict[str, Decimal]:
        """The total of each invoice, by its number."""
        heads = self.lines.drop_duplicates("invoice_number")
        return {
            str(each): Decimal(total)
            for each, total in zip(heads["invoice_number"], heads["invoice_total"], strict=True)
        }

    @functools.cached_property
    def taxes(self) -> dict[str, Decimal]:
        """The tax of each invoice, by its number: in 98BI of all lines, in 1998B the lines of tax (code E124)."""
        texts = {name: self.lines[name].fillna("").astype(str).tolist() for name in self._form.columns}
        if self._form.has_taxes:
            taxed, amounts = list(range(len(self.lines))), texts["line_item_tax_total"]
        else:
            taxed, amounts = tax_lines(texts), texts["line_item_total"]
        found = dict.fromkeys(texts["invoice_number"], ZERO)
        for at in taxed:
            found[texts["invoice_number"][at]] += Decimal(amounts[at] or 0)
        return found

    def __repr__(self) -> str:
        return f"<LEDES {self._form.name} file: {self._summary()}>"

    def _repr_html_(self) -> str:
        table = self.lines[_SHOWN].head(_FEW).to_html(index=False, na_rep="", border=0)
        more = "" if len(self.lines) <= _FEW else f"<p>… and {len(self.lines) - _FEW:,} more lines</p>"
        return f"<p>LEDES {self._form.name} file: {escape(self._summary())}</p>{table}{more}"

    def _summary(self) -> str:
        invoices = self.lines["invoice_number"].dropna().unique().tolist()
        named = f"invoice {invoices[0]}" if len(invoices) == 1 else f"{len(invoices)} invoices"
        counts = [count_of(len(self.lines), "line")]
        counts += [f"{count_of(len(self.left_out), 'item')} left out"] * (not self.left_out.empty)
        counts += [count_of(len(self.findings), "finding")] * (not self.findings.empty)
        return ", ".join([named, *counts])


def ledes(
    given: Book | Mapping[str, Any],
    invoice: str | int | Iterable[str | int],
    *,
    profile: LedesProfile | None = None,
    client: Client | None = None,
    progress: bool | Progress | None = None,
    settings: FirmSettings | None = None,
) -> LedesFile:
    """
    Make the LEDES file of invoices, or raise an error with all reasons for which a portal would reject it.

    The file always equals each invoice to the cent. Time that is not billable, or that a fixed fee covers, is left out
    and listed.

    Parameters
    ----------
    given : Book or mapping of str to frame
        As for `ledes_check`.
    invoice : str, int or list of str
        Numbers or ids of final or approved invoices, all for the profile's client.
    profile : LedesProfile
        The client's requirements. Only `law_firm_id` has no default.
    client : Client, optional
        The client to read codes with, if frames without codes are given.
    progress : bool or callable, optional
        Progress of reading codes, as for the loaders.
    settings : FirmSettings, optional
        As for `ledes_check`.

    Returns
    -------
    LedesFile
        With `.lines`, `.text`, `.save(path)`, and in `.findings` those that are often rejected.

    Raises
    ------
    LedesError
        A portal would reject the file; `.findings` has all findings.
    ParameterError
        An invoice is unknown, or a frame or the profile is missing.
    MissingColumnError
        A frame lacks a column, or the profile names a custom field that does not exist.

    Examples
    --------
    >>> profile = bf.ebilling.LedesProfile(law_firm_id="06-1234567", adjustments="lines")
    >>> bf.ebilling.ledes(bf.book("2026-10"), "11819", profile=profile)
    <LEDES 1998B file: invoice 11819, 4 lines>
    """
    if profile is None:
        raise ParameterError(
            "A LEDES file has the number by which the client's portal knows the firm, usually its tax number: pass "
            "profile=bf.ebilling.LedesProfile(law_firm_id='06-1234567'); all other keys have defaults. ledes_check "
            "needs no profile."
        )
    source = BillSource(given, client, settings)
    checked = check_invoices(source, invoice, profile, progress=progress)
    findings = checked.frame(source)
    if (findings["severity"] == REJECTED).any():
        raise LedesError(f"No LEDES file was made. {list_reasons(findings)}", findings=findings)
    left_out = [(bill.number, item, reason) for bill in checked.bills for item, reason in bill.left_out]
    changed = [(bill.number, item, replaced) for bill, item, replaced in checked.texts.changed]
    lines = pd.DataFrame(checked.texts.columns, dtype="str")
    return LedesFile(
        lines.mask(lines == ""),
        findings=findings,
        left_out=_items_frame(left_out, _LEFT_OUT),
        changed=_items_frame(changed, _CHANGED),
    )


def _items_frame(rows: Iterable[tuple[str | None, Any, str]], columns: tuple[str, ...]) -> pd.DataFrame:
    values = [(number, item.kind, item.id, item.date, text) for number, item, text in rows]
    frame = pd.DataFrame(values, columns=list(columns))
    return frame.astype({name: "datetime64[us]" if name == "date" else "str" for name in columns})
