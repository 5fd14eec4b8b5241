"""Load a book's frames; a frame of details that the credential may not read has no rows.

Work and invoices are needed for every figure, so a book can't do without them. Users, matters and clients add names,
types and roles. If the server denies one of these (403), the book warns once, the figures that don't need it are still
calculated, and analyses that need it are refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import pandas as pd

from billframes._shared.names import join_names
from billframes._shared.notes import Notes, Rule, collect_notes, note
from billframes.errors import AccessDeniedError, MissingColumnError, ParameterError
from billframes.loading.load import load
from billframes.loading.query_args import build_request
from billframes.schema.resources import CUSTOM_FIELDS, RESOURCE_OF

DETAILS = {
    "users": "Roles, e-mail addresses and people without work are unknown",
    "matters": "Types, practice areas and responsible lawyers of matters are unknown, so work of all types counts",
    "clients": "Contacts of clients are unknown",
}
"""The frames that a book can do without, each with what is unknown then."""

_ASK = "Ask whoever manages the API's credentials for access if you need them."
_DENIED = Rule(
    name="denied",
    seen="The book has {what}, because the server does not let this credential read them (403). {consequence}.",
    remedy=_ASK,
    page=_ASK,
    unit="frames",
)


def load_details(client: Any, name: str) -> tuple[pd.DataFrame, bool]:
    """Load users, matters or clients; return the frame, and whether the credential may read it, of which this warns."""
    loader, select = getattr(client, name), None
    try:
        return loader(), True
    except AccessDeniedError as error:
        if error.path == CUSTOM_FIELDS.path:
            select = "-customFields"
    try:
        if select:
            found = loader(select=select)
            _note(name, f"{name} without their custom fields", "These have no columns")
            return found, True
    except AccessDeniedError:
        pass
    resource = RESOURCE_OF[name]
    request = build_request(resource, {}, select="-customFields", limit=0)
    frame: pd.DataFrame = load(client._connection, request, to="pandas")
    # Nothing was loaded, so nothing about a load is true of it.
    frame.attrs.clear()
    _note(name, f"no {name}", DETAILS[name])
    return frame, False


@contextmanager
def without_denied(denied: Collection[str], analysis: str, required: Collection[str]) -> Iterator[None]:
    """
    Call an analysis without the frames that the credential may not read; raise `AccessDeniedError` if it requires one.

    Its advice to pass one of them is not repeated: the book has said that it lacks them.
    """
    if not denied:
        yield
        return
    reason = f"the server does not let this credential read {join_names(sorted(denied))} (403)."
    if lacking := sorted({*denied} & {*required}):
        raise AccessDeniedError(f"{analysis} needs {join_names(lacking)}, and {reason}", status=403)
    with collect_notes(Notes()) as found:
        try:
            yield
        except (MissingColumnError, ParameterError) as error:
            if not _advises(error, denied):
                raise
            raise type(error)(f"{error.args[0]} The book has none, because {reason}") from None
    kept = Notes()
    kept.merge(each for each in found if not _advises(each.text(), denied))
    kept.finish()


def _advises(message: object, names: Collection[str]) -> bool:
    """Tell whether a message advises to pass one of the frames."""
    return any(f"{name}=" in str(message) for name in names)


def _note(name: str, what: str, consequence: str) -> None:
    note(_DENIED, 1, "book", about=name, what=what, consequence=consequence)
