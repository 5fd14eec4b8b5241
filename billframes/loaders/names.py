"""Find the ids of clients, matters, people and practice areas whose names are given to a loader."""

from __future__ import annotations

from typing import Any

from billframes._shared.find_named import find_named
from billframes._shared.names import as_given
from billframes.errors import ParameterError
from billframes.loading.connection import ApiConnection
from billframes.loading.load import load
from billframes.loading.query_args import build_request
from billframes.schema.resources import RESOURCE_OF, Filter

_NAMES, _REFERENCES = ("name", "label"), ("reference", "email")


def ids_of(connection: ApiConnection, declared: Filter, given: Any) -> str | list[str]:
    """
    Return the id of a name, or the ids of a list of names, that a filter takes.

    The whole list is loaded: a server's search could miss a record whose name fits, too.
    """
    texts = [*given] if declared.many and isinstance(given, list | tuple | set) else [given]
    for each in texts:
        if not isinstance(each, str) or not each.strip():
            raise ParameterError(f"{as_given(declared.name_argument, each)} is not a name.")
    resource = RESOURCE_OF[declared.named_in]
    select = () if resource.select else None
    table = load(connection, build_request(resource, {}, select=select), to="arrow", progress=False)
    columns = [next((each for each in few if each in table.column_names), "") for few in (_NAMES, _REFERENCES)]
    ids, *texts_of = (table[each].to_pylist() if each else [""] * len(table) for each in (resource.id_column, *columns))
    known = [(id_, *(text or "" for text in more)) for id_, *more in zip(ids, *texts_of, strict=True)]
    found = [find_named(each, known, resource.noun, f" bf.{resource.name}() lists them.")[0] for each in texts]
    return found if declared.many else found[0]
