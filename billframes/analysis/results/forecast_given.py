"""The forecast of cash among other figures: what is expected within 13 weeks, in total or by client."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from billframes.analysis.declare.spec import Analysis
from billframes.errors import ParameterError

__all__ = ["HORIZON", "NOT_BY", "forecast", "is_forecast"]

HORIZON = 13
"""The weeks of the forecast."""
NOT_BY = "A forecast of cash is known in total and by client only."


def is_forecast(analysis: Analysis) -> bool:
    """Tell whether an analysis forecasts, so that its figures are of the time after the data."""
    return "horizons" in analysis.takes


def forecast(call: Callable[..., Any], analysis: Analysis, by: Sequence[str], **day: Any) -> Any:
    """
    Return the rows of a forecast.

    Raises
    ------
    ParameterError
        It is not known by these keys, or the analysis refuses the day or the firm.
    """
    if unknown := [key for key in by if key != "client"]:
        raise ParameterError(f"by={unknown[0]!r}: {NOT_BY}")
    return call(analysis, by="client" if by else None, horizons=(HORIZON,), **day)
