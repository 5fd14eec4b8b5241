"""For servers with other `select` names, a load finds the other name, remembers it, and returns the same frame."""

from __future__ import annotations

import functools
import json
import pickle
import warnings

import httpx
import pytest

import billframes as bf
import billframes.client
from billframes.config import profiles
from billframes.sandbox import Sandbox, Trouble
from tests.conftest import entry, paged
from tests.frames import assert_frame_equal
from tests.schema.test_decode import matter

KINDS = ["strict", "lenient", "dropping"]
LOADERS = ["matters", "time_entries", "expenses", "fixed_fees"]
OTHERS = {"matters": ("client",), **dict.fromkeys(LOADERS[1:], ("invoice",))}


@pytest.fixture(scope="module", params=KINDS)
def other_sandbox(request):
    """Return a sandbox with other names, of each kind."""
    with Sandbox(trouble=Trouble(other_names=request.param)) as sandbox:
        yield sandbox


@pytest.fixture
def other_client(other_sandbox):
    with bf.Client(other_sandbox.base_url, other_sandbox.tokens["full"]) as client:
        yield client


def loaded(client, name):
    return getattr(client, name)(*([] if name == "matters" else ["2026-08"]))


@pytest.mark.parametrize("name", LOADERS)
def test_frame_and_proof_are_those_of_the_described_server(client, other_client, name):
    plain, frame = loaded(client, name), loaded(other_client, name)
    assert_frame_equal(frame, plain)
    assert frame.attrs["load"]["proof"] == plain.attrs["load"]["proof"] == "snapshot"
    assert other_client.select_names == {name: OTHERS[name]}


def test_the_alternate_name_is_tried_once(other_client):
    first, second = (other_client.matters().attrs["load"]["requests"] for _ in range(2))
    assert (first, second) == (2, 1)
    with bf.Client(other_client.base_url, "sandbox-full", select_names={"matters": "client"}) as told:
        assert told.matters().attrs["load"]["requests"] == 1


def test_the_callers_names_are_translated_for_the_server(other_client, client):
    for select in ("matter", "responsible,matter", "meta", ""):
        frame = other_client.matters(select=select, limit=50)
        assert_frame_equal(frame, client.matters(select=select, limit=50))
    frame = other_client.time_entries("2026-08", select="meta", billed=True)
    assert_frame_equal(frame, client.time_entries("2026-08", select="meta", billed=True))


def test_the_servers_own_names_can_be_given(other_client):
    """They are not in the API's description, and are sent unchanged."""
    assert other_client.matters(select="client", limit=5)["client_name"].notna().all()
    assert other_client.expenses("2026-08", select="invoice", billed=True)["invoice_number"].notna().all()


def test_an_excluded_detail_is_not_requested_by_its_alternate_name(other_client):
    with pytest.warns(bf.errors.DetailsMissingWarning, match="client"):
        frame = other_client.matters(select=["meta", "-client"], limit=5)
    assert frame["client_name"].isna().all()
    assert dict(other_client.select_names) == {}


def test_check_finds_the_names_and_the_client_remembers_them(other_client):
    contact = other_client.check()
    finding = contact["select names"]
    assert finding.holds is False
    assert finding.found == (
        "other names than in the API's description: "
        "invoice of expenses; invoice of fixed fees; client of matters; invoice of time entries"
    )
    assert contact.requests == 18
    assert other_client.select_names == OTHERS
    assert other_client.check().requests == 14
    assert pickle.loads(pickle.dumps(other_client)).select_names == OTHERS


def test_check_stores_the_names_in_the_profile_if_requested(other_sandbox, tmp_path, monkeypatch):
    path = tmp_path / "config.toml"
    path.write_text(f'# mine\n[profiles.firm]\nbase_url = "{other_sandbox.base_url}"\n', encoding="utf-8")
    path.chmod(0o600)
    for module in (profiles, billframes.client):
        monkeypatch.setattr(module, "config_file", lambda: path)
    with bf.Client(token="sandbox-full", profile="firm") as client:
        client.check()
        assert "select_names" not in path.read_text(encoding="utf-8")
        client.check(remember=True)
        client.check(remember=True)
    assert path.read_text(encoding="utf-8").startswith("# mine\n")
    assert path.read_text(encoding="utf-8").count("select_names") == 1
    with bf.Client(token="sandbox-full", profile="firm") as client:
        assert client.select_names == OTHERS
        assert client.matters().attrs["load"]["requests"] == 1


def test_without_a_profile_names_can_not_be_stored(client):
    with pytest.raises(bf.errors.ConfigError, match="no profile"):
        client.check(remember=True)


def test_the_described_server_gets_no_additional_requests(client):
    assert [loaded(client, name).attrs["load"]["requests"] for name in LOADERS] == [1, 1, 1, 1]
    assert dict(client.select_names) == {}


@pytest.mark.parametrize("wrong", [{"matters": "matter"}, {"matter": "client"}, {"invoices": ["client"]}, "client"])
def test_wrong_names_are_refused_at_once(wrong):
    with pytest.raises(bf.errors.ParameterError, match="select_names"):
        bf.Client("https://billing.test", "t0ken", select_names=wrong)


