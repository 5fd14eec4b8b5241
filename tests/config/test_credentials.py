"""Settings come from arguments, environment, profile and keyring, in that order, and secrets stay hidden."""

from __future__ import annotations

import os
import pickle
import sys

import httpx
import keyring.errors
import pytest

import billframes as bf
from billframes.config.credentials import KEYRING_SERVICE, find_api
from billframes.config.profiles import config_file
from billframes.config.secret import Secret

URL = "https://billing.example.com"
KNOWN = frozenset({"timeout"})


@pytest.fixture
def profile():
    """Write config.toml."""

    def write(text: str) -> None:
        config_file().parent.mkdir(parents=True, exist_ok=True)
        config_file().touch(mode=0o600)
        config_file().write_text(text, encoding="utf-8")

    yield write
    config_file().unlink(missing_ok=True)


def test_without_configuration_the_error_explains_how_to_connect():
    with pytest.raises(bf.errors.ConfigError) as raised:
        find_api()
    assert "billframes.connect(" in str(raised.value)
    assert "BILLFRAMES_BASE_URL" in str(raised.value)


def test_each_source_takes_precedence_over_the_next(monkeypatch, profile, ring):
    ring.set_password(KEYRING_SERVICE, "firm", "of-keyring")
    profile(f'default_profile = "firm"\n[profiles.firm]\nbase_url = "{URL}/profile"\ntimeout = 60')
    found = find_api(known_options=KNOWN)
    assert (found.base_url, found.token.reveal()) == (f"{URL}/profile", "of-keyring")
    assert found.sources == {"base_url": "profile 'firm'", "token": "keyring"}
    monkeypatch.setenv("BILLFRAMES_BASE_URL", f"{URL}/env")
    monkeypatch.setenv("BILLFRAMES_TOKEN", "of-env")
    found = find_api(known_options=KNOWN)
    assert (found.base_url, found.token.reveal()) == (f"{URL}/env", "of-env")
    found = find_api(f"{URL}/argument/", "of-argument", known_options=KNOWN)
    assert (found.base_url, found.token.reveal()) == (f"{URL}/argument", "of-argument")


def test_a_profiles_settings_are_used_if_the_argument_is_omitted(profile):
    profile(f'[profiles.firm]\nbase_url = "{URL}"\npage_size = 100\nconcurrency = 2\nhealth_path = "/up"')
    with bf.Client(profile="firm", concurrency=4) as client:
        connection = client._connection
        assert (connection.page_size, connection.concurrency, connection.health_path) == (100, 4, "/up")


def test_books_use_the_firm_settings_of_the_profile(profile):
    profile(f'[profiles.firm]\nbase_url = "{URL}"\nfirm = "firm.toml"')
    (config_file().parent / "firm.toml").write_text("hours_per_day = 7.5", encoding="utf-8")
    with bf.Client(profile="firm") as client:
        assert bf.book("2026-10", client=client).settings == bf.FirmSettings(hours_per_day=7.5)
        other = bf.FirmSettings(hours_per_day=6)
        assert bf.book("2026-10", client=client, settings=other).settings is other
    (config_file().parent / "firm.toml").unlink()
    with bf.Client(profile="firm") as client, pytest.raises(bf.errors.ConfigError, match="firm.toml can't be read"):
        bf.book("2026-10", client=client)


def test_the_default_profiles_token_is_sent_to_its_own_address_only(monkeypatch, profile):
    profile(f'default_profile = "firm"\n[profiles.firm]\nbase_url = "{URL}"\ntoken = "of-profile"')
    assert find_api().token.reveal() == "of-profile"
    assert find_api("https://elsewhere.example.com").token is None
    monkeypatch.setenv("BILLFRAMES_BASE_URL", "https://elsewhere.example.com")
    assert find_api().token is None
    with pytest.raises(
        bf.errors.ConfigError, match=r"profile 'firm' belongs to .* not sent to the address from BILLFRAMES_BASE_URL"
    ):
        find_api(profile="firm")


ELSEWHERE = "https://elsewhere.example.com"


def test_the_environments_token_is_not_sent_to_an_address_given_in_code(monkeypatch, ring):
    monkeypatch.setenv("BILLFRAMES_TOKEN", "of-env")
    said = r"BILLFRAMES_TOKEN belongs to BILLFRAMES_BASE_URL.*given in code\. Give token= with the address, or set"
    for address in ("", URL):
        monkeypatch.setenv("BILLFRAMES_BASE_URL", address)
        with pytest.raises(bf.errors.ConfigError, match=said) as raised:
            bf.Client(ELSEWHERE)
        assert "of-env" not in str(raised.value)
    assert find_api(ELSEWHERE, "of-argument").token.reveal() == "of-argument"
    assert find_api(ELSEWHERE, wants_token=False).token is None
    assert find_api(ELSEWHERE, own_headers=True).token is None
    ring.set_password(KEYRING_SERVICE, ELSEWHERE, "of-keyring")
    assert find_api(ELSEWHERE).token.reveal() == "of-keyring"


