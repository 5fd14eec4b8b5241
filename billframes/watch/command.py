"""`billframes watch`: print which of the firm's rules newly hold, still hold, and ended, on the data of a mirror."""

from __future__ import annotations

import argparse
import datetime as dt
from pathlib import Path

import msgspec

from billframes._shared.format import long_date
from billframes._shared.messages import say, say_error, wrapped
from billframes.config.firm import FirmSettings
from billframes.errors import BillframesError, ParameterError
from billframes.mirror import Mirror
from billframes.mirror.lock import folder_lock
from billframes.mirror.mirror import mirror
from billframes.watch.look import look
from billframes.watch.state import Report, State, figures_of_last, next_state, read_state, write_state

EXAMPLES = (
    "billframes watch --mirror firm-mirror",
    "billframes watch --mirror firm-mirror --json",
)
NOTHING_NEW, ERROR, NEW = 0, 1, 3
# The seconds to wait for another watch of the same state.
_WAIT = 120.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options on `parser`."""
    parser.add_argument("--mirror", metavar="PATH", required=True, help="read this mirror; no request is sent")
    parser.add_argument(
        "--settings", metavar="FILE", help="the firm's settings with the rules, [[watch]] (default: the mirror's)"
    )
    parser.add_argument(
        "--state", metavar="FOLDER", help="the folder that keeps what was reported (default: PATH.watch, beside PATH)"
    )
    parser.add_argument("--json", action="store_true", help="print each report as one line of JSON")


def run(args: argparse.Namespace) -> int:
    """Print the report; return 3 if something is new, 1 after an error, else 0."""
    try:
        opened = mirror(args.mirror)
        settings = FirmSettings.load(args.settings) if args.settings else opened.settings
        if settings is None or not settings.watch:
            source = (settings.source if settings else "") or "The firm's settings"
            raise ParameterError(f"{source} has no [[watch]]: add rules, or pass a file with them as --settings.")
        folder = _folder(opened, args.state)
        with folder_lock(folder, _WAIT, "watching with the state in"):
            return _watch(opened, settings, folder, as_json=args.json)
    except BillframesError as error:
        say_error(error, args)
        return ERROR


def _folder(opened: Mirror, given: str | None) -> Path:
    if given is None and opened._storage.local is None:
        raise ParameterError("A mirror in a bucket needs --state FOLDER, which keeps what was reported.")
    return Path(given) if given is not None else Path(f"{opened.path}.watch")


def _watch(opened: Mirror, settings: FirmSettings, folder: Path, *, as_json: bool) -> int:
    last, code = read_state(folder), NOTHING_NEW
    if last and not last.printed:
        # The last watch was killed before it was known to be printed.
        last.report.again = True
        code = _finish(folder, last, as_json=as_json)
    day = long_date(dt.date.fromisoformat(last.report.data)) if last else ""
    seen = look(opened, settings, figures_of_last(last, settings.rules), day)
    about = {"mirror": opened.path, "version": opened.version, "currency": settings.currency}
    state = next_state(seen, last, settings.rules, about)
    write_state(folder, state)
    return max(code, _finish(folder, state, as_json=as_json))


def _finish(folder: Path, state: State, *, as_json: bool) -> int:
    report = state.report
    say(msgspec.json.encode(report).decode() if as_json else text_of(report))
    state.printed = True
    write_state(folder, state)
    return NEW if report.new else ERROR if report.unchecked else NOTHING_NEW


def text_of(report: Report) -> str:
    """Return a report as text."""
    money = f" Amounts are in {report.currency}." if report.currency else ""
    head = f"Watch {report.watch}: data of {_day(report.data)} in {report.mirror}.{money}"
    if report.again:
        head += " This report is printed again: the last run ended before it was known to be printed."
    lines = [wrapped(head)]
    groups = {
        "New": [each.text for each in report.new],
        "Still so": [f"{each.text} (Since {_day(each.since)}.)" for each in report.still],
        "No longer so": [f"{each.text} (It was so since {_day(each.since)}.)" for each in report.ended],
        "Not checked": [each.text for each in report.unchecked],
        "Notes": report.notes,
    }
    for title, texts in groups.items():
        if texts:
            lines += ["", f"{title} ({len(texts)})", *(wrapped(each, "- ") for each in texts)]
    return "\n".join(lines if len(lines) > 1 else [*lines, "Nothing stands out."])


def _day(text: str) -> str:
    return long_date(dt.date.fromisoformat(text))
