"""Conditions of rows whose columns don't fit together: amounts beside hours and rates, dates, signs.

Each takes columns by position, and returns whether a row is implausible, or whether it is certainly plausible.
"""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from billframes.analysis.frames.column_rules import absolute, parts_of_day

# Amounts in cents are 100 times too high. A lower limit allows for other differences.
_SCALE = 40.0
# The hours of a day, which is a spreadsheet's unit of time, and of a working day. Days may be rounded.
_DAYS = (24.0, 8.0)
_ROUNDING = 0.03
# Hours that amounts are for are not whole if they differ by more from a whole number.
_FRACTION = 0.02
# Midnights of places in the east of Greenwich are evenings in UTC. People write noon for a whole day.
_EVENING = 13
_CENT = 0.005


def _if_unequal(hours: Any, rate: Any, amount: Any, condition: Any) -> Any:
    """Return the condition for rows whose amount is not hours × rate; a database computes it for these rows only."""
    unequal = absolute(amount - hours * rate) >= 0.01
    return nw.when(unequal).then(condition) if isinstance(unequal, nw.Expr) else unequal & condition


def _is_near(amount: Any, due: Any, share: float) -> Any:
    """Tell whether an amount differs from what is due by less than a share of it; an amount of 0 is near nothing."""
    return absolute(amount - due) < absolute(amount) * share


def is_scaled(hours: Any, rate: Any, amount: Any) -> Any:
    """Tell whether the amount is many times hours × rate, as in cents."""
    due = absolute(hours * rate)
    return _if_unequal(hours, rate, amount, (absolute(amount) > due * _SCALE) & (due > 0))


def is_not_scaled(hours: Any, rate: Any, amount: Any) -> Any:
    """Tell whether the amount is in the unit of hours × rate."""
    due = absolute(hours * rate)
    return (due > 0) & (absolute(amount) <= due * _SCALE)


def is_swapped(hours: Any, rate: Any, amount: Any) -> Any:
    """Tell whether the rate is hours × amount."""
    # For one hour, rate and amount are equal.
    swapped = (absolute(rate - hours * amount) < 0.01) & (rate != 0) & (absolute(absolute(hours) - 1.0) > 0.05)
    return _if_unequal(hours, rate, amount, swapped)


def is_not_swapped(hours: Any, rate: Any, amount: Any) -> Any:
    """Tell whether the amount is hours × rate of other than one hour."""
    due = hours * rate
    return (absolute(absolute(hours) - 1.0) > 0.05) & (absolute(due) > 0) & (absolute(amount - due) < 0.01)


def is_in_minutes(rate: Any, amount: Any, hours: Any) -> Any:
    """Tell whether hours such as 1.30 are an hour and 30 minutes."""
    decimal = hours - hours % 1 + hours % 1 / 0.6
    fits = _is_near(amount, decimal * rate, 0.01)
    fits = fits & (absolute(amount - hours * rate) > absolute(amount) * 0.05)
    return _if_unequal(hours, rate, amount, fits & (hours > 0) & (rate > 0))


def is_decimal(rate: Any, amount: Any, hours: Any) -> Any:
    """Tell whether hours with a fraction fit the amount as they are."""
    return (hours % 1 > 0.05) & (rate > 0) & _is_near(amount, hours * rate, 0.01)


def is_in_days(rate: Any, amount: Any, hours: Any) -> Any:
    """Tell whether hours are days of 24 or 8 hours."""
    whole, working = (_is_near(amount, hours * rate * day, _ROUNDING) for day in _DAYS)
    return _if_unequal(hours, rate, amount, whole | working)


def is_in_hours(rate: Any, amount: Any, hours: Any) -> Any:
    """Tell whether the amount is about hours × rate."""
    return _is_near(amount, hours * rate, _ROUNDING)


def is_whole(rate: Any, amount: Any, hours: Any) -> Any:
    """Tell whether hours are whole, but those that the amount is for are not: the hours were rounded or cut."""
    lost = absolute(amount / rate - hours)
    return (rate > 0) & (hours % 1 == 0) & (lost > _FRACTION) & (lost < 1 - _FRACTION)


def is_in_sixtieths(hours: Any, rate: Any, amount: Any) -> Any:
    """Tell whether hours are minutes."""
    return _if_unequal(hours, rate, amount, _is_near(amount, hours * rate / 60.0, _ROUNDING))


def is_unequal(hours: Any, rate: Any, amount: Any) -> Any:
    """Tell whether an amount is not hours times rate, also if hours or amounts were rounded for display."""
    rounding = absolute(amount) * 0.02 + absolute(rate) * 0.01 + 0.51
    return (rate != 0) & (amount != 0) & (absolute(amount - hours * rate) > rounding)


def is_equal(hours: Any, rate: Any, amount: Any) -> Any:
    """Tell whether the amount is hours × rate, as far as hours and amounts are rounded."""
    return (rate != 0) & (absolute(amount - hours * rate) <= absolute(amount) * 0.02 + absolute(rate) * 0.01 + 0.51)


def _months_apart(created: Any, date: Any) -> Any:
    """Return the number of calendar months between two dates; the day of the month is not considered."""
    (year, month, _), (year_made, month_made, _) = parts_of_day(date), parts_of_day(created)
    return absolute((year - year_made) * 12 + month - month_made)


def is_day_first(created: Any, date: Any) -> Any:
    """Tell whether a date is far from its time of creation, and near it if day and month are exchanged."""
    (_, month, day), month_made = parts_of_day(date), parts_of_day(created)[1]
    return (day == month_made) & (day != month) & (_months_apart(created, date) > 1)


def is_not_day_first(created: Any, date: Any) -> Any:
    """Tell whether a date is near its time of creation, or far from it also if day and month are exchanged."""
    _, month, day = parts_of_day(date)
    is_near = _months_apart(created, date) <= 1
    return ((day <= 12) & (day != month) & is_near) | ((day > 12) & ~is_near)


def is_ahead(created: Any, date: Any) -> Any:
    """Tell whether a date is more than a month after its time of creation."""
    if not isinstance(date, nw.Expr):
        return date > created + np.timedelta64(31, "D")
    return date > created.dt.offset_by("31d")


def is_night(moment: Any) -> Any:
    """Tell whether a date has a full or half hour of the evening: midnight of a place in the east of Greenwich."""
    part = moment.dt
    hour, minute, second = (
        (part.hour(), part.minute(), part.second())
        if isinstance(moment, nw.Expr)
        else (part.hour, part.minute, part.second)
    )
    return (hour >= _EVENING) & (minute % 30 == 0) & (second == 0)


def is_not_night(moment: Any) -> Any:
    """Tell whether a moment is not a midnight of another time zone."""
    return ~is_night(moment)


def has_other_sign(amount: Any, balance: Any) -> Any:
    """Tell whether the balance has the other sign than the amount."""
    return ((amount > _CENT) & (balance < -_CENT)) | ((amount < -_CENT) & (balance > _CENT))


def has_same_sign(amount: Any, balance: Any) -> Any:
    """Tell whether balance and amount have the same sign."""
    return ((amount > _CENT) & (balance > _CENT)) | ((amount < -_CENT) & (balance < -_CENT))
