from . import plots as plots, tables as tables
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
from ._version import (
    __version__ as __version__,
)
from .analysis import (
    aging as aging,
    billing_lag as billing_lag,
    budget_burn as budget_burn,
    code_check as code_check,
    contribution as contribution,
    duplicates as duplicates,
    effective_rates as effective_rates,
    fixed_fee_realization as fixed_fee_realization,
    leverage as leverage,
    lockup as lockup,
    missing_time as missing_time,
    normalize_balances as normalize_balances,
    origination as origination,
    profitability as profitability,
    realization as realization,
    reconcile as reconcile,
    timekeeping_lag as timekeeping_lag,
    utilization as utilization,
    wip as wip,
)
from .analysis.explain import (
    explain as explain,
)
from .book import (
    Book as Book,
    book as book,
)
from .client import (
    Client as Client,
)
from .config.firm import (
    FirmSettings as FirmSettings,
)
from .errors import (
    AccessDeniedError as AccessDeniedError,
    ApiError as ApiError,
    AuthenticationError as AuthenticationError,
    BillframesError as BillframesError,
    BillframesWarning as BillframesWarning,
    ConfigError as ConfigError,
    DecodeError as DecodeError,
    DetailsMissingWarning as DetailsMissingWarning,
    IncompleteDataWarning as IncompleteDataWarning,
    MirrorError as MirrorError,
    MissingColumnError as MissingColumnError,
    NotFoundError as NotFoundError,
    PagingError as PagingError,
    ParameterError as ParameterError,
    RateLimitedError as RateLimitedError,
    RatesHiddenWarning as RatesHiddenWarning,
    RefusedError as RefusedError,
    ServerError as ServerError,
    TransportError as TransportError,
    UncertainWriteError as UncertainWriteError,
    UnknownValueWarning as UnknownValueWarning,
)
from .loading.merge import (
    merge as merge,
)
from .widgets import (
    explore as explore,
    filter_panel as filter_panel,
)
