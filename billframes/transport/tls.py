"""Which servers are trusted, and which failures to reach one won't pass by themselves."""

from __future__ import annotations

import socket
import ssl

import truststore

from billframes.errors import ConfigError
from billframes.transport.redaction import chain_of

__all__ = ["is_permanent", "trusted_certificates"]


def trusted_certificates(verify: bool | str | ssl.SSLContext) -> bool | ssl.SSLContext:
    """Return what certificates are checked against: as a rule the operating system's trust store."""
    if verify is True:
        return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if isinstance(verify, str):
        try:
            return ssl.create_default_context(cafile=verify)
        except OSError as error:
            raise ConfigError(f"verify={verify!r} is no file of certificates that can be read: {error}.") from None
    return verify


def is_permanent(failure: BaseException, *, connecting: bool) -> bool:
    """Tell whether a failure won't pass: TLS, or a host that nobody knows."""
    return any(_lasts(cause, connecting=connecting) for cause in chain_of(failure))


def _lasts(cause: BaseException, *, connecting: bool) -> bool:
    if isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        # In the middle of an answer this is a connection that was lost.
        return connecting
    unknown_host = isinstance(cause, socket.gaierror) and cause.errno == socket.EAI_NONAME
    return unknown_host or isinstance(cause, ssl.SSLError) or "CERTIFICATE_VERIFY" in str(cause)
