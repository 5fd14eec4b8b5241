"""Query parameters of paginated lists: pages, order, select, and refusals."""

import pytest

from billframes.schema.resources import RESOURCES

PAGINATED = [each.path.removeprefix("/v2/") for each in RESOURCES if each.paginated]


@pytest.mark.parametrize("name", PAGINATED)
def test_pages_put_together_are_the_list(api, name):
    """`limit` (1 to 1000, default 1000), `offset` (0 to 2147483647, default 0)."""
    whole, pagination = api.list(name)
    pages = [api.list(name, limit=1, offset=n) for n in range(len(whole) + 1)]
    assert [row for page, _ in pages for row in page] == whole
    assert {each["total"] for _, each in pages} == {pagination["total"]} == {len(whole)}
    assert (pagination["limit"], pagination["offset"]) == (1000, 0)


def test_pagination_echoes(api):
    """Pagination: limit (int32, R), offset (int32, R), total (int32, R), sort (string, N)."""
    _, pagination = api.list("time-entries", limit=2, offset=3, sort=" -date, hours")
    assert pagination == {"limit": 2, "offset": 3, "total": 5, "sort": "-date,hours"}
    assert api.list("time-entries")[1]["sort"] is None


def test_offset_beyond_the_end(api):
    """`offset` (int32, 0 to 2147483647)."""
    rows, pagination = api.list("time-entries", offset=2147483647)
    assert rows == []
    assert pagination["total"] == 5


@pytest.mark.parametrize("name", PAGINATED)
def test_every_sort_both_ways(api, name):
    """`sort` (string, comma-separated fields, prefix `-` for descending, ascending otherwise)."""
    resource = next(each for each in RESOURCES if each.path == "/v2/" + name)
    everything = sorted(api.ids(name).split())
    for field in resource.sort:
        for prefix in ("", "-"):
            assert sorted(api.ids(name, sort=prefix + field).split()) == everything
    assert sorted(api.ids(name, sort=",".join(resource.sort)).split()) == everything


@pytest.mark.parametrize("name", PAGINATED)
def test_everything_selected(api, name):
    """`select` (string, comma-separated names of additional detail to include)."""
    resource = next(each for each in RESOURCES if each.path == "/v2/" + name)
    api.list(name, select=",".join(resource.select))
    plain = api.rows(name)
    assert api.rows(name, select=",".join("-" + each for each in resource.select)) == plain
    assert api.rows(name, select="") == plain


def test_the_first_mention_of_a_sort_field_decides(api):
    """`sort` (comma-separated fields)."""
    assert api.ids("time-entries", sort="date,-date") == api.ids("time-entries", sort="date")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("limit", "0"), ("limit", "1001"), ("limit", "ten"), ("limit", ""), ("limit", "9" * 5000), ("limit", "1.5"),
        ("limit", "١"), ("offset", "-1"), ("offset", "2147483648"), ("startDate", "2026-02-30"),
        ("startDate", "20260201"), ("startDate", ""), ("endDate", "2026-W01-1"), ("userId", "nobody"),
        ("clientId", "{00000000-0000-4000-8000-000000000000}"), ("billed", "1"), ("billingType", "Billable"),
        ("select", "clients"), ("select", "client,--matter"), ("sort", "clientId"), ("sort", "date; DROP TABLE client"),
        ("modifiedSince", "yesterday"), ("modifiedSince", "2026-01-01"), ("modifiedSince", "0001-01-01T00:00:00+14:00"),
        ("modifiedSince", "2026-01-01T25:00:00Z"),
    ],
)  # fmt: skip
def test_malformed_values_are_refused(api, name, value):
    """A value outside of the description's limits gets a 400 that names the parameter."""
    assert api.wrong_parameters("/v2/time-entries", **{name: value}) == [name]


def test_every_problem_is_listed(api):
    """400 invalid input: every fault is listed."""
    query = {
        "limit": 0,
        "offset": -1,
        "userId": "x",
        "select": "x",
        "sort": "y",
        "modifiedSince": "z",
        "startDate": "w",
    }
    assert sorted(api.wrong_parameters("/v2/time-entries", **query)) == sorted(query)


def test_names_accepted_are_named(api):
    """select (client, matter, user, meta, fixedFee)."""
    detail = api.expect_problem("/v2/time-entries", 400, select="invoice")["errors"][0]["detail"]
    assert detail == "has 'invoice'; expected client, matter, user, meta, fixedFee"


def test_a_parameter_given_twice_is_refused(api):
    """`limit` (int32)."""
    assert api.wrong_parameters("/v2/time-entries?limit=1&limit=2") == ["limit"]


def test_unknown_parameters_are_ignored(api):
    """Common list parameters (query) for every list endpoint that is paginated: ... nothing on others."""
    assert api.ids("time-entries", apiVersion="7", matterID="a1") == api.ids("time-entries")


def test_ids_in_capitals_are_the_same_ids(api):
    """Identifiers of records are UUID strings."""
    assert len(api.rows("time-entries", matterId=api.id("a1").upper())) == 2
    assert api.call(f"/v2/matters/{api.id('a1').upper()}").status_code == 200


def test_instants_in_other_spellings(api):
    """Timestamps are `date-time` (ISO 8601)."""
    for text in ("2026-10-03t10:00:00z", "2026-10-03T10:00:00", "2026-10-03T12:00:00.0000000+02:00"):
        assert api.ids("time-entries", modifiedSince=text) == "e4 e5"