def billed(number=1, **changes):
    return entry(number, billed=True, invoiceId="i1", **changes)


def test_a_detail_that_is_never_sent_gives_a_warning_and_is_tried_once(fake, connect):
    """On a lenient server without invoices, the alternate is tried once, and then rejected."""
    fake.answers["/v2/time-entries"] = paged([billed()])
    client = connect()
    for _ in range(2):
        with pytest.warns(bf.errors.DetailsMissingWarning, match="every row: invoice"):
            client.time_entries(select="")
    assert [request.url.params.get("select") for request in fake.requests] == [None, "invoice", None, None]


def test_after_a_refused_alternate_the_described_names_are_used(fake, connect):
    def serve(request):
        if "invoice" in request.url.params.get("select", ""):
            return httpx.Response(400, json={"detail": "No such name."})
        return paged([billed()])(request)

    fake.answers["/v2/time-entries"] = serve
    with pytest.warns(bf.errors.DetailsMissingWarning, match="invoice"):
        frame = connect().time_entries(select="")
    assert frame["invoice_id"].tolist() == ["i1"]
    assert (frame.attrs["load"]["requests"], frame.attrs["load"]["proof"]) == (3, "snapshot")


def test_a_refusal_for_another_reason_is_raised_unchanged(fake, connect):
    answers = [httpx.Response(400, json={"detail": "Bad archived."}), httpx.Response(400, json={"detail": "Other."})]
    fake.answers["/v2/matters"] = lambda _request: answers.pop(0)
    client = connect()
    with pytest.raises(bf.errors.RefusedError, match="Bad archived"):
        client.matters(select="matter")
    assert answers == []
    assert dict(client.select_names) == {}
    fake.answers["/v2/matters"] = paged([matter()])
    assert client.matters(select="matter")["client_name"].tolist() == ["Acme"]


def test_a_missing_invoice_on_a_later_page_is_noticed(fake, connect):
    """The first page shows nothing, because its entries are on no invoice."""
    rows = [entry(number, date=f"2026-09-{number:02}") for number in range(1, 20)]
    rows += [billed(number, date=f"2026-09-{number:02}") for number in range(20, 30)]
    invoice = {"invoiceNumber": "I-1", "invoiceDate": "2026-09-30", "invoiceState": "final"}

    def serve(request):
        named = "invoice" in request.url.params.get("select", "")
        return paged([{**row, "invoice": invoice} if named and "invoiceId" in row else row for row in rows])(request)

    fake.answers["/v2/time-entries"] = serve
    frame = connect(page_size=10).time_entries(select="")
    assert frame["invoice_number"].notna().sum() == 10
    assert len(frame) == 29


def test_an_ignored_select_is_noticed_if_the_client_is_always_sent(fake, connect):
    """The client is always sent, so only the other details show it."""
    meta = {"createdAt": "2026-10-01T00:00:00Z", "modifiedAt": "2026-10-02T00:00:00Z"}

    def serve(request):
        names = request.url.params.get("select", "").split(",")
        return paged([matter(**({} if "matter" in names else {"meta": meta}))])(request)

    fake.answers["/v2/matters"] = serve
    frame = connect().matters(select="matter,meta")
    assert frame["modified_at"].notna().all()


@pytest.fixture(scope="module")
def figures(client):
    """Cache September's figures of the described server."""
    return functools.cache(functools.partial(figures_of, bf.book("2026-09", client=client)))


@pytest.fixture(scope="module")
def other_book(other_sandbox):
    """Return the book of September of the other server, whose frames are loaded once for all tests."""
    with bf.Client(other_sandbox.base_url, other_sandbox.tokens["full"]) as other_client:
        yield bf.book("2026-09", client=other_client)


def figures_of(book, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bf.errors.IncompleteDataWarning)
        return getattr(book, name)()


@pytest.mark.slow
@pytest.mark.sweep
@pytest.mark.parametrize("name", ["realization", "utilization", "aging", "wip", "contribution", "reconcile"])
def test_a_book_has_the_same_figures(other_book, figures, name):
    assert_frame_equal(figures_of(other_book, name), figures(name))


@pytest.mark.filterwarnings("ignore::billframes.errors.DetailsMissingWarning")
def test_a_server_without_metadata_has_no_other_names(fake, connect):
    """The metadata are never sent, so the alternate is rejected, although the client is sent with it."""
    fake.answers["/v2/matters"] = paged([matter()])
    client = connect()
    for _ in range(2):
        client.matters(select="matter,meta")
    assert [request.url.params["select"] for request in fake.requests] == [
        "matter,meta",
        "meta,client",
        "matter,meta",
        "matter,meta",
    ]
    assert dict(client.select_names) == {}


def test_profile_names_are_plain_toml(tmp_path):
    from billframes.config.profiles import save_select_names

    path = tmp_path / "config.toml"
    path.write_text("profiles = { firm = { base_url = 'https://billing.test' } }\n", encoding="utf-8")
    with pytest.raises(bf.errors.ConfigError, match="by hand") as raised:
        save_select_names(path, "firm", {"matters": ("client",)})
    assert f"[profiles.{json.dumps('firm')}.select_names]" in str(raised.value)
    assert "select_names" not in path.read_text(encoding="utf-8")
