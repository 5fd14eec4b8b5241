"""Try, as the account `nobody`, which data of running processes another account of this machine can read."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

# It imports first, because `nobody` may be unable to read this Python, and then gives up all rights.
_SPY = """
import encodings.idna, json, os, socket, sys, urllib.error, urllib.request, zmq

opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
asked = json.loads(sys.stdin.readline())
os.setgroups([]); os.setgid(asked["gid"]); os.setuid(asked["uid"])
read, context, poller, listening = [], zmq.Context(), zmq.Poller(), {}
for address in [f"tcp://127.0.0.1:{port}" for port in asked["ports"]] + [f"ipc://{path}" for path in asked["sockets"]]:
    channel = context.socket(zmq.SUB)
    channel.linger = 0
    channel.subscribe(b"")
    channel.connect(address)
    poller.register(channel, zmq.POLLIN)
    listening[channel] = address
for path in asked["sockets"]:
    try:
        with socket.socket(socket.AF_UNIX) as plain:
            plain.connect(path)
        read.append([path, "connected"])
    except OSError:
        pass
print("listening", flush=True)
poller.register(0, zmq.POLLIN)
done = False
while not done:
    for channel, _ in poller.poll():
        if channel == 0:
            done = True
        else:
            read.append([listening[channel], b"".join(channel.recv_multipart()).decode("utf-8", "replace")])
for folder, _, names in os.walk(asked["folder"]):
    for name in names:
        try:
            with open(os.path.join(folder, name), "rb") as file:
                read.append([os.path.join(folder, name), file.read().decode("utf-8", "replace")])
        except OSError:
            pass
for url, headers in asked["urls"]:
    try:
        with opener.open(urllib.request.Request(url, headers=headers), timeout=60) as answer:
            read.append([url, answer.read().decode("utf-8", "replace")])
    except urllib.error.HTTPError as error:
        read.append([url, error.read().decode("utf-8", "replace")])
json.dump(read, sys.stdout)
"""


@dataclass
class Findings:
    """The ports and sockets that processes listen on, and the texts that were read, each with its place."""

    ports: list[int]
    sockets: list[str]
    read: list[tuple[str, str]] = field(default_factory=list)


@contextmanager
def public_folder() -> Iterator[Path]:
    """A folder with a short path for temporary files, which every account can enter, like /tmp."""
    folder = Path(tempfile.mkdtemp(prefix="bf", dir="/tmp"))
    folder.chmod(0o1777)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def read_as_nobody(
    processes: list[psutil.Process], folder: Path, *urls: tuple[str, dict[str, str]]
) -> Iterator[Findings]:
    """Read as `nobody` from ports and sockets of these processes while the block runs, then the files and the pages."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root can try what another account reads")
    nobody, found = pwd.getpwnam("nobody"), listeners_of(processes)
    request = {"uid": nobody.pw_uid, "gid": nobody.pw_gid, "folder": str(folder), "urls": urls}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", _SPY], **pipes) as spy:
        spy.stdin.write(json.dumps({**request, "ports": found.ports, "sockets": found.sockets}) + "\n")
        spy.stdin.flush()
        assert spy.stdout.readline() == "listening\n"
        yield found
        found.read += [(place, text) for place, text in json.loads(spy.communicate("\n", timeout=300)[0])]


def listeners_of(processes: list[psutil.Process]) -> Findings:
    """The ports, and the sockets with a path, that the processes listen on."""
    each = []
    for process in processes:
        # A process may have ended meanwhile.
        with suppress(psutil.NoSuchProcess):
            each += process.net_connections(kind="all")
    ports = {one.laddr.port for one in each if one.status == psutil.CONN_LISTEN}
    paths = {one.laddr for one in each if isinstance(one.laddr, str) and one.laddr.startswith("/")}
    return Findings(sorted(ports), sorted(paths))
