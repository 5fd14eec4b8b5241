"""Bearer tokens: the user each belongs to, if any, and its scopes.

The API's description does not show how a credential is sent; `Authorization: Bearer` is the documented assumption.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from billframes.sandbox.problems import HttpProblem

TOKENS = {"full": "sandbox-full", "norates": "sandbox-norates", "service": "sandbox-service"}

_SEES_RATES = "read.rates"
_REALM = 'Bearer realm="billframes sandbox"'


@dataclass(frozen=True, slots=True)
class Caller:
    """The user that a credential identifies (None for a service), and the credential's scopes."""

    user_id: str | None
    scopes: frozenset[str]

    @property
    def sees_rates(self) -> bool:
        """Whether responses show the rate and amount of time entries."""
        return _SEES_RATES in self.scopes


def credential_rows(principal: str, associate: str) -> list[tuple[str, str | None, str]]:
    """Return the rows of the table `credential`; the associate may not see rates, the service has no user."""
    return [
        (TOKENS["full"], principal, _SEES_RATES),
        (TOKENS["norates"], associate, ""),
        (TOKENS["service"], None, _SEES_RATES),
    ]


def authenticate(connection: sqlite3.Connection, authorization: str | None) -> Caller:
    """Return the caller that this `Authorization` header identifies, or raise 401 without repeating the credential."""
    scheme, _, token = (authorization or "").strip().partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        detail = "Send a credential as 'Authorization: Bearer <token>'."
        raise HttpProblem(401, detail, headers={"WWW-Authenticate": _REALM})
    sql = "SELECT user_id, scopes FROM credential WHERE token = ?"
    found = connection.execute(sql, [token.strip()]).fetchone()
    if found is None:
        headers = {"WWW-Authenticate": f'{_REALM}, error="invalid_token"'}
        raise HttpProblem(401, "The credential is unknown.", headers=headers)
    return Caller(found[0], frozenset(found[1].replace(",", " ").split()))
