"""Jupyter servers for browser tests: on loopback, behind a token, with folders of their own, ended by their handle."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_urlsafe

import nbformat

from billframes.widgets.dashboard.kernel import private_folder, transport_in

ROOT = Path(__file__).parents[2]
# `python -m` without the grammar that jsonschema compiles for one rare format, which takes half of a server's start.
RUN = """import runpy, sys
from billframes.widgets.dashboard.kernel import skip_unused_grammar
skip_unused_grammar()
del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)"""


def notebook(*cells: str) -> str:
    """Return a notebook of code cells that were not run, with a kernel, because JupyterLab would ask for one."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    made = [nbformat.v4.new_code_cell(each) for each in cells]
    return nbformat.writes(nbformat.v4.new_notebook(cells=made, metadata={"kernelspec": kernel}))


def environment(home: Path, **more: str) -> dict[str, str]:
    """Return variables for private folders of Jupyter, and for kernels that import this billframes."""
    news = home / "settings/@jupyterlab/apputils-extension"
    news.mkdir(parents=True, exist_ok=True)
    quiet = json.dumps({"fetchNews": "false", "checkForUpdates": False})
    (news / "notification.jupyterlab-settings").write_text(quiet, encoding="utf-8")
    folders = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    own = {name: str(home / folder) for name, folder in folders.items()}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), **own, **more}


@contextmanager
def voila(folder: Path, env: dict[str, str]) -> Iterator[str]:
    """Serve a folder of notebooks with Voila. The address has a place for the path of a page."""
    with reserved_port() as port:
        words = ["voila", "--no-browser", f"--port={port}", "--Voila.ip=127.0.0.1", str(folder)]
        with _served(words, "voila", port, env, folder / "voila.log") as address:
            yield address


@contextmanager
def lab(folder: Path, env: dict[str, str]) -> Iterator[str]:
    """Serve a folder of notebooks with JupyterLab, whose application the page's scripts can use."""
    with reserved_port() as port:
        words = [
            "jupyterlab",
            "--no-browser",
            "--allow-root",
            f"--ServerApp.port={port}",
            "--ServerApp.port_retries=0",
            "--ServerApp.ip=127.0.0.1",
            "--ServerApp.disable_check_xsrf=True",
            f"--ServerApp.root_dir={folder}",
            "--LabApp.expose_app_in_browser=True",
            "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        ]
        with _served(words, "lab", port, env, folder / "lab.log") as address:
            yield address


def run_in_lab(page, address: str, name: str) -> None:
    """Open a notebook in JupyterLab's single-document mode and run all its cells."""
    page.goto(address.format(f"doc/tree/{name}"), wait_until="domcontentloaded", timeout=90_000)
    page.wait_for_function(
        "() => window.jupyterapp?.shell.currentWidget?.sessionContext?.isReady === true", timeout=60_000
    )
    page.evaluate("async () => { await window.jupyterapp.commands.execute('notebook:run-all-cells'); }")


@contextmanager
def reserved_port() -> Iterator[int]:
    """Reserve a port. A server that allows reuse can listen on it, and the system gives it to no other process."""
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", 0))
        yield int(taken.getsockname()[1])


@contextmanager
def _served(words: list[str], kind: str, port: int, env: dict[str, str], log: Path) -> Iterator[str]:
    token, base = token_urlsafe(16), f"http://127.0.0.1:{port}/"
    own, name = {"voila": ("Voila", "voila"), "lab": ("IdentityProvider", "jupyter_server_config")}[kind]
    with private_folder() as sockets, log.open("w") as file:
        # In a file, because every user of the machine can read a command line.
        options = {own: {"token": token}, "KernelManager": {"transport": transport_in(sockets)}}
        config = Path(env["JUPYTER_CONFIG_DIR"]) / f"{name}.json"
        config.parent.mkdir(exist_ok=True)
        config.write_text(json.dumps(options), encoding="utf-8")
        places = {"JUPYTER_RUNTIME_DIR": str(sockets), "TMPDIR": str(sockets)}
        command = [sys.executable, "-c", RUN, *words]
        with subprocess.Popen(command, env={**env, **places}, stdout=file, stderr=subprocess.STDOUT) as server:
            try:
                _wait(server, base, log)
                yield f"{base}{{}}?token={token}"
            finally:
                server.terminate()
                try:
                    server.wait(15)
                except subprocess.TimeoutExpired:
                    server.kill()


def _wait(server: subprocess.Popen, url: str, log: Path) -> None:
    for _ in range(600):
        if server.poll() is not None:
            break
        try:
            urllib.request.urlopen(url, timeout=20).close()
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise RuntimeError(f"{url} is not there:\n{log.read_text()[-3000:]}")
