"""A mirror reads plain files of its own folder, whatever its log names; one that was changed is one error."""

from __future__ import annotations

import datetime as dt
import io
import json
import os
import resource
import shutil
import socket

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import billframes as bf
from billframes import mirror
from billframes.mirror.side_tables import LedgerTable
from billframes.mirror.storage import Storage


@pytest.fixture
def folder(refreshed, tmp_path):
    return shutil.copytree(refreshed.path, tmp_path / "firm")


def change_log(folder, change):
    """Change the entries of files in the log of users."""
    (log,) = (folder / "users" / "_delta_log").glob("*.json")
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    for entry in entries:
        if "add" in entry:
            change(entry["add"])
    log.write_text("\n".join(map(json.dumps, entries)))


def move_out(folder):
    """Move the file of users out of the mirror, and return its old and new path."""
    (file,) = (folder / "users").glob("*.parquet")
    return file, file.rename(folder.parent / "outside.parquet")


def refuse(folder, message):
    """Check that neither the loaders nor the engines read the table."""
    opened = mirror(folder)
    for read in (
        opened.users,
        opened.sizes,
        *(lambda e=each: opened.scan("users", e) for each in ("arrow", "polars", "duckdb")),
    ):
        with pytest.raises(bf.errors.MirrorError, match=message):
            read()


@pytest.mark.parametrize(
    "path",
    [
        "../../outside.parquet",
        "%2e%2e/%2e%2e/outside.parquet",
        "x/../../../outside.parquet",
        "{outside}",
        "file://{outside}",
        "s3://firm/outside.parquet",
        "..\\..\\outside.parquet",
        "C:\\outside.parquet",
        "*.parquet",
        "part.parquet\0",
        ".hidden.parquet",
        "",
    ],
)
def test_a_log_that_names_a_file_elsewhere_is_refused(folder, path):
    _, outside = move_out(folder)
    change_log(folder, lambda entry: entry.update(path=path.format(outside=outside)))
    refuse(folder, "is not a file of the mirror's own folder, so it was not read")


def test_a_link_to_a_file_elsewhere_is_refused(folder):
    file, outside = move_out(folder)
    file.symlink_to(outside)
    refuse(folder, "is not a file of the mirror's own folder")


@pytest.mark.parametrize("name", ["users", "users/_delta_log", "users/_delta_log/00000000000000000000.json"])
def test_a_link_in_place_of_a_folder_or_a_log_is_refused(folder, name):
    elsewhere = (folder / name).rename(folder.parent / "elsewhere")
    (folder / name).symlink_to(elsewhere)
    refuse(folder, "is not a file of the mirror's own folder")


def test_a_pipe_in_place_of_a_file_is_not_waited_for(folder):
    file, _ = move_out(folder)
    os.mkfifo(file)
    refuse(folder, "is not a file of the mirror's own folder")


def test_a_mirror_whose_whole_folder_is_a_link_is_read(folder, refreshed):
    (folder.parent / "link").symlink_to(folder)
    assert mirror(folder.parent / "link").users().equals(refreshed.users())


def test_a_log_without_numbers_of_rows_is_refused_because_engines_would_read_none(folder):
    change_log(folder, lambda entry: entry.pop("stats"))
    refuse(folder, "does not say how many rows")


def test_a_damaged_file_is_one_error(folder):
    (file,) = (folder / "users").glob("*.parquet")
    file.write_bytes(file.read_bytes()[:-4])
    with pytest.raises(bf.errors.MirrorError, match="The mirror is damaged: .* bytes instead of .* --full"):
        mirror(folder).users()


def change_versions(folder, column, value):
    """Write a text into a column of the table of versions."""
    from deltalake import DeltaTable, write_deltalake

    rows = DeltaTable(folder / "versions").to_pyarrow_table()
    changed = pa.array([value] * rows.num_rows, rows.schema.field(column).type)
    at = rows.column_names.index(column)
    write_deltalake(folder / "versions", rows.set_column(at, rows.schema.field(column), changed), mode="overwrite")


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *[("tables", each) for each in ("{", "[]", '{"users": "x"}', "[" * 100_000, "null")],
        *[("firm", each) for each in ("{}", "3", '{"address": "x", "rates": true, "mark": "x"}')],
        *[("summary", each) for each in ("{}", "[{}]", '[{"resource": "users", "added": "1"}]')],
    ],
)
def test_a_damaged_table_of_versions_is_one_error(folder, column, value):
    change_versions(folder, column, value)
    with pytest.raises(bf.errors.MirrorError, match="is damaged: its table of versions"):
        mirror(folder).history()


