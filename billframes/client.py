"""The client: one connection, and the loaders that use it."""

from __future__ import annotations

import functools
import ssl
import weakref
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self, Unpack
from urllib.parse import urlsplit

from billframes._messages import warn
from billframes.client_options import (
    OPTIONS,
    PROFILE_OPTIONS,
    ClientOptions,
    checked_names,
    documented,
    option_values,
)
from billframes.config.credentials import FoundApi, find_api, is_loopback
from billframes.config.firm import FirmSettings
from billframes.config.profiles import LIMITS, Limits, config_file, keep_select_names
from billframes.config.secret import Secret, check_headers, hidden
from billframes.errors import BillframesWarning, ConfigError, ParameterError
from billframes.loaders.loader_set import LoaderSet, Owner
from billframes.loaders.server_check import check_server
from billframes.loaders.server_findings import ServerCheck
from billframes.loading.progress import Progress
from billframes.loading.select_names import SelectNames
from billframes.transport.connections import CancelScope
from billframes.transport.http import HttpClient, OutcomeCheck, Query, Response, absolute_path

__all__ = ["Client"]

# A profile's setting with the path of the firm's settings; a relative one starts at the folder of `config.toml`.
FIRM = "firm"


@documented
class Client(LoaderSet):
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
    {options}

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
        **given: Unpack[ClientOptions],
    ) -> None:
        # First of all: whatever fails from here on, no frame of its traceback holds a credential as text.
        token, given = hidden(token), checked_names("Client", given)
        # Tracebacks that show variables ask even a half-made client for its repr.
        self.base_url, self.sources = "", {"token": "none"}
        found = _find(base_url, token, given)
        values = option_values(given, found.options)
        self._http = _http(found, values)
        self.base_url, self.profile, self.sources = found.base_url, found.profile, dict(found.sources)
        self.options = {name: values[name] for name in OPTIONS if name in PROFILE_OPTIONS}
        self._firm = found.options.get(FIRM)
        self._set(values)
        # Connections are closed when nobody holds the client any more, or the interpreter ends.
        weakref.finalize(self, self._http.close)
        LoaderSet.__init__(self, Owner(self))

    def _set(self, values: Mapping[str, Any]) -> None:
        """Set what loads and single records ask of their client."""
        self.progress: bool | Progress | None = values["progress"]
        self.page_size: int = values["page_size"]
        self.concurrency: int = values["concurrency"]
        self.acting_user: str | None = values["acting_user"]
        self.acting_user_header: str = values["acting_user_header"]
        self.health_path = absolute_path(values["health_path"]) if values["health_path"] else None
        self.select_names = SelectNames(values["select_names"])

    @functools.cached_property
    def settings(self) -> FirmSettings | None:
        """
        The firm's settings that the profile names as `firm = "firm.toml"`; books use them by default.

        Raises
        ------
        ConfigError
            The file can't be read.
        """
        if self._firm is None:
            return None
        if not isinstance(self._firm, str):
            raise ConfigError(f"{config_file()}: {FIRM}={self._firm!r} is not a path such as 'firm.toml'.")
        return FirmSettings.load(config_file().parent / self._firm)

    @property
    def limits(self) -> Limits:
        """Bounds on answers, requests and loads, beside `timeout` and `retries`; can be changed."""
        return self._http.limits

    @property
    def tables(self) -> None:
        """No local copy: lists are read from the server."""
        return

    def cancel_scope(self) -> CancelScope:
        """Return a cancel scope for the requests of one load; leaving its `with` block cancels them."""
        return self._http.cancel_scope()

    def fetch(
        self,
        path: str,
        query: Query = (),
        *,
        resource: str,
        scope: CancelScope | None = None,
        may_be_empty: bool = False,
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
        scope : CancelScope, optional
            The scope of the load that it is part of.
        may_be_empty : bool
            Whether a response without a body is accepted.

        Raises
        ------
        ApiError
            Whichever of its kind fits the outcome.
        DecodeError
            The answer is not JSON.
        """
        return self._http.get(path, query, resource=resource, scope=scope, may_be_empty=may_be_empty)

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        resource: str,
        headers: Mapping[str, str] | None = None,
        check_outcome: OutcomeCheck | None = None,
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
        check_outcome : callable, optional
            Finds out whether it happened, if no response says so.

        Raises
        ------
        UncertainWriteError
            The request was sent, and it is not known whether it had an effect; it is not sent again.
        ApiError
            Whichever of its kind fits the outcome.
        """
        return self._http.write(
            method, path, body, resource=resource, headers=headers or {}, check_outcome=check_outcome
        )

    def check(self, *, remember: bool = False) -> ServerCheck:
        """
        Find out what this server really does, with fourteen small requests that write nothing to it.

        Loads are proved complete by rules that the API's description gives for lists. This says beforehand whether the
        server follows them, and what billframes does if it does not. Loads check every answer either way.
        Ten requests read time entries; four find out the `select` names of details that servers name differently. A
        server with other names, or without these details, takes one or two requests more for each.

        Parameters
        ----------
        remember : bool, default False
            Keep the `select` names that were found in this client's profile, so that later clients begin with them.

        Returns
        -------
        ServerCheck
            `.findings`, each with `name`, `found`, `holds` (None if the data can't tell) and `instead`;
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
        >>> check = bf.connect("sandbox").check()
        >>> check.requests, check.failing
        (14, ())
        >>> check["strictness"].found
        'strict: a record is not changed since its own modified date'
        """
        found = check_server(self, self.base_url)
        if remember:
            keep_select_names(config_file(), self.profile, dict(self.select_names))
        return found

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
        # Credentials stay behind, headers too: those of the profile are found again where the client is unpickled.
        options = {**self.options, "headers": None, "select_names": dict(self.select_names) or None}
        return _reconnect, (self.base_url, self.profile, options)


def _reconnect(base_url: str, profile: str | None, options: dict[str, Any]) -> Client:
    return Client(base_url, profile=profile, **options)


def _warn_unverified(base_url: str, verify: bool | str | ssl.SSLContext) -> None:
    if verify is False and not is_loopback(urlsplit(base_url).hostname or ""):
        warn(
            f"verify=False: whoever stands between here and {base_url} can pass for it, read the credential and change "
            "what it answers. Give verify= the path of the server's certificate authority.",
            BillframesWarning,
        )


def _find(base_url: str | None, token: Secret | None, given: ClientOptions) -> FoundApi:
    return find_api(
        base_url,
        token,
        profile=given.get("profile"),
        wants_token=given.get("auth") is None,
        own_headers=given.get("headers") is not None,
        known_options=PROFILE_OPTIONS | LIMITS | {FIRM},
    )


def _http(found: FoundApi, values: Mapping[str, Any]) -> HttpClient:
    """Check what can't be a number out of range, and return the connection."""
    path = values["health_path"]
    if path is not None and (not isinstance(path, str) or "://" in path):
        raise ParameterError(f"health_path={path!r} is not a path below the API's address, such as '/health'.")
    check_headers(values["headers"] or {})
    _warn_unverified(found.base_url, values["verify"])
    names = ("auth", "headers", "timeout", "retries", "concurrency", "rate_limit", "verify", "transport")
    return HttpClient(
        found.base_url, token=found.token, limits=Limits.of(found.options), **{name: values[name] for name in names}
    )
