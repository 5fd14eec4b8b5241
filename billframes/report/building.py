"""Run the report's notebook in a separate kernel, and write the page as HTML or print it to PDF.

Reports for several lawyers are made in one run. The data are loaded once, and the cells after the load are repeated for
each lawyer.

The address and credential are passed to the kernel by its environment, so neither the notebook's parameters nor its
outputs contain them. An error in the kernel is raised again here with its own type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from billframes import errors
from billframes._shared.export import check_output, write
from billframes.errors import BillframesError, ConfigError
from billframes.report.html import templates
from billframes.report.kernel import (
    NO_PRIVATE_SOCKETS,
    check_private_kernels,
    kernel_with,
    private_folder,
    transport_in,
)
from billframes.report.notebook import new_notebook
from billframes.report.pdf import chromium, paper_of, print_pages

Format = Literal["html", "pdf"]
Step = Callable[[str], None]
# The metadata of cells with which the report of the next scope begins.
_NEXT_SCOPE = "billframes_next_scope"
# Seconds after which a cell is stopped. Loading a big firm takes minutes, not hours.
CELL_TIMEOUT = 3600
_HEADING = re.compile(r'<section[^<>]* id="([^"<>]+)"[^<>]*>\s*<h2[^<>]*>((?:(?!</?h2|<section).)*)</h2>', re.DOTALL)
_DEFINED = re.compile(r'<th scope="col"[^<>]* title="([^"<>]+)">([^<]+)<')
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


def build(
    parameters: Mapping[str, Any],
    out: Path | Mapping[str, Path],
    *,
    environment: Mapping[str, str | None] | None = None,
    step: Step | None = None,
    format: Format = "html",  # noqa: A002
) -> None:
    """
    Write the report of a month to a file, or the reports of several scopes from one load.

    Parameters
    ----------
    parameters : mapping
        The notebook's parameters: `month` and, optionally, `title`, `settings`, `as_of`, `generated`, `remark`, `only`
        and `narratives`.
    out : Path or mapping of str to Path
        The file to write, or the file of each report by its `only`. Existing files are replaced only when all reports
        are complete.
    environment : mapping of str to (str or None), optional
        Environment variables for the kernel only; None removes a variable. By default the kernel connects as this
        machine is configured.
    step : callable, optional
        Called with a short text when each step begins.
    format : {"html", "pdf"}
        The PDF is the HTML page, printed by Chromium.

    Raises
    ------
    ConfigError
        The extra `billframes[report]` or Chromium is not installed, no API is configured, or narratives are requested
        on a machine where other users could read them from the kernel.
    ParameterError
        The month is invalid, or `out` can't be written.
    BillframesError
        Any other error of the loads and analyses.
    """
    outs = out if isinstance(out, Mapping) else {parameters.get("only", ""): out}
    check_extras(format)
    if parameters.get("narratives"):
        check_private_kernels()
    for each in outs.values():
        check_output(each)
    announce = step or (lambda _text: None)
    announce("Starting a kernel")
    notebook = _run({**parameters, "only": next(iter(outs))}, list(outs)[1:], environment or {}, announce)
    announce("Writing the page" if len(outs) == 1 else f"Writing {len(outs)} pages")
    title = f"Billing report {parameters['month']}"
    pages = [_render(each, title) for each in _split(notebook)]
    contents = (
        print_pages(pages, paper=paper_of(str(parameters.get("settings", ""))))
        if format == "pdf"
        else [each.encode() for each in pages]
    )
    for path, content in zip(outs.values(), contents, strict=True):
        write(path, content)


def check_extras(format: str = "html", *, extra: str = "report") -> None:  # noqa: A002
    """Raise `ConfigError` if a package that the format needs is not installed. The message names the extra."""
    if format == "pdf":
        chromium()
    try:
        import ipykernel  # noqa: F401
        import jinja2  # noqa: F401
        import papermill  # noqa: F401
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"The report needs {error.name}, which is not installed: pip install 'billframes[{extra}]'."
        ) from error


def _run(
    parameters: Mapping[str, Any], more_scopes: Sequence[str], environment: Mapping[str, str | None], announce: Step
) -> Any:
    import papermill
    from papermill.exceptions import PapermillExecutionError

    def announce_cell(cell: Any, cell_index: int) -> None:
        if "step" in cell.metadata:
            announce(cell.metadata["step"])

    with private_folder() as folder:
        if transport_in(folder) == "tcp":
            announce(NO_PRIVATE_SOCKETS)
        try:
            return papermill.execute_notebook(
                _repeat_cells(new_notebook(), more_scopes),
                None,
                parameters=dict(parameters),
                kernel_name="python3",
                progress_bar=False,
                kernel_manager_class=kernel_with(environment, folder),
                on_cell_start=announce_cell,
                # Without ipykernel's log of its sockets and shutdown. Errors in cells are raised anyway.
                extra_arguments=["--IPKernelApp.log_level=50"],
                timeout=CELL_TIMEOUT,
            )
        except PapermillExecutionError as error:
            raise _original_error(error) from error


def _repeat_cells(notebook: Any, more_scopes: Sequence[str]) -> Any:
    """Repeat the cells after the load for each further scope, after a cell that selects the scope."""
    from nbformat.v4 import new_code_cell

    load = next(place for place, cell in enumerate(notebook.cells) if "report.load(" in cell.source)
    sections = notebook.cells[load + 1 :]
    for scope in more_scopes:
        selection = new_code_cell(f"firm = firm.only({scope!r})", metadata={_NEXT_SCOPE: True})  # type: ignore[no-untyped-call]
        notebook.cells += [selection, *(new_code_cell(each.source, metadata=dict(each.metadata)) for each in sections)]  # type: ignore[no-untyped-call]
    return notebook


def _split(notebook: Any) -> list[Any]:
    starts = [place for place, cell in enumerate(notebook.cells) if _NEXT_SCOPE in cell.metadata]
    spans = zip([0, *starts], [*starts, len(notebook.cells)], strict=True)
    return [type(notebook)({**notebook, "cells": notebook.cells[start:end]}) for start, end in spans]


def _original_error(error: Any) -> BillframesError:
    """Return the error that stopped the kernel, with its own type if it is a billframes error."""
    kind = getattr(errors, error.ename, None)
    message = _ANSI.sub("", str(error.evalue)).strip()
    if isinstance(kind, type) and issubclass(kind, BillframesError):
        return kind(message)
    # The original message may contain data of the frames. It is in the cause, which --debug shows.
    return BillframesError(f"The report's notebook stopped with {error.ename}; --debug shows where and why.")


def _render(notebook: Any, title: str) -> str:
    """Return the page with what the cells show, one after the other, and no code."""
    outputs = [output.data for cell in notebook.cells for output in cell.get("outputs", ()) if "data" in output]
    sections = [str(each["text/html"]) for each in outputs if "text/html" in each]
    text = "".join(sections)
    definitions = {name.rstrip(): meaning for meaning, name in _DEFINED.findall(text)}
    page = templates().get_template("page.html")
    return page.render(title=title, sections=sections, contents=_HEADING.findall(text), definitions=definitions)


# The first one has no window and starts in a third of the time.
