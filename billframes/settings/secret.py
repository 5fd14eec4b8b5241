"""A credential that shows itself to nobody: not in a repr, a log, a traceback or a pickle."""

from __future__ import annotations

from typing import NoReturn

__all__ = ["Secret"]


class Secret:
    """
    A text kept out of sight; `reveal` is the only way to it.

    Examples
    --------
    >>> Secret("abc")
    Secret(***)
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text. Only the request's auth hook calls this."""
        return self._text

    def __repr__(self) -> str:
        return "Secret(***)"

    __str__ = __repr__

    def __reduce__(self) -> NoReturn:
        raise TypeError("A credential is not pickled; connect again where the object is used.")
