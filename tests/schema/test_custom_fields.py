"""Custom fields keep their columns, whatever fields are added."""

from __future__ import annotations

import warnings

import pandas as pd
import pytest

import billframes as bf
from tests.conftest import paged


def definition(id_, name, entity="client"):
    return {"id": id_, "entity": entity, "name": name, "valueType": "text"}


def client_record(**values):
    fields = [{"id": id_, "name": id_, "valueType": "text", "value": value} for id_, value in values.items()]
    return {"clientId": "c1", "name": "Acme", "customFields": fields}


@pytest.fixture
def serve(fake):
    def serving(*definitions, **values):
        fake.answers["/v2/custom-fields"] = {"data": list(definitions)}
        fake.answers["/v2/clients"] = paged([client_record(**values)])

    return serving


COURT, SHOUTED = definition("f1", "Court"), definition("f2", "COURT")


def test_the_field_defined_first_keeps_its_column_and_the_other_has_its_id(serve, connect):
    serve(COURT, SHOUTED, f1="Leeds", f2="York")
    with pytest.warns(bf.errors.UnknownValueWarning, match="cf_court, so the values of 'COURT' are in cf_court_f2"):
        frame = connect().clients(select="customFields")
    assert frame.loc[0, ["cf_court", "cf_court_f2"]].tolist() == ["Leeds", "York"]
    assert frame.attrs["custom_fields"]["cf_court"]["id"] == "f1"


def test_a_client_warns_once_of_a_column_that_is_taken(serve, connect):
    serve(COURT, SHOUTED)
    client = connect()
    with pytest.warns(bf.errors.UnknownValueWarning):
        client.clients(select="customFields")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert client.clients(select="customFields")["cf_court_f2"].isna().all()


def test_a_name_that_is_another_fields_name_with_an_id_is_told_apart(serve, connect):
    serve(definition("f2", "Court"), definition("f1", "Court f3"), definition("f3", "court"))
    with pytest.warns(bf.errors.UnknownValueWarning, match="cf_court_f3_f3"):
        frame = connect().clients(select="customFields")
    assert list(frame.filter(like="cf_")) == ["cf_court", "cf_court_f3", "cf_court_f3_f3"]


def test_a_record_has_the_names_of_the_columns_once_the_definitions_were_read(serve, fake, connect):
    serve(COURT, SHOUTED)
    record = client_record(f2="York")
    record["customFields"][0]["name"] = "COURT"
    fake.answers["/v2/clients/c1"] = {
        "data": {**record, "contact": {}, "meta": {"createdAt": "2026-10-01T00:00Z", "modifiedAt": "2026-10-01T00:00Z"}}
    }
    client = connect()
    assert client.clients.get("c1").cf_court == "York"
    with pytest.warns(bf.errors.UnknownValueWarning):
        client.clients(select="customFields")
    assert client.clients.get("c1").cf_court_f2 == "York"
    assert not hasattr(client.clients.get("c1"), "cf_court")


def test_the_columns_do_not_depend_on_the_values(serve, connect):
    serve(COURT, SHOUTED)
    with pytest.warns(bf.errors.UnknownValueWarning):
        frame = connect().clients(select="customFields")
    assert frame["cf_court"].dtype == frame["cf_court_f2"].dtype == pd.StringDtype(na_value=float("nan"))


@pytest.mark.parametrize("shown", ["Label 129", None])
def test_a_field_may_have_more_options_than_a_byte_numbers(serve, fake, connect, shown):
    """If only the id of the option is sent, its label is the value."""
    options = [{"optionId": f"o{i}", "label": f"Label {i}"} for i in range(130)]
    serve(COURT | {"valueType": "enum", "options": options})
    values = [{"id": "f1", "name": "Court", "valueType": "enum", "value": shown, "optionId": "o129"}]
    fake.answers["/v2/clients"] = paged([{"clientId": "c1", "name": "Acme", "customFields": values}])
    column = connect().clients(select="customFields")["cf_court"]
    assert (column.tolist(), len(column.cat.categories)) == (["Label 129"], 130)
