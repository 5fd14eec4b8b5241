"""The options of a client, each declared once.

`ClientOptions` declares the name, type, default, range and meaning of every option. From it are made: the keyword
arguments of `connect` and `Client` with their signatures and docstrings, the settings that a profile may have, the
check of each value, the output of `billframes doctor`, and the table in `docs/reference/options.md`. Type checkers
read the class itself. To add an option, add it here, and use its value where it has an effect.
"""

from __future__ import annotations

import inspect
import ssl
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Annotated, Any, TypedDict, TypeVar, get_type_hints

from billframes._shared.names import type_in_words
from billframes._shared.suggestions import check_names
from billframes.config.secret import Secret, hide_headers
from billframes.errors import ParameterError
from billframes.loaders.arguments import Argument
from billframes.loaders.loader import Names
from billframes.loading.progress import Progress
from billframes.schema.resources import MAX_LIMIT
from billframes.transport.http import Auth, BaseTransport

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Option:
    """
    Declaration of an option, without its name: its type for docstrings, its meaning, and its default.

    A number is above `above`, at least `least` and at most `most`. `kinds` are the types of another value; empty if it
    is checked where it is used. `in_profile` is whether a profile may have the option.
    """

    type: str
    text: str
    default: Any = None
    above: float | None = None
    least: float | None = None
    most: float | None = None
    kinds: tuple[Any, ...] = ()
    in_profile: bool = True

    @property
    def range(self) -> str:
        """The range in words; empty if the option is not a number."""
        if self.most is not None:
            return f"from {self.least} to {self.most}"
        if self.least is not None:
            return f"of at least {self.least}"
        return f"above {self.above}" if self.above is not None else ""

    @property
    def meaning(self) -> str:
        """The meaning, with the range of a number."""
        return f"{self.text} A number {self.range}." if self.range else self.text

    def check(self, name: str, value: Any) -> Any:
        """Return the value; raise `ParameterError` if a number is out of range, or the type is wrong."""
        if value is None and self.default is None:
            return value
        if self.kinds and not isinstance(value, self.kinds):
            # The value may be a credential, so it is not shown.
            raise ParameterError(f"{name}= is {type_in_words(value)}; it takes {self.type}.")
        if not self.range:
            return value
        whole = isinstance(self.default, int)
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        fits = (
            is_number
            and (self.above is None or value > self.above)
            and (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
            and (value % 1 == 0 if whole else not isinstance(value, int) or value <= sys.float_info.max)
        )
        if not fits:
            kind = "a whole number" if whole else "a number"
            raise ParameterError(f"{name}={value!r} is out of range; it takes {kind} {self.range}.")
        return int(value) if whole else value if isinstance(value, int | float) else float(value)


class ClientOptions(TypedDict, total=False):
    """The keyword arguments of `connect` and `Client`."""

    profile: Annotated[
        str | None,
        Option(
            "str",
            "Name of a profile in `config.toml`. By default `BILLFRAMES_PROFILE`, else the file's default profile.",
            in_profile=False,
        ),
    ]
    auth: Annotated[
        Auth | None,
        Option("httpx.Auth", "Authenticates requests in place of `token`.", kinds=(Auth,), in_profile=False),
    ]
    headers: Annotated[
        Mapping[str, str | Secret] | None,
        Option("mapping of str to str", "Headers sent with every request. Their values are treated as credentials."),
    ]
    fiscal_year_start: Annotated[
        str | int | None,
        Option(
            "str",
            "Month in which the firm's fiscal year begins, such as `'07'`, or its first day, such as `'04-06'`. "
            "Periods such as `'FY2026'` need it. By default that of the profile's firm settings.",
        ),
    ]
    fiscal_year_name: Annotated[
        str,
        Option("str", "`'end'` if a fiscal year is named after the year in which it ends, else `'start'`.", "end"),
    ]
    acting_user: Annotated[str | None, Option("str", "Id of the user on whose behalf time entries are created.")]
    acting_user_header: Annotated[
        str, Option("str", "The header that names the acting user.", "x-service-userid", kinds=(str,))
    ]
    timeout: Annotated[
        float, Option("float", "Seconds without data from the server after which a request fails.", 30.0, above=0)
    ]
    retries: Annotated[
        int,
        Option(
            "int",
            "How often a GET is retried after a temporary failure, and how many 429 responses in a row are accepted "
            "without a successful response between them.",
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
            "is called with the number of rows loaded and their total.",
            in_profile=False,
        ),
    ]
    health_path: Annotated[
        str | None,
        Option(
            "str",
            "Path of the health check below the API's address, such as `/health`. `health()` needs it, because it is "
            "not in the API's description.",
        ),
    ]
    select_names: Annotated[
        Mapping[str, Names] | None,
        Option(
            "mapping of str to str or list of str",
            "This server's own `select` names for some details, by loader, such as `{'matters': 'client'}`. Loads find "
            "them out by themselves, and `check` shows them. If they are given here, the first load takes fewer "
            "requests.",
        ),
    ]
    verify: Annotated[
        bool | str | ssl.SSLContext,
        Option(
            "bool, str or ssl.SSLContext",
            "True checks certificates against the operating system's trust store. A text is the path of a CA file. "
            "False checks nothing, and gives a warning.",
            True,
            kinds=(bool, str, ssl.SSLContext),
        ),
    ]
    transport: Annotated[
        BaseTransport | None,
        Option(
            "httpx.BaseTransport",
            "Sends requests in place of the network, for tests.",
            kinds=(BaseTransport,),
            in_profile=False,
        ),
    ]


_TYPES = get_type_hints(ClientOptions)
OPTIONS: Mapping[str, Option] = {
    name: hint.__metadata__[0] for name, hint in get_type_hints(ClientOptions, include_extras=True).items()
}
PROFILE_OPTIONS = frozenset(name for name, option in OPTIONS.items() if option.in_profile)


def check_option_names(call: str, given: ClientOptions) -> ClientOptions:
    """
    Hide the values of headers, then raise `CallError` if a name is unknown.

    The given dict is changed in place, so that no frame of a traceback holds the value of a header.
    """
    if "headers" in given:
        given["headers"] = hide_headers(given["headers"])
    check_names(call, given, ("base_url", "token", *OPTIONS))
    return given


def option_values(given: ClientOptions, profile: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return the values of all options, each from the argument, else from the profile, else the default.

    Raise `ParameterError` if a number is out of range, or a value has a wrong type.
    """
    values = {name: option.default for name, option in OPTIONS.items()}
    values |= {name: value for name, value in profile.items() if name in PROFILE_OPTIONS}
    # If an option's default is None, None is the same as leaving it out.
    values |= {name: value for name, value in given.items() if value is not None or OPTIONS[name].default is not None}
    return {name: OPTIONS[name].check(name, value) for name, value in values.items()}


def document_options(call: T) -> T:
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
        "{options}", "\n".join(each.docstring_entry for each in options)
    )
    return call


def _argument(name: str) -> Argument:
    option = OPTIONS[name]
    return Argument(name, str(_TYPES[name]), option.type, option.meaning, option.default)
