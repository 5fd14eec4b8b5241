"""Write the pages of the site that are made from the code, with their pictures.

`conf.py` calls `write` before Sphinx reads the sources. It writes to `docs/generated`, which is not in the repository:
the reference of all public names, the command line, a gallery of all charts, tables and widgets for the sandbox's firm,
and copies of the notebooks and the changelog.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import site_pictures
from numpydoc.docscrape import NumpyDocString

import billframes as bf
from billframes.analysis.declare.glossary import GLOSSARY
from billframes.analysis.declare.lookup import analyses
from billframes.cli import COMMANDS
from billframes.widgets.dashboard.kernel import open_source

__all__ = ["COPIED", "with_index", "with_pictures", "write"]

ROOT = Path(__file__).parents[1]
COPIED = ("CHANGELOG.md", "CONTRIBUTING.md")
PERIOD = "2026-10"
RESULTS = {
    "aging": 'book.aging(by="client").head(8)',
    "billing_lag": 'book.billing_lag(by="responsible")',
    "cash_forecast": 'book.cash_forecast(payments=book.payments(bf.read_ledger(files["payments"])))',
    "cash_forecast_record": (
        'book.cash_forecast_record(payments=book.payments(bf.read_ledger(files["payments"])), horizons=(4,)).tail(12)'
    ),
    "overdue_invoices": "book.overdue_invoices().head(12)",
    "fees_collected": 'book.fees_collected(book.payments(bf.read_ledger(files["payments"])), by="responsible")',
    "days_to_pay": 'book.days_to_pay(book.payments(bf.read_ledger(files["payments"]))).head(12)',
    "contribution": 'book.contribution(by="client")',
    "effective_rates": 'book.effective_rates(by=["user", "year"]).head(12)',
    "exposure": "book.exposure().head(12)",
    "figures": 'book.figures("client_hours", "billed_amount", "wip", "receivables", by="practice_area")',
    "leverage": 'book.leverage(by="practice_area")',
    "missing_time": "book.missing_time().head(12)",
    "prebill_review": 'book.prebill_review("Miriam Harrow").head(12)',
    "realization": 'book.realization(by="practice_area")',
    "reconcile": "book.reconcile().head(12)",
    "stale": "book.stale().head(12)",
    "tie_out": """book.tie_out(
    bf.read_ledger(files["aging"]), as_of="2026-10-31", history=bf.read_ledger(files["invoices"])
).head(12)""",
    "timekeeping_lag": 'book.timekeeping_lag(by="user")',
    "utilization": 'book.utilization(by="user")',
    "wip": 'book.wip(by="client").head(8)',
}
"""The code of the result shown for an analysis. For the others, the method is called without arguments."""
RETURNED = (
    "billframes.book.Book",
    "billframes.mirror.Mirror",
    "billframes.display.ShownFrame",
)
"""Classes that functions return. Users don't make their objects, so the package itself does not have them."""
WIDGETS = {"filter_panel": "Filter panel", "explore": "Explorer", "apply_button": "Button that applies bulk edits"}
_PICTURE = re.compile(r"<!-- picture ([a-z_-]+): (.+?) -->")


def write(folder: Path) -> None:
    """Write all pages into a new folder."""
    chromium = site_pictures.tools()
    shutil.rmtree(folder, ignore_errors=True)
    pictures = folder / "pictures"
    for each in (pictures, folder / "loaders", folder / "notebooks"):
        each.mkdir(parents=True)
    with (
        open_source(argparse.Namespace(demo=True, connection=None)) as (environment, firm),
        site_pictures.draw_pictures(pictures, chromium, environment, firm.settings.source),
    ):
        for name, text in _pages().items():
            (folder / name).write_text(text, encoding="utf-8")
        for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
            shutil.copy(notebook, folder / "notebooks")
        with bf.Client(environment["BILLFRAMES_BASE_URL"], environment["BILLFRAMES_TOKEN"]) as client:
            _gallery(folder, client)


