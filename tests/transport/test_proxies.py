"""Proxies of the environment: which is used, for which hosts, and the sentence for one that can't be used."""

from __future__ import annotations

import base64
import contextlib
import socket
import ssl
import threading

import httpx
import pytest
import trustme

import billframes as bf
from billframes.cli import main
from billframes.transport.proxies import environment_proxy

HOST = "billing.example.com"
NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def proxy_of(base_url=f"https://{HOST}"):
    found = environment_proxy(base_url, True)
    return str(found.url) if found else None


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("proxy.corp", "http://proxy.corp"),
        ("proxy.corp:8080", "http://proxy.corp:8080"),
        (" http://proxy.corp:80 ", "http://proxy.corp"),
        ("HTTPS://proxy.corp:8443/", "https://proxy.corp:8443/"),
        ("http://anna:p%40ss@proxy.corp:8080", "http://proxy.corp:8080"),
        ("http://corp\\anna:pass@proxy.corp:8080", "http://proxy.corp:8080"),
        ("[fd00::1]:3128", "http://[fd00::1]:3128"),
        ("10.0.0.1:3128", "http://10.0.0.1:3128"),
    ],
)
@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])
def test_the_proxy_of_the_environment_is_used(monkeypatch, name, given, used):
    monkeypatch.setenv(name, given)
    assert proxy_of() == used
    assert proxy_of("http://127.0.0.1:8000") is proxy_of("https://localhost") is None


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("socks4://proxy.corp:1080", "with socks4://, which is not supported. .*such as http://proxy"),
        ("socks://proxy.corp:1080/", "with socks://, which is not supported"),
        ("ftp://proxy.corp", "with ftp://, which is not supported"),
        ("proxy:corp", "is not the address of a proxy"),
        ("proxy.corp:99999", "is not the address of a proxy"),
        ("proxy.corp:0", "is not the address of a proxy"),
        ("proxy..corp:8080", "is not the address of a proxy"),
        ("x" * 64 + ".corp", "is not the address of a proxy"),
        ("//proxy.corp:8080", "is not the address of a proxy"),
        ("://proxy.corp:8080", "is not the address of a proxy"),
        ("http://", "is not the address of a proxy"),
        ("http://[", "is not the address of a proxy"),
        ("http://pro xy.corp", "is not the address of a proxy"),
        ("PROXY proxy.corp:8080; DIRECT", "is not the address of a proxy"),
        ("http://anna:s3cret@[::1", "is not the address of a proxy"),
        ("http://proxy\x01.corp", "is not the address of a proxy"),
        ("\udc80", "is not the address of a proxy"),
    ],
)
@pytest.mark.parametrize("name", ["HTTPS_PROXY", "all_proxy"])
def test_a_proxy_that_cannot_be_used_is_one_sentence_with_its_variable(monkeypatch, name, given, problem):
    monkeypatch.setenv(name, given)
    with pytest.raises(bf.errors.ConfigError, match=f"^{name} .*{problem}") as raised:
        bf.Client(f"https://{HOST}", "t0ken").practice_areas()
    assert "s3cret" not in repr(raised.value)


@pytest.mark.parametrize(
    "command", [["doctor"], ["export", "clients", "-o", "x.csv"], ["report", "2026-10"], ["ledes", "--check"]]
)
def test_every_command_names_the_variable(monkeypatch, capsys, tmp_path, command):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BILLFRAMES_BASE_URL", f"https://{HOST}")
    monkeypatch.setenv("BILLFRAMES_TOKEN", "t0ken")
    monkeypatch.setenv("HTTPS_PROXY", "socks4://anna:s3cret@proxy.corp:1080")
    assert main(command) > 0
    said = capsys.readouterr()
    assert said.err.startswith(
        "billframes: HTTPS_PROXY names a proxy with socks4://, which is not supported. Set it to"
    )
    assert "s3cret" not in said.err + said.out


def test_a_socks_proxy_without_its_package_names_the_package(monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "socks5h://127.0.0.1:1080")
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(bf.errors.ConfigError, match=r"^ALL_PROXY names a SOCKS proxy.*pip install 'httpx\[socks\]'"):
        bf.Client(f"https://{HOST}", "t0ken").practice_areas()


def test_a_proxy_that_is_not_used_is_not_judged(monkeypatch):
    """GNOME sets a SOCKS proxy beside the others."""
    monkeypatch.setenv("ALL_PROXY", "socks://proxy.corp:1080/")
    monkeypatch.setenv("FTP_PROXY", "?")
    monkeypatch.setenv("HTTP_PROXY", "proxy:corp")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.corp:8080")
    assert proxy_of() == "http://proxy.corp:8080"
    monkeypatch.setenv("NO_PROXY", HOST)
    monkeypatch.setenv("HTTPS_PROXY", "?")
    assert proxy_of() is None
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json={"data": []}))
    monkeypatch.delenv("NO_PROXY")
    assert bf.Client(f"https://{HOST}", "t0ken", transport=transport).practice_areas().empty


