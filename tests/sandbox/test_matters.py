"""Matters over HTTP, compared with the API description's own sentences."""

import pytest

from billframes.schema.resources import ALL_ZERO_ID

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
    """`matter` is a valid `select` name of matters."""
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
    matter = api.record("matters", "a1")
    assert matter["conflictInformation"] == {"adverse": "Rival"}
    assert matter["billingInstructions"] == "monthly"
    assert matter["referralSources"] is None
    assert len(matter["customFields"]) == 2
    assert len(matter["originators"]) == 2


def test_matter_with_little(api):
    """practiceAreaId (uuid, N), practiceArea, opened (date, N), originatorIds (N)."""
    matter = api.record("matters", "a2")
    assert (matter["practiceAreaId"], matter["opened"], matter["originatorIds"]) == (None, None, [])
    assert not {"practiceArea", "conflictInformation"} & set(matter)


NEW = {"name": "New", "clientId": "c1", "responsibleId": "b2"}


def test_create_answers_with_the_matter(fresh_api):
    """POST /v2/matters: {data: MatterDetail}; matterType default hourly."""
    matter = fresh_api.write("POST", "matters", NEW)
    assert (matter["name"], matter["matterType"], matter["archived"]) == ("New", "hourly", False)
    assert matter["client"] == {"name": "Acme", "reference": "C-1"}
    assert matter["responsible"]["name"] == "Ben Pine"
    assert (matter["originatorIds"], matter["practiceAreaId"], matter["opened"]) == ([], None, None)
    assert fresh_api.call(f"/v2/matters/{matter['matterId']}").json()["data"] == matter


def test_create_takes_everything(fresh_api):
    """CreateMatter: ... practiceAreaId (uuid, N), rateGroupId (uuid, N), customFields."""
    optional = {
        "reference": "R",
        "matterType": "contingency",
        "originatorId": "b3",
        "opened": "2026-10-01",
        "archived": True,
        "conflictInformation": {"adverse": "Rival", "opposing": None},
        "billingInstructions": "weekly",
        "notes": "n",
        "referralSources": "a friend",
        "practiceAreaId": "22",
        "rateGroupId": "99",
        "customFields": [{"id": "cf-score", "value": "7.25"}, {"id": "cf-urgent", "value": "TRUE"}],
    }
    matter = fresh_api.write("POST", "matters", NEW | optional)
    assert matter["originatorIds"] == [fresh_api.id("b3")]
    assert matter["conflictInformation"] == {"adverse": "Rival"}
    assert matter["practiceArea"]["label"] == "Tax"
    assert [(each["id"], each["value"]) for each in matter["customFields"]] == [("cf-score", 7.25), ("cf-urgent", True)]
    assert {name: matter[name] for name in ("reference", "matterType", "opened", "archived", "referralSources")} == {
        "reference": "R",
        "matterType": "contingency",
        "opened": "2026-10-01",
        "archived": True,
        "referralSources": "a friend",
    }


def test_nulls_in_creates(fresh_api):
    """Null for a nullable property is the same as leaving it out."""
    nulls = ("reference", "originatorId", "opened", "conflictInformation", "practiceAreaId", "rateGroupId", "notes")
    matter = fresh_api.write("POST", "matters", NEW | dict.fromkeys(nulls) | {"customFields": None})
    assert (matter["practiceAreaId"], matter["originatorIds"]) == (None, [])


def test_required_fields(fresh_api):
    """CreateMatter: name (string min 1, R), clientId (uuid, R), responsibleId (uuid, R)."""
    assert fresh_api.wrong_places("POST", "matters", {}) == ["#/name", "#/clientId", "#/responsibleId"]


def test_references_must_exist(fresh_api):
    """Ids without a record are listed, all in one response."""
    unknown = dict.fromkeys(("clientId", "responsibleId", "originatorId", "practiceAreaId"), "c9")
    assert fresh_api.wrong_places("POST", "matters", NEW | unknown) == [f"#/{name}" for name in unknown]


@pytest.mark.parametrize("wrong", [{"matterType": "Hourly"}, {"archived": "true"}, {"opened": "2026-13-01"}])
def test_wrong_values(fresh_api, wrong):
    """matterType (enum), archived (boolean), opened (date)."""
    assert fresh_api.wrong_places("POST", "matters", NEW | wrong) == [f"#/{next(iter(wrong))}"]


def test_update_is_sparse(fresh_api):
    """Updates (PUT) are sparse: only the properties sent are changed."""
    before = fresh_api.record("matters", "a1")
    after = fresh_api.write("PUT", "matters/a1", {"notes": "N"})
    assert after.pop("notes") == "N"
    before.pop("notes")
    assert after.pop("meta")["modifiedAt"] > before.pop("meta")["modifiedAt"]
    assert after == before


def test_archiving_and_back(fresh_api):
    """UpdateMatter with archived = true: archived = true; with archived = false: archived = false."""
    assert fresh_api.write("PUT", "matters/a1", {"archived": True})["archived"] is True
    assert fresh_api.write("PUT", "matters/a1", {"archived": None})["archived"] is True
    assert fresh_api.write("PUT", "matters/a1", {"archived": False})["archived"] is False