def with_pictures(page: str, text: str) -> str:
    """
    Replace the comments `<!-- picture NAME: text -->` of a page by pictures.

    On the page of an analysis, its picture is also added above the first definition.
    """
    pictures = os.path.relpath("generated/pictures", Path(page).parent)
    text = _PICTURE.sub(rf"![\2]({pictures}/\1.png)", text)
    name = page.rpartition("/")[2]
    mark = f"<!-- {name}: begin"
    if not page.startswith("analyses/") or mark not in text or not analyses()[name].chart:
        return text
    return text.replace(mark, f"![{analyses()[name].chart.shows}]({pictures}/{name}.png)\n\n{mark}", 1)


def with_index(page: str, text: str) -> str:
    """Let the index and the search of the site find each word of the glossary, also by other words for the same."""
    if page != "glossary":
        return text
    before, _, rest = text.partition("<!-- glossary: begin")
    terms = ["\n".join([*dict.fromkeys((each.name, *each.also)), f"  {each.meaning}"]) for each in GLOSSARY]
    entries = ":::{glossary}\n" + "\n\n".join(terms) + "\n:::\n"
    return f"{before}{entries}{rest.partition('<!-- end -->')[2]}\n{{ref}}`genindex` has all words and names.\n"


def _pages() -> dict[str, str]:
    loaders = [name for name in bf.__all__ if hasattr(getattr(bf, name), "_resource")]
    pages = {f"loaders/{name}.rst": _loader(name) for name in loaders}
    pages["loaders.rst"] = _title("Loaders") + _toctree(f"loaders/{name}" for name in loaders)
    # Analyses, charts, tables and errors have pages of their own.
    spaces = [getattr(bf, name) for name in sorted({*bf.__all__} - {"analysis", "plots", "tables", "errors"})]
    public: dict[object, str] = {}
    for space in (bf, *filter(inspect.ismodule, spaces)):
        for name in space.__all__:
            public.setdefault(inspect.unwrap(getattr(space, name)), f"{space.__name__}.{name}")
    functions = [path for each, path in public.items() if inspect.isfunction(each)]
    classes = [path for each, path in public.items() if isinstance(each, type)]
    pages["classes.rst"] = _title("Classes") + "".join(map(_class, [*classes, *RETURNED]))
    pages["functions.rst"] = _title("Functions") + "".join(map(_function, functions))
    pages["analysis-functions.rst"] = _title("Analyses as functions") + "".join(
        _function(f"billframes.analysis.{name}") for name in bf.analysis.__all__
    )
    pages["charts.rst"] = _title("Charts") + "".join(_function(f"billframes.plots.{name}") for name in bf.plots.__all__)
    tables = [name for name in bf.tables.__all__ if name != "TableOf"]
    pages["tables.rst"] = _title("Tables") + _tables(tables)
    pages["error-classes.rst"] = _title("Errors and warnings as classes") + "".join(map(_exception, bf.errors.__all__))
    pages["command-line.md"] = _command_line()
    pages["settings-files.md"] = _settings_files()
    for name in COPIED:
        pages[name.lower()] = (ROOT / name).read_text(encoding="utf-8")
    return pages


def _title(text: str, line: str = "=") -> str:
    return f"{text}\n{line * len(text)}\n\n"


def _toctree(pages: Iterable[str]) -> str:
    return ".. toctree::\n   :maxdepth: 1\n\n" + "".join(f"   {page}\n" for page in pages)


def _function(name: str) -> str:
    return f".. autofunction:: {name}\n\n"


def _loader(name: str) -> str:
    loader = getattr(bf, name)
    methods = [each for each in dir(loader) if not each.startswith("_") and inspect.ismethod(getattr(loader, each))]
    names = [name, *(f"{name}.{each}" for each in methods)]
    return _title(name) + "".join(_function(f"billframes.{each}") for each in names)


def _class(path: str) -> str:
    """Document a class with its members, but without inherited members of pandas."""
    module, _, name = path.rpartition(".")
    of_pandas = issubclass(getattr(importlib.import_module(module), name), pd.DataFrame)
    inherited = "" if of_pandas else "   :inherited-members: dict, tuple\n"
    return f".. autoclass:: {path}\n   :members:\n{inherited}\n"


def _exception(name: str) -> str:
    return f".. autoexception:: billframes.errors.{name}\n   :show-inheritance:\n\n"


def _tables(names: Iterable[str]) -> str:
    listed = ", ".join(f"``bf.tables.{name}``" for name in names)
    intro = "Each takes a result of the analysis of the same name, and all have the same arguments"
    return f"{intro}: {listed}.\n\n{_function('billframes.tables.realization')}"


