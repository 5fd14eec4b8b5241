"""The default client, and everything that uses it if no other client is given.

`connect` makes the default client. If nobody connected, the first load makes one from the environment or the profile;
with nothing configured that raises `ConfigError`. Sandbox data are only ever used when requested by name.

The default client can be a mirror, so this module knows the mirror, the book and bulk edits, and none of them knows
this one: they are given their client, or what returns it. They are imported when they are used, because the first load
of a process should not wait for them.
"""

from __future__ import annotations

import datetime as dt
import functools
import os
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

from billframes.client import Client
from billframes.client_options import ClientOptions, checked_names, documented
from billframes.config.firm import FirmSettings
from billframes.config.secret import Secret, hidden
from billframes.errors import ParameterError
from billframes.loaders.loader_set import LoaderSet
from billframes.loading.enrich import ENTITIES, checked_entities, join_details, kind_and_columns
from billframes.loading.progress import Progress
from billframes.periods import DateLike, resolve
from billframes.schema.resources import ALL_ZERO_ID as CLEAR

if TYPE_CHECKING:
    from billframes.book import Book
    from billframes.bulk.plan import Outcomes
    from billframes.mirror import Mirror
    from billframes.sandbox import Sandbox

__all__ = [
    "CLEAR",
    "MIRROR_VARIABLE",
    "book",
    "client_balances",
    "clients",
    "code_sets",
    "codes",
    "connect",
    "custom_fields",
    "default_client",
    "enrich",
    "expenses",
    "fixed_fees",
    "health",
    "invoices",
    "matters",
    "mirror",
    "practice_areas",
    "resume",
    "time_entries",
    "users",
]

# Names a mirror for `connect`, such as in the report's kernel; an address or profile given to `connect` is preferred.
MIRROR_VARIABLE = "BILLFRAMES_MIRROR"

_lock = threading.RLock()
_default: list[Client] = []


@documented
def connect(
    base_url: str | None = None,
    token: str | Secret | None = None,
    *,
    mirror: str | Path | None = None,
    **given: Unpack[ClientOptions],
) -> Client:
    """
    Connect to a billing API, and make that the default for all loaders.

    Parameters
    ----------
    base_url : str, optional
        The API's address, or "sandbox" for the bundled sandbox, started in this process with its seeded firm.
    token : str, optional
        Sent as `Authorization: Bearer …`. Else `BILLFRAMES_TOKEN`, else the profile's, else the keyring's.
    mirror : str or Path, optional
        A mirror to load from instead of a server; see `billframes.mirror`. Else `BILLFRAMES_MIRROR`, if no address or
        profile is given.
    {options}

    Returns
    -------
    Client
        The new default client; with `mirror=` a `Mirror`, which has the same loaders. The one before it stays usable
        until it is closed.

    Raises
    ------
    ConfigError
        Nothing says which API to call, or what says so can't be used.
    ParameterError
        An argument is out of range.

    Examples
    --------
    >>> import billframes as bf
    >>> client = bf.connect("sandbox")
    >>> bf.practice_areas()["default"].sum()
    np.int64(1)
    """
    token, given = hidden(token), checked_names("connect", given)
    unnamed = base_url is None and given.get("profile") is None
    path = mirror or (os.environ.get(MIRROR_VARIABLE) if unnamed else None)
    if path:
        return _default_is(_mirror(path))
    if base_url == "sandbox":
        sandbox = _sandbox()
        base_url, token = sandbox.base_url, token or sandbox.tokens["full"]
        given["health_path"] = given.get("health_path") or sandbox.health_path
    return _default_is(Client(base_url, token, **given))


def _default_is(client: Client) -> Client:
    with _lock:
        _default[:] = [client]
    return client


def _mirror(path: str | Path) -> Client:
    """Open a mirror in a client's place: it has the same loaders."""
    opened = mirror(path)
    # Says at once if it can't be read.
    _ = opened.version
    return cast("Client", opened)


def default_client() -> Client:
    """Return the default client, made from the environment or the profile where nobody connected."""
    with _lock:
        return _default[0] if _default else connect()


@functools.cache
def _sandbox() -> Sandbox:
    """Start the bundled sandbox, once a process."""
    from billframes.sandbox import Sandbox

    sandbox = Sandbox()
    sandbox.start()
    return sandbox


_loaders = LoaderSet(default_client)
client_balances = _loaders.client_balances
clients = _loaders.clients
code_sets = _loaders.code_sets
codes = _loaders.codes
custom_fields = _loaders.custom_fields
expenses = _loaders.expenses
fixed_fees = _loaders.fixed_fees
health = _loaders.health
invoices = _loaders.invoices
matters = _loaders.matters
practice_areas = _loaders.practice_areas
time_entries = _loaders.time_entries
users = _loaders.users


