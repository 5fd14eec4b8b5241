"""Who is calling: bearer tokens, each of a user or of none, each with scopes.

How a credential is presented is not shown by the API's description; `Authorization: Bearer` is the documented
assumption.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from billframes.sandbox.problems import Problem

__all__ = ["TOKENS", "Caller", "authenticate"]

# The seed plants: a principal who sees rates, a user who does not, and a service that is no user and does.
TOKENS = {"full": "sandbox-full", "norates": "sandbox-norates", "service": "sandbox-service"}

_REALM = 'Bearer realm="billframes sandbox"'


@dataclass(frozen=True, slots=True)
class Caller:
    """The user a credential identifies, None for a service, and its scopes."""

    user_id: str | None
    scopes: frozenset[str]

    @property
    def sees_rates(self) -> bool:
        """Whether rate and amount of time entries are shown."""
        return "read.rates" in self.scopes


def authenticate(connection: sqlite3.Connection, authorization: str | None) -> Caller:
    """
    Return who presents this `Authorization` header.

    Raises
    ------
    Problem
        401, without repeating what was presented.
    """
    scheme, _, token = (authorization or "").strip().partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        detail = "Present a credential as 'Authorization: Bearer <token>'."
        raise Problem(401, detail, headers={"WWW-Authenticate": _REALM})
    sql = "SELECT user_id, scopes FROM credential WHERE token = ?"
    found = connection.execute(sql, [token.strip()]).fetchone()
    if found is None:
        headers = {"WWW-Authenticate": f'{_REALM}, error="invalid_token"'}
        raise Problem(401, "The credential is not one this sandbox knows.", headers=headers)
    return Caller(found[0], frozenset(found[1].replace(",", " ").split()))
