"""Interrupting a cell of a notebook ends its load within a second, and the next cell works."""

from __future__ import annotations

import sys
import time

import pytest
from jupyter_client.manager import KernelManager

from billframes.widgets.dashboard.kernel import private_folder, transport_in
from tests.faults.server import Server, respond_correctly
from tests.faults.test_interrupt import PROMPT, silent, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="a kernel is interrupted in another way there"),
]


@pytest.fixture
def kernel():
    """A real kernel, as JupyterLab starts one; interrupting it sends SIGINT."""
    with private_folder() as folder:
        manager = KernelManager(transport=transport_in(folder), connection_file=str(folder / "kernel.json"))
        manager.start_kernel()
        client = manager.client()
        client.start_channels()
        try:
            client.wait_for_ready(timeout=180)
            yield manager, client
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)


def reply(client, cell, seconds=180):
    """Return the reply to a cell."""
    while True:
        message = client.get_shell_msg(timeout=seconds)
        if message["parent_header"].get("msg_id") == cell:
            return message["content"]


def run(client, code):
    return reply(client, client.execute(code))["status"]


@pytest.mark.parametrize("call", ["client.time_entries(select='')", "client.expenses.get('e1')"])
def test_interrupting_a_cell_ends_a_load_within_a_second_and_the_next_cell_works(kernel, call):
    manager, client = kernel
    with Server(silent) as server:
        connecting = f"import billframes as bf\nclient = bf.Client({server.url!r}, 't0ken', timeout=60)"
        assert run(client, connecting) == "ok"
        # With `stop_on_error`, the kernel would abort the next cell if it arrives too soon after the error.
        cell = client.execute(call, stop_on_error=False)
        until(lambda: server.arrivals)
        time.sleep(0.2)
        begun = time.monotonic()
        manager.interrupt_kernel()
        answer = reply(client, cell)
        # It takes a second on a machine that is not busy.
        assert time.monotonic() - begun < PROMPT
        assert answer["status"] == "error"
        assert answer["ename"] == "KeyboardInterrupt"
        server.fault = respond_correctly
        assert run(client, "assert len(client.time_entries(select='')) == 25") == "ok"
