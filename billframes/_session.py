"""The default client, and the loaders bound to it.

`connect` makes the default client. Where nobody connected, the first load makes one from the environment or the
profile; with nothing configured that raises `ConfigError`. Sandbox data are only ever used when asked for by name.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

from billframes._names import closest, with_article
from billframes.client import Client
from billframes.client_options import ClientOptions, checked_names, documented
from billframes.config.secret import Secret, hidden
from billframes.errors import ParameterError
from billframes.loaders.loader_set import LoaderSet
from billframes.loading.enrich import ENTITIES, join_details
from billframes.schema.resources import ALL_ZERO_ID as CLEAR

if TYPE_CHECKING:
    from billframes.sandbox import Sandbox

__all__ = [
    "CLEAR",
    "MIRROR_VARIABLE",
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
    "practice_areas",
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
    from billframes.mirror import mirror

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
    names = [by] if isinstance(by, str) else list(by)
    for name in names:
        if name not in ENTITIES:
            raise ParameterError(
                f"by={name!r} is not known; it takes {', '.join(map(repr, ENTITIES))}.{closest(name, ENTITIES)}"
            )
    if not hasattr(frame, "columns"):
        raise ParameterError(
            f"frame is {with_article(type(frame).__name__)}; pass a DataFrame of pandas, Polars or Arrow."
        )
    given = {"matter": matters, "client": clients, "user": users}
    kind = _kind_of(frame)
    details = {}
    for name in names:
        if given[name] is None and f"{name}_id" in _columns(frame):
            loading = client or default_client()
            given[name] = getattr(loading, f"{name}s")(to=kind)
        if given[name] is not None:
            details[name] = given[name]
    return join_details(frame, details or dict.fromkeys(names))


def _columns(frame: Any) -> list[str]:
    return list(getattr(frame, "column_names", None) or frame.columns)


def _kind_of(frame: Any) -> str:
    kind = type(frame).__module__.partition(".")[0]
    return {"polars": "polars", "pyarrow": "arrow"}.get(kind, "pandas")
