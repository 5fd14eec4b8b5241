"""`billframes sync`: bring a mirror up to date, or show its status.

It suits cron and the Task Scheduler: it logs one line, its exit code is 0 only if the mirror is up to date, and of two
runs at the same time one waits for the other.
"""

from __future__ import annotations

import argparse
import sys

import pandas as pd

from billframes._messages import say
from billframes._session import mirror
from billframes.commands import add_connection, connected
from billframes.mirror import Mirror

__all__ = ["EXAMPLES", "add_arguments", "run"]

EXAMPLES = ("billframes sync firm-mirror", "billframes sync firm-mirror --status")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options on `parser`."""
    parser.add_argument("path", metavar="PATH", help="the mirror's folder, or s3://…; created if it does not exist")
    parser.add_argument(
        "--status", action="store_true", help="show its age, sizes, versions and tags, without loading records"
    )
    parser.add_argument("--full", action="store_true", help="load all records again, and write those that differ")
    add_connection(parser, mirror=False, more=", once for each PATH")


def run(args: argparse.Namespace) -> int:
    """Refresh the mirror or show its status, and return the exit code."""
    if args.status:
        _status(mirror(args.path))
        return 0
    with connected(args) as client:
        opened = mirror(args.path, client=client)
        summary = opened.refresh(full=args.full)
    if sys.stdout.isatty():
        say(summary.round(1).to_string(index=False))
    say(_line(opened, summary))
    return 0


def _line(opened: Mirror, summary: pd.DataFrame) -> str:
    total = summary[["added", "updated", "removed", "requests", "seconds"]].sum()
    return (
        f"{opened.time:%Y-%m-%dT%H:%M:%SZ} {opened.path} version {opened.version}: {total['added']:.0f} added, "
        f"{total['updated']:.0f} updated, {total['removed']:.0f} removed, {total['requests']:.0f} requests, "
        f"{total['seconds']:.1f} s"
    )


def _status(opened: Mirror) -> None:
    history, sizes = opened.history(), opened.sizes()
    hours = opened.age.total_seconds() / 3600
    say(f"{opened.path}: version {opened.version} of {opened.time:%Y-%m-%d %H:%M} UTC, {hours:.1f} hours old")
    say(sizes.to_string(index=False))
    tagged = history[history["tags"] != ""]
    count = f"{len(history)} version" + "s" * (len(history) != 1)
    say(f"{count} since {history['time'].iloc[0]:%Y-%m-%d %H:%M} UTC, {len(tagged)} with a tag")
    for row in tagged.itertuples():
        say(f"  {row.tags}: version {row.version} of {row.time:%Y-%m-%d %H:%M} UTC")
