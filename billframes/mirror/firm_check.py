"""Refuse to refresh a mirror from another firm, or with a credential that sees less than the mirror holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from billframes.errors import MirrorError
from billframes.mirror.catalogue import Version, if_sandbox
from billframes.mirror.firm_settings import file_to_remember
from billframes.mirror.server_lists import ServerLists
from billframes.mirror.storage import Storage


def check_firm(
    storage: Storage, server: ServerLists, previous: Version | None, *, read_users: bool = True
) -> Mapping[str, Any]:
    """
    Return the firm's address, whether rates are visible, and the file of its settings.

    Raise `MirrorError` if the mirror holds other data.
    """
    settings = file_to_remember(server.client, previous.firm.get("settings") if previous else None)
    now = {"address": server.address, "rates": server.shows_rates(), "settings": settings}
    if previous is None:
        return now
    known = previous.firm
    if known["address"] != now["address"]:
        raise MirrorError(
            f"The mirror {storage.location} holds the data of {known['address']}, and this client is connected to "
            f"{now['address']}. Keep a mirror for each firm; nothing was changed.{if_sandbox(known)}"
        )
    if known["rates"] and now["rates"] is False:
        raise MirrorError(
            f"The mirror {storage.location} holds rates, and this credential lacks the scope read.rates. Refresh it "
            "with a credential that has it; nothing was changed."
        )
    if now["rates"] is None:
        now["rates"] = known["rates"]
    # One address can serve several firms.
    users = set(storage.read("users", previous.tables["users"], ["user_id"])[0].to_pylist() if read_users else ())
    if users and users.isdisjoint(server.load("users", select="").column("user_id").to_pylist()):
        raise MirrorError(
            f"The mirror {storage.location} holds another firm's data: none of its {len(users)} users is on the "
            "server. Connect with that firm's credential, or keep another mirror; nothing was changed."
        )
    return now
