"""How many examples Hypothesis makes up: in CI all, the same each time; at a desk half, others each time."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

__all__ = ["examples"]


def examples(most: int) -> settings:
    """Settings for slow examples that may share a fixture."""
    number = most if os.environ.get("CI") else (most + 1) // 2
    checks = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
    return settings(max_examples=number, deadline=None, suppress_health_check=checks)
