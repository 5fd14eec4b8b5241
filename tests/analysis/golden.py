"""The results and the notes of all analyses, by all keys, on three firms and several engines.

`python -m tests.analysis.golden realization wip` compares some analyses on pandas in a few seconds. Without names it
compares all of them on pandas and Polars, and some calls on Arrow, DuckDB and Ibis, in three minutes; `test_golden.py`
compares a part. With `--write` it writes `golden_results/`, one file for each analysis, which have every value and
dtype, and the notes without their texts. A line that changes there is a change of what users get.
"""

from __future__ import annotations

import datetime as dt
import functools
import itertools
import json
import re
import sys
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import ibis
import polars as pl

import billframes as bf
from billframes._shared.notes import NOTES
from billframes.errors import BillframesError, BillframesWarning
from billframes.loading.load_info import attached
from tests.analysis import conftest
from tests.analysis.calls import CALLS, ENGINE_CALLS, edge_case_frames
from tests.analysis.golden_firms import KEYS, calls, firms

FOLDER = Path(__file__).with_name("golden_results")
ENGINES = {**conftest.ENGINES, "ibis": ibis.memtable}
# A part of the keys: on pandas each on one firm, on Polars a few, because its frames go through the same expressions.
PARTS: dict[str, dict[str, Sequence[str]]] = {
    "pandas": {firm: KEYS[nth::3] for nth, firm in enumerate(("sandbox", "mixed", "taxed"))},
    "polars": {"mixed": KEYS[-2:]},
}
Result = dict[str, Any]
"""A call's notes, and its columns: each the dtypes of pandas and Polars, then the values."""


Case = tuple[str, str, Callable[[], Any]]
"""The analysis, a title and a function of a call."""


def cases_of_firms(
    client: bf.Client,
    settings: bf.FirmSettings,
    engine: str,
    keys: Mapping[str, Sequence[str]],
    names: Sequence[str] = (),
) -> Iterator[Case]:
    """Yield the calls on an engine by some keys of the firms, of all analyses or of some."""
    for firm, make, of_firm in firms(client, settings):
        for name, (call, takes_by) in calls(make(engine), of_firm).items() if keys.get(firm) else ():
            for by in keys[firm] if takes_by and name in (names or (name,)) else []:
                title = f"{firm} by {by.replace(' ', ' and ')}" if by else firm
                yield name, title, functools.partial(call, by=by.split() or None)
            if not takes_by:
                yield name, firm, call


def cases_of_edges(engine: str) -> Iterator[Case]:
    """Yield the calls of the firm of all edge cases."""
    frames = edge_case_frames(conftest.Firm(ENGINES[engine]))
    for title, call in CALLS.items():
        if engine in PARTS or title in ENGINE_CALLS:
            yield analysis_of(call, title), title, functools.partial(call, frames)


def analysis_of(call: Any, title: str) -> str:
    """Return the analysis of one of `CALLS`."""
    return call.args[0].__name__ if isinstance(call, functools.partial) else title.partition(" ")[0].replace("-", "_")


def results(cases: Iterable[Case], names: Sequence[str] = ()) -> dict[str, dict[str, Result]]:
    """Make all calls, or those of some analyses; return their results by analysis and title."""
    found: dict[str, dict[str, Result]] = {}
    for name, title, call in cases:
        if name in (names or (name,)):
            found.setdefault(name, {})[title] = result_of(call)
    return found


def result_of(call: Callable[[], Any]) -> Result:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            native = call()
        except BillframesError as error:
            return {"refused": type(error).__name__}
    notes = attached(native, NOTES) or []
    rest = {str(each.message) for each in caught if issubclass(each.category, BillframesWarning)}
    rest -= {each["text"] for each in notes}
    said = [[each["rule"], each["subject"], each["about"], each["amount"]] for each in notes]
    rows = conftest.rows_of(native)
    kinds = kinds_of(native)
    columns = {
        name: [kinds.get(name, ""), *(plain(row[name]) for row in rows)] for name in kinds or (rows[:1] or [{}])[0]
    }
    return {"notes": sorted([*said, *(["warning", text[:60], "", 0] for text in rest)]), **columns}


def kinds_of(native: Any) -> dict[str, str]:
    """Return the dtypes of a pandas or Polars frame; of others none."""
    if isinstance(native, pl.DataFrame):
        return {name: str(dtype.base_type()) for name, dtype in native.schema.items()}
    return (
        {name: str(dtype) for name, dtype in getattr(native, "dtypes", {}).items()} if hasattr(native, "iloc") else {}
    )


