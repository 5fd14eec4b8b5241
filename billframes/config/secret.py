"""Keep credentials out of reprs, logs, tracebacks and pickles.

A token is wrapped in `Secret` as soon as it is received, before anything can fail, so that no variable of billframes
holds it as text. Values of headers are wrapped too, because keys of gateways are given as headers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NoReturn

from billframes.errors import ConfigError

# Shorter texts occur by chance, so masking them would only make messages unreadable.
LEAST_MASKED = 4
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


class Secret:
    """A text that only `reveal` returns."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text, for the request's headers or the keyring."""
        return self._text

    def mask_in(self, text: str) -> str:
        """Replace the secret in a text by `***`: servers and keyrings may repeat it in their messages."""
        return text.replace(self._text, "***") if len(self._text) >= LEAST_MASKED else text

    def __repr__(self) -> str:
        return "Secret(***)"

    __str__ = __repr__

    def __reduce__(self) -> NoReturn:
        raise TypeError("A credential is not pickled; connect again where the object is used.")


def hide(token: object) -> Secret | None:
    """
    Wrap a token in `Secret`; return None if it is blank.

    This never raises. `check_token` finds tokens that can't be sent, later, when no frame holds the text any more.
    """
    if token is None or isinstance(token, Secret):
        return token
    secret = _wrapped(token)
    return secret if secret.reveal() else None


def hide_headers(headers: object) -> dict[str, Secret] | None:
    """Wrap the values of headers in `Secret`. This never raises: see `check_headers`."""
    if headers is None:
        return None
    pairs = headers.items() if isinstance(headers, Mapping) else [("", headers)]
    return {name: value if isinstance(value, Secret) else _wrapped(value) for name, value in pairs}


def check_token(token: Secret, source: str) -> None:
    """Raise `ConfigError` if a token can't be sent, for example because it was copied with a line break."""
    if not _sendable(token) or " " in token.reveal():
        raise ConfigError(
            f"The token (from {source}) contains a space or a character that can't be sent. Copy the whole token again."
        )


def check_headers(headers: Mapping[str, Secret]) -> None:
    """Raise `ConfigError` if a name or a value can't be sent."""
    for name, value in headers.items():
        if not isinstance(name, str) or not is_header_name(name):
            raise ConfigError("headers= takes a mapping of header names to texts.")
        if not _sendable(value):
            raise ConfigError(f"headers[{name!r}] is not a text that a header can have. Copy the whole value again.")


def is_header_name(text: str) -> bool:
    """Tell whether a text can be the name of a header."""
    return bool(_HEADER_NAME.fullmatch(text))


def _wrapped(text: object) -> Secret:
    # A value that is not a text becomes a text that can't be sent.
    return Secret(text.strip() if isinstance(text, str) else "\0")


def _sendable(secret: Secret) -> bool:
    return secret.reveal().isascii() and secret.reveal().isprintable()
