"""`python -m tests.faults.mutants`: mistakes in the package, one at a time, which tests must find.

`mutants.txt` has the mistakes: the text (`-`), which occurs once in the package, and what it becomes (`+`). A heading
names the tests that must find those below it.

For each heading, one process runs its tests once, and records which of them reach each mistake. Then a forked child per
mistake replaces the code of the functions concerned, and runs these tests, the quickest first, until one fails. What no
child finds is tried in a copy, in a new process: values that fixtures and modules made before are then made again.
"""

from __future__ import annotations

import argparse
import ast
import functools
import gc
import importlib
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("mutants.txt")
# Threads of Polars are gone in a forked child; Chromium and Spark would have two parents.
_NOT_FORKED = ("polars", "duckdb", "ibis")
_OPTIONS = ("-q", "--slow", "--numprocesses=0", "-p", "no:cacheprovider", "-m", "not browser and not cluster")


@dataclass(frozen=True)
class Mutant:
    tests: tuple[str, ...]
    """The arguments of pytest."""
    old: str
    new: str

    def place(self, root: Path = ROOT) -> Path:
        """Return the only file that has the old text, once."""
        found = {path: text.count(self.old) for path, text in _sources(root).items()}
        places = [path for path, times in found.items() for _ in range(times)]
        if len(places) != 1 or self.old == self.new:
            named = ", ".join(str(path.relative_to(root)) for path in places) or "no file"
            raise LookupError(f"mutants.txt: this text must be in the package once, and is in {named}:\n{self.old}")
        return places[0]

    def source(self, path: Path) -> str:
        return path.read_text().replace(self.old, self.new)

    @property
    def changed(self) -> str:
        """The changed lines of the old text."""
        new = self.new.splitlines()
        return "\n".join(each for each in self.old.splitlines() if each not in new) or self.old


@functools.cache
def _sources(root: Path) -> dict[Path, str]:
    return {path: path.read_text() for path in (root / "billframes").rglob("*.py")}


def read() -> list[Mutant]:
    mutants, tests = [], ()
    lines = [line for line in LIST.read_text().splitlines() if line]
    while lines:
        if lines[0].startswith("#"):
            tests = tuple(lines.pop(0).removeprefix("#").split())
            continue
        old, new = ("\n".join(_taken(lines, mark)) for mark in "-+")
        mutants.append(Mutant(tests, old, new))
    return mutants


def _taken(lines: list[str], mark: str) -> list[str]:
    taken = []
    while lines and lines[0].startswith(f"{mark} "):
        taken.append(lines.pop(0)[2:])
    if not taken:
        raise ValueError(f"mutants.txt: a line that begins with {mark!r} is missing before {lines[:1]}.")
    return taken


# 1. Code in memory: which statement a mistake is in, and functions with other code


_reached: set[int] = set()
"""The mistakes whose statement the running test has reached."""


def marked(path: Path, mutants: Mapping[int, Mutant]) -> ast.Module:
    """Return a module that records when it reaches the statement of a mistake."""
    text = path.read_text()
    tree = ast.parse(text)
    for number, mutant in mutants.items():
        first = text[: text.index(mutant.old) + mutant.old.index(mutant.changed)].count("\n") + 1
        body, at = _statement(tree, first)
        body[at:at] = ast.parse(f"__import__({__name__!r}, fromlist=['_reached'])._reached.add({number})").body
    return ast.fix_missing_locations(tree)


def _statement(tree: ast.Module, line: int) -> tuple[list[ast.stmt], int]:
    """Return the innermost list of statements whose statement has the line, and its position."""
    found: tuple[list[ast.stmt], int] = (tree.body, 0)
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            for at, each in enumerate(body if isinstance(body, list) else ()):
                if each.lineno <= line <= (each.end_lineno or 0):
                    found = body, at
    return found


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield each
            yield from _codes(each)


