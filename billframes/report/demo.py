"""Start the demonstration: the sandbox with its made-up firm, for the kernels of the report and the dashboard."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources

__all__ = ["DEMO_FIRM", "DEMO_REMARK", "demonstration"]

DEMO_FIRM = "Harrow & Lindqvist LLP"
DEMO_REMARK = "Demonstration: the firm, its people, clients and figures are made up."
# The user's own configuration is not used in the demonstration.
_NOT_USED = ("BILLFRAMES_PROFILE",)
_NO_PROXY = ("NO_PROXY", "no_proxy")


@contextmanager
def demonstration() -> Iterator[tuple[dict[str, str | None], str]]:
    """
    Start the sandbox in this process; kernels reach it over HTTP.

    Yields
    ------
    environment : dict of str to (str or None)
        Variables for the kernels; None removes one.
    settings : str
        The file with the firm's settings.
    """
    from billframes.sandbox import Sandbox

    demo = resources.files("billframes.report").joinpath("demo.toml")
    with resources.as_file(demo) as settings, Sandbox() as sandbox:
        exempt = next((os.environ[name] for name in _NO_PROXY if os.environ.get(name)), "")
        yield (
            {
                **dict.fromkeys(_NOT_USED),
                "BILLFRAMES_BASE_URL": sandbox.base_url,
                "BILLFRAMES_TOKEN": sandbox.tokens["full"],
                **dict.fromkeys(_NO_PROXY, ",".join(filter(None, [exempt, "127.0.0.1"]))),
            },
            str(settings),
        )
