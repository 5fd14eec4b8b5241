"""How many examples tests make up: in CI all, the same each time; at a desk half, by Hypothesis others each time."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

__all__ = ["examples", "number"]


def number(most: int) -> int:
    """Return `most` in CI, half of it at a desk."""
    return most if os.environ.get("CI") else (most + 1) // 2


def examples(most: int) -> settings:
    """Return settings for slow examples, which may share a fixture."""
    checks = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
    return settings(max_examples=number(most), deadline=None, suppress_health_check=checks)
