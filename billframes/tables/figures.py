"""Show figures of several analyses as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from billframes._shared.suggestions import suggest_method_arguments
from billframes.analysis.declare.metrics import Measure
from billframes.analysis.results.figure_names import FIGURES, figure_columns, read_figures
from billframes.analysis.results.figures_side_by_side import TOTAL
from billframes.analysis.results.result_rows import ResultRows
from billframes.loading.load_info import attached
from billframes.tables.table import TableOf

if TYPE_CHECKING:
    from great_tables import GT

_A_CENT = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class FiguresTable(TableOf):
    """The table of a result of `billframes.figures`."""

    def __call__(self, result: Any, *, total: Any = None, title: str | None = None, currency: str = "") -> GT:
        """Show a result as `TableOf` does. By default, the total is that of the call that calculated the result."""
        if total is None:
            total = _known_total(result)
        return TableOf.__call__(self, result, total=total, title=title, currency=currency)

    @property
    def definition(self) -> str:
        """Which days count."""
        return (
            "Each figure is that of its own analysis: hours by the day of the work, fees by the day of the invoice, "
            "balances at the end of the period."
        )

    def _read(self, result: Any) -> ResultRows:
        rows, found = read_figures(result, "table")
        rows.frame.attrs[FIGURES] = [*found]
        return rows

    def measures(self, frame: pd.DataFrame) -> list[Measure]:
        """Return the figures of a result, in order."""
        return [*figure_columns(frame.columns, frame.attrs[FIGURES]).values()]


# Only at runtime, so that type checkers see the signature.
if not TYPE_CHECKING:
    FiguresTable.__call__ = suggest_method_arguments(FiguresTable.__call__)


def _known_total(result: Any) -> Any:
    """Return the total that a result remembers as one row; False if it has none, or if its rows were changed."""
    known = attached(result, TOTAL) or {}
    read, found = read_figures(result, "table")
    rows = read.frame
    if len(rows) < 2:
        return False
    sums = {name: rows[name].sum(skipna=each.missing_is_none) for name, each in found.items() if each.adds_up}
    if not known or any(abs((known.get(name) or value) - value) >= _A_CENT for name, value in sums.items()):
        return None
    total = pd.DataFrame([known]).astype("float64")
    total.attrs[FIGURES] = [*found]
    return total
