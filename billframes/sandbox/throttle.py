"""Rate limits per minute, at once and per day, beyond which calls get 429.

The description shows no rate limits, so there are none by default. The health check and the schema do not count.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from billframes.errors import ConfigError
from billframes.sandbox.problems import Problem

__all__ = ["Delayed", "Throttle", "Throttled"]

_MINUTE = 60.0
_DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Throttle:
    """
    The sandbox's rate limits. None means without a limit.

    Parameters
    ----------
    per_minute, per_day : int, optional
        Calls in any 60 seconds, and in any 24 hours.
    at_once : int, optional
        Calls being worked on at the same time.

    Raises
    ------
    ConfigError
        A number is below 1.
    """

    per_minute: int | None = None
    at_once: int | None = None
    per_day: int | None = None

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if value is not None and value < 1:
                raise ConfigError(f"{each.name} is {value!r}; expected 1 or more.")

    @classmethod
    def read(cls, text: str) -> Throttle:
        """
        Parse the command line's form: `name=number` separated by commas.

        Examples
        --------
        >>> Throttle.read("per_minute=300,at_once=4")
        Throttle(per_minute=300, at_once=4, per_day=None)
        """
        known = [each.name for each in fields(cls)]
        settings: dict[str, Any] = {}
        for part in filter(None, (each.strip() for each in text.split(","))):
            name, _, value = part.partition("=")
            if name not in known or not value.isdecimal():
                raise ConfigError(f"{part!r} is not a rate limit; write {'=N,'.join(known)}=N, or some of them.")
            settings[name] = int(value)
        return cls(**settings)


class Throttled:
    """Respond with 429 and `Retry-After` to calls beyond the limits."""

    def __init__(
        self, app: ASGIApp, throttle: Throttle, *, free: frozenset[str], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._app = app
        self._throttle = throttle
        self._free = free
        self._now = now
        self._calls: deque[float] = deque()
        self._working = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a call, or respond with 429."""
        if scope["type"] != "http" or scope["path"] in self._free:
            await self._app(scope, receive, send)
            return
        if (refusal := self._refusal()) is not None:
            await refusal.send(send)
            return
        self._calls.append(self._now())
        self._working += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._working -= 1

    def _refusal(self) -> Problem | None:
        """Return the response to a call beyond a limit; None if no limit is reached."""
        now = self._now()
        while self._calls and self._calls[0] <= now - _DAY:
            self._calls.popleft()
        limits = self._throttle
        if limits.at_once is not None and self._working >= limits.at_once:
            return _too_many(f"{limits.at_once} calls at once", 1.0)
        for most, period, name in ((limits.per_day, _DAY, "day"), (limits.per_minute, _MINUTE, "minute")):
            if most is not None and len(self._calls) >= most:
                room = self._calls[-most] + period - now
                if room > 0:
                    return _too_many(f"{most} calls a {name}", room)
        return None


def _too_many(limit: str, seconds: float) -> Problem:
    wait = max(1, -int(-seconds // 1))
    detail = f"More than {limit}, which is this sandbox's throttle. Try again in {wait} s."
    return Problem(429, detail, headers={"Retry-After": str(wait)})


class Delayed:
    """Delay every call, as a distant server does."""

    def __init__(self, app: ASGIApp, milliseconds: float) -> None:
        self._app = app
        self._seconds = milliseconds / 1000

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Wait, then handle the call."""
        await asyncio.sleep(self._seconds)
        await self._app(scope, receive, send)
