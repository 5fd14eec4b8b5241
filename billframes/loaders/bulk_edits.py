"""The loaders' `plan`: what an edited frame would change. The work is done by `billframes.bulk`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from billframes._names import snake_case
from billframes.loaders.arguments import Argument
from billframes.loaders.loader import Loader
from billframes.loaders.methods import declared

if TYPE_CHECKING:
    from billframes.bulk.plan import Plan

__all__ = ["Plans"]

_EDITED = (
    "A frame of pandas, Polars or Arrow with a row for each {noun}: its id in `{id}`, and any other columns. Only "
    "these columns are compared. A row without an id is to be created."
)


def _arguments(resource: Any) -> Iterable[Argument]:
    text = _EDITED.format(noun=resource.noun, id=snake_case(resource.id))
    yield Argument("edited", "Any", "DataFrame", text, positional=True)
    yield Argument("delete", "Id | Collection[Id]", "str, UUID or list of these", "Ids of records to delete.", ())
    yield Argument(
        "duplicates",
        "bool",
        "bool",
        f"Whether to create a {resource.noun} that the server has already, with the same values. Otherwise such rows "
        "are marked `invalid`, because a frame with new rows that is applied twice would create them twice.",
        False,
    )


class Plans(Loader):
    """Edited frames can be planned and applied."""

    @declared(_arguments, returns="Plan")
    def plan(self, arguments: dict[str, Any]) -> Plan:
        """
        Compare an edited frame with the server, and list every cell that would change. Nothing is written.

        {parameters}

        Returns
        -------
        Plan
            `.frame` has a row for each cell that differs, with its status; `.counts` the numbers. It shows itself as a
            table. `.apply()` sends what has the status `will change`.

        Raises
        ------
        ParameterError
            The frame has no column with ids, an id twice, or is of another resource; nothing was requested.
        ApiError
            The server's present state could not be read.
        """
        from billframes.bulk.plan import make_plan

        return make_plan(
            self._client(),  # type: ignore[arg-type]
            self.resource,
            arguments["edited"],
            arguments["delete"],
            duplicates=arguments["duplicates"],
        )
