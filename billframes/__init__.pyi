from . import errors as errors, plots as plots, tables as tables
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
    resume as resume,
    time_entries as time_entries,
    users as users,
)
from ._version import (
    __version__ as __version__,
)
from .analysis.books.payment_gaps import payment_gaps as payment_gaps
from .analysis.books.payments import payments as payments
from .analysis.results.explain import explain as explain
from .analysis.results.fact import fact as fact
from .analysis.results.figures_side_by_side import figures as figures
from .analysis.results.rows_behind import rows as rows
from .analysis.sheets.aging import aging as aging
from .analysis.sheets.billing_lag import billing_lag as billing_lag
from .analysis.sheets.bridge import bridge as bridge
from .analysis.sheets.budget_burn import budget_burn as budget_burn
from .analysis.sheets.cash_forecast import cash_forecast as cash_forecast
from .analysis.sheets.cash_forecast_record import cash_forecast_record as cash_forecast_record
from .analysis.sheets.code_check import code_check as code_check
from .analysis.sheets.collected import collected as collected
from .analysis.sheets.compare import compare as compare
from .analysis.sheets.contribution import contribution as contribution
from .analysis.sheets.days_to_pay import days_to_pay as days_to_pay
from .analysis.sheets.duplicates import duplicates as duplicates
from .analysis.sheets.effective_rates import effective_rates as effective_rates
from .analysis.sheets.exposure import exposure as exposure
from .analysis.sheets.fixed_fee_realization import fixed_fee_realization as fixed_fee_realization
from .analysis.sheets.leverage import leverage as leverage
from .analysis.sheets.lockup import lockup as lockup
from .analysis.sheets.missing_time import missing_time as missing_time
from .analysis.sheets.new_business import new_business as new_business
from .analysis.sheets.origination import origination as origination
from .analysis.sheets.overdue_invoices import overdue_invoices as overdue_invoices
from .analysis.sheets.prebill_review import prebill_review as prebill_review
from .analysis.sheets.profitability import profitability as profitability
from .analysis.sheets.realization import realization as realization
from .analysis.sheets.reconcile import reconcile as reconcile
from .analysis.sheets.scorecard import scorecard as scorecard
from .analysis.sheets.stale import stale as stale
from .analysis.sheets.tie_out import tie_out as tie_out
from .analysis.sheets.timekeeping_lag import timekeeping_lag as timekeeping_lag
from .analysis.sheets.utilization import utilization as utilization
from .analysis.sheets.wip import wip as wip
from .analysis.sheets.write_downs import write_downs as write_downs
from .client import (
    Client as Client,
)
from .config.firm import (
    FirmSettings as FirmSettings,
)
from .display import (
    export as export,
    show as show,
)
from .ebilling import (
    LedesProfile as LedesProfile,
    ledes as ledes,
    ledes_check as ledes_check,
    ledes_format as ledes_format,
    read_ledes as read_ledes,
)
from .errors import (
    AccessDeniedError as AccessDeniedError,
    ApiError as ApiError,
    AuthenticationError as AuthenticationError,
    BillframesError as BillframesError,
    BillframesWarning as BillframesWarning,
    CallError as CallError,
    ConfigError as ConfigError,
    DecodeError as DecodeError,
    DetailsMissingWarning as DetailsMissingWarning,
    IncompleteDataWarning as IncompleteDataWarning,
    LedesError as LedesError,
    LedesFormatError as LedesFormatError,
    LedgerError as LedgerError,
    MirrorError as MirrorError,
    MissingColumnError as MissingColumnError,
    NoDataError as NoDataError,
    NotFoundError as NotFoundError,
    PagingError as PagingError,
    ParameterError as ParameterError,
    RateLimitedError as RateLimitedError,
    RatesHiddenWarning as RatesHiddenWarning,
    RefusedError as RefusedError,
    ServerError as ServerError,
    TransportError as TransportError,
    UncertainWriteError as UncertainWriteError,
    UnknownNameError as UnknownNameError,
    UnknownValueWarning as UnknownValueWarning,
)
from .guidelines import (
    Guidelines as Guidelines,
    guideline_check as guideline_check,
    guideline_summary as guideline_summary,
    guideline_words as guideline_words,
)
from .ledger.demo import (
    sandbox_reports as sandbox_reports,
)
from .ledger.quickbooks import (
    ledger_from_quickbooks as ledger_from_quickbooks,
)
from .ledger.reading import (
    read_ledger as read_ledger,
)
from .loading.flatten import (
    flatten as flatten,
)
from .loading.load_info import (
    notes as notes,
)
from .loading.request_bodies import (
    merge as merge,
)
from .loading.stamp import (
    forget as forget,
)
from .mirror import (
    receipts as receipts,
)
from .widgets import (
    apply_button as apply_button,
    explore as explore,
    filter_panel as filter_panel,
)

# For type checkers the last import counts, and those from the modules `book` and `mirror` bind these names, too.
# isort: split
from ._session import book as book, mirror as mirror
