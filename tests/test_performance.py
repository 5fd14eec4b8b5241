"""Speed is kept: ratios of processor time within this process, loose enough for a busy machine."""

import json
import time
import tracemalloc
from statistics import median

import msgspec
import pandas as pd
import pytest

import billframes as bf
from billframes.loading.convert import to_pandas
from billframes.loading.table_builder import TableBuilder
from billframes.paging import ListSchema
from billframes.paging.page import Page, PageRequest, check_page
from billframes.schema.decode import decode_page
from billframes.schema.resources import TIME_ENTRIES
from billframes.schema.sources import sources_of

PAGES = 5


@pytest.fixture(scope="module")
def pages(sandbox):
    import httpx

    query = {"limit": 1000, "select": "client,matter,user,meta,fixedFee", "sort": "created"}
    headers = {"Authorization": f"Bearer {sandbox.tokens['full']}"}
    url = f"{sandbox.base_url}/v2/time-entries"
    return [httpx.get(url, params=query | {"offset": 1000 * page}, headers=headers).content for page in range(PAGES)]


def test_decoding_to_arrow_takes_about_as_long_as_parsing_the_bytes_alone(pages):
    assert ratio(lambda: table_of(pages), lambda: [msgspec.json.decode(page) for page in pages]) < 1.7


def test_a_frame_takes_a_part_of_the_time_of_json_normalize(pages):
    def by_hand():
        return pd.concat([pd.json_normalize(json.loads(page)["data"]) for page in pages], ignore_index=True)

    assert ratio(lambda: to_pandas(table_of(pages)), by_hand) < 0.42


def test_checking_a_page_costs_less_than_decoding_it(pages):
    schema = ListSchema(TIME_ENTRIES)
    requests = [PageRequest((("sort", "created"),), 1000, 1000 * page) for page in range(PAGES)]
    decoded = [decode_page(page, TIME_ENTRIES) for page in pages]

    def checked():
        assert [check_page(request, Page(body, schema)) for request, body in zip(requests, decoded, strict=True)] == [
            None
        ] * PAGES

    assert ratio(checked, lambda: [decode_page(page, TIME_ENTRIES) for page in pages]) < 0.5


def table_of(pages):
    builder = TableBuilder(TIME_ENTRIES, sources_of(TIME_ENTRIES.record))
    return builder.table([builder.block(decode_page(page, TIME_ENTRIES).data) for page in pages])


def ratio(ours, other, rounds=5):
    """Return the median of ratios of this thread's time, taken in turn."""
    ours(), other()
    return median(seconds(ours) / seconds(other) for _ in range(rounds))


def seconds(call):
    began = time.thread_time()
    call()
    return time.thread_time() - began


def test_a_load_never_holds_all_its_records(sandbox):
    with bf.Client(sandbox.base_url, sandbox.tokens["full"], page_size=250) as client:
        pages = range(0, client.time_entries.count(), 250)
        bodies = [client.fetch(TIME_ENTRIES.path, query_of(offset), resource="time_entries").body for offset in pages]
        load = most_held(lambda: client.time_entries(to="arrow"))
    assert load < 0.5 * most_held(lambda: [decode_page(body, TIME_ENTRIES) for body in bodies])


def query_of(offset):
    return (("select", "client,matter,user,meta,fixedFee"), ("sort", "date"), ("limit", "250"), ("offset", str(offset)))


def most_held(call):
    """Return the most memory that Python's objects took above what they took before."""
    tracemalloc.start()
    try:
        kept = call()
        assert kept is not None
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