def test_a_token_and_an_auth_object_together_are_refused():
    with pytest.raises(bf.errors.ParameterError, match="token= and auth= both authenticate requests") as raised:
        bf.Client(URL, "of-argument", auth=httpx.BasicAuth("ann", "x"))
    assert "of-argument" not in str(raised.value)


def test_an_auth_object_takes_precedence_over_the_environments_token(monkeypatch):
    monkeypatch.setenv("BILLFRAMES_BASE_URL", URL)
    monkeypatch.setenv("BILLFRAMES_TOKEN", "of-env")
    with bf.Client(auth=httpx.BasicAuth("ann", "x")) as client:
        assert repr(client) == f"<billframes client {URL}, token from auth=>"


@pytest.mark.parametrize("same", [URL, f"{URL}/", "HTTPS://BILLING.example.com:443"])
def test_the_environments_token_is_sent_to_its_own_address_in_every_spelling(monkeypatch, same):
    monkeypatch.setenv("BILLFRAMES_BASE_URL", URL)
    monkeypatch.setenv("BILLFRAMES_TOKEN", "of-env")
    assert find_api(same).token.reveal() == "of-env"


@pytest.mark.parametrize("other", [f"{URL}/other", "https://billing.example.com:444", "https://billing.example.co"])
def test_another_path_port_or_host_is_another_address(monkeypatch, other):
    monkeypatch.setenv("BILLFRAMES_BASE_URL", URL)
    monkeypatch.setenv("BILLFRAMES_TOKEN", "of-env")
    with pytest.raises(bf.errors.ConfigError, match="belongs to BILLFRAMES_BASE_URL"):
        find_api(other)


@pytest.mark.parametrize("held", ['token = "of-profile"', 'headers = {x-api-key = "abcd"}'])
def test_a_profiles_credentials_are_not_sent_to_another_address(profile, ring, held):
    profile(f'[profiles.firm]\nbase_url = "{URL}"\n{held}')
    with pytest.raises(
        bf.errors.ConfigError, match=r"profile 'firm' belongs to the base_url of that profile.*given in code"
    ):
        bf.Client(ELSEWHERE, profile="firm")
    with bf.Client(f"{URL}/", profile="firm") as client:
        assert client.sources["base_url"] == "argument"
    with bf.Client(ELSEWHERE, "t0ken", profile="firm", headers={}) as client:
        assert client.sources["token"] == "argument"


def test_a_profiles_keyring_entry_is_not_sent_to_another_address(profile, ring):
    ring.set_password(KEYRING_SERVICE, "firm", "of-keyring")
    profile(f'[profiles.firm]\nbase_url = "{URL}"')
    assert find_api(URL, profile="firm").token.reveal() == "of-keyring"
    assert find_api(ELSEWHERE, profile="firm").token is None


def test_a_profile_without_an_address_is_for_the_given_address(profile):
    profile('[profiles.firm]\ntoken = "of-profile"')
    assert find_api(ELSEWHERE, profile="firm").token.reveal() == "of-profile"


def test_the_environments_token_is_sent_to_a_profiles_address_also_by_a_pickled_client(monkeypatch, profile):
    profile(f'default_profile = "firm"\n[profiles.firm]\nbase_url = "{URL}"')
    monkeypatch.setenv("BILLFRAMES_TOKEN", "of-env")
    with bf.Client() as client, pickle.loads(pickle.dumps(client)) as again:
        assert client.sources["token"] == again.sources["token"] == "BILLFRAMES_TOKEN"


def test_an_unknown_profile_or_setting_is_named(profile):
    profile(f'[profiles.firm]\nbase_url = "{URL}"\npagesize = 100')
    with pytest.raises(bf.errors.ConfigError, match="'frm'.*Did you mean 'firm'"):
        find_api(profile="frm")
    with pytest.raises(bf.errors.ConfigError, match="pagesize.*Did you mean 'page_size'"):
        bf.Client(profile="firm")
    profile(f'default = "firm"\n[profiles.firm]\nbase_url = "{URL}"')
    with pytest.raises(bf.errors.ConfigError, match="unknown settings: default. It takes default_profile"):
        find_api()


