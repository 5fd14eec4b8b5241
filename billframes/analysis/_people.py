"""Who the settings mean: users named by e-mail address become users named by id."""

from __future__ import annotations

from typing import Any, cast

import narwhals.stable.v2 as nw

from billframes.analysis._frames import Frame, take
from billframes.errors import ParameterError
from billframes.settings.firm import FirmSettings

__all__ = ["settle"]


def settle(settings: FirmSettings | None, users: Frame | None) -> FirmSettings:
    """
    Return the settings with all users named by id, or the defaults.

    The users' ids and addresses are collected where the settings name anyone by address, and only then.
    """
    settings = settings or FirmSettings()
    if not settings.emails:
        return settings
    if users is None:
        raise ParameterError(
            f"settings name {min(settings.emails)!r} by e-mail address; pass users= (the loader users())."
        )
    return settings.by_id(_addresses(users))


def _addresses(users: Frame) -> dict[str, str]:
    named = take(users, "users", ("user_id", "email"))
    rows = named.collect() if isinstance(named, nw.LazyFrame) else cast("nw.DataFrame[Any]", named)
    pairs = zip(rows["email"].to_list(), rows["user_id"].to_list(), strict=True)
    return {str(email).lower(): str(user_id) for email, user_id in pairs}
