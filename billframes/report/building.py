"""Running the notebook and writing pages: papermill in a kernel of its own, then nbconvert, and Chromium for paper.

Reports of several partners are one run: the cells behind the load are repeated for each, so the data are loaded once.

The address and credential reach the kernel as its environment, so neither the notebook's parameters nor its
outputs hold them. What goes wrong in the kernel is raised here as the error it was there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from billframes import errors
from billframes._export import check_out, write
from billframes.errors import BillframesError, ConfigError
from billframes.report.kernel import OPEN_KERNEL, check_private_kernels, kernel_with, private_folder, transport_in
from billframes.report.printing import chromium, print_pages

__all__ = ["Format", "build", "build_each", "check_extras"]

Format = Literal["html", "pdf"]
Step = Callable[[str], None]
# Marks the cells behind which another part's report begins.
_TURN = "billframes_turn"
# Seconds without an answer after which a cell counts as stuck: a big firm's load takes minutes, not hours.
PATIENCE = 3600
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


def build(
    parameters: Mapping[str, Any],
    out: Path,
    *,
    environment: Mapping[str, str | None] | None = None,
    step: Step | None = None,
    format: Format = "html",  # noqa: A002
) -> Path:
    """
    Make the report of a month as one file.

    Parameters
    ----------
    parameters : mapping
        The notebook's: `month`, and, as they are wanted, `title`, `settings`, `as_of`, `generated`, `remark`, `only`
        and `narratives`.
    out : Path
        Where to write. What is there is replaced in one go, and left alone where the report can't be made.
    environment : mapping of str to (str or None), optional
        Environment variables of the kernel, and of nothing else; None takes one away. Without it the kernel
        connects with what the machine has configured.
    step : callable, optional
        Told what is being done.
    format : {"html", "pdf"}
        The PDF is the HTML page printed by Chromium.

    Returns
    -------
    Path
        `out`.

    Raises
    ------
    ConfigError
        The extra `billframes[report]` or Chromium is not installed, nothing says which API to call, or narratives are
        asked for where other users of the machine could read them from the kernel.
    ParameterError
        The month can't be read, or `out` can't be written to.
    BillframesError
        Whatever else the loads and analyses raised.
    """
    build_each(parameters, {parameters.get("only", ""): out}, environment=environment, step=step, format=format)
    return out


def build_each(
    parameters: Mapping[str, Any],
    outs: Mapping[str, Path],
    *,
    environment: Mapping[str, str | None] | None = None,
    step: Step | None = None,
    format: Format = "html",  # noqa: A002
) -> None:
    """
    Make reports of several parts of a month, loaded once.

    Parameters
    ----------
    parameters, environment, step, format
        As for `build`.
    outs : mapping of str to Path
        What the notebook's `only` is, and where that report is written. None is written unless all can be made.
    """
    check_extras(format)
    if parameters.get("narratives"):
        check_private_kernels()
    for out in outs.values():
        check_out(out)
    say = step or _silent
    say("Starting a kernel")
    notebook = _run({**parameters, "only": next(iter(outs))}, list(outs)[1:], environment or {}, say)
    say("Writing the page" if len(outs) == 1 else f"Writing {len(outs)} pages")
    title = f"Billing report {parameters['month']}"
    pages = [_page(each, title) for each in _apart(notebook)]
    printed = print_pages(pages) if format == "pdf" else [each.encode() for each in pages]
    for out, content in zip(outs.values(), printed, strict=True):
        write(out, content)


def check_extras(format: str = "html") -> None:  # noqa: A002
    """Raise `ConfigError` where what the report needs for a format is not installed."""
    if format == "pdf":
        chromium()
    try:
        import ipykernel  # noqa: F401
        import jinja2  # noqa: F401
        import nbconvert  # noqa: F401
        import papermill  # noqa: F401
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"The report needs {error.name}, which is not installed: pip install 'billframes[report]'."
        ) from error


def _silent(_what: str) -> None:
    """Say nothing."""


def _run(parameters: Mapping[str, Any], more: Sequence[str], environment: Mapping[str, str | None], say: Step) -> Any:
    import nbformat
    import papermill
    from papermill.exceptions import PapermillExecutionError

    def announce(cell: Any, cell_index: int) -> None:
        if "step" in cell.metadata:
            say(cell.metadata["step"])

    source = resources.files("billframes.report").joinpath("monthly.ipynb").read_text(encoding="utf-8")
    with private_folder() as folder:
        if transport_in(folder) == "tcp":
            say(OPEN_KERNEL)
        try:
            return papermill.execute_notebook(
                _repeated(nbformat.reads(source, as_version=4), more),  # type: ignore[no-untyped-call]
                None,
                parameters=dict(parameters),
                kernel_name="python3",
                progress_bar=False,
                kernel_manager_class=kernel_with(environment, folder),
                on_cell_start=announce,
                # ipykernel speaks of its sockets and of being stopped; what goes wrong in a cell comes as an error.
                extra_arguments=["--IPKernelApp.log_level=50"],
                timeout=PATIENCE,
            )
        except PapermillExecutionError as error:
            raise _as_raised(error) from error


def _repeated(notebook: Any, more: Sequence[str]) -> Any:
    """Repeat the cells behind the load for each part more; a cell that turns to the part comes before."""
    from nbformat.v4 import new_code_cell

    load = next(place for place, cell in enumerate(notebook.cells) if "report.load(" in cell.source)
    shown = notebook.cells[load + 1 :]
    for part in more:
        turn = new_code_cell(f"firm = firm.only({part!r})", metadata={_TURN: True})  # type: ignore[no-untyped-call]
        notebook.cells += [turn, *(new_code_cell(each.source, metadata=dict(each.metadata)) for each in shown)]  # type: ignore[no-untyped-call]
    return notebook


def _apart(notebook: Any) -> list[Any]:
    """Return a notebook for each part, from one that has them all."""
    turns = [place for place, cell in enumerate(notebook.cells) if _TURN in cell.metadata]
    ends = zip([0, *turns], [*turns, len(notebook.cells)], strict=True)
    return [type(notebook)({**notebook, "cells": notebook.cells[first:last]}) for first, last in ends]


def _as_raised(error: Any) -> BillframesError:
    """Return the error that stopped the kernel, as one of billframes' own where it is one."""
    kind = getattr(errors, error.ename, None)
    words = _ANSI.sub("", str(error.evalue)).strip()
    if isinstance(kind, type) and issubclass(kind, BillframesError):
        return kind(words)
    # Its words may hold what the frames hold; they are in the cause, which --debug shows.
    return BillframesError(f"The report's notebook stopped with {error.ename}; --debug shows where and why.")


def _page(notebook: Any, title: str) -> str:
    from nbconvert.exporters.templateexporter import TemplateExporter

    with resources.as_file(resources.files("billframes.report")) as folder:
        exporter = TemplateExporter(  # type: ignore[no-untyped-call]
            template_name="page", extra_template_basedirs=[str(folder)], template_file="index.html.j2"
        )
        html, _ = exporter.from_notebook_node(notebook, resources={"metadata": {"name": title}})
    return str(html)
