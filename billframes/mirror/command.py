"""`billframes sync`: bring a mirror up to date, or show its status.

It suits cron and the Task Scheduler: it logs one line, its exit code is 0 only if the mirror is up to date, and of two
runs at the same time one waits for the other.

It also removes old versions, about once a day, and logs that in a second line. The newest version, all tagged ones, the
last one of each month and those of the last 30 days are kept. `--keep`, or `mirror_keep` in the profile, gives another
time than 30 days; "all" removes nothing. If the disk is full, versions are removed first, and the refresh is repeated.
"""

from __future__ import annotations

import argparse
import datetime as dt
import sys

import pandas as pd

from billframes._shared.format import label_of, long_date
from billframes._shared.messages import say, wrapped
from billframes.client import MIRROR_KEEP
from billframes.commands import add_connection, connected
from billframes.errors import ParameterError
from billframes.mirror import Mirror
from billframes.mirror.catalogue import checked_span
from billframes.mirror.cleanup import is_due, versions_to_keep
from billframes.mirror.mirror import mirror
from billframes.mirror.restated import month_of
from billframes.mirror.storage_errors import FullDiskError

EXAMPLES = (
    "billframes sync firm-mirror",
    "billframes sync firm-mirror --status",
    "billframes sync firm-mirror --close 2026-10",
    'billframes sync firm-mirror --keep "90 days"',
)
# The time for which versions are kept, unless the command or the profile gives another.
KEEP = "30 days"
# In place of a time: nothing is removed.
ALL = "all"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options on `parser`."""
    parser.add_argument("path", metavar="PATH", help="the mirror's folder, or s3://…; created if it does not exist")
    parser.add_argument(
        "--status", action="store_true", help="show its age, sizes, versions and tags, without loading records"
    )
    parser.add_argument("--full", action="store_true", help="load all records again, and write those that differ")
    parser.add_argument(
        "--close",
        metavar="MONTH",
        help='tag the new version, such as "2026-10 close"; the report then says how the closed month was restated',
    )
    parser.add_argument(
        "--keep",
        metavar="TIME",
        help=f'how long to keep versions, such as "90 days", or {ALL} (default: the profile\'s {MIRROR_KEEP}, else '
        f'"{KEEP}"); tagged versions and the last of each month are always kept',
    )
    add_connection(parser, mirror=False, settings=False, more=", once for each PATH")


def run(args: argparse.Namespace) -> int:
    """Refresh the mirror or show its status, and return the exit code."""
    month = None if args.close is None else _checked_month(args.close)
    if args.status:
        _status(mirror(args.path))
        return 0
    with connected(args) as client:
        span = _span(args.keep, client._mirror_keep)
        opened = mirror(args.path, client=client)
        try:
            summary = opened.refresh(full=args.full)
        except FullDiskError:
            if not _remove_old(opened, span, now=True):
                raise
            summary = opened.refresh(full=args.full)
        if month:
            opened.tag(f"{month} close")
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    if is_terminal:
        say(summary.round(1).to_string(index=False))
    # A log has one line for each refresh.
    line = _line(opened, summary)
    say(wrapped(line, more="    ") if is_terminal else line)
    if month:
        say(f"Version {opened.version} is tagged '{month} close'.")
    _remove_old(opened, span)
    return 0


def _checked_month(text: str) -> str:
    if month_of(text) != text:
        raise ParameterError(f"--close {text} is not a month, such as 2026-10.")
    return text


def _span(given: str | None, in_profile: str | None) -> dt.timedelta | None:
    """Return how long versions are kept; None if all are."""
    name, keep = ("--keep", given) if given is not None else (MIRROR_KEEP, KEEP if in_profile is None else in_profile)
    return None if keep == ALL else checked_span(name, keep)


def _remove_old(opened: Mirror, span: dt.timedelta | None, *, now: bool = False) -> bool:
    """Remove old versions if some are due, or `now`, and log it; return whether any file was removed."""
    if span is None:
        return False
    versions, clock = opened._catalogue.read() if opened._catalogue.exists() else [], dt.datetime.now(dt.UTC)
    kept = versions_to_keep(versions, span, clock, month_ends=True)
    if not versions or not (now or is_due(versions, kept, span, clock)):
        return False
    left = opened.vacuum(span, month_ends=True)
    freed = left.attrs["vacuum"]
    size = "" if freed["bytes"] is None else f", {freed['bytes'] / 1e6:.1f} MB freed"
    removed = f"{freed['versions']} old version{'s' * (freed['versions'] != 1)} removed"
    say(f"{clock:%Y-%m-%dT%H:%M:%SZ} {opened.path}: {removed}{size}, {len(left)} kept")
    return bool(freed["versions"] or freed["bytes"])


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
    say(f"Mirror     {opened.path}")
    say(f"Version    {opened.version} of {_when(opened.time)}, {hours:,.1f} hours old")
    say(f"\n{'Records':<20}{'Rows':>12}{'Kilobytes':>12}")
    for each in sizes.to_dict("records"):
        say(f"{label_of(each['resource']):<20}{each['rows']:>12,}{each['bytes'] / 1000:>12,.0f}")
    tagged = history[history["tags"] != ""]
    count = f"{len(history)} version" + "s" * (len(history) != 1)
    say(f"\nIt has {count} since {_when(history['time'].iloc[0])}{'.' if tagged.empty else ', with these tags:'}")
    for row in tagged.to_dict("records"):
        say(wrapped(f"{row['tags']}: version {row['version']} of {_when(row['time'])}", "    "))


def _when(time: dt.datetime) -> str:
    return f"{long_date(time.date())}, {time:%H:%M} UTC"
