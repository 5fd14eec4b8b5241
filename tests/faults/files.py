"""Read mutated files of other people: `python -m tests.faults.files --rounds 1000`.

Each round mutates a workbook, an e-bill, a report of the books, a journal, a mirror, guidelines or settings, and reads
it in a process of its own. The file must be read or refused with an error of billframes, within 10 seconds of processor
time, and within six times the size of its content and a constant. A mutant that names a file elsewhere must be refused.
"""

from __future__ import annotations

import argparse
import datetime as dt
import io
import json
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import billframes as bf
from billframes import mirror
from billframes._shared.export import to_excel
from billframes._shared.limits import WORKBOOK_BYTES
from billframes._shared.notes import Notes
from billframes.bulk.columns import columns_of
from billframes.bulk.edited_frame import read_edited, read_workbook
from billframes.bulk.journal import Journal
from billframes.ebilling.ledes_formats import LEDES_1998B
from billframes.guidelines.words import Phrases
from billframes.ledger.demo import sandbox_reports
from billframes.ledger.kept_reports import join_kept, kept_open_items, kept_reports
from billframes.mirror.side_tables import LedgerTable
from billframes.sandbox import Sandbox, command as sandbox_command
from tests.faults.reports import mutate_report, read_mutated_report, report_mutator

__all__ = ["KINDS", "Result", "bases", "mutate_and_read"]

SECONDS = 10
BASE_BYTES, TIMES = 200_000_000, 6
LINE = "20261105|10412|1004|1004-001|350.00|20261001|20261031||1|F|1.00||350.00|20261001|L110||A102|AL|Draft motion"
NUMBERS = [
    "9" * 400,
    "9" * 17,
    "-1",
    "1e999",
    "nan",
    "inf",
    "0x10",
    "1_0",
    "",
    " 5 ",
    "٣",
    "1e-400",
    "2147483648",
    "9" * 5000,
]
PATHS = [
    "../../outside.parquet",
    "%2e%2e/%2e%2e/outside.parquet",
    "/etc/passwd",
    "file:///etc/passwd",
    "s3://x/y.parquet",
]
PATHS += [
    "..\\..\\outside.parquet",
    "C:\\outside.parquet",
    "a/../../../outside.parquet",
    "*.parquet",
    "a\0.parquet",
    "",
    ".",
]
VALUES = [
    None,
    True,
    -1,
    2**63 - 1,
    1.5,
    "",
    "x" * 100_000,
    [],
    {},
    [[]],
    {"a": {"b": 1}},
    "2026-13-45",
    "\ud83d",
    "NULL",
]


@dataclass
class Result:
    """What reading a mutant gave: the mutation, the error's name or "read", a problem or "", seconds, and bytes."""

    mutation: str
    outcome: str
    problem: str = ""
    seconds: float = 0.0
    peak: int = 0


@contextmanager
def bases(kinds: Collection[str]) -> Iterator[Path]:
    """Make the sound files that mutants of some kinds are made of."""
    with tempfile.TemporaryDirectory(prefix="billframes-files-") as name:
        # In a process of its own, because deltalake does not work in a fork of a process that has used it.
        child = os.fork()
        if not child:
            with exit_after():
                for make in {KINDS[kind][3] for kind in kinds} - {None}:
                    make(Path(name))
        _, status = os.waitpid(child, 0)
        assert not status
        yield Path(name)


@contextmanager
def exit_after() -> Iterator[None]:
    """End a forked process after the block, without running what its parent does at its end."""
    status = 1
    try:
        yield
        status = 0
    except BaseException:  # noqa: BLE001 - it ends here
        traceback.print_exc()
    finally:
        os._exit(status)


@contextmanager
def connected() -> Iterator[bf.Client]:
    with Sandbox() as sandbox, bf.Client(sandbox.base_url, sandbox.tokens["full"], progress=False) as client:
        yield client


def make_workbook(folder: Path) -> None:
    with connected() as client:
        entries = client.time_entries("2026-10", billed=False, limit=60)
        (folder / "base.xlsx").write_bytes(to_excel(entries, sheet="time_entries"))


