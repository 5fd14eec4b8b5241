"""Limit the calls per minute, at once and per day; calls beyond a limit get 429.

The description shows no rate limits, so there are none by default. The health check and the schema are not limited.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, fields

from starlette.types import ASGIApp, Receive, Scope, Send

from billframes.errors import ConfigError
from billframes.sandbox.problems import HttpProblem

_MINUTE = 60.0
_DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Throttle:
    """
    The sandbox's rate limits. None means no limit.

    Parameters
    ----------
    per_minute, per_day : int, optional
        Calls in any 60 seconds, and in any 24 hours.
    at_once : int, optional
        Calls in progress at the same time.

    Raises
    ------
    ConfigError
        A limit is below 1.
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
    def parse(cls, text: str) -> Throttle:
        """
        Parse the command line's form: `name=number` separated by commas.

        Examples
        --------
        >>> Throttle.parse("per_minute=300,at_once=4")
        Throttle(per_minute=300, at_once=4, per_day=None)
        """
        known = [each.name for each in fields(cls)]
        limits: dict[str, int] = {}
        for part in filter(None, (each.strip() for each in text.split(","))):
            name, _, value = part.partition("=")
            if name not in known or not value.isdecimal():
                raise ConfigError(f"{part!r} is not a rate limit; write {'=N,'.join(known)}=N, or some of them.")
            limits[name] = int(value)
        return cls(**limits)


class Throttled:
    """Respond with 429 and `Retry-After` to calls beyond the limits."""

    def __init__(
        self, app: ASGIApp, throttle: Throttle, *, unlimited: frozenset[str], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._app = app
        self._throttle = throttle
        self._unlimited = unlimited
        self._now = now
        self._starts: deque[float] = deque()
        self._in_progress = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a call, or respond with 429."""
        if scope["type"] != "http" or scope["path"] in self._unlimited:
            await self._app(scope, receive, send)
            return
        if (problem := self._problem()) is not None:
            await problem.response()(scope, receive, send)
            return
        self._starts.append(self._now())
        self._in_progress += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._in_progress -= 1

    def _problem(self) -> HttpProblem | None:
        """Return the response to a call beyond a limit; None if no limit is reached."""
        now = self._now()
        while self._starts and self._starts[0] <= now - _DAY:
            self._starts.popleft()
        limits = self._throttle
        if limits.at_once is not None and self._in_progress >= limits.at_once:
            return _too_many(f"{limits.at_once} calls at once", 1.0)
        for limit, period, name in ((limits.per_day, _DAY, "day"), (limits.per_minute, _MINUTE, "minute")):
            if limit is not None and len(self._starts) >= limit:
                wait = self._starts[-limit] + period - now
                if wait > 0:
                    return _too_many(f"{limit} calls a {name}", wait)
        return None


def _too_many(limit: str, seconds: float) -> HttpProblem:
    wait = max(1, -int(-seconds // 1))
    detail = f"More than {limit}, which is this sandbox's throttle. Try again in {wait} s."
    return HttpProblem(429, detail, headers={"Retry-After": str(wait)})
