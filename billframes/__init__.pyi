from . import (
    analysis as analysis,
    bulk as bulk,
    ebilling as ebilling,
    errors as errors,
    forecast as forecast,
    guidelines as guidelines,
    ledger as ledger,
    plots as plots,
    sandbox as sandbox,
    tables as tables,
    widgets as widgets,
)
from ._session import (
    CLEAR as CLEAR,
    client_balances as client_balances,
    clients as clients,
    code_sets as code_sets,
    codes as codes,
    connect as connect,
    custom_fields as custom_fields,
    enrich as enrich,
    expenses as expenses,
    fixed_fees as fixed_fees,
    health as health,
    invoices as invoices,
    matters as matters,
    practice_areas as practice_areas,
    time_entries as time_entries,
    users as users,
)
from ._version import __version__ as __version__
from .analysis.results.explain import explain as explain
from .analysis.results.figures_side_by_side import figures as figures
from .analysis.results.rows_behind import rows as rows
from .client import Client as Client
from .config.firm import FirmSettings as FirmSettings
from .display import export as export, show as show
from .guidelines import Guidelines as Guidelines
from .ledger.reading import read_ledger as read_ledger
from .loading.flatten import flatten as flatten
from .loading.load_info import notes as notes
from .loading.stamp import forget as forget
from .widgets import explore as explore

# For type checkers the last import counts, and those from the modules `book` and `mirror` bind these names, too.
# isort: split
from ._session import book as book
from .mirror.mirror import mirror as mirror
