"""`billframes login` and `billframes doctor`, which never show a credential."""

from __future__ import annotations

import io
import re
import shutil
import stat
import subprocess
import sys

import pytest

import billframes as bf
from billframes.cli import main
from billframes.commands import doctor
from billframes.config.credentials import KEYRING_SERVICE
from billframes.config.profiles import config_file


@pytest.fixture(autouse=True)
def nothing_kept():
    yield
    config_file().unlink(missing_ok=True)


@pytest.fixture
def typed(monkeypatch):
    """Return a function that types a token, and an address, in a terminal."""

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    def typing(token, address=""):
        monkeypatch.setattr("sys.stdin", Terminal(f"{address}\n" if address else ""))
        monkeypatch.setattr("getpass.getpass", lambda _prompt: token)

    return typing


def test_login_tests_the_token_and_saves_it(sandbox, ring, typed, capsys):
    typed(sandbox.tokens["full"])
    assert main(["login", "--base-url", sandbox.base_url, "--profile", "my firm"]) == 0
    assert ring.kept == {(KEYRING_SERVICE, "my firm"): sandbox.tokens["full"]}
    assert sandbox.tokens["full"] not in config_file().read_text() + "".join(capsys.readouterr())
    assert stat.S_IMODE(config_file().stat().st_mode) == 0o600
    with bf.Client() as client:
        assert client.sources == {"base_url": "profile 'my firm'", "token": "keyring"}
        assert len(client.practice_areas()) > 0
    assert main(["login", "--base-url", sandbox.base_url, "--profile", "my firm"]) == 0
    assert main(["login", "--base-url", sandbox.base_url, "--profile", "other"]) == 0
    with bf.Client(profile="other") as client:
        assert client.base_url == sandbox.base_url


def test_a_wrong_or_empty_token_is_not_saved(sandbox, ring, typed, capsys):
    typed("wrong")
    assert main(["login", "--base-url", sandbox.base_url]) == 2
    typed("")
    assert main(["login", "--base-url", sandbox.base_url]) == 2
    assert ring.kept == {}
    assert not config_file().exists()
    assert "wrong" not in capsys.readouterr().err.replace("wrong credential", "")


def test_a_keyring_that_refuses_is_an_error_without_the_token(sandbox, ring, typed, monkeypatch, capsys):
    def fail(_service, _account, password):
        raise OSError(f"can't store {password}")

    monkeypatch.setattr(ring, "set_password", fail)
    typed(sandbox.tokens["full"])
    assert main(["login", "--base-url", sandbox.base_url]) == 1
    (said,) = capsys.readouterr().err.splitlines()
    assert "did not save the token (OSError: can't store ***), so nothing was saved" in said
    assert sandbox.tokens["full"] not in said
    assert not config_file().exists()


def test_without_a_keyring_login_does_not_ask_for_the_token(sandbox, ring, typed, monkeypatch, capsys):
    def fail(*_given):
        raise RuntimeError("No recommended backend was available.")

    monkeypatch.setattr(ring, "get_password", fail)
    typed("")
    monkeypatch.setattr("getpass.getpass", lambda _prompt: pytest.fail("login asked for the token"))
    assert main(["login", "--base-url", sandbox.base_url]) == 2
    assert "no keyring that can be read (RuntimeError)" in capsys.readouterr().err


def test_a_keyring_that_stores_nothing_is_an_error(sandbox, ring, typed, monkeypatch, capsys):
    monkeypatch.setattr(ring, "set_password", lambda *_given: None)
    typed(sandbox.tokens["full"])
    assert main(["login", "--base-url", sandbox.base_url]) == 1
    assert "it has no token afterwards" in capsys.readouterr().err
    assert not config_file().exists()


@pytest.mark.parametrize("before", [None, "the token before"])
def test_if_the_profile_cannot_be_written_the_token_is_not_saved(sandbox, ring, typed, monkeypatch, before):
    def fail(_self, _to):
        raise OSError("disk full")

    if before:
        ring.kept[KEYRING_SERVICE, "default"] = before
    monkeypatch.setattr("pathlib.Path.replace", fail)
    typed(sandbox.tokens["full"])
    assert main(["login", "--base-url", sandbox.base_url]) == 1
    assert ring.kept == ({(KEYRING_SERVICE, "default"): before} if before else {})
    assert not config_file().exists()


def test_doctor_prints_one_line_per_finding_without_control_characters(capsys):
    doctor._show("rates", "NO hidden\x1b[1A\nrates          ok visible")
    assert capsys.readouterr().out == "rates          NO hidden rates ok visible\n"


def test_only_the_owner_can_read_the_settings_file(sandbox, ring, typed, tmp_path):
    typed(sandbox.tokens["full"])
    kept = tmp_path / "dotfiles.toml"
    kept.write_text("# mine\n")
    kept.chmod(0o644)
    shutil.rmtree(config_file().parent, ignore_errors=True)
    main(["login", "--base-url", sandbox.base_url, "--profile", "first"])
    assert stat.S_IMODE(config_file().parent.stat().st_mode) == 0o700
    config_file().unlink()
    config_file().symlink_to(kept)
    assert main(["login", "--base-url", sandbox.base_url, "--profile", "second"]) == 0
    assert config_file().is_symlink()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert kept.read_text().startswith('default_profile = "second"\n# mine')
    assert [each.name for each in config_file().parent.iterdir()] == [config_file().name]


