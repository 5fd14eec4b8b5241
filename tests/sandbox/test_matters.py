"""GET /v2/matters and /v2/matters/{id}."""

import pytest

ALL = "matter,ledesConfiguration,responsible,originator,practiceArea,meta,customFields"


def test_list_item(api):
    """MatterList: matterId, name, matterType, archived, clientId, responsibleId, originatorIds are required."""
    matter = api.rows("matters", reference="M-1")[0]
    assert matter == {
        "matterId": api.id("a1"),
        "name": "Lawsuit",
        "reference": "M-1",
        "matterType": "hourly",
        "archived": False,
        "opened": "2024-02-01",
        "clientId": api.id("c1"),
        "client": {"name": "Acme", "reference": "C-1"},
        "responsibleId": api.id("b1"),
        "practiceAreaId": api.id("21"),
        "originatorIds": [api.id("b2"), api.id("b1")],
    }


def test_select(api):
    """select (matter, ledesConfiguration, responsible, originator, practiceArea, meta, customFields)."""
    matter = api.rows("matters", reference="M-1", select=ALL)[0]
    assert matter["responsible"] == {
        "userId": api.id("b1"),
        "name": "Ada Oak",
        "firstName": "Ada",
        "lastName": "Oak",
        "initials": "AO",
    }
    assert [user["name"] for user in matter["originators"]] == ["Ben Pine", "Ada Oak"]
    assert matter["practiceArea"] == {"practiceAreaId": api.id("21"), "label": "Litigation"}
    assert matter["ledesConfiguration"] == {
        "enabled": True,
        "activityCodeRequired": True,
        "taskCodeRequired": False,
        "expenseCodeRequired": False,
        "codeSetIds": ["utbms"],
    }
    assert [each["value"] for each in matter["customFields"]] == [7.5, False]
    assert set(matter["meta"]) == {"createdAt", "modifiedAt"}


def test_select_matter_adds_nothing(api):
    """`matter` is a name that select takes on matters."""
    assert api.rows("matters", select="matter") == api.rows("matters")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, "a2 a3 a1"),
        ({"query": "law"}, "a1"),
        ({"query": "m-2"}, "a2"),
        ({"query": "söhne"}, "a3"),
        ({"query": "c-1"}, "a2 a1"),
        ({"reference": "M-2"}, "a2"),
        ({"clientReference": "C-1"}, "a2 a1"),
        ({"userId": "b1"}, "a3 a1"),
        ({"userId": "b2"}, "a2 a3 a1"),
        ({"userId": "b3"}, ""),
        ({"responsibleId": "b2"}, "a2 a3"),
        ({"originatorId": "b1"}, "a1"),
        ({"clientId": "c2"}, "a3"),
        ({"practiceAreaId": "22"}, "a3"),
        ({"archived": "true"}, "a3"),
        ({"archived": "false"}, "a2 a1"),
        ({"sort": "-name"}, "a1 a3 a2"),
        ({"sort": "reference"}, "a3 a1 a2"),
        ({"sort": "client.name,-reference"}, "a2 a1 a3"),
        ({"sort": "-client.reference,name"}, "a2 a1 a3"),
        ({"modifiedSince": "2026-01-02T00:00:00Z"}, "a3"),
    ],
)
def test_filters_and_sorts(api, query, expected):
    """`archived` (true only archived, false only active, absent all), and every other filter and sort."""
    assert api.ids("matters", **query) == expected


def test_single_matter(api):
    """MatterDetail: conflictInformation, billingInstructions, notes, referralSources, ledesConfiguration."""
    matter = api.one("matters", "a1")
    assert matter["conflictInformation"] == {"adverse": "Rival"}
    assert matter["billingInstructions"] == "monthly"
    assert matter["referralSources"] is None
    assert len(matter["customFields"]) == 2
    assert len(matter["originators"]) == 2


def test_matter_with_little(api):
    """practiceAreaId (uuid, N), practiceArea, opened (date, N), originatorIds (N)."""
    matter = api.one("matters", "a2")
    assert (matter["practiceAreaId"], matter["opened"], matter["originatorIds"]) == (None, None, [])
    assert not {"practiceArea", "conflictInformation"} & set(matter)
