"""The dashboard's server: Voila with a token, and kernels whose output other users of the machine can't read.

`billframes dashboard` starts it in a private folder. It ignores the user's Jupyter configuration and writes its port to
a file in that folder, so no other process can pose as the server.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

from jupyter_core.utils import run_sync
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.netutil import bind_sockets
from traitlets.config import Config
from voila.app import Voila

from billframes.report.kernel import transport_in
from billframes.widgets.dashboard import PORT_FILE, TOKEN

# The browser may load from this server only.
_POLICY = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; connect-src 'self' ws://127.0.0.1:*; "
    "frame-ancestors 'self'"
)
# Kernels of closed pages end: each has over 300 MB. Seconds without a page, and seconds between two checks.
_CULLING = {"cull_idle_timeout": 30, "cull_interval": 10, "cull_connected": False}


class Server(Voila):  # type: ignore[misc]
    """Voila on one port of 127.0.0.1. It binds the port before it writes the port to the file."""

    def listen(self) -> None:
        """Bind the port, write its number, and serve."""
        sockets = bind_sockets(self.port, "127.0.0.1")
        HTTPServer(self.app).add_sockets(sockets)
        said = Path(f"{PORT_FILE}.part")
        said.write_text(str(sockets[0].getsockname()[1]), encoding="ascii")
        said.replace(PORT_FILE)
        self.ioloop = IOLoop.current()
        try:
            self.ioloop.start()
        finally:
            self.stop()

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
    folder = Path.cwd()
    settings: dict[str, Any] = {
        "token": os.environ.pop(TOKEN),
        "port": int(port),
        "open_browser": False,
        "connection_dir_root": str(folder),
        "config_file_paths": [],
        "tornado_settings": {"headers": {"Content-Security-Policy": _POLICY}},
        "config": Config({"KernelManager": {"transport": transport_in(folder)}, "MappingKernelManager": _CULLING}),
    }
    Server.launch_instance(argv=[notebook], **settings)


if __name__ == "__main__":
    main(*sys.argv[1:])
