"""Write what is made from declarations and results: `python -m tests.generate`.

It writes stubs and the generated pages of the docs. With `--everything`, it also runs the notebooks, writes
the golden results, and takes the README's picture with Chromium: read what changed there before you commit it.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
TEXTS = (
    ("-m", "tests.typing.make_analysis_stubs"),
    ("-m", "tests.typing.make_stub"),
    ("docs/make_options.py",),
    ("docs/make_columns.py",),
    ("docs/make_ledes_fields.py",),
    ("docs/make_analyses.py",),
)


def run(*command: str) -> None:
    print("python", *command, flush=True)
    subprocess.run([sys.executable, *command], cwd=ROOT, check=True)


def run_notebook(path: Path) -> None:
    """Run a notebook, and store its outputs without the times and the machine's versions."""
    print(path.relative_to(ROOT), flush=True)
    notebook = nbformat.read(path, as_version=4)
    metadata = dict(notebook.metadata)
    NotebookClient(
        notebook, record_timing=False, timeout=600, resources={"metadata": {"path": str(path.parent)}}
    ).execute()
    notebook.metadata = nbformat.from_dict(metadata)
    nbformat.write(notebook, path)


def take_picture() -> None:
    with tempfile.TemporaryDirectory() as folder:
        run("-m", "sphinx", "-q", "-b", "html", "docs", folder)
    shutil.copy(ROOT / "docs/generated/pictures/report-screen.png", ROOT / "docs/images")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.generate", description=__doc__)
    parser.add_argument("--everything", action="store_true", help="also notebooks, golden results and the picture")
    arguments = parser.parse_args()
    for command in TEXTS:
        run(*command)
    if arguments.everything:
        for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
            run_notebook(path)
        run("-m", "tests.analysis.golden", "--write")
        take_picture()


if __name__ == "__main__":
    main()
