"""Build the package, and test each of its extras in an empty environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).parents[2]
LOAD = """
import billframes as bf
client = bf.Client(base_url, token)
entries = client.time_entries("2026-10")
assert len(entries) > 500
book = bf.book("2026-10", client=client)
"""
USES = {
    "": """
assert book.utilization(by=None)["client_hours"].iloc[0] > 0
bf.plots.utilization(book.utilization()), bf.explore(book), bf.widgets.filter_panel(entries)
bf.show(entries)._repr_html_()
run("export", "time_entries", "2026-10", "-o", "entries.parquet")
""",
    "polars": "assert len(client.time_entries('2026-10', to='polars')) == len(entries)",
    "duckdb": """
import duckdb
frames = {name: duckdb.from_df(getattr(client, name)()) for name in ("time_entries", "users", "matters")}
assert bf.analysis.utilization(**frames, start="2026-10-01", end="2026-10-31").df().shape[0] > 5
""",
    "spark": """
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
names = ("time_entries", "users", "matters")
tables = {name: getattr(client, name)(to="arrow") for name in names}
tables["time_entries"] = tables["time_entries"].drop_columns(["time"])  # Spark has no time of day
frames = {name: spark.createDataFrame(table) for name, table in tables.items()}
assert bf.analysis.utilization(**frames, start="2026-10-01", end="2026-10-31").count() > 5
spark.stop()
""",
    "excel": "run('export', 'users', '-o', 'users.xlsx'); run('report', '2026-10', '--out', 'r.xlsx')",
    "report": "run('report', '2026-10', '--out', 'r.html'); run('report', '2026-10', '--out', 'r.xlsx')",
    "demo": "run('report', '--demo', '--out', 'demo.html')",
    "dashboard": "import voila, billframes.widgets.dashboard.server; run('dashboard', '--help')",
    "sandbox": "assert len(bf.connect('sandbox').users()) > 5",
    "mirror": """
m = bf.mirror("copy", client=client)
m.refresh()
assert len(m.time_entries("2026-10")) == len(entries)
""",
    "keyring": "import keyring",
    "mcp": "run('mcp', '--check')",
    "notebooks": "import great_tables, jupyterlab, duckdb, pyspark",
}
RUN = """
import os, subprocess, sys
base_url, token = sys.argv[1:]
def run(*words):
    subprocess.run([sys.executable, "-m", "billframes", *words], check=True)
"""
MISSING = {
    "polars": "client.time_entries('2026-10', to='polars')",
    "sandbox": "bf.connect('sandbox')",
    "mirror": "bf.mirror('none', client=client)",
}
MISSING_FOR = {
    "apply edited.xlsx": "'billframes[excel]'",
    "dashboard": "'billframes[dashboard]'",
    "doctor --demo": "'billframes[sandbox]'",
    "export time_entries 2026-10 -o entries.xlsx": "'billframes[excel]'",
    "login": "'billframes[keyring]'",
    "mcp": "'billframes[mcp]'",
    "report": "'billframes[report]'",
    "report --demo": "'billframes[demo]'",
    "report --demo --format xlsx": "'billframes[demo]'",
    "report --out r.pdf": "'billframes[report]'",
    "report --out r.xlsx": "'billframes[excel]'",
    "review --demo": "jinja2 'billframes[excel]'",
    "sandbox": "'billframes[sandbox]'",
    "sync copy": "'billframes[mirror]'",
}
"""The installation that each command asks for if only the core is installed."""


def main(only: list[str]) -> int:
    """Test each extra, and return the number of failures."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if only == ["--release"]:
        return sum(map(say, lacking(project)))
    extras = ["", *(each for each in project["optional-dependencies"] if each not in {"all", "dev", "docs"})]
    missing = set(extras) - set(USES)
    assert not missing, f"no test of {missing}"
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        subprocess.run(
            [sys.executable, "-m", "build", "-o", here / "dist", ROOT], check=True, stdout=subprocess.DEVNULL
        )
        (wheel,), (sdist,) = (here / "dist").glob("*.whl"), (here / "dist").glob("*.tar.gz")
        from billframes.sandbox import Sandbox

        with Sandbox() as sandbox:
            given = (sandbox.base_url, sandbox.tokens["full"])
            for extra in [each for each in extras if not only or each in only]:
                for archive in (wheel, sdist) if not extra else (wheel,):
                    failed += not works(here, extra, archive, given)
    return failed


def lacking(project: dict[str, Any]) -> Iterator[str]:
    """Yield a sentence for each problem that new users of a release would have."""
    from billframes import __version__

    if not re.search(rf"^## \[{re.escape(__version__)}\] - \d{{4}}-\d\d-\d\d$", text_of("CHANGELOG.md"), re.MULTILINE):
        yield f"CHANGELOG.md has no dated section of {__version__}."
    if relative := re.findall(r"!\[[^]]*\]\((?!https://)([^)]+)\)", text_of("README.md")):
        yield f"README.md shows {', '.join(relative)} by a relative address, which the package index can't follow."
    for name, address in project["urls"].items():
        try:
            status = httpx.get(address, follow_redirects=True).status_code
        except httpx.HTTPError as error:
            status = type(error).__name__
        if status != httpx.codes.OK:
            yield f"The project URL {name}, {address}, does not respond ({status})."


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def say(sentence: str) -> int:
    """Print a sentence, and return 1, so that sentences can be counted."""
    print(sentence)
    return 1


def works(here: Path, extra: str, archive: Path, given: tuple[str, str]) -> bool:
    """Install an extra into an empty environment, use it there, and tell whether it works."""
    environment = here / (extra or archive.suffix[1:])
    subprocess.run(["uv", "venv", "-q", "--python", sys.executable, environment], check=True)
    python = environment / "bin" / "python"
    wanted = f"billframes[{extra}] @ {archive.as_uri()}" if extra else str(archive)
    subprocess.run(["uv", "pip", "install", "-q", "--python", python, wanted], check=True)
    code = RUN + LOAD + USES[extra] + ("" if extra else _refusals())
    env = {**os.environ, "BILLFRAMES_BASE_URL": given[0], "BILLFRAMES_TOKEN": given[1]}
    env.pop("PYTHONPATH", None)
    (environment / "work").mkdir()
    run = subprocess.run(
        [python, "-c", code, *given], check=False, cwd=environment / "work", env=env, text=True, capture_output=True
    )
    size = sum(each.stat().st_size for each in environment.rglob("*") if each.is_file()) / 1e6
    print(f"{extra or archive.name}: {'works' if run.returncode == 0 else 'FAILED'}, {size:,.0f} MB", flush=True)
    if run.returncode:
        print(run.stdout[-1500:], run.stderr[-3000:])
    return run.returncode == 0


def _refusals() -> str:
    """Return code that uses missing extras and expects one sentence with the command to install them."""
    calls = "".join(_CALL.format(code=code, extra=extra) for extra, code in MISSING.items())
    return calls + _COMMANDS.format(MISSING_FOR)


_CALL = """
try:
    {code}
except bf.errors.BillframesError as error:
    assert "pip install 'billframes[{extra}]'" in str(error), error
else:
    raise AssertionError({extra!r})
"""
_COMMANDS = """
for words, wanted in {}.items():
    command = [sys.executable, "-m", "billframes", *words.split()]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert done.returncode and done.stderr.count("\\n") == 1 and "pip install " + wanted in done.stderr, done
"""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
