"""The analyses' results as tables for people: `bf.tables.realization(book.realization(by="client"))`.

One for each main analysis, made with great-tables (`pip install great-tables`), with the title, the units, the total
and the definition of what is shown. Each is declared beside its analysis; `TableOf` says how they are called.
"""

from __future__ import annotations

import dataclasses
from typing import NoReturn

from billframes.analysis.spec import TableSpec, analyses
from billframes.errors import unknown_name
from billframes.tables.declaration import TableOf

_FIELDS = [each.name for each in dataclasses.fields(TableSpec)]
_TABLES = {"TableOf": TableOf} | {
    name: TableOf(analysis=name, **{field: getattr(each.table, field) for field in _FIELDS})
    for name, each in analyses().items()
    if each.table
}

__all__ = list(_TABLES)

globals().update(_TABLES)


def __getattr__(name: str) -> NoReturn:
    raise unknown_name("billframes.tables", name, __all__)


def __dir__() -> list[str]:
    return __all__
