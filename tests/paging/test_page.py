"""Pages of servers that cut instants to whole seconds, or grant fewer rows than requested."""

from __future__ import annotations

import json

import pytest

from billframes.paging import ListSchema
from billframes.paging.page import Page, PageRequest, check_page
from billframes.schema.decode import decode_page
from billframes.schema.resources import TIME_ENTRIES
from tests.conftest import entry, paged


@pytest.mark.parametrize(("modified", "fits"), [("12:00:00", True), ("11:59:59", True), ("11:59:58.9", False)])
def test_a_record_of_the_second_before_is_a_change(modified, fits):
    """Some servers cut instants to whole seconds."""
    meta = {"createdAt": "2026-10-01T00:00:00Z", "modifiedAt": f"2026-10-31T{modified}Z"}
    body = {"data": [entry(meta=meta)], "pagination": {"limit": 10, "offset": 0, "total": 1}}
    page = Page(decode_page(json.dumps(body).encode(), TIME_ENTRIES), ListSchema(TIME_ENTRIES))
    request = PageRequest((), 10, added_filters=(("modifiedSince", "2026-10-31T12:00:00Z"),))
    assert (check_page(request, page) is None) == fits


def test_names_are_read_in_pages_of_the_granted_limit(fake, connect):
    rows = [{"clientId": f"c{i}", "name": f"Client {chr(65 + i)}"} for i in range(25)]
    fake.answers["/v2/clients"] = paged(rows, granted=10)
    assert len(connect().clients(select="")) == 25
    assert len(fake.requests) <= 6