def enrich(
    frame: Any,
    by: str | Iterable[str] = ENTITIES,
    *,
    matters: Any = None,
    clients: Any = None,
    users: Any = None,
    client: Client | None = None,
) -> Any:
    """
    Join the matter's, client's and user's own columns and custom fields onto a frame.

    Parameters
    ----------
    frame : DataFrame
        pandas, Polars or Arrow, with `matter_id`, `client_id` or `user_id`; those it lacks are passed over.
    by : str or list of str, default ("matter", "client", "user")
        What to join.
    matters, clients, users : DataFrame, optional
        The loaders' frames, of the same kind as `frame`; those not given are loaded.
    client : Client, optional
        What to load them with; the default client if it is not given.

    Returns
    -------
    DataFrame
        Of the same kind, with as many rows in the same order, and more columns: `matter_type`,
        `practice_area_label`, `responsible_name`, `matter_cf_…`, `client_cf_…`, `user_role` and the like. Missing
        where the id is missing or unknown.

    Raises
    ------
    ParameterError
        `by` names something else.
    MissingColumnError
        The frame has none of the ids.

    Examples
    --------
    >>> entries = bf.enrich(bf.time_entries("2026-10"), by="matter")
    >>> {"matter_type", "practice_area_label", "matter_opened"} <= set(entries.columns)
    True
    """
    names = checked_entities(by)
    kind, columns = kind_and_columns(frame)
    given = {"matter": matters, "client": clients, "user": users}
    details = {}
    for name in names:
        if given[name] is None and f"{name}_id" in columns:
            given[name] = getattr(client or default_client(), f"{name}s")(to=kind)
        if given[name] is not None:
            details[name] = given[name]
    return join_details(frame, details or dict.fromkeys(names))


def book(
    start: DateLike,
    end: DateLike | None = None,
    *,
    settings: FirmSettings | None = None,
    client: Client | None = None,
) -> Book:
    """
    Open a period's book: what its analyses need, loaded when needed and wide enough.

    Parameters
    ----------
    start : str, date, datetime, Timestamp or Period
        A period such as "2026-Q3", or the first day, inclusive.
    end : str, date, datetime or Timestamp, optional
        Last day, inclusive.
    settings : FirmSettings, optional
        Working days, hours a day, leave, targets and rates of the firm. By default those that the client's profile
        names as `firm`.
    client : Client, optional
        What to load with; the default client if it is not given.

    Returns
    -------
    Book

    Raises
    ------
    ParameterError
        The period can't be read.

    Examples
    --------
    >>> book = bf.book("2026-Q3")
    >>> book.realization(by="practice_area").columns[:2].tolist()
    ['practice_area_id', 'practice_area_label']
    """
    from billframes.book import Book

    return Book(resolve(start, end), settings=settings, client=client or default_client())


def mirror(
    path: str | Path,
    *,
    client: Client | None = None,
    max_age: str | dt.timedelta | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> Mirror:
    """
    Open a local copy of all resources, or name the place for a new one.

    Parameters
    ----------
    path : str or Path
        A folder, or "s3://…".
    client : Client, optional
        What to refresh from; the default client if it is not given.
    max_age : timedelta or str, optional
        Loads refuse data older than this, such as "1 day".
    storage_options : mapping of str to str, optional
        Options of the object store, such as `AWS_ENDPOINT_URL`.

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
    from billframes.mirror import Mirror
    from billframes.mirror.catalogue import checked_span
    from billframes.mirror.storage import Storage, check_installed

    check_installed()
    span = checked_span("max_age", max_age)
    return Mirror(Storage(path, storage_options), default=default_client, client=client, max_age=span)


def resume(journal: str | Path, *, client: Client | None = None, progress: bool | Progress | None = None) -> Outcomes:
    """
    Finish the unfinished changes of a journal. No change is sent twice, and none is left out.

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
    from billframes.bulk.journal import Journal, same_server
    from billframes.bulk.plan import apply_journal

    path = Path(journal).expanduser()
    with Journal.open(path) as opened:
        about = opened.about
        connection = client or default_client()
        own, other = about.get("base_url", ""), getattr(connection, "base_url", "")
        if not same_server(own, other):
            raise ParameterError(
                f"The journal {path} is of {own}, and the client is connected to {other or 'a mirror'}. Connect to the "
                "journal's server to go on with it."
            )
        if about.get("finished"):
            raise ParameterError(f"The journal {path} is finished, so there is nothing to resume.")
        return apply_journal(connection, opened, progress)
