"""`billframes doctor`: show versions, the source of each setting, and how the server behaves.

It shows where the credential is configured, never the credential.
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Iterator
from importlib import metadata

from billframes._shared.messages import clean_text, say, wrapped
from billframes._version import __version__
from billframes.client import Client
from billframes.client_options import OPTIONS
from billframes.commands import add_connection, connected
from billframes.config.firm import describe_settings
from billframes.config.profiles import config_file

EXAMPLES = ("billframes doctor", "billframes doctor --profile firm --remember")

_PACKAGES = ("pandas", "pyarrow", "httpx", "msgspec", "narwhals")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options on `parser`."""
    add_connection(parser, mirror=False, settings=False)
    parser.add_argument(
        "--remember", action="store_true", help="save in the profile which select names the server takes"
    )


def run(args: argparse.Namespace) -> int:
    """Print the findings and return the exit code. Errors of the API are raised."""
    say("Installed")
    _show("billframes", f"{__version__}, Python {platform.python_version()} on {platform.system()}")
    _show("packages", ", ".join(f"{name} {metadata.version(name)}" for name in _PACKAGES))
    say("\nConfigured")
    _show("settings file", f"{config_file()}{'' if config_file().exists() else ' (does not exist)'}")
    with connected(args) as client:
        for name, value in _settings(client):
            _show(name, value)
        say("\nThe server")
        for finding in client.check(remember=args.remember).findings:
            _show(finding.name, f"{finding.mark:<2} {finding.found}")
            if finding.instead:
                _show("", f"→ {finding.instead}")
    return 0


def _show(name: str, value: str) -> None:
    # Each begins a line and is indented on others, so that a server's text can't look like a finding.
    say(wrapped(" ".join(clean_text(value).split()), f"{name:<14} "))


def _settings(client: Client) -> Iterator[tuple[str, str]]:
    yield "address", f"{client.base_url} (from {client.sources['base_url']})"
    source = client.sources["token"]
    yield "token", "none" if source == "none" else f"set (from {source})"
    yield "firm settings", describe_settings(client.settings)
    for name, value in client.options.items():
        if value != OPTIONS[name].default:
            shown = ", ".join(value) if name == "headers" else value
            yield name, f"{shown} (from the profile {client.profile!r})"
