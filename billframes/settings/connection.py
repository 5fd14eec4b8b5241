"""Where a connection's settings come from, in one documented order.

1. arguments,
2. `BILLFRAMES_BASE_URL`, `BILLFRAMES_TOKEN` and `BILLFRAMES_PROFILE`,
3. the profile in `config.toml` in the platform's config folder,
4. for the token, the system's keyring.

The file has a table a profile, and may name the default one::

    default_profile = "firm"

    [profiles.firm]
    base_url = "https://billing.example.com"
    timeout = 60

The default profile counts only where no address is given otherwise, so that its credential goes nowhere else. There
is never any fallback to sandbox data: with nothing configured, `ConfigError` says how to connect.
"""

from __future__ import annotations

import importlib
import ipaddress
import os
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import platformdirs

from billframes._names import closest
from billframes._warn import warn
from billframes.errors import BillframesWarning, ConfigError
from billframes.settings.secret import Secret, check_token, hidden, hidden_headers

__all__ = ["Connection", "config_file", "is_loopback", "resolve_connection"]

T = TypeVar("T")
KEYRING_SERVICE = "billframes"
HOW_TO_CONNECT = (
    'Connect with billframes.connect("https://…", token="…"), or set BILLFRAMES_BASE_URL and BILLFRAMES_TOKEN, '
    'or add a profile to {file}. To try billframes without an account: billframes.connect("sandbox").'
)


@dataclass(frozen=True, slots=True)
class Connection:
    """
    Which API to call, with what credential, and which source won for each.

    `options` are the profile's other settings, by the names of `connect`'s arguments.
    """

    base_url: str
    token: Secret | None
    profile: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)


def config_file() -> Path:
    """Return where the profiles are kept; the file need not exist."""
    return Path(platformdirs.user_config_dir("billframes", appauthor=False)) / "config.toml"


def resolve_connection(
    base_url: str | None = None,
    token: str | Secret | None = None,
    *,
    profile: str | None = None,
    wants_token: bool = True,
    known_options: frozenset[str] = frozenset(),
) -> Connection:
    """
    Find the API's address and credential.

    Parameters
    ----------
    base_url, token, profile : str, optional
        As given to `connect`; each goes before every other source.
    wants_token : bool
        False where the caller authenticates another way: the keyring is then not asked.
    known_options : frozenset of str
        What a profile may hold beside base_url and token.

    Raises
    ------
    ConfigError
        No source names an API, the profile does not exist, or the address can't be used.
    """
    token = hidden(token)
    # The default profile belongs to its own address: its credential is not for one named elsewhere.
    elsewhere = bool(base_url or os.environ.get("BILLFRAMES_BASE_URL"))
    name, chosen = _profile(profile, known_options, default=not elsewhere)
    url, url_source = _first(
        ("argument", _filled(base_url)),
        ("BILLFRAMES_BASE_URL", _filled(os.environ.get("BILLFRAMES_BASE_URL"))),
        (f"profile {name!r}", _filled(chosen.get("base_url"))),
    )
    if url is None:
        raise ConfigError("No billing API is configured. " + HOW_TO_CONNECT.format(file=config_file()))
    secret, token_source = _first(
        ("argument", token),
        ("BILLFRAMES_TOKEN", hidden(os.environ.get("BILLFRAMES_TOKEN"))),
        (f"profile {name!r}", chosen.get("token")),
    )
    if secret is None and wants_token:
        secret, token_source = _from_keyring(name or url), "keyring"
    if secret is not None:
        check_token(secret, token_source)
    return Connection(
        base_url=_checked_url(url, url_source),
        token=secret,
        profile=name,
        options={key: value for key, value in chosen.items() if key not in {"base_url", "token"}},
        sources={"base_url": url_source, "token": token_source if secret else "none"},
    )


