"""A book does without users, matters, clients and custom fields that the credential may not read."""

from __future__ import annotations

import warnings

import httpx
import pytest

import billframes as bf

DETAILS = ("/v2/users", "/v2/matters", "/v2/clients", "/v2/custom-fields")


class DenyingServer(httpx.BaseTransport):
    """The sandbox, which denies some paths: its own credentials may read every list."""

    def __init__(self, *paths):
        self.paths, self.inner = paths, httpx.HTTPTransport()

    def handle_request(self, request):
        if request.url.path in self.paths:
            return httpx.Response(403, json={"title": "Forbidden"})
        return self.inner.handle_request(request)

    def close(self):
        self.inner.close()


@pytest.fixture
def denied(sandbox):
    """Return a function that opens a book of a client which may not read some paths."""
    opened = []

    def open_book(*paths):
        client = bf.Client(sandbox.base_url, sandbox.tokens["full"], transport=DenyingServer(*paths))
        opened.append(client)
        return bf.book("2026-09", client=client)

    yield open_book
    for client in opened:
        client.close()


@pytest.mark.slow
def test_a_figure_that_needs_no_users_is_the_same_without_them(denied, client):
    book = denied("/v2/users")
    with pytest.warns(bf.errors.IncompleteDataWarning, match=r"no users, because the server .* \(403\)\. Roles"):
        found = book.billing_lag()
    assert found.equals(bf.book("2026-09", client=client).billing_lag())


@pytest.mark.slow
def test_what_is_missing_is_said_once(denied):
    book = denied("/v2/matters")
    with pytest.warns(bf.errors.IncompleteDataWarning) as caught:
        results = [book.realization(by="client"), book.wip(as_of="2026-10-31"), book.effective_rates()]
    assert [str(each.message)[:28] for each in caught] == ["The book has no matters, bec"]
    assert all(len(each) for each in results)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "call", "error", "words"),
    [
        ("/v2/matters", lambda book: book.new_business(), bf.errors.AccessDeniedError, "new_business needs matters"),
        ("/v2/matters", lambda book: book.write_downs(), bf.errors.MissingColumnError, r"read matters \(403\)"),
        ("/v2/users", lambda book: book.leverage(), bf.errors.MissingColumnError, r"read users \(403\)"),
        ("/v2/users", lambda book: book.utilization(by="role"), bf.errors.MissingColumnError, r"read users \(403\)"),
    ],
)
def test_only_what_needs_a_denied_frame_is_refused(denied, path, call, error, words):
    book = denied(path)
    with pytest.warns(bf.errors.IncompleteDataWarning), pytest.raises(error, match=words):
        call(book)


def test_custom_fields_that_may_not_be_read_have_no_columns(denied, client):
    book = denied("/v2/custom-fields")
    with pytest.warns(bf.errors.IncompleteDataWarning, match="matters without their custom fields"):
        matters = book.matters
    whole = client.matters()
    assert list(matters) == [name for name in whole if not name.startswith("cf_")]
    assert matters["matter_id"].equals(whole["matter_id"])


@pytest.mark.slow
def test_work_that_may_not_be_read_is_an_error(denied):
    with pytest.raises(bf.errors.AccessDeniedError, match="expenses"):
        denied("/v2/expenses").realization()


@pytest.mark.slow
def test_a_book_without_any_details_still_has_its_fees(denied, client):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bf.errors.IncompleteDataWarning)
        found = denied(*DETAILS).contribution(by="client")
    whole = bf.book("2026-09", client=client).contribution(by="client")
    assert found["fees_amount"].tolist() == whole["fees_amount"].tolist()
    assert found["client_name"].tolist() == whole["client_name"].tolist()
