"""`billframes doctor`: what is installed, which source won for each setting, and whether the API answers.

It shows where a credential comes from and never the credential.
"""

from __future__ import annotations

import argparse
import datetime as dt
import platform
import time
from collections.abc import Iterator
from importlib import metadata
from typing import Any

from billframes._version import __version__
from billframes.api.client import DEFAULTS, Client
from billframes.settings.connection import config_file

__all__ = ["add_arguments", "run"]

_PACKAGES = ("pandas", "pyarrow", "httpx", "msgspec", "narwhals")
# Below this, a difference is the road and not the clock.
_SKEW = 5.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options on `parser`."""
    parser.add_argument("--profile", metavar="NAME", help="the profile to look at")


def run(args: argparse.Namespace) -> int:
    """Print what was found and return the exit code; what keeps the API from answering is raised."""
    _show("billframes", f"{__version__}, Python {platform.python_version()} on {platform.system()}")
    _show("packages", ", ".join(f"{name} {metadata.version(name)}" for name in _PACKAGES))
    _show("settings file", f"{config_file()}{'' if config_file().exists() else ' (not there)'}")
    with Client(profile=args.profile) as client:
        for name, value in _settings(client):
            _show(name, value)
        for name, value in _trial(client):
            _show(name, value)
    return 0


def _show(name: str, value: str) -> None:
    print(f"{name:<14} {value}", flush=True)  # noqa: T201


def _settings(client: Client) -> Iterator[tuple[str, str]]:
    yield "address", f"{client.base_url} (from {client.sources['base_url']})"
    source = client.sources["token"]
    yield "token", "none" if source == "none" else f"there (from {source})"
    for name, value in client.options.items():
        if value != DEFAULTS[name]:
            shown = ", ".join(value) if name == "headers" else value
            yield name, f"{shown} (from the profile {client.profile!r})"


def _trial(client: Client) -> Iterator[tuple[str, str]]:
    """Ask for one billable time entry: it tells whether the API answers, whether rates show, and the server's time."""
    begun, sent = time.monotonic(), dt.datetime.now(dt.UTC)
    query = (("billingType", "billable"), ("sort", "-date"), ("limit", "1"), ("offset", "0"))
    response = client.fetch("/v2/time-entries", query, resource="doctor")
    seconds = time.monotonic() - begun
    page = client.time_entries.decode(response.body)
    total = page.pagination.total if page.pagination else "an unknown number of"
    yield "answers", f"in {seconds:.2f} s, with {total} billable time entries"
    yield "rates", _rates(page.data)
    yield "clock", _clock(response.date, sent + dt.timedelta(seconds=seconds / 2))


def _rates(rows: list[Any] | None) -> str:
    if not rows:
        return "unknown: there is no billable time entry to tell by"
    return "visible" if rows[0].rate is not None else "hidden: the credential lacks read.rates"


def _clock(server: dt.datetime | None, here: dt.datetime) -> str:
    if server is None:
        return "unknown: the server does not say its time"
    ahead = (server - here).total_seconds()
    if abs(ahead) < _SKEW:
        return "the server's and this machine's agree"
    return f"the server's is {abs(ahead):,.0f} s {'ahead of' if ahead > 0 else 'behind'} this machine's"
