"""Credentials, and the names and narratives of clients, are in no error, log, traceback or pickle.

The servers are real ones on this machine, because frames, logs and headers of real connections could leak credentials.
An error shows its text, all tracebacks that Python and IPython can make of it, its pickle, and the values of the
variables in billframes' frames.
"""

from __future__ import annotations

import contextlib
import copy
import gc
import json
import logging
import pickle
import signal
import ssl
import threading
import time
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import FrameType, FunctionType, ModuleType, TracebackType

import httpx
import pytest
import trustme
from IPython.core.ultratb import VerboseTB

import billframes as bf
from billframes import _session
from billframes.config.profiles import config_file
from billframes.config.secret import Secret
from billframes.transport import http

TOKEN = "t0ken-that-nobody-sees"
KEY = "gateway-key-that-nobody-sees"
NAME = "Privileged Client Inc"
NARRATIVE = "Advice on the secret merger"
COOKIE = "cookie-that-nobody-sees"


class Server(ThreadingHTTPServer):
    """Responds to every request as a test says, and records the requests."""

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer, self.came = answer, []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request, client_address):
        """Say nothing: a client that hangs up is part of the test."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _any(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.came.append((self.path, dict(self.headers)))
        answer = self.server.answer(self)
        if answer is None:
            self.close_connection = True
            return
        status, body, headers = (*answer, {})[:3]
        self.send_response(status)
        for name, value in {"Set-Cookie": f"session={COOKIE}", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_CONNECT = _any  # noqa: N815 - the names that http.server looks for

    def log_message(self, *_args):
        """Say nothing."""


@pytest.fixture
def serve():
    with contextlib.ExitStack() as stack:

        def serving(answer, tls=None):
            server = Server(answer)
            if tls:
                server.socket = tls.wrap_socket(server.socket, server_side=True)
            thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
            thread.start()
            stack.callback(server.server_close)
            stack.callback(server.shutdown)
            return server

        yield serving


@pytest.fixture(autouse=True)
def as_users_have_it(monkeypatch):
    monkeypatch.setattr(http, "backoff", lambda _attempt: 0.0)
    monkeypatch.setattr(_session, "_default", [])


def echo(status):
    """Respond with the received headers, as some servers do."""

    def answer(request):
        message = {"detail": f"No: {request.headers['Authorization']}, {request.headers['x-api-key']}"}
        return status, json.dumps(message).encode(), {"x-request-id": request.headers["x-api-key"]}

    return answer


def interrupt(_request):
    """Interrupt the client while it waits."""
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    time.sleep(0.5)


def of_record(**changes):
    row = {"timeEntryId": "t1", "userId": "u1", "matterId": "m1", "clientId": "c1", "description": NARRATIVE}
    row |= {"date": "2026-10-01", "hours": 1, "billingType": "billable", "billed": False, "client": {"name": NAME}}
    page = {"data": [row | changes], "pagination": {"limit": 1000, "offset": 0, "total": 1}}
    return lambda request: (200, json.dumps(page if "entries" in request.path else {"data": []}).encode())


def seen(error, *, private=(TOKEN, KEY)):
    """Return everything that an error shows, as one text."""
    within = error
    while within is not None:
        within.__traceback__ = _ours(within.__traceback__)
        within = within.__cause__ or within.__context__
    verbose = VerboseTB(theme_name="nocolor", include_vars=True)
    told = traceback.TracebackException.from_exception(error, capture_locals=True)
    return "\n".join(
        [
            str(error) + repr(error) + repr(vars(error)) + repr(pickle.dumps(error)),
            "".join(traceback.format_exception(error)),
            "".join(told.format()),
            verbose.text(type(error), error, error.__traceback__),
            *(text for text in _held(error) if any(each in text for each in private)),
        ]
    )


def _ours(trace):
    """Leave out the frames of the test itself, which have the secret."""
    while trace is not None and not trace.tb_frame.f_globals["__name__"].startswith("billframes"):
        trace = trace.tb_next
    return trace


def _held(error):
    """Return the texts in the variables of billframes' frames, except those in a `Secret`."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    rest = [value for frame in frames for value in frame.f_locals.values()]
    passed_over = (Secret, FrameType, FunctionType, ModuleType, TracebackType, type, threading.Thread)
    known = set()
    while rest:
        each = rest.pop()
        if id(each) in known or isinstance(each, passed_over):
            continue
        known.add(id(each))
        if isinstance(each, str | bytes):
            yield each if isinstance(each, str) else each.decode("latin-1")
        rest += gc.get_referents(each)


def failing(call, kind):
    with pytest.raises(kind) as raised:
        call()
    return raised.value


def nothing_secret_in(text):
    assert text
    for secret in (TOKEN, KEY, COOKIE):
        assert secret not in text