def put(path: Path, source: str | ast.Module) -> None:
    """Give the functions of a module that is imported the code of another source."""
    was, new = ([*_codes(compile(each, str(path), "exec"))] for each in (path.read_text(), source))
    names = [each.co_qualname for each in new]
    if [each.co_qualname for each in was] != names:
        new = [new[names.index(each.co_qualname)] if each.co_qualname in names else each for each in was]
    codes = {(old.co_qualname, old.co_firstlineno): code for old, code in zip(was, new, strict=True)}
    for each in gc.get_objects():
        if isinstance(each, types.FunctionType) and each.__code__.co_filename == str(path):
            code = codes.get((each.__code__.co_qualname, each.__code__.co_firstlineno))
            if code is not None and code.co_freevars == each.__code__.co_freevars:
                each.__code__ = code


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def put_constants(path: Path, source: str) -> None:
    """Replace, in all modules, the constants of a module that have other values in another source."""
    name = _module(path)
    module, other = sys.modules[name], types.ModuleType(name)
    other.__file__ = str(path)
    exec(compile(source, str(path), "exec"), other.__dict__)
    for key, value in vars(other).items():
        old = vars(module).get(key)
        if isinstance(value, str | int | float | tuple | dict | frozenset | list | set) and value != old:
            for each in [*sys.modules.values()]:
                if each.__name__.startswith("billframes") and vars(each).get(key) is old:
                    setattr(each, key, value)


def forget() -> None:
    """Empty the caches of the package's functions, and the facts that books keep."""
    for each in gc.get_objects():
        kind = type(each)
        if kind is functools._lru_cache_wrapper and (each.__module__ or "").startswith("billframes"):
            each.cache_clear()
        elif kind.__name__ == "_Kept" and kind.__module__ == "billframes.analysis.data.data":
            each.facts.clear()
            each.known.clear()


# 2. A session of pytest whose children make the mistakes


class Children:
    """Runs the tests of a heading once, then the tests that reach each mistake in a child of its own."""

    def __init__(self, mutants: Mapping[int, Mutant]) -> None:
        self.mutants = mutants
        self.survivors: dict[int, list[str]] = {}
        self.items: list[pytest.Item] = []
        self.has_failed = False
        self.seconds: dict[int, float] = {}
        self.reaching: dict[int, list[int]] = {number: [] for number in mutants}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.has_failed |= report.failed

    def _passes(self, item: pytest.Item, following: pytest.Item) -> bool:
        """Run a test, perhaps again; keep the fixtures that the following one has, too."""
        self.has_failed = False
        item._initrequest()  # type: ignore[attr-defined]
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        return not self.has_failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = [each for each in session.items if not any(name in each.nodeid for name in _NOT_FORKED)]
        # The collector does not list frozen objects.
        gc.unfreeze()
        by_path: dict[Path, dict[int, Mutant]] = {}
        for number, mutant in self.mutants.items():
            by_path.setdefault(mutant.place(), {})[number] = mutant
        for path, of_path in by_path.items():
            importlib.import_module(_module(path))
            put(path, marked(path, of_path))
        failed = self._run_once()
        for path in by_path:
            put(path, path.read_text())
        useful = self._pass_in_child({at for each in self.reaching.values() for at in each} - failed)
        for number, mutant in self.mutants.items():
            self._try(number, mutant, [at for at in useful if at in self.reaching[number]])
        return True

    def _pass_in_child(self, tests: set[int]) -> list[int]:
        """Return the tests that pass in a child without a mistake, the quickest first."""
        left, useful = sorted(tests, key=self.seconds.__getitem__), []
        while left:
            failed = self._run_in_child(left, None)
            end = len(left) if failed is None else left.index(failed)
            useful += left[:end]
            for at in left[end : end + 1]:
                print(f"not run in children: {self.items[at].nodeid}", flush=True)
            left = left[end + 1 :]
        return useful

    def _run_once(self) -> set[int]:
        failed = set()
        begun = time.monotonic()
        for at, item in enumerate(self.items):
            _reached.clear()
            started = time.monotonic()
            if not self._passes(item, self.items[(at + 1) % len(self.items)]):
                print(f"fails without a mistake: {item.nodeid}", flush=True)
                failed.add(at)
            self.seconds[at] = time.monotonic() - started
            for number in _reached & self.mutants.keys():
                self.reaching[number].append(at)
        print(f"{len(self.items)} tests in {time.monotonic() - begun:.0f} s", flush=True)
        return failed

    def _try(self, number: int, mutant: Mutant, tests: list[int]) -> None:
        begun = time.monotonic()
        found = self._run_in_child(tests, mutant)
        took = f"{time.monotonic() - begun:.0f} s, {len(tests)} tests reach it"
        if found is None:
            self.survivors[number] = [self.items[at].nodeid for at in self.reaching[number]]
        where = "NOT FOUND" if found is None else f"found by {self.items[found].nodeid}"
        print(f"{where} ({took}): {mutant.new.strip()}", flush=True)

    def _run_in_child(self, tests: list[int], mutant: Mutant | None) -> int | None:
        """Return the first test that fails, or that takes far too long; None if all pass."""
        if not tests:
            return None
        reading, writing = os.pipe()
        if not (child := os.fork()):
            os.close(reading)
            self._be_child(tests, mutant, functools.partial(os.write, writing))
        os.close(writing)
        last, failed = _follow(reading, child, [20 + 10 * self.seconds[at] for at in tests])
        return tests[last] if failed else None

    def _be_child(self, tests: list[int], mutant: Mutant | None, tell: Callable[[bytes], int]) -> None:
        code = 1
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            if mutant is not None:
                path = mutant.place()
                put(path, mutant.source(path))
                put_constants(path, mutant.source(path))
            forget()
            code = 0
            for at in tests:
                tell(b".")
                item = self.items[at]
                item.session._setupstate.teardown_exact(item)
                if not self._passes(item, item):
                    code = 1
                    break
        finally:
            os._exit(code)


