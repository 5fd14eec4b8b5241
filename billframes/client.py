"""The client: one connection, and the loaders that use it."""

from __future__ import annotations

import ssl
import weakref
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from billframes._warn import warn
from billframes.config.limits import LIMITS, Limits
from billframes.config.options import config_file, is_loopback, resolve_connection
from billframes.config.profiles import keep_select_names
from billframes.config.secret import Secret, check_headers, hidden, hidden_headers
from billframes.errors import BillframesWarning, ParameterError
from billframes.loaders import (
    ClientBalances,
    Clients,
    Codes,
    CodeSets,
    CustomFields,
    Expenses,
    FixedFees,
    Health,
    Invoices,
    Matters,
    PracticeAreas,
    TimeEntries,
    Users,
)
from billframes.loaders.findings import FirstContact
from billframes.loaders.loader import Names
from billframes.loaders.server_check import look
from billframes.loading.progress import Progress
from billframes.loading.query_args import page_size as checked_page_size
from billframes.loading.select_names import SelectNames
from billframes.transport.cancellation import Task
from billframes.transport.http import Auth, BaseTransport, Http, Query, Response, Settle, rooted

__all__ = ["Client"]

# What a profile may set, with `connect`'s defaults.
DEFAULTS: dict[str, Any] = {
    "headers": None,
    "acting_user": None,
    "acting_user_header": "x-service-userid",
    "timeout": 30.0,
    "retries": 5,
    "concurrency": 8,
    "page_size": 1000,
    "rate_limit": None,
    "health_path": None,
    "select_names": None,
    "verify": True,
}


