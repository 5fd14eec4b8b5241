"""A plan of bulk edits with a button that applies it, after asking once.

The first click shows the number of changes and asks. The second click sends them. A plan is applied only once, so the
outcomes then replace the buttons.
"""

from __future__ import annotations

import ipywidgets as w

from billframes._shared.messages import with_notes
from billframes.bulk.display import changes_not_made, headline, outcome_counts
from billframes.bulk.plan import Outcomes, Plan
from billframes.errors import BillframesError, ParameterError
from billframes.widgets.html import StillForm, button, escape_text, html_widget, set_visible, still

# The most failed changes to list.
_MOST_LISTED = 50


class ApplyButton(StillForm, w.VBox):  # type: ignore[misc]
    """
    A plan and its button; created by `apply_button`.

    Attributes
    ----------
    plan : Plan
    outcomes : Outcomes, optional
        The outcomes of the changes; None until they are applied.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.outcomes: Outcomes | None = None
        self._table = html_widget(plan._repr_html_(), "bf-plan-table")
        self._question = html_widget("", "bf-question")
        self.apply = button("Apply…", self._ask, "bf-apply", tooltip="Show what will be sent, and ask")
        self.confirm = button("Yes, send", self._apply_plan, "bf-confirm")
        self.cancel = button("Cancel", self._show_plan, "bf-cancel")
        super().__init__([self._table, self._question, w.HBox([self.apply, self.confirm, self.cancel])])
        self.add_class("bf-apply-plan")
        self._show_plan()

    def __repr__(self) -> str:
        return f"ApplyButton: {self.plan!r}"

    def _repr_html_(self) -> str:
        return f"{still(self._table)}{still(self._question)}"

    def _show_plan(self) -> None:
        """Show the plan, with the first button if there is something to send."""
        self._question.value = ""
        self._show_buttons(apply=bool(self.plan._sent), asking=False)

    def _ask(self) -> None:
        where = escape_text(self.plan._connection.base_url)
        self._question.value = (
            f'<p role="alert">{escape_text(headline(self.plan._resource, self.plan._changes))} Send to {where}?</p>'
        )
        self._show_buttons(apply=False, asking=True)

    def _apply_plan(self) -> None:
        self._show_buttons(apply=False, asking=False)
        self._question.value = '<p role="status">Sending…</p>'
        try:
            self.outcomes = self.plan.apply()
        except BillframesError as error:
            self._question.value = f'<p role="alert">{escape_text(with_notes(error))}</p>'
            return
        self._question.value = _outcomes_html(self.outcomes)

    def _show_buttons(self, *, apply: bool, asking: bool) -> None:
        set_visible(self.apply, apply)
        set_visible(self.confirm, asking)
        set_visible(self.cancel, asking)


def _outcomes_html(outcomes: Outcomes) -> str:
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape_text(cell)}</td>' for cell in row)}</tr>"
        for row in changes_not_made(outcomes).head(_MOST_LISTED).to_numpy()
    )
    table = f'<div class="bf-plan"><table><tbody>{rows}</tbody></table></div>' if rows else ""
    return (
        f'<p role="status">{escape_text(outcome_counts(outcomes))}. Journal: {escape_text(outcomes.journal)}</p>{table}'
    )


def apply_button(plan: Plan) -> ApplyButton:
    """
    Show a plan with a button that applies it, after asking once with the counts.

    Parameters
    ----------
    plan : Plan
        A plan of a loader, for example of the edited rows of a panel's frame.

    Returns
    -------
    ApplyButton
        A widget that shows itself as a cell's last value. `.outcomes` has the outcomes of the changes.

    Raises
    ------
    ParameterError
        `plan` is not a plan.

    Examples
    --------
    >>> panel = bf.widgets.filter_panel(bf.time_entries("2026-10", billed=False))
    >>> panel.state = {"billing_type": ["nonBillable"]}
    >>> shown = bf.widgets.apply_button(bf.time_entries.plan(panel.frame.assign(description="Trial")))
    >>> shown.outcomes is None
    True
    """
    if not isinstance(plan, Plan):
        raise ParameterError(f"apply_button takes a plan, such as bf.time_entries.plan(edited), not {plan!r:.60}.")
    return ApplyButton(plan)
