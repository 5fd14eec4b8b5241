"""Find the file with the settings of the firm whose data are read. Clients, mirrors and commands all ask here.

A profile names the file as `firm = "firm.toml"`; a relative path starts at the folder of `config.toml`. The profile
that a client was made with decides. For a client without a profile, and for a mirror, the profiles with its address
decide. If they name none or different files, it is the file that the mirror was refreshed with, else that of the
default profile, else the only file that one of them names. The same profiles have a mirror's fiscal year, if they give
it as an option.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from billframes._shared.names import join_names
from billframes.config.credentials import same_address
from billframes.config.profiles import config_file, read_config
from billframes.days import FiscalYear
from billframes.errors import ConfigError

# The profile's setting for the file of firm settings.
FIRM = "firm"


def file_of_profile(firm: Any) -> Path | None:
    """Return the path that a profile's `firm` names; None without it."""
    if firm is None:
        return None
    if not isinstance(firm, str):
        raise ConfigError(f"{config_file()}: {FIRM}={firm!r} is not a path such as 'firm.toml'.")
    return config_file().parent / firm


def file_of_account(address: str, remembered: str | None = None) -> Path | None:
    """
    Return the path of the settings for the account at an address; None if no file is known.

    `remembered` is the file with which a mirror was refreshed. Raise `ConfigError` if profiles name different files, or
    this machine does not have the mirror's.
    """
    profiles, default = _profiles_of(address)
    files = {name: file_of_profile(each.get(FIRM)) for name, each in profiles.items()}
    different = set(files.values())
    if len(different) == 1 and None not in different:
        return different.pop()
    if remembered is not None:
        if Path(remembered).exists():
            return Path(remembered)
        raise ConfigError(
            f"The mirror was refreshed with the settings {remembered}, which this machine does not have. Pass the "
            f"firm's settings (settings= or --settings), or name them with {FIRM} in a profile for {address}."
        )
    if default is not None:
        return files[default]
    if len(different - {None}) > 1:
        named = join_names([f"{name!r} ({file.name if file else 'none'})" for name, file in sorted(files.items())])
        raise ConfigError(
            f"The profiles for {address} name different settings of the firm: {named}. Choose one with profile= (or "
            "--profile), or pass the settings (settings= or --settings)."
        )
    return next(filter(None, different), None)


def fiscal_year_of_account(address: str) -> FiscalYear | None:
    """Return the fiscal year that is an option of the profiles with an address; that of the default if they differ."""
    profiles, default = _profiles_of(address)
    years = {
        name: FiscalYear.read(each["fiscal_year_start"], each.get("fiscal_year_name", "end"))
        for name, each in profiles.items()
        if each.get("fiscal_year_start")
    }
    return years.get(default or "") if len({*years.values()}) > 1 else next(iter(years.values()), None)


def _profiles_of(address: str) -> tuple[dict[str, Any], str | None]:
    """Return the profiles with an address, and the name of the default profile if it is one of them."""
    config = read_config(config_file())
    profiles = {
        name: each for name, each in config.get("profiles", {}).items() if same_address(address, each.get("base_url"))
    }
    default = config.get("default_profile")
    return profiles, default if default in profiles else None
