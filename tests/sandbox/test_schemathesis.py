"""Schemathesis on the OpenAPI document: responses to valid and wrong calls are as it declares."""

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings, strategies as st
from schemathesis import GenerationMode
from schemathesis.specs.openapi import checks

from billframes.sandbox.app import WRITES
from tests.examples import example_count

CHECKS = [
    checks.allow_header_conformance,
    checks.content_type_conformance,
    checks.ignored_auth,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.status_code_conformance,
    schemathesis.checks.not_a_server_error,
]
# Existing ids, for half of the calls: a call with a made-up id only gets 404 or 400.
KNOWN = {
    "clientId": ["c1", "c3"],
    "fixedFeeId": ["f2"],
    "matterId": ["a1", "a2"],
    "originatorId": ["b3"],
    "practiceAreaId": ["21"],
    "responsibleId": ["b1", "b2"],
    "userId": ["b1", "b2"],
}
TARGETS = {
    "clients": ["c1", "c3"],
    "matters": ["a1", "a2"],
    "expenses": ["d1", "d3"],
    "fixed-fees": ["f1", "f2"],
    "time-entries": ["e1", "e2"],
    "users": ["b1"],
    "practice-areas": ["21"],
}
LABELS = sorted(
    {f"{each.method} {each.path}" for each in WRITES}
    | {f"GET /v2/{name}" for name in (*TARGETS, "codes", "custom-fields", "health", "invoices")}
    | {f"GET /v2/{name}/{{id}}" for name in ("clients", "expenses", "fixed-fees", "matters", "time-entries")}
    | {"GET /v2/clients/{id}/balances"}
)


@pytest.fixture(scope="module")
def operations(writable_api):
    schema = schemathesis.openapi.from_url(writable_api.sandbox.base_url + "/schema/openapi.json")
    return {found.label: found for each in schema.get_all_operations() if (found := each.ok())}


def test_every_operation_is_tried(operations):
    """The document's operations are those listed here."""
    assert sorted(operations) == LABELS


@pytest.mark.slow
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["good", "bad"])
@pytest.mark.parametrize("label", LABELS)
def test_operation(fresh_api, operations, label, mode):
    """Responses to calls made from the document are as it declares."""
    operation = operations[label]
    if mode is GenerationMode.NEGATIVE and label in {"GET /v2/codes", "GET /v2/health", "GET /v2/practice-areas"}:
        pytest.skip("takes nothing that could be wrong")

    @settings(
        max_examples=example_count(6),
        deadline=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode), data=st.data())
    def try_it(case, data):
        if data.draw(st.booleans()):
            use_known(fresh_api, label, case, data)
        with requests.Session() as session:
            answer = case.call(session=session, headers={"Authorization": "Bearer sandbox-full"})
        case.validate_response(answer, checks=CHECKS, headers={"Authorization": "Bearer sandbox-full"})

    try_it()


def use_known(fresh_api, label, case, data):
    """Put ids of the firm into a call."""
    if "{id}" in label:
        case.path_parameters["id"] = fresh_api.id(data.draw(st.sampled_from(TARGETS[label.split("/")[2]])))
    if isinstance(case.body, dict):
        # Always in the same order, so that the examples are the same.
        for name in [name for name in KNOWN if name in case.body]:
            case.body[name] = fresh_api.id(data.draw(st.sampled_from(KNOWN[name])))
        for name in ("activityCode", "taskCode", "expenseCode", "customFields"):
            case.body.pop(name, None)
