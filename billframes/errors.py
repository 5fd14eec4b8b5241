"""All errors and warnings of billframes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from billframes._shared.messages import clean_text, ipython_traceback, shorten
from billframes._shared.names import closest

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
    "LedesFormatError",
    "LedgerError",
    "MirrorError",
    "MissingColumnError",
    "NoDataError",
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
        # Python itself looks up names with underscores, also while this module is imported.
        if name.startswith("_"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        raise unknown_name("billframes.errors", name, __all__)


def __dir__() -> list[str]:
    return __all__


def _readable(words: tuple[object, ...]) -> list[object]:
    return [clean_text(shorten(each)) if isinstance(each, str) else each for each in words]


class BillframesError(Exception):
    """
    Base class of all errors that billframes itself raises.

    The message has at most 4,000 characters and no control characters, whatever the server or the user wrote.
    """

    def __init__(self, *words: object) -> None:
        super().__init__(*_readable(words))

    def _render_traceback_(self) -> list[str]:
        # IPython looks for a method of this name.
        return ipython_traceback(self)


class ConfigError(BillframesError):
    """An address, credential, setting, file or optional package is missing or can't be used."""


class ParameterError(BillframesError, ValueError):
    """An argument is wrong. The message names it and the accepted values; no request was sent."""


class NoDataError(ParameterError):
    """Nothing is known of a period: it ends before the data begin, or no work and no invoice is dated in it."""


class CallError(ParameterError, TypeError):
    """An argument's name is unknown, or an argument is missing. The message suggests a name; no request was sent."""


class UnknownNameError(BillframesError, AttributeError):
    """A module, client, book or record has no attribute of this name. The message suggests the nearest name."""


def unknown_name(
    owner: str, name: str, known: Iterable[str], places: Mapping[str, str] = MappingProxyType({})
) -> UnknownNameError:
    """Return the error for a name that an object or module does not have."""
    error = UnknownNameError(f"{owner} has no {name!r}.{closest(name, known, places)}")
    # If name is set, Python fills in no object, so the traceback has no second suggestion.
    error.name = name
    return error


class MissingColumnError(BillframesError, KeyError):
    """An analysis needs a column that the frame does not have."""

    def __str__(self) -> str:
        # KeyError would show the sentence in quotes.
        return str(self.args[0]) if self.args else ""


class DecodeError(BillframesError, ValueError):
    """The server's response does not fit the API's description. The message names resource, record and JSON path."""


class PagingError(BillframesError):
    """A load could not be proved complete, so no rows are returned."""


class LedesError(BillframesError, ValueError):
    """
    An e-bill would be rejected, so no file was made.

    Parameters
    ----------
    message : str
        The reasons, each once.
    findings : DataFrame, optional
        All findings, as `ledes_check` returns them.
    """

    def __init__(self, message: str, *, findings: Any = None) -> None:
        super().__init__(message)
        self.findings = findings


class LedesFormatError(ParameterError):
    """A file is not a LEDES file of a known format, is damaged, or defines entities."""


class LedgerError(BillframesError, ValueError):
    """A report of the firm's books can't be read with certainty, or is not the one that is needed. Nothing was read."""


class MirrorError(BillframesError):
    """The local copy could not be read or brought up to date."""


class ApiError(BillframesError):
    """
    The server refused or failed, or could not be reached.

    Parameters
    ----------
    message : str
        What happened to which resource, and what to do next.
    status : int, optional
        HTTP status; None if there was no response.
    method, path : str
        The request, without host and query.
    body : str
        The body of the response as text.
    trace_id : str, optional
        The server's id of the request, if it sent one.
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


class AuthenticationError(ApiError):
    """401: the server does not accept the credential."""


class AccessDeniedError(ApiError):
    """403: the credential may not do this. Some servers also respond with 403 to a wrong credential."""


class NotFoundError(ApiError):
    """404: no such record or path."""


class RefusedError(ApiError):
    """400, 409 or 422: the server refused the request. The message begins with the server's reason."""


class RateLimitedError(ApiError):
    """429: too many requests, and several retries in a row were refused."""


class ServerError(ApiError):
    """5xx: the server failed, also after retries."""


class TransportError(ApiError):
    """No usable response: connection, TLS, timeout, or a body that is not the API's."""


class UncertainWriteError(ApiError):
    """
    A write was sent, and it may or may not have happened: there was no response, or one that is not the write's.

    Parameters
    ----------
    message : str
        What is unknown, and how to find it out.
    sent : mapping, optional
        The fields that were sent, by the API's names; None for a deletion. They are not in the message, because they
        can contain names and narratives.
    received : mapping, optional
        If a record came back that differs from what was sent: its values of the properties that differ. It may be
        another record.
    **known
        As for `ApiError`.
    """

    def __init__(self, message: str, *, sent: object = None, received: object = None, **known: Any) -> None:
        super().__init__(message, **known)
        self.sent = sent
        self.received = received


class BillframesWarning(UserWarning):
    """Base class of all warnings of billframes. Its text is shortened and cleaned as in `BillframesError`."""

    def __init__(self, *words: object) -> None:
        super().__init__(*_readable(words))


class UnknownValueWarning(BillframesWarning):
    """An enum has a value that is not in the API's description. The value is kept."""


class DetailsMissingWarning(BillframesWarning):
    """Details that were requested, or whose ids are there, are missing on every row."""


class RatesHiddenWarning(BillframesWarning):
    """The credential may not see rates, or they are hidden on some entries: `rate` and `amount` are missing, not 0."""


class IncompleteDataWarning(BillframesWarning):
    """Data are missing or doubtful, so figures may be incomplete or wrong. The message says which data and why."""
