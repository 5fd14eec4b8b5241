"""The filter panel: controls for a filter state, and the frame with the rows that pass.

The panel has one state. Every click creates a new state, and everything shown depends only on the state.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import ipywidgets as w
import pandas as pd

from billframes.display import show
from billframes.widgets.controls import Choices, Control, PeriodControl, RangeControl
from billframes.widgets.describe import code, describe
from billframes.widgets.filter_fields import FilterField
from billframes.widgets.filters import Filters
from billframes.widgets.groups import FilterGroups
from billframes.widgets.html import StillForm, button, escape_text, html_widget, set_visible, stylesheet
from billframes.widgets.state import Criterion, FilterState, Range, Value, read_state

# The most buttons for chosen values. All others are only counted.
_MOST_CHIPS = 12


class FilterPanel(StillForm, w.VBox):  # type: ignore[misc]
    """
    Controls to filter a frame; created by `filter_panel`.

    Attributes
    ----------
    frame : DataFrame
        The rows that pass, with their index; the frame itself if there are no filters.
    state : dict
        The filters by column, in a form for JSON: a list of values (None is "Unassigned"), or a range `{"from": …,
        "to": …}`. Can be set; dates also to a period such as "2026-Q3".
    controls : dict of str to Control
        The controls by column.
    """

    def __init__(self, filters: Filters, today: dt.date) -> None:
        self._filters, self._today = filters, today
        self._state = FilterState()
        self._frame: pd.DataFrame | None = None
        self._listeners: list[Callable[[pd.DataFrame], object]] = []
        self.before_change: Callable[[], object] = lambda: None
        self._count = html_widget("", "bf-count")
        self._summary = html_widget("", "bf-summary")
        # The columns whose filters stay when all are cleared.
        self.kept: tuple[str, ...] = ()
        self.clear = button("Clear all", self._clear, "bf-clear", tooltip="Remove all filters")
        self._chips: dict[tuple[str, Value], w.Button] = {}
        self._chosen = w.Box().add_class("bf-chosen")
        self.controls = {field.column: self._control(field, today) for field in filters.fields}
        self.groups = FilterGroups(self.controls.values()).add_class("bf-groups")
        # The style sheet shows it in the explorer only.
        self._unfold = button("", self._toggle, "bf-unfold", tooltip="Show or hide the filters")
        head = w.HBox([html_widget("Filters", "bf-title"), self._count, self._unfold, self.clear]).add_class("bf-head")
        super().__init__([stylesheet(), head, self._summary, self._chosen, self.groups])
        self.add_class("bf-panel")
        self._refresh()

    def __repr__(self) -> str:
        filters = describe(self._filters, self._state)
        return f"FilterPanel: {len(self.frame):,} of {len(self._filters.data):,} rows; {filters}"

    def _repr_html_(self) -> str:
        return f"<p>{escape_text(describe(self._filters, self._state))}</p>{show(self.frame).to_html()}"

    @property
    def frame(self) -> pd.DataFrame:
        """The rows that pass the filters."""
        if self._frame is None:
            self._frame = self._filters.frame(self._state)
        return self._frame

    @property
    def state(self) -> dict[str, Any]:
        """The filters, in a form for JSON."""
        return self._state.as_dict()

    @state.setter
    def state(self, saved: Mapping[str, Any]) -> None:
        self._set_state(read_state(saved, self._filters.fields, self._today))

    def on_change(self, function: Callable[[pd.DataFrame], object]) -> None:
        """
        Call a function with the filtered frame after each change.

        Parameters
        ----------
        function : callable
            Called with the frame. Its errors are raised where the state is changed.
        """
        self._listeners.append(function)

    def code(self, name: str = "frame") -> str:
        """
        Return the pandas expression that gives the same frame.

        Parameters
        ----------
        name : str
            The name of the whole frame in the expression.

        Examples
        --------
        >>> import pandas as pd
        >>> panel = filter_panel(pd.DataFrame({"date": pd.to_datetime(["2026-10-01"])}))
        >>> panel.state = {"date": "2026-10"}
        >>> print(panel.code("entries"))
        entries[
            entries["date"].between("2026-10-01", "2026-10-31")
        ]
        """
        return code(self._filters, self._state, name)

    def _control(self, field: FilterField, today: dt.date) -> Control:
        if field.kind == "choice":
            options = self._filters.options(field.column)
            return Choices(field, self._choose, options, lambda: self._filters.counts(self._state, field.column))
        if field.kind == "dates" and field == self._filters.fields[0]:
            return PeriodControl(field, self._choose, self._filters.rows, today)
        return RangeControl(field, self._choose, self._filters.rows)

    def _choose(self, column: str, criterion: Criterion | None) -> None:
        self._set_state(self._state.with_criterion(column, criterion))

    def _toggle(self) -> None:
        """Show or hide the controls in the explorer."""
        shown = "bf-unfolded" not in self._dom_classes
        (self.add_class if shown else self.remove_class)("bf-unfolded")
        self._name_filters()

    def _name_filters(self) -> None:
        """Show the number of filters beside the period on the button that unfolds them."""
        number = len(self._state.criteria.keys() - {*self.kept})
        sign = "▴" if "bf-unfolded" in self._dom_classes else "▾"
        self._unfold.description = f"Filters: {number or 'none'} {sign}"

    def _clear(self) -> None:
        self._set_state(self._state.only(self.kept))

    def _set_state(self, state: FilterState) -> None:
        if state == self._state:
            return
        self.before_change()
        self._state = state
        self._refresh()
        for listener in self._listeners:
            listener(self.frame)

    def _refresh(self) -> None:
        self._frame = None
        for column, control in self.controls.items():
            control.show(self._state.criteria.get(column))
        self.groups.show_active(self._state.criteria)
        total, passing = len(self._filters.data), int(self._filters.mask(self._state).sum())
        self._count.value = f'<span role="status">{passing:,} of {total:,} rows</span>'
        self._summary.value = escape_text(describe(self._filters, self._state))
        self.clear.disabled = self._state.criteria.keys() <= {*self.kept}
        self._name_filters()
        self._show_chips()

    def _show_chips(self) -> None:
        wanted = list(self._chosen_values())
        self._chips = {each: self._chips.get(each) or self._chip(*each) for each in wanted[:_MOST_CHIPS]}
        more = len(wanted) - len(self._chips)
        self._chosen.children = [*self._chips.values(), *([html_widget(f"and {more:,} more")] if more > 0 else [])]
        set_visible(self._chosen, bool(wanted))

    def _chosen_values(self) -> Iterator[tuple[str, Value]]:
        for column, criterion in self._state.criteria.items():
            for value in () if isinstance(criterion, Range) else criterion:
                yield column, value

    def _chip(self, column: str, value: Value) -> w.Button:
        title = self.controls[column].field.title
        label = self._filters.options(column).label(value)
        drop = partial(self._drop, column, value)
        return button(f"{title}: {label} ✕", drop, "bf-chip", tooltip=f"Remove {title}: {label}")

    def _drop(self, column: str, value: Value) -> None:
        chosen = self._state.criteria.get(column, ())
        if not isinstance(chosen, Range):
            self._choose(column, tuple(each for each in chosen if each != value))


def filter_panel(frame: pd.DataFrame, *, period: str | None = None, today: dt.date | None = None) -> FilterPanel:
    """
    Filter a frame by clicking: period, people, clients, matters, categories and custom fields.

    The controls depend on the frame's columns. `bf.enrich` adds columns of matters, clients and people, such as
    practice area and responsible lawyer. Long lists have a search, and only its results are sent to the browser. Each
    option shows the number of its rows that pass the filters on all other columns.

    Parameters
    ----------
    frame : DataFrame
        A pandas frame. It is not changed.
    period : str, optional
        The date column of the period. By default `date`, `invoice_date`, `opened`, or the first date column.
    today : date, optional
        The day from which "last month" is counted. By default the day the frame was loaded, if known, else today.

    Returns
    -------
    FilterPanel
        A widget that shows itself as a cell's last value. `.frame` has the rows that pass, `.state` has the filters and
        can be saved and set, `.code()` returns the pandas expression that gives the same frame, and
        `.on_change(function)` calls a function with each new frame.

    Raises
    ------
    ParameterError
        The frame is not a pandas frame.
    MissingColumnError
        `period` is not a date column.

    Examples
    --------
    >>> panel = bf.widgets.filter_panel(bf.time_entries("2026-10"))
    >>> panel.state = {"billing_type": ["billable"]}
    >>> print(panel.code("entries"))
    entries[
        entries["billing_type"].isin(["billable"])
    ]
    >>> set(panel.frame["billing_type"])
    {'billable'}
    """
    filters = Filters(frame, period=period)
    return FilterPanel(filters, today or day_loaded(frame))


def day_loaded(frame: pd.DataFrame) -> dt.date:
    """Return the day a frame was loaded if that is known, else today."""
    loaded = frame.attrs.get("load", {}).get("time")
    now = dt.datetime.fromisoformat(loaded) if loaded else dt.datetime.now(dt.UTC)
    # "Last month" is counted in the user's own time zone.
    return now.astimezone().date()
