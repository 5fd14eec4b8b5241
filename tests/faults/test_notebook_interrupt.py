"""Interrupting a cell of a notebook ends its load within a second, and the next cell works."""

from __future__ import annotations

import queue
import sys
import time

import pytest
from jupyter_client.manager import KernelManager

from billframes.report.kernel import private_folder, transport_in
from tests.faults.server import Server, well
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
            client.wait_for_ready(timeout=60)
            yield manager, client
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)


def reply(client, seconds):
    """The answer to the cell that runs, and what it printed."""
    answer = client.get_shell_msg(timeout=seconds)["content"]
    printed = []
    while True:
        try:
            message = client.get_iopub_msg(timeout=1)
        except queue.Empty:
            break
        if message["msg_type"] == "stream":
            printed.append(message["content"]["text"])
        if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
            break
    return answer, "".join(printed)


def run(client, code, seconds=60):
    client.execute(code)
    return reply(client, seconds)


@pytest.mark.parametrize("call", ["client.time_entries(select='')", "client.expenses.get('e1')"])
def test_interrupting_a_cell_ends_a_load_within_a_second_and_the_next_cell_works(kernel, call):
    manager, client = kernel
    with Server(silent) as server:
        connecting = f"import billframes as bf\nclient = bf.Client({server.url!r}, 't0ken', timeout=60)"
        assert run(client, connecting)[0]["status"] == "ok"
        client.execute(call)
        until(lambda: server.arrivals)
        time.sleep(0.2)
        begun = time.monotonic()
        manager.interrupt_kernel()
        answer, _ = reply(client, 30)
        # A second on a machine that is not busy.
        assert time.monotonic() - begun < PROMPT
        assert answer["status"] == "error"
        assert answer["ename"] == "KeyboardInterrupt"
        server.fault = well
        answer, printed = run(client, "print(len(client.time_entries(select='')))")
        assert answer["status"] == "ok"
        assert printed == "25\n"
