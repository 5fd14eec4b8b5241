"""`billframes apply`: show the changes of an edited workbook, ask for confirmation, and send them.

The workbook must be one that `billframes export` wrote. The exit code is 0 only if the server has every edit.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import sys
from pathlib import Path

from billframes._shared.limits import WORKBOOK_BYTES, WORKBOOK_CELLS
from billframes._shared.messages import say
from billframes.bulk.changes import NOT_SENT
from billframes.bulk.display import as_text, changes_not_made, headline, outcome_counts
from billframes.bulk.edited_frame import read_workbook
from billframes.bulk.journal import Journal, folder
from billframes.bulk.plan import Outcomes, Plan, make_plan
from billframes.bulk.resume import resume
from billframes.client import Client
from billframes.commands import add_connection, connected
from billframes.errors import ParameterError

EXAMPLES = ("billframes apply october.xlsx --dry-run", "billframes apply october.xlsx --yes --journal october.journal")

INCOMPLETE = 1
# The most changes to print.
_MOST_PRINTED = 40


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options on `parser`."""
    parser.add_argument("file", metavar="FILE.xlsx", help="an edited workbook that billframes export wrote")
    parser.add_argument("--dry-run", action="store_true", help="show the plan without sending it")
    parser.add_argument("--yes", action="store_true", help="send without asking, for scripts")
    parser.add_argument(
        "--journal",
        metavar="FILE",
        help="record each change in this file; an unfinished journal is continued (default: a new file)",
    )
    parser.add_argument(
        "--delete-missing",
        nargs="+",
        default=[],
        metavar="ID",
        help="delete these records, whose rows were deleted; records of other missing rows are kept",
    )
    parser.add_argument(
        "--duplicates", action="store_true", help="create new rows even if the server already has the same record"
    )
    for name, limit, unit in (
        ("bytes", WORKBOOK_BYTES, "bytes that the workbook may have when it is unpacked"),
        ("cells", WORKBOOK_CELLS, "cells that it may have"),
    ):
        parser.add_argument(
            f"--max-{name}", type=int, default=limit, metavar="N", help=f"the most {unit} (default: {limit:,})"
        )
    add_connection(parser, mirror=False, settings=False)


def run(args: argparse.Namespace) -> int:
    """Show the plan, ask, send it, and return the exit code."""
    file = Path(args.file)
    journal = Path(args.journal).absolute() if args.journal else None
    resource, frame = read_workbook(file, max_bytes=args.max_bytes, max_cells=args.max_cells)
    with connected(args) as client:
        if journal is not None and journal.exists() and not args.dry_run:
            return _resume(client, journal, yes=args.yes)
        plan = make_plan(client._connection, resource, frame, args.delete_missing, duplicates=args.duplicates)
        _note_hidden(plan, frame.attrs["hidden"])
        say(as_text(plan._resource, plan._changes, plan.notes, frame.attrs["first_row"]))
        if args.dry_run:
            return 0
        if plan._sent:
            if not _is_confirmed(f"Apply to {client.base_url}? [y/N] ", yes=args.yes):
                return INCOMPLETE
            journal = journal or _new_journal(file.stem)
            say(f"Journal: {journal}")
            return _print_outcomes(plan.apply(journal), plan)
        return INCOMPLETE if _not_sent(plan) else 0


def _note_hidden(plan: Plan, places: list[int]) -> None:
    """Note changes in rows that the sheet hides: text pasted into a filtered column also changes hidden rows."""
    hidden = set(places)
    number = sum(change.place in hidden for change in plan._changes if change.is_sent) if hidden else 0
    if number:
        plan.notes += (
            f"Changes in rows that the sheet hides, for example by a filter: {number:,}. They are sent, too.",
        )


def _resume(client: Client, journal: Path, *, yes: bool) -> int:
    """Finish an unfinished journal. The workbook is not compared again."""
    with Journal.open(journal) as opened:
        left = opened.unfinished
        finished = opened.about.get("finished")
    if not finished:
        say(f"{journal.name} is unfinished: {left:,} of its changes are not done, or their outcome is unknown.")
        if not _is_confirmed("Continue? [y/N] ", yes=yes):
            return INCOMPLETE
    return _print_outcomes(resume(journal, client=client), None)


def _is_confirmed(question: str, *, yes: bool) -> bool:
    """Ask, unless the answer was given as `yes`; raise `ParameterError` if there is no terminal."""
    if yes:
        return True
    if sys.stdin is None or not sys.stdin.isatty():
        raise ParameterError(
            "There is no terminal to ask for confirmation; add --yes to send, or --dry-run to see the plan."
        )
    with contextlib.suppress(EOFError):
        if input(question).strip().lower() in {"y", "yes"}:
            return True
    say("Nothing was sent.")
    return False


def _new_journal(stem: str) -> Path:
    paths = (folder() / f"{stem}-{number}.journal" for number in itertools.count(1))
    return next(path for path in paths if not path.exists())


def _not_sent(plan: Plan) -> int:
    return sum(plan.counts[status] for status in NOT_SENT)


def _print_outcomes(outcomes: Outcomes, plan: Plan | None) -> int:
    say(f"{outcome_counts(outcomes)}.")
    failed = changes_not_made(outcomes)
    for id_, columns, outcome, reason in failed.head(_MOST_PRINTED).to_numpy():
        say(f"  {id_}  {columns}  [{outcome}{f': {reason}' if reason else ''}]")
    if len(failed) > _MOST_PRINTED:
        say(f"  … and {len(failed) - _MOST_PRINTED:,} more.")
    if plan is not None and _not_sent(plan):
        say(f"Not all changes in the workbook were sent. {headline(plan._resource, plan._changes)}")
    return INCOMPLETE if len(failed) or (plan is not None and _not_sent(plan)) else 0
