"""Commands that belong to no other folder, and the options for the source of a command's data.

A command loads its data from the API of a profile, from a mirror, or from the sandbox's made-up firm.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from billframes._shared.names import first_few, join_names
from billframes.errors import ConfigError, ParameterError
from billframes.wings import module_of

if TYPE_CHECKING:
    from billframes.client import Client

DEMO_FIRM = "Harrow & Lindqvist LLP"
DEMO_REMARK = "Demonstration: the firm, its people, clients and figures are made up."
_FEW = 3
PROFILE_VARIABLE = "BILLFRAMES_PROFILE"


def add_connection(
    parser: argparse.ArgumentParser, *, mirror: bool = True, settings: bool = True, more: str = ""
) -> None:
    """
    Declare `--profile`, `--demo`, and `--mirror` if the command can read a mirror. A user can give one of them.

    `--settings` is declared if the command's figures depend on the firm's settings. `more` is added to the help of
    `--demo`.
    """
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--profile", dest="connection", metavar="NAME", help="the profile to connect with (default: the file's default)"
    )
    choice.add_argument("--demo", action="store_true", help=f"use the bundled sandbox's made-up firm{more}")
    if mirror:
        choice.add_argument("--mirror", metavar="PATH", help="read this mirror; no request is sent")
    if settings:
        parser.add_argument(
            "--settings",
            metavar="FILE",
            help="the firm's settings: holidays, leave, targets (default: those that the profile names)",
        )


@contextmanager
def connected(args: argparse.Namespace, *, progress: bool | None = None) -> Iterator[Client]:
    """Connect as the options say, and close the connection at the end of the block. The client has the settings."""
    from billframes.config.firm import FirmSettings

    given = FirmSettings.load(args.settings) if getattr(args, "settings", None) else None
    with _opened(args, progress) as client:
        if given is not None:
            client.settings = given
        yield client


@contextmanager
def _opened(args: argparse.Namespace, progress: bool | None) -> Iterator[Client]:
    # These imports take long, and the options are declared without them.
    from billframes.client import Client

    if args.demo:
        from billframes.config.firm import FirmSettings
        from billframes.sandbox import Sandbox

        # The user's own profile is not used.
        sandbox = Sandbox()
        with sandbox, Client(sandbox.base_url, sandbox.tokens["full"], profile="", progress=progress) as client:
            if sandbox.firm_settings:
                client.settings = FirmSettings.load(sandbox.firm_settings)
            yield client
    elif getattr(args, "mirror", None):
        with module_of("mirror", "mirror").mirror(args.mirror) as opened:
            yield opened
    else:
        with Client(profile=args.connection, progress=progress) as client:
            yield client


def check_folder(out: Path, files: Sequence[str], *, overwrite: bool) -> None:
    """Raise an error if files can't be written into a folder, or would replace those there."""
    if out.exists() and not out.is_dir():
        raise ParameterError(f"--out {out} is a file; give the name of a folder.")
    if not out.parent.is_dir():
        raise ParameterError(f"--out {out} can't be made: there is no folder {out.parent}.")
    existing = [name for name in files if (out / name).exists()]
    if existing and not overwrite:
        names = join_names(existing) if len(existing) <= _FEW else first_few(existing, _FEW)
        raise ParameterError(f"--out {out} already has {names}; choose another folder, or add --overwrite.")


def check_sheets(out: Path, files: Sequence[str], *, overwrite: bool) -> None:
    """Raise an error if a page and a workbook of sheets can't be made, or would replace those of a folder."""
    check_folder(out, files, overwrite=overwrite)
    try:
        import jinja2  # noqa: F401
        import xlsxwriter  # noqa: F401
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"The sheets need {error.name}, which is not installed: pip install jinja2 'billframes[excel]'."
        ) from error
