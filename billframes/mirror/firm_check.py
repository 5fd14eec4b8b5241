"""Refuse to refresh a mirror from another firm, or with a credential that sees less; find and remember its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from billframes.client import Client
from billframes.config.firm import FirmSettings
from billframes.config.firm_file import file_of_account
from billframes.errors import ConfigError, MirrorError
from billframes.mirror.catalogue import Firm, Version, if_sandbox
from billframes.mirror.server_lists import ServerLists
from billframes.mirror.storage import Storage


def check_firm(
    storage: Storage, server: ServerLists, previous: Version | None, *, read_users: bool = True
) -> Mapping[str, Any]:
    """
    Return the firm's address, whether rates are visible, and the file of its settings, as in `Firm`.

    Raise `MirrorError` if the mirror holds other data.
    """
    settings = _file_to_remember(server.client, previous.firm.settings if previous else None)
    now = {"address": server.address, "rates": server.shows_rates(), "settings": settings}
    if previous is None:
        return now
    known = previous.firm
    if known.address != now["address"]:
        raise MirrorError(
            f"The mirror {storage.location} holds the data of {known.address}, and this client is connected to "
            f"{now['address']}. Keep a mirror for each firm; nothing was changed.{if_sandbox(known)}"
        )
    if known.rates and now["rates"] is False:
        raise MirrorError(
            f"The mirror {storage.location} holds rates, and this credential lacks the scope read.rates. Refresh it "
            "with a credential that has it; nothing was changed."
        )
    if now["rates"] is None:
        now["rates"] = known.rates
    # One address can serve several firms.
    users = set(storage.read("users", previous.tables["users"], ["user_id"])[0].to_pylist() if read_users else ())
    if users and users.isdisjoint(server.load("users", select="").column("user_id").to_pylist()):
        raise MirrorError(
            f"The mirror {storage.location} holds another firm's data: none of its {len(users)} users is on the "
            "server. Connect with that firm's credential, or keep another mirror; nothing was changed."
        )
    return now


def settings_of(client: Client | None, firm: Firm) -> FirmSettings | None:
    """Return the settings of a mirror, given the client that refreshes it and the firm of its newest version."""
    if client is not None:
        return client._find_settings(firm.settings)
    file = file_of_account(firm.address, firm.settings)
    return FirmSettings.load(file) if file else None


def _file_to_remember(client: Client, earlier: str | None) -> str | None:
    """Return the path of the client's settings; that of the last refresh if the client has no profile to know it by."""
    if given := vars(client).get("settings"):
        return given.source or None
    try:
        found = client._settings_file(earlier)
    except ConfigError:
        return earlier
    return str(found.absolute()) if found else None if client._has_profile else earlier
