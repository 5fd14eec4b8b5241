"""Who the settings mean: users named by e-mail address become users named by id, and whom the settings forgot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

import narwhals.stable.v2 as nw

from billframes._warn import warn
from billframes.analysis._frames import Frame, collect_row, take
from billframes.analysis._rows import rows_of
from billframes.config.firm import FirmSettings
from billframes.errors import IncompleteDataWarning, ParameterError

__all__ = ["settle", "warn_of_no_rate", "warn_of_strangers"]

C = nw.col

# A warning names so many people and counts the others.
_NAMED = 5
_LISTED = 10


class _Settled(FirmSettings):
    """Settings that were settled: analyses built on others hand theirs on, and nobody is warned twice."""


def settle(settings: FirmSettings | None, frames: Mapping[str, Frame]) -> FirmSettings:
    """
    Return the settings with all users named by id, or the defaults.

    Warns of users and matters that the settings name and the frames lack. The users' ids and addresses are collected
    only if the settings name anyone by address.
    """
    if settings is None or isinstance(settings, _Settled):
        return settings or FirmSettings()
    if settings.emails:
        if "users" not in frames:
            raise ParameterError(
                f"settings name {min(settings.emails)!r} by e-mail address; pass users= (the loader users())."
            )
        settings = settings.by_id(_addresses(frames["users"]))
    warn_of_strangers(settings, frames)
    return _Settled(**{each.name: getattr(settings, each.name) for each in fields(settings)})


def warn_of_strangers(settings: FirmSettings, frames: Mapping[str, Frame]) -> None:
    """Warn of users and matters that the settings name and the frames at hand lack."""
    for name, named in settings.named.items():
        if named and name in frames:
            column = f"{name.removesuffix('s')}_id"
            absent = sorted(set(named) - _present(frames[name], name, column, list(named)))
            if absent:
                few = ", ".join(f"{each} ({', '.join(named[each])})" for each in absent[:_LISTED])
                more = f" and {len(absent) - _LISTED} more" if len(absent) > _LISTED else ""
                warn(
                    f"settings name {len(absent)} {name} that are not among those passed: {few}{more}. "
                    f"Load all {name}, archived ones too, or correct the ids.",
                    IncompleteDataWarning,
                )


def _present(frame: Frame, name: str, column: str, ids: list[str]) -> set[str]:
    """Return those of the ids that a frame has; usually all, so that they are counted before they are listed."""
    found = take(frame, name, (column,)).filter(C(column).is_in(ids))
    if collect_row(found, count=C(column).n_unique())["count"] == len(ids):
        return set(ids)
    return {str(row[column]) for row in rows_of(found.unique())}


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