@pytest.mark.parametrize(
    ("exempt", "hosts", "others"),
    [
        ("localhost,fd07:b51a:cc66:f0::/64", ["[fd07:b51a:cc66:f0::5]"], [HOST, "[fd08::1]", "10.0.0.1"]),
        ("[::1],[fd00::]/8, [fe80::1]:8443", ["[fd12::9]", "[fe80::1]:8443"], [HOST, "[fe80::1]"]),
        ("fd00::1", ["[fd00::1]", "[FD00::1]:9"], ["[fd00::2]"]),
        ("10.0.0.0/8,192.168.7.9", ["10.200.0.1", "192.168.7.9:99"], ["11.0.0.1", HOST]),
        ("*", [HOST, "10.0.0.1", "[fd00::1]"], []),
        ("a.test, *", [HOST], []),
        (".example.com", [HOST, "example.com"], ["notexample.com"]),
        ("*.Example.com", [HOST], ["example.com.test"]),
        ("EXAMPLE.com:8443", [f"{HOST}:8443"], [HOST]),
        ("https://billing.example.com:443", [HOST], ["other.example.com"]),
        ("foo:bar,http://[,[,:,::::,/,[]/0,,.,https://,a b,\x01", [], [HOST, "10.0.0.1"]),
    ],
)
def test_no_proxy_names_hosts_domains_ports_and_networks(monkeypatch, exempt, hosts, others):
    monkeypatch.setenv("HTTPS_PROXY", "proxy.corp:8080")
    monkeypatch.setenv("NO_PROXY", exempt)
    assert {host: proxy_of(f"https://{host}") for host in hosts} == dict.fromkeys(hosts)
    assert all(proxy_of(f"https://{host}") for host in others)


class Proxy:
    """A proxy that connects every CONNECT to one port; `refusal` is its answer instead."""

    def __init__(self, port, *, tls=None, refusal=b""):
        self.port, self.tls, self.refusal = port, tls, refusal
        self.asked = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.serve, daemon=True).start()

    @property
    def address(self):
        return f"127.0.0.1:{self.listener.getsockname()[1]}"

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                one, _ = self.listener.accept()
                threading.Thread(target=self.handle, args=[one], daemon=True).start()

    def handle(self, one):
        with contextlib.suppress(OSError), contextlib.ExitStack() as opened:
            if self.tls:
                one = self.tls.wrap_socket(one, server_side=True)
            opened.callback(one.close)
            head = b""
            while b"\r\n\r\n" not in head:
                head += one.recv(65_536)
            self.asked.append(head.decode())
            if self.refusal:
                one.sendall(self.refusal)
                return
            other = opened.enter_context(socket.create_connection(("127.0.0.1", self.port)))
            one.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            threading.Thread(target=pipe, args=[other, one], daemon=True).start()
            pipe(one, other)


def pipe(one, other):
    with contextlib.suppress(OSError):
        while piece := one.recv(65_536):
            other.sendall(piece)
    with contextlib.suppress(OSError):
        other.shutdown(socket.SHUT_RDWR)


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """Return the contexts of servers with these names, and the file of their authority."""
    made, tls = trustme.CA(), ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    made.issue_cert(HOST, "127.0.0.1").configure_cert(tls)
    file = tmp_path_factory.mktemp("authority") / "ca.pem"
    made.cert_pem.write_to_path(file)
    return tls, str(file)


@pytest.fixture
def api(authority):
    """Return the port of a server with TLS that answers each request with an empty list."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        with contextlib.suppress(OSError):
            while True:
                one, _ = listener.accept()
                with contextlib.suppress(OSError), authority[0].wrap_socket(one, server_side=True) as stream:
                    while stream.recv(65_536):
                        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n" + b'{"data": []}')

    threading.Thread(target=serve, daemon=True).start()
    with listener:
        yield listener.getsockname()[1]


@pytest.mark.parametrize("scheme", ["", "http://", "https://"])
def test_requests_go_through_the_proxy(monkeypatch, authority, api, scheme):
    tls, file = authority
    proxy = Proxy(api, tls=tls if scheme == "https://" else None)
    monkeypatch.setenv("HTTPS_PROXY", f"{scheme}anna:s3cret@{proxy.address}")
    with bf.Client(f"https://{HOST}", "t0ken", verify=file, retries=0) as client:
        assert client.practice_areas().empty
    proxy.listener.close()
    assert [head.split()[:2] for head in proxy.asked] == [["CONNECT", f"{HOST}:443"]]
    assert base64.b64encode(b"anna:s3cret").decode() in proxy.asked[0]
    assert "t0ken" not in proxy.asked[0]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "407 Proxy Authentication Required"),
        (b"HTTP/1.1 403 Forbidden\r\n\r\n", "403 Forbidden"),
        (b"HTTP/1.1 502 Bad Gateway\r\n\r\n", "502 Bad Gateway"),
    ],
)
def test_a_proxy_that_refuses_is_named_also_for_writes(monkeypatch, answer, reason):
    proxy = Proxy(0, refusal=answer)
    monkeypatch.setenv("HTTPS_PROXY", proxy.address)
    with bf.Client(f"https://{HOST}", "t0ken", retries=0) as client:
        for call in (client.practice_areas, lambda: client.clients.create(name="A", reference="B")):
            with pytest.raises(bf.errors.TransportError, match=f"{reason}.*proxy.*HTTPS_PROXY") as raised:
                call()
            assert not isinstance(raised.value, bf.errors.UncertainWriteError)
    proxy.listener.close()


@pytest.mark.parametrize("host", ["a..b.com", ".b.com", "x" * 64 + ".com", "999.1.1.1", "xn--a.com", ".."])
def test_an_address_with_a_host_that_cannot_be_is_refused(host):
    with pytest.raises(bf.errors.ConfigError, match=r"The address \(from argument\) is not a URL"):
        bf.Client(f"https://{host}", "t0ken")
