"""The options of a client, each declared once.

`ClientOptions` gives every option its name, its type, its default, the numbers it accepts and its meaning. From it come
the keyword arguments of `connect` and `Client` with their signatures and docstrings, the settings that a profile may
hold, the check of each value, what `billframes doctor` shows, and the table in `docs/connecting.md`. Type checkers read
it as it stands. To add an option, add it here, and use its value where it has an effect.

An option is taken from the first of these that has it: the argument, the profile, the default.
"""

from __future__ import annotations

import inspect
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict, TypeVar, get_type_hints

from billframes._suggestions import check_names
from billframes.config.secret import Secret, hidden_headers
from billframes.errors import ParameterError
from billframes.loaders.arguments import Argument
from billframes.loaders.loader import Names
from billframes.loading.progress import Progress
from billframes.schema.resources import MAX_LIMIT
from billframes.transport.http import Auth, BaseTransport

__all__ = ["OPTIONS", "PROFILE_OPTIONS", "ClientOptions", "Option", "checked_names", "documented", "option_values"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Option:
    """
    What there is to know about an option beside its name and its type.

    Parameters
    ----------
    type : str
        Its type as docstrings show it.
    text : str
        What it means.
    default : object
    above, least, most : float, optional
        The numbers it accepts: above, at least, at most.
    in_profile : bool
        Whether a profile may hold it.
    """

    type: str
    text: str
    default: Any = None
    above: float | None = None
    least: float | None = None
    most: float | None = None
    in_profile: bool = True

    @property
    def range(self) -> str:
        """The numbers it accepts, in words; empty if it is not a number."""
        if self.most is not None:
            return f"from {self.least} to {self.most}"
        if self.least is not None:
            return f"of at least {self.least}"
        return f"above {self.above}" if self.above is not None else ""

    @property
    def meaning(self) -> str:
        """What it means, with the numbers it accepts."""
        return f"{self.text} A number {self.range}." if self.range else self.text

    def checked(self, name: str, value: Any) -> Any:
        """Return the value; `ParameterError` says which numbers are accepted."""
        if not self.range or (value is None and self.default is None):
            return value
        whole = isinstance(self.default, int)
        fits = (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and (self.above is None or value > self.above)
            and (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
            and (not whole or value == int(value))
        )
        if not fits:
            kind = "a whole number" if whole else "a number"
            raise ParameterError(f"{name}={value!r} is out of range; it takes {kind} {self.range}.")
        return int(value) if whole else value


class ClientOptions(TypedDict, total=False):
    """What `connect` and `Client` take by keyword."""

    profile: Annotated[
        str | None,
        Option(
            "str",
            "Name of a profile in `config.toml`. Else `BILLFRAMES_PROFILE`, else the file's default.",
            in_profile=False,
        ),
    ]
    auth: Annotated[Auth | None, Option("httpx.Auth", "Authenticates requests in place of `token`.", in_profile=False)]
    headers: Annotated[
        Mapping[str, str | Secret] | None,
        Option("mapping of str to str", "Headers sent with every request. Their values are treated as credentials."),
    ]
    acting_user: Annotated[str | None, Option("str", "Id of the user on whose behalf time entries are created.")]
    acting_user_header: Annotated[str, Option("str", "The header that names the acting user.", "x-service-userid")]
    timeout: Annotated[
        float, Option("float", "Seconds of silence after which a request counts as failed.", 30.0, above=0)
    ]
    retries: Annotated[
        int,
        Option(
            "int",
            "How many times a GET is tried again after a temporary failure, and how many 429 answers in a row are "
            "accepted while the server grants no other request.",
            5,
            least=0,
        ),
    ]
    concurrency: Annotated[int, Option("int", "The largest number of requests at the same time.", 8, least=1)]
    page_size: Annotated[int, Option("int", "Records to request per page.", MAX_LIMIT, least=1, most=MAX_LIMIT)]
    rate_limit: Annotated[
        float | None, Option("float", "The largest number of requests per second. None is no limit.", above=0)
    ]
    progress: Annotated[
        bool | Progress | None,
        Option(
            "bool or callable",
            "None shows a bar in notebooks and terminals after a second. True always shows it, False never. A function "
            "is called with the rows loaded and the rows in all.",
            in_profile=False,
        ),
    ]
    health_path: Annotated[
        str | None,
        Option(
            "str",
            "Path of the health check, such as `/health`, below the API's address. The API's description does not show "
            "it, and `health()` needs it.",
        ),
    ]
    select_names: Annotated[
        Mapping[str, Names] | None,
        Option(
            "mapping of str to str or list of str",
            "Other `select` names that this server has for some details, by loader, such as `{'matters': 'client'}`. "
            "Loads find them out by themselves, and `check` tells them; given here, the first load need not.",
        ),
    ]
    verify: Annotated[
        bool | str | ssl.SSLContext,
        Option(
            "bool, str or ssl.SSLContext",
            "True checks certificates against the operating system's trust store. A text is the path of a CA file. "
            "False checks nothing, and warns.",
            True,
        ),
    ]
    transport: Annotated[
        BaseTransport | None,
        Option("httpx.BaseTransport", "Sends requests in place of the network, for tests.", in_profile=False),
    ]


_TYPES = get_type_hints(ClientOptions)
OPTIONS: Mapping[str, Option] = {
    name: hint.__metadata__[0] for name, hint in get_type_hints(ClientOptions, include_extras=True).items()
}
PROFILE_OPTIONS = frozenset(name for name, option in OPTIONS.items() if option.in_profile)


def checked_names(call: str, given: ClientOptions) -> ClientOptions:
    """
    Hide the headers' values, then refuse a name that is not an option's; `CallError` names the nearest right one.

    The dict itself is changed, so that no frame of a traceback holds a header's value.
    """
    if "headers" in given:
        given["headers"] = hidden_headers(given["headers"])
    check_names(call, given, ("base_url", "token", *OPTIONS))
    return given


def option_values(given: ClientOptions, profile: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return the value of every option: the argument's, else the profile's, else the default.

    Raises
    ------
    ParameterError
        A number is out of range.
    """
    values = {name: option.default for name, option in OPTIONS.items()}
    values |= {name: value for name, value in profile.items() if name in PROFILE_OPTIONS}
    # None is the same as leaving an option out that has no default.
    values |= {name: value for name, value in given.items() if value is not None or OPTIONS[name].default is not None}
    return {name: OPTIONS[name].checked(name, value) for name, value in values.items()}


def documented(call: T) -> T:
    """Show every option in the signature of a function or class, and in its docstring in place of `{options}`."""
    function: Any = call.__init__ if isinstance(call, type) else call  # type: ignore[misc]
    signature = inspect.signature(function)
    own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
    options = [_argument(name) for name in OPTIONS]
    function.__signature__ = signature.replace(
        parameters=[
            *own,
            *(each.parameter.replace(annotation=_TYPES[each.name]) for each in options),
        ]
    )
    call.__doc__ = inspect.cleandoc(call.__doc__ or "").replace(
        "{options}", "\n".join(each.documented for each in options)
    )
    return call


def _argument(name: str) -> Argument:
    option = OPTIONS[name]
    return Argument(name, str(_TYPES[name]), option.type, option.meaning, option.default)
