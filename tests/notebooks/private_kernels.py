"""A pytest plugin: nbval's kernels speak over sockets that other accounts of the machine can't reach."""

from __future__ import annotations

from contextlib import ExitStack

from jupyter_client.manager import KernelManager

from billframes.widgets.dashboard.kernel import private_folder, skip_unused_grammar, transport_in

_ending = ExitStack()


class PrivateKernel(KernelManager):
    def __init__(self, **traits):
        folder = _ending.enter_context(private_folder())
        super().__init__(transport=transport_in(folder), connection_file=str(folder / "kernel.json"), **traits)


# conftest.py does so, too, but comes later.
skip_unused_grammar()


def pytest_configure():
    import nbval.kernel

    nbval.kernel.KernelManager = PrivateKernel


def pytest_unconfigure():
    _ending.close()
