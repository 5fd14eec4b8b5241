"""Open a mirror."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path

from billframes._session import default_client
from billframes.client import Client
from billframes.mirror.bucket import BucketOptions
from billframes.mirror.catalogue import checked_span
from billframes.mirror.mirror import Mirror
from billframes.mirror.storage import Storage, check_installed


def mirror(
    path: str | Path,
    *,
    client: Client | None = None,
    max_age: str | dt.timedelta | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> Mirror:
    """
    Open a local copy of all resources, or choose the place of a new copy.

    Parameters
    ----------
    path : str or Path
        A folder, or "s3://…".
    client : Client, optional
        The client to refresh from; by default the default client.
    max_age : timedelta or str, optional
        Largest age of the data, such as "1 day". Loads raise an error if the data are older.
    storage_options : mapping of str to str, optional
        Options of the object store, such as `AWS_ENDPOINT_URL`. No repr shows their credentials, and a pickle leaves
        them out.

    Returns
    -------
    Mirror

    Raises
    ------
    MirrorError
        `deltalake` is not installed.

    Examples
    --------
    >>> m = bf.mirror(folder / "firm")  # doctest: +SKIP
    >>> m.refresh()  # doctest: +SKIP
    >>> m.time_entries("2026-10")  # doctest: +SKIP
    """
    # This comes first: if anything fails later, no frame of the traceback holds a credential as text.
    options, storage_options = BucketOptions(storage_options), None
    check_installed()
    span = None if max_age is None else checked_span("max_age", max_age)
    return Mirror(Storage(path, options), default=default_client, client=client, max_age=span)
