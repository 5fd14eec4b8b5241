"""Each operation of the API has a call, here to the sandbox over HTTP."""

from __future__ import annotations

import httpx
import pytest

import billframes as bf


class RecordingTransport(httpx.HTTPTransport):
    """Sends requests, and records them."""

    def __init__(self):
        super().__init__()
        self.sent = []

    def handle_request(self, request):
        self.sent.append((request.method, request.url.path))
        return super().handle_request(request)


@pytest.fixture(scope="module")
def recording():
    return RecordingTransport()


@pytest.fixture(scope="module")
def own(recording):
    """Return a client of a sandbox that these tests may change."""
    from billframes.sandbox import Sandbox

    with (
        Sandbox() as sandbox,
        bf.Client(
            sandbox.base_url, sandbox.tokens["full"], health_path=sandbox.health_path, transport=recording
        ) as client,
    ):
        yield client


@pytest.mark.parametrize(
    ("call", "path"),
    [
        ("clients", "/v2/clients"),
        ("codes", "/v2/codes"),
        ("code_sets", "/v2/codes"),
        ("custom_fields", "/v2/custom-fields"),
        ("expenses", "/v2/expenses"),
        ("fixed_fees", "/v2/fixed-fees"),
        ("health", "/v2/health"),
        ("invoices", "/v2/invoices"),
        ("matters", "/v2/matters"),
        ("practice_areas", "/v2/practice-areas"),
        ("time_entries", "/v2/time-entries"),
        ("users", "/v2/users"),
    ],
)
def test_a_list_is_read(own, recording, call, path):
    recording.sent.clear()
    frame = getattr(own, call)()
    assert len(frame)
    assert ("GET", path) in recording.sent


def test_a_clients_balances_are_read(own, recording):
    client = own.clients(limit=1)["client_id"].item()
    assert own.client_balances(client)["client_id"].tolist() == [client]
    assert recording.sent[-1] == ("GET", f"/v2/clients/{client}/balances")


def test_a_client_and_a_matter_are_created_read_changed_and_deleted(own, recording):
    user = own.users(role="attorney")["user_id"].iloc[0]
    client = own.clients.create(name="Bolt & Co", contact={"company_name": "Bolt & Co"})
    matter = own.matters.create(name="Bolt v. Nut", client_id=client.client_id, responsible_id=user, archived=False)
    assert own.clients.get(client.client_id) == client
    assert own.matters.get(matter.matter_id).client.name == "Bolt & Co"
    assert own.matters.update(matter.matter_id, notes="Settled").notes == "Settled"
    assert own.clients.update(client.client_id, notes=None).notes is None
    with pytest.raises(bf.errors.RefusedError):
        own.clients.delete(client.client_id)
    own.matters.delete(matter.matter_id)
    own.clients.delete(client.client_id)
    for loader, record in [(own.clients, client.client_id), (own.matters, matter.matter_id)]:
        with pytest.raises(bf.errors.NotFoundError):
            loader.get(record)
    sent = {f"{method} {path.rpartition('/')[0]}" for method, path in recording.sent if path.count("/") == 3}
    assert {f"{verb} /v2/{name}" for verb in ("GET", "PUT", "DELETE") for name in ("clients", "matters")} <= sent


def test_a_practice_area_is_created_changed_and_deleted(own, recording):
    """The API's description shows no path for this; the list's path is assumed."""
    made = own.practice_areas.create(label="Space law")
    assert (made.label, made.default) == ("Space law", False)
    assert own.practice_areas.update(made.practice_area_id, label="Law of space").label == "Law of space"
    areas = own.practice_areas().set_index("practice_area_id")["label"]
    assert areas[made.practice_area_id] == "Law of space"
    own.practice_areas.delete(made.practice_area_id)
    assert made.practice_area_id not in own.practice_areas()["practice_area_id"].tolist()
    with pytest.raises(bf.errors.NotFoundError):
        own.practice_areas.update(made.practice_area_id, default=True)
    with pytest.raises(bf.errors.RefusedError, match="has matters"):
        own.practice_areas.delete(own.matters()["practice_area_id"].dropna().iloc[0])
    sent = [(method, path.count("/")) for method, path in recording.sent if path.startswith("/v2/practice-areas")]
    assert {("POST", 2), ("PUT", 3), ("DELETE", 3)} <= set(sent)