def test_a_version_without_a_table_is_one_error(folder):
    change_versions(folder, "tables", "{}")
    with pytest.raises(bf.errors.MirrorError, match="has no table of custom_fields; refresh it"):
        mirror(folder).users()


def test_a_lock_that_is_a_link_makes_no_file_elsewhere(folder, client):
    (folder / ".lock").unlink()
    (folder / ".lock").symlink_to(folder.parent / "elsewhere")
    with pytest.raises(bf.errors.MirrorError, match="can't be written: Too many levels of symbolic links"):
        mirror(folder, client=client).refresh()
    assert not (folder.parent / "elsewhere").exists()


@pytest.mark.parametrize(
    "name", ["a b", "ü", "a#b", "a?b", "100%", "a%b", "a:b", "a*b", "a{b}", "it's", "-a", "$HOME", "a+b&c"]
)
def test_any_usual_name_is_a_mirrors_folder(folder, refreshed, name):
    opened = mirror(folder.rename(folder.parent / name))
    assert opened.users().equals(refreshed.users())
    opened.tag("opened")
    assert len(opened.scan("users", "polars").collect()) == len(refreshed.users())
    assert len(opened.scan("users", "duckdb").fetchall()) == len(refreshed.users())


@pytest.mark.parametrize("name", ["a|b", "a^b", "a%20b", "%7Ename", "a\\b", "a[b]", "a\tb", "a\nb", "a\udcffb"])
@pytest.mark.parametrize("link", [False, True])
def test_a_name_that_delta_lake_misreads_is_refused_with_one_sentence(tmp_path, name, link):
    path = tmp_path / name
    if link and "\udcff" not in name:
        path.mkdir()
        path = tmp_path / "link"
        path.symlink_to(tmp_path / name)
    with pytest.raises(bf.errors.MirrorError, match="can't be a mirror's folder: Delta Lake does not open paths with"):
        mirror(path)


def test_the_home_of_an_unknown_user_is_refused_with_one_sentence(tmp_path):
    for open_path in (mirror, bf.bulk.resume):
        with pytest.raises(
            bf.errors.ParameterError, match=r"~nobody-there is the home folder of a user, .* ./~nobody-there"
        ):
            open_path("~nobody-there/firm")


@pytest.mark.parametrize("scheme", ["gs", "az", "abfss", "https", "file", "gcs", ""])
def test_an_address_that_is_not_s3_is_refused_before_anything_is_contacted(scheme, monkeypatch):
    monkeypatch.setattr(socket, "socket", None)
    with pytest.raises(bf.errors.MirrorError, match=f"in a folder or at an s3:// address, and {scheme}:// is neither"):
        mirror(f"{scheme}://user:secret@firm/mirror")


def rewrite(folder, change, *, said=None):
    """Replace the file of users by one with other rows. The log says its size, and `said` rows if given."""
    (file,) = (folder / "users").glob("*.parquet")
    pq.write_table(change(pq.read_table(file)), file, compression="zstd")

    def update(entry):
        entry["size"] = file.stat().st_size
        if said is not None:
            entry["stats"] = json.dumps({"numRecords": said})

    change_log(folder, update)


def long_names(rows, length=30_000_000):
    return rows.set_column(
        rows.column_names.index("name"), "name", pa.array(["x" * length]).take(pa.array([0] * rows.num_rows))
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "said", "message"),
    [
        (
            lambda rows: rows.slice(0, 1).take(pa.array([0] * 2_000_000)),
            None,
            "has 2,000,000 rows, and the mirror names",
        ),
        (lambda rows: rows.slice(0, 1).take(pa.array([0] * 2_000_000)), 2_000_000, "takes far more memory than"),
        (lambda rows: rows.slice(1), None, "rows, and the mirror names 19"),
        (long_names, None, "takes far more memory than"),
        (lambda rows: long_names(rows, 500_000), None, "takes far more memory than"),
        (lambda rows: rows.rename_columns([f"{each}_" for each in rows.column_names]), None, "lacks the column"),
    ],
)
def test_a_file_with_other_rows_or_one_that_unpacks_to_far_more_is_not_read(folder, change, said, message):
    rewrite(folder, change, said=said)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    opened = mirror(folder)
    for read in (opened.users, *(lambda e=each: opened.scan("users", e) for each in ("arrow", "polars", "duckdb"))):
        with pytest.raises(bf.errors.MirrorError, match=message):
            read()
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < 200_000_000


