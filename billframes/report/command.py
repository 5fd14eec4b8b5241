"""`billframes report`: a month's report as one HTML file."""

from __future__ import annotations

import argparse
import datetime as dt
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from billframes.api.client import Client
from billframes.errors import ParameterError
from billframes.periods import month_end
from billframes.report.building import build, check_extras, check_out
from billframes.report.formats import long_date
from billframes.report.month import read_month
from billframes.settings.firm import FirmSettings

__all__ = ["add_arguments", "run"]

DEMO_MONTH = "2026-10"
DEMO_FIRM = "Harrow & Lindqvist LLP"
DEMO_REMARK = "Demonstration: the firm, its people, clients and figures are made up."
# What a user has configured has no say in a demonstration, and no proxy stands before this machine itself.
_NOT_IN_DEMO = ("BILLFRAMES_PROFILE",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options on `parser`."""
    parser.add_argument("month", nargs="?", metavar="MONTH", help="such as 2026-10 (default: last month)")
    parser.add_argument("--demo", action="store_true", help="of the bundled sandbox's made-up firm, 2026-10 by default")
    parser.add_argument("--out", metavar="FILE", help="where to write (default: billframes-MONTH.html, here)")
    parser.add_argument("--settings", metavar="FILE", help="the firm's settings: holidays, part time, leave, targets")
    parser.add_argument("--format", default="html", help="html; xlsx and pdf come with a later version")


def run(args: argparse.Namespace) -> int:
    """Make the report, say where it is, and return the exit code."""
    if args.format != "html":
        raise ParameterError(f"--format {args.format} is not there yet; the report comes as html.")
    first = read_month(args.month or (DEMO_MONTH if args.demo else "last month"))
    out = Path(args.out or f"billframes-{first:%Y-%m}.html").absolute()
    check_extras()
    check_out(out)
    now = dt.datetime.now().astimezone()
    parameters = {"month": f"{first:%Y-%m}", "generated": f"{long_date(now.date())}, {now:%H:%M}"}
    if args.settings:
        FirmSettings.load(args.settings)
        parameters["settings"] = str(Path(args.settings).absolute())
    steps = _Steps()
    with _demo(steps) if args.demo else _own(first, now.date()) as (environment, more):
        build({**more, **parameters}, out, environment=environment, step=steps)
    steps.done()
    print(out)  # noqa: T201
    return 0


class _Steps:
    """Says each step on stderr, with the seconds since the start."""

    def __init__(self) -> None:
        self._begun = time.monotonic()

    def __call__(self, what: str) -> None:
        print(f"{time.monotonic() - self._begun:5.1f} s  {what}", file=sys.stderr, flush=True)  # noqa: T201

    def done(self) -> None:
        self("Done")


Kernel = tuple[Mapping[str, str | None], dict[str, str]]


@contextmanager
def _own(first: dt.date, today: dt.date) -> Iterator[Kernel]:
    """Connect as the machine is configured; a month that is not over is counted up to today."""
    if first > today:
        raise ParameterError(f"{first:%Y-%m} has not begun yet; give a month up to {today:%Y-%m}.")
    # Says at once, not after a kernel has started, where nothing is configured.
    Client().close()
    yield {}, {"as_of": min(today, month_end(first)).isoformat()}


@contextmanager
def _demo(step: _Steps) -> Iterator[Kernel]:
    """Start the sandbox in this process; the kernel talks to it over HTTP."""
    from billframes.sandbox import Sandbox

    step("Starting the sandbox with its made-up firm")
    with (
        resources.as_file(resources.files("billframes.report").joinpath("demo.toml")) as settings,
        Sandbox() as sandbox,
    ):
        environment: dict[str, str | None] = dict.fromkeys(_NOT_IN_DEMO)
        environment |= {"BILLFRAMES_BASE_URL": sandbox.base_url, "BILLFRAMES_TOKEN": sandbox.tokens["full"]}
        exempt = os.environ.get("NO_PROXY") or os.environ.get("no_proxy") or ""
        environment |= dict.fromkeys(("NO_PROXY", "no_proxy"), ",".join(filter(None, [exempt, "127.0.0.1"])))
        yield environment, {"title": DEMO_FIRM, "remark": DEMO_REMARK, "settings": str(settings)}
