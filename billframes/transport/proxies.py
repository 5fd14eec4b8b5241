"""Find the proxy that the environment or the system has for an address.

httpx reads the same variables, but fails on networks of IPv6 in `NO_PROXY`, and ignores networks of IPv4 there.
"""

from __future__ import annotations

import importlib.util
import ipaddress
import os
import re
import ssl
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from billframes.config.credentials import is_host, is_loopback
from billframes.errors import ConfigError

_EXAMPLE = "http://proxy.example.com:8080"
_SCHEMES = ("http", "https", "socks5", "socks5h")
_BRACKETS = re.compile(r"\[([^\[\]]*)\](/\d+)?$")
_HOST_AND_PORT = re.compile(r"\[?([^\[\]]+?)\]?(?::(\d+))?")


def environment_proxy(base_url: str, certificates: bool | ssl.SSLContext) -> httpx.Proxy | None:
    """
    Return the proxy for requests to an API; None for this machine and for what `NO_PROXY` names.

    A proxy with TLS is checked against `certificates`, if they are given. Raise `ConfigError` if the proxy can't be
    used. The error does not show its address, which may have a password.
    """
    proxy, flaw = _find(base_url, certificates if isinstance(certificates, ssl.SSLContext) else None)
    if flaw:
        raise ConfigError(flaw)
    return proxy


def _find(base_url: str, certificates: ssl.SSLContext | None) -> tuple[httpx.Proxy | None, str]:
    """Return the proxy, if there is one, and why it can't be used."""
    parts, proxies = urlsplit(base_url), getproxies()
    host = parts.hostname or ""
    scheme = next((scheme for scheme in (parts.scheme, "all") if proxies.get(scheme, "").strip()), None)
    if scheme is None or is_loopback(host) or _is_exempt(host, parts.port or 443, proxies.get("no", "")):
        return None, ""
    given = proxies[scheme].strip()
    address = given if "://" in given else f"http://{given}"
    # As it is spelled in the environment.
    source = next((name for name in os.environ if name.lower() == f"{scheme}_proxy"), "The system's proxy setting")
    try:
        parts, url = urlsplit(address), httpx.URL(address)
        usable = bool(parts.scheme) and is_host(parts.hostname or "") and parts.port != 0
    except (ValueError, httpx.InvalidURL):
        usable = False
    if not usable or parts.hostname != url.host:
        return None, f"{source} is not the address of a proxy. Set it to one such as {_EXAMPLE}, or unset it."
    if parts.scheme not in _SCHEMES:
        return None, (
            f"{source} names a proxy with {parts.scheme}://, which is not supported. Set it to one with http://, "
            f"https:// or socks5://, such as {_EXAMPLE}, or unset it."
        )
    if parts.scheme.startswith("socks") and importlib.util.find_spec("socksio") is None:
        return None, f"{source} names a SOCKS proxy, which needs another package: pip install 'httpx[socks]'."
    return httpx.Proxy(url, ssl_context=certificates if parts.scheme == "https" else None), ""


def _is_exempt(host: str, port: int, no_proxy: str) -> bool:
    return any(_names(each.strip().lower(), host, port) for each in no_proxy.split(",")) or bool(proxy_bypass(host))


def _names(exempt: str, host: str, port: int) -> bool:
    """Tell whether an entry of `NO_PROXY` names a host: "*", a network, or a name with or without a port."""
    exempt = exempt.rpartition("://")[2]
    try:
        network = ipaddress.ip_network(_BRACKETS.sub(r"\1\2", exempt), strict=False)
    except ValueError:
        found = _HOST_AND_PORT.fullmatch(exempt)
        name, own_port = found.groups() if found else ("", None)
        domain = name.removeprefix("*").removeprefix(".")
        is_named = name == "*" or (bool(domain) and f".{host}".endswith(f".{domain}"))
        return is_named and own_port in {None, str(port)}
    try:
        return ipaddress.ip_address(host) in network
    except ValueError:
        return False
