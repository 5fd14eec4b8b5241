"""Start kernels whose output other users of the machine can't read, and open the source of their data.

Jupyter kernels usually communicate over TCP on loopback, where every user of the machine can read their output
without a key. The kernels of the report and the dashboard use Unix sockets in a folder that only their user can open.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import socket
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from billframes.commands import PROFILE_VARIABLE, connected

if TYPE_CHECKING:
    from billframes.client import Client
    from billframes.mirror import Mirror

NO_PRIVATE_SOCKETS = (
    "This system has no private sockets for kernels: while this runs, other users of this machine can read what it "
    "shows."
)
# The path of a Unix socket can have 104 bytes on macOS and 108 on Linux, including the final zero byte.
LONGEST_SOCKET_PATH = 103
# The longest name that Jupyter gives to a socket: Voila's folder, the kernel's id and the channel's number.
_LONGEST_NAME = "voila_xxxxxxxx/kernel-00000000-0000-0000-0000-000000000000-ipc-5"


def skip_unused_grammar() -> None:
    """
    Keep jsonschema from compiling a grammar when Jupyter's packages import it. This saves a second at each start.

    It is the grammar of a rare text format, which no notebook uses. Call it only in processes of billframes.
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]


@contextmanager
def private_folder() -> Iterator[Path]:
    """
    Make a temporary folder with mode 0700 for a kernel's files and sockets, and remove it at the end.

    It is in the system's temporary folder, or in /tmp if the paths of sockets would be too long there.
    """
    folder = Path(tempfile.mkdtemp(prefix="billframes-"))
    if transport_in(folder) == "tcp":
        with contextlib.suppress(OSError):
            shorter = Path(tempfile.mkdtemp(prefix="billframes-", dir="/tmp"))
            folder, other = (shorter, folder) if transport_in(shorter) == "ipc" else (folder, shorter)
            shutil.rmtree(other, ignore_errors=True)
    try:
        yield folder
    finally:
        for _ in range(50):
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
            # A kernel that is about to end may still write there.
            time.sleep(0.1)


def transport_in(folder: Path) -> Literal["ipc", "tcp"]:
    """Return the transport for a kernel in this folder: "ipc", or "tcp" if sockets can't be private there."""
    path = folder / _LONGEST_NAME
    if len(os.fsencode(path)) > LONGEST_SOCKET_PATH:
        return "tcp"
    # Some file systems ignore file modes, and some don't support sockets, so try one.
    if stat.S_IMODE(folder.stat().st_mode) & 0o077 or not _takes_sockets(folder):
        return "tcp"
    return "ipc"


def _takes_sockets(folder: Path) -> bool:
    if sys.platform == "win32":
        return False
    path = folder / "try"
    try:
        with socket.socket(socket.AF_UNIX) as trial:
            trial.bind(str(path))
    except OSError:
        return False
    finally:
        path.unlink(missing_ok=True)
    return True


_NO_PROXY = ("NO_PROXY", "no_proxy")


@contextmanager
def open_source(args: argparse.Namespace) -> Iterator[tuple[dict[str, str | None], Client]]:
    """
    Open the API, the mirror or the sandbox that a command's options choose; see `billframes.commands.add_connection`.

    Opening it here raises errors of the configuration before a kernel is started. It yields the variables with which a
    kernel opens the same source (None removes one), and the client with the firm's settings.
    """
    from billframes._session import MIRROR_VARIABLE

    with connected(args, progress=False) as client:
        environment: dict[str, str | None] = {PROFILE_VARIABLE: args.connection} if args.connection else {}
        if args.demo:
            environment = _of_sandbox(client)
        elif args.mirror:
            opened = cast("Mirror", client)
            _ = opened.version
            environment = {MIRROR_VARIABLE: opened.path}
        _ = client.settings
        yield environment, client


def _of_sandbox(client: Client) -> dict[str, str | None]:
    """Return the variables with which kernels connect to the sandbox over HTTP, without the user's own profile."""
    from billframes.sandbox.credentials import TOKENS

    exempt = next((os.environ[name] for name in _NO_PROXY if os.environ.get(name)), "")
    return {
        PROFILE_VARIABLE: None,
        "BILLFRAMES_BASE_URL": client.base_url,
        "BILLFRAMES_TOKEN": TOKENS["full"],
        **dict.fromkeys(_NO_PROXY, ",".join(filter(None, [exempt, "127.0.0.1"]))),
    }
