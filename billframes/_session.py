"""The default client, and the functions that use it if no other client is given.

`connect` makes the default client. Without `connect`, the first load makes it from the environment or the profile, and
raises `ConfigError` if nothing is configured. Sandbox data are only used if requested by name.

The default client can be a mirror, so this module imports the mirror, the book and bulk edits. They don't import this
module: they are given a client, or a function that returns it. This module imports them inside functions, so that the
first load of a process does not wait for them.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

from billframes._shared.forks import PerProcess
from billframes.client import Client
from billframes.client_options import ClientOptions, check_option_names, document_options
from billframes.config.firm import FirmSettings
from billframes.config.firm_calendar import FirmCalendar
from billframes.config.secret import Secret, hide
from billframes.loaders.loader_set import LoaderSet
from billframes.loading.enrich import ENTITIES, checked_entities, join_details, kind_and_columns
from billframes.periods import DateLike, FiscalYear, resolve
from billframes.schema.resources import ALL_ZERO_ID
from billframes.wings import module_of

if TYPE_CHECKING:
    from billframes.book import Book
    from billframes.sandbox import Sandbox

# The mirror that `connect` opens, such as in the report's kernel, unless an address or a profile is given.
MIRROR_VARIABLE = "BILLFRAMES_MIRROR"

_lock = PerProcess(threading.RLock)
_default: list[Client] = []


@document_options
def connect(
    base_url: str | None = None,
    token: str | Secret | None = None,
    *,
    mirror: str | Path | None = None,
    **given: Unpack[ClientOptions],
) -> Client:
    """
    Connect to a billing API, and use this client by default in all loaders.

    Parameters
    ----------
    base_url : str, optional
        The API's address, or "sandbox" for the bundled sandbox, started in this process with its seeded firm.
        Books then have this firm's settings, such as holidays and part time.
    token : str, optional
        Sent as `Authorization: Bearer …`. By default `BILLFRAMES_TOKEN`, else the profile's, else the keyring's.
    mirror : str or Path, optional
        A mirror to load from instead of a server; see `billframes.mirror`. If an address or profile is given, too, the
        mirror is refreshed from that server. By default `BILLFRAMES_MIRROR`, if no address or profile is given.
    {options}

    Returns
    -------
    Client
        The new default client; with `mirror=` a `Mirror`, which has the same loaders. The previous default client stays
        usable until it is closed.

    Raises
    ------
    ConfigError
        No address is configured, or the address, the credential or the profile can't be used.
    ParameterError
        An argument is out of range.

    Examples
    --------
    >>> import billframes as bf
    >>> client = bf.connect("sandbox")
    >>> bf.practice_areas()["default"].sum()
    np.int64(1)
    """
    token, given = hide(token), check_option_names("connect", given)
    unnamed = base_url is None and given.get("profile") is None
    path = mirror or (os.environ.get(MIRROR_VARIABLE) if unnamed else None)
    if path and unnamed:
        start = given.get("fiscal_year_start")
        fiscal = FiscalYear.read(start, given.get("fiscal_year_name", "end")) if start else None
        return _set_default(_open_mirror(path, fiscal=fiscal))
    sandbox = _sandbox() if base_url == "sandbox" else None
    if sandbox:
        base_url = sandbox.base_url
        if given.get("auth") is None:
            token = token or sandbox.tokens["full"]
        # The environment's profile is that of another server.
        given["profile"] = given.get("profile") or ""
        given["health_path"] = given.get("health_path") or sandbox.health_path
    client = Client(base_url, token, **given)
    if sandbox and sandbox.firm_settings and client.settings is None:
        client.settings = FirmSettings.load(sandbox.firm_settings)
    return _set_default(_open_mirror(path, client) if path else client)


def _set_default(client: Client) -> Client:
    with _lock.own:
        _default[:] = [client]
    return client


def _open_mirror(path: str | Path, client: Client | None = None, *, fiscal: FiscalYear | None = None) -> Client:
    """Open a mirror to use it as a client: it has the same loaders. It is refreshed from `client`."""
    opened = module_of("mirror", "mirror").mirror(path, client=client)
    opened._own_fiscal_year = fiscal
    # Raises here, and not at the first load, if the mirror can't be read.
    _ = opened.version
    return cast("Client", opened)


def default_client() -> Client:
    """Return the default client; without `connect`, make it from the environment or the profile."""
    with _lock.own:
        return _default[0] if _default else connect()


@functools.cache
def _sandbox() -> Sandbox:
    """Start the bundled sandbox, once per process."""
    from billframes.sandbox import Sandbox

    sandbox = Sandbox()
    sandbox.start()
    return sandbox


CLEAR = ALL_ZERO_ID
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
    Join the columns and custom fields of matters, clients and users onto a frame.

    Parameters
    ----------
    frame : DataFrame
        pandas, Polars or Arrow, with `matter_id`, `client_id` or `user_id`. Nothing is joined by an id that it lacks.
    by : str or list of str, default ("matter", "client", "user")
        The kinds of records to join.
    matters, clients, users : DataFrame, optional
        Frames of the loaders, of the same kind as `frame`; by default they are loaded.
    client : Client, optional
        The client to load them with; by default the default client.

    Returns
    -------
    DataFrame
        Of the same kind, with the same rows and additional columns: `matter_type`, `practice_area_label`,
        `responsible_name`, `matter_cf_…`, `client_cf_…`, `user_role` and others. Their values are missing if the id is
        missing or unknown.

    Raises
    ------
    ParameterError
        `by` has another value.
    MissingColumnError
        The frame has none of the id columns.

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
    Open the book of a period: its analyses as methods, with the frames that they need, which are loaded when needed.

    Parameters
    ----------
    start : str, int, date, datetime, Timestamp or Period
        A period such as "2026-Q3", "last month", 2026 or "FY2026", or the first day, inclusive. "last month" and the
        like are counted from today.
    end : str, date, datetime or Timestamp, optional
        Last day, inclusive.
    settings : FirmSettings, optional
        Working days, hours per day, leave, targets and rates of the firm. By default those in the file that the
        client's profile names as `firm`.
    client : Client, optional
        The client to load with; by default the default client.

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

    owner = client or default_client()
    period = resolve(start, end, calendar=FirmCalendar(lambda: owner, settings))
    return Book(period, settings=settings, client=owner)
