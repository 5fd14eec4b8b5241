"""Put credentials on a copy of each request, so that the request itself, which errors and hooks may show, has none."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping

import httpx

from billframes.config.secret import Secret
from billframes.errors import ApiError, BillframesError

__all__ = ["Credentials", "mask_secrets"]


class Credentials(httpx.Auth):
    """
    Sends a copy of each request, with the user's headers and `Authorization`.

    Parameters
    ----------
    token : Secret, optional
        Sent as `Authorization: Bearer …`.
    auth : httpx.Auth, optional
        Takes precedence over `token`.
    headers : mapping of str to Secret
        Sent with every request.
    usual : httpx.Headers
        What the client sends by itself. A header that one request sets differently takes precedence over `headers`.
    """

    def __init__(
        self, token: Secret | None, auth: httpx.Auth | None, headers: Mapping[str, Secret], usual: httpx.Headers
    ) -> None:
        self._headers = headers
        self._auth = auth or (_Bearer(token) if token else httpx.Auth())
        self._usual = usual

    def sync_auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Send the copy."""
        signed = httpx.Request(
            request.method,
            request.url,
            headers=request.headers,
            stream=request.stream,
            extensions=request.extensions,
        )
        for name, value in self._headers.items():
            if request.headers.get(name) == self._usual.get(name):
                signed.headers[name] = value.reveal()
        yield from self._auth.sync_auth_flow(signed)


class _Bearer(httpx.Auth):
    """Puts `Authorization: Bearer …` on each request."""

    def __init__(self, token: Secret) -> None:
        self._token = token

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = f"Bearer {self._token.reveal()}"
        yield request


def mask_secrets(error: BillframesError, secrets: Iterable[Secret]) -> BillframesError:
    """Remove credentials from what an error quotes of the server's response: some servers repeat them."""
    for secret in secrets:
        error.args = tuple(map(secret.masked, error.args))
        if isinstance(error, ApiError):
            error.body, error.trace_id = secret.masked(error.body), secret.masked(error.trace_id or "") or None
    return error
