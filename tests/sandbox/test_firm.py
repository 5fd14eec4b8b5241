"""Users, practice areas, codes, custom fields and the health check over HTTP."""

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
    tools.assert_as_declared(codes, r.CodeList)
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
    assert api.wrong_parameters("/v2/custom-fields", entity="invoice") == ["entity"]


def test_health(api, tools):
    """HealthCheckResponse: status (enum: unhealthy, degraded, healthy), version (object), message (N)."""
    health = api.call("/v2/health", token=None)
    tools.assert_as_declared(health.json(), r.HealthCheckResponse)
    assert health.json()["status"] == "healthy"
    assert health.json()["version"]["api"] == "v1"


def areas(fresh_api):
    return {row["label"]: row["default"] for row in fresh_api.rows("practice-areas")}


def test_create_a_practice_area(fresh_api):
    """CreatePracticeArea: label (string min 1, R), default (boolean). The path is a documented assumption."""
    area = fresh_api.write("POST", "practice-areas", {"label": "Sports"})
    assert (area["label"], area["default"]) == ("Sports", False)
    assert areas(fresh_api) == {"Litigation": True, "Sports": False, "Tax": False}
    assert fresh_api.wrong_places("POST", "practice-areas", {"default": None}) == ["#/label", "#/default"]
    assert fresh_api.wrong_places("POST", "practice-areas", {"label": ""}) == ["#/label"]


def test_one_default(fresh_api):
    """default (boolean, R, whether it is the default practice area)."""
    fresh_api.write("POST", "practice-areas", {"label": "Sports", "default": True})
    assert areas(fresh_api) == {"Litigation": False, "Sports": True, "Tax": False}
    fresh_api.write("PUT", f"practice-areas/{fresh_api.id('22')}", {"default": True})
    assert areas(fresh_api) == {"Litigation": False, "Sports": False, "Tax": True}


def test_update_a_practice_area(fresh_api):
    """UpdatePracticeArea: label (string, N), default (boolean, N); a value not provided leaves the current one."""
    path = f"practice-areas/{fresh_api.id('21')}"
    assert fresh_api.write("PUT", path, {"label": "Disputes"})["default"] is True
    assert fresh_api.write("PUT", path, {"label": None, "default": None})["label"] == "Disputes"
    assert fresh_api.write("PUT", path, {"default": False})["default"] is False
    assert fresh_api.wrong_places("PUT", path, {"label": ""}) == ["#/label"]
    fresh_api.expect_refusal(404, "PUT", "practice-areas/c1", {})


def test_update_a_user(fresh_api):
    """PUT /v2/users/{id}: one property, customFields; the response includes the user's customFields."""
    user = fresh_api.write("PUT", "users/b2", {"customFields": [{"id": "cf-bar", "value": "CA 7"}]})
    assert user["name"] == "Ben Pine"
    assert user["customFields"] == [{"id": "cf-bar", "name": "Bar number", "valueType": "text", "value": "CA 7"}]
    assert fresh_api.write("PUT", "users/b1", {})["customFields"][0]["value"] == "NY 12"
    assert fresh_api.write("PUT", "users/b1", {"customFields": [{"id": "cf-bar", "value": None}]})["customFields"] == []
    assert fresh_api.wrong_places("PUT", "users/b1", {"customFields": [{"id": "cf-bar", "value": 12}]}) == [
        "#/customFields/0/value"
    ]
    fresh_api.expect_refusal(404, "PUT", "users/c1", {})


def test_delete_a_practice_area(fresh_api):
    """The description has no such operation. It is refused if a matter has the practice area."""
    fresh_api.expect_refusal(409, "DELETE", f"practice-areas/{fresh_api.id('21')}")
    area = fresh_api.write("POST", "practice-areas", {"label": "Sports"})
    assert fresh_api.write("DELETE", f"practice-areas/{area['practiceAreaId']}") is None
    assert "Sports" not in areas(fresh_api)
    fresh_api.expect_refusal(404, "DELETE", f"practice-areas/{area['practiceAreaId']}")
