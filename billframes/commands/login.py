"""`billframes login`: ask for an address and a token, try them, and keep them.

The token goes to the system's keyring and nowhere else; the address goes to a profile in `config.toml`, which only
its owner may read.
"""

from __future__ import annotations

import argparse
import getpass
import importlib
import json
import tomllib
from pathlib import Path
from typing import Any

from billframes.api.client import Client
from billframes.errors import ConfigError
from billframes.settings.connection import KEYRING_SERVICE, config_file
from billframes.settings.profiles import write_privately
from billframes.settings.secret import Secret, hidden

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options on `parser`."""
    parser.add_argument("--profile", default="default", metavar="NAME", help="what to call it (default: default)")
    parser.add_argument("--base-url", metavar="URL", help="the API's address; asked for where not given")


def run(args: argparse.Namespace) -> int:
    """Ask, try with one call, keep; return the exit code."""
    keyring = _keyring()
    base_url = (args.base_url or input("Address of the billing API: ")).strip()
    token = hidden(getpass.getpass("Token (not shown): "))
    if token is None:
        raise ConfigError("No token was given, so nothing was kept.")
    with Client(base_url, token) as client:
        areas = client.practice_areas()
        _keep_profile(config_file(), args.profile, client.base_url)
    _keep_token(keyring, args.profile, token)
    print(f"Signed in: {len(areas)} practice areas there. Kept as profile {args.profile!r}.")  # noqa: T201
    return 0


def _keyring() -> Any:
    try:
        return importlib.import_module("keyring")
    except ImportError:
        raise ConfigError(
            "billframes login keeps the token in the system's keyring: pip install 'billframes[keyring]'. "
            "Without it, set BILLFRAMES_BASE_URL and BILLFRAMES_TOKEN."
        ) from None


def _keep_token(keyring: Any, name: str, token: Secret) -> None:
    try:
        keyring.set_password(KEYRING_SERVICE, name, token.reveal())
    except Exception as error:  # noqa: BLE001 - keyrings are plug-ins, which raise what they like
        said = token.masked(f"{type(error).__name__}: {error}")
    else:
        return
    # Out here, so that the keyring's frames, which hold the token, are no part of the error.
    raise ConfigError(
        f"The system's keyring did not take the token ({said.rstrip(': .')}). Unlock or install one, or set "
        "BILLFRAMES_BASE_URL and BILLFRAMES_TOKEN."
    )


def _keep_profile(path: Path, name: str, base_url: str) -> None:
    """Add a profile to the file; what is there stays as it is."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    config = tomllib.loads(text)
    there = config.get("profiles", {}).get(name)
    if there is not None:
        if there.get("base_url") != base_url:
            raise ConfigError(
                f"Profile {name!r} in {path} is for {there.get('base_url')}; change it there, or give another "
                "--profile."
            )
        return
    # A TOML text in double quotes is written as JSON writes one. The default comes first: it belongs to no table.
    first = "" if "default_profile" in config else f"default_profile = {json.dumps(name)}\n"
    profile = f"\n[profiles.{json.dumps(name)}]\nbase_url = {json.dumps(base_url)}\n"
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_privately(path, first + text.rstrip("\n") + ("\n" if text.strip() else "") + profile)