def _command_line() -> str:
    parts = ["# Command line", "`python -m billframes` is the same as `billframes`."]
    for name, (module, summary) in COMMANDS.items():
        parser = argparse.ArgumentParser(f"billframes {name}", description=summary, formatter_class=_narrow)
        importlib.import_module(module).add_arguments(parser)
        parts += [f"## billframes {name}", f"```text\n{parser.format_help().strip()}\n```"]
    return "\n\n".join(parts) + "\n"


def _settings_files() -> str:
    """List the keys of the TOML files, from the docstrings of the classes that read them."""
    parts = [
        "# Settings files",
        "All keys of the files that billframes reads. Other keys raise an error.",
        "## config.toml",
        "Profiles: an address and the options of a connection. [Connecting](../connecting.md#the-profile-file) shows "
        "where the file is, and lists the [options](../reference/options.md) that a profile can have.",
    ]
    for file, kind, page in (
        ("firm.toml", bf.FirmSettings, "firm-settings"),
        ("profile.toml", bf.ebilling.LedesProfile, "ebilling"),
    ):
        rows = [
            f"| `{each.name}` | {each.type.replace('|', chr(92) + '|')} | {' '.join(each.desc)} |"
            for each in NumpyDocString(inspect.getdoc(kind) or "")["Parameters"]
        ]
        parts += [
            f"## {file}",
            f"`bf.{kind.__name__}.load` reads it; [this page](../{page}.md) has an example.",
            "\n".join(["| key | type | meaning |", "| --- | --- | --- |", *rows]),
        ]
    return "\n\n".join(parts) + "\n"


def _narrow(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, width=88)


def _gallery(folder: Path, client: bf.Client) -> None:
    """Draw all charts and tables for the sandbox's firm, and show each with its code. Widgets are drawn elsewhere."""
    charts, tables = ["## Charts"], ["## Tables"]
    book = bf.book(PERIOD, client=client)
    budgets = dict.fromkeys(book.matters["matter_id"].head(8), 20_000.0)
    costs = dict.fromkeys(book.users["user_id"], 120.0)
    book.settings = replace(book.settings or bf.FirmSettings(), budgets=budgets, cost_rates=costs)
    files = bf.ledger.sandbox_reports(tempfile.mkdtemp())
    for name, code in _codes():
        title = analyses()[name].title if name in analyses() else "Figures side by side"
        shown = eval(code, {"book": book, "bf": bf, "files": files})  # noqa: S307 - the code above
        if name in bf.plots.__all__:
            figure = getattr(bf.plots, name)(shown).figure
            figure.savefig(folder / "pictures" / f"{name}.png", dpi=100, bbox_inches="tight")
            charts.append(_entry(title, f"bf.plots.{name}({code})", _picture(name)))
        if name in bf.tables.__all__:
            html = getattr(bf.tables, name)(shown).as_raw_html()
            page = f'<div class="wide">{html}</div>'
            tables.append(_entry(title, f"bf.tables.{name}({code})", f"```{{raw}} html\n{page}\n```"))
    widgets = ["## Widgets"]
    widgets += [_entry(title, site_pictures.WIDGETS[name], _picture(name)) for name, title in WIDGETS.items()]
    command = "```sh\nbillframes dashboard --demo\n```"
    widgets.append(f"### Dashboard\n\n{command}\n\n{_picture('dashboard')}")
    made = f'`book = bf.book("{PERIOD}")` and `files = bf.ledger.sandbox_reports(folder)`'
    opening = f"All of them show the sandbox's firm, with budgets and cost rates in its settings. In the code, {made}."
    text = "\n\n".join(["# Gallery", opening, *charts, *tables, *widgets])
    (folder / "gallery.md").write_text(f"{text}\n", encoding="utf-8")


def _codes() -> Iterator[tuple[str, str]]:
    for name in (*analyses(), "figures"):
        if name in bf.plots.__all__ or name in bf.tables.__all__:
            yield name, RESULTS.get(name, f"book.{name}()")


def _picture(name: str) -> str:
    return f"![{name}](pictures/{name}.png)"


def _entry(title: str, code: str, shown: str) -> str:
    return f"### {title}\n\n```python\n{code}\n```\n\n{shown}"
