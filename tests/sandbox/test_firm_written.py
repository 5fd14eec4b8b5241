"""Practice areas and users written, against the API description's own sentences."""


def areas(fresh):
    return {row["label"]: row["default"] for row in fresh.rows("practice-areas")}


def test_create_a_practice_area(fresh):
    """CreatePracticeArea: label (string min 1, R), default (boolean). The path is a documented assumption."""
    area = fresh.done("POST", "practice-areas", {"label": "Sports"})
    assert (area["label"], area["default"]) == ("Sports", False)
    assert areas(fresh) == {"Litigation": True, "Sports": False, "Tax": False}
    assert fresh.wrong("POST", "practice-areas", {"default": None}) == ["#/label", "#/default"]
    assert fresh.wrong("POST", "practice-areas", {"label": ""}) == ["#/label"]


def test_one_default(fresh):
    """default (boolean, R, whether it is the default practice area)."""
    fresh.done("POST", "practice-areas", {"label": "Sports", "default": True})
    assert areas(fresh) == {"Litigation": False, "Sports": True, "Tax": False}
    fresh.done("PUT", f"practice-areas/{fresh.id('22')}", {"default": True})
    assert areas(fresh) == {"Litigation": False, "Sports": False, "Tax": True}


def test_update_a_practice_area(fresh):
    """UpdatePracticeArea: label (string, N), default (boolean, N); a value not provided leaves the current one."""
    path = f"practice-areas/{fresh.id('21')}"
    assert fresh.done("PUT", path, {"label": "Disputes"})["default"] is True
    assert fresh.done("PUT", path, {"label": None, "default": None})["label"] == "Disputes"
    assert fresh.done("PUT", path, {"default": False})["default"] is False
    assert fresh.wrong("PUT", path, {"label": ""}) == ["#/label"]
    fresh.refused(404, "PUT", "practice-areas/c1", {})


def test_update_a_user(fresh):
    """PUT /v2/users/{id}: one property, customFields; the response includes the user's customFields."""
    user = fresh.done("PUT", "users/b2", {"customFields": [{"id": "cf-bar", "value": "CA 7"}]})
    assert user["name"] == "Ben Pine"
    assert user["customFields"] == [{"id": "cf-bar", "name": "Bar number", "valueType": "text", "value": "CA 7"}]
    assert fresh.done("PUT", "users/b1", {})["customFields"][0]["value"] == "NY 12"
    assert fresh.done("PUT", "users/b1", {"customFields": [{"id": "cf-bar", "value": None}]})["customFields"] == []
    assert fresh.wrong("PUT", "users/b1", {"customFields": [{"id": "cf-bar", "value": 12}]}) == [
        "#/customFields/0/value"
    ]
    fresh.refused(404, "PUT", "users/c1", {})


def test_delete_a_practice_area(fresh):
    """The description has no such operation; it is refused while a matter has the practice area."""
    fresh.refused(409, "DELETE", f"practice-areas/{fresh.id('21')}")
    area = fresh.done("POST", "practice-areas", {"label": "Sports"})
    assert fresh.done("DELETE", f"practice-areas/{area['practiceAreaId']}") is None
    assert "Sports" not in areas(fresh)
    fresh.refused(404, "DELETE", f"practice-areas/{area['practiceAreaId']}")
