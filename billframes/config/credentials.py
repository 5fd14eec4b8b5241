"""Find the API's address and credential. Each is taken from the first of these sources that has it:

1. the arguments,
2. `BILLFRAMES_BASE_URL`, `BILLFRAMES_TOKEN` and `BILLFRAMES_PROFILE`,
3. the profile in `config.toml` (see `billframes.config.profiles`),
4. for the token, the system's keyring.

A credential is only sent to the address that it belongs to. `BILLFRAMES_TOKEN` belongs to `BILLFRAMES_BASE_URL`. A
profile's token, headers and keyring entry belong to the profile's `base_url`. They are not sent to another address that
is given in code. The default profile is only used if no other source has an address.

Sandbox data are never a fallback: if nothing is configured, `ConfigError` explains how to connect.
"""

from __future__ import annotations

import importlib
import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx

from billframes._shared.messages import warn
from billframes._shared.names import type_in_words
from billframes.config.profiles import config_file, read_profile
from billframes.config.secret import Secret, check_token, hide
from billframes.errors import BillframesWarning, ConfigError

T = TypeVar("T")
KEYRING_SERVICE = "billframes"
_EXAMPLE = "https://billing.example.com"
HOW_TO_CONNECT = (
    'Run billframes login in a terminal, or in Python billframes.connect("https://…", token="…"), or set '
    "BILLFRAMES_BASE_URL and BILLFRAMES_TOKEN, or add a profile to {file}. To try billframes without an account: "
    'billframes.connect("sandbox") in Python, --demo in a terminal.'
)


@dataclass(frozen=True, slots=True)
class FoundApi:
    """
    The API's address and credential, and the source of each.

    `options` are the other settings of the profile, by name. `profile_fits` is False if the environment chose a profile
    that has another address.
    """

    base_url: str
    token: Secret | None
    profile: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    profile_fits: bool = True


def find_api(
    base_url: str | None = None,
    token: str | Secret | None = None,
    *,
    profile: str | None = None,
    wants_token: bool = True,
    own_headers: bool = False,
    known_options: frozenset[str] = frozenset(),
) -> FoundApi:
    """
    Find the API's address and credential. The arguments of `connect` take precedence over all other sources.

    Without `wants_token`, the caller authenticates with `auth=`, and no token is used. With `own_headers`, the caller
    gives headers, which may be the credential, and those of the profile are not used. `known_options` are the settings
    that a profile may have besides base_url and token.

    Raise `ConfigError` if no source has an address, the profile does not exist, the address can't be used, or the only
    credential belongs to another address.
    """
    token = hide(token)
    # The default profile's credential is only for its own address.
    has_other_address = bool(base_url or os.environ.get("BILLFRAMES_BASE_URL"))
    name, chosen = read_profile(profile, known_options, default=not has_other_address)
    url, url_source = _address(base_url, name, chosen)
    is_of_profile = not chosen.get("base_url") or same_address(url, chosen["base_url"])
    options = {key: value for key, value in chosen.items() if key not in {"base_url", "token"}}
    if not is_of_profile and options.pop("headers", None) and not own_headers:
        raise ConfigError(_reason_not_sent(f"profile {name!r}", url_source))
    is_of_environment = url_source != "argument" or any(
        same_address(url, each) for each in (os.environ.get("BILLFRAMES_BASE_URL"), chosen.get("base_url"))
    )
    tokens = (
        ("argument", token, True),
        ("BILLFRAMES_TOKEN", hide(os.environ.get("BILLFRAMES_TOKEN")), is_of_environment),
        (f"profile {name!r}", chosen.get("token"), is_of_profile),
    )
    secret, token_source = _first(*((source, found) for source, found, may_be_sent in tokens if may_be_sent))
    missing = "none" if wants_token else "auth="
    if not wants_token:
        secret = None
    elif secret is None:
        secret, token_source = _from_keyring(name if name and is_of_profile else url), "keyring"
        unusable = next((source for source, found, may_be_sent in tokens if found and not may_be_sent), None)
        if secret is None and unusable and not own_headers:
            raise ConfigError(_reason_not_sent(unusable, url_source))
    if secret is not None:
        check_token(secret, token_source)
    sources = {"base_url": url_source, "token": token_source if secret else missing}
    return FoundApi(url, secret, name, options, sources, profile_fits=is_of_profile or profile is not None)


