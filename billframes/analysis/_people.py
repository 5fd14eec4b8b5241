"""Who the settings mean: users named by e-mail address become users named by id, and whom the settings forgot."""

from __future__ import annotations

from typing import Any, cast

import narwhals.stable.v2 as nw

from billframes._warn import warn
from billframes.analysis._frames import Frame, take
from billframes.analysis._rows import rows_of
from billframes.errors import IncompleteDataWarning, ParameterError
from billframes.settings.firm import FirmSettings

__all__ = ["settle", "warn_of_no_rate"]

C = nw.col

# A warning names so many people and counts the others.
_NAMED = 5


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


def warn_of_no_rate(rows: Frame, kind: str, what: str) -> None:
    """
    Warn of hours by people to whom the settings give no rate, if there are any.

    Parameters
    ----------
    rows : Frame
        Time with `user_id` and `hours`, of these people.
    kind : {"cost", "standard"}
    what : str
        What becomes of the figures.
    """
    people = rows_of(rows.group_by("user_id").agg(C("hours").sum()))
    if not people:
        return
    hours = sum(person["hours"] for person in people)
    ids = sorted(str(person["user_id"] or "Unassigned") for person in people)
    named = ", ".join(ids[:_NAMED]) + (f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else "")
    warn(
        f"{hours:g} hours of {len(ids)} people have no {kind} rate in the settings (user_id {named}); {what}. "
        f"Give {kind}_rates= of FirmSettings for them.",
        IncompleteDataWarning,
    )
