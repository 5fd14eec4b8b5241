"""The analyses' results as formatted tables: `bf.tables.realization(book.realization(by="client"))`.

Tables are made with great-tables (`pip install great-tables`). They have a title, the units, a total and the formula of
the analysis. Each analysis declares its table; `TableOf` describes the arguments.
"""

from __future__ import annotations

import dataclasses
from typing import NoReturn

from billframes.analysis.declare.lookup import analyses
from billframes.analysis.declare.spec import TableSpec
from billframes.errors import unknown_name
from billframes.tables.table import FiguresTable, TableOf

_FIELDS = [each.name for each in dataclasses.fields(TableSpec)]
_TABLES = (
    {"TableOf": TableOf}
    | {
        name: TableOf(analysis=name, **{field: getattr(each.table, field) for field in _FIELDS})
        for name, each in analyses().items()
        if each.table
    }
    | {"figures": FiguresTable(analysis="figures", title="Figures")}
)

__all__ = list(_TABLES)

globals().update(_TABLES)


def __getattr__(name: str) -> NoReturn:
    raise unknown_name("billframes.tables", name, __all__)


def __dir__() -> list[str]:
    return __all__