def test_a_file_that_is_not_toml_is_named(profile):
    profile("token: abc")
    with pytest.raises(bf.errors.ConfigError, match="config.toml can't be read"):
        find_api()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("billing.example.com", "not a URL"),
        ("ftp://billing.example.com", "not a URL"),
        ("http://billing.example.com", "refused"),
        ("http://localhost.example.com", "refused"),
        ("http://127.evil.example.com.x", "refused"),
        ("http://127.evil.example.com", "refused"),
        ("http://127.0.0.1.example.com", "refused"),
        ("http://0x7f.1", "refused"),
        ("http://2130706433", "refused"),
        ("http://0.0.0.0", "refused"),
        ("http://[::2]", "refused"),
        ("http://localhost%2eexample.com", "refused"),
        ("http://localhost@example.com", "user name or password"),
        ("http://localhost\\@example.com", "user name or password"),
        ("http://localhost\\.example.com", "not a URL"),
        ("http://example.com#@localhost", "user name or password"),
        ("http://exa\nmple.com", "not a URL"),
        ("http://[::1", "not a URL"),
        ("http://localhost:99999", "not a URL"),
        ("https://billing.example.com?", "query"),
        ("t0ken-abc", "not a URL"),
        ("https://ann:pass@billing.example.com", "user name or password"),
        ("https://billing.example.com?key=abc", "query"),
        ("sandbox", "not a URL"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_without_showing_a_secret(url, said):
    with pytest.raises(bf.errors.ConfigError, match=said) as raised:
        find_api(url, "t0ken")
    assert "pass" not in str(raised.value).replace("password", "")
    assert "abc" not in str(raised.value)


@pytest.mark.parametrize("url", ["http://localhost:8000", "http://127.0.0.1", "http://[::1]:80", URL])
def test_plain_http_is_for_this_machine_only(url):
    assert find_api(url, "t").base_url == url


@pytest.mark.parametrize("token", ["two words", "zwölf", "a\nb"])
def test_a_token_with_impossible_characters_is_refused_unseen(token):
    with pytest.raises(bf.errors.ConfigError, match="token") as raised:
        find_api(URL, token)
    assert token not in str(raised.value)


@pytest.mark.parametrize(
    "headers", [{"x-api-key": "a\nb-zwölf"}, {"x-api-key": 77077}, {"x api key": "zwölf"}, {7: "zwölf"}, "zwölf"]
)
def test_a_header_that_cannot_be_sent_is_refused_unseen(headers):
    with pytest.raises(bf.errors.ConfigError, match="headers") as raised:
        bf.Client(URL, "t0ken", headers=headers)
    assert "zwölf" not in str(raised.value)
    assert "77077" not in str(raised.value)


def test_a_profile_must_be_a_table_and_its_token_a_text(profile):
    profile("[profiles]\nfirm = 3")
    with pytest.raises(bf.errors.ConfigError, match="a profile is a table"):
        find_api()
    profile(f'[profiles.firm]\nbase_url = "{URL}"\ntoken = 77077')
    with pytest.raises(bf.errors.ConfigError, match="token") as raised:
        find_api(profile="firm")
    assert "77077" not in str(raised.value)


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
@pytest.mark.parametrize("held", ['token = "abc"', 'headers = {x-api-key = "abc"}'])
def test_a_file_with_a_credential_that_others_can_read_is_warned_of(profile, held):
    profile(f'[profiles.firm]\nbase_url = "{URL}"\n{held}')
    find_api(profile="firm", known_options=frozenset({"headers"}))
    config_file().chmod(0o640)
    with pytest.warns(bf.errors.BillframesWarning, match="chmod 600"):
        find_api(profile="firm", known_options=frozenset({"headers"}))
    profile(f'[profiles.firm]\nbase_url = "{URL}"')
    find_api(profile="firm")


def test_without_a_keyring_there_is_no_token_and_no_warning(monkeypatch):
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert find_api(URL).token is None


def test_a_keyring_without_a_backend_has_no_token(ring, monkeypatch):
    def none(_service, _account):
        raise keyring.errors.NoKeyringError("install one")

    monkeypatch.setattr(ring, "get_password", none)
    assert find_api(URL).token is None


@pytest.mark.parametrize("error", [keyring.errors.KeyringLocked("locked"), OSError("no bus"), RuntimeError("t0ken")])
def test_a_keyring_that_cannot_be_read_is_named_and_not_quoted(ring, monkeypatch, error):
    def fail(_service, _account):
        raise error

    monkeypatch.setattr(ring, "get_password", fail)
    with pytest.warns(
        bf.errors.BillframesWarning, match=rf"keyring could not be read \({type(error).__name__}\)"
    ) as given:
        assert find_api(URL).token is None
    assert "t0ken" not in str(given[0].message)


def test_unverified_certificates_are_warned_of_beyond_this_machine():
    with pytest.warns(bf.errors.BillframesWarning, match="verify=False"):
        bf.Client(URL, "t0ken", verify=False).close()
    bf.Client("https://localhost", "t0ken", verify=False).close()


def test_a_secret_is_neither_shown_nor_pickled():
    secret = Secret("abc")
    assert "abc" not in f"{secret} {secret!r} {[secret]}"
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(secret)


def test_a_profile_can_set_the_bounds_of_answers_requests_and_loads(profile):
    profile(f'[profiles.firm]\nbase_url = "{URL}"\nlargest_answer = 1000\nlongest_request = 2.5')
    with bf.Client(profile="firm", token="t0ken") as client:
        assert (client.limits.largest_answer, client.limits.longest_request) == (1000, 2.5)
        assert client.limits.longest_load == 3600
    profile(f'[profiles.firm]\nbase_url = "{URL}"\nlongest_load = 0')
    with pytest.raises(bf.errors.ConfigError, match="longest_load=0"):
        bf.Client(profile="firm", token="t0ken")


def test_a_closed_client_raises_an_error():
    client = bf.Client(URL, token="t0ken")
    client.close()
    with pytest.raises(bf.errors.ConfigError, match="closed"):
        client.practice_areas()
