"""`billframes mcp`: serve figures to an assistant application on this machine, on stdin and stdout.

The application starts the command and ends it. stdout is the protocol's, so everything else is said on stderr.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import json
import shlex
import shutil
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from billframes._shared.limits import user_path
from billframes._shared.messages import say
from billframes.commands import add_connection, connected
from billframes.errors import ConfigError, ParameterError

if TYPE_CHECKING:
    from billframes.assistant.server import Questions
    from billframes.client import Client

EXAMPLES = (
    "billframes mcp --mirror firm-mirror --show-config",
    "billframes mcp --demo --check",
    "billframes mcp --mirror firm-mirror --pseudonyms --log questions.jsonl",
)
_RECEIVER = (
    "billframes mcp: names and amounts in the answers go to the provider of the assistant's model. --pseudonyms hides "
    "names, and narratives are left out without --narratives."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options on `parser`."""
    add_connection(parser)
    parser.add_argument("--narratives", action="store_true", help="let answers have the narratives of entries, too")
    parser.add_argument(
        "--pseudonyms",
        action="store_true",
        help='name clients, matters and people by their id, such as "Client a1ee691a"',
    )
    parser.add_argument("--credits", action="store_true", help="let answers say whose the fees are by the firm's rule")
    parser.add_argument("--log", metavar="FILE", help="note each question in this private file, without the answers")
    parser.add_argument(
        "--show-config", action="store_true", help="print what to paste into an application's settings, and end"
    )
    parser.add_argument("--check", action="store_true", help="answer one question here, to show that it works, and end")


def run(args: argparse.Namespace) -> int:
    """Serve until the application leaves, or print the configuration or the check; return the exit code."""
    if args.show_config:
        _show_config(args)
        return 0
    if importlib.util.find_spec("mcp") is None:
        raise ConfigError("The package mcp is not installed: pip install 'billframes[mcp]'.")
    if args.pseudonyms and args.narratives:
        raise ParameterError("--pseudonyms can't be used with --narratives, because narratives have names.")
    if args.pseudonyms and args.credits:
        raise ParameterError("--pseudonyms can't be used with --credits, because the rule for credits has names.")
    from billframes.assistant.server import Questions, make_server, serve

    with connected(args, progress=False) as client:
        questions = Questions(client, **_options(args, client))
        if args.check:
            _check(questions)
            return 0
        say(_RECEIVER, error=True)
        if args.mirror:
            # No request is sent for it; a server is only asked when somebody asks a question.
            threading.Thread(target=questions.warm_up, daemon=True).start()
        serve(make_server(questions))
    return 0


def _options(args: argparse.Namespace, client: Client) -> dict[str, Any]:
    from billframes.assistant.pseudonyms import Pseudonyms
    from billframes.mirror.mirror import mirror

    return {
        "newest": functools.partial(mirror, args.mirror) if args.mirror else None,
        "settings": client.settings if args.settings else None,
        "change": Pseudonyms() if args.pseudonyms else None,
        "narratives": args.narratives,
        "credits": args.credits,
        "log": user_path(args.log) if args.log else None,
    }


def _check(questions: Questions) -> None:
    """Say what data there are, and answer one question."""
    about = questions.ask("about", {})
    say(f"The data are of {about['data_of']}, {about['age']}; the work is dated {' to '.join(about['work_dated'])}.")
    say(about["complete"])
    say(about["settings"])
    month = about["data_of"][: len("2026-10")]
    began = time.perf_counter()
    total = questions.ask("figures", {"measures": ["billed_amount"], "period": month})["total"]
    say(f"Fees billed in {month}: {total['billed_amount']:,.2f}, answered in {time.perf_counter() - began:.1f} s.")


def _show_config(args: argparse.Namespace) -> None:
    """Print the settings of an application on stdout, and the lines for applications with a command on stderr."""
    command, *more = _started(args)
    say(json.dumps({"mcpServers": {"firm": {"command": command, "args": more}}}, indent=2))
    added = json.dumps({"name": "firm", "command": command, "args": more})
    say(f"Claude Code: claude mcp add firm -- {shlex.join([command, *more])}", error=True)
    say(f"VS Code: code --add-mcp {shlex.quote(added)}", error=True)


def _started(args: argparse.Namespace) -> list[str]:
    """Return how an application starts the server: with full paths, because its folder and PATH are others."""
    found = shutil.which("billframes")
    words = [str(Path(found).absolute())] if found else [sys.executable, "-m", "billframes"]
    words.append("mcp")
    for name, value in (("mirror", args.mirror), ("settings", args.settings), ("log", args.log)):
        if value:
            place = value if "://" in value else str(user_path(value).absolute())
            words += [f"--{name}", place]
    words += ["--profile", args.connection] if args.connection else []
    return [*words, *(f"--{name}" for name in ("demo", "narratives", "credits", "pseudonyms") if getattr(args, name))]
