"""Lists that the API's description does not page are read completely from a server that pages them."""

from __future__ import annotations

import itertools

import httpx
import pytest

import billframes as bf
from billframes.errors import DecodeError, PagingError
from tests.conftest import entries, paged

FIELDS = [{"id": f"f{i}", "entity": "client", "name": f"Field {i}", "valueType": "text"} for i in range(7)]
AREAS = [{"practiceAreaId": f"p{i}", "label": f"Area {i}", "default": i == 0} for i in range(7)]
USERS = [
    {
        "userId": f"u{i}",
        "name": f"Ada L{i}",
        "firstName": "Ada",
        "lastName": f"L{i}",
        "email": f"ada{i}@firm.test",
        "role": "attorney",
    }
    for i in range(7)
]
CLIENT = {
    "clientId": "c1",
    "name": "Abel",
    "customFields": [{"id": "f6", "name": "Field 6", "valueType": "text", "value": "kept"}],
}


def two_at_a_time_unless_asked(rows):
    """Return a server with its own page size, which sends more rows if more are requested."""
    serve = paged(rows)

    def page(request):
        limit = request.url.params.get("limit", "2")
        return serve(httpx.Request("GET", request.url.copy_merge_params({"limit": limit})))

    return page


SERVERS = [lambda rows: paged(rows, granted=2), two_at_a_time_unless_asked]


@pytest.mark.parametrize("serve", SERVERS)
def test_a_server_that_pages_custom_field_definitions_loses_no_column(serve, fake, connect):
    fake.answers["/v2/custom-fields"] = serve(FIELDS)
    fake.answers["/v2/clients"] = paged([CLIENT])
    frame = connect().clients(select="customFields")
    assert [name for name in frame.columns if name.startswith("cf_")] == [f"cf_field_{i}" for i in range(7)]
    assert frame["cf_field_6"].tolist() == ["kept"]


@pytest.mark.parametrize("serve", SERVERS)
def test_users_practice_areas_and_definitions_are_read_in_pages_if_the_server_pages_them(serve, fake, connect):
    fake.answers["/v2/custom-fields"] = lambda request: (
        serve(FIELDS)(request) if "entity=client" in str(request.url) else {"data": []}
    )
    fake.answers["/v2/users"] = serve(USERS)
    fake.answers["/v2/practice-areas"] = serve(AREAS)
    client = connect()
    assert client.users()["user_id"].tolist() == [f"u{i}" for i in range(7)]
    assert client.practice_areas()["practice_area_id"].tolist() == [f"p{i}" for i in range(7)]
    assert client.custom_fields("client")["id"].tolist() == [f"f{i}" for i in range(7)]
    assert client.custom_fields()["id"].tolist() == [f"f{i}" for i in range(7)]


def test_a_custom_field_of_a_later_page_can_be_written(fake, connect):
    fake.answers["/v2/custom-fields"] = paged([{**field, "entity": "user"} for field in FIELDS], granted=2)
    fake.answers["/v2/users/u1"] = httpx.Response(200)
    connect().users.update("u1", custom_fields={"Field 6": "kept"})
    assert b'"f6"' in fake.requests[-1].content


def test_definitions_without_their_later_pages_are_an_error(fake, connect):
    def first_page_always(request):
        return paged(FIELDS, granted=2)(httpx.Request("GET", request.url.copy_remove_param("offset")))

    fake.answers["/v2/custom-fields"] = first_page_always
    fake.answers["/v2/clients"] = paged([CLIENT])
    with pytest.raises(DecodeError, match=r"custom_fields: the page at offset [246] was requested"):
        connect().clients()


def test_fewer_codes_than_the_total_are_an_error(fake, connect):
    codes = {"activity": [], "task": [], "expense": [], "codeSets": []}
    fake.answers["/v2/codes"] = {"data": codes, "pagination": {"limit": 50, "offset": 0, "total": 80}}
    with pytest.raises(PagingError, match="0 of 80 codes"):
        connect().codes()
    fake.answers["/v2/codes"] = {"data": codes, "pagination": {"limit": 50, "offset": 0, "total": 0}}
    assert len(connect().codes()) == 0


@pytest.mark.parametrize("body", [b"[]", b'{"data": null}', b'{"data": []}', b'{"data": [], "pagination": null}'])
@pytest.mark.parametrize("nth", [2, 3, 4])
@pytest.mark.parametrize("wanted", [None, 1500])
@pytest.mark.parametrize("page_size", [100, 1000])
def test_a_later_page_without_rows_and_total_is_one_error(body, nth, wanted, page_size):
    serve, numbers = paged(entries(2500)), itertools.count(1)

    def answer(request):
        return httpx.Response(200, content=body) if next(numbers) >= nth else httpx.Response(200, json=serve(request))

    transport = httpx.MockTransport(answer)
    with bf.Client("https://billing.test", "t", transport=transport, page_size=page_size, progress=False) as client:
        try:
            rows = len(client.time_entries(limit=wanted, select=""))
        except bf.errors.PagingError as error:
            assert "lacks the total" in str(error)  # noqa: PT017 - enough pages came before it
        else:
            assert rows == wanted
            assert nth * page_size > wanted
