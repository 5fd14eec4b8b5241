"""Every error and warning billframes raises, on one page.

BillframesError
├── ConfigError                     nothing, or nothing usable, says which API to call
├── ParameterError(ValueError)      an argument is wrong; no request was sent
│   └── CallError(TypeError)        an argument's name is unknown, or an argument is missing
├── UnknownNameError(AttributeError) a module, book or record has no such name
├── MissingColumnError(KeyError)    an analysis needs a column the frame does not have
├── DecodeError(ValueError)         the server's answer breaks the API's description
├── PagingError                     a load could not be shown to be complete
├── LedesError(ValueError)          an e-bill would be rejected; no file was made
├── MirrorError                     the local copy could not be read or brought up to date
└── ApiError                        the server refused or failed, or could not be reached
    ├── AuthenticationError         401
    ├── AccessDeniedError           403
    ├── NotFoundError               404
    ├── RefusedError                400, 409, 422
    ├── RateLimitedError            429, after retries
    ├── ServerError                 5xx, after retries
    ├── TransportError              no usable answer
    └── UncertainWriteError         a write whose outcome is unknown

BillframesWarning(UserWarning)
├── UnknownValueWarning             an enum value the API's description does not have
├── DetailsMissingWarning           details came on no row, though their ids did
├── RatesHiddenWarning              the credential may not see rates
└── IncompleteDataWarning           an analysis counted rows it could not place
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from billframes._messages import in_ipython, plain, shortened
from billframes._names import closest

__all__ = [
    "AccessDeniedError",
    "ApiError",
    "AuthenticationError",
    "BillframesError",
    "BillframesWarning",
    "CallError",
    "ConfigError",
    "DecodeError",
    "DetailsMissingWarning",
    "IncompleteDataWarning",
    "LedesError",
    "MirrorError",
    "MissingColumnError",
    "NotFoundError",
    "PagingError",
    "ParameterError",
    "RateLimitedError",
    "RatesHiddenWarning",
    "RefusedError",
    "ServerError",
    "TransportError",
    "UncertainWriteError",
    "UnknownNameError",
    "UnknownValueWarning",
]


# Hidden from type checkers, which would accept any name.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        # Python asks for names with underscores by itself, also while this module is imported.
        if name.startswith("_"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        raise unknown_name("billframes.errors", name, __all__)


def __dir__() -> list[str]:
    return __all__


_Rebuilt = TypeVar("_Rebuilt", bound="BillframesError")


class BillframesError(Exception):
    """
    Base of every error billframes raises on purpose.

    Its text has no control characters, whatever the server or the user wrote, and at most 4,000 characters.
    """

    def __init__(self, *words: object) -> None:
        super().__init__(*_readable(words))

    def _render_traceback_(self) -> list[str]:
        # IPython's name for it.
        return in_ipython(self)


class ConfigError(BillframesError):
    """Nothing, or nothing usable, says which API to call and with what credential."""


class ParameterError(BillframesError, ValueError):
    """An argument is wrong. Raised before any request; names the argument and what is accepted."""


class CallError(ParameterError, TypeError):
    """A call has an argument of an unknown name, or lacks one. Names the nearest right one; no request was sent."""


class UnknownNameError(BillframesError, AttributeError):
    """A module, client, book or record has no attribute of this name; names the nearest one."""


def unknown_name(owner: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """
    Return the error for a name that an object or module does not have.

    Examples
    --------
    >>> unknown_name("billframes", "time_entires", ["expenses", "time_entries"])
    UnknownNameError("billframes has no 'time_entires'. Did you mean 'time_entries'?")
    """
    error = UnknownNameError(f"{owner} has no {name!r}.{closest(name, known)}")
    # A name without its object: Python fills in neither, so its traceback adds no second suggestion.
    error.name = name
    return error


class MissingColumnError(BillframesError, KeyError):
    """An analysis needs a column the frame does not have."""

    def __str__(self) -> str:
        # KeyError shows the repr of its argument, which would put the sentence in quotes.
        return str(self.args[0]) if self.args else ""


class DecodeError(BillframesError, ValueError):
    """The server's answer breaks the API's description: names resource, record id and JSON path."""


class PagingError(BillframesError):
    """A load could not be shown to be complete, so no rows are returned."""


class LedesError(BillframesError, ValueError):
    """
    An e-bill would be rejected, so no file was made.

    Parameters
    ----------
    message : str
        What would be rejected, each reason once.
    findings : DataFrame, optional
        Every finding, as `ledes_check` gives them.
    """

    def __init__(self, message: str, *, findings: Any = None) -> None:
        super().__init__(message)
        self.findings = findings

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments are lost by Exception's own pickling.
        return _rebuild, (type(self), str(self), dict(self.__dict__))


class MirrorError(BillframesError):
    """The local mirror could not be read or brought up to date."""


class ApiError(BillframesError):
    """
    The server refused or failed, or could not be reached.

    Parameters
    ----------
    message : str
        What happened, to which resource, and what to do next.
    status : int, optional
        HTTP status; None if there was no response.
    method, path : str
        The request, without host and query.
    body : str
        The answer's body as text, as the server sent it.
    trace_id : str, optional
        The server's own name for the request, where it sent one.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        method: str = "",
        path: str = "",
        body: str = "",
        trace_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.method = method
        self.path = path
        self.body = body
        self.trace_id = trace_id

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments are lost by Exception's own pickling.
        return _rebuild, (type(self), str(self), dict(self.__dict__))


def _readable(words: tuple[object, ...]) -> list[object]:
    return [plain(shortened(each)) if isinstance(each, str) else each for each in words]


def _rebuild(kind: type[_Rebuilt], message: str, state: dict[str, object]) -> _Rebuilt:
    error = kind(message)
    error.__dict__.update(state)
    return error


class AuthenticationError(ApiError):
    """401: the server does not accept the credential."""


class AccessDeniedError(ApiError):
    """403: the credential may not do this; some servers answer a wrong credential this way too."""


class NotFoundError(ApiError):
    """404: no such record or path."""


class RefusedError(ApiError):
    """400, 409 or 422: the server refused the request; its own words come first in the message."""


class RateLimitedError(ApiError):
    """429: too many requests, and nothing was granted for several tries in a row."""


class ServerError(ApiError):
    """5xx: the server failed, also after trying again."""


class TransportError(ApiError):
    """No usable answer: connection, TLS, timeout, or a body that is not the API's."""


class UncertainWriteError(ApiError):
    """
    A write was sent and no answer came: it may or may not have happened.

    Parameters
    ----------
    message : str
        What is not known, and how to look.
    sent : mapping, optional
        What was sent, by the API's names; None for a deletion. Not in the message: it can hold names and narratives.
    **known
        As for `ApiError`.
    """

    def __init__(self, message: str, *, sent: object = None, **known: Any) -> None:
        super().__init__(message, **known)
        self.sent = sent


class BillframesWarning(UserWarning):
    """Base of every warning billframes gives; its text is kept readable as that of `BillframesError` is."""

    def __init__(self, *words: object) -> None:
        super().__init__(*_readable(words))


class UnknownValueWarning(BillframesWarning):
    """The data hold a value the API's description does not have; it is kept."""


class DetailsMissingWarning(BillframesWarning):
    """Details came on no row of a non-empty answer, although they were asked for, or their ids came."""


class RatesHiddenWarning(BillframesWarning):
    """The credential may not see rates: `rate` and `amount` are missing, not zero."""


class IncompleteDataWarning(BillframesWarning):
    """An analysis met rows it could count but not place; says which and why."""
