"""A request to the API, and the check that it goes to no other address."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

import httpx

from billframes.errors import ParameterError

__all__ = ["ApiRequest", "Query", "absolute_path", "build_request"]

Query = Sequence[tuple[str, str]]

# A step to another folder, also if it is written with backslashes or followed by a parameter.
_DOTS = re.compile(r"(?:^|[/\\])\.{1,2}(?:[/\\;?#]|$)")
LONGEST_SHOWN = 100


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """
    A request to the API.

    `resource` is its name in messages. `may_be_empty` says that a response without a body is valid.
    """

    resource: str
    method: str
    path: str
    query: Query = field(default=(), repr=False)
    body: bytes | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    may_be_empty: bool = False

    @property
    def is_read(self) -> bool:
        """Whether it changes nothing."""
        return self.method == "GET"


def absolute_path(path: str) -> str:
    """
    Return a path that begins with exactly one slash: without one it would become part of the host's name.

    Examples
    --------
    >>> absolute_path("v2/health"), absolute_path("//elsewhere.test")
    ('/v2/health', '/elsewhere.test')
    """
    return "/" + path.lstrip("/")


def build_request(client: httpx.Client, base_url: str, request: ApiRequest) -> httpx.Request:
    """
    Build the httpx request. The credential goes with it, so its address must be below the API's.

    Raises
    ------
    ParameterError
        The path leads elsewhere, or can't be part of an address.
    """
    try:
        built = client.build_request(
            request.method,
            base_url + request.path,
            params=list(request.query) or None,
            content=request.body,
            headers=dict(request.headers),
        )
        within = _is_within(built.url, httpx.URL(base_url)) and not _DOTS.search(unquote(request.path))
    except httpx.InvalidURL:
        within = False
    if within:
        return built
    raise ParameterError(
        f"{request.resource}: the path {request.path[:LONGEST_SHOWN]!r} is not below the API's address, so nothing "
        "was sent. Check the path, and the id in it."
    )


def _is_within(url: httpx.URL, base: httpx.URL) -> bool:
    same_server = (url.scheme, url.host, url.port, url.userinfo) == (base.scheme, base.host, base.port, base.userinfo)
    return same_server and url.path.startswith(base.path.rstrip("/") + "/")
