"""The firm's settings of a mirror, which remembers their file for those who read it without a profile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from billframes.client import Client
from billframes.config.firm import FirmSettings
from billframes.config.firm_file import file_of_account
from billframes.errors import ConfigError


def settings_of(client: Client | None, facts: Mapping[str, Any]) -> FirmSettings | None:
    """Return the settings of a mirror, given the client that refreshes it and the facts of its newest version."""
    remembered = facts.get("settings")
    if client is not None:
        return client._find_settings(remembered)
    file = file_of_account(facts["address"], remembered)
    return FirmSettings.load(file) if file else None


def file_to_remember(client: Client, earlier: str | None) -> str | None:
    """Return the path of the client's settings; that of the last refresh if the client has no profile to know it by."""
    if given := vars(client).get("settings"):
        return given.source or None
    try:
        found = client._settings_file(earlier)
    except ConfigError:
        return earlier
    return str(found.absolute()) if found else None if client._has_profile else earlier
