"""Ratios of processor time within this process, with limits that a busy machine does not exceed."""

import json
import math
import multiprocessing
import time
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import msgspec
import pandas as pd
import pytest

import billframes as bf
from billframes.loading.convert import to_pandas
from billframes.paging import ListSchema
from billframes.paging.page import Page, PageRequest, check_page
from billframes.schema.custom_fields import FieldNames
from billframes.schema.decode import decode_page
from billframes.schema.records import CustomFieldList
from billframes.schema.resources import MATTERS, TIME_ENTRIES
from tests.benchmarks._decoding import bodies, table_of
from tests.benchmarks._shapes import SHAPES, Firm

PAGES = 3
ROWS = 1000


@pytest.fixture(scope="module")
def pages():
    """Pages of time entries in every shape of the benchmarks."""
    return {firm.shape.name: bodies(firm.entry, PAGES, ROWS) for firm in firms()}


def firms():
    return [Firm(replace(shape, matters=min(shape.matters, 3000))) for shape in SHAPES]


@pytest.mark.slow
def test_decoding_matters_to_arrow_takes_little_longer_than_parsing_the_bytes_alone_in_the_worst_shape():
    def worst_of(firm):
        matters = bodies(firm.matter, PAGES, ROWS)
        custom = FieldNames().columns(msgspec.convert(firm.definitions(), list[CustomFieldList]))
        return ratio(
            lambda: table_of(MATTERS, matters, custom), lambda: [msgspec.json.decode(page) for page in matters], 2.2
        )

    assert max(map(worst_of, firms())) < 2.2


@pytest.mark.slow
def test_decoding_to_arrow_takes_about_as_long_as_parsing_the_bytes_alone_in_the_worst_shape(pages):
    def worst_of(shape):
        return ratio(lambda: table_of(TIME_ENTRIES, shape), lambda: [msgspec.json.decode(page) for page in shape], 2.5)

    assert max(map(worst_of, pages.values())) < 2.5


@pytest.mark.slow
def test_a_frame_takes_a_part_of_the_time_of_json_normalize_in_the_worst_shape(pages):
    def worst_of(shape):
        def by_hand():
            return pd.concat([pd.json_normalize(json.loads(page)["data"]) for page in shape], ignore_index=True)

        return ratio(lambda: to_pandas(table_of(TIME_ENTRIES, shape)), by_hand, 0.55)

    assert max(map(worst_of, pages.values())) < 0.55


def test_checking_a_page_costs_less_than_decoding_it_in_the_worst_shape(pages):
    def worst_of(shape):
        schema = ListSchema(TIME_ENTRIES)
        requests = [PageRequest((("sort", "created"),), ROWS, ROWS * page) for page in range(PAGES)]
        decoded = [decode_page(page, TIME_ENTRIES) for page in shape]

        def checked():
            found = [check_page(request, Page(body, schema)) for request, body in zip(requests, decoded, strict=True)]
            assert found == [None] * PAGES

        return ratio(checked, lambda: [decode_page(page, TIME_ENTRIES) for page in shape], 0.7)

    assert max(map(worst_of, pages.values())) < 0.7


def ratio(ours, other, limit):
    """
    Return the ratio of the shortest times of this thread, measured alternately.

    Other processes only add time, so it is measured until the ratio is below the limit, at most 40 times.
    """
    ours(), other()
    shortest = shortest_of_other = math.inf
    for nth in range(1, 41):
        shortest, shortest_of_other = min(shortest, seconds(ours)), min(shortest_of_other, seconds(other))
        if nth >= 3 and shortest < limit * shortest_of_other:
            break
    return shortest / shortest_of_other


def seconds(call):
    began = time.thread_time()
    call()
    return time.thread_time() - began


@pytest.mark.slow
def test_a_load_never_has_all_records_in_memory(sandbox):
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as another:
        load, records = another.submit(peaks, sandbox.base_url, sandbox.tokens["full"]).result()
    assert load < 0.5 * records


def peaks(url, token):
    """Return the peak memory of a load, and of all its records; in a process that the sandbox does not share."""
    with bf.Client(url, token, page_size=250) as client:
        pages = range(0, client.time_entries.count(), 250)
        bodies = [
            client._connection.fetch(TIME_ENTRIES.path, query_of(offset), resource="time_entries").body
            for offset in pages
        ]
        load = peak_memory(lambda: client.time_entries(to="arrow"))
    return load, peak_memory(lambda: [decode_page(body, TIME_ENTRIES) for body in bodies])


def query_of(offset):
    return (("select", "client,matter,user,meta,fixedFee"), ("sort", "date"), ("limit", "250"), ("offset", str(offset)))


def peak_memory(call):
    """Return the peak of the memory that Python's objects allocate during a call."""
    tracemalloc.start()
    try:
        result = call()
        assert result is not None
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