def is_loopback(host: str) -> bool:
    """
    Whether the host is this machine: localhost, 127.0.0.0/8 or ::1.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("127.0.0.example.com")
    (True, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _filled(text: str | None) -> str | None:
    return text.strip() or None if text else None


def _first(*sources: tuple[str, T | None]) -> tuple[T | None, str]:
    return next(((value, source) for source, value in sources if value is not None), (None, "none"))


def _profile(asked: str | None, known_options: frozenset[str], *, default: bool) -> tuple[str | None, dict[str, Any]]:
    name = asked or os.environ.get("BILLFRAMES_PROFILE")
    if name is None and not default:
        return None, {}
    config = _read_config(config_file())
    profiles = config.get("profiles", {})
    name = name or config.get("default_profile")
    if name is None:
        return None, {}
    if name not in profiles:
        raise ConfigError(
            f"There is no profile {name!r} in {config_file()}.{closest(name, profiles)} "
            f"Profiles there: {', '.join(sorted(profiles)) or 'none'}."
        )
    chosen = dict(profiles[name])
    unknown = sorted(set(chosen) - known_options - {"base_url", "token"})
    if unknown:
        raise ConfigError(
            f"Profile {name!r} in {config_file()} has settings billframes does not know: {', '.join(unknown)}."
            f"{closest(unknown[0], known_options)}"
        )
    return name, chosen


def _read_config(path: Path) -> dict[str, Any]:
    """Return what the file holds, its credentials out of sight."""
    try:
        config = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        # The parser quotes no line, so no token can show here; its frames hold the text, and stay behind.
        unreadable = f"{path} can't be read: {error}. Mend the file, or remove it."
    else:
        profiles = config.get("profiles", {})
        if isinstance(profiles, dict) and all(isinstance(profile, dict) for profile in profiles.values()):
            _hide_secrets(profiles, path)
            return config
        unreadable = f"{path}: a profile is a table, such as [profiles.firm]."
        config = profiles = {}
    raise ConfigError(unreadable)


def _hide_secrets(profiles: Mapping[str, Any], path: Path) -> None:
    for profile in profiles.values():
        if "token" in profile:
            profile["token"] = hidden(profile["token"])
        if "headers" in profile:
            profile["headers"] = hidden_headers(profile["headers"])
    if any({"token", "headers"} & set(profile) for profile in profiles.values()):
        _warn_where_others_can_read(path)


def _warn_where_others_can_read(path: Path) -> None:
    if os.name == "posix" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        warn(
            f"{path} holds a credential, and others on this machine can read it: chmod 600 it, or keep the token in "
            "the keyring with billframes login.",
            BillframesWarning,
        )


def _from_keyring(account: str) -> Secret | None:
    """Return the token the system's keyring holds, None where there is no keyring or no token."""
    try:
        keyring = importlib.import_module("keyring")
    except ImportError:
        return None
    try:
        return hidden(keyring.get_password(KEYRING_SERVICE, account))
    except keyring.errors.NoKeyringError:
        return None
    except Exception as error:  # noqa: BLE001 - keyrings are plug-ins, which raise what they like
        reason = type(error).__name__
    warn(
        f"The system's keyring could not be read ({reason}), so no token was taken from it. Unlock it, or give the "
        "token as token= or BILLFRAMES_TOKEN.",
        BillframesWarning,
    )
    return None


def _checked_url(url: str, source: str) -> str:
    # The address itself is not shown: a token given in its place would be.
    if "@" in url:
        raise ConfigError("The address holds a user name or password; give the credential as token= or auth=.")
    if "?" in url or "#" in url:
        raise ConfigError(f"The address (from {source}) has a query or fragment; leave out all from '?' or '#' on.")
    parts = _parts(url)
    if parts is None:
        raise ConfigError(f"The address (from {source}) is no URL; it should look like 'https://billing.example.com'.")
    scheme, host = parts
    if scheme == "http" and not is_loopback(host):
        raise ConfigError(
            f"http:// is refused for {host}: credentials and client data would travel in the clear. Use https://."
        )
    return url.rstrip("/")


def _parts(url: str) -> tuple[str, str] | None:
    """Return scheme and host; None where another reader of URLs might see another host."""
    if not url.isprintable() or set(url) & set(" \\"):
        return None
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and parts.port != 0
    except ValueError:
        return None
    return (parts.scheme, parts.hostname) if usable and parts.hostname else None