FAULTS = {
    "not accepted, credentials repeated": (echo(401), bf.errors.AuthenticationError),
    "refused, credentials repeated": (echo(422), bf.errors.RefusedError),
    "failing, also after retries": (echo(500), bf.errors.ServerError),
    "pointing elsewhere": (lambda _: (302, b"", {"Location": "http://elsewhere.test/"}), bf.errors.TransportError),
    "hanging up": (lambda _: None, bf.errors.TransportError),
    "silent": (lambda _: time.sleep(0.4), bf.errors.TransportError),
    "no JSON": (lambda _: (200, b"no record"), bf.errors.DecodeError),
    "nested without end": (lambda _: (200, b"[" * 10_000 + b"]" * 10_000), bf.errors.DecodeError),
    "nested without end, and large": (lambda _: (200, b"[" * 200_000 + b"]" * 200_000), bf.errors.DecodeError),
    "not as described": (lambda _: (200, json.dumps({"data": [{"label": NAME}]}).encode()), bf.errors.DecodeError),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failed_load_shows_no_credential(serve, caplog, fault):
    answer, kind = FAULTS[fault]
    server, timeout = serve(answer), 0.2 if fault == "silent" else 30
    with (
        caplog.at_level(logging.DEBUG),
        bf.Client(server.url, TOKEN, headers={"x-api-key": KEY}, retries=1, timeout=timeout) as client,
    ):
        shown = seen(failing(client.practice_areas, kind))
    assert {(headers["Authorization"], headers["x-api-key"]) for _, headers in server.came} == {
        (f"Bearer {TOKEN}", KEY)
    }
    nothing_secret_in(shown + caplog.text)
    assert NAME not in str(shown.splitlines()[0])


def test_an_interrupted_request_shows_no_credential(serve):
    client = bf.Client(serve(interrupt).url, TOKEN, headers={"x-api-key": KEY})
    error = failing(lambda: client._connection.fetch("/v2/clients", resource="clients"), KeyboardInterrupt)
    assert not any("httpcore" in frame.filename for frame in traceback.extract_tb(error.__traceback__))
    nothing_secret_in(seen(error))


def test_an_error_of_python_itself_shows_no_credential(serve, monkeypatch):
    """After any error while a response is checked, such as a lack of memory, no frame has the request."""

    def fail(_body):
        raise MemoryError

    monkeypatch.setattr(http, "json_flaw", fail)
    client = bf.Client(serve(lambda _: (200, b"{}")).url, TOKEN, headers={"x-api-key": KEY})
    nothing_secret_in(seen(failing(client.practice_areas, MemoryError)))


def test_a_write_with_an_endlessly_nested_response_shows_no_credential(serve):
    server = serve(lambda _: (200, b"[" * 10_000 + b"]" * 10_000))
    client = bf.Client(server.url, TOKEN, headers={"x-api-key": KEY})
    error = failing(
        lambda: client._connection.send("POST", "/v2/clients", b"{}", resource="clients"), bf.errors.UncertainWriteError
    )
    nothing_secret_in(seen(error))


def test_a_failed_write_shows_no_credential(serve):
    client = bf.Client(serve(echo(500)).url, TOKEN, headers={"x-api-key": KEY})
    error = failing(
        lambda: client._connection.send("POST", "/v2/clients", b"{}", resource="clients"), bf.errors.UncertainWriteError
    )
    assert "No: Bearer ***, ***" in str(error)
    nothing_secret_in(seen(error))


def test_a_connection_that_fails_shows_no_credential():
    client = bf.Client("http://127.0.0.1:1", TOKEN, headers={"x-api-key": KEY}, retries=0)
    nothing_secret_in(seen(failing(client.practice_areas, bf.errors.TransportError)))


def test_a_header_that_an_auth_object_spoils_is_not_quoted(serve):
    class Spoiling(httpx.Auth):
        def auth_flow(self, request):
            request.headers["x-signed"] = f"{KEY}\n"
            yield request

    client = bf.Client(serve(echo(200)).url, auth=Spoiling(), retries=0)
    error = failing(client.practice_areas, bf.errors.TransportError)
    assert "LocalProtocolError" in str(error)
    assert KEY not in str(error)


def test_an_auth_object_gets_its_headers_too_and_is_not_pickled(serve):
    server = serve(lambda _: (200, b'{"data": []}'))
    client = bf.Client(server.url, auth=httpx.BasicAuth("ann", TOKEN), headers={"x-api-key": KEY, "Accept": "a/b"})
    client.practice_areas()
    headers = server.came[0][1]
    assert headers["Authorization"].startswith("Basic ")
    assert (headers["x-api-key"], headers["Accept"]) == (KEY, "a/b")
    nothing_secret_in(repr(pickle.dumps(client)) + repr(vars(client)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"base_url": "http://billing.example.com"},
        {"base_url": "nowhere"},
        {"profile": "unknown"},
        {"token": TOKEN + "\n-"},
        {"headers": {"x-api-key": KEY + "\n-"}},
        {"headers": [("x-api-key", KEY)]},
        {"retries": -1},
        {"page_size": "many"},
        {"verify": "/no/such/file"},
    ],
)
@pytest.mark.parametrize("connecting", [bf.connect, bf.Client])
def test_a_connection_that_is_refused_shows_no_credential(connecting, wrong):
    config_file().parent.mkdir(parents=True, exist_ok=True)
    config_file().touch(mode=0o600)
    config_file().write_text(f'[profiles.firm]\ntoken = "{TOKEN}"\nheaders = {{x-api-key = "{KEY}"}}')
    arguments = {"base_url": "https://x.test", "token": TOKEN, "headers": {"x-api-key": KEY}, **wrong}
    try:
        nothing_secret_in(seen(failing(lambda: connecting(**arguments), bf.errors.BillframesError)))
    finally:
        config_file().unlink()


