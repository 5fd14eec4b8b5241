"""The credentials of a bucket are in no pickle, repr, message or traceback, and a repr sends no request."""

from __future__ import annotations

import pickle
import subprocess
import sys
import traceback

import pytest

import billframes as bf
from billframes import mirror
from billframes.config.secret import Secret
from billframes.mirror.bucket import BucketOptions
from billframes.mirror.storage import Storage

KEY, SECRET, SESSION = "AKIAEXAMPLE7", "wJalrXUtnFEMI/K7MDENG", "FwoGZXIvYXdz"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "aws_session_token": SESSION}


# Refuses each request, and repeats the key as real object stores do. It is another process, because a call of deltalake
# keeps the threads of this one waiting.
STORE = """
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Refusing(BaseHTTPRequestHandler):
    def do_GET(self):
        print(self.path, file=sys.stderr, flush=True)
        key = self.headers.get("Authorization", "").partition("Credential=")[2].partition("/")[0]
        text = f"<Error><Code>InvalidAccessKeyId</Code><AWSAccessKeyId>{key}</AWSAccessKeyId></Error>".encode()
        self.send_response(403)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass

server = HTTPServer(("127.0.0.1", 0), Refusing)
print(server.server_port, flush=True)
server.serve_forever()
"""


@pytest.fixture
def store(tmp_path):
    """The port of an object store that refuses every key, and the file of its requests."""
    log = tmp_path / "requests"
    with (
        log.open("w") as written,
        subprocess.Popen([sys.executable, "-c", STORE], stdout=subprocess.PIPE, stderr=written, text=True) as server,
    ):
        yield int(server.stdout.readline()), log
        server.terminate()


@pytest.fixture
def m(store):
    address = f"http://127.0.0.1:{store[0]}"
    options = {"AWS_ENDPOINT_URL": address, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1", **CREDENTIALS}
    return mirror("s3://firm/mirror", storage_options=options)


def assert_no_credential(text):
    for each in (KEY, SECRET, SESSION):
        assert each not in str(text)


def test_a_pickle_has_no_credential_and_its_copy_says_so(m, monkeypatch):
    data = pickle.dumps(m)
    assert_no_credential(data)
    for again in (pickle.loads(data), pickle.loads(pickle.dumps(pickle.loads(data)))):
        assert again.path == m.path
        with pytest.raises(
            bf.errors.MirrorError, match=r"a pickle has no credentials \(AWS_ACCESS_KEY_ID, AWS_SECRET_ACC"
        ):
            again.clients()
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name.upper(), value)
    assert again._storage.options.reveal()["AWS_REGION"] == "us-east-1"


@pytest.mark.slow
def test_a_pickle_of_a_folders_mirror_reads_as_before(refreshed):
    again = pickle.loads(pickle.dumps(refreshed))
    assert again.clients().equals(refreshed.clients())


def test_a_repr_sends_no_request_and_shows_no_credential(m, store, refreshed):
    assert repr(m) == "<billframes mirror s3://firm/mirror>"
    assert store[1].read_text() == ""
    assert_no_credential([m, vars(m), vars(m._storage), m._storage.options, m._item_codes])
    assert repr(mirror(refreshed.path)) == f"<billframes mirror {refreshed.path}>"
    refreshed.clients()
    assert repr(refreshed).startswith(f"<billframes mirror {refreshed.path}, version 1 of 2026-10-31 ")


def test_errors_and_their_tracebacks_show_no_credential(m, store):
    with pytest.raises(bf.errors.MirrorError) as caught:
        m.clients()
    assert "/firm" in store[1].read_text()
    assert "***" in str(caught.value)
    # The frames of the test hold no credential, so all frames can be looked at.
    lines = traceback.TracebackException.from_exception(caught.value, capture_locals=True).format()
    assert_no_credential("".join(lines))


def test_a_message_of_the_object_store_shows_no_key_of_the_environment(monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    storage = Storage("s3://firm/mirror")
    with (
        pytest.raises(bf.errors.MirrorError, match=r"can't be used: signature \*\*\* differs"),
        storage.as_mirror_errors(),
    ):
        raise OSError(f"signature {SECRET} differs")
    error = OSError(5, f"key {SECRET} refused")
    with pytest.raises(bf.errors.MirrorError) as caught, storage.as_mirror_errors():
        raise error
    assert_no_credential([caught.value, error, repr(error)])


@pytest.mark.parametrize("given", [{"AWS_SECRET_ACCESS_KEY": 7}, {7: SECRET}, SECRET, [("AWS_REGION", SECRET)]])
def test_options_that_are_not_texts_are_refused_without_showing_them(given):
    with pytest.raises(bf.errors.ParameterError, match="storage_options= takes a mapping") as caught:
        BucketOptions(given)
    assert SECRET not in str(caught.value)


def test_only_options_that_hold_no_credential_are_shown():
    options = {"region": "eu-west-1", "AWS_ENDPOINT_URL": "https://user:pass@store.example", "some_new_key": "x" * 9}
    shown = BucketOptions(options)
    assert repr(shown) == "{'region': 'eu-west-1', 'AWS_ENDPOINT_URL': Secret(***), 'some_new_key': Secret(***)}"
    assert shown.reveal() == options
    assert BucketOptions({"AWS_TOKEN": Secret("abc")}).reveal() == {"AWS_TOKEN": "abc"}
