"""Divide whole numbers, such as cents, into whole parts that add up."""

from __future__ import annotations

from collections.abc import Sequence


def whole_parts(numerators: Sequence[int], denominator: int) -> list[int]:
    """
    Round fractions of one denominator to whole numbers that add up to their sum, which is whole.

    The largest remainders are rounded up; of equal ones, the first.

    Examples
    --------
    >>> whole_parts([100, 100, 100], 3), whole_parts([5, 3, 2], 5)
    ([34, 33, 33], [1, 1, 0])
    """
    parts = [each // denominator for each in numerators]
    places = sorted(range(len(parts)), key=lambda place: -(numerators[place] % denominator))
    for place in places[: sum(numerators) // denominator - sum(parts)]:
        parts[place] += 1
    return parts
