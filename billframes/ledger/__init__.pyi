from billframes.ledger.demo import sandbox_reports as sandbox_reports
from billframes.ledger.quickbooks_api import ledger_from_quickbooks as ledger_from_quickbooks
from billframes.ledger.reading import read_ledger as read_ledger
