"""How much a server may take: the size of an answer, the time of a request, and how long a load goes on trying.

A profile may set them by these names; on a client they can be changed at any time. They are not arguments of
`connect`, because hardly anyone needs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from billframes.errors import ConfigError

__all__ = ["LIMITS", "Limits"]


@dataclass(slots=True)
class Limits:
    """
    Bounds beside `timeout` and `retries`.

    Parameters
    ----------
    largest_answer : int
        Most bytes of one answer, after decompression; a larger page is asked for again with fewer records.
    longest_request : float, optional
        Most seconds one request may take, however busily its answer trickles in; None is four times `timeout`.
    longest_load : float
        Seconds after which a load tries nothing again: its next failure ends it. One that goes well may take longer.

    Examples
    --------
    >>> Limits.of({"longest_load": 600, "timeout": 10}).longest_load
    600
    """

    largest_answer: int = 64 * 2**20
    longest_request: float | None = None
    longest_load: float = 3600.0

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Limits:
        """
        Take the limits from a profile's settings; what else is there is left alone.

        Raises
        ------
        ConfigError
            One is no number above 0.
        """
        given = {name: value for name, value in options.items() if name in LIMITS}
        for name, value in given.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
                raise ConfigError(f"{name}={value!r} in the profile is out of range; it takes a number above 0.")
        return cls(**given)


LIMITS = frozenset(each.name for each in fields(Limits))
