"""Check the arguments that several analyses share, and find the users and matters that the settings name."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from numbers import Integral
from typing import cast

import narwhals.stable.v2 as nw

from billframes._names import as_given, closest, first_few
from billframes._notes import Notes
from billframes.analysis.declare.columns import ENUMS, Frame
from billframes.analysis.frames.engine import collect_counts, to_dicts
from billframes.analysis.frames.frames import Frames
from billframes.analysis.model.keys import UNKNOWN
from billframes.analysis.rules.people import NO_RATE, UNKNOWN_IDS
from billframes.config.firm import FirmSettings, check_settings
from billframes.errors import ParameterError
from billframes.periods import DateLike, resolve

C = nw.col

MATTER_TYPES = (*ENUMS["matter_type"], UNKNOWN)


def check_choice(value: object, name: str, accepted: Sequence[str]) -> None:
    """Refuse a value that is not accepted."""
    if not isinstance(value, str) or value not in accepted:
        raise ParameterError(
            f"{as_given(name, value)} is not known.{closest(value, accepted)} It takes "
            f"{', '.join(map(repr, accepted))}."
        )


def read_whole_number(value: object, name: str, of: str) -> int:
    """Return a whole number above 0; refuse other values."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < 1:
        raise ParameterError(f"{as_given(name, value)} must be a whole number of {of} above 0.")
    return int(value)


def read_matter_types(matter_types: Collection[str] | None) -> frozenset[str] | None:
    """Return the matter types as a set, None if omitted; refuse unknown types."""
    if matter_types is None:
        return None
    single = isinstance(matter_types, str) or not isinstance(matter_types, Iterable)
    names = [cast("str", matter_types)] if single else list(matter_types)
    for name in names or [""]:
        check_choice(name, "matter_types", MATTER_TYPES)
    # All types together include rows without a matter, such as credit notes.
    return frozenset(MATTER_TYPES if {*names, UNKNOWN} == set(MATTER_TYPES) else names)


def read_date(value: DateLike, name: str) -> dt.date:
    """Return an argument as a date; refuse None and other values."""
    day = resolve(None, value, names=("start", name)).end
    if day is None:
        raise ParameterError(f"{as_given(name, value)} is not a date; it takes a date such as '2026-10-31'.")
    return day


def bucket_names(buckets: Sequence[int], first: int) -> list[str]:
    """
    Return the names of the buckets of days between bounds, from day `first` on.

    Examples
    --------
    >>> bucket_names((30, 60, 90), 0)
    ['0-30', '31-60', '61-90', '91+']
    """
    bounds = list(buckets) if isinstance(buckets, Iterable) else []
    whole = all(isinstance(bound, int) and not isinstance(bound, bool) and bound > 0 for bound in bounds)
    if not bounds or not whole or bounds != sorted(set(bounds)):
        raise ParameterError(f"buckets={buckets!r} must be whole numbers of days above 0, in rising order.")
    lows = [first, *(bound + 1 for bound in bounds)]
    return [*(f"{low}-{high}" for low, high in zip(lows, bounds, strict=False)), f"{lows[-1]}+"]


def bucket_limits(buckets: Sequence[int], basis: str) -> dict[str, float]:
    """Return the highest number of days of each bucket, by its name."""
    due = basis == "due_date"
    names = bucket_names(buckets, 1 if due else 0)
    return ({"current": 0.0} if due else {}) | dict(zip(names, [*buckets, float("inf")], strict=True))


class _ResolvedSettings(FirmSettings):
    """Settings from `resolve_users`. Analyses that call others pass them on, so that each is checked once."""


def resolve_users(settings: FirmSettings | None, frames: Frames) -> FirmSettings:
    """
    Return the settings, or the default ones, with all users named by id.

    Users and matters that the settings name and the frames lack give a note. The users' ids and e-mail addresses are
    collected only if the settings have an address.
    """
    check_settings(settings)
    if settings is None or isinstance(settings, _ResolvedSettings):
        return settings or FirmSettings()
    if settings.emails:
        if "users" not in frames:
            raise ParameterError(
                f"settings name {min(settings.emails)!r} by e-mail address; pass users= (the loader users())."
            )
        settings = settings.by_id(_ids_by_email(frames))
    note_unknown_ids(settings, frames)
    return _ResolvedSettings(**{each.name: getattr(settings, each.name) for each in fields(settings)})


def note_unknown_ids(settings: FirmSettings, frames: Frames) -> None:
    """Note users and matters that the settings name and the frames lack. One query counts the known ids."""
    named = {name: ids for name, ids in settings.named.items() if ids and name in frames}
    found = {}
    for name, ids in named.items():
        column = f"{name.removesuffix('s')}_id"
        rows = frames.select(name, (column,)).filter(C(column).is_in(list(ids)))
        found[name] = rows.select(_id=C(column))
    counts = collect_counts(*[(rows, {name: C("_id").n_unique()}) for name, rows in found.items()])
    for name, ids in named.items():
        if counts[name] < len(ids):
            _note_absent(frames.notes, name, ids, {str(row["_id"]) for row in to_dicts(found[name].unique())})


def _note_absent(notes: Notes, name: str, named: Mapping[str, Sequence[str]], present: set[str]) -> None:
    absent = sorted(set(named) - present)
    few = first_few([f"{each} ({', '.join(named[each])})" for each in absent], most=10)
    which = f"1 {name.removesuffix('s')} that is" if len(absent) == 1 else f"{len(absent)} {name} that are"
    notes.add(UNKNOWN_IDS, len(absent), "settings", about=name, which=which, few=few, kind=name)


def _ids_by_email(frames: Frames) -> dict[str, str]:
    named = frames.select("users", ("user_id", "email"))
    return {str(row["email"]).lower(): str(row["user_id"]) for row in to_dicts(named)}


def note_missing_rates(notes: Notes, rows: Frame, kind: str, consequence: str) -> None:
    """
    Note hours of people who have no rate in the settings.

    Parameters
    ----------
    notes : Notes
    rows : Frame
        The time entries of these people, with `user_id` and `hours`.
    kind : {"cost", "standard"}
    consequence : str
        The consequence for the figures, in words.
    """
    known = rows.filter(~C("hours").is_nan() & (C("hours") != 0))
    found = to_dicts(known.group_by("user_id").agg(C("hours").sum()))
    hours = sum(person["hours"] for person in found)
    ids = sorted(str(person["user_id"] or "Unassigned") for person in found)
    words = {"people": len(ids), "few": first_few(ids) if ids else "", "kind": kind, "consequence": consequence}
    notes.add(NO_RATE, hours, "settings", about=kind, **words)
