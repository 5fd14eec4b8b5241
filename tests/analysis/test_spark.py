"""Spark returns the same rows and warnings as pandas. One file has all tests, so that Spark starts only once."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa
import pytest

import billframes as bf
from tests.analysis.calls import CALLS, ENGINE_CALLS, QUERIES, edge_case_frames
from tests.analysis.conftest import Firm
from tests.analysis.test_engines import assert_like_pandas, record_collected
from tests.analysis.test_guards import ON_SPARK
from tests.mirror.test_engines import same_figures

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas >= 3:FutureWarning"),
    # As in the tests of guards, which are run on Spark.
    pytest.mark.filterwarnings("ignore:Without users=:billframes.errors.IncompleteDataWarning"),
]


@pytest.fixture(scope="module")
def spark() -> Iterator[Callable[[pa.Table], Any]]:
    """
    Spark in this process and one Java process, with settings that make many small queries fast.

    It compiles little, and has one thread and one partition, so that it neither shuffles nor broadcasts. It does not
    record the line of Python of each column, and has enough memory to collect garbage rarely.
    """
    from py4j.java_gateway import JavaClass, JVMView
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.memory": "2g",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:MetaspaceSize=256m "
        "-XX:InitialHeapSize=1536m -XX:NewSize=1g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.constraintPropagation.enabled": "false",
        "spark.sql.dataFrameQueryContext.enabled": "false",
        "spark.python.sql.dataFrameDebugging.enabled": "false",
    }
    session = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    with pytest.MonkeyPatch.context() as patch:
        # Otherwise Java would search all archives of Spark for the name of a function each time that a column uses it.
        for kind in (JVMView, JavaClass):
            patch.setattr(kind, "__getattr__", functools.cache(kind.__getattr__))
        # `coalesce` tells Spark that there is one partition, so that it does not shuffle.
        create = SparkSession.createDataFrame
        patch.setattr(SparkSession, "createDataFrame", lambda *args: create(*args).coalesce(1))
        yield lambda table: session.createDataFrame(_without_dictionaries(table))
    session.stop()


def _without_dictionaries(table: pa.Table) -> pa.Table:
    """Convert enums to text, because Spark has none."""
    plain = [field.with_type(pa.string()) if pa.types.is_dictionary(field.type) else field for field in table.schema]
    return table.cast(pa.schema(plain))


@pytest.fixture(scope="module")
def frames(spark) -> dict[str, Any]:
    return edge_case_frames(Firm(spark))


# The firm has all edge cases, so all warnings are given. Other tests check each warning.
@pytest.mark.sweep(keep=6)
@pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning")
@pytest.mark.filterwarnings("ignore::billframes.errors.RatesHiddenWarning")
@pytest.mark.parametrize("name", ENGINE_CALLS)
def test_spark_returns_the_rows_of_pandas_and_runs_few_queries(name, frames, rows_on_pandas, monkeypatch):
    with monkeypatch.context() as patch:
        collected = record_collected(nw.LazyFrame, patch)
        result = CALLS[name](frames)
    if name in QUERIES:
        assert len(collected) == QUERIES[name]
    assert_like_pandas(result, frames, rows_on_pandas(name))


@pytest.mark.parametrize("test", ON_SPARK, ids=lambda test: test.__name__.removeprefix("test_"))
def test_spark_gives_the_same_warnings_and_errors(test, spark):
    test(Firm(spark))


def test_the_documented_example_reads_a_mirrors_files(spark, client, tmp_path):
    """The example's cluster is the running one. In a notebook, worker processes read the files in the same way."""
    text = (Path(__file__).parents[2] / "docs" / "mirror.md").read_text(encoding="utf-8")
    (example,) = [each for each in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "local-cluster" in each]
    mirror = bf.mirror(tmp_path / "firm", client=client)
    mirror.refresh()
    names: dict[str, Any] = {"bf": bf, "m": mirror}
    exec(example, names)
    same_figures(names["found"], bf.analysis.aging(mirror.invoices(), as_of="2026-10-31", by="client"))
