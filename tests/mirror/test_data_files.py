"""A mirror reads plain files of its own folder, whatever its log names; one that was changed is one error."""

from __future__ import annotations

import json
import os
import shutil
import socket

import pyarrow as pa
import pytest

import billframes as bf
from billframes import mirror


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
        with pytest.raises(bf.MirrorError, match=message):
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
    with pytest.raises(bf.MirrorError, match="can't be used: Could not open Parquet input"):
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
    with pytest.raises(bf.MirrorError, match="is damaged: its table of versions"):
        mirror(folder).history()


def test_a_version_without_a_table_is_one_error(folder):
    change_versions(folder, "tables", "{}")
    with pytest.raises(bf.MirrorError, match="has no table of custom_fields; refresh it"):
        mirror(folder).users()


def test_a_lock_that_is_a_link_makes_no_file_elsewhere(folder, client):
    (folder / ".lock").unlink()
    (folder / ".lock").symlink_to(folder.parent / "elsewhere")
    with pytest.raises(bf.MirrorError, match="can't be written: Too many levels of symbolic links"):
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
    with pytest.raises(bf.MirrorError, match="can't be a mirror's folder: Delta Lake does not open paths with"):
        mirror(path)


def test_the_home_of_an_unknown_user_is_refused_with_one_sentence(tmp_path):
    for open_path in (mirror, bf.resume):
        with pytest.raises(bf.ParameterError, match=r"~nobody-there is the home folder of a user, .* ./~nobody-there"):
            open_path("~nobody-there/firm")


@pytest.mark.parametrize("scheme", ["gs", "az", "abfss", "https", "file", "gcs", ""])
def test_an_address_that_is_not_s3_is_refused_before_anything_is_contacted(scheme, monkeypatch):
    monkeypatch.setattr(socket, "socket", None)
    with pytest.raises(bf.MirrorError, match=f"in a folder or at an s3:// address, and {scheme}:// is neither"):
        mirror(f"{scheme}://user:secret@firm/mirror")
