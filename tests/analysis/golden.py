"""The results and the warnings of all analyses, by all keys, on three firms and three engines.

`python -m tests.analysis.golden` compares them with `golden_figures.json` and `golden_notes.json`, in two minutes;
`test_golden.py` compares a part. With `--write` it writes the files; a line that changes is a change of what users get.
"""

from __future__ import annotations

import datetime as dt
import functools
import inspect
import json
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa

import billframes as bf
from billframes import analysis
from billframes.errors import BillframesError
from tests.analysis.calls import OF_LEDGERS
from tests.analysis.conftest import rows_of
from tests.firms import make_firm

FILES = {part: Path(__file__).with_name(f"golden_{part}.json") for part in ("figures", "notes")}
KEYS: tuple[str, ...] = (
    *("", "user", "client", "matter", "practice_area", "responsible", "originator", "matter_type", "role"),
    *("month", "quarter", "year", "client_cf_industry", "matter_archived", "billing_type"),
    *("practice_area user", "client month"),
)
ENGINES: dict[str, Callable[[pa.Table], Any]] = {
    "pandas": lambda table: table.to_pandas(date_as_object=False),
    "polars": pl.from_arrow,
    "duckdb": duckdb.from_arrow,
}
# A call takes up to a second on DuckDB, however few the rows are.
ON_DUCKDB = {"sandbox": ["client month"], "mixed": ["", "practice_area user"], "taxed": ["matter"]}
# A part of the keys, each by two engines and on two firms.
PARTS = {
    "pandas": {firm: KEYS[nth::3] for nth, firm in enumerate(ON_DUCKDB)},
    "polars": {firm: KEYS[(nth + 1) % 3 :: 3] for nth, firm in enumerate(ON_DUCKDB)},
    "duckdb": {"sandbox": [], "mixed": ["practice_area user"], "taxed": []},
}
LISTS = ("time_entries", "expenses", "fixed_fees", "invoices", "matters", "users", "clients", "codes", "code_sets")

SETTINGS: dict[str, Any] = {
    "targets": {"u0": {"hours": 1800, "period": "year"}},
    "standard_rates": {"u0": {"2025-01-01": 280.0, "2026-08-15": 310.0}, "u1": 260.0, "u2": 210.0},
    "cost_rates": {"u0": 150.0, "u1": 100.0, "u2": 60.0},
    "budgets": {"m0": 100_000.0, "m1": 400.0},
    "originator_weights": {"m0": {"u0": 0.25, "u1": 0.75}},
    "time_zone": "Europe/Berlin",
}
TAXES = [
    {"name": "HST", "rate": 0.13, "on": ["time", "expenses"], "clients": ["c0"]},
    {"name": "VAT", "rate": 0.05, "on": ["time", "fixed_fees", "expenses"], "except_clients": ["c0"]},
]


def altered(table: pa.Table, change: Callable[[dict[str, Any], int], dict[str, Any]]) -> pa.Table:
    """Change each row by a function that also takes a number from 0 to 19, which depends on the row's first column."""
    rows = [row | change(row, zlib.crc32(str(next(iter(row.values()))).encode()) % 20) for row in table.to_pylist()]
    kinds = {each.name: pa.string() if pa.types.is_dictionary(each.type) else each.type for each in table.schema}
    return pa.Table.from_pylist(rows, pa.schema({name: kinds.get(name, pa.string()) for name in rows[0]}))


