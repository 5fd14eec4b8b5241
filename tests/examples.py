"""The number of random examples: `EXAMPLES=10 pytest tests/loaders` tries ten times as many.

In CI they are the same in each run, and elsewhere different ones.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

__all__ = ["example_count", "examples"]


def example_count(count: int) -> int:
    return count * int(os.environ.get("EXAMPLES", "1"))


def examples(count: int) -> settings:
    """Return settings for examples that are slow and may share a fixture."""
    checks = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
    return settings(max_examples=example_count(count), deadline=None, suppress_health_check=checks)
