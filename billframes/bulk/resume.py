"""`bf.resume`: finish an apply that was killed, or that stopped because the server did not answer."""

from __future__ import annotations

from pathlib import Path

from billframes._session import default_client
from billframes.bulk.apply import finish_journal
from billframes.bulk.journal import Journal, same_server
from billframes.bulk.outcomes import Outcomes
from billframes.bulk.plan import make_plan
from billframes.client import Client
from billframes.errors import ParameterError
from billframes.loading.progress import Progress

__all__ = ["resume"]


def resume(journal: str | Path, *, client: Client | None = None, progress: bool | Progress | None = None) -> Outcomes:
    """
    Finish what a journal says is unfinished. What was sent is not sent again, and nothing is left out.

    Parameters
    ----------
    journal : str or Path
        The file that `Plan.apply` wrote.
    client : Client, optional
        A client of the journal's server; the default client if not given.
    progress : bool or callable, optional
        As for the loaders.

    Returns
    -------
    Outcomes
        A row for every change of the plan, also those that were made before.

    Raises
    ------
    ParameterError
        There is no such file, it is not a journal, it belongs to another server, it is finished, or another process is
        writing it. Nothing was sent.

    Examples
    --------
    >>> bf.resume("elsewhere.journal")
    Traceback (most recent call last):
    billframes.errors.ParameterError: There is no journal elsewhere.journal.
    """
    path = Path(journal).expanduser()
    with Journal.open(path) as opened:
        about = opened.about
        connection = client or default_client()
        if not same_server(about.get("base_url", ""), getattr(connection, "base_url", "")):
            raise ParameterError(
                f"The journal {path} is of {about.get('base_url')}, and the client is connected to "
                f"{getattr(connection, 'base_url', 'a mirror')}. Connect to the journal's server to go on with it."
            )
        if about.get("finished"):
            raise ParameterError(f"The journal {path} is finished, so there is nothing to resume.")
        return finish_journal(connection, opened, make_plan, progress)
