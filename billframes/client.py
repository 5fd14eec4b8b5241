"""The client: a connection to the API, with its loaders."""

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
    check_option_names,
    document_options,
    option_values,
)
from billframes.config.credentials import FoundApi, find_api, is_loopback
from billframes.config.firm import FirmSettings
from billframes.config.profiles import LIMITS, Limits, config_file, save_select_names
from billframes.config.secret import Secret, check_headers, hide, is_header_name
from billframes.days import FiscalYear
from billframes.errors import BillframesWarning, ConfigError, ParameterError
from billframes.loaders.loader_set import LoaderSet, Owner
from billframes.loaders.server_check import check_server
from billframes.loaders.server_findings import ServerCheck
from billframes.loading.ids import identifier
from billframes.loading.progress import Progress, check_progress
from billframes.loading.select_names import SelectNames
from billframes.schema.custom_fields import FieldNames
from billframes.transport.connections import CancelScope
from billframes.transport.http import HttpClient, OutcomeCheck, Query, Response, absolute_path

__all__ = ["Client"]

# The profile's setting for the file of firm settings. A relative path starts at the folder of `config.toml`.
FIRM = "firm"
# The profile's setting for the time for which `billframes sync` keeps a mirror's versions.
MIRROR_KEEP = "mirror_keep"