def make_journal(folder: Path) -> None:
    with connected() as client:
        entries = client.time_entries("2026-10", billed=False, limit=30)
        client.time_entries.plan(entries.assign(description="New")).apply(folder / "base.journal")


def make_mirror(folder: Path) -> None:
    with connected() as client:
        m = mirror(folder / "base.mirror", client=client)
        m.refresh()
    modified = pd.Timestamp("2026-10-01", tz="UTC").to_pydatetime()
    m._item_codes.add(
        {("expenses", "e1", modified): {"activity_code": None, "task_code": None, "expense_code": "E101"}}
    )
    reports = sandbox_reports(folder)
    for name in ("payments", "aging"):
        LedgerTable(m._storage).add(bf.read_ledger(reports[name]))


def make_ledes_file(folder: Path) -> None:
    lines = [f"{LINE} {number}|06-1|350.00|Lovelace, Ada|PARTNR|C-1[]" for number in range(40)]
    (folder / "base.txt").write_bytes("\r\n".join(["LEDES1998B[]", LEDES_1998B.heading, *lines]).encode())


def copied(source: Path, name: str) -> Callable[[Path], object]:
    return lambda folder: shutil.copyfile(source, folder / name)


def flip(content: bytes, chance: random.Random) -> bytes:
    """Change, remove or repeat some bytes."""
    changed = bytearray(content)
    for _ in range(chance.choice([1, 1, 3, 20])):
        at = chance.randrange(len(changed)) if changed else 0
        how = chance.randrange(5)
        if how == 0:
            changed[at : at + 1] = bytes([chance.randrange(256)])
        elif how == 1:
            del changed[at : at + chance.choice([1, 10, 1000])]
        elif how == 2:
            changed[at:at] = changed[at : at + chance.choice([10, 1000])] * chance.choice([1, 2, 50])
        elif how == 3:
            changed[at:at] = chance.choice(
                [b"\x00", b"\xff\xfe", b"<", b">", b"&", b'"', b"|", b"[]", b"\r", b"\n" * 99]
            )
        else:
            changed = changed[:at]
    return bytes(changed)


def sheet_mutants(xml: bytes, chance: random.Random) -> tuple[str, bytes]:
    """Change a part of a workbook as XML."""
    many = chance.choice([1000, 100_000, 300_000])
    number = chance.choice(NUMBERS).encode()
    end = chance.choice([b"</sheetData>", b"</worksheet>", b"</sst>", b"</cellXfs>", b"</sheets>", b"</Relationships>"])
    tag = chance.choice(
        [b"<row ", b"<mergeCell ", b"<c>", b"<row>", b"<c/>", b"<si/>", b"<xf/>", b'<c r="A1"/>', b"<a>", b"<v>"]
    )
    tag = chance.choice(
        [tag, b"<!--", b"<![CDATA[", b"<?x ", b"&amp;", b"<f>", b'<row hidden="1"/>', b"<numFmt/>", b"<t/>"]
    )
    far = chance.choice([b"XFD1048570", b"A1048570", b"A1048577", b"ZZZZ9", b"A0", b"A-1", b"A" + number, b"XFD50"])
    row = b'<row r="%s"><c r="%s"><v>1</v></c></row>' % (far.lstrip(b"ADFXZ"), far)
    entity = b'<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "' + b"&a;" * 50 + b'">]>'
    return chance.choice(
        [
            ("flipped XML", lambda: flip(xml, chance)),
            (f"{tag.decode()} repeated", lambda: xml.replace(end, tag * many + end)),
            ("a long attribute", lambda: xml.replace(b"<row ", b'<row x="%s" ' % (b"a" * many * 10), 1)),
            ("a far cell", lambda: xml.replace(b"</sheetData>", row + b"</sheetData>")),
            (
                "another number",
                lambda: re.sub(rb"<v>[^<]*</v>", b"<v>%s</v>" % number, xml, count=chance.choice([0, 1, 9])),
            ),
            ("another style", lambda: re.sub(rb' s="\d+"', b' s="%s"' % number, xml, count=chance.choice([0, 1]))),
            (
                "another type",
                lambda: re.sub(rb' t="\w+"', b' t="%s"' % chance.choice([b"b", b"d", b"e", b"n", b"s", b"zz"]), xml),
            ),
            ("entities", lambda: xml.replace(b"?>", b"?>" + entity, 1)),
            ("UTF-16", lambda: xml.decode().replace("UTF-8", "UTF-16").encode("utf-16")),
            (
                "another encoding",
                lambda: xml.replace(b"UTF-8", chance.choice([b"latin-1", b"utf-7", b"rot13", b"cp1252", b"x"])),
            ),
            (
                "another name",
                lambda: xml.replace(chance.choice([b"main", b"sheetData", b"r:id", b"Target", b"ref"]), b"zz"),
            ),
            ("a number format", lambda: re.sub(rb'formatCode="[^"]*"', b'formatCode="%s"' % (b"[" * many), xml)),
        ]
    )


