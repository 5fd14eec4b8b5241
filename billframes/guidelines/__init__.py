"""Client guidelines as data: the items that a client may refuse or cut, before they are billed.

A client's billing guidelines are one TOML file (`file`), whose tables are rules. Each kind of rule is declared
once (`declare`), above the function that judges items alone (`item_rules`), together (`sum_rules`), or whole matters
and invoices (`matter_rules`). `words` and `narratives` read texts, `work` the records, and `check` runs the rules.
"""

from __future__ import annotations

from billframes._shared.namespace import namespace

__getattr__, __dir__, __all__ = namespace(__name__, __file__)