def test_null_clears_what_may_be_null(fresh_api):
    """reference (string, N), opened (date, N), conflictInformation, notes (string, N)."""
    nulls = ("reference", "opened", "conflictInformation", "billingInstructions", "notes", "referralSources")
    after = fresh_api.write("PUT", "matters/a1", dict.fromkeys(nulls))
    assert [after.get(name) for name in nulls] == [None] * 6


def test_null_keeps_what_is_required(fresh_api):
    """name, clientId, responsibleId (R): not provided means unchanged."""
    after = fresh_api.write("PUT", "matters/a1", dict.fromkeys(("name", "clientId", "responsibleId")))
    assert (after["name"], after["clientId"], after["responsibleId"]) == (
        "Lawsuit",
        fresh_api.id("c1"),
        fresh_api.id("b1"),
    )


def test_the_all_zero_uuid_unassigns_the_practice_area(fresh_api):
    """practiceAreaId (uuid; the all-zero UUID unassigns the practice area)."""
    assert fresh_api.write("PUT", "matters/a1", {"practiceAreaId": None})["practiceAreaId"] == fresh_api.id("21")
    assert fresh_api.write("PUT", "matters/a1", {"practiceAreaId": ALL_ZERO_ID})["practiceAreaId"] is None
    assert fresh_api.write("PUT", "matters/a1", {"practiceAreaId": "22"})["practiceArea"]["label"] == "Tax"


def test_conflict_information_is_sparse(fresh_api):
    """conflictInformation: only the properties sent are changed."""
    after = fresh_api.write("PUT", "matters/a1", {"conflictInformation": {"opposing": "O"}})
    assert after["conflictInformation"] == {"adverse": "Rival", "opposing": "O"}


def test_custom_fields_typed_or_as_text(fresh_api):
    """Numbers, booleans and dates may be sent as strings; null clears the field."""
    fields = [{"id": "cf-score", "value": "-1.5e1"}, {"id": "cf-urgent", "value": "True"}]
    after = fresh_api.write("PUT", "matters/a1", {"customFields": fields})
    assert [each["value"] for each in after["customFields"]] == [-15.0, True]
    after = fresh_api.write("PUT", "matters/a1", {"customFields": [{"id": "cf-score", "value": None}]})
    assert [each["id"] for each in after["customFields"]] == ["cf-urgent"]


@pytest.mark.parametrize("value", ["seven", "NaN", "inf", "1e999", True, "", {}])
def test_no_number(fresh_api, value):
    """value: number for number."""
    assert fresh_api.wrong_places("PUT", "matters/a1", {"customFields": [{"id": "cf-score", "value": value}]}) == [
        "#/customFields/0/value"
    ]


def test_a_matter_may_change_its_client(fresh_api):
    """UpdateMatter: clientId (uuid). The matter's items then belong to the new client."""
    fresh_api.write("PUT", "matters/a3", {"clientId": "c3"})
    assert fresh_api.record("time-entries", "e4")["clientId"] == fresh_api.id("c3")


@pytest.mark.parametrize("matter", ["a1", "a2", "a3"])
def test_a_matter_with_activity_is_kept(fresh_api, matter):
    """DELETE /v2/matters/{id}: the matter has any activity: time entries, expenses or invoices."""
    assert "has activity" in fresh_api.expect_refusal(409, "DELETE", f"matters/{matter}")["detail"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("time-entries", {"description": "d", "hours": 0}),
        ("expenses", {"description": "d", "amount": 0}),
        ("fixed-fees", {"description": "d", "amount": 0}),
    ],
)
def test_each_kind_of_activity_keeps_a_matter(fresh_api, path, body):
    """The matter has any activity: time entries, expenses or invoices."""
    matter = fresh_api.write("POST", "matters", NEW | {"originatorId": "b3"})["matterId"]
    fresh_api.write("POST", path, {"matterId": matter, "date": "2026-10-01", **body})
    assert path.replace("-", " ") in fresh_api.expect_refusal(409, "DELETE", f"matters/{matter}")["detail"]


def test_a_matter_without_activity_is_deleted(fresh_api):
    """DELETE /v2/matters/{id}: no body."""
    fields = [{"id": "cf-score", "value": 1}]
    matter = fresh_api.write("POST", "matters", NEW | {"originatorId": "b3", "customFields": fields})["matterId"]
    assert fresh_api.write("DELETE", f"matters/{matter}") is None
    assert not any(matter in row for row in fresh_api.all_rows())


def test_who_is_assigned_follows_the_responsible_attorney_and_the_time(fresh_api):
    """userId (assigned user): the user responsible now, and everyone with time on the matter."""

    def assigned(user):
        return matter in {row["matterId"] for row in fresh_api.rows("matters", userId=user)}

    matter = fresh_api.write("POST", "matters", NEW)["matterId"]
    assert [assigned(user) for user in ("b1", "b2", "b3")] == [False, True, False]
    fresh_api.write("PUT", f"matters/{matter}", {"responsibleId": "b1"})
    assert [assigned(user) for user in ("b1", "b2", "b3")] == [True, False, False]
    entry = {"matterId": matter, "userId": "b3", "date": "2026-10-30", "description": "Work", "hours": 1}
    made = fresh_api.write("POST", "time-entries", entry)["timeEntryId"]
    assert [assigned(user) for user in ("b1", "b2", "b3")] == [True, False, True]
    fresh_api.write("DELETE", f"time-entries/{made}")
    assert [assigned(user) for user in ("b1", "b2", "b3")] == [True, False, False]