def mutate_workbook(base: Path, out: Path, chance: random.Random) -> str:
    """Change an .xlsx file as a file, as an archive, or in one of its parts."""
    content = base.read_bytes()
    if chance.random() < 0.2:
        out.write_bytes(flip(content, chance))
        return "flipped file"
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    names = list(parts)
    one = chance.choice(["xl/worksheets/sheet1.xml"] * 6 + names)
    how, twice = chance.randrange(8), ""
    if how == 0:
        mutation = f"without {one}"
        del parts[one]
    elif how == 1:
        mutation, parts[one] = "parts exchanged", parts[chance.choice(names)]
    elif how == 2:
        mutation, twice = "a part twice", one
    elif how == 3:
        mutation, parts[one] = "a bomb", parts[one] + chance.choice([b" ", b"<a/>", b"\0", b"<c/>"]) * 50_000_000
    else:
        mutation, change = sheet_mutants(parts[one], chance)
        parts[one] = change()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        warnings.simplefilter("ignore")
        for name, part in parts.items():
            archive.writestr(name, part)
        if twice:
            archive.writestr(twice, parts[twice])
    return mutation


def read_mutated_workbook(path: Path) -> None:
    found, frame = read_workbook(path)
    rows = read_edited(frame, found, columns_of(found))
    assert len(list(rows)) == len(frame)


