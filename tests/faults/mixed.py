"""Faults mixed: each request meets any of them, or none."""

from __future__ import annotations

import random

from tests.faults.kinds import KINDS
from tests.faults.server import Exchange, Fault, well

SHARE = 0.3
_QUICK = [kind for kind in KINDS if not kind.waits and not kind.slow]


def mixture(dice: random.Random, *, counting: bool) -> Fault:
    """A fault for a server, drawn anew for each request. A total asked for by itself has nothing to be held against."""

    def fault(exchange: Exchange) -> None:
        kind = dice.choice(_QUICK)
        pages = not counting and exchange.path in {"/v2/time-entries", "/v2/clients"}
        (kind.does if dice.random() < SHARE and (pages or not kind.paged) else well)(exchange)

    return fault