def test_a_client_and_what_it_loads_carry_no_credential(sandbox):
    with bf.Client(sandbox.base_url, sandbox.tokens["full"], headers={"x-api-key": KEY}) as client:
        entries = client.time_entries("2026-10", limit=2)
        record = client.time_entries.get(entries.loc[0, "time_entry_id"])
        shown = [f"{each!r} {each} {vars(each)!r}" for each in (client, client._connection, client.time_entries)]
        shown += [repr(pickle.dumps(each)) for each in (client, entries, record)]
        shown += [repr(client.options) + repr(client.sources) + repr(entries.attrs), copy.copy(client).base_url]
    for secret in (sandbox.tokens["full"], KEY):
        assert secret not in "".join(shown)


def test_an_unpickled_client_finds_its_credentials_in_the_profile(serve):
    server = serve(lambda _: (200, b'{"data": []}'))
    config_file().parent.mkdir(parents=True, exist_ok=True)
    config_file().touch(mode=0o600)
    profile = f'[profiles.firm]\nbase_url = "{server.url}"\ntoken = "{TOKEN}"\nheaders = {{x-api-key = "{KEY}"}}'
    config_file().write_text(profile)
    try:
        pickle.loads(pickle.dumps(bf.Client(profile="firm"))).practice_areas()
    finally:
        config_file().unlink()
    assert server.came[0][1]["Authorization"] == f"Bearer {TOKEN}"
    assert server.came[0][1]["x-api-key"] == KEY


def test_logs_show_requests_without_query_or_headers(serve, caplog):
    server = serve(lambda request: (200, b'{"data": []}'))
    with caplog.at_level(logging.DEBUG), bf.Client(server.url, TOKEN, headers={"x-api-key": KEY}) as client:
        client.clients(NAME, params={"note": NARRATIVE})
        assert any("Privileged" in path for path, _ in server.came)
        httpx.get(server.url, params={"of": "another"})
    nothing_secret_in(
        "\n".join(line for line in caplog.text.splitlines() if "Set-Cookie" not in line or "billframes" in line)
    )
    assert "Privileged" not in caplog.text
    assert "merger" not in caplog.text
    assert "GET /v2/clients: 200 in" in caplog.text
    # Requests that other code sends with httpx are logged as usual.
    assert "of=another" in caplog.text


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"date": NAME}, r"record t1 breaks the API's description at \$\.data\[0\]\.date"),
        ({"time": NAME}, r"record t1 breaks .* at \$\.data\[0\]\.time: the value is not a time"),
        ({"hours": NARRATIVE}, r"record t1 breaks .* at \$\.data\[0\]\.hours"),
        ({"matterId": None}, r"record t1 breaks .* at \$\.data\[0\]\.matterId"),
        ({"date": "2025-01-01"}, "startDate"),
    ],
)
def test_an_error_names_id_and_path_but_not_the_value(serve, wrong, message):
    client = bf.Client(serve(of_record(**wrong)).url, TOKEN)
    error = failing(lambda: client.time_entries("2026-10", select="client"), bf.errors.DecodeError)
    told = "".join(traceback.format_exception(error))
    assert NAME not in told
    assert NARRATIVE not in told
    with pytest.raises(bf.errors.DecodeError, match=message):
        raise error


def test_a_custom_fields_value_of_another_type_is_not_quoted(serve):
    field = {"customFieldId": "f1", "id": "f1", "name": "Since", "valueType": "date", "entity": "client"}
    row = {
        "clientId": "c1",
        "name": NAME,
        "customFields": [{"id": "f1", "name": "Since", "valueType": "date", "value": NAME}],
    }

    def answer(request):
        of_fields = "custom-fields" in request.path
        where = {"limit": 1000, "offset": 0, "total": 1}
        return 200, json.dumps({"data": [field if of_fields else row], "pagination": where}).encode()

    client = bf.Client(serve(answer).url, TOKEN)
    error = failing(client.clients, bf.errors.DecodeError)
    assert "the value is not a date" in str(error)
    assert NAME not in "".join(traceback.format_exception(error))