def mutate_ledes(base: Path, out: Path, chance: random.Random) -> str:
    """Change a LEDES file."""
    content = base.read_bytes()
    many = chance.choice([10, 1000, 1_000_000])
    piece = chance.choice(
        [
            b"\n",
            b"\r",
            b"|",
            b"[]",
            b"x\n",
            b"\x00",
            b"\xff",
            b"_",
            b"_|",
            b" ",
            b"|" * 23 + b"[]\r\n",
            LEDES_1998B.heading.encode(),
        ]
    )
    number = chance.choice(NUMBERS).encode()
    mutation, change = chance.choice(
        [
            ("flipped", lambda: flip(content, chance)),
            (f"{piece[:8]!r} repeated", lambda: content + b"\r\n" + piece * min(many, 30_000_000 // len(piece))),
            ("repeated inside", lambda: content.replace(b"Draft", piece * min(many, 1_000_000 // len(piece)), 1)),
            ("another number", lambda: content.replace(chance.choice([b"350.00", b"1.00", b"20261001"]), number)),
            ("UTF-16", lambda: content.decode().encode(chance.choice(["utf-16", "utf-16-le", "utf-16-be"]))),
            ("a mark", lambda: chance.choice([b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"]) + content),
            ("one emoji in a long line", lambda: content + "\U0001f4dc".encode() + b"a" * many * 5),
            ("another heading", lambda: content.replace(chance.choice(LEDES_1998B.labels).encode(), piece, 1)),
            ("other line ends", lambda: content.replace(b"\r\n", chance.choice([b"\n", b"\r", b"\n\r", b"\x0b", b""]))),
            ("lines in another order", lambda: b"\r\n".join(chance.sample(content.split(b"\r\n"), 42))),
            ("columns removed", lambda: content.replace(b"|", b"", chance.choice([1, 30, 500]))),
        ]
    )
    out.write_bytes(change())
    return mutation


def mutate_xml(base: Path, out: Path, chance: random.Random) -> str:
    """Change an e-bill in XML."""
    content = base.read_bytes()
    many = chance.choice([10, 1000, 300_000])
    piece = chance.choice(
        [b"<fee/>", b"<fee>", b"<tax/>", b"<tk_sum/>", b"<matter/>", b"<a/>", b"&a;", b"<!-- -->", b"]]>"]
    )
    number = chance.choice(NUMBERS).encode()
    entity = b'<!DOCTYPE ledesxml [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
    mutation, change = chance.choice(
        [
            ("flipped", lambda: flip(content, chance)),
            (f"{piece!r} repeated", lambda: content.replace(b"<tk_sum>", piece * many + b"<tk_sum>", 1)),
            ("another number", lambda: content.replace(chance.choice([b"2.50", b"1489.68", b"0.2", b"2026"]), number)),
            ("cut", lambda: content[: chance.randrange(len(content))]),
            ("a long text", lambda: content.replace(b"Draft", b"x" * many * 40, 1)),
            ("must refuse: an entity", lambda: entity + content.partition(b"?>")[2]),
        ]
    )
    out.write_bytes(change())
    return mutation


def read_mutated_ledes(path: Path) -> None:
    bf.ebilling.ledes_check(path)
    bf.ebilling.read_ledes(path)


def mutate_journal(base: Path, out: Path, chance: random.Random) -> str:
    """Change a journal as a file, or as a database."""
    shutil.copyfile(base, out)
    out.chmod(0o600)
    how = chance.randrange(8)
    if how == 0:
        out.write_bytes(flip(base.read_bytes(), chance))
        return "flipped file"
    if how == 1:
        out.with_name(out.name + "-wal").write_bytes(chance.randbytes(chance.choice([0, 32, 5000])))
        return "another -wal file"
    if how == 2:
        out.chmod(chance.choice([0o620, 0o602, 0o666, 0o777]))
        return "must refuse: others can write it"
    column = chance.choice(
        ["number", "action", "place", "id", "body", "cells", "base", "twins", "state", "tries", "sent_at"]
    )
    value = chance.choice(
        [json.dumps(chance.choice(VALUES)), "x", b"\xff\xfe", b"[" * 50_000, None, -5, 1.5, 2**62, b'[["hours",{},1]]']
    )
    value = value.encode() if isinstance(value, str) and chance.random() < 0.5 else value
    name = chance.choice(["base_url", "resource", "version", "read_at", "finished"])
    statement, values = {
        3: (f"UPDATE OR REPLACE change SET {column} = ?", [value]),
        4: (f"UPDATE OR REPLACE change SET {column} = ? WHERE number = 3", [value]),
        5: ("INSERT OR REPLACE INTO about VALUES (?, ?)", [name, "x" if value is None else value]),
        6: (
            chance.choice(
                [
                    "DROP TABLE about",
                    "DROP INDEX change_state",
                    "ALTER TABLE change RENAME TO other",
                    "DELETE FROM about",
                ]
            ),
            [],
        ),
        7: ("CREATE TRIGGER t AFTER UPDATE ON change BEGIN DELETE FROM change; END", []),
    }[how]
    with closing(sqlite3.connect(out)) as database, database:
        try:
            database.execute(statement, values)
        except sqlite3.Error:
            return "none, because SQLite refuses it"
    return statement.partition("=")[0].partition("(")[0]


def read_mutated_journal(path: Path) -> None:
    with Journal.open(path) as journal:
        states = Counter(entry.state for entry in journal.entries())
        assert sum(map(journal.count, states)) == journal.count() == len(list(journal.outcomes()))
        assert journal.first_in_state("planned", ("update",), 5) is not None
        assert journal.about


TABLES = ["users", "versions", "time_entries", "invoices", "clients", "references", "ledgers", "item_codes"]


def mutate_rows(out: Path, table: str, chance: random.Random) -> str:
    """Replace a file by one with other rows, or the rows of a table that belongs to no version."""
    files = [each for each in sorted((out / table).rglob("*.parquet")) if "_delta_log" not in each.parts]
    if table in {"ledgers", "item_codes"} and chance.random() < 0.8:
        return mutate_side_table(out / table, chance)
    if not files:
        return "none, because the table has no file"
    file = chance.choice(files)
    rows, before = pq.read_table(file), file.stat().st_size
    how = chance.choice(["2,000,000 rows", "a row less", "long texts", "zeros", "another column", "uncompressed"])
    if how == "2,000,000 rows":
        rows = rows.slice(0, 1).take(pa.array([0] * min(2_000_000, 10**9 // rows.nbytes)))
    elif how == "a row less":
        rows = rows.slice(1)
    elif how == "another column":
        rows = rows.rename_columns([f"{each}_" for each in rows.column_names])
    elif how in {"long texts", "zeros"}:
        at = next(at for at, each in enumerate(rows.schema) if pa.types.is_string(each.type))
        text = (
            "x" * min(chance.choice([1_000_000, 20_000_000]), 10**9 // len(rows))
            if how == "long texts"
            else "\0" * 500_000
        )
        rows = rows.set_column(at, rows.schema.field(at), pa.array([text]).take(pa.array([0] * len(rows))))
    pq.write_table(rows, file, compression="none" if how == "uncompressed" else "zstd")
    log = next(each for each in sorted((out / table / "_delta_log").glob("*.json")) if file.name in each.read_text())
    # The log says the size of the changed file, and mostly its number of rows.
    changed = log.read_text().replace(f'"size":{before}', f'"size":{file.stat().st_size}')
    if is_said := chance.random() < 0.3 and how == "2,000,000 rows":
        changed = re.sub(r"(numRecords[^0-9]*)[0-9]+", r"\g<1>2000000", changed)
    log.write_text(changed)
    must = how == "2,000,000 rows" and not is_said and table == "users"
    return f"{'must refuse: ' * must}{table}: {how}"


def mutate_side_table(folder: Path, chance: random.Random) -> str:
    """Change a value of a table that belongs to no version."""
    from deltalake import DeltaTable, write_deltalake

    rows = DeltaTable(folder).to_pyarrow_table()
    name = chance.choice(rows.column_names)
    kind = rows.schema.field(name).type
    values: list[object] = [None, "", "x" * 100_000, "2026-13-45"]
    if name == "transactions":
        blob = rows.column(name)[0].as_py()
        table = pq.read_table(io.BytesIO(blob))
        one = table.slice(0, 1)
        bombs = [
            one.take(pa.array([0] * chance.choice([1000, 3_000_000]))),
            one.select(["row"]),
            table.drop_columns(["kind"]),
        ]
        long = pa.array(["y" * 10_000_000]).take(pa.array([0] * len(table)))
        bombs += [table.set_column(table.column_names.index("customer"), "customer", long)]
        values = [None, b"", b"PAR1", flip(blob, chance), *map(as_parquet, bombs), as_parquet(pa.table({"a": [1]}))]
    elif name == "about":
        about = json.loads(rows.column(name)[0].as_py())
        change_value(about, chance)
        values += [json.dumps(about)] * 6 + ["{", "null", "[]", "[" * 100_000, '{"file": 1}']
    elif not pa.types.is_string(kind):
        values = [None, 0, -1, 2**40]
    if chance.random() < 0.15:
        write_deltalake(folder, rows.drop_columns([name]), mode="overwrite", schema_mode="overwrite")
        return f"{folder.name}: without {name}"
    column = pa.array([chance.choice(values)] * len(rows), kind)
    write_deltalake(
        folder, rows.set_column(rows.column_names.index(name), rows.schema.field(name), column), mode="overwrite"
    )
    return f"{folder.name}: another {name}"


def as_parquet(rows: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(rows, buffer, compression="zstd")
    return buffer.getvalue()


def mutate_file(out: Path, table: str, log: Path, chance: random.Random) -> str:
    """Change, remove or replace a file."""
    one = chance.choice([log, *(out / table).rglob("*.parquet")])
    how = chance.choice(["flipped", "removed", "emptied", "a link to elsewhere", "a pipe"])
    content = one.read_bytes()
    one.unlink()
    if how == "flipped":
        one.write_bytes(flip(content, chance))
    elif how == "emptied":
        one.write_bytes(b"")
    elif how == "a link to elsewhere":
        elsewhere = out.with_name("elsewhere")
        elsewhere.write_bytes(content)
        one.symlink_to(elsewhere)
        how = f"must refuse: {how}" if one == log and table == "users" else how
    elif how == "a pipe":
        os.mkfifo(one)
    return f"a file of {table}: {how}"


def mutate_mirror(base: Path, out: Path, chance: random.Random) -> str:
    """Change a file of a mirror, or an entry of a log."""
    shutil.copytree(base, out)
    table = chance.choice(TABLES)
    if chance.random() < 0.2:
        return mutate_rows(out, table, chance)
    log = chance.choice(sorted((out / table / "_delta_log").glob("*.json")))
    if chance.random() < 0.3:
        return mutate_file(out, table, log, chance)
    if chance.random() < 0.15:
        return mutate_version(out, chance)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    adds = [each["add"] for each in lines if "add" in each]
    how = chance.randrange(5)
    if how == 0 and adds:
        chance.choice(adds)["path"] = chance.choice(PATHS)
        mutation = "another path" if table == "references" else f"must refuse: another path in {table}"
    elif how == 1:
        lines.insert(chance.randrange(len(lines)), chance.choice(lines))
        mutation = "an entry twice"
    elif how == 2:
        lines.pop(chance.randrange(len(lines)))
        mutation = "without an entry"
    else:
        mutation = f"{table}: {change_value(chance.choice(lines), chance)}"
    log.write_text("\n".join(map(json.dumps, lines)))
    return mutation


def change_value(entry: dict, chance: random.Random) -> str:
    """Change the type of a value of a log's entry, also inside of the JSON in its texts."""
    key = chance.choice(list(entry))
    value = entry[key]
    if isinstance(value, str) and value.startswith("{") and chance.random() < 0.8:
        inner = json.loads(value)
        name = change_value(inner, chance)
        entry[key] = json.dumps(inner)
        return name
    if isinstance(value, dict) and value and chance.random() < 0.8:
        return change_value(value, chance)
    if isinstance(value, list) and value and isinstance(value[0], dict) and chance.random() < 0.8:
        return change_value(chance.choice(value), chance)
    if chance.random() < 0.2:
        del entry[key]
    else:
        entry[key] = chance.choice([*VALUES[:-2], "double", "string", "long", "timestamp", "date", 10**30])
    return f"another {key}"


def mutate_version(out: Path, chance: random.Random) -> str:
    """Change a value of the table of versions."""
    from deltalake import DeltaTable, write_deltalake

    row = DeltaTable(out / "versions").to_pyarrow_table().to_pandas()
    name = chance.choice(["tables", "firm", "summary", "time", "number", "format", "tags"])
    if name in {"tables", "firm", "summary"}:
        value = chance.choice(
            [None, "", "{", "[]", "{}", '{"users": "x"}', '{"users": 99}', '{"users": -1}', "[" * 5000, "null", "3"]
        )
        write_deltalake(
            out / "versions", pd.DataFrame(row.assign(**{name: pd.Series([value], dtype="str")})), mode="overwrite"
        )
    elif chance.random() < 0.5:
        write_deltalake(out / "versions", row.drop(columns=name), mode="overwrite", schema_mode="overwrite")
    else:
        write_deltalake(out / "versions", row.assign(**{name: ["x"]}), mode="overwrite", schema_mode="overwrite")
    return f"another {name} of the version"


def read_mutated_mirror(path: Path) -> None:
    opened = mirror(path)
    for call in (opened.history, opened.sizes, opened.users, opened.clients, opened.invoices, opened.client_balances):
        call()
    opened.time_entries("2026-10")
    opened.scan("users", "arrow")
    opened._item_codes.read()
    kept = kept_reports(opened)
    payments = join_kept(Notes(), None, kept)
    kept_open_items(kept, dt.date(2026, 10, 31))
    if payments is not None:
        opened.book("2026-10").payments(ledger=payments)


PIECES = [
    '"a b"',
    "'a'",
    ".",
    "[",
    "{",
    "a = ",
    '"' * 3,
    "'" * 3,
    "#",
    ",",
    "\\",
    "\n",
    " ",
    "~ ",
    "a|",
    "a ~ ",
    "é",
    "\0",
]
TOML_VALUES = [*NUMBERS, "true", "[]", "{}", '""', "2026-13-01", "2026-01-01", "0001-01-01", "[[[]]]", "{a = {b = 1}}"]


def mutate_toml(base: Path, out: Path, chance: random.Random) -> str:
    """Change a TOML file of settings."""
    content = base.read_text("utf-8")
    piece, many = chance.choice(PIECES), chance.choice([20, 1000, 60_000])
    value, line = chance.choice(TOML_VALUES), chance.choice(content.splitlines())
    other = f"{line.partition('=')[0]} = {value}"
    word = chance.choice(re.findall(r"\w+", content))
    phrase = '"' + chance.choice(["a ~ ", "a|b ", "a* ", "! ", "$ "]) * min(many, 20_000) + 'a"'
    mutation, change = chance.choice(
        [
            ("flipped", lambda: flip(content.encode(), chance)),
            (f"{piece!r} repeated", lambda: (content + "\n" + piece * min(many, 200_000 // len(piece))).encode()),
            ("repeated inside", lambda: content.replace(line, piece * min(many, 200_000 // len(piece)), 1).encode()),
            (f"another value {value[:20]}", lambda: content.replace(line, other, 1).encode()),
            ("a long key", lambda: (".".join([chance.choice(PIECES[:2])] * min(many, 30_000)) + " = 1\n").encode()),
            ("another word", lambda: content.replace(word, chance.choice(["x", "until", "a" * many, "max"])).encode()),
            ("a line twice", lambda: content.replace(line, f"{line}\n{line}", 1).encode()),
            ("a long phrase", lambda: content.replace('"travel"', phrase).encode()),
            ("another encoding", lambda: content.encode(chance.choice(["utf-16", "utf-16-be", "utf-8-sig", "cp500"]))),
        ]
    )
    out.write_bytes(change())
    return mutation


def read_mutated_guidelines(path: Path) -> None:
    (read,) = bf.Guidelines.read(path).files
    texts = ["Travel to court; draft motion", "a " * 2000, "Call with team " * 100]
    for rule in read.rules:
        for key in ("own_words", "only", "phrases", "endings", "must", "except"):
            for text in texts:
                Phrases(rule.get(key) or []).found_in(text)


def read_mutated_settings(path: Path) -> None:
    settings = bf.FirmSettings.load(path)
    repr(settings)


Mutator, Reader = Callable[[Path, Path, random.Random], str], Callable[[Path], None]
TESTS = Path(__file__).parents[1]
XML = copied(TESTS / "ebilling" / "samples" / "ledesxml_2_1.xml", "base.xml")
GUIDELINES = copied(TESTS / "guidelines" / "tern.toml", "base.guidelines.toml")
SETTINGS = copied(Path(sandbox_command.__file__).with_name("firm.toml"), "base.settings.toml")
# The ending of the file, and how to change it, to read it and to make a sound one; reports have samples.
KINDS: dict[str, tuple[str, Mutator, Reader, Callable[[Path], object] | None]] = {
    "workbooks": (".xlsx", mutate_workbook, read_mutated_workbook, make_workbook),
    "LEDES files": (".txt", mutate_ledes, read_mutated_ledes, make_ledes_file),
    "XML e-bills": (".xml", mutate_xml, read_mutated_ledes, XML),
    "reports": (".csv", lambda base, out, chance: mutate_report(base, out, chance, flip), read_mutated_report, None),
    "report workbooks": (".report.xlsx", report_mutator(mutate_workbook), read_mutated_report, None),
    "journals": (".journal", mutate_journal, read_mutated_journal, make_journal),
    "mirrors": (".mirror", mutate_mirror, read_mutated_mirror, make_mirror),
    "guidelines": (".guidelines.toml", mutate_toml, read_mutated_guidelines, GUIDELINES),
    "settings": (".settings.toml", mutate_toml, read_mutated_settings, SETTINGS),
}


def mutate_and_read(kind: str, folder: Path, seed: int) -> Result:
    """Mutate a file and read it, in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        with exit_after(), os.fdopen(writing, "wb", 0) as pipe:
            in_child(kind, folder, seed, pipe)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = [json.loads(line) for line in pipe.read().splitlines()]
    _, status = os.waitpid(child, 0)
    result = Result(said[0] if said else "none", "ended")
    if len(said) < 2:
        signalled = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else status
        result.problem = f"the process ended ({signalled}), after {SECONDS} s of processor time or a crash"
        return result
    result.outcome, result.problem, result.seconds, result.peak, size = said[1]
    if not result.problem and result.peak > BASE_BYTES + TIMES * size:
        result.problem = f"{result.peak / 1e6:.0f} MB for {size / 1e6:.1f} MB"
    if not result.problem and result.mutation.startswith("must refuse") and result.outcome == "read":
        result.problem = "was read"
    return result


def in_child(kind: str, folder: Path, seed: int, pipe: io.RawIOBase) -> None:
    end, mutate, read, _ = KINDS[kind]
    warnings.simplefilter("ignore")
    outcome, problem, seconds, peak, size = "read", "", 0.0, 0, 0
    with tempfile.TemporaryDirectory(dir=folder) as name:
        path = Path(name) / f"mutant{end}"
        mutation = mutate(folder / f"base{end}", path, random.Random(f"{kind} {seed}"))
        pipe.write(json.dumps(mutation).encode() + b"\n")
        size = content_size(path)
        used, before = time.process_time(), peak_bytes()
        resource.setrlimit(resource.RLIMIT_CPU, (int(used) + SECONDS + 1,) * 2)
        # A pipe would be waited for without using the processor.
        signal.alarm(SECONDS * 12)
        try:
            read(path)
        except bf.errors.BillframesError as error:
            outcome = type(error).__name__
        except BaseException:  # noqa: BLE001 - this is what is looked for
            outcome, problem = "bare", traceback.format_exc(limit=-3)
        seconds, peak = time.process_time() - used, max(0, peak_bytes() - before)
        signal.alarm(0)
    pipe.write(json.dumps([outcome, problem, seconds, peak, size]).encode() + b"\n")


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def content_size(path: Path) -> int:
    """Return the bytes of a file, of a folder's files, or of an archive when it is unpacked, up to the limit."""
    if path.is_dir():
        return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
    unpacked = 0
    if zipfile.is_zipfile(path):
        try:
            with zipfile.ZipFile(path) as archive:
                unpacked = sum(each.file_size for each in archive.infolist())
        except zipfile.BadZipFile:
            pass
    return max(path.stat().st_size, min(unpacked, WORKBOOK_BYTES))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.files", description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000, help="mutants of each kind of file")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first mutant")
    parser.add_argument("--only", choices=KINDS, help="only this kind of file")
    arguments = parser.parse_args()
    failed = 0
    print("| files | mutants | read | refused | problems | most seconds | most MB |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    kinds = [arguments.only] if arguments.only else list(KINDS)
    with bases(kinds) as folder:
        for kind in kinds:
            results = []
            for seed in range(arguments.seed, arguments.seed + arguments.rounds):
                results.append(result := mutate_and_read(kind, folder, seed))
                if result.problem:
                    print(f"{kind} {seed}: {result.mutation}: {result.problem}", file=sys.stderr, flush=True)
            counts = Counter("problem" if each.problem else each.outcome for each in results)
            failed += counts["problem"]
            refused = len(results) - counts["read"] - counts["problem"]
            seconds, peak = max(each.seconds for each in results), max(each.peak for each in results)
            row = (
                kind,
                len(results),
                counts["read"],
                refused,
                counts["problem"],
                f"{seconds:.1f}",
                f"{peak / 1e6:.0f}",
            )
            print(f"| {' | '.join(map(str, row))} |", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
