"""Columns and custom fields of clients as keys are joined to items and invoices, and rows add up to the total."""

from __future__ import annotations

import pytest

from billframes.analysis import aging, contribution, profitability, realization, wip
from billframes.analysis.declare.lookup import measure
from billframes.errors import IncompleteDataWarning, ParameterError
from tests.analysis.calls import BY_CLIENT, edge_case_frames
from tests.analysis.conftest import Firm

pytestmark = [
    pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning"),
    pytest.mark.filterwarnings("ignore::billframes.errors.RatesHiddenWarning"),
]


@pytest.mark.sweep(keep=4)
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
    with pytest.raises(ParameterError, match="or of matters=, users=, clients="):
        wip(**{**work, "clients": None, "users": frames["users"]}, as_of="2026-10-31", by="client_cf_tier")


def test_clients_are_named_by_their_own_record(firm: Firm):
    bills = firm.frame(
        "invoice_id invoice_date invoice_state due_date client_id amount balance",
        ("i1", "2026-10-01", "final", "2026-10-31", "c3", 10.0, 10.0),
    )
    (row,) = firm.rows(aging(bills, as_of="2026-10-31", by=["client", "client_reference"], clients=firm.clients()))
    assert (row["client_id"], row["client_name"], row["client_reference"]) == ("c3", "Zenith", "Z-1")


def details_joined_to_time_entries(firm: Firm) -> dict[str, object]:
    """Return frames of which only the time entries have details of clients and matters, as after `bf.enrich`."""
    columns = {
        "client_cf_industry": ["Steel", "Banking"],
        "practice_area_id": ["p1", "p2"],
        "practice_area_label": ["Corporate", "Litigation"],
        "matter_type": ["hourly", "contingency"],
    }
    items = firm.items(
        ("m5", "u1", 300.0, "i2"),
        ("m1", "u1", 50.0, None),
        date=["2026-10-01", "2026-10-02"],
        client_id=["c3", "c1"],
    )
    invoices = firm.invoices(
        ("i1", "2026-10-05", "final", "2026-11-04", "c1", 600.0, 0.0),
        ("i2", "2026-10-06", "final", "2026-11-05", "c3", 300.0, 0.0),
        ("i3", "2026-10-07", "final", "2026-11-06", "c1", -100.0, 0.0),
    )
    return {
        "time_entries": firm.entries(
            ("2026-10-01", "u1", "c1", "m1", "billable", 2.0, 600.0, "i1"),
            ("2026-10-02", "u2", "c3", "m5", "billable", 1.0, 200.0, None),
            **columns,
        ),
        "invoices": invoices,
        "expenses": firm.items(date=[], client_id=[]),
        "fixed_fees": items,
    }


@pytest.mark.filterwarnings("error")
def test_details_joined_to_the_time_entries_only_are_taken_from_their_own_frame(firm: Firm):
    """Otherwise, fixed fees and credit notes would be in the row without a value."""
    frames = details_joined_to_time_entries(firm)
    given = {"clients": firm.clients(), "matters": firm.matters()}

    def fees(function, key, figure, **options):
        rows = firm.rows(function(**frames, **given, by=key, **options))
        return {row[key if key in row else f"{key}_label"]: row[figure] for row in rows}

    assert fees(contribution, "client_cf_industry", "fees_amount") == {"Steel": 500.0, "Banking": 300.0}
    by_area = {"Corporate": 600.0, "Litigation": 300.0, "Unassigned": -100.0}
    assert fees(contribution, "practice_area", "fees_amount") == by_area
    by_type = {"hourly": 600.0, "contingency": 300.0, "Unknown": -100.0}
    assert fees(profitability, "matter_type", "fees_amount") == by_type
    as_of = {"as_of": "2026-10-31"}
    assert fees(wip, "client_cf_industry", "total", **as_of) == {"Steel": 50.0, "Banking": 0.0}
    assert fees(wip, "client_cf_industry", "contingent_amount", **as_of) == {"Steel": 0.0, "Banking": 200.0}
    assert fees(realization, "client_cf_industry", "billed_amount") == {"Steel": 500.0, "Banking": 0.0}


def test_details_joined_to_the_time_entries_only_are_warned_of_with_the_amounts_without_them(firm: Firm):
    frames = details_joined_to_time_entries(firm)
    missing = r"client_cf_industry is not a column of"
    words = r"fixed fees of 300\.00 and fees of invoices without time \(such as credit notes\) of -100\.00"
    with pytest.warns(IncompleteDataWarning, match=rf"contribution: {missing} fixed_fees and invoices, so {words}"):
        contribution(**frames, by="client_cf_industry")
    with pytest.warns(IncompleteDataWarning, match=rf"wip: {missing} .*fixed fees of 50\.00 are .* Pass clients="):
        wip(**frames, by="client_cf_industry", as_of="2026-10-31")
    with pytest.warns(IncompleteDataWarning, match=rf"realization: {missing} invoices, .* of -100\.00 are .*Pass"):
        realization(**frames, by="client_cf_industry")
    with pytest.warns(IncompleteDataWarning, match=r"practice_area_id is not a column of fixed_fees, .* Pass matters="):
        profitability(**frames, by="practice_area")


@pytest.mark.filterwarnings("error")
def test_a_client_that_is_not_in_the_clients_frame_has_the_details_of_its_rows(firm: Firm):
    frames = details_joined_to_time_entries(firm)
    clients = firm.frame("client_id cf_industry", ("c3", "Banking"))
    rows = firm.rows(contribution(**frames, clients=clients, by="client_cf_industry"))
    assert {row["client_cf_industry"]: row["fees_amount"] for row in rows} == {
        "Steel": 600.0,
        "Banking": 300.0,
        "Unassigned": -100.0,
    }
