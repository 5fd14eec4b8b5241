"""Finish the changes of a journal that an apply left unfinished."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from billframes._session import default_client
from billframes._shared.limits import user_path
from billframes._shared.messages import say
from billframes.bulk.journal import Journal, folder
from billframes.bulk.plan import Outcomes, apply_journal
from billframes.client import Client
from billframes.config.credentials import same_address
from billframes.errors import ParameterError
from billframes.loading.progress import Progress


def resume(
    journal: str | Path | None = None, *, client: Client | None = None, progress: bool | Progress | None = None
) -> Outcomes:
    """
    Finish the unfinished changes of a journal. No change is sent twice, and none is left out.

    Parameters
    ----------
    journal : str or Path, optional
        The file that `Plan.apply` wrote. Without a name, the newest unfinished journal in the default folder for the
        client's server; one that you named must be named again. Its path is then said on stderr.
    client : Client, optional
        A client of the journal's server; by default the default client.
    progress : bool or callable, optional
        As for the loaders.

    Returns
    -------
    Outcomes
        One row per change of the plan, including those made before.

    Raises
    ------
    ParameterError
        There is no such file or no unfinished journal, it is not a journal, it belongs to another server, it is
        finished, or another process is writing it. Nothing was sent.

    Examples
    --------
    >>> bf.bulk.resume("elsewhere.journal")
    Traceback (most recent call last):
    billframes.errors.ParameterError: There is no journal elsewhere.journal.
    """
    with (
        _newest_unfinished(client or default_client())
        if journal is None
        else Journal.open(user_path(journal)) as opened
    ):
        path, about = opened.path, opened.about
        connection = (client or default_client())._connection
        own, other = about.get("base_url", ""), getattr(connection, "base_url", "")
        if not same_address(own, other):
            raise ParameterError(
                f"The journal {path} has changes for {own}, and the client is connected to {other or 'a mirror'}. "
                "Connect to the journal's server to resume it."
            )
        if about.get("finished"):
            raise ParameterError(f"The journal {path} is finished, so there is nothing to resume.")
        return apply_journal(connection, opened, progress)


def _newest_unfinished(client: Client) -> Journal:
    """Open the newest unfinished journal for the client's server in the folder of journals, and say its name."""
    found = [(path.stat(), path) for path in folder().glob("*.journal")]
    address = getattr(client._connection, "base_url", "")
    for state, path in sorted(found, key=lambda each: each[0].st_mtime_ns, reverse=True):
        # Other files, damaged ones, and those that another process is writing are left alone.
        with suppress(ParameterError):
            opened = Journal.open(path)
            about = opened.about
            if not about.get("finished") and same_address(about.get("base_url", ""), address):
                say(f"Resuming {path}", error=True)
                return opened
            opened.close()
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    raise ParameterError(
        f"No journal in {folder()} is unfinished for {address or 'a mirror'}. If you gave `journal=` a name, pass it."
    )
