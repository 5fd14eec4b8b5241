"""Read profiles from the settings file, and add to it.

The file has a table for each profile, and may name a default profile::

    default_profile = "firm"

    [profiles.firm]
    base_url = "https://billing.example.com"
    timeout = 60

A profile has options of the client, by name, and those of `Limits`. Its token and headers are wrapped in `Secret` as
soon as they are read. Additions don't change the rest of the file, and afterwards only its owner can read it.
"""

from __future__ import annotations

import json
import math
import os
import stat
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import platformdirs

from billframes._shared.export import write
from billframes._shared.limits import read_toml, read_toml_text
from billframes._shared.messages import warn
from billframes._shared.names import closest
from billframes.config.secret import hide, hide_headers
from billframes.errors import BillframesWarning, ConfigError


@dataclass(slots=True)
class Limits:
    """
    Limits of responses, requests and loads. A profile may set them; on a client they can be changed at any time.

    They are not arguments of `connect`, because hardly anyone needs them.

    Parameters
    ----------
    largest_answer : int
        The largest response in bytes, decompressed. A larger page is requested again with fewer records.
    longest_request : float, optional
        The longest time of a request in seconds, even if data still arrive slowly. None is four times `timeout`.
    longest_load : float
        Seconds after which a load retries no request, so that its next failure ends it. A load without failures may
        take longer.

    Examples
    --------
    >>> Limits.of({"longest_load": 600, "timeout": 10}).longest_load
    600
    """

    largest_answer: int = 64 * 2**20
    longest_request: float | None = None
    longest_load: float = 3600.0

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Limits:
        """Read the limits in a profile's settings; raise `ConfigError` if one is not a number above 0."""
        given = {name: value for name, value in options.items() if name in LIMITS}
        for name, value in given.items():
            if (
                isinstance(value, bool)
                or not isinstance(value, int | float)
                or not (0 < value <= sys.float_info.max or value == math.inf)
            ):
                raise ConfigError(f"{name}={value!r} in the profile is out of range; it takes a number above 0.")
        return cls(**given)


LIMITS = frozenset(each.name for each in fields(Limits))

_TOP = frozenset({"default_profile", "profiles"})


def config_file() -> Path:
    """Return the path of the settings file, which need not exist."""
    return Path(platformdirs.user_config_dir("billframes", appauthor=False)) / "config.toml"


def read_profile(
    given: str | None, known_options: frozenset[str], *, default: bool
) -> tuple[str | None, dict[str, Any]]:
    """
    Return the profile's name and settings; None and an empty dict if no profile is used.

    `given` is the profile given to `connect`: None is `BILLFRAMES_PROFILE`, else the file's default profile if
    `default` allows it, and an empty text means none. Raise `ConfigError` if it does not exist, the file can't be
    read, or a setting is not in `known_options`, base_url or token.
    """
    name = (os.environ.get("BILLFRAMES_PROFILE") or None) if given is None else given
    if name == "" or (name is None and not default):
        return None, {}
    config = read_config(config_file())
    if others := sorted(set(config) - _TOP):
        raise ConfigError(
            f"{config_file()} has unknown settings: {', '.join(others)}. It takes default_profile and a table for each "
            "profile, such as [profiles.firm]."
        )
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
            f"Profile {name!r} in {config_file()} has unknown settings: {', '.join(unknown)}."
            f"{closest(unknown[0], known_options)}"
        )
    return name, chosen


def read_config(path: Path) -> dict[str, Any]:
    """
    Return the file's settings, with its credentials hidden; an empty dict if the file does not exist.

    Raise `ConfigError` if it can't be read, is not TOML, is too large for settings, or a profile in it is not a table.
    """
    try:
        config = read_toml(path)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        # The parser's message quotes no line, so it can't show a token. But the frames of its traceback hold the text,
        # so a new error is raised outside of them.
        unreadable = f"{path} can't be read: {error}. Correct the file, or remove it."
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
            profile["token"] = hide(profile["token"])
        if "headers" in profile:
            profile["headers"] = hide_headers(profile["headers"])
    if any({"token", "headers"} & set(profile) for profile in profiles.values()):
        _warn_if_others_can_read(path)


def _warn_if_others_can_read(path: Path) -> None:
    if os.name == "posix" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        warn(
            f"{path} contains a credential, and other users of this machine can read the file. Run chmod 600 on it, or "
            "save the token in the keyring with billframes login.",
            BillframesWarning,
        )


def save_select_names(path: Path, profile: str | None, names: Mapping[str, Sequence[str]]) -> None:
    """
    Add a server's `select` names to its profile, unless `names` is empty or the profile has them already.

    Raise `ConfigError` if there is no profile, it has other names, or the file can't be changed.
    """
    if profile is None:
        raise ConfigError(
            "There is no profile to save the select names in. Run billframes login, then connect with profile=."
        )
    if not names:
        return
    text = read_toml_text(path)
    if _select_names(text, profile) == {name: list(each) for name, each in names.items()}:
        return
    lines = [f"{name} = {json.dumps(list(each))}" for name, each in names.items()]
    table = "\n".join([f"[profiles.{json.dumps(profile)}.select_names]", *lines])
    new_text = f"{text.rstrip()}\n\n{table}\n"
    try:
        tomllib.loads(new_text)
    except tomllib.TOMLDecodeError:
        raise ConfigError(f"The select names can't be added to {path}. Write them there by hand:\n{table}") from None
    write_privately(path, new_text)


def _select_names(text: str, profile: str) -> object:
    chosen = tomllib.loads(text).get("profiles", {}).get(profile, {})
    names = chosen.get("select_names", {})
    return {name: [each] if isinstance(each, str) else each for name, each in names.items()}


def write_privately(path: Path, text: str) -> None:
    """Write a file that only its owner can read, completely or not at all. If it is a link, write the link's target."""
    write(path.resolve(), text.encode(), private=True, durable=True)
