"""What an analysis says of itself: the text behind `bf.explain` and the analyses' page of the docs."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Explanation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """
    The meaning of one analysis in plain words, declared beside its code.

    Parameters
    ----------
    name : str
        The function's name.
    question : str
        What a partner asks when reaching for it, one sentence.
    formula : str
        One line, such as "billed ÷ worked".
    numerator, denominator : str
        What is counted above and below the line; empty where the analysis is no ratio.
    left_out : tuple of str
        What does not count, and where the result shows it.
    cannot_tell : tuple of str
        What this API does not know, so that nobody reads it into the figure.
    """

    name: str
    question: str
    formula: str
    numerator: str = ""
    denominator: str = ""
    left_out: tuple[str, ...] = ()
    cannot_tell: tuple[str, ...] = ()
