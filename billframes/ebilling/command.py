"""`billframes ledes`: write invoices as a LEDES file, or show what a client's portal would reject.

The exit code is 1 if no file was written for any reason, or if `--check` has findings. Scripts that send files use it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from billframes._session import book
from billframes._shared.messages import say, say_error, wrapped
from billframes.book import Book
from billframes.commands import add_connection, connected
from billframes.ebilling import LedesProfile, ledes, ledes_check
from billframes.errors import BillframesError, LedesError, ParameterError
from billframes.periods import Period, resolve

EXAMPLES = (
    "billframes ledes --check 2026-10",
    "billframes ledes 11819 --demo --ledes-profile granite.toml -o granite.txt",
)

REFUSED = 1
_PROBLEM = ("severity", "field", "problem", "fix")
_SHOWN = {
    "invoice_number": "invoice ",
    "value": "value: ",
    "responsible_name": "responsible lawyer: ",
    "item_id": "item ",
}
"""What is shown of a finding, with the words before it."""
_HEADINGS = {"rejected": "Portals reject:", "often rejected": "Portals often reject:"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options on `parser`."""
    parser.add_argument("invoice", nargs="*", metavar="INVOICE", help="numbers or ids of final or approved invoices")
    parser.add_argument(
        "--ledes-profile",
        metavar="FILE",
        help="a TOML file with the client's billing rules; --profile with a file means the same",
    )
    parser.add_argument("-o", "--out", metavar="FILE", help="the file to write, which ends with .txt")
    parser.add_argument("--overwrite", action="store_true", help="replace an existing file")
    parser.add_argument(
        "--check",
        nargs="?",
        const="",
        metavar="MONTH",
        help="show what portals would reject, without writing a file: in the invoices, or in the unbilled work of a "
        "period such as 2026-10 (default: all unbilled work); a number such as 11835 is an invoice",
    )
    add_connection(parser, mirror=False)


def replace_old_options(argv: Sequence[str]) -> list[str]:
    """
    Replace `--profile` by `--ledes-profile` if its value is a file. Any other `--profile` is the connection's.

    Examples
    --------
    >>> replace_old_options(["ledes", "11561", "--profile", "granite.toml", "--profile", "trial"])
    ['ledes', '11561', '--ledes-profile=granite.toml', '--profile', 'trial']
    """
    words: list[str] = []
    for word in argv:
        before = words[-1] if words else ""
        if before == "--profile" and _is_file(word):
            words[-1] = f"--ledes-profile={word}"
        elif word.startswith("--profile=") and _is_file(word.partition("=")[2]):
            words.append(f"--ledes-{word[2:]}")
        else:
            words.append(word)
    return words


def _is_file(word: str) -> bool:
    return word.endswith(".toml") or Path(word).is_file()


def run(args: argparse.Namespace) -> int:
    """Write the file or show the findings, and return the exit code."""
    try:
        return _run(args)
    except BillframesError as error:
        _show(error.findings if isinstance(error, LedesError) else None)
        say_error(error, args)
        return REFUSED


def _run(args: argparse.Namespace) -> int:
    _check_options(args)
    profile = LedesProfile.load(args.ledes_profile) if args.ledes_profile else None
    if args.check and args.check.isdecimal() and not _is_period(args.check):
        # The number of an invoice after --check is not a period.
        args.invoice, args.check = [*args.invoice, args.check], ""
    with connected(args) as client:
        # An invoice can have work of any date, so the book has no period unless one is checked.
        opened = book(args.check, client=client) if args.check else Book(Period(), settings=None, client=client)
        if args.check is not None:
            return _show_check(opened, args, profile)
        assert profile is not None  # noqa: S101 - checked with the options
        file = ledes(opened, args.invoice, profile=profile)
        path = file.save(args.out, overwrite=args.overwrite)
    _show(file.findings)
    say(path)
    return 0


def _is_period(word: str) -> bool:
    try:
        resolve(word, None)
    except ParameterError:
        return False
    return True


def _show_check(opened: Book, args: argparse.Namespace, profile: LedesProfile | None) -> int:
    findings = ledes_check(opened, args.invoice or None, profile=profile)
    _show(findings)
    rejected = int((findings["severity"] == "rejected").sum())
    rejects = f"{rejected} finding{'' if rejected == 1 else 's'} that portals reject"
    say(f"{rejects}, {len(findings) - rejected} that they often reject.")
    return REFUSED if rejected else 0


def _check_options(args: argparse.Namespace) -> None:
    if args.check is not None:
        if args.out:
            raise ParameterError("--check writes no file; remove --out.")
        return
    if not args.invoice:
        raise ParameterError("Give the number or id of an invoice, or --check to see what portals would reject.")
    if not args.ledes_profile:
        raise ParameterError(
            '--ledes-profile FILE is needed to write a LEDES file. One line is enough: law_firm_id = "06-1234567", the '
            "number by which the client's portal knows the firm."
        )
    if not args.out:
        raise ParameterError("--out FILE is needed to write a LEDES file.")
    out = Path(args.out)
    if out.suffix.lower() != ".txt":
        raise ParameterError(f"--out {out.name} must end with .txt, as portals require.")
    if out.exists() and not args.overwrite:
        raise ParameterError(f"--out {out} already exists; choose another name, or add --overwrite.")
    if not out.absolute().parent.is_dir():
        raise ParameterError(f"--out {out} can't be written: there is no folder {out.absolute().parent}.")


def _show(findings: pd.DataFrame | None) -> None:
    """Print findings by problem: the problem, then a line for each finding, and the correction."""
    if findings is None:
        return
    rows = findings[[*_PROBLEM, *_SHOWN]].astype("str").fillna("")
    above = ""
    for key, group in rows.groupby([*_PROBLEM], sort=False):
        severity, field, problem, fix = map(str, key)
        if severity != above:
            say(f"{_HEADINGS[severity]}\n")
            above = severity
        say(wrapped(f"Field {field}: {problem}.", more="    "))
        for _, finding in group[[*_SHOWN]].iterrows():
            words = (f"{title}{finding[name]}" for name, title in _SHOWN.items() if finding[name])
            say(wrapped(", ".join(words), "    - ", "      "))
        say(wrapped(fix, "    "))
        say("")
