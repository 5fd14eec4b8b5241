"""The number of random examples: a third, or `EXAMPLES` times as many: `EXAMPLES=3 pytest tests/loaders`.

In CI they are the same in each run, and elsewhere different ones.
"""

from __future__ import annotations

import math
import os

from hypothesis import HealthCheck, settings

__all__ = ["example_count", "examples"]


def example_count(most: int) -> int:
    return math.ceil(most * float(os.environ.get("EXAMPLES", "0.33")))


def examples(most: int) -> settings:
    """Return settings for examples that are slow and may share a fixture."""
    checks = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
    return settings(max_examples=example_count(most), deadline=None, suppress_health_check=checks)
