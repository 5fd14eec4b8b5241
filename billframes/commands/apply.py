"""`billframes apply`: show what an edited workbook would change, ask, and send it.

The workbook is one that `billframes export` wrote. The exit code is 0 only if every edit is on the server.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from billframes._messages import say
from billframes._session import resume
from billframes.bulk.changes import NOT_SENT
from billframes.bulk.display import as_text, changes_not_made, headline, outcome_counts
from billframes.bulk.journal import Journal, folder
from billframes.bulk.plan import Outcomes, Plan, make_plan
from billframes.bulk.workbook import read_workbook
from billframes.client import Client
from billframes.commands import add_connection, connected
from billframes.errors import ParameterError

__all__ = ["EXAMPLES", "add_arguments", "run"]

EXAMPLES = ("billframes apply october.xlsx --dry-run", "billframes apply october.xlsx --yes --journal october.journal")

INCOMPLETE = 1
_MOST = 40


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options on `parser`."""
    parser.add_argument("file", metavar="FILE.xlsx", help="a workbook that billframes export wrote, edited")
    parser.add_argument("--dry-run", action="store_true", help="show the plan, and send nothing")
    parser.add_argument("--yes", action="store_true", help="send without asking, for scripts")
    parser.add_argument(
        "--journal",
        metavar="FILE",
        help="remember each change in this file; if it is there and unfinished, go on with it (default: a new file)",
    )
    parser.add_argument(
        "--delete-missing",
        nargs="+",
        default=[],
        metavar="ID",
        help="delete these records, whose rows were deleted; other rows that are missing are left alone",
    )
    parser.add_argument(
        "--duplicates", action="store_true", help="create new rows also if the server has the same record already"
    )
    add_connection(parser, mirror=False)


def run(args: argparse.Namespace) -> int:
    """Show the plan, ask, send it, and return the exit code."""
    file = Path(args.file)
    journal = Path(args.journal).absolute() if args.journal else None
    resource, frame = read_workbook(file)
    with connected(args) as client:
        if journal is not None and journal.exists() and not args.dry_run:
            return _resume(client, journal, yes=args.yes)
        plan = make_plan(client, resource, frame, args.delete_missing, duplicates=args.duplicates)
        _note_hidden(plan, frame.attrs["hidden"])
        say(as_text(plan.resource, plan.changes, plan.notes, frame.attrs["first_row"]))
        if args.dry_run:
            return 0
        if plan.sent:
            _check_terminal(yes=args.yes)
            if not args.yes and not _ask(f"Apply to {client.base_url}? [y/N] "):
                say("Nothing was sent.")
                return INCOMPLETE
            journal = journal or folder() / f"{file.stem}-{_free(file.stem)}.journal"
            say(f"Journal: {journal}")
            return _print_outcomes(plan.apply(journal), plan)
        return INCOMPLETE if _not_sent(plan) else 0


def _note_hidden(plan: Plan, places: list[int]) -> None:
    """Note changes that nobody sees in the sheet: text pasted over a filtered column can land in hidden rows, too."""
    hidden = set(places)
    number = sum(change.place in hidden for change in plan.changes if change.is_sent) if hidden else 0
    if number:
        plan.notes += (f"Changed rows that the sheet hides, as by a filter: {number:,}. They are sent, too.",)


def _resume(client: Client, journal: Path, *, yes: bool) -> int:
    """Finish an unfinished journal; the workbook is not planned again."""
    with Journal.open(journal) as opened:
        left = opened.count("planned") + opened.count("sent") + opened.count("unanswered")
        finished = opened.about.get("finished")
    if not finished:
        say(f"{journal.name} is unfinished: {left:,} of its changes are not known to be done.")
        _check_terminal(yes=yes)
        if not yes and not _ask("Go on with it? [y/N] "):
            say("Nothing was sent.")
            return INCOMPLETE
    return _print_outcomes(resume(journal, client=client), None)


def _check_terminal(*, yes: bool) -> None:
    if not yes and not (sys.stdin is not None and sys.stdin.isatty()):
        raise ParameterError("There is no terminal to ask on; give --yes to send, or --dry-run to look only.")


def _ask(question: str) -> bool:
    try:
        return input(question).strip().lower() in {"y", "yes"}
    except EOFError:
        return False


def _free(stem: str) -> str:
    """Return a number under which there is no journal of this file yet."""
    number = 1
    while (folder() / f"{stem}-{number}.journal").exists():
        number += 1
    return str(number)


def _not_sent(plan: Plan) -> int:
    return sum(plan.counts[status] for status in NOT_SENT)


def _print_outcomes(outcomes: Outcomes, plan: Plan | None) -> int:
    """Print what became of the changes, and return the exit code."""
    say(f"{outcome_counts(outcomes)}.")
    wrong = changes_not_made(outcomes)
    for id_, columns, outcome, reason in wrong.head(_MOST).to_numpy():
        say(f"  {id_}  {columns}  [{outcome}{f': {reason}' if reason else ''}]")
    if len(wrong) > _MOST:
        say(f"  … and {len(wrong) - _MOST:,} more.")
    if plan is not None and _not_sent(plan):
        say(f"Not everything in the workbook was sent. {headline(plan.resource, plan.changes)}")
    return INCOMPLETE if len(wrong) or (plan is not None and _not_sent(plan)) else 0
