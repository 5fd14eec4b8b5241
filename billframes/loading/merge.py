"""Changes to a nested object that keep its other fields, on servers that merge and on servers that replace.

The API's description does not show whether an update that sends part of a contact leaves the rest as it is. Sending
the whole object is safe either way, so `merge` reads the record first and sends what is there with the changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from billframes.errors import ParameterError

__all__ = ["Merge", "merge", "merged"]


class Merge:
    """
    Changes to a nested object; made by `merge`.

    Parameters
    ----------
    changes : mapping
        New values by field.
    """

    __slots__ = ("changes",)

    def __init__(self, changes: Mapping[str, Any]) -> None:
        self.changes = dict(changes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Merge) and self.changes == other.changes

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"merge({', '.join(f'{name}={value!r}' for name, value in self.changes.items())})"


def merge(**changes: Any) -> Merge:
    """
    Change some fields of a nested object and keep the others.

    Give it to `clients.update` as `contact=` or to `matters.update` as `conflict_information=`. The update then reads
    the record first and sends the object as it is, with the changes. No field is lost, whether the server merges a
    nested object into the one it has or replaces it.

    Parameters
    ----------
    **changes : str or None
        New values by field, such as `phone="020 7946 0000"`; None takes a value away.

    Returns
    -------
    Merge
        To be passed to an update.

    Raises
    ------
    ParameterError
        No change is given.

    Notes
    -----
    Reading and writing are two requests. If somebody else changes the same object between the two, their change is
    overwritten.

    Examples
    --------
    >>> made = bf.clients.create(name="Bolt & Co", contact={"company_name": "Bolt & Co", "city": "Leeds"})
    >>> contact = bf.clients.update(made.client_id, contact=bf.merge(phone="020 7946 0000")).contact
    >>> contact.phone, contact.city
    ('020 7946 0000', 'Leeds')
    >>> bf.clients.delete(made.client_id)
    """
    if not changes:
        raise ParameterError("merge was given nothing to change; it takes fields such as phone='020 7946 0000'.")
    return Merge(changes)


def merged(body: bytes, record: bytes, names: list[str]) -> bytes:
    """
    Return the body of an update with nested objects as the record has them, and the changes.

    Parameters
    ----------
    body : bytes
        JSON with the changes alone.
    record : bytes
        The server's answer with the record as it is. Properties the description does not declare are kept too.
    names : list of str
        The properties to complete, by their names in JSON.
    """
    changes, present = msgspec.json.decode(body), msgspec.json.decode(record)["data"]
    for name in names:
        kept = {key: value for key, value in (present.get(name) or {}).items() if value is not None}
        changes[name] = kept | changes[name]
    return msgspec.json.encode(changes)
