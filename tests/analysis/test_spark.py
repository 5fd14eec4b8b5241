"""Spark answers as pandas does and guards alike: in one file, so that one process starts it, once."""

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
from tests.analysis.calls import CALLS, ON_CLUSTERS, QUERIES, rich
from tests.analysis.conftest import Firm
from tests.analysis.test_engines import agree, spied
from tests.analysis.test_guards import ON_SPARK
from tests.mirror.test_engines import same_figures

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.slow,
    # PySpark announces its own future.
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas >= 3:FutureWarning"),
]


@pytest.fixture(scope="module")
def spark() -> Iterator[Callable[[pa.Table], Any]]:
    """
    Spark in this process and its Java, with what makes many small queries quick.

    It compiles little, has one thread and one partition, so that it neither shuffles nor broadcasts, doesn't remember
    the line of Python that made each column, and has room enough to look for garbage seldom.
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
        # Java would look through all of Spark's archives for each function's name, each time that a column uses it.
        for kind in (JVMView, JavaClass):
            patch.setattr(kind, "__getattr__", functools.cache(kind.__getattr__))
        # Spark knows that one partition needs no shuffle only where it is told.
        made = SparkSession.createDataFrame
        patch.setattr(SparkSession, "createDataFrame", lambda *args: made(*args).coalesce(1))
        yield lambda table: session.createDataFrame(_without_dictionaries(table))
    session.stop()


def _without_dictionaries(table: pa.Table) -> pa.Table:
    """Spark has no enums."""
    plain = [field.with_type(pa.string()) if pa.types.is_dictionary(field.type) else field for field in table.schema]
    return table.cast(pa.schema(plain))


@pytest.fixture(scope="module")
def frames(spark) -> dict[str, Any]:
    return rich(Firm(spark))


# The firm has every edge, so every warning is due; other tests hold each to its cause.
@pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning")
@pytest.mark.filterwarnings("ignore::billframes.errors.RatesHiddenWarning")
@pytest.mark.parametrize("name", ON_CLUSTERS)
def test_spark_answers_as_pandas_does_and_runs_few_queries(name, frames, asked, monkeypatch):
    with monkeypatch.context() as patch:
        collected = spied(nw.LazyFrame, patch)
        result = CALLS[name](frames)
    if name in QUERIES:
        assert len(collected) == QUERIES[name]
    agree(result, frames, asked(name))


@pytest.mark.parametrize("test", ON_SPARK, ids=lambda test: test.__name__.removeprefix("test_"))
def test_spark_guards_alike(test, spark):
    test(Firm(spark))


def test_the_documented_example_reads_a_mirrors_files(spark, client, tmp_path):
    """Its cluster is the one that runs already; a notebook's reads files in worker processes, made the same way."""
    text = (Path(__file__).parents[2] / "docs" / "mirror.md").read_text(encoding="utf-8")
    (example,) = [each for each in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "local-cluster" in each]
    mirror = bf.mirror(tmp_path / "firm", client=client)
    mirror.refresh()
    names: dict[str, Any] = {"bf": bf, "m": mirror}
    exec(example, names)
    same_figures(names["found"], bf.aging(mirror.invoices(), as_of="2026-10-31", by="client"))
