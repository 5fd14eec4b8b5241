"""The kernel that the report runs in: this very Python, with an environment and a folder of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["kernel_with"]


def kernel_with(environment: Mapping[str, str | None], folder: Path) -> type[Any]:
    """
    Return a kernel manager's class that starts this Python with an environment of its own.

    The user's own start-up files and history stay out of it, and so does whatever a registered kernel called
    python3 may be: that can be another Python, without billframes.

    Parameters
    ----------
    environment : mapping of str to (str or None)
        Added to this process's variables for the kernel alone; None takes one away.
    folder : Path
        The kernel's folder and that of its settings, so no file near the user shadows a module.
    """
    from ipykernel.kernelspec import get_kernel_dict
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    own = {"IPYTHONDIR": str(folder), "MPLBACKEND": "agg", **environment}
    kept = {name: value for name, value in os.environ.items() if name not in own}
    variables = {**kept, **{name: value for name, value in own.items() if value is not None}}

    class OwnKernel(AsyncKernelManager):
        """A kernel of this Python."""

        @property
        def kernel_spec(self) -> KernelSpec:
            return KernelSpec(**get_kernel_dict())

        async def _async_start_kernel(self, **options: Any) -> None:
            await super()._async_start_kernel(**{**options, "env": variables, "cwd": str(folder)})

        start_kernel = _async_start_kernel

    return OwnKernel