def mixed_firm() -> dict[str, pa.Table]:
    """Return a firm with all types of matters, billed time on contingency, and unknown states, types and invoices."""
    firm = make_firm(3, taxes=(0.0,) * 4)
    types = {"m0": "hourly", "m1": "contingency", "m2": "probono", "m3": "fixedFee"}
    areas = {"m0": "Sales", "m1": "Tax"}
    originators = {"m0": ["u0", "u1"], "m2": ["u2"]}
    fees = firm["expenses"].slice(0, 5)

    def entry(row: dict[str, Any], number: int) -> dict[str, Any]:
        kind = {0: "fixedFee", 1: "nonBillable", 2: "unheard"}.get(number, row["billing_type"])
        bill = {3: "lost", 4: None}.get(number, row["invoice_id"])
        return {"billing_type": kind, "invoice_id": bill, "fixed_fee_id": "f0" if kind == "fixedFee" else None}

    def invoice(row: dict[str, Any], number: int) -> dict[str, Any]:
        state = {0: "void", 1: "review", 2: None}.get(number, row["invoice_state"])
        return {"invoice_state": state, "due_date": None if number == 5 else row["due_date"]}

    def matter(row: dict[str, Any], _number: int) -> dict[str, Any]:
        id_ = row["matter_id"]
        area = {"practice_area_id": areas.get(id_), "practice_area_label": areas.get(id_)}
        names = {"originator_ids": originators.get(id_, []), "originator_names": originators.get(id_, [])}
        return {"matter_type": types.get(id_, row["matter_type"]), "archived": id_ == "m3", **area, **names}

    firm["time_entries"] = altered(firm["time_entries"], entry)
    firm["invoices"] = altered(firm["invoices"], invoice)
    firm["matters"] = altered(firm["matters"], matter)
    firm["expenses"] = altered(
        firm["expenses"], lambda row, number: {"user_id": None if number < 5 else row["user_id"]}
    )
    fees = fees.rename_columns(["fixed_fee_id", *fees.column_names[1:]])
    fees = altered(fees, lambda row, _: {"amount": 700.0})
    firm["fixed_fees"] = fees.set_column(0, "fixed_fee_id", pa.array([f"f{nth}" for nth in range(len(fees))]))
    return firm


def firms(client: bf.Client, settings: bf.FirmSettings) -> Iterator[tuple[str, Callable[[str], Any], bf.FirmSettings]]:
    """Yield each firm: its name, a function that returns its frames on an engine, and its settings."""
    to = {"pandas": "pandas", "polars": "polars", "duckdb": "arrow"}

    def of_sandbox(engine: str) -> dict[str, Any]:
        loaded = {name: getattr(client, name)(to=to[engine]) for name in LISTS}
        return {name: duckdb.from_arrow(each) for name, each in loaded.items()} if engine == "duckdb" else loaded

    yield "sandbox", of_sandbox, settings
    for name, tables, more in (
        ("mixed", mixed_firm(), {}),
        ("taxed", make_firm(2, taxes=(0.13, 0.05)), {"taxes": TAXES, "payment_order": ("tax", "expenses", "fees")}),
    ):
        industry = [None, "Steel", "Banking", None]
        clients = tables["clients"].append_column("cf_industry", pa.array(industry[: len(tables["clients"])]))
        frames = functools.partial(frames_of, tables | {"clients": clients})
        yield name, frames, bf.FirmSettings(**SETTINGS, **more)


def frames_of(tables: Mapping[str, pa.Table], engine: str) -> dict[str, Any]:
    return {name: ENGINES[engine](table) for name, table in tables.items()}


def calls(frames: dict[str, Any], settings: bf.FirmSettings) -> dict[str, tuple[Callable[..., Any], bool]]:
    """Return a call of each analysis that takes frames, and whether it takes `by`."""
    values = {**frames, "settings": settings, "start": "2026-07-01", "end": "2026-10-31", "as_of": "2026-10-31"}
    found = {}
    for name in analysis.__all__:
        function = getattr(analysis, name)
        takes = inspect.signature(function).parameters
        given = {each: value for each, value in values.items() if each in takes}
        if name == "code_check":
            # The lists of expenses and fixed fees have no codes.
            given = {each: value for each, value in given.items() if each not in ("expenses", "fixed_fees")}
        if "time_entries" in takes and name not in OF_LEDGERS:
            found[name] = functools.partial(function, **given), "by" in takes and name != "duplicates"
    return found


def results(
    client: bf.Client, settings: bf.FirmSettings, engine: str, keys: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, Any]]:
    """Call everything on an engine by the keys of each firm; return the figures and the notes of each call."""
    found: dict[str, dict[str, Any]] = {"figures": {}, "notes": {}}
    for firm, make, of_firm in firms(client, settings):
        for name, (call, takes_by) in calls(make(engine), of_firm).items() if keys[firm] else ():
            for by in keys[firm] if takes_by else [""]:
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    try:
                        figures = digest(rows_of(call(by=by.split() or None) if takes_by else call()))
                    except BillframesError as error:
                        figures = {"refused": type(error).__name__}
                where = f"{firm}: {name}" + (f" by {by.replace(' ', ' and ')}" if by else "")
                found["figures"][where] = figures
                found["notes"][where] = [str(each.message) for each in caught]
    return found


