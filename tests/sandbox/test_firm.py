"""Users, practice areas, codes, custom fields and health."""

import pytest

from billframes.schema import records as r


def test_users(api):
    """UserList: userId, name, firstName, lastName, role, email are required; initials (N)."""
    assert api.rows("users")[1] == {
        "userId": api.id("b1"),
        "name": "Ada Oak",
        "firstName": "Ada",
        "lastName": "Oak",
        "role": "principal",
        "email": "ada@firm.example",
        "initials": "AO",
    }


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, "b3 b1 b2"),
        ({"email": "cleo@firm.example"}, "b3"),
        ({"email": "cleo"}, ""),
        ({"role": "attorney"}, "b2"),
        ({"query": "ada"}, "b3 b1"),
        ({"query": "ada", "queryFullMatch": "true"}, "b1"),
        ({"query": "ca", "queryFullMatch": "true"}, "b3"),
        ({"query": "firm.example", "queryFullMatch": "false"}, "b3 b1 b2"),
        ({"queryFullMatch": "true"}, "b3 b1 b2"),
    ],
)
def test_user_filters(api, query, expected):
    """query (searches first name, last name, initials, email), queryFullMatch (boolean, default false)."""
    assert api.ids("users", **query) == expected


def test_user_custom_fields(api):
    """customFields (in a list only returned when `customFields` is requested via `select`)."""
    values = [user["customFields"] for user in api.rows("users", select="customFields")]
    assert values[1] == [{"id": "cf-bar", "name": "Bar number", "valueType": "text", "value": "NY 12"}]
    assert values[0] == []


def test_practice_areas(api):
    """data: array of PracticeAreaList; no parameters."""
    assert [(area["label"], area["default"]) for area in api.rows("practice-areas")] == [
        ("Litigation", True),
        ("Tax", False),
    ]


def test_codes(api, tools):
    """{data: CodeList}; all LEDES code sets and codes."""
    codes = api.call("/v2/codes").json()["data"]
    tools.as_declared(codes, r.CodeList)
    assert codes["task"][0] == {
        "code": "L100",
        "label": "Assessment",
        "codeSetId": "utbms",
        "parentCode": None,
        "selectable": False,
    }
    assert [len(codes[kind]) for kind in ("activity", "task", "expense", "codeSets")] == [1, 2, 1, 2]


def test_custom_fields(api):
    """options (array of CustomFieldOption, N; in display order; omitted for non-enum types)."""
    tier, since = api.rows("custom-fields", entity="client")
    assert [option["label"] for option in tier["options"]] == ["Silver", "Gold"]
    assert "options" not in since
    assert [field["entity"] for field in api.rows("custom-fields")] == ["client"] * 2 + ["matter"] * 2 + ["user"]
    assert api.faults("/v2/custom-fields", entity="invoice") == ["entity"]


def test_health(api, tools):
    """HealthCheckResponse: status (enum: unhealthy, degraded, healthy), version (object), message (N)."""
    health = api.call("/v2/health", token=None)
    tools.as_declared(health.json(), r.HealthCheckResponse)
    assert health.json()["status"] == "healthy"
    assert health.json()["version"]["api"] == "v1"
