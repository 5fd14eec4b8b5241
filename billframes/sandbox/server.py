"""Run the sandbox as an HTTP server in a thread of this process.

>>> from billframes.sandbox import Sandbox
>>> with Sandbox(seed=7) as sandbox:  # doctest: +SKIP
...     print(sandbox.base_url, sandbox.tokens["full"])
"""

from __future__ import annotations

import asyncio
import math
import os
import socket
import threading
import time
import weakref
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Literal, Self

from billframes._shared.forks import Process, in_each_child
from billframes.errors import ConfigError
from billframes.sandbox.credentials import TOKENS
from billframes.sandbox.invoices import Admin
from billframes.sandbox.openapi import HEALTH_PATH
from billframes.sandbox.seed import SIZES, seed_database, template_path
from billframes.sandbox.store import Store
from billframes.schema.records import BALANCE_SETS

try:
    import uvicorn

    from billframes.sandbox.app import RequestTracker, application
    from billframes.sandbox.fault_injection import BackgroundWriter, Trouble
    from billframes.sandbox.throttle import Throttle
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in {"anyio", "starlette", "uvicorn"}:
        raise
    raise ConfigError("The sandbox needs a web server: pip install 'billframes[sandbox]'.") from error

# All in seconds: for the server to start, for requests in progress to finish when the sandbox stops, and for the server
# to end after that.
_START_TIMEOUT = 30.0
_REQUEST_TIMEOUT = 3.0
_END_TIMEOUT = 5.0


