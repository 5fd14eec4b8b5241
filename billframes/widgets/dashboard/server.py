"""The dashboard's server: Voila with a token, and kernels whose output other users of the machine can't read.

`billframes dashboard` starts it in a private folder and passes the token by standard input. It ignores the user's
Jupyter configuration and writes its port to a file in that folder, so no other process can pose as the server.

The address with the token only sets a cookie for the browser's session, and leads to the address without it. Requests
with the name of another host are refused: such a name may be one that a web page let point to this machine.

One kernel is always ready, with the page already drawn. When a visitor opens the page, another kernel is prepared. When
a visitor loads the records again, the ready kernel is replaced, because it has the old records.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import threading
from html import escape
from pathlib import Path
from typing import Any

from jupyter_core.utils import ensure_async, run_sync
from jupyter_server._tz import utcnow
from jupyter_server.auth.decorator import allow_unauthenticated
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop, PeriodicCallback
from tornado.netutil import bind_sockets
from tornado.routing import HostMatches, Rule, RuleRouter
from tornado.web import Application, RequestHandler
from traitlets.config import Config
from voila.app import Voila
from voila.request_info_handler import RequestInfoSocketHandler
from voila.tornado.handler import TornadoVoilaHandler

from billframes.widgets.dashboard import FOLDER_VARIABLE, IDLE_VARIABLE, PORT_FILE, RELOADED_FILE
from billframes.widgets.dashboard.kernel import transport_in

# The browser may load only from this server.
_POLICY = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; connect-src 'self' ws://127.0.0.1:*; "
    "frame-ancestors 'self'"
)
# The names of this machine, also through a forwarded port.
_OWN_HOSTS = r"^(127\.0\.0\.1|localhost)$"
# Not a redirect: after one from another site, or from a file, the browser would not send the cookie.
_LEAD_TO_PAGE = (
    "<!DOCTYPE html><title>Dashboard</title><script>const chosen = new URLSearchParams(location.search); "
    'chosen.delete("token"); location.replace(chosen.size ? `/?${chosen}` : "/")</script>'
    '<noscript><a href="/">Open the dashboard</a></noscript>'
)
_CLOSED = """<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Dashboard</title>
<meta name="viewport" content="width=device-width">
<style>body { font: 16px/1.5 "Segoe UI", Roboto, Arial, "Liberation Sans", sans-serif; max-width: 34em;
margin: 3em auto; padding: 0 1em; color: #1c1c1c } h1 { font-size: 22px; line-height: 1.3 }
code { background: #f3f6f9; overflow-wrap: anywhere }</style>
<h1>This dashboard opens with its full address</h1>
<p>Open the address that <code>billframes dashboard</code> printed in the terminal. It begins with
<code>http://__HOST__/?token=</code>.</p>
<p>After that, this address opens in the same browser, too, with the tab, period and filters in it, until the browser or
the dashboard is closed.</p></html>"""
# Kernels of closed pages, each with over 300 MB, end after so many seconds and at most a third more.
IDLE_SECONDS = 30
# Seconds until the next kernel is prepared, so that the page that took the last one is drawn first.
_PAUSE = 3.0
# Milliseconds between checks whether records were loaded again, and whether kernels have died.
_CHECK_INTERVAL = 5_000
# Seconds for a kernel to answer. Only after them Jupyter notices that a page was closed while it waited.
_ANSWER_TIMEOUT = 20.0
# Seconds to wait for a cell's output after its end. If it takes longer, the page stays blank.
_OUTPUT_TIMEOUT = 300


class PageConnection(ZMQChannelsWebsocketConnection):
    """
    A page's connection to its kernel, which is counted only while it is open.

    If a page is reloaded quickly, it closes its connection while Jupyter waits for the kernel's first answer. Jupyter
    would then count -1 connections, or open the closed connection and never stop counting it. It ends only kernels with
    0 connections.
    """

    _counted = False
    _closed = False

    def connect(self) -> Any:
        """Count the connection and open it, unless it is closed already."""
        if self._closed:
            done: asyncio.Future[None] = asyncio.Future()
            done.set_result(None)
            return done
        self._counted = True
        return super().connect()

    def disconnect(self) -> Any:
        """Close the connection. One that was not opened was not counted."""
        if not self._counted:
            self.multi_kernel_manager.notify_connect(self.kernel_id)
        self._counted, self._closed = False, True
        return super().disconnect()  # type: ignore[no-untyped-call]


class PageHandler(TornadoVoilaHandler):  # type: ignore[misc]
    """The dashboard's page, without the token in its address."""

    @allow_unauthenticated
    async def get(self, path: str | None = None) -> None:
        """Send the page, or lead to it without the token; the cookie for it is set before."""
        if not self.current_user:
            refuse(self)
            return
        if not self.get_query_argument("token", ""):
            await super().get(path)
            return
        self.set_header("Cache-Control", "no-store")
        self.set_header("Referrer-Policy", "no-referrer")
        self.finish(_LEAD_TO_PAGE)


class NoTokenHandler(RequestHandler):
    """Takes the place of Jupyter's login page."""

    def get(self) -> None:
        """Say how the dashboard is opened."""
        refuse(self)


def refuse(handler: RequestHandler) -> None:
    """Send the page that says how the dashboard is opened."""
    handler.set_status(403)
    handler.set_header("Content-Security-Policy", _POLICY)
    handler.finish(_CLOSED.replace("__HOST__", escape(handler.request.host)))


class OtherHostHandler(RequestHandler):
    """Refuses requests with the name of another host."""

    def prepare(self) -> None:
        """Refuse the request, whatever its method."""
        self.set_status(403)
        self.finish("The dashboard is at 127.0.0.1 only.")


class DashboardServer(Voila):  # type: ignore[misc]
    """Voila on one port of 127.0.0.1. It binds the port before it writes the port to the file."""

    _left_alone = False

    def init_settings(self) -> dict[str, Any]:
        """Make a kernel count as active when a page takes it, because it may have waited for hours."""
        settings: dict[str, Any] = super().init_settings()
        rendered = self.kernel_manager.get_rendered_notebook

        async def take_active(*args: Any, **kwargs: Any) -> Any:
            task, cache, kernel = await rendered(*args, **kwargs)
            self.kernel_manager.get_kernel(kernel).last_activity = utcnow()
            return task, cache, kernel

        self.kernel_manager.get_rendered_notebook = take_active
        return settings

    def init_handlers(self) -> list[Any]:
        """Leave out the socket that publishes the requests of pages, because an address may have the token."""
        kept = [each for each in super().init_handlers() if each[1] is not RequestInfoSocketHandler]
        pages = [(each[0], PageHandler, *each[2:]) if each[1] is TornadoVoilaHandler else each for each in kept]
        return [("/login", NoTokenHandler), *pages]

    def listen(self) -> None:
        """Bind the port, write its number to the file, and serve."""
        sockets = bind_sockets(self.port, "127.0.0.1")
        others = Application([(".*", OtherHostHandler)])
        HTTPServer(RuleRouter([Rule(HostMatches(_OWN_HOSTS), self.app), (".*", others)])).add_sockets(sockets)
        part = Path(f"{PORT_FILE}.part")
        part.write_text(str(sockets[0].getsockname()[1]), encoding="ascii")
        part.replace(PORT_FILE)
        self._reload_time = _reload_time()
        PeriodicCallback(self._replace_ready_kernel, _CHECK_INTERVAL).start()
        PeriodicCallback(self._remove_dead_kernels, _CHECK_INTERVAL).start()
        self.ioloop = IOLoop.current()
        threading.Thread(target=self._end_with_command, daemon=True).start()
        try:
            self.ioloop.start()
        finally:
            self.stop()

    async def _replace_ready_kernel(self) -> None:
        """Prepare another kernel if the records were loaded again since the last one was prepared."""
        if (reload_time := _reload_time()) == self._reload_time:
            return
        self._reload_time = reload_time
        manager = self.kernel_manager
        name = manager.notebook_path
        for task in list(manager._pools.get(name, ())):
            await ensure_async(manager.shutdown_kernel((await task)["kernel_id"]))
        manager.fill_if_needed(delay=0, notebook_name=name)

    async def _remove_dead_kernels(self) -> None:
        """Remove kernels whose process has died, so that their pages say it; they are not started again."""
        manager = self.kernel_manager
        for kernel in manager.list_kernel_ids():
            # One that is just starting has no process yet.
            if manager.get_kernel(kernel).has_kernel and not await ensure_async(manager.is_alive(kernel)):
                await ensure_async(manager.shutdown_kernel(kernel, now=True))
                # It may have been the ready one.
                manager.fill_if_needed(delay=0, notebook_name=manager.notebook_path)

    def _end_with_command(self) -> None:
        """End when the command has ended, also if it was killed: its end of the standard input is then closed."""
        sys.stdin.read()
        self._left_alone = True
        self.ioloop.add_callback(self.ioloop.stop)

    def setup_template_dirs(self) -> None:
        """Use the dashboard's page, which has no links to public networks, instead of Voila's."""
        super().setup_template_dirs()
        self.template_paths.insert(0, str(Path(__file__).parent / "template"))

    def stop(self) -> None:
        """Stop the kernels before their sockets are removed; all files, if the command can't remove them."""
        run_sync(self.kernel_manager.shutdown_all)()
        shutil.rmtree(Path.cwd() if self._left_alone else self.connection_dir, ignore_errors=True)


def main(notebook: str, port: str) -> None:
    """Serve a notebook on a port; 0 means any free port."""
    # By standard input, because every user of the machine can read a command line. Kernels never receive the token.
    token = sys.stdin.readline().strip()
    folder = Path.cwd()
    idle = float(os.environ.get(IDLE_VARIABLE, IDLE_SECONDS))
    culling = {"cull_idle_timeout": round(idle), "cull_interval": max(1, round(idle / 3)), "cull_connected": False}
    kernels = {"transport": transport_in(folder)}
    settings: dict[str, Any] = {
        "token": token,
        "port": int(port),
        "open_browser": False,
        "kernel_websocket_connection_class": PageConnection,
        "connection_dir_root": str(folder),
        "config_file_paths": [],
        "tornado_settings": {"headers": {"Content-Security-Policy": _POLICY}},
        "config": Config(
            {
                "IdentityProvider": {"cookie_options": {"samesite": "Strict", "path": "/", "expires_days": None}},
                "KernelManager": {**kernels, "autorestart": False},
                "VoilaExecutor": {"iopub_timeout": _OUTPUT_TIMEOUT},
                "MappingKernelManager": {**culling, "kernel_info_timeout": _ANSWER_TIMEOUT},
                "VoilaKernelManager": {"fill_delay": _PAUSE},
                "VoilaConfiguration": {"preheat_kernel": True, "default_pool_size": 1},
            }
        ),
    }
    DashboardServer.launch_instance(argv=[notebook], **settings)


def _reload_time() -> float:
    """Return the time when a visitor last loaded the records again; 0 if never."""
    path = Path(os.environ[FOLDER_VARIABLE]) / RELOADED_FILE
    return path.stat().st_mtime if path.exists() else 0.0
