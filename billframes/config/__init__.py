"""Profiles, credentials and the firm's settings. This module reads a TOML file with known keys."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from billframes._shared.limits import read_toml
from billframes._shared.suggestions import check_keys
from billframes.errors import ConfigError


def read_keys(path: str | Path, purpose: str, names: Sequence[str]) -> dict[str, Any]:
    """
    Read the values of a TOML file, such as "firm settings"; raise `ConfigError` if it can't be read or has an unknown
    key.
    """
    try:
        values = read_toml(path)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} can't be read as {purpose}: {error}.") from error
    check_keys(path, values, names, ConfigError)
    return values
