"""The number of Hypothesis examples: in CI all, the same in each run; elsewhere half, different in each run."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

__all__ = ["example_count", "examples"]


def example_count(most: int) -> int:
    """Return `most` in CI, and half of it elsewhere."""
    return most if os.environ.get("CI") else (most + 1) // 2


def examples(most: int) -> settings:
    """Return settings for examples that are slow and may share a fixture."""
    checks = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
    return settings(max_examples=example_count(most), deadline=None, suppress_health_check=checks)
