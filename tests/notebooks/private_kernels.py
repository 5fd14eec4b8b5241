"""A pytest plugin: nbval's kernels speak over sockets that other accounts of the machine can't reach."""

from __future__ import annotations

from contextlib import ExitStack

import nbval.kernel
from jupyter_client.manager import KernelManager

from billframes.report.kernel import private_folder, transport_in

_ending = ExitStack()


class PrivateKernel(KernelManager):
    def __init__(self, **traits):
        folder = _ending.enter_context(private_folder())
        super().__init__(transport=transport_in(folder), connection_file=str(folder / "kernel.json"), **traits)


def pytest_configure():
    nbval.kernel.KernelManager = PrivateKernel


def pytest_unconfigure():
    _ending.close()
