"""Lists that only the server can sort are read by plain pages, which must show each record once."""

from __future__ import annotations

import pytest

import billframes as bf
from tests.conftest import entries, paged

OWN_SORT = {"select": "", "params": {"sort": "odd"}}


def test_a_limit_beyond_the_end_of_the_list_reads_all_of_it(fake, connect):
    fake.answers["/v2/time-entries"] = paged(entries(25))
    frame = connect(page_size=10).time_entries(**OWN_SORT, limit=40)
    assert (len(frame), frame.attrs["load"]["proof"]) == (25, "counted")


def test_a_record_on_two_pages_shows_that_the_list_changed(fake, connect):
    """The total and the number of rows don't show it: another record was skipped."""
    rows = entries(25)

    def serve(request):
        moved = rows if request.url.params["offset"] == "0" else [*rows[:10], rows[9], *rows[11:]]
        return paged(moved)(request)

    fake.answers["/v2/time-entries"] = serve
    with pytest.raises(bf.errors.PagingError, match="a record was received twice"):
        connect(page_size=10).time_entries(**OWN_SORT)


def test_more_rows_than_requested_without_pagination_are_refused(fake, connect):
    fake.answers["/v2/time-entries"] = {"data": entries(11)}
    with pytest.raises(bf.errors.DecodeError, match="at most 10 rows were requested, the server sent 11"):
        connect(page_size=10).time_entries(select="")
