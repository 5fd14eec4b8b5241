"""The options of a mirror's bucket, with its credentials hidden.

Every option is a `Secret`, unless its name is one of those that never hold a credential. So no variable of billframes
holds a credential as text, and none is in a repr. A pickle leaves the credentials out: the other process reads its own
from the environment.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from pyarrow import fs

from billframes._shared.forks import check_library
from billframes.config.secret import Secret
from billframes.errors import MirrorError, ParameterError

# Without the prefix "aws_", which is optional.
_HARMLESS = {
    *("allow_http", "allow_invalid_certificates", "bucket", "bucket_name", "conditional_put", "connect_timeout"),
    *("copy_if_not_exists", "default_region", "endpoint", "endpoint_url", "region", "s3_allow_unsafe_rename"),
    *("skip_signature", "timeout", "user_agent", "virtual_hosted_style_request"),
}
# The environment's credentials, which messages of the object store may repeat, too.
_CREDENTIALS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")


class BucketOptions:
    """Options of the object store, as deltalake takes them."""

    def __init__(self, given: Mapping[str, str | Secret] | None = None, *, left_out: tuple[str, ...] = ()) -> None:
        self._left_out = left_out
        # A value that is not a text is hidden, too, until the error below.
        pairs = given.items() if isinstance(given, Mapping) else [(None, given)] if given is not None else []
        self._values = {name: _hidden(name, value) for name, value in pairs}
        wrong = [name for name, value in pairs if not isinstance(name, str) or not isinstance(value, str | Secret)]
        # No variable holds a credential as text any more.
        given, pairs = None, []
        if wrong:
            raise ParameterError("storage_options= takes a mapping of names to texts, such as AWS_ENDPOINT_URL.")

    def reveal(self) -> dict[str, str]:
        """
        Return the options as text, for an engine; raise `MirrorError` if a pickle left out credentials that nothing
        replaces.
        """
        if self._left_out and not all(os.environ.get(name.upper()) for name in self._left_out):
            raise MirrorError(
                f"The mirror was pickled, and a pickle has no credentials ({', '.join(self._left_out)}). Open it with "
                "bf.mirror(…, storage_options=…) where it is used, or set them as environment variables there."
            )
        return {name: value.reveal() if isinstance(value, Secret) else value for name, value in self._values.items()}

    def mask_in(self, text: str) -> str:
        """Replace the credentials in a message of the object store by `***`."""
        hidden = [value for value in self._values.values() if isinstance(value, Secret)]
        hidden += [Secret(os.environ[name]) for name in _CREDENTIALS if os.environ.get(name)]
        for each in hidden:
            text = each.mask_in(text)
        return text

    def filesystem(self) -> fs.FileSystem:
        """Return the bucket's file system for pyarrow, with the same options."""
        check_library("pyarrow's S3FileSystem", MirrorError)
        endpoint = urlsplit(self._option("endpoint_url") or "")
        return fs.S3FileSystem(
            access_key=self._option("access_key_id"),
            secret_key=self._option("secret_access_key"),
            session_token=self._option("session_token"),
            region=self._option("region"),
            endpoint_override=endpoint.netloc or None,
            scheme=endpoint.scheme or "https",
        )

    def _option(self, name: str) -> str | None:
        options = {key.lower(): value for key, value in self._values.items()}
        found = options.get(f"aws_{name}") or os.environ.get(f"AWS_{name.upper()}")
        return found.reveal() if isinstance(found, Secret) else found

    def __repr__(self) -> str:
        return repr(self._values)

    def __reduce__(self) -> tuple[Any, ...]:
        shown = {name: value for name, value in self._values.items() if not isinstance(value, Secret)}
        return _unpickled, (shown, (*self._left_out, *sorted(self._values.keys() - shown.keys())))


def _hidden(name: object, value: object) -> str | Secret:
    if isinstance(value, Secret):
        return value
    text = str(value)
    harmless = "@" not in text and str(name).lower().removeprefix("aws_") in _HARMLESS
    return text if harmless else Secret(text)


def _unpickled(shown: Mapping[str, str], left_out: tuple[str, ...]) -> BucketOptions:
    return BucketOptions(shown, left_out=left_out)
