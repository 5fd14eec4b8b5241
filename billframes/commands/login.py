"""`billframes login`: ask for an address and a token, test them, and save them.

The token is saved only in the system's keyring. The address is saved in a profile in `config.toml`, which only
its owner can read.
"""

from __future__ import annotations

import argparse
import contextlib
import getpass
import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from billframes._shared.limits import read_toml_text
from billframes._shared.messages import say
from billframes.client import Client
from billframes.config.credentials import KEYRING_SERVICE, check_address
from billframes.config.profiles import config_file, read_config, write_privately
from billframes.config.secret import Secret, hide
from billframes.errors import ConfigError

EXAMPLES = ("billframes login", "billframes login --profile trial --base-url https://trial.example.com")

REFUSED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options on `parser`."""
    parser.add_argument(
        "--profile", default="default", metavar="NAME", help="the name of the profile (default: default)"
    )
    parser.add_argument("--base-url", metavar="URL", help="the API's address; if omitted, login asks for it")


def run(args: argparse.Namespace) -> int:
    """Ask for the address and token, test them with one call, save them, and return the exit code."""
    keyring = _keyring()
    if not sys.stdin.isatty():
        raise ConfigError(
            "login asks for the token, so it needs a terminal. In a script, set BILLFRAMES_BASE_URL and "
            "BILLFRAMES_TOKEN instead."
        )
    # The keyring and the address are checked before the user looks for the token.
    before = _saved_token(keyring, args.profile)
    base_url = _address(args)
    text = _with_profile(config_file(), args.profile, base_url)
    token = hide(_ask(getpass.getpass, "Token (not shown): "))
    if token is None:
        raise ConfigError("No token was given, so nothing was saved.")
    with Client(base_url, token) as client:
        areas = client.practice_areas()
    problem = _save_token(keyring, args.profile, token, before)
    if problem:
        say(f"billframes: {problem}", error=True)
        return REFUSED
    try:
        _write_config(config_file(), text)
    except BaseException:
        _restore_token(keyring, args.profile, before)
        raise
    say(f"Signed in: the server answered with {len(areas)} practice areas. Saved as profile {args.profile!r}.")
    return 0


def _address(args: argparse.Namespace) -> str:
    if args.base_url:
        return check_address(args.base_url.strip(), "--base-url")
    return check_address(_ask(input, "Address of the billing API: ").strip(), "your input")


def _ask(ask: Callable[[str], str], question: str) -> str:
    try:
        return ask(question)
    except EOFError:
        raise ConfigError("Nothing was typed, so nothing was saved.") from None


def _keyring() -> Any:
    try:
        return importlib.import_module("keyring")
    except ImportError:
        raise ConfigError(
            "billframes login keeps the token in the system's keyring: pip install 'billframes[keyring]'. "
            "Without it, set BILLFRAMES_BASE_URL and BILLFRAMES_TOKEN."
        ) from None


def _saved_token(keyring: Any, name: str) -> Secret | None:
    """Return the token in the keyring; raise `ConfigError` if the system has no keyring that can be read."""
    try:
        return hide(keyring.get_password(KEYRING_SERVICE, name))
    except Exception as error:  # noqa: BLE001 - keyrings are plug-ins, which raise errors of any type
        raise ConfigError(
            f"The system has no keyring that can be read ({type(error).__name__}), so login can't save a token. Unlock "
            "it or install one, or set BILLFRAMES_BASE_URL and BILLFRAMES_TOKEN."
        ) from None


def _save_token(keyring: Any, name: str, token: Secret, before: Secret | None) -> str | None:
    """Save the token in the keyring; if it was not saved, restore the one before and return a message."""
    try:
        keyring.set_password(KEYRING_SERVICE, name, token.reveal())
        # Some keyrings accept a token but don't store it.
        saved = keyring.get_password(KEYRING_SERVICE, name) == token.reveal()
        reason = "it has no token afterwards"
    except Exception as error:  # noqa: BLE001 - keyrings are plug-ins, which raise errors of any type
        saved, reason = False, token.mask_in(f"{type(error).__name__}: {error}")
    if saved:
        return None
    _restore_token(keyring, name, before)
    return (
        f"The system's keyring did not save the token ({reason.rstrip(': .')}), so nothing was saved. Unlock it or "
        "install one, or set BILLFRAMES_BASE_URL and BILLFRAMES_TOKEN."
    )


def _restore_token(keyring: Any, name: str, before: Secret | None) -> None:
    with contextlib.suppress(Exception):
        if before is None:
            keyring.delete_password(KEYRING_SERVICE, name)
        else:
            keyring.set_password(KEYRING_SERVICE, name, before.reveal())


def _with_profile(path: Path, name: str, base_url: str) -> str | None:
    """Return the file's text with the profile added, or None if it already has the profile."""
    config = read_config(path)
    text = read_toml_text(path) if path.exists() else ""
    existing = config.get("profiles", {}).get(name)
    if existing is not None:
        if existing.get("base_url") != base_url:
            raise ConfigError(
                f"Profile {name!r} in {path} is for {existing.get('base_url')}; change it there, or give another name "
                "with --profile."
            )
        return None
    # TOML strings in double quotes have the same form as in JSON. Top-level keys must be before all tables.
    default = "" if "default_profile" in config else f"default_profile = {json.dumps(name)}\n"
    profile = f"\n[profiles.{json.dumps(name)}]\nbase_url = {json.dumps(base_url)}\n"
    return default + text.rstrip("\n") + ("\n" if text.strip() else "") + profile


def _write_config(path: Path, text: str | None) -> None:
    if text is not None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_privately(path, text)
