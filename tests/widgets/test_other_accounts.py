"""The folder and the sockets of a kernel, which other accounts of the machine can't read."""

from __future__ import annotations

import contextlib
import socket
import stat
import sys
import tempfile

import nbformat
import psutil
import pytest
from nbclient import NotebookClient

from billframes.widgets.dashboard import kernel
from billframes.widgets.dashboard.kernel import private_folder, transport_in
from tests.other_account import public_folder, read_as_nobody

SHOWN = "Privileged Client Inc"


def children() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


@pytest.mark.slow
def test_another_account_can_read_a_kernel_on_tcp():
    """The listeners of the dashboard's test read a kernel that uses TCP, so that test can fail."""
    # It prints for a while, because a late listener does not receive earlier output.
    cells = ["pass", f"import time\nfor _ in range(50):\n    print('{SHOWN}', flush=True)\n    time.sleep(0.1)"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    with contextlib.ExitStack() as stack, public_folder() as folder:
        (folder / "readable").write_text(SHOWN)
        spies = []

        def on_cell_start(cell, cell_index):
            if cell_index == 1:
                spies.append(stack.enter_context(read_as_nobody(children(), folder)))

        NotebookClient(notebook, on_cell_start=on_cell_start).execute()
        stack.close()
        places = [place for place, text in spies[0].read if SHOWN in text]
    assert len(spies[0].ports) >= 5
    assert any(place.startswith("tcp://") for place in places)
    assert str(folder / "readable") in places


def test_a_kernels_folder_is_private_and_short_enough_for_its_sockets(monkeypatch, tmp_path):
    deep = tmp_path / ("a" * 80)
    deep.mkdir()
    for temporary in (str(deep), tempfile.gettempdir()):
        monkeypatch.setattr(tempfile, "tempdir", temporary)
        with private_folder() as folder:
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            assert transport_in(folder) == "ipc"
        assert not folder.exists()
    assert list(deep.iterdir()) == []


def _open_to_others(monkeypatch, folder):
    folder.chmod(0o755)


def _a_file_system_without_sockets(monkeypatch, _folder):
    def refuse(_self, _path):
        raise OSError("not here")

    class Refusing(socket.socket):
        bind = refuse

    monkeypatch.setattr(kernel.socket, "socket", Refusing)


def _windows(monkeypatch, _folder):
    monkeypatch.setattr(sys, "platform", "win32")


@pytest.mark.parametrize("spoil", [_open_to_others, _a_file_system_without_sockets, _windows])
def test_without_private_sockets_a_kernel_uses_tcp(monkeypatch, spoil):
    with private_folder() as folder:
        spoil(monkeypatch, folder)
        assert transport_in(folder) == "tcp"