class Client:
    """
    A connection to one billing API, with a loader for each of its resources.

    Parameters
    ----------
    base_url : str, optional
        The API's address, `https://…`; `http://` only on this machine. Else `BILLFRAMES_BASE_URL`, else the
        profile's.
    token : str, optional
        Sent as `Authorization: Bearer …`. Else `BILLFRAMES_TOKEN`, else the profile's, else the keyring's; none of
        these is sent to an address given here that is not its own.
    profile : str, optional
        Name of a profile in `config.toml`; else `BILLFRAMES_PROFILE`, else the file's default.
    auth : httpx.Auth, optional
        Authenticates requests in place of `token`.
    headers : mapping of str to str, optional
        Sent with every request.
    acting_user : str, optional
        Id of the user on whose behalf time entries are created.
    acting_user_header : str, default "x-service-userid"
        The header that names the acting user.
    timeout : float, default 30.0
        Seconds of silence after which a request counts as failed.
    retries : int, default 5
        How often a GET that fails in a passing way is tried again. A request that is refused with 429 is tried again
        as long as the server grants others, and so often if it grants none.
    concurrency : int, default 8
        Most requests under way at once.
    page_size : int, default 1000
        Records to ask for at once, 1 to 1000.
    rate_limit : float, optional
        Most requests a second; None is no limit.
    progress : bool or callable, optional
        None shows a bar in notebooks and terminals after a second; True, False, or a function of rows done and
        rows in all.
    health_path : str, optional
        Path of the health check, such as "/health", which the API's description does not show. It is below the API's
        address, and so is every other request.
    select_names : mapping of str to str or list of str, optional
        Other `select` names that this server has for some details, by loader, such as `{"matters": "client"}`. Loads
        find them out by themselves, and `check` tells them; given here, the first load need not.
    verify : bool, str or ssl.SSLContext, default True
        True checks certificates against the operating system's trust store; a text is the path of a CA file.
    transport : httpx.BaseTransport, optional
        Sends requests in place of the network, for tests.

    Raises
    ------
    ConfigError
        Nothing says which API to call, or what says so can't be used.
    ParameterError
        An argument is out of range.

    Examples
    --------
    >>> from billframes.sandbox import Sandbox
    >>> with Sandbox() as sandbox, Client(sandbox.base_url, sandbox.tokens["full"]) as client:
    ...     client.practice_areas().columns.tolist()
    ['practice_area_id', 'label', 'default']
    """

    def __init__(
        self,
        base_url: str | None = None,
        token: str | Secret | None = None,
        *,
        profile: str | None = None,
        auth: Auth | None = None,
        headers: Mapping[str, str | Secret] | None = None,
        acting_user: str | None = None,
        acting_user_header: str = "x-service-userid",
        timeout: float = 30.0,
        retries: int = 5,
        concurrency: int = 8,
        page_size: int = 1000,
        rate_limit: float | None = None,
        progress: bool | Progress | None = None,
        health_path: str | None = None,
        select_names: Mapping[str, Names] | None = None,
        verify: bool | str | ssl.SSLContext = True,
        transport: BaseTransport | None = None,
    ) -> None:
        # First of all: whatever fails from here on, no frame of its traceback holds a credential as text.
        token, headers = hidden(token), hidden_headers(headers)
        # Tracebacks that show variables ask also a client that is half made for its repr.
        self.base_url, self.sources = "", {"token": "none"}
        connection = resolve_connection(
            base_url,
            token,
            profile=profile,
            wants_token=auth is None,
            own_headers=headers is not None,
            known_options=LIMITS | DEFAULTS.keys(),
        )
        given: dict[str, Any] = {
            "headers": headers,
            "acting_user": acting_user,
            "acting_user_header": acting_user_header,
            "timeout": timeout,
            "retries": retries,
            "concurrency": concurrency,
            "page_size": page_size,
            "rate_limit": rate_limit,
            "health_path": health_path,
            "select_names": select_names,
            "verify": verify,
        }
        # A profile's setting counts where the argument was left at its default.
        options: dict[str, Any] = {
            name: connection.options.get(name, value) if value == DEFAULTS[name] else value
            for name, value in given.items()
        }
        _check(options)
        check_headers(options["headers"] or {})
        _warn_unverified(connection.base_url, options["verify"])
        self.base_url = connection.base_url
        self.profile = connection.profile
        self.progress = progress
        self.page_size: int = checked_page_size(options["page_size"])
        self.concurrency: int = options["concurrency"]
        self.acting_user: str | None = options["acting_user"]
        self.acting_user_header: str = options["acting_user_header"]
        self.health_path: str | None = rooted(options["health_path"]) if options["health_path"] else None
        self.select_names = SelectNames(options["select_names"])
        self.sources = dict(connection.sources)
        self.options = options
        self._http = Http(
            connection.base_url,
            token=connection.token,
            auth=auth,
            headers=options["headers"],
            timeout=options["timeout"],
            retries=options["retries"],
            concurrency=options["concurrency"],
            rate_limit=options["rate_limit"],
            verify=options["verify"],
            transport=transport,
            limits=Limits.of(connection.options),
        )
        # Connections are closed when nobody holds the client any more, or the interpreter ends.
        weakref.finalize(self, self._http.close)
        self._add_loaders()

    def _add_loaders(self) -> None:
        here = _Here(self)
        self.client_balances = ClientBalances(here)
        self.clients = Clients(here)
        self.code_sets = CodeSets(here)
        self.codes = Codes(here)
        self.custom_fields = CustomFields(here)
        self.expenses = Expenses(here)
        self.fixed_fees = FixedFees(here)
        self.health = Health(here)
        self.invoices = Invoices(here)
        self.matters = Matters(here)
        self.practice_areas = PracticeAreas(here)
        self.time_entries = TimeEntries(here)
        self.users = Users(here)

    @property
    def limits(self) -> Limits:
        """Bounds on answers, requests and loads, beside `timeout` and `retries`; can be changed."""
        return self._http.limits

    @property
    def tables(self) -> None:
        """No local copy: lists are read from the server."""
        return

    def task(self) -> Task:
        """Return what the requests of one load belong to; leaving its `with` block ends them."""
        return self._http.task()

    def fetch(
        self, path: str, query: Query = (), *, resource: str, task: Task | None = None, may_be_empty: bool = False
    ) -> Response:
        """
        Send one GET and return its answer as bytes.

        Parameters
        ----------
        path : str
            The operation's path, such as "/v2/codes".
        query : sequence of (str, str)
            Query parameters.
        resource : str
            What is asked for, in the words of error messages.
        task : Task, optional
            The load it is part of.
        may_be_empty : bool
            Whether an answer without a body will do.

        Raises
        ------
        ApiError
            Whichever of its kind fits the outcome.
        DecodeError
            The answer is no JSON.
        """
        return self._http.get(path, query, resource=resource, task=task, may_be_empty=may_be_empty)

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        resource: str,
        headers: Mapping[str, str] | None = None,
        settle: Settle | None = None,
    ) -> Response:
        """
        Send one POST, PUT or DELETE and return its answer as bytes.

        Parameters
        ----------
        method : {"POST", "PUT", "DELETE"}
        path : str
            The operation's path.
        body : bytes, optional
            JSON.
        resource : str
            What is written, in the words of error messages.
        headers : mapping of str to str, optional
            Sent with this request alone.
        settle : callable, optional
            Looks what became of it where no answer says so.

        Raises
        ------
        UncertainWriteError
            The request was sent and nothing says what became of it; it is not sent again.
        ApiError
            Whichever of its kind fits the outcome.
        """
        return self._http.write(method, path, body, resource=resource, headers=headers or {}, settle=settle)

    def check(self, *, remember: bool = False) -> FirstContact:
        """
        Find out what this server really does, with fourteen small requests that write nothing to it.

        Loads are proved by what the API's description says of lists. This tells beforehand whether the server keeps to
        it, and what billframes does where it does not; loads hold every answer against what was asked for either way.
        Ten requests read time entries; four find out the `select` names of details that servers name differently. A
        server with other names, or without these details, takes one or two requests more for each.

        Parameters
        ----------
        remember : bool, default False
            Keep the `select` names that were found in this client's profile, so that later clients begin with them.

        Returns
        -------
        FirstContact
            `.findings`, each with `name`, `found`, `holds` (None where the data there are can't tell) and `instead`;
            `.failing` are those that do not hold. It shows itself as a table.

        Raises
        ------
        ApiError
            The server does not answer, or refuses the credential.
        DecodeError
            Its answers are not those of the API, so that no load could read them.
        ConfigError
            `remember` is True, and this client has no profile or its file can't be added to.

        Examples
        --------
        >>> contact = bf.connect("sandbox").check()
        >>> contact.requests, contact.failing
        (14, ())
        >>> contact["strictness"].found
        'strict: a record is not changed since its own modified date'
        """
        contact = look(self, self.base_url)
        if remember:
            keep_select_names(config_file(), self.profile, dict(self.select_names))
        return contact

    def close(self) -> None:
        """Close the connections. Safe to call twice."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self.base_url!r}, token from {self.sources['token']})"

    def __reduce__(self) -> tuple[Any, ...]:
        options = {**self.options, "headers": None, "select_names": dict(self.select_names) or None}
        # Credentials stay behind, headers too: those of the profile are found again where the client is unpickled.
        return _reconnect, (self.base_url, self.profile, options)


class _Here:
    """Returns the client that a loader belongs to; a class, so that loaders can be pickled with it."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __call__(self) -> Client:
        return self._client


def _reconnect(base_url: str, profile: str | None, options: dict[str, Any]) -> Client:
    return Client(base_url, profile=profile, **options)


def _warn_unverified(base_url: str, verify: bool | str | ssl.SSLContext) -> None:
    if verify is False and not is_loopback(urlsplit(base_url).hostname or ""):
        warn(
            f"verify=False: whoever stands between here and {base_url} can pass for it, read the credential and change "
            "what it answers. Give verify= the path of the server's certificate authority.",
            BillframesWarning,
        )


def _check(options: Mapping[str, Any]) -> None:
    for name, least in (("timeout", 0), ("retries", 0), ("concurrency", 1), ("rate_limit", 0)):
        value = options[name]
        if name == "rate_limit" and value is None:
            continue
        wrong_type = isinstance(value, bool) or not isinstance(value, int | float)
        if wrong_type or value < least or (value == 0 and name in {"timeout", "rate_limit"}):
            raise ParameterError(
                f"{name}={value!r} is out of range; it takes a number of at least {least or 'above 0'}."
            )
    path = options["health_path"]
    if path is not None and (not isinstance(path, str) or "://" in path):
        raise ParameterError(f"health_path={path!r} is not a path below the API's address, such as '/health'.")