class Sandbox:
    """
    A server of the whole API with a made-up law firm, for demos, notebooks and tests.

    Parameters
    ----------
    size : {"small", "medium", "large"}
        About 25,000, 250,000 or 2,500,000 time entries.
    seed : int
        The same seed and size give the same firm.
    db : str or Path, optional
        The SQLite file of the firm. If it exists, `size` and `seed` are ignored. None uses a temporary file, which
        `stop` removes.
    host : str
        The address to listen on. Unless it is a loopback address, the network can reach the sandbox, whose tokens are
        public.
    port : int
        The port to listen on; 0 takes any free port.
    balances : {"A", "B"}
        Which of the two field sets of the API's description client balances have.
    trouble : Trouble, optional
        The faults to inject; use it to try your error handling.
    throttle : Throttle, optional
        The rate limits, beyond which calls get 429.
    latency_ms : float
        Milliseconds by which every call is delayed, 0 or more.
    audit : bool
        Whether to record every change, in the order of commits, in the database's table `audit`.

    Raises
    ------
    ConfigError
        `latency_ms` is negative, infinite or not a number, or `size` or `balances` is unknown. Raised by `start` if the
        file is not a sandbox database or can't be written, or if the sandbox can't listen on the address.
    """

    def __init__(
        self,
        *,
        size: str = "small",
        seed: int = 0,
        db: str | Path | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        balances: Literal["A", "B"] = "A",
        trouble: Trouble | None = None,
        throttle: Throttle | None = None,
        latency_ms: float = 0.0,
        audit: bool = False,
    ) -> None:
        if not 0 <= latency_ms < math.inf:
            raise ConfigError(f"latency_ms is {latency_ms}; expected a number of milliseconds, 0 or more.")
        if size not in SIZES:
            raise ConfigError(f"size is {size!r}; expected one of {', '.join(SIZES)}.")
        if balances not in BALANCE_SETS:
            raise ConfigError(f"balances is {balances!r}; expected one of {', '.join(BALANCE_SETS)}.")
        self._size = size
        self._seed = seed
        self._db = db
        self._host = host
        self._port = port
        self._balances = balances
        self._trouble = trouble or Trouble()
        self._throttle = throttle
        self._latency_ms = latency_ms
        self._audit = audit
        self._writer: BackgroundWriter | None = None
        self._store: Store | None = None
        self._server: _UvicornServer | None = None
        self._thread: threading.Thread | None = None
        self._listener: socket.socket | None = None
        self._process = Process.current()

    def __repr__(self) -> str:
        return f"Sandbox({self.base_url!r})" if self._store else "Sandbox(stopped)"

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def base_url(self) -> str:
        """The server's address, without a slash at the end."""
        self._running_store()
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self._host, self._host)  # noqa: S104
        return f"http://[{host}]:{self._port}" if ":" in host else f"http://{host}:{self._port}"

    @property
    def tokens(self) -> dict[str, str]:
        """The tokens by name: `full` and `service` may see rates, `norates` may not; `service` has no user."""
        return dict(TOKENS)

    @property
    def firm_settings(self) -> Path | None:
        """
        The file with the firm's settings, which the API does not know; `FirmSettings.load` reads it.

        None for firms of another size or seed, and for a file of your own: their people and matters are others.
        """
        seeded = self._db is None and (self._size, self._seed) == ("small", 0)
        return Path(__file__).with_name("firm.toml") if seeded else None

    @property
    def health_path(self) -> str:
        """The path of the health check, which is not in the API's description."""
        return HEALTH_PATH

    @property
    def database(self) -> Path:
        """The path of the SQLite file, for checking figures by SQL."""
        return self._running_store().path

    @property
    def admin(self) -> Admin:
        """The bookkeeper, who creates, moves, pays and voids invoices; the public API only lists them."""
        return Admin(self._running_store())

    @property
    def is_open_to_network(self) -> bool:
        """Whether other machines can reach the sandbox."""
        try:
            return not ip_address(self._host).is_loopback
        except ValueError:
            return self._host != "localhost"

    def start(self) -> Self:
        """Create the firm if the file does not exist, start the server, and return when it is ready."""
        if self._store is not None:
            return self
        self._process = Process.current()
        listener = self._listener = _listen(self._host, self._port)
        _started.add(self)
        try:
            fill = partial(seed_database, seed=self._seed, size=self._size)
            template = partial(template_path, seed=self._seed, size=self._size)
            self._store = Store(self._db, fill, template=template, audit=self._audit)
            self._port = listener.getsockname()[1]
            self._serve(listener)
            if self._trouble.writes_per_second:
                self._writer = BackgroundWriter(self._store, self._trouble).start()
        except BaseException:
            listener.close()
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """
        Stop the server and close the database. Stopping again has no effect.

        Requests in progress have three seconds to finish. Those that do not finish get 503. If this process was forked
        from the one that started the server, it continues there.
        """
        writer, server, thread, store = self._writer, self._server, self._thread, self._store
        self._server = self._thread = self._store = self._writer = self._listener = None
        if not self._process.is_current:
            return
        try:
            if writer is not None:
                writer.stop()
            if server is not None and thread is not None:
                server.should_exit = True
                thread.join(_REQUEST_TIMEOUT + _END_TIMEOUT)
        finally:
            if store is not None:
                store.close()

    def _serve(self, listener: socket.socket) -> None:
        app = application(
            self._running_store(),
            balances=self._balances,
            trouble=self._trouble,
            throttle=self._throttle,
            latency_ms=self._latency_ms,
        )
        # uvicorn would log each response that is cut on purpose.
        server = self._server = _UvicornServer(
            RequestTracker(app), log_level="critical" if self._trouble.faults else "warning"
        )
        name = f"billframes sandbox on port {self._port}"
        self._thread = threading.Thread(target=server.run, args=([listener],), name=name, daemon=True)
        self._thread.start()
        deadline = time.monotonic() + _START_TIMEOUT
        while not server.started:
            if not self._thread.is_alive() or time.monotonic() > deadline:
                raise ConfigError("The sandbox's server did not start; see its log.")
            time.sleep(0.005)

    def close_copies(self) -> None:
        """Close the copies of the server's sockets in a forked process, where no thread serves them."""
        connections = self._server.server_state.connections if self._server else ()
        transports = [each.transport for each in tuple(connections)]
        # A socket of asyncio can't be detached by its public methods, and closing it would change the parent's loop.
        sockets = [getattr(each, "_sock", None) for each in transports]
        for copied in filter(None, [self._listener, *sockets]):
            if (handle := copied.detach()) >= 0:
                os.close(handle)

    def _running_store(self) -> Store:
        if self._store is None:
            raise ConfigError("The sandbox is not running: call start(), or use it in a with statement.")
        return self._store


_started: weakref.WeakSet[Sandbox] = weakref.WeakSet()


def _close_copies() -> None:
    for each in list(_started):
        each.close_copies()


in_each_child(_close_copies)


class _UvicornServer(uvicorn.Server):
    """A web server that ends unfinished requests itself, because uvicorn prints a traceback for each one it cancels."""

    def __init__(self, requests: RequestTracker, log_level: str) -> None:
        config = uvicorn.Config(
            requests,
            # A library must not change the logging of its process.
            log_config=None,
            log_level=log_level,
            access_log=False,
            lifespan="off",
            ws="none",
            date_header=False,
            server_header=False,
            timeout_keep_alive=60,
            timeout_graceful_shutdown=round(_REQUEST_TIMEOUT + _END_TIMEOUT),
        )
        super().__init__(config)
        self._requests = requests

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(_REQUEST_TIMEOUT, self._requests.end)
        # A caller that does not read its response would keep its connection open forever.
        loop.call_later(_REQUEST_TIMEOUT + 1, self._disconnect)
        await super().shutdown(sockets)

    def _disconnect(self) -> None:
        for connection in tuple(self.server_state.connections):
            if connection.transport is not None:
                connection.transport.abort()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns off Nagle's algorithm, which delays small responses by 40 ms, only if the protocol is named.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except (OSError, OverflowError) as error:
        listener.close()
        raise ConfigError(f"The sandbox can't listen on {host} port {port}: {error}.") from error
    return listener
