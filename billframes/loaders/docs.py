"""Paragraphs that several loaders' docstrings share, written once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

__all__ = ["shared_docs"]

F = TypeVar("F", bound=Callable[..., object])

_PERIOD = """\
start : str, date, datetime or Timestamp, optional
    First day, inclusive, by {dated}; or, with no `end`, a whole period: "2026", "2026-Q3", "2026-10",
    "last month", "this month", "last quarter", "ytd". A single date with no `end` means from that date on.
    None is open.
end : str, date, datetime or Timestamp, optional
    Last day, inclusive. None is open."""

_PAGED = """\
select : str or list of str, optional
    Details to ask for, by the API's names ({select}); columns that the others would bring are left out.
    A name prefixed with "-" is taken away. None asks for all. Other names are sent as given.
sort : str or list of str, optional
    Order of the rows ({sort}); "-" before a name is descending, ties go by id. None is by {order}, then id. Other
    names are sent as given; the rows then keep the server's order.
modified_since : str, datetime or Timestamp, optional
    Only records changed after this instant; without a time zone it is taken as UTC.
limit : int, optional
    Rows wanted in all, over as many pages as needed. None is all, 0 none.
progress : bool or callable, optional
    None shows a bar in notebooks and terminals after a second; True, False, or a function of rows done and in all.
params : mapping, optional
    Extra query parameters, passed through unchecked.
to : {"pandas", "arrow", "polars"}, default "pandas"
    The kind of frame to return."""

_RETURNS = """\
DataFrame
    One row {row}; columns and dtypes depend on the call alone, so an empty answer has them all.
    Missing is missing, never 0 or "". `frame.attrs["load"]` says how it was loaded."""

_RAISES = """\
ParameterError
    An argument is wrong; no request was sent.
ConfigError
    Nothing says which API to call.
DecodeError
    The server's answer breaks the API's description.
PagingError
    The load could not be shown to be complete.
ApiError
    The server, or the way to it, said no."""

_CREATE_RAISES = """\
ParameterError
    A value is not of its type; nothing was sent.
RefusedError
    The server refuses it; its own words come first.
UncertainWriteError
    No answer came: look before creating it again."""

_UPDATE_RAISES = """\
ParameterError
    A value is not of its type, or nothing was passed; nothing was sent.
NotFoundError
    There is none with this id.
RefusedError
    The server refuses it, such as for a billed item; its own words come first.
UncertainWriteError
    No answer came: look before sending it again."""

_PARAGRAPHS = {
    "period": _PERIOD,
    "paged": _PAGED,
    "returns": _RETURNS,
    "raises": _RAISES,
    "create_raises": _CREATE_RAISES,
    "update_raises": _UPDATE_RAISES,
}


def shared_docs(**words: str) -> Callable[[F], F]:
    """
    Fill `{period}`, `{raises}` and their kin in a docstring with the shared paragraphs.

    Parameters
    ----------
    **words : str
        What the paragraphs leave to each loader, such as `order`.
    """

    def fill(function: F) -> F:
        text = function.__doc__ or ""
        for name, paragraph in _PARAGRAPHS.items():
            text = text.replace(f"{{{name}}}", paragraph.replace("\n", "\n" + " " * 8))
        for word, value in words.items():
            text = text.replace(f"{{{word}}}", value)
        function.__doc__ = text
        return function

    return fill
