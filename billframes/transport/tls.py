"""Choose the trusted certificates, and recognise the connection failures that a retry can't mend."""

from __future__ import annotations

import socket
import ssl

import truststore

from billframes.errors import ConfigError
from billframes.transport.redaction import chain_of

__all__ = ["is_permanent", "trusted_certificates"]


def trusted_certificates(verify: bool | str | ssl.SSLContext) -> bool | ssl.SSLContext:
    """Return what certificates are checked against: by default the operating system's trust store."""
    if verify is True:
        return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if isinstance(verify, str):
        try:
            return ssl.create_default_context(cafile=verify)
        except OSError as error:
            raise ConfigError(f"verify={verify!r} is not a readable file of certificates: {error}.") from None
    return verify


def is_permanent(failure: BaseException, *, connecting: bool) -> bool:
    """Return whether a failure is permanent: TLS, or an unknown host."""
    return any(_lasts(cause, connecting=connecting) for cause in chain_of(failure))


def _lasts(cause: BaseException, *, connecting: bool) -> bool:
    if isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        # In the middle of a response this is a lost connection.
        return connecting
    unknown_host = isinstance(cause, socket.gaierror) and cause.errno == socket.EAI_NONAME
    return unknown_host or isinstance(cause, ssl.SSLError) or "CERTIFICATE_VERIFY" in str(cause)
