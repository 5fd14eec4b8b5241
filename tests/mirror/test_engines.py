"""Each engine reads the mirror's files lazily and finds the same figures."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import narwhals.stable.v2 as nw
import pyarrow as pa
import pytest

import billframes as bf
from billframes import mirror
from billframes.mirror.engines import scan
from billframes.mirror.snapshot import Snapshot
from billframes.mirror.stored_table import StoredTable
from billframes.mirror.tables import REFERENCE_SCHEMA, REFERENCES, TABLES

ENGINES = ["polars", "duckdb"]


def frame_of(native):
    frame = nw.from_native(native)
    return (frame.collect() if isinstance(frame, nw.LazyFrame) else frame).to_pandas()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", sorted(TABLES))
def test_a_lazy_table_has_the_frames_columns_and_rows(refreshed, engine, name):
    lazy = frame_of(refreshed.scan(name, engine=engine))
    frame = getattr(refreshed, name)()
    shared = [column for column in frame.columns if column not in {"originator_names", "partition"}]
    if name not in {"codes", "custom_fields"}:
        assert [column for column in lazy.columns if column != "originator_names"] == shared
    assert len(lazy) == len(frame)
    if name == "time_entries":
        id_ = "time_entry_id"
        left, right = (each.sort_values(id_, ignore_index=True) for each in (lazy, frame))
        for column in ("client_name", "matter_reference", "user_name", "invoice_state", "fixed_fee_amount", "hours"):
            assert left[column].astype(object).where(left[column].notna(), None).tolist() == (
                right[column].astype(object).where(right[column].notna(), None).tolist()
            )


def figures(tables):
    """Return the results of four analyses of an engine's tables."""
    entries, invoices, users, matters = (tables(name) for name in ("time_entries", "invoices", "users", "matters"))
    expenses, fees = tables("expenses"), tables("fixed_fees")
    span = {"start": "2026-01-01", "end": "2026-06-30"}
    return [
        bf.analysis.realization(
            entries, expenses=expenses, fixed_fees=fees, invoices=invoices, matters=matters, by="client", **span
        ),
        bf.analysis.utilization(entries, by="user", users=users, matters=matters, **span),
        bf.analysis.aging(invoices, as_of="2026-10-31", by="client"),
        bf.analysis.wip(
            entries,
            expenses=expenses,
            fixed_fees=fees,
            invoices=invoices,
            matters=matters,
            as_of="2026-10-31",
            by="client",
        ),
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_columns_that_are_not_requested_are_not_joined(refreshed, engine):
    lazy = refreshed.scan("time_entries", engine=engine, columns=["user_name", "hours", "time_entry_id"])
    assert nw.from_native(lazy).collect_schema().names() == ["time_entry_id", "user_name", "hours"]
    assert set(re.findall(r"_key\d", lazy.explain())) == {"_key2"}
    frame = refreshed.time_entries().set_index("time_entry_id")
    found = frame_of(lazy).set_index("time_entry_id")
    assert found["user_name"].to_dict() == frame["user_name"].to_dict()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_record_in_no_list_keeps_its_last_shown_name(refreshed, tmp_path, engine):
    """Other records have the names of their list."""
    # A copy, because other tests read the tables as the refresh left them.
    refreshed = mirror(shutil.copytree(refreshed.path, tmp_path / "firm"))
    snapshot, people = refreshed._open_snapshot(), refreshed._open_snapshot().read("users")
    gone, known = people.column("user_id").to_pylist()[:2]
    at = dict(snapshot.version.tables)
    listed = StoredTable(refreshed._storage, TABLES["users"], at["users"])
    listed.replace_all(people.slice(1))
    seen = StoredTable(refreshed._storage, REFERENCES, at[REFERENCES.name])
    names = [{"table": "users", "id": gone, "name": "Gone"}, {"table": "users", "id": known, "name": "Former name"}]
    seen.replace_all(pa.Table.from_pylist(names, REFERENCE_SCHEMA))
    tables = {**at, "users": listed.current_version, REFERENCES.name: seen.current_version}
    changed = Snapshot(refreshed._storage, replace(snapshot.version, tables=tables))
    rows = frame_of(scan(changed, "time_entries", engine, None, ["user_id", "user_name"]))
    shown = dict(zip(rows["user_id"], rows["user_name"], strict=True))
    assert shown[gone] == "Gone"
    assert shown[known] == people.column("name")[1].as_py()


# One of the firm's lawyers joined in the year.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The first of all entries of:billframes.errors.IncompleteDataWarning")
@pytest.mark.parametrize("engine", ENGINES)
def test_analyses_find_the_same_figures_on_every_engine(refreshed, engine):
    book_tables = figures(lambda name: getattr(refreshed, name)())
    for expected, native in zip(book_tables, figures(lambda name: refreshed.scan(name, engine=engine)), strict=True):
        same_figures(frame_of(native), expected)


def same_figures(found, expected):
    keys = [name for name in expected.columns if name.endswith("_id")]
    found, expected = (each.sort_values(keys, ignore_index=True) for each in (found, expected))
    assert len(found) == len(expected)
    for name in expected.columns:
        if expected[name].dtype.kind == "f":
            assert found[name].astype(float).tolist() == pytest.approx(expected[name].tolist(), nan_ok=True, abs=1e-6)


def test_an_arrow_scan_is_a_dataset_of_the_stored_columns(refreshed):
    dataset = refreshed.scan("time_entries")
    assert dataset.count_rows() == len(refreshed.time_entries())
    assert "client_name" not in dataset.schema.names


def test_wrong_names_are_refused(refreshed):
    with pytest.raises(bf.errors.ParameterError, match=r"engine='spark'.*Did you mean 'pyspark'"):
        refreshed.scan("time_entries", engine="spark")
    with pytest.raises(bf.errors.ParameterError, match="'entries' is not a resource"):
        refreshed.scan("entries")
    with pytest.raises(bf.errors.ParameterError, match=r"'user' is not a column of time_entries.*Did you mean 'user_"):
        refreshed.scan("time_entries", engine="polars", columns=["user"])
    with pytest.raises(bf.errors.ParameterError, match="columns= is for other engines"):
        refreshed.scan("time_entries", columns=["hours"])


def test_duckdb_is_limited_unless_its_user_has_set_a_limit(refreshed):
    duckdb = pytest.importorskip("duckdb")

    def limit():
        return duckdb.execute("SELECT current_setting('memory_limit')").fetchall()[0][0]

    duckdb.execute("RESET memory_limit")
    with pytest.raises(bf.errors.ParameterError, match=r"memory_limit='much'.*such as '1GB'"):
        refreshed.scan("users", engine="duckdb", memory_limit="much")
    refreshed.scan("users", engine="duckdb", memory_limit="500MiB")
    assert limit() == "500.0 MiB"
    (folder,) = duckdb.execute("SELECT current_setting('temp_directory')").fetchall()[0]
    assert Path(folder).stat().st_mode & 0o777 == 0o700
    duckdb.execute("SET memory_limit = '2GiB'")
    refreshed.scan("users", engine="duckdb")
    assert limit() == "2.0 GiB"
    with duckdb.connect() as own:
        before = own.execute("SELECT current_setting('memory_limit')").fetchall()
        assert len(refreshed.scan("users", engine="duckdb", session=own)) == len(refreshed.users())
        assert own.execute("SELECT current_setting('memory_limit')").fetchall() == before
    duckdb.execute("RESET memory_limit")
    refreshed.scan("users", engine="duckdb")
    assert limit() == "953.6 MiB"


def test_an_engine_that_is_not_installed_is_named(refreshed, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(bf.errors.MirrorError, match=r"pip install 'billframes\[polars\]'"):
        scan(refreshed._open_snapshot(), "users", "polars", None)


# The server lets the system choose the port, so no other process can have it.
STORE = """
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
input()
"""


@pytest.fixture(scope="module")
def bucket():
    """An S3 server on loopback, with a bucket."""
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen([sys.executable, "-c", STORE], stdin=pipe, stdout=pipe, stderr=nowhere, text=True) as server:
        import boto3

        port = int(server.stdout.readline())
        keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing", "region_name": "us-east-1"}
        boto3.client("s3", endpoint_url=f"http://127.0.0.1:{port}", **keys).create_bucket(Bucket="firm")
        yield {
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ALLOW_HTTP": "true",
        }
        server.terminate()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_mirror_in_a_bucket(client, bucket, tmp_path, monkeypatch):
    # Of a bucket, no file is made or removed in a folder of this machine.
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".unfinished").touch()
    m = mirror("s3://firm/mirror", client=client, storage_options=bucket)
    m.refresh()
    summary = m.refresh()
    assert summary[["added", "updated", "removed"]].to_numpy().sum() == 0
    assert m.time_entries("2026-10").equals(client.time_entries("2026-10"))
    assert m.as_of(1).clients().equals(client.clients())
    invoices = m.invoices().set_index("invoice_id")["client_name"].to_dict()
    for engine in ENGINES:
        found = frame_of(m.scan("invoices", engine=engine))
        assert found.set_index("invoice_id")["client_name"].to_dict() == invoices
    assert m.scan("invoices").count_rows() == len(invoices)
    assert m.vacuum(keep="0 days")["version"].tolist() == [2]
    assert m.refresh()["updated"].sum() == 0
    assert m.vacuum(keep="1 day").attrs["vacuum"] == {"versions": 0, "bytes": None}
    assert [each.name for each in tmp_path.iterdir()] == [".unfinished"]
