"""Make the report of a month from the data of a client, and write it as HTML, PDF or Excel.

Reports for several lawyers are made from one load.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from billframes._shared.export import check_output, write
from billframes.client import Client
from billframes.errors import ConfigError
from billframes.report.ask import ask, script_hash
from billframes.report.html import chromium, print_pages, templates
from billframes.report.loading import load
from billframes.report.month import Month
from billframes.report.outline import OUTLINE

Format = Literal["html", "pdf", "xlsx"]
Step = Callable[[str], None]
_OF_LOAD = ("month", "settings", "as_of", "ledger")
_TEXTS = ("title", "remark", "generated")
_ROW_ID, _ROW_LINK = re.compile(r' id="([^"<>]+/[^"<>]*)"'), re.compile(r' href="#([^"<>]+)/[^"<>]*"')
_DEFINED = re.compile(r'<th scope="col"[^<>]* title="([^"<>]+)">([^<]+)<')


def build(
    parameters: Mapping[str, Any],
    out: Path | Mapping[str, Path],
    *,
    client: Client | None = None,
    step: Step | None = None,
    format: Format = "html",  # noqa: A002
) -> None:
    """
    Write the report of a month to a file, or the reports of several scopes from one load.

    Parameters
    ----------
    parameters : mapping
        Those of the notebook: `month`, which can be a `Period`, and optionally `title`, `settings`, `as_of`, `ledger`,
        `generated`, `remark`, `only`, `narratives` and `answers`: the keys by which the page answers questions, or
        False.
    out : Path or mapping of str to Path
        The file to write, or the file of each report by its `only`. Existing files are replaced only when all reports
        are complete.
    client : Client, optional
        By default, the default client.
    step : callable, optional
        Called with a short text when each step begins.
    format : {"html", "pdf", "xlsx"}
        The PDF is the HTML page, printed by Chromium.

    Raises
    ------
    ConfigError
        A package of `billframes[report]` or Chromium is not installed, or no API is configured.
    ParameterError
        The month is invalid, or `out` can't be written.
    BillframesError
        Any other error of the loads and analyses.
    """
    outs = out if isinstance(out, Mapping) else {parameters.get("only", ""): out}
    check_extras(format)
    for each in outs.values():
        check_output(each)
    announce = step or (lambda _text: None)
    announce("Loading time, invoices and matters")
    firm = load(**{name: parameters[name] for name in _OF_LOAD if name in parameters}, client=client)
    months = [firm.only(code) for code in outs]
    texts = {name: parameters[name] for name in _TEXTS if name in parameters}
    narratives = bool(parameters.get("narratives"))
    if format == "xlsx":
        from billframes.report.workbook import workbook

        announce("Computing the figures")
        contents = [workbook(each, **texts, narratives=narratives) for each in months]
    else:
        pages = [_page(each, texts, narratives, announce, _ask(each, parameters, announce, format)) for each in months]
        contents = [each.encode() for each in pages]
        if format == "pdf":
            announce("Printing")
            contents = print_pages(pages, paper=firm.settings.paper_size)
    for path, content in zip(outs.values(), contents, strict=True):
        write(path, content)


def check_extras(format: str = "html", *, extra: str = "report") -> None:  # noqa: A002
    """Raise `ConfigError` if a package that the format needs is not installed. The message names the extra."""
    if format == "xlsx":
        # This imports matplotlib, which takes a third of a second.
        from billframes.report.workbook import check_writer

        check_writer(extra)
        return
    if format == "pdf":
        chromium()
    try:
        import jinja2  # noqa: F401
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"The report needs {error.name}, which is not installed: pip install 'billframes[{extra}]'."
        ) from error


def _ask(month: Month, parameters: Mapping[str, Any], announce: Step, format: Format) -> str:  # noqa: A002
    """Return the section that answers questions; empty if it is not wanted or too large, and on paper."""
    keys = parameters.get("answers")
    if keys is False or format == "pdf":
        return ""
    announce("Adding up what the page can be asked")
    section, why = ask(month, keys)
    if why:
        announce(why)
    return section


def _page(month: Month, texts: Mapping[str, str], narratives: bool, announce: Step, ask: str) -> str:
    sections = []
    for each in OUTLINE:
        if each.on_page and (narratives or not each.narratives):
            if step := each.step or (each.title if each.page else ""):
                announce(step)
            shown = each(month, **(texts if each.options else {}))
            sections += [] if shown is None else [shown._repr_html_()]
    text = "".join(sections)
    definitions = {name.rstrip(): meaning for meaning, name in _DEFINED.findall(text)}
    page = templates().get_template("page.html")
    title = f"Billing report {month.code}"
    policy = f"script-src {script_hash()}; " if ask else ""
    html = page.render(title=title, sections=sections, definitions=definitions, ask=ask, policy=policy)
    there = set(_ROW_ID.findall(html))
    # A row that the page does not show is linked to its section.
    return _ROW_LINK.sub(lambda link: link[0] if link[0][8:-1] in there else f' href="#{link[1]}"', html)