def test_nothing_is_sent_to_the_address_of_a_redirect(serve):
    elsewhere = serve(lambda _: (200, b'{"data": []}'))
    server = serve(lambda _: (307, b"", {"Location": f"{elsewhere.url}/v2/practice-areas"}))
    with pytest.raises(bf.errors.TransportError, match="Redirects are not followed"):
        bf.Client(server.url, TOKEN, headers={"x-api-key": KEY}).practice_areas()
    assert len(server.came) == 1
    assert elsewhere.came == []


HEALTH_PATHS = [
    "v2/health",
    ".elsewhere.test/up",
    ":80@127.0.0.1:{port}/up",
    "@127.0.0.1:{port}/up",
    "//127.0.0.1:{port}/up",
    "///127.0.0.1:{port}",
    "\\\\127.0.0.1:{port}\\up",
    "?@127.0.0.1:{port}/up",
    "#@127.0.0.1:{port}/up",
]


@pytest.mark.parametrize("path", HEALTH_PATHS)
def test_no_health_path_leads_to_another_host(serve, path):
    elsewhere, server = serve(lambda _: (200, b"{}")), serve(lambda _: (200, b"{}"))
    with bf.Client(server.url, TOKEN, health_path=path.format(port=elsewhere.server_port)) as client:
        client.health()
    assert len(server.came) == 1
    assert server.came[0][0].startswith("/")
    assert not server.came[0][0].startswith("//")
    assert elsewhere.came == []


@pytest.mark.parametrize(
    "path", ["/../up", "..", "/a/../../up", "/%2e%2e/up", "/..;/up", "/a\\..\\up", "/./up", "/x\0y"]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_nothing_is_sent_outside_the_base_address(serve, path, method):
    server = serve(lambda _: (200, b"{}"))
    with bf.Client(f"{server.url}/api", TOKEN) as client:
        with pytest.raises(bf.errors.ParameterError, match="not below the API's address, so nothing was sent"):
            client._connection.fetch(path, resource="health") if method == "GET" else client._connection.send(
                "POST", path, resource="clients"
            )
        client._connection.fetch("up", resource="health")
    assert [path for path, _ in server.came] == ["/api/up"]


@pytest.mark.parametrize("path", ["https://elsewhere.test/up", 7, ["up"]])
def test_a_health_path_that_is_an_address_is_refused(path):
    with pytest.raises(bf.errors.ParameterError, match="health_path=.*such as '/health'"):
        bf.Client("https://billing.example.com", TOKEN, health_path=path)


def test_requests_to_this_machine_use_no_proxy(serve, monkeypatch):
    proxy, server = serve(echo(502)), serve(lambda _: (200, b'{"data": []}'))
    monkeypatch.setenv("HTTP_PROXY", proxy.url)
    monkeypatch.setenv("HTTPS_PROXY", proxy.url)
    bf.Client(server.url, TOKEN).practice_areas()
    assert proxy.came == []
    # For other hosts the environment's proxy is used for a tunnel, and it gets no credential.
    with pytest.raises(bf.errors.TransportError):
        bf.Client("https://billing.example.com", TOKEN, headers={"x-api-key": KEY}, retries=0).practice_areas()
    assert [path for path, _ in proxy.came] == ["billing.example.com:443"]
    nothing_secret_in(repr(proxy.came))


@pytest.fixture(scope="module")
def authority():
    """Return a certificate authority that this machine does not trust, and a server's TLS context."""
    made, tls = trustme.CA(), ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    made.issue_cert("127.0.0.1").configure_cert(tls)
    return made, tls


def test_a_certificate_of_an_unknown_authority_is_refused(serve, authority):
    server = serve(lambda _: (200, b'{"data": []}'), tls=authority[1])
    with pytest.raises(bf.errors.TransportError, match="TLS certificate is not trusted"):
        bf.Client(server.url.replace("http", "https"), TOKEN).practice_areas()
    assert server.came == []


@pytest.mark.parametrize("known", ["verify", "the system's store"])
def test_a_certificate_of_a_known_authority_is_accepted(serve, authority, tmp_path, monkeypatch, known):
    server = serve(lambda _: (200, b'{"data": []}'), tls=authority[1])
    authority[0].cert_pem.write_to_path(tmp_path / "ca.pem")
    if known != "verify":
        # Where OpenSSL finds the system's store; Windows and macOS have other ways.
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    verify = str(tmp_path / "ca.pem") if known == "verify" else True
    with bf.Client(server.url.replace("http", "https"), TOKEN, verify=verify) as client:
        assert client.practice_areas().empty
