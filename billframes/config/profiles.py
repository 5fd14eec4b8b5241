"""Writing the settings file: what is there stays as it is, and only its owner can read it."""

from __future__ import annotations

import json
import os
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from billframes.errors import ConfigError

__all__ = ["keep_select_names", "write_privately"]


def keep_select_names(path: Path, profile: str | None, names: Mapping[str, Sequence[str]]) -> None:
    """
    Add the `select` names of a server to its profile; nothing is written where there are none, or they are there.

    Parameters
    ----------
    path : Path
        The settings file.
    profile : str or None
        Which profile.
    names : mapping of str to list of str
        Alternate names by loader.

    Raises
    ------
    ConfigError
        There is no profile, it has other names, or the file can't be added to.
    """
    if profile is None:
        raise ConfigError(
            "There is no profile to keep the select names in: connect with profile=, after billframes login."
        )
    if not names:
        return
    text = path.read_text(encoding="utf-8")
    there = _select_names(text, profile)
    if there == {name: list(each) for name, each in names.items()}:
        return
    lines = [f"{name} = {json.dumps(list(each))}" for name, each in names.items()]
    table = "\n".join([f"[profiles.{json.dumps(profile)}.select_names]", *lines])
    added = f"{text.rstrip()}\n\n{table}\n"
    try:
        tomllib.loads(added)
    except tomllib.TOMLDecodeError:
        raise ConfigError(f"The select names can't be added to {path}. Write them there by hand:\n{table}") from None
    write_privately(path, added)


def _select_names(text: str, profile: str) -> object:
    chosen = tomllib.loads(text).get("profiles", {}).get(profile, {})
    names = chosen.get("select_names", {})
    return {name: [each] if isinstance(each, str) else each for name, each in names.items()}


def write_privately(path: Path, text: str) -> None:
    """Write a file for its owner alone, in one go; a link stays one, and what it points at is written."""
    path = path.resolve()
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(part).replace(path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
