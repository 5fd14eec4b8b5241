"""A plan of bulk edits with a button that applies it, after asking once.

The first click shows what will be sent, in numbers, and asks; the second click sends. A plan is applied once, so the
buttons are gone afterwards, and what became of the changes stands in their place.
"""

from __future__ import annotations

import ipywidgets as w

from billframes.bulk.display import changes_not_made, headline, outcome_counts
from billframes.bulk.plan import Outcomes, Plan
from billframes.errors import BillframesError, ParameterError
from billframes.widgets._html import button, note, shown, text_of

__all__ = ["ApplyButton", "apply_button"]

# Changes listed that were not made.
_MOST = 50


class ApplyButton(w.VBox):  # type: ignore[misc]
    """
    A plan and its button; created by `apply_button`.

    Attributes
    ----------
    plan : Plan
    outcomes : Outcomes, optional
        What became of the changes; None until they are applied.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.outcomes: Outcomes | None = None
        self._table = note(plan._repr_html_(), "bf-plan-table")
        self._question = note("", "bf-question")
        self.apply = button("Apply…", self._ask, "bf-apply", tooltip="Show what will be sent, and ask")
        self.confirm = button("Yes, send", self._apply_plan, "bf-confirm")
        self.cancel = button("Cancel", self._back, "bf-cancel")
        super().__init__([self._table, self._question, w.HBox([self.apply, self.confirm, self.cancel])])
        self.add_class("bf-apply-plan")
        self._back()

    def _back(self) -> None:
        """Show the plan, with the first button if there is something to send."""
        self._question.value = ""
        self._show(apply=bool(self.plan.sent), asking=False)

    def _ask(self) -> None:
        where = text_of(self.plan.connection.base_url)
        self._question.value = (
            f'<p role="alert">{text_of(headline(self.plan.resource, self.plan.changes))} Send to {where}?</p>'
        )
        self._show(apply=False, asking=True)

    def _apply_plan(self) -> None:
        self._show(apply=False, asking=False)
        self._question.value = '<p role="status">Sending…</p>'
        try:
            self.outcomes = self.plan.apply()
        except BillframesError as error:
            self._question.value = f'<p role="alert">{text_of(error)}</p>'
            return
        self._question.value = _became(self.outcomes)

    def _show(self, *, apply: bool, asking: bool) -> None:
        shown(self.apply, apply)
        shown(self.confirm, asking)
        shown(self.cancel, asking)


def _became(outcomes: Outcomes) -> str:
    """Return what became of the changes as HTML."""
    rows = "".join(
        f"<tr>{''.join(f'<td>{text_of(cell)}</td>' for cell in row)}</tr>"
        for row in changes_not_made(outcomes).head(_MOST).to_numpy()
    )
    table = f'<div class="bf-plan"><table><tbody>{rows}</tbody></table></div>' if rows else ""
    return f'<p role="status">{text_of(outcome_counts(outcomes))}. Journal: {text_of(outcomes.journal)}</p>{table}'


def apply_button(plan: Plan) -> ApplyButton:
    """
    Show a plan with a button that applies it, after asking once with the counts.

    Parameters
    ----------
    plan : Plan
        What a loader's `plan` returned, such as that of a panel's filtered frame.

    Returns
    -------
    ApplyButton
        A widget that shows itself as a cell's last value. `.outcomes` is what became of the changes.

    Raises
    ------
    ParameterError
        It is not a plan.

    Examples
    --------
    >>> panel = bf.filter_panel(bf.time_entries("2026-10", billed=False))
    >>> panel.state = {"billing_type": ["nonBillable"]}
    >>> shown = bf.apply_button(bf.time_entries.plan(panel.frame.assign(description="Trial")))
    >>> shown.outcomes is None
    True
    """
    if not isinstance(plan, Plan):
        raise ParameterError(f"apply_button takes a plan, such as bf.time_entries.plan(edited), not {plan!r:.60}.")
    return ApplyButton(plan)