def test_login_asks_for_an_address_that_is_not_given(sandbox, ring, typed):
    typed(sandbox.tokens["full"], sandbox.base_url + "/")
    assert main(["login"]) == 0
    with bf.Client() as client:
        assert client.base_url == sandbox.base_url


@pytest.mark.slow
def test_login_without_a_terminal_is_refused_with_the_alternative(ring):
    done = subprocess.run(
        [sys.executable, "-m", "billframes", "login", "--base-url", "https://x.test"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("billframes: login asks for the token, so it needs a terminal. In a script, set ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("billing.example.com", "The address (from --base-url) is not a URL; it should look like 'https://"),
        ("http://billing.example.com", "http:// is refused for billing.example.com"),
        ("https://ada:secret@x.test", "contains a user name or password"),
        ("https://taken.test", "Profile 'default' in"),
    ],
)
def test_an_invalid_address_is_refused_before_the_question_for_the_token(
    ring, typed, monkeypatch, capsys, address, said
):
    typed("unused")
    monkeypatch.setattr("getpass.getpass", lambda _prompt: pytest.fail("asked for the token"))
    config_file().parent.mkdir(parents=True, exist_ok=True)
    config_file().write_text('[profiles.default]\nbase_url = "https://other.test"\n')
    assert main(["login", "--base-url", address]) == 2
    (shown,) = capsys.readouterr().err.splitlines()
    assert said in shown
    assert "secret" not in shown
    assert ring.kept == {}


@pytest.mark.parametrize("text", ["default_profile = ", "[profiles]\ndefault = 3", "token = t0ken"])
def test_login_refuses_a_broken_settings_file_and_does_not_change_it(ring, typed, capsys, text):
    typed("unused")
    config_file().parent.mkdir(parents=True, exist_ok=True)
    config_file().write_text(text)
    assert main(["login", "--base-url", "https://x.test"]) == 2
    (shown,) = capsys.readouterr().err.splitlines()
    assert str(config_file()) in shown
    assert "t0ken" not in shown
    assert config_file().read_text() == text


def test_login_without_input_ends_with_a_sentence(ring, typed, capsys):
    typed("unused")
    assert main(["login"]) == 2
    assert capsys.readouterr().err == "billframes: Nothing was typed, so nothing was saved.\n"


@pytest.mark.parametrize("answer", [(200, "<html>"), (403, "{}"), (200, '{"data": [{}]}')])
def test_nothing_is_saved_if_the_server_is_not_the_api(ring, typed, monkeypatch, answer):
    import http.server
    import threading

    # After an invalid response the request is sent again, usually after a while.
    monkeypatch.setattr("billframes.transport.http.backoff", lambda _attempt: 0.01)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            status, body = answer
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        typed("t0ken")
        assert main(["login", "--base-url", f"http://127.0.0.1:{server.server_address[1]}"]) == 2
        server.shutdown()
    assert ring.kept == {}
    assert not config_file().exists()


def test_login_says_how_to_get_a_keyring(monkeypatch, capsys):
    monkeypatch.setitem(__import__("sys").modules, "keyring", None)
    assert main(["login", "--base-url", "https://x.test"]) == 2
    assert "billframes[keyring]" in capsys.readouterr().err


@pytest.mark.parametrize(("token", "rates"), [("full", "ok visible"), ("norates", "NO hidden")])
def test_doctor_shows_the_settings_and_their_sources(sandbox, monkeypatch, capsys, token, rates):
    monkeypatch.setenv("BILLFRAMES_BASE_URL", sandbox.base_url)
    monkeypatch.setenv("BILLFRAMES_TOKEN", sandbox.tokens[token])
    assert main(["doctor"]) == 0
    shown = capsys.readouterr().out
    assert "(from BILLFRAMES_BASE_URL)" in shown
    assert "set (from BILLFRAMES_TOKEN)" in shown
    assert f"rates          {rates}" in shown
    # The sandbox's clock is always at the end of October 2026.
    assert (
        re.search(r"\d (days|hours|minutes|seconds) (behind|ahead\s+of)\s+this\s+machine's", shown) or "agree" in shown
    )
    assert ("→ rate and amount are missing, not zero" in shown) == (token == "norates")
    assert sandbox.tokens[token] not in shown


def test_doctor_checks_the_sandbox_with_demo(capsys):
    assert main(["doctor", "--demo"]) == 0
    assert "credential     ok accepted" in capsys.readouterr().out


def test_doctor_fails_if_nothing_is_configured(capsys):
    assert main(["doctor"]) == 2
    assert "No billing API is configured" in capsys.readouterr().err


def test_doctor_saves_the_servers_select_names_with_remember(ring, typed, capsys):
    from billframes.sandbox import Sandbox, Trouble

    with Sandbox(trouble=Trouble(other_names="strict")) as sandbox:
        typed(sandbox.tokens["full"])
        assert main(["login", "--base-url", sandbox.base_url, "--profile", "my firm"]) == 0
        assert main(["doctor"]) == 0
        assert "select_names" not in config_file().read_text()
        assert main(["doctor", "--remember"]) == 0
        assert "client of matters" in capsys.readouterr().out
        assert stat.S_IMODE(config_file().stat().st_mode) == 0o600
        with bf.Client() as client:
            assert client.select_names["matters"] == ("client",)
            assert client.matters().attrs["load"]["requests"] == 1