def digest(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """
    Return two numbers for each column: how many values are not missing, and their sum.

    In this sum each row has another weight, so that a change in the order of the rows changes it; the first row's is 1.
    """
    found: dict[str, Any] = {"rows": len(rows)}
    for column in rows[0] if rows else ():
        total, number = 0.0, 0
        for place, row in enumerate(rows):
            if (value := row[column]) is not None:
                total += (1 + place * 0.618034 % 1) * as_number(value)
                number += 1
        found[column] = [number, float(f"{total:.13g}")]
    return found


def as_number(value: Any) -> float:
    """Return a number for any value, equal on all engines."""
    if isinstance(value, int | float):
        return float(value)
    is_list = hasattr(value, "__iter__") and not isinstance(value, str)
    text = str(list(value)) if is_list else str(value)[: 10 if isinstance(value, dt.date) else None]
    return float(zlib.crc32(text.encode()))


def differences(found: Mapping[str, Mapping[str, Any]], wanted: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each column of figures, and for each note, that is not as it was."""
    for where, now in found["figures"].items():
        was = wanted["figures"].get(where, {})
        for column in dict.fromkeys((*was, *now)):
            if not same(was.get(column), now.get(column)):
                yield f"{where}: {column} is {now.get(column)}, and was {was.get(column)}"
        if list(was) != list(now) and {*was} == {*now}:
            yield f"{where}: the columns are in another order: {list(now)}"
    for where, now in found["notes"].items():
        was = wanted["notes"].get(where, [])
        yield from (f"{where}: new note: {each}" for each in now if each not in was)
        yield from (f"{where}: no longer said: {each}" for each in was if each not in now)
        if now != was and sorted(now) == sorted(was):
            yield f"{where}: the notes are in another order: {now}"


def same(one: Any, other: Any) -> bool:
    if not (isinstance(one, list) and isinstance(other, list)):
        return one == other
    return one[0] == other[0] and abs(one[1] - other[1]) <= 1e-9 * max(1.0, abs(one[1]))


def read() -> dict[str, Any]:
    """Read what was written. The notes of a call are the numbers of their texts."""
    stored = {part: json.loads(path.read_text()) for part, path in FILES.items()}
    texts, notes = stored["notes"]["texts"], stored["notes"]["calls"]
    return {
        "figures": stored["figures"],
        "notes": {where: [texts[key] for key in keys] for where, keys in notes.items()},
    }


def write(found: Mapping[str, Mapping[str, Any]]) -> None:
    """Write the files, one line for each call, so that changes of several people can be merged."""
    key = lambda text: f"{zlib.crc32(text.encode()):x}"  # noqa: E731
    notes = {where: [key(text) for text in texts] for where, texts in found["notes"].items()}
    texts = {key(text): text for each in found["notes"].values() for text in each}
    FILES["figures"].write_text(lines(found["figures"]) + "\n")
    FILES["notes"].write_text(f'{{"texts": {lines(dict(sorted(texts.items())))},\n"calls": {lines(notes)}}}\n')


def lines(values: Mapping[str, Any]) -> str:
    return (
        "{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in values.items()) + "\n}"
    )


def main(*arguments: str) -> int:
    from billframes.sandbox import Sandbox

    with Sandbox() as sandbox, bf.Client(sandbox.base_url, sandbox.tokens["full"]) as client:
        settings = bf.FirmSettings.load(sandbox.firm_settings)
        for engine in ENGINES:
            found = results(
                client, settings, engine, ON_DUCKDB if engine == "duckdb" else dict.fromkeys(ON_DUCKDB, KEYS)
            )
            if "--write" in arguments and engine == "pandas":
                write(found)
            changes = [f"{engine}: {each}" for each in differences(found, read())]
            print(*changes, f"{engine}: {len(found['figures'])} results, {len(changes)} changes", sep="\n")
    return bool(changes)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