def _follow(reading: int, child: int, most: Sequence[float]) -> tuple[int, bool]:
    """Wait for a child; return the position of its last test, and whether it failed or took more than its seconds."""
    number, dots = 0, b"."
    while dots and select.select([reading], [], [], most[max(number - 1, 0)])[0]:
        dots = os.read(reading, 1)
        number += len(dots)
    if dots:
        os.kill(child, signal.SIGKILL)
    os.close(reading)
    _, status = os.waitpid(child, 0)
    return max(number - 1, 0), status != 0


# 3. In a copy


def copy(folder: Path) -> Path:
    """Copy the files that git knows."""
    named = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, named.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    return folder


def passes(root: Path, tests: list[str]) -> bool:
    """Run tests in a copy until one fails. A mutant that never ends is found."""
    command = [sys.executable, "-m", "pytest", "-x", *_OPTIONS]
    environment = {**os.environ, "CI": "true", "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            [*command, *tests], cwd=root, env=environment, check=False, capture_output=True, text=True, timeout=1800
        )
    except subprocess.TimeoutExpired:
        return False
    if done.returncode not in (0, 1, 2):
        raise RuntimeError(done.stdout + done.stderr)
    return done.returncode == 0


def survives(root: Path, mutant: Mutant, tests: list[str]) -> bool:
    """Make the mistake in a copy, run the tests that reach it, or else all of its heading, and take it back."""
    path = mutant.place(root)
    whole = path.read_text()
    path.write_text(mutant.source(path))
    try:
        lives = passes(root, tests or [*mutant.tests])
    finally:
        path.write_text(whole)
    print(f"{'SURVIVES' if lives else 'found in a copy'}: {mutant.new.strip()}", flush=True)
    return lives


def in_children(tests: tuple[str, ...], mutants: Mapping[int, Mutant]) -> dict[int, list[str]]:
    """Make the mistakes of a heading in children; return those that no test found, with the tests that reach them."""
    children = Children(mutants)
    os.environ["CI"] = "true"
    if (code := pytest.main([*_OPTIONS, *tests], plugins=[children])) not in (0, 1, 5):
        raise RuntimeError(f"pytest ended with {code}.")
    return children.survivors


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.mutants", description=__doc__)
    parser.add_argument("--only", default="", help="mutants whose tests, or whose text, contain this")
    parser.add_argument("--sample", type=int, help="as many of them, chosen at random")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    begun = time.monotonic()
    mutants = read()
    for mutant in mutants:
        mutant.place()
    mutants = [each for each in mutants if arguments.only in f"{each.tests} {each.old}"]
    if arguments.sample is not None:
        mutants = random.Random(arguments.seed).sample(mutants, min(arguments.sample, len(mutants)))
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        root = copy(Path(folder))
        for tests in dict.fromkeys(each.tests for each in mutants):
            here = {number: each for number, each in enumerate(mutants) if each.tests == tests}
            with ProcessPoolExecutor(1, get_context("spawn")) as process:
                left = process.submit(in_children, tests, here).result()
            for number, reaching in left.items():
                survivors += survives(root, mutants[number], reaching)
    print(f"{len(mutants)} mutants in {time.monotonic() - begun:.0f} s; {survivors} survive.")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