def test_long_texts_that_a_firm_has_are_read(folder):
    rewrite(folder, lambda rows: long_names(rows, 100_000))
    assert mirror(folder).users()["name"].str.len().eq(100_000).all()


def test_a_row_without_its_id_is_refused(folder):
    rewrite(folder, lambda rows: rows.set_column(0, rows.schema.field(0), pa.nulls(rows.num_rows, rows.schema[0].type)))
    with pytest.raises(bf.errors.MirrorError, match="a row of users has no user_id"):
        mirror(folder).users()


REPORT = pd.DataFrame(
    {"date": pd.to_datetime(["2026-10-01"]).as_unit("us"), "amount": [-100.0], "open_balance": [0.0], "number": ["7"]}
)
ABOUT = {
    **dict.fromkeys(("company", "as_of", "start", "end", "basis", "stamp", "payments")),
    "report": "sales",
    "file": "sales.csv",
    "open_items": False,
    "history": False,
    "by_account": False,
}


def kept_with(folder, **values):
    """Keep a report, and change values of its row. Those that take long to make are functions."""
    from deltalake import DeltaTable, write_deltalake

    storage, report = mirror(folder)._storage, REPORT.copy()
    report.attrs["ledger"] = ABOUT
    LedgerTable(storage).add(report)
    rows = DeltaTable(folder / "ledgers").to_pyarrow_table()
    for name, value in values.items():
        column = pa.array([value() if callable(value) else value], rows.schema.field(name).type)
        rows = rows.set_column(rows.column_names.index(name), rows.schema.field(name), column)
    write_deltalake(folder / "ledgers", rows, mode="overwrite")
    return LedgerTable(Storage(folder))


def parquet(rows):
    buffer = io.BytesIO()
    pq.write_table(rows, buffer, compression="zstd")
    return buffer.getvalue()


PLAIN = pa.Table.from_pandas(REPORT, preserve_index=False)


def test_a_report_is_read_as_it_was_kept(folder):
    (kept,) = kept_with(folder).read(REPORT.head(0))
    pd.testing.assert_frame_equal(kept, REPORT)
    assert kept.attrs["ledger"] == ABOUT


@pytest.mark.parametrize(
    "values",
    [
        *[{"transactions": each} for each in (None, b"", b"PAR1", parquet(pa.table({"a": [1]})))],
        {"transactions": lambda: parquet(PLAIN.take(pa.array([0] * 3_000_000)))},
        {"transactions": lambda: parquet(PLAIN.take(pa.array([0] * 3_000_000))), "rows": 3_000_000},
        {"transactions": lambda: parquet(PLAIN.set_column(3, "number", pa.array(["x" * 50_000_000])))},
        {"transactions": parquet(PLAIN.set_column(1, "amount", pa.array(["x"])))},
        *[{"about": each} for each in (None, "", "{", "null", "[]", "{}", "[" * 100_000)],
        *[{"about": json.dumps(ABOUT | each)} for each in ({"start": "2026-13-45"}, {"start": 5}, {"history": None})],
        {"rows": None},
        {"rows": 2},
    ],
)
def test_a_damaged_table_of_reports_is_one_error(folder, values):
    table = kept_with(folder, **values)
    with pytest.raises(bf.errors.MirrorError, match=r"table .*/ledgers is damaged. Remove this folder"):
        table.read(REPORT.head(0))


@pytest.mark.parametrize("name", ["kind", "id", "modified_at", "expense_code"])
def test_a_damaged_table_of_codes_is_one_error(folder, name):
    from deltalake import DeltaTable, write_deltalake

    codes = mirror(folder)._item_codes
    codes.add({("expenses", "e1", dt.datetime(2026, 10, 1, tzinfo=dt.UTC)): {"expense_code": "E101"}})
    assert list(codes.read().values()) == [{"activity_code": None, "task_code": None, "expense_code": "E101"}]
    rows = DeltaTable(folder / "item_codes").to_pyarrow_table()
    write_deltalake(folder / "item_codes", rows.drop_columns([name]), mode="overwrite", schema_mode="overwrite")
    with pytest.raises(bf.errors.MirrorError, match=r"table .*/item_codes is damaged. Remove this folder"):
        mirror(folder)._item_codes.read()
