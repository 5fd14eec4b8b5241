"""Profiles, credentials and the firm's settings. This module reads a TOML file with known keys."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from billframes._limits import read_toml
from billframes._names import closest
from billframes.errors import ConfigError

__all__ = ["read_keys"]


def read_keys(path: str | Path, purpose: str, names: Sequence[str]) -> dict[str, Any]:
    """
    Read the values of a TOML file.

    Parameters
    ----------
    path : str or Path
    purpose : str
        The file's purpose for the error, such as "firm settings".
    names : sequence of str
        The keys that the file may have.

    Raises
    ------
    ConfigError
        The file can't be read, is not TOML, is too large for settings, or has an unknown key.
    """
    try:
        values = read_toml(path)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} can't be read as {purpose}: {error}.") from error
    for key in values:
        if key not in names:
            raise ConfigError(f"{path} has an unknown key {key!r}.{closest(key, names)} It takes {names}.")
    return values
