"""While a report is made, other accounts of the machine can read none of its ports, sockets and files."""

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

from billframes.errors import ConfigError
from billframes.report import building, command, kernel
from billframes.report.building import build
from billframes.report.kernel import NO_PRIVATE_SOCKETS, kernel_with, private_folder, transport_in
from tests.other_account import public_folder, read_as_nobody

SHOWN = "Privileged Client Inc"


def children() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


@pytest.mark.slow
def test_another_account_reads_nothing_of_a_report_with_narratives(environment, out, monkeypatch):
    with contextlib.ExitStack() as stack, public_folder() as temporary:
        monkeypatch.setattr(tempfile, "tempdir", str(temporary))
        monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(temporary / "runtime"))
        before, spies = set(children()), []

        def step(_what):
            kernels = [each for each in children() if each not in before]
            if kernels and not spies:
                spies.append(stack.enter_context(read_as_nobody(kernels, temporary)))

        build({"month": "2026-10", "narratives": True}, out, environment=environment, step=step)
        (found,) = spies
        # On this port ipykernel receives output of subprocesses that have its key. It sends none.
        assert len(found.ports) <= 1
        assert len(found.sockets) == 5
        assert [path.name for path in temporary.iterdir()] == []
        stack.close()
        assert found.read == []


@pytest.mark.slow
def test_another_account_can_read_a_kernel_on_tcp():
    """The same listeners read a kernel that uses TCP, so the test above can fail."""
    # It prints for a while, because a late listener does not receive earlier output.
    cells = ["pass", f"import time\nfor _ in range(50):\n    print('{SHOWN}', flush=True)\n    time.sleep(0.1)"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    with contextlib.ExitStack() as stack, public_folder() as folder:
        (folder / "readable").write_text(SHOWN)
        spies = []

        def on_cell_start(cell, cell_index):
            if cell_index == 1:
                spies.append(stack.enter_context(read_as_nobody(children(), folder)))

        manager = kernel_with({}, folder)
        NotebookClient(notebook, kernel_manager_class=manager, on_cell_start=on_cell_start).execute()
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
            assert kernel_with({}, folder)().transport == "ipc"
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


def test_without_private_sockets_narratives_are_refused_before_any_work(monkeypatch, out):
    monkeypatch.setattr(kernel, "transport_in", lambda _folder: "tcp")
    with pytest.raises(ConfigError, match="other users of this machine can read.* --narratives is refused"):
        build({"month": "2026-10", "narratives": True}, out)
    monkeypatch.setattr(command, "build", lambda *_given, **_more: pytest.fail("it was made"))
    words = _parsed("2026-10", "--demo", "--narratives", "--out", str(out))
    with pytest.raises(ConfigError, match="--format xlsx"):
        command.run(words)


@pytest.mark.slow
def test_without_private_sockets_a_report_says_so_in_one_sentence(monkeypatch, environment, out):
    for module in (kernel, building):
        monkeypatch.setattr(module, "transport_in", lambda _folder: "tcp")
    said = []
    # The first month of the data, so that the kernel has less to compare.
    build({"month": "2024-01"}, out, environment=environment, step=said.append)
    assert said.count(NO_PRIVATE_SOCKETS) == 1
    assert out.exists()


def _parsed(*words):
    import argparse

    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser.parse_args(words)
