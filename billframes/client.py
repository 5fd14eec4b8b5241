"""The client: a connection to the API, with its loaders."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, Unpack
from urllib.parse import urlsplit

from billframes._shared.messages import warn
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
from billframes.config.firm_file import FIRM, file_of_account, file_of_profile, fiscal_year_of_account
from billframes.config.profiles import LIMITS, Limits, config_file, save_select_names
from billframes.config.secret import Secret, check_headers, hide, is_header_name
from billframes.days import FiscalYear
from billframes.errors import BillframesWarning, ParameterError
from billframes.loaders.loader_set import LoaderSet, Owner
from billframes.loaders.server_check import check_server
from billframes.loaders.server_findings import ServerCheck
from billframes.loading.connection import ServerConnection
from billframes.loading.progress import check_progress
from billframes.loading.select_names import SelectNames

__all__ = ["Client"]

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
        self._connection = _connection(found, values)
        self.base_url, self.profile, self.sources = found.base_url, found.profile, dict(found.sources)
        self.options = {name: values[name] for name in OPTIONS if name in PROFILE_OPTIONS}
        # A profile decides which firm settings hold, and so does "", which stands for none.
        self._has_profile = found.profile_fits if found.profile else given.get("profile") == ""
        self._firm = found.options.get(FIRM)
        self._mirror_keep = found.options.get(MIRROR_KEEP)
        start = values["fiscal_year_start"]
        named = FiscalYear.read(start or 1, values["fiscal_year_name"])
        self._fiscal_year = named if start else None
        # Close the connections when the client is garbage-collected or the interpreter exits.
        weakref.finalize(self, self._connection.close)
        LoaderSet.__init__(self, Owner(self))

    @functools.cached_property
    def settings(self) -> FirmSettings | None:
        """
        The firm's settings that the profile names as `firm = "firm.toml"`; books use them by default.

        Without a profile, the profiles with this client's address decide. Set it to use other settings.

        Raises
        ------
        ConfigError
            The file can't be read, or profiles with this address name different files.
        """
        return self._find_settings()

    def _find_settings(self, remembered: str | None = None) -> FirmSettings | None:
        """Return the settings that were set, else those of the file that `_settings_file` finds."""
        file = None if vars(self).get("settings") else self._settings_file(remembered)
        return FirmSettings.load(file) if file else vars(self).get("settings")

    def _settings_file(self, remembered: str | None = None) -> Path | None:
        """Return the path of the firm's settings; `remembered` is the file with which a mirror was refreshed."""
        return file_of_profile(self._firm) if self._has_profile else file_of_account(self.base_url, remembered)

    @property
    def fiscal_year(self) -> FiscalYear | None:
        """The fiscal year of the client's option, else of its firm settings; None if neither is set."""
        return self._given_fiscal_year or (self.settings.fiscal_year if self.settings else None)

    @property
    def _given_fiscal_year(self) -> FiscalYear | None:
        """The fiscal year that the client or, if it was made without a profile, one with its address was given."""
        return self._fiscal_year or (None if self._has_profile else fiscal_year_of_account(self.base_url))

    @property
    def select_names(self) -> SelectNames:
        """The names of `select` that this server uses for details, by list, as far as they are known."""
        return self._connection.select_names

    @property
    def limits(self) -> Limits:
        """Limits of responses, requests and loads besides `timeout` and `retries`. They can be changed."""
        return self._connection.limits

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
        "strict: changes since an instant don't include records modified at that instant"
        """
        found = check_server(self._connection, self.base_url)
        if remember:
            save_select_names(config_file(), self.profile, dict(self.select_names))
        return found

    def close(self) -> None:
        """Close the connections. A second call does nothing."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<billframes client {self.base_url}, token from {self.sources['token']}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # Credentials and headers are not pickled. The unpickled client takes those of its profile.
        options = {**self.options, "headers": None, "select_names": dict(self.select_names) or None}
        known = {"settings": self.settings} if vars(self).get("settings") else None
        return functools.partial(Client, self.base_url, profile=self.profile, **options), (), known


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


def _connection(found: FoundApi, values: Mapping[str, Any]) -> ServerConnection:
    """Check the options that are not numbers, and return the connection."""
    path = values["health_path"]
    if path is not None and (not isinstance(path, str) or "://" in path):
        raise ParameterError(f"health_path={path!r} is not a path below the API's address, such as '/health'.")
    if not is_header_name(values["acting_user_header"]):
        raise ParameterError(f"acting_user_header={values['acting_user_header']!r} is not the name of a header.")
    check_progress(values["progress"])
    check_headers(values["headers"] or {})
    if values["verify"] is False and not is_loopback(urlsplit(found.base_url).hostname or ""):
        warn(
            f"verify=False: anyone on the network between here and {found.base_url} can pretend to be the server, read "
            "the credential and change responses. Give verify= the path of the server's certificate authority.",
            BillframesWarning,
        )
    return ServerConnection(found.base_url, token=found.token, limits=Limits.of(found.options), options=values)