def _address(base_url: str | None, name: str | None, profile: Mapping[str, Any]) -> tuple[str, str]:
    """Return the API's address and its source; raise `ConfigError` if it is missing or can't be used."""
    url, source = _first(
        ("argument", _filled(base_url)),
        ("BILLFRAMES_BASE_URL", _filled(os.environ.get("BILLFRAMES_BASE_URL"))),
        (f"profile {name!r}", _filled(profile.get("base_url"))),
    )
    if url is None:
        raise ConfigError("No billing API is configured. " + HOW_TO_CONNECT.format(file=config_file()))
    return check_address(url, source), source


def _reason_not_sent(source: str, url_source: str) -> str:
    """Return the message for a credential that belongs to another address."""
    where = "given in code" if url_source == "argument" else f"from {url_source}"
    if source == "BILLFRAMES_TOKEN":
        return (
            f"BILLFRAMES_TOKEN belongs to BILLFRAMES_BASE_URL, so it is not sent to the address {where}. Give token= "
            "with the address, or set BILLFRAMES_BASE_URL to it."
        )
    return (
        f"The credential of {source} belongs to the base_url of that profile, so it is not sent to the address "
        f"{where}. Give token= (or headers=) with the address, or use the profile's own address."
    )


def same_address(one: str, other: str | None) -> bool:
    """Tell whether two addresses are the same, except for upper case, a default port and a slash at the end."""
    return bool(other) and _comparable(one) == _comparable(str(other))


def _comparable(url: str) -> tuple[str, str | None, int | None, str] | None:
    """Return the parts by which two spellings of an address are equal; None if the text is not an address."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return None
    return parts.scheme, parts.hostname, port, parts.path.rstrip("/")


def is_loopback(host: str) -> bool:
    """Tell whether the host is this machine: localhost, 127.0.0.0/8 or ::1."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_host(host: str) -> bool:
    """Tell whether a text can be the name or address of a host: a name has no empty part, and none that is too long."""
    try:
        return bool(host.encode("idna") and httpx.URL(scheme="https", host=host).host)
    except (UnicodeError, httpx.InvalidURL):
        return False


def _filled(text: Any) -> str | None:
    if text is not None and not isinstance(text, str):
        raise ConfigError(f"The address is {type_in_words(text)}, not a text such as {_EXAMPLE!r}.")
    return text.strip() or None if text else None


def _first(*sources: tuple[str, T | None]) -> tuple[T | None, str]:
    return next(((value, source) for source, value in sources if value is not None), (None, "none"))


def _from_keyring(account: str) -> Secret | None:
    """Return the token in the system's keyring; None if there is no keyring or no token."""
    try:
        keyring = importlib.import_module("keyring")
    except ImportError:
        return None
    try:
        return hide(keyring.get_password(KEYRING_SERVICE, account))
    except keyring.errors.NoKeyringError:
        return None
    except Exception as error:  # noqa: BLE001 - keyrings are plug-ins, which may raise any error
        reason = type(error).__name__
    warn(
        f"The system's keyring could not be read ({reason}), so no token was taken from it. Unlock it, or set "
        "BILLFRAMES_TOKEN.",
        BillframesWarning,
    )
    return None


def check_address(url: str, source: str) -> str:
    """
    Check an API's address, and return it without a slash at its end.

    Raise `ConfigError` if it is not an address, or credentials would not be safe there; the message names the source.
    """
    # The message does not show the text, because it may be a token that was given by mistake.
    if "@" in url:
        raise ConfigError("The address contains a user name or password; give the token by itself.")
    if "?" in url or "#" in url:
        raise ConfigError(
            f"The address (from {source}) has a query or fragment; leave out '?' or '#' and all text after it."
        )
    parts = _parts(url)
    if parts is None:
        raise ConfigError(f"The address (from {source}) is not a URL; it should look like {_EXAMPLE!r}.")
    scheme, host = parts
    if scheme == "http" and not is_loopback(host):
        raise ConfigError(
            f"http:// is refused for {host}: credentials and client data would be sent unencrypted. Use https://."
        )
    return url.rstrip("/")


def _parts(url: str) -> tuple[str, str] | None:
    """Return scheme and host; None if another URL parser might read another host."""
    if not url.isprintable() or set(url) & set(" \\"):
        return None
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and parts.port != 0
    except ValueError:
        return None
    host = parts.hostname or ""
    return (parts.scheme, host) if usable and is_host(host) else None
