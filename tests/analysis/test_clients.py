"""Columns and custom fields of clients as keys are joined to items and invoices, and rows add up to the total."""

from __future__ import annotations

import pytest

from billframes.analysis import aging, realization, wip
from billframes.analysis.spec import measure
from billframes.errors import ParameterError
from tests.analysis.calls import BY_CLIENT, edge_case_frames
from tests.analysis.conftest import Firm

pytestmark = [
    pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning"),
    pytest.mark.filterwarnings("ignore::billframes.errors.RatesHiddenWarning"),
]


@pytest.mark.parametrize(("function", "names", "options"), BY_CLIENT, ids=lambda each: getattr(each, "__name__", None))
def test_every_analysis_groups_by_a_custom_field_of_clients(pandas_firm, function, names, options):
    """
    The first Acme is in steel, the second has no industry, and Zenith is in banking.

    `test_engines.py` makes the same calls on every engine.
    """
    frames = edge_case_frames(pandas_firm)
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
                values = [row[name] for row in rows if row["client_cf_industry"] == industry]
                assert values == pytest.approx(wanted, rel=1e-9, abs=1e-9) if None not in wanted else values == wanted


def test_a_fee_without_time_and_a_credit_note_follow_their_client(firm):
    """i6 bills only a fixed fee, and i5 is a credit note: neither has an entry with the client's industry."""
    frames = edge_case_frames(firm)
    work = {name: frames[name] for name in ("time_entries", "invoices", "expenses", "fixed_fees", "matters")}
    rows = firm.rows(aging(**work, as_of="2026-11-15", clients=frames["clients"], by=["client_cf_industry", "month"]))
    assert {row["client_cf_industry"]: row["total"] for row in rows} == pytest.approx(
        {"Steel": 275.0, "Unassigned": 1000.0, "Banking": 530.0}
    )
    billed = firm.rows(realization(**work, clients=frames["clients"], by="client_cf_industry"))
    assert [row["client_cf_industry"] for row in billed] == ["Banking", "Steel", "Unassigned"]


def test_names_that_matters_and_clients_share_need_a_prefix(pandas_firm):
    frames = edge_case_frames(pandas_firm)
    work = {name: frames[name] for name in ("time_entries", "invoices", "expenses", "fixed_fees", "matters", "clients")}
    with pytest.raises(ParameterError, match="'cf_tier' is a column of matters and of clients; use matter_cf_tier or"):
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
