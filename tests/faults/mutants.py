"""`python -m tests.faults.mutants`: mistakes made in a copy of the package, one at a time, which tests must find.

`mutants.txt` has the mistakes: the text (`-`), which occurs once in the package, and what it becomes (`+`). A heading
names the tests that must find those below it: first the quick ones, then, after `;`, those that are run if they do not.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("mutants.txt")


@dataclass(frozen=True)
class Mutant:
    tests: tuple[tuple[str, ...], ...]
    """The arguments of pytest, by stage."""
    old: str
    new: str

    def place(self, root: Path) -> Path:
        """Return the only file that has the old text, once."""
        found = {path: path.read_text().count(self.old) for path in (root / "billframes").rglob("*.py")}
        places = [path for path, times in found.items() for _ in range(times)]
        if len(places) != 1 or self.old == self.new:
            named = ", ".join(str(path.relative_to(root)) for path in places) or "no file"
            raise LookupError(f"mutants.txt: this text must be in the package once, and is in {named}:\n{self.old}")
        return places[0]


def read() -> list[Mutant]:
    mutants, tests = [], ()
    lines = [line for line in LIST.read_text().splitlines() if line]
    while lines:
        if lines[0].startswith("#"):
            tests = tuple(tuple(each.split()) for each in lines.pop(0).removeprefix("#").split(";"))
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


def copy(folder: Path) -> Path:
    """Copy the files that git knows."""
    named = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, named.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    return folder


def passes(root: Path, tests: tuple[str, ...]) -> bool:
    """Run tests in a copy until one fails. A mutant that never ends is found."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--slow", "--numprocesses=0", "-p", "no:cacheprovider"]
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


def survives(copies: SimpleQueue[Path], mutant: Mutant) -> bool:
    """Make the mistake in one of the copies that are free, run the tests, and take it back."""
    root = copies.get()
    path = mutant.place(root)
    whole = path.read_text()
    path.write_text(whole.replace(mutant.old, mutant.new))
    try:
        found = next((stage for stage, tests in enumerate(mutant.tests, 1) if not passes(root, tests)), 0)
    finally:
        path.write_text(whole)
        copies.put(root)
    print(f"{f'found by stage {found}' if found else 'SURVIVES'}: {mutant.new.strip()}", flush=True)
    return not found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.mutants", description=__doc__)
    parser.add_argument("--only", default="", help="mutants whose tests, or whose text, contain this")
    parser.add_argument("--sample", type=int, help="as many of them, chosen at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    arguments = parser.parse_args()
    begun = time.monotonic()
    mutants = read()
    for mutant in mutants:
        mutant.place(ROOT)
    mutants = [each for each in mutants if arguments.only in f"{each.tests} {each.old}"]
    if arguments.sample is not None:
        mutants = random.Random(arguments.seed).sample(mutants, min(arguments.sample, len(mutants)))
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(arguments.processes) as pool:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(arguments.processes):
            copies.put(copy(Path(folder, str(number))))
        for tests in {stage for mutant in mutants for stage in mutant.tests}:
            if not passes(Path(folder, "0"), tests):
                raise SystemExit(f"Without a mistake, this fails: pytest --slow {' '.join(tests)}")
        survivors = sum(pool.map(partial(survives, copies), mutants))
    print(f"{len(mutants)} mutants in {time.monotonic() - begun:.0f} s; {survivors} survive.")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
