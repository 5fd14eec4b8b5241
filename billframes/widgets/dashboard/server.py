"""The dashboard's server: Voila with a token, and kernels whose output other users of the machine can't read.

`billframes dashboard` starts it in a private folder and tells it by standard input what to serve. It ignores the user's
Jupyter configuration and writes its port to a file in that folder, so no other process can pose as the server.

One kernel is kept ready with the page already drawn. A visit takes it, and the next one is prepared meanwhile. When a
visitor loads the records again, the kernel that is ready is replaced, because it has the old ones.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from jupyter_core.utils import ensure_async, run_sync
from jupyter_server._tz import utcnow
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop, PeriodicCallback
from tornado.netutil import bind_sockets
from traitlets.config import Config
from voila.app import Voila
from voila.request_info_handler import RequestInfoSocketHandler

from billframes.report.kernel import transport_in
from billframes.widgets.dashboard import CLEARED, FRAMES, IDLE, PORT_FILE

# The browser may load from this server only.
_POLICY = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; connect-src 'self' ws://127.0.0.1:*; "
    "frame-ancestors 'self'"
)
# Kernels of closed pages end after so many seconds, and a third of it until it is noticed: each has over 300 MB.
IDLE_SECONDS = 30
# Seconds until the next kernel is prepared: the page that took the last one is drawn first.
_PAUSE = 3.0
_CHECK = 5_000
# Seconds for a kernel to say what it is; Jupyter notices only after them that the page was closed meanwhile.
_ANSWER = 20.0


class Connection(ZMQChannelsWebsocketConnection):
    """
    A page's connection to its kernel, which counts only while it is open.

    A page that is reloaded at once closes its connection while Jupyter still asks the kernel about itself. Jupyter
    then counts -1 connections, or opens what is closed and counts it for ever. It ends a kernel only if it has 0.
    """

    _counted = False
    _closed = False

    def connect(self) -> Any:
        """Count the connection, and open it, unless it was closed meanwhile."""
        if self._closed:
            nothing: asyncio.Future[None] = asyncio.Future()
            nothing.set_result(None)
            return nothing
        self._counted = True
        return super().connect()

    def disconnect(self) -> Any:
        """Close the connection; one that was not opened was not counted."""
        if not self._counted:
            self.multi_kernel_manager.notify_connect(self.kernel_id)
        self._counted, self._closed = False, True
        return super().disconnect()  # type: ignore[no-untyped-call]


class Server(Voila):  # type: ignore[misc]
    """Voila on one port of 127.0.0.1. It binds the port before it writes the port to the file."""

    def init_settings(self) -> dict[str, Any]:
        """Count a kernel that a visit takes as active: it may have waited for hours, and the page needs a moment."""
        settings: dict[str, Any] = super().init_settings()
        rendered = self.kernel_manager.get_rendered_notebook

        async def taken(*args: Any, **kwargs: Any) -> Any:
            task, cache, kernel = await rendered(*args, **kwargs)
            self.kernel_manager.get_kernel(kernel).last_activity = utcnow()
            return task, cache, kernel

        self.kernel_manager.get_rendered_notebook = taken
        return settings

    def init_handlers(self) -> list[Any]:
        """Leave out the socket that tells others of a page's request, which has the token in its address."""
        return [each for each in super().init_handlers() if each[1] is not RequestInfoSocketHandler]

    def listen(self) -> None:
        """Bind the port, write its number, and serve."""
        sockets = bind_sockets(self.port, "127.0.0.1")
        HTTPServer(self.app).add_sockets(sockets)
        said = Path(f"{PORT_FILE}.part")
        said.write_text(str(sockets[0].getsockname()[1]), encoding="ascii")
        said.replace(PORT_FILE)
        self._cleared = _time_cleared()
        PeriodicCallback(self._replace_ready_kernel, _CHECK).start()
        self.ioloop = IOLoop.current()
        try:
            self.ioloop.start()
        finally:
            self.stop()

    async def _replace_ready_kernel(self) -> None:
        """Prepare another kernel if the records were loaded again since the last one was prepared."""
        if (cleared := _time_cleared()) == self._cleared:
            return
        self._cleared = cleared
        manager = self.kernel_manager
        name = manager.notebook_path
        for task in list(manager._pools.get(name, ())):
            await ensure_async(manager.shutdown_kernel((await task)["kernel_id"]))
        manager.fill_if_needed(delay=0, notebook_name=name)

    def setup_template_dirs(self) -> None:
        """Put the dashboard's page, which links to nothing on public networks, before Voila's."""
        super().setup_template_dirs()
        self.template_paths.insert(0, str(Path(__file__).parent / "template"))

    def stop(self) -> None:
        """Stop the kernels before their sockets are removed."""
        run_sync(self.kernel_manager.shutdown_all)()
        shutil.rmtree(self.connection_dir, ignore_errors=True)


def main(notebook: str, port: str) -> None:
    """Serve a notebook on a port; 0 means any free port."""
    # The token comes by standard input: everyone on the machine can read a command line. Kernels never see it.
    token = sys.stdin.readline().strip()
    folder = Path.cwd()
    idle = float(os.environ.get(IDLE, IDLE_SECONDS))
    culling = {"cull_idle_timeout": round(idle), "cull_interval": max(1, round(idle / 3)), "cull_connected": False}
    kernels = {"transport": transport_in(folder)}
    settings: dict[str, Any] = {
        "token": token,
        "port": int(port),
        "open_browser": False,
        "kernel_websocket_connection_class": Connection,
        "connection_dir_root": str(folder),
        "config_file_paths": [],
        "tornado_settings": {"headers": {"Content-Security-Policy": _POLICY}},
        "config": Config(
            {
                "KernelManager": kernels,
                "MappingKernelManager": {**culling, "kernel_info_timeout": _ANSWER},
                "VoilaKernelManager": {"fill_delay": _PAUSE},
                "VoilaConfiguration": {"preheat_kernel": True, "default_pool_size": 1},
            }
        ),
    }
    Server.launch_instance(argv=[notebook], **settings)


def _time_cleared() -> float:
    """Return when a visitor last loaded the records again; 0 if never."""
    path = Path(os.environ[FRAMES]) / CLEARED
    return path.stat().st_mtime if path.exists() else 0.0
