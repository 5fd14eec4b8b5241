"""POST, PUT and DELETE of clients, against the API description's own sentences."""

import pytest

CONTACT = {"companyName": "New Inc"}


def test_create_answers_with_the_client(fresh):
    """POST /v2/clients: {data: ClientDetail}."""
    client = fresh.done("POST", "clients", {"name": "New", "reference": "N-1", "contact": CONTACT, "notes": "n"})
    assert (client["name"], client["reference"], client["notes"]) == ("New", "N-1", "n")
    assert client["contact"] == CONTACT
    assert client["meta"]["createdAt"] == client["meta"]["modifiedAt"]
    assert fresh.call(f"/v2/clients/{client['clientId']}").json()["data"] == client


@pytest.mark.parametrize("contact", [{"companyName": "X"}, {"firstName": "A", "lastName": "B"}])
def test_contact_needs_a_name(fresh, contact):
    """The contact must give a company name, or a first and last name, or both."""
    fresh.done("POST", "clients", {"name": "New", "contact": contact})


@pytest.mark.parametrize(
    "contact", [{}, {"companyName": ""}, {"firstName": "A"}, {"lastName": "B", "firstName": None}, {"email": "a@b"}]
)
def test_contact_without_a_name_is_refused(fresh, contact):
    """The contact must give a company name, or a first and last name, or both."""
    assert fresh.wrong("POST", "clients", {"name": "New", "contact": contact}) == ["#/contact"]


def test_name_is_needed(fresh):
    """POST /v2/clients: name missing or empty (min length 1)."""
    assert fresh.wrong("POST", "clients", {"contact": CONTACT}) == ["#/name"]
    assert fresh.wrong("POST", "clients", {"name": "", "contact": CONTACT}) == ["#/name"]
    assert fresh.wrong("POST", "clients", {"name": None, "contact": CONTACT}) == ["#/name"]


def test_everything_wrong_is_said_at_once(fresh):
    """A required field of the body is missing: every problem is listed with its path."""
    body = {"reference": 5, "contact": {"phone": 7}, "customFields": [{"id": "nope", "value": 1}, {"value": 1}]}
    wrong = fresh.wrong("POST", "clients", body)
    assert set(wrong) == {
        "#/name",
        "#/reference",
        "#/contact/phone",
        "#/contact",
        "#/customFields/0/id",
        "#/customFields/1/id",
    }


def test_update_is_sparse(fresh):
    """Updates (PUT) are sparse: only the properties sent are changed."""
    before = fresh.one("clients", "c1")
    after = fresh.done("PUT", "clients/c1", {"name": "Acme & Sons"})
    assert after.pop("name") == "Acme & Sons"
    assert after["meta"].pop("modifiedAt") > before["meta"].pop("modifiedAt")
    before.pop("name")
    assert after == before


def test_contact_is_sparse_too(fresh):
    """contact (Contact): only the properties sent are changed; null clears one."""
    after = fresh.done("PUT", "clients/c1", {"contact": {"city": "Rome", "emailCC": None}})
    assert after["contact"] == {"companyName": "Acme Inc", "street": "1 Road\nFloor 2", "city": "Rome"}


def test_null_in_updates(fresh):
    """UpdateClient: name, reference, notes (all string, N; not provided means unchanged)."""
    after = fresh.done("PUT", "clients/c1", {"name": None, "reference": None, "notes": None, "customFields": None})
    assert (after["name"], after["reference"], after["notes"]) == ("Acme", None, None)
    assert len(after["meta"]["customFields"]) == 2


def test_an_empty_name_is_refused(fresh):
    """ClientDetail: name (string, min length 1)."""
    assert fresh.wrong("PUT", "clients/c1", {"name": ""}) == ["#/name"]


def values(client):
    return {each["id"]: (each["value"], each.get("optionId")) for each in client["meta"]["customFields"]}


def test_only_listed_custom_fields_change(fresh):
    """customFields: only listed fields change; an entry whose value is null clears that field."""
    after = fresh.done("PUT", "clients/c1", {"customFields": [{"id": "cf-since", "value": "2021-03-04"}]})
    assert values(after) == {"cf-tier": ("Gold", fresh.id("31")), "cf-since": ("2021-03-04", None)}
    after = fresh.done("PUT", "clients/c1", {"customFields": [{"id": "cf-tier", "value": None}]})
    assert values(after) == {"cf-since": ("2021-03-04", None)}


def test_option_id_goes_before_value(fresh):
    """optionId: takes precedence over value; preferred because labels can be renamed."""
    fields = [{"id": "cf-tier", "value": "Gold", "optionId": "32"}]
    assert values(fresh.done("PUT", "clients/c1", {"customFields": fields}))["cf-tier"] == ("Silver", fresh.id("32"))
    fields = [{"id": "cf-tier", "value": None, "optionId": "31"}]
    assert values(fresh.done("PUT", "clients/c1", {"customFields": fields}))["cf-tier"] == ("Gold", fresh.id("31"))
    fields = [{"id": "cf-tier", "value": "Silver", "optionId": None}]
    assert values(fresh.done("PUT", "clients/c1", {"customFields": fields}))["cf-tier"] == ("Silver", fresh.id("32"))


@pytest.mark.parametrize(
    ("entry", "place"),
    [
        ({"id": "cf-tier", "value": "Bronze"}, "/value"),
        ({"id": "cf-tier", "value": 3}, "/value"),
        ({"id": "cf-tier", "optionId": "39"}, "/optionId"),
        ({"id": "cf-tier", "optionId": "gold"}, "/optionId"),
        ({"id": "cf-since", "optionId": "31"}, "/optionId"),
        ({"id": "cf-since", "value": "04.03.2021"}, "/value"),
        ({"id": "cf-since", "value": "2021-02-29"}, "/value"),
        ({"id": "cf-since", "value": {}}, "/value"),
        ({"id": "cf-since"}, ""),
        ({"id": "cf-score", "value": 1}, "/id"),
        ({"id": "", "value": 1}, "/id"),
    ],
)
def test_wrong_custom_fields(fresh, entry, place):
    """value (typed by valueType); id (string min 1, R) of a field of this entity."""
    assert fresh.wrong("PUT", "clients/c1", {"customFields": [entry]}) == ["#/customFields/0" + place]


def test_custom_fields_of_a_new_client(fresh):
    """CreateClient: customFields; unlisted fields stay unset."""
    fields = [{"id": "cf-since", "value": "2021-03-04"}]
    client = fresh.done("POST", "clients", {"name": "New", "contact": CONTACT, "customFields": fields})
    assert values(client) == {"cf-since": ("2021-03-04", None)}


def test_delete_answers_with_no_body(fresh):
    """DELETE /v2/clients/{id}: no body."""
    assert fresh.done("DELETE", "clients/c3") is None
    fresh.problem(f"/v2/clients/{fresh.id('c3')}", 404)
    fresh.refused(404, "DELETE", "clients/c3")


def test_a_client_with_matters_is_kept(fresh):
    """DELETE /v2/clients/{id}: the client has associated matters."""
    assert "has associated matters" in fresh.refused(409, "DELETE", "clients/c1")["detail"]


def test_a_client_with_invoices_is_kept(fresh):
    """An invoice's clientId (uuid, R) is of a client there is."""
    fresh.done("PUT", "matters/a3", {"clientId": "c3"})
    assert "invoices" in fresh.refused(409, "DELETE", "clients/c2")["detail"]
