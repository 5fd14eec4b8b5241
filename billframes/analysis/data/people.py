"""Find the users and matters that the firm's settings name: by id, or by e-mail address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from billframes._shared.names import first_few
from billframes._shared.notes import Note, Notes, Rule
from billframes.analysis.data.data import Data
from billframes.analysis.data.engine import collect_counts, to_dicts
from billframes.analysis.data.expressions import C
from billframes.config.firm import FirmSettings, check_settings
from billframes.errors import ParameterError

_UNKNOWN_IDS = Rule(
    name="unknown_ids",
    seen="settings name {which} not among those {passed}: {few}.",
    remedy="Load all {kind}, archived ones too, or correct the ids.",
    page="Ask whoever keeps the firm's settings to correct these ids.",
    book="Correct these ids in the settings.",
    unit="ids",
)

Resolved = tuple[FirmSettings, list[Note]]


def resolved_settings(data: Data, *, people: bool) -> Resolved:
    """
    Return the settings, or the default ones, with all users named by id, and notes of names that are not there.

    Without `people`, users can be named by their e-mail address.
    """
    given = data.given_settings
    # The settings are part of what is kept, so that no other object gets their id.
    key = "settings", id(given), "users" in data, "matters" in data, people
    return cast("Resolved", data.once(key, lambda: (_resolve(given, data, people=people), given))[0])


def without_people(settings: FirmSettings | None) -> FirmSettings:
    """Return the settings that name no people, for analyses without users to look up the names in the settings."""
    check_settings(settings)
    kept = (
        *("time_zone", "fiscal_year_start", "fiscal_year_name"),
        *("taxes", "payment_order", "discounts", "matter_types"),
    )
    return FirmSettings(**{name: getattr(settings, name) for name in kept}) if settings else FirmSettings()


def _resolve(settings: FirmSettings | None, data: Data, *, people: bool) -> Resolved:
    if settings is None:
        return FirmSettings(), []
    if settings.emails and people:
        if "users" not in data:
            raise ParameterError(
                f"settings name {min(settings.emails)!r} by e-mail address; pass users= (the loader users())."
            )
        settings = settings.by_id(_ids_by_email(data))
    notes = Notes()
    _note_unknown_ids(settings, data, notes)
    return settings, list(notes)


def _note_unknown_ids(settings: FirmSettings, data: Data, notes: Notes) -> None:
    """Note users and matters that the settings name and the frames lack. One query counts the known ids."""
    named = {name: ids for name, ids in settings.named.items() if ids and name in data}
    found = {}
    for name, ids in named.items():
        column = f"{name.removesuffix('s')}_id"
        rows = data.table(name).select((column,))[0].filter(C(column).is_in(list(ids)))
        found[name] = rows.select(_id=C(column))
    counts = collect_counts(*[(rows, {name: C("_id").n_unique()}) for name, rows in found.items()])
    for name, ids in named.items():
        if counts[name] < len(ids):
            _note_absent(notes, name, ids, {str(row["_id"]) for row in to_dicts(found[name].unique())})


def _note_absent(notes: Notes, name: str, named: Mapping[str, Sequence[str]], present: set[str]) -> None:
    absent = sorted(set(named) - present)
    few = first_few([f"{each} ({', '.join(named[each])})" for each in absent], most=10)
    which = f"1 {name.removesuffix('s')} that is" if len(absent) == 1 else f"{len(absent)} {name} that are"
    notes.add(_UNKNOWN_IDS, len(absent), "settings", about=name, which=which, few=few, kind=name)


def _ids_by_email(data: Data) -> dict[str, str]:
    named = data.table("users").select(("user_id", "email"))[0]
    return {str(row["email"]).lower(): str(row["user_id"]) for row in to_dicts(named)}
