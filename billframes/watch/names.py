"""Refuse the names in the firm's rules that no analysis knows, as soon as the settings are read."""

from __future__ import annotations

from billframes._shared.names import closest
from billframes.analysis.declare.key_words import PEOPLE_AND_MATTERS, SHORT_NAMES, TIMES, columns_of
from billframes.analysis.results.figure_names import find_figure
from billframes.config.firm import FirmSettings
from billframes.config.watch import CHANGES, Rule
from billframes.errors import ParameterError

_COLUMNS = ("client_", "matter_", "user_", "cf_")
_KEYS = tuple(name for name in SHORT_NAMES if name not in TIMES)
_THERE = {column for pair in PEOPLE_AND_MATTERS.values() for column in pair} | {*_KEYS}
# A ratio is never that large, but a percentage is.
_LARGEST_RATIO = 5.0


def check(settings: FirmSettings) -> None:
    """Raise `ParameterError` if a rule names what the analyses or the settings don't have."""
    for nth, rule in enumerate(settings.rules):
        try:
            _check_named(rule, settings) if rule.rule else _check_figure(rule)
        except ParameterError as error:
            raise ParameterError(f"watch[{nth}]: {error}") from error


def _check_named(rule: Rule, settings: FirmSettings) -> None:
    needed = {"budget_used": "budgets", "fixed_fee_hours": "standard_rates"}.get(rule.rule)
    if needed and not getattr(settings, needed):
        raise ParameterError(f"{rule.rule} needs {needed} in the firm's settings.")
    if rule.matter and rule.matter not in settings.budgets:
        raise ParameterError(f"matter={rule.matter!r} has no budget.{closest(rule.matter, settings.budgets)}")


def _check_figure(rule: Rule) -> None:
    for name in (rule.figure, *rule.least):
        figure = find_figure(name)
        if figure.analysis.needs_payments or figure.analysis.is_forecast or figure.measure.unit == "date":
            raise ParameterError(
                f"{name!r} is a date, a forecast or of payments; a watch has amounts, hours and ratios."
            )
    if find_figure(rule.figure).measure.unit == "ratio" and abs(rule.limit) > _LARGEST_RATIO:
        raise ParameterError(f"{rule.how}={rule.limit:g} is too large for a ratio; write 85% as 0.85.")
    if rule.how in CHANGES and rule.limit > _LARGEST_RATIO and find_figure(rule.figure).measure.unit != "days":
        raise ParameterError(f"{rule.how}={rule.limit:g} is too large; an amount changes by a share, such as 0.2.")
    if rule.by and not (columns_of(rule.by, _THERE) or rule.by.startswith(_COLUMNS)):
        more = f"{', '.join(_KEYS)}, or a column such as 'client_cf_industry'"
        raise ParameterError(f"by={rule.by!r} is not a key of the watch.{closest(rule.by, _KEYS)} It takes {more}.")
