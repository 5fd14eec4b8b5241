"""Servers whose `select` names differ: a load finds the other name, remembers it, and gives the same frame."""

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
def other(request):
    """A sandbox with the other names, of each kind."""
    with Sandbox(trouble=Trouble(other_names=request.param)) as sandbox:
        yield sandbox


@pytest.fixture
def stranger(other):
    with bf.Client(other.base_url, other.tokens["full"]) as client:
        yield client


def loaded(client, name):
    return getattr(client, name)(*([] if name == "matters" else ["2026-08"]))


@pytest.mark.parametrize("name", LOADERS)
def test_the_frame_is_that_of_the_described_server_at_the_same_proof(client, stranger, name):
    plain, frame = loaded(client, name), loaded(stranger, name)
    assert_frame_equal(frame, plain)
    assert frame.attrs["load"]["proof"] == plain.attrs["load"]["proof"] == "snapshot"
    assert stranger.select_names == {name: OTHERS[name]}


def test_the_other_name_is_asked_for_once(stranger):
    first, second = (stranger.matters().attrs["load"]["requests"] for _ in range(2))
    assert (first, second) == (2, 1)
    with bf.Client(stranger.base_url, "sandbox-full", select_names={"matters": "client"}) as told:
        assert told.matters().attrs["load"]["requests"] == 1


def test_names_given_by_the_caller_are_put_in_the_servers_words(stranger, client):
    for select in ("matter", "responsible,matter", "meta", ""):
        frame = stranger.matters(select=select, limit=50)
        assert_frame_equal(frame, client.matters(select=select, limit=50))
    frame = stranger.time_entries("2026-08", select="meta", billed=True)
    assert_frame_equal(frame, client.time_entries("2026-08", select="meta", billed=True))


def test_the_other_servers_own_names_can_be_given(stranger):
    """They are in no description, and are passed on."""
    assert stranger.matters(select="client", limit=5)["client_name"].notna().all()
    assert stranger.expenses("2026-08", select="invoice", billed=True)["invoice_number"].notna().all()


def test_what_is_taken_away_by_name_is_not_asked_for(stranger):
    with pytest.warns(bf.DetailsMissingWarning, match="client"):
        frame = stranger.matters(select=["meta", "-client"], limit=5)
    assert frame["client_name"].isna().all()
    assert dict(stranger.select_names) == {}


def test_check_tells_the_names_and_the_client_remembers_them(stranger):
    contact = stranger.check()
    finding = contact["select names"]
    assert finding.holds is False
    assert finding.found == (
        "other names than in the API's description: "
        "invoice of expenses; invoice of fixed fees; client of matters; invoice of time entries"
    )
    assert contact.requests == 18
    assert stranger.select_names == OTHERS
    assert stranger.check().requests == 14
    assert pickle.loads(pickle.dumps(stranger)).select_names == OTHERS


def test_check_keeps_the_names_in_the_profile_if_asked(other, tmp_path, monkeypatch):
    path = tmp_path / "config.toml"
    path.write_text(f'# mine\n[profiles.firm]\nbase_url = "{other.base_url}"\n', encoding="utf-8")
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


def test_without_a_profile_there_is_nowhere_to_keep_names(client):
    with pytest.raises(bf.ConfigError, match="no profile"):
        client.check(remember=True)


def test_the_described_server_is_asked_no_more_than_before(client):
    assert [loaded(client, name).attrs["load"]["requests"] for name in LOADERS] == [1, 1, 1, 1]
    assert dict(client.select_names) == {}


@pytest.mark.parametrize("wrong", [{"matters": "matter"}, {"matter": "client"}, {"invoices": ["client"]}, "client"])
def test_wrong_names_are_refused_at_once(wrong):
    with pytest.raises(bf.ParameterError, match="select_names"):
        bf.Client("https://billing.test", "t0ken", select_names=wrong)


def billed(number=1, **changes):
    return entry(number, billed=True, invoiceId="i1", **changes)


def test_a_detail_that_no_name_brings_is_warned_about_and_asked_for_once(fake, connect):
    """A lenient server without invoices: the alternate is tried once, and given up for good."""
    fake.answers["/v2/time-entries"] = paged([billed()])
    client = connect()
    for _ in range(2):
        with pytest.warns(bf.DetailsMissingWarning, match="every row: invoice"):
            client.time_entries(select="")
    assert [request.url.params.get("select") for request in fake.requests] == [None, "invoice", None, None]


def test_a_refused_alternate_leaves_the_described_names(fake, connect):
    def serve(request):
        if "invoice" in request.url.params.get("select", ""):
            return httpx.Response(400, json={"detail": "No such name."})
        return paged([billed()])(request)

    fake.answers["/v2/time-entries"] = serve
    with pytest.warns(bf.DetailsMissingWarning, match="invoice"):
        frame = connect().time_entries(select="")
    assert frame["invoice_id"].tolist() == ["i1"]
    assert (frame.attrs["load"]["requests"], frame.attrs["load"]["proof"]) == (3, "snapshot")


def test_a_refusal_for_another_reason_stays_the_servers_own(fake, connect):
    answers = [httpx.Response(400, json={"detail": "Bad archived."}), httpx.Response(400, json={"detail": "Other."})]
    fake.answers["/v2/matters"] = lambda _request: answers.pop(0)
    client = connect()
    with pytest.raises(bf.RefusedError, match="Bad archived"):
        client.matters(select="matter")
    assert answers == []
    assert dict(client.select_names) == {}
    fake.answers["/v2/matters"] = paged([matter()])
    assert client.matters(select="matter")["client_name"].tolist() == ["Acme"]


def test_an_invoice_on_a_later_page_is_found_too(fake, connect):
    """The first page tells nothing: its entries are on no invoice."""
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


def test_a_clause_dropped_where_the_client_always_comes(fake, connect):
    """The client does not show it, so the other details do."""
    meta = {"createdAt": "2026-10-01T00:00:00Z", "modifiedAt": "2026-10-02T00:00:00Z"}

    def serve(request):
        names = request.url.params.get("select", "").split(",")
        return paged([matter(**({} if "matter" in names else {"meta": meta}))])(request)

    fake.answers["/v2/matters"] = serve
    frame = connect().matters(select="matter,meta")
    assert frame["modified_at"].notna().all()


@pytest.fixture(scope="module")
def figures(client):
    """September's figures on the described server, each worked out once."""
    return functools.cache(functools.partial(figures_of, bf.book("2026-09", client=client)))


@pytest.fixture(scope="module")
def stranger_book(other):
    """September on the other server, each frame loaded once for all tests."""
    with bf.Client(other.base_url, other.tokens["full"]) as stranger:
        yield bf.book("2026-09", client=stranger)


def figures_of(book, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bf.IncompleteDataWarning)
        return getattr(book, name)()


@pytest.mark.parametrize("name", ["realization", "utilization", "aging", "wip", "contribution", "reconcile"])
def test_a_book_has_the_same_figures(stranger_book, figures, name):
    assert_frame_equal(figures_of(stranger_book, name), figures(name))


@pytest.mark.filterwarnings("ignore::billframes.DetailsMissingWarning")
def test_a_server_without_metadata_has_no_other_names(fake, connect):
    """No name brings the metadata, so the name that was tried is given up, although the client comes by it too."""
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
    with pytest.raises(bf.ConfigError, match="by hand") as raised:
        save_select_names(path, "firm", {"matters": ("client",)})
    assert f"[profiles.{json.dumps('firm')}.select_names]" in str(raised.value)
    assert "select_names" not in path.read_text(encoding="utf-8")