@document_options
class Client(LoaderSet):
    """
    A connection to a billing API, with a loader for each resource.

    Parameters
    ----------
    base_url : str, optional
        The API's address, `https://…`; `http://` only on this machine. By default `BILLFRAMES_BASE_URL`, else the
        profile's.
    token : str, optional
        Sent as `Authorization: Bearer …`. By default `BILLFRAMES_TOKEN`, else the profile's, else the keyring's. These
        are only sent to the address that they belong to, not to another `base_url`.
    {options}

    Raises
    ------
    ConfigError
        No address is configured, or the address, the credential or the profile can't be used.
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
        # This comes first: if anything fails later, no frame of the traceback holds a credential as text.
        token, given = hide(token), check_option_names("Client", given)
        # Tracebacks that show variables call the repr even of an unfinished client.
        self.base_url, self.sources = "", {"token": "none"}
        found = _find(base_url, token, given)
        values = option_values(given, found.options)
        self._http = _http(found, values)
        self.base_url, self.profile, self.sources = found.base_url, found.profile, dict(found.sources)
        self.options = {name: values[name] for name in OPTIONS if name in PROFILE_OPTIONS}
        self._firm = found.options.get(FIRM)
        self.mirror_keep = found.options.get(MIRROR_KEEP)
        self._set(values)
        # Close the connections when the client is garbage-collected or the interpreter exits.
        weakref.finalize(self, self._http.close)
        LoaderSet.__init__(self, Owner(self))

    def _set(self, values: Mapping[str, Any]) -> None:
        """Set the attributes that loads and single records use."""
        self.progress: bool | Progress | None = values["progress"]
        self.page_size: int = values["page_size"]
        self.concurrency: int = values["concurrency"]
        start = values["fiscal_year_start"]
        named = FiscalYear.read(start or 1, values["fiscal_year_name"])
        self._fiscal_year = named if start else None
        acting = values["acting_user"]
        self.acting_user: str | None = identifier(acting, "acting_user") if acting else None
        self.acting_user_header: str = values["acting_user_header"]
        self.health_path = absolute_path(values["health_path"]) if values["health_path"] else None
        self.select_names = SelectNames(values["select_names"])
        self.field_names = FieldNames()

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
    def fiscal_year(self) -> FiscalYear | None:
        """The fiscal year of the client's option, else of its firm settings; None if neither is set."""
        return self._fiscal_year or (self.settings.fiscal_year if self.settings else None)

    @property
    def limits(self) -> Limits:
        """Limits of responses, requests and loads besides `timeout` and `retries`. They can be changed."""
        return self._http.limits

    @property
    def tables(self) -> None:
        """None, because lists are read from the server; a mirror has its local tables here."""
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
        Send a GET request and return its response.

        Parameters
        ----------
        path : str
            The operation's path, such as "/v2/codes".
        query : sequence of (str, str)
            Query parameters.
        resource : str
            Name of the resource for error messages.
        scope : CancelScope, optional
            The scope of the load to which the request belongs.
        may_be_empty : bool
            Whether a response without a body is accepted.

        Raises
        ------
        ApiError
            The server refused or failed, or could not be reached; raised as the subclass for the reason.
        DecodeError
            The response is not JSON.
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
        Send a POST, PUT or DELETE request and return its response.

        Parameters
        ----------
        method : {"POST", "PUT", "DELETE"}
        path : str
            The operation's path.
        body : bytes, optional
            JSON.
        resource : str
            Name of the resource for error messages.
        headers : mapping of str to str, optional
            Sent with this request only.
        check_outcome : callable, optional
            Finds out whether the write happened if no response was received.

        Raises
        ------
        UncertainWriteError
            The request was sent, and it is unknown whether it had an effect. It is not sent again.
        ApiError
            The server refused or failed, or could not be reached; raised as the subclass for the reason.
        """
        return self._http.write(method, path, body, resource=resource, headers=headers, check_outcome=check_outcome)

    def check(self, *, remember: bool = False) -> ServerCheck:
        """
        Check how this server behaves, with fourteen small requests that write nothing.

        To prove loads complete, billframes relies on rules for lists in the API's description. The check finds out
        whether the server follows these rules, and states what billframes does if it does not. Loads check every
        response in any case. Ten requests read time entries. Four find out the `select` names of details that servers
        name differently; each of these takes one or two more requests if the server has another name or no such detail.

        Parameters
        ----------
        remember : bool, default False
            Save the `select` names that were found in this client's profile, for later clients.

        Returns
        -------
        ServerCheck
            `.findings`, each with `name`, `found`, `holds` (None if the data don't show it) and `instead`; `.failing`
            has those that do not hold. In a notebook it is shown as a table.

        Raises
        ------
        ApiError
            The server does not respond, or refuses the credential.
        DecodeError
            The responses do not fit the API's description, so that no load could read them.
        ConfigError
            `remember` is True, and this client has no profile, or the file can't be changed.

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
            save_select_names(config_file(), self.profile, dict(self.select_names))
        return found

    def close(self) -> None:
        """Close the connections. A second call does nothing."""
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
        # Credentials and headers are not pickled. The unpickled client takes those of its profile.
        options = {**self.options, "headers": None, "select_names": dict(self.select_names) or None}
        return _reconnect, (self.base_url, self.profile, options)


def _reconnect(base_url: str, profile: str | None, options: dict[str, Any]) -> Client:
    return Client(base_url, profile=profile, **options)


def _warn_unverified(base_url: str, verify: bool | str | ssl.SSLContext) -> None:
    if verify is False and not is_loopback(urlsplit(base_url).hostname or ""):
        warn(
            f"verify=False: anyone on the network between here and {base_url} can pretend to be the server, read the "
            "credential and change responses. Give verify= the path of the server's certificate authority.",
            BillframesWarning,
        )


def _find(base_url: str | None, token: Secret | None, given: ClientOptions) -> FoundApi:
    if token is not None and given.get("auth") is not None:
        raise ParameterError("token= and auth= both authenticate requests; give one of them.")
    return find_api(
        base_url,
        token,
        profile=given.get("profile"),
        wants_token=given.get("auth") is None,
        own_headers=given.get("headers") is not None,
        known_options=PROFILE_OPTIONS | LIMITS | {FIRM, MIRROR_KEEP},
    )


def _http(found: FoundApi, values: Mapping[str, Any]) -> HttpClient:
    """Check the options that are not numbers, and return the connection."""
    path = values["health_path"]
    if path is not None and (not isinstance(path, str) or "://" in path):
        raise ParameterError(f"health_path={path!r} is not a path below the API's address, such as '/health'.")
    if not is_header_name(values["acting_user_header"]):
        raise ParameterError(f"acting_user_header={values['acting_user_header']!r} is not the name of a header.")
    check_progress(values["progress"])
    check_headers(values["headers"] or {})
    _warn_unverified(found.base_url, values["verify"])
    names = ("auth", "headers", "timeout", "retries", "concurrency", "rate_limit", "verify", "transport")
    return HttpClient(
        found.base_url, token=found.token, limits=Limits.of(found.options), **{name: values[name] for name in names}
    )