def plain(value: Any) -> Any:
    """Return a JSON value that is equal on all engines, and short."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return float(f"{value:.11g}")
    if isinstance(value, dt.date):
        return str(value).removesuffix(" 00:00:00")
    if hasattr(value, "__iter__") and not isinstance(value, str):
        return [plain(each) for each in value]
    text = str(value)
    if re.fullmatch(r"[0-9a-f-]{36}", text):
        return text[:8]
    return text if len(text) < 40 else f"{text[:24]}… {zlib.crc32(text.encode()):x}"


def differences(engine: str, found: Mapping[str, Mapping[str, Result]]) -> Iterator[str]:
    """Yield a line for each value, dtype and note that is not as it was; of a column only the first value."""
    for name, of_name in found.items():
        wanted = read(name)
        for title, now in of_name.items():
            where = f"{name}: {title}"
            if title not in wanted:
                yield f"{where}: is new"
                continue
            yield from (f"{where}: {each}" for each in _differences(engine, now, wanted[title]))


def _differences(engine: str, now: Result, was: Result) -> Iterator[str]:
    # Frames of these engines can't keep notes.
    yield from _of_notes(now.get("notes", []), was.get("notes", [])) if engine not in ("duckdb", "ibis") else ()
    columns = [name for name in was if name != "notes"]
    if [name for name in now if name != "notes"] != columns:
        yield f"the columns are {', '.join(each for each in now if each != 'notes')}, and were {', '.join(columns)}"
    keys = [name for name in columns if name.endswith(("_name", "_label", "month"))] or columns[:1]
    for name in columns:
        if name not in now or name == "refused":
            yield from [f"{name} is {now.get(name)}, and was {was[name]}"] if now.get(name) != was[name] else []
            continue
        (kind, *values), (kinds, *before) = now[name], was[name]
        wanted = kinds.split("|")[list(PARTS).index(engine)] if engine in PARTS else kind
        if kind != wanted:
            yield f"{name} is of the dtype {kind}, and was of {wanted}"
        if len(values) != len(before):
            yield f"{name} has {len(values)} rows, and had {len(before)}"
        changed = [nth for nth, (one, other) in enumerate(zip(values, before, strict=False)) if not same(one, other)]
        if changed:
            row = changed[0]
            label = ", ".join(str(was[each][row + 1]) for each in keys)
            more = f" ({len(changed)} rows of {len(before)} differ)" if changed[1:] else ""
            yield f"{name} of row {row} ({label}) is {values[row]}, and was {before[row]}{more}"


def _of_notes(now: list[list[Any]], was: list[list[Any]]) -> Iterator[str]:
    after, before = ({tuple(each[:3]): each[3] for each in notes} for notes in (now, was))
    yield from (f"new note {each}: {after[each]}" for each in after if each not in before)
    yield from (f"no longer noted is {each}: {before[each]}" for each in before if each not in after)
    for each in after:
        if each in before and not same(after[each], before[each]):
            yield f"the amount of the note {each} is {after[each]}, and was {before[each]}"


def same(one: Any, other: Any) -> bool:
    numbers = isinstance(one, float | int) and isinstance(other, float | int)
    return abs(one - other) <= 1e-9 * max(1.0, abs(other)) if numbers else one == other


@functools.cache
def read(name: str) -> dict[str, Result]:
    """Read what was written for an analysis."""
    path = FOLDER / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def write(on_pandas: Mapping[str, Mapping[str, Result]], on_polars: Mapping[str, Mapping[str, Result]]) -> None:
    """Write a file for each analysis, one line for each column, so that changes can be read and merged."""
    for name, of_name in on_pandas.items():
        for title, result in of_name.items():
            for column, values in result.items():
                if column not in ("notes", "refused"):
                    values[0] += f"|{on_polars[name][title][column][0]}"
        of_calls = [f"{json.dumps(title)}: {{\n{_lines(result)}\n}}" for title, result in of_name.items()]
        (FOLDER / f"{name}.json").write_text("{\n" + ",\n".join(of_calls) + "\n}\n")
    read.cache_clear()


def _lines(result: Result) -> str:
    return ",\n".join(
        f"{json.dumps(name)}: {json.dumps(each, ensure_ascii=False, separators=(',', ':'))}"
        for name, each in result.items()
    )


def main(*arguments: str) -> int:
    from billframes.sandbox import Sandbox

    names = [each for each in arguments if each != "--write"]
    is_written = "--write" in arguments
    engines = ["pandas"] if names else list(ENGINES)
    with Sandbox() as sandbox, bf.Client(sandbox.base_url, sandbox.tokens["full"]) as client:
        settings = bf.FirmSettings.load(sandbox.firm_settings)
        every = dict.fromkeys(PARTS["pandas"], KEYS)

        def calling(engine: str) -> dict[str, dict[str, Result]]:
            of_firms = cases_of_firms(client, settings, engine, every, names) if engine in PARTS else ()
            return results(itertools.chain(of_firms, cases_of_edges(engine)), names)

        if is_written:
            write(calling("pandas"), calling("polars"))
            return 0
        changes = 0
        for engine in engines:
            found = calling(engine)
            lines = list(differences(engine, found))
            print(*lines, f"{engine}: {sum(map(len, found.values()))} calls, {len(lines)} changes", sep="\n")
            changes += len(lines)
    return min(changes, 1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
