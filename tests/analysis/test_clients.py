"""Client columns and custom fields as keys: joined to items and invoices alike, so that rows re-add."""

from __future__ import annotations

import pytest

from billframes.analysis import aging, realization, wip
from billframes.analysis.spec import measure
from billframes.errors import ParameterError
from tests.analysis.calls import BY_CLIENT, rich
from tests.analysis.conftest import Firm

pytestmark = [
    pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning"),
    pytest.mark.filterwarnings("ignore::billframes.errors.RatesHiddenWarning"),
]


@pytest.mark.parametrize(("function", "names", "options"), BY_CLIENT, ids=lambda each: getattr(each, "__name__", None))
def test_a_clients_custom_field_groups_every_analysis_and_re_adds(pandas_firm, function, names, options):
    """
    Acme the elder is in steel, the younger in nothing known, and Zenith in banking.

    `test_engines.py` asks every engine for the same.
    """
    frames = rich(pandas_firm)
    given = {name: frames[name] for name in names}
    rows = pandas_firm.rows(function(**given, clients=frames["clients"], by="client_cf_industry", **options))
    assert {row["client_cf_industry"] for row in rows} <= {"Steel", "Banking", "Unassigned"}
    assert rows
    by_client = pandas_firm.rows(function(**given, by="client", **options))
    for name in by_client[0]:
        found = measure(name)
        if found and found.adds_up and found.unit in {"money", "hours"}:
            for industry, clients in (("Steel", {"c1"}), ("Banking", {"c3"})):
                wanted = [row[name] for row in by_client if row["client_id"] in clients]
                told = [row[name] for row in rows if row["client_cf_industry"] == industry]
                assert told == pytest.approx(wanted, rel=1e-9, abs=1e-9) if None not in wanted else told == wanted


def test_a_fee_without_time_and_a_credit_note_follow_their_client(firm):
    """i6 bills a fixed fee alone, i5 is a credit: neither has an entry that could carry the industry."""
    frames = rich(firm)
    work = {name: frames[name] for name in ("time_entries", "invoices", "expenses", "fixed_fees", "matters")}
    rows = firm.rows(aging(**work, as_of="2026-11-15", clients=frames["clients"], by=["client_cf_industry", "month"]))
    assert {row["client_cf_industry"]: row["total"] for row in rows} == pytest.approx(
        {"Steel": 275.0, "Unassigned": 1000.0, "Banking": 530.0}
    )
    billed = firm.rows(realization(**work, clients=frames["clients"], by="client_cf_industry"))
    assert [row["client_cf_industry"] for row in billed] == ["Banking", "Steel", "Unassigned"]


def test_names_that_matters_and_clients_share_need_a_prefix(pandas_firm):
    frames = rich(pandas_firm)
    work = {name: frames[name] for name in ("time_entries", "invoices", "expenses", "fixed_fees", "matters", "clients")}
    with pytest.raises(ParameterError, match="'cf_tier' is a column of matters and of clients; say matter_cf_tier or"):
        wip(**work, as_of="2026-10-31", by="cf_tier")
    rows = wip(**work, as_of="2026-10-31", by=["client_cf_tier", "matter_cf_tier"])
    assert list(rows.columns[:2]) == ["client_cf_tier", "matter_cf_tier"]
    with pytest.raises(ParameterError, match="of clients= if these are passed"):
        wip(**{**work, "clients": None, "users": frames["users"]}, as_of="2026-10-31", by="client_cf_tier")


def test_clients_are_named_by_their_own_record(firm: Firm):
    bills = firm.frame(
        "invoice_id invoice_date invoice_state due_date client_id amount balance",
        ("i1", "2026-10-01", "final", "2026-10-31", "c3", 10.0, 10.0),
    )
    (row,) = firm.rows(aging(bills, as_of="2026-10-31", by=["client", "client_reference"], clients=firm.clients()))
    assert (row["client_id"], row["client_name"], row["client_reference"]) == ("c3", "Zenith", "Z-1")
