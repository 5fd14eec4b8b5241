"""New business, compared with figures worked out by hand, SQL on the sandbox's database, and `contribution`."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from billframes import FirmSettings
from billframes.analysis import contribution, new_business
from billframes.errors import IncompleteDataWarning, MissingColumnError, ParameterError, RatesHiddenWarning
from tests.analysis.test_properties_money import BOOKS, QUICK, frames

# c1 has been a client since 2024, c2 came in March, and c3 had its last work in August a year ago.
WORK = (
    ("2024-05-02", "u1", "c1", "m1", "billable", 1.0, 300.0, "i0"),
    ("2025-10-02", "u1", "c1", "m1", "billable", 1.0, 100.0, "i1"),
    ("2025-10-31", "u2", "c3", "m5", "billable", 1.0, 300.0, "i2"),
    ("2026-10-02", "u1", "c1", "m1", "billable", 2.0, 600.0, "i3"),
    ("2026-10-05", "u2", "c2", "m2", "billable", 1.0, 200.0, "i4"),
    ("2026-11-01", "u2", "c3", "m3", "nonBillable", 1.0, None, None),
)
BILLS = (
    ("i0", "2024-06-01", "final", None, "c1", 300.0, 0.0),
    ("i1", "2025-10-10", "final", None, "c1", 100.0, 0.0),
    ("i2", "2025-10-31", "final", None, "c3", 300.0, 0.0),
    ("i3", "2026-10-30", "final", None, "c1", 600.0, 0.0),
    ("i4", "2026-10-31", "final", None, "c2", 200.0, 0.0),
    ("i5", "2026-10-31", "draft", None, "c2", 999.0, 0.0),
)
FIRM = {
    "opened": ["2024-05-01", "2026-10-01", "2026-10-31", None, "2025-01-01"],
    "client_id": ["c1", "c2", "c3", "c3", "c3"],
    "client_name": ["Acme", "Acme", "Zenith", "Zenith", "Zenith"],
}


def given_frames(firm, work=WORK):
    none = firm.frame("client_id matter_id amount invoice_id")
    return {
        "time_entries": firm.entries(*work),
        "invoices": firm.invoices(*BILLS),
        "expenses": none,
        "fixed_fees": none,
        "matters": firm.matters(**FIRM),
    }


def run(firm, work=WORK, **options):
    return firm.rows(new_business(**given_frames(firm, work), **{"start": "2026-10", "largest": 1, **options}))


def test_the_firm_by_hand(firm):
    """Of 800, 200 are Bolt's, the new client; the largest has 600 of 800, and had 300 of 400 a year before."""
    (row,) = run(firm, by=None)
    assert row == {
        "opened_matters": 2.0,
        "undated_matters": 1.0,
        "fees_amount": 800.0,
        "new_client_amount": 200.0,
        "new_client_share": 0.25,
        "largest_amount": 600.0,
        "largest_share": 0.75,
        "fees_before_amount": 400.0,
        "largest_before_amount": 300.0,
        "largest_share_before": 0.75,
        "largest_share_change": 0.0,
        "new_clients": 1.0,
        "dormant_clients": 1.0,
        "client_since": None,
        "last_work_date": None,
    }


def test_by_client_the_first_day_and_the_last_work_are_shown(firm):
    names = ("client_id", "new_clients", "dormant_clients", "fees_amount", "largest_amount", "largest_before_amount")
    rows = run(firm, by="client")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("c1", 0.0, 0.0, 600.0, 600.0, 0.0),
        ("c2", 1.0, 0.0, 200.0, 0.0, 0.0),
        ("c3", 0.0, 1.0, 0.0, 0.0, 300.0),
    ]
    days = [[f"{row[name]:%Y-%m-%d}" for name in ("client_since", "last_work_date")] for row in rows]
    assert days == [["2024-05-01", "2026-10-02"], ["2026-10-01", "2026-10-05"], ["2025-01-01", "2025-10-31"]]


def test_originators_share_the_matters_they_brought_in(pandas_firm):
    """The Lease is Ben's; the pro bono matter and the Office, which has no date, have no originator."""
    columns = ("originator_name", "opened_matters", "undated_matters", "fees_amount", "new_client_amount")
    assert {row["largest_share_change"] for row in run(pandas_firm, by="originator")} == {None}
    assert [[row[name] for name in columns] for row in run(pandas_firm, by="originator")] == [
        ["Ada", 0.0, 0.0, 300.0, 0.0],
        ["Ben", 1.0, 0.0, 500.0, 200.0],
        ["Unassigned", 1.0, 1.0, 0.0, 0.0],
    ]
    weighted = run(pandas_firm, by="originator", settings=FirmSettings(originator_weights={
        "m2": {"u1": 0.75, "u2": 0.25}}))  # fmt: skip
    assert [row["opened_matters"] for row in weighted] == [0.75, 0.25, 1.0]


@pytest.mark.parametrize(
    ("first", "last", "new", "dormant"),
    [
        # c2's first day, 1 October 2026, is the first and last of the twelve months, and then before them.
        ("2026-10-01", "2026-10-01", 1.0, 0.0),
        ("2027-09-30", "2027-09-30", 1.0, 0.0),
        ("2027-10-01", "2027-10-01", 0.0, 0.0),
        # c3's last work up to October was on the 31st a year before; c1's and c2's were on 2 and 5 October.
        ("2026-10-30", "2026-10-30", 1.0, 0.0),
        ("2026-10-31", "2026-10-31", 1.0, 1.0),
        ("2026-11-01", "2026-11-01", 1.0, 0.0),
        ("2027-10-01", "2027-10-02", 0.0, 1.0),
        ("2027-10-05", "2027-10-05", 0.0, 2.0),
    ],
)
def test_twelve_months_end_with_the_periods_last_day(pandas_firm, first, last, new, dormant):
    (row,) = run(pandas_firm, by=None, start=first, end=last)
    assert (row["new_clients"], row["dormant_clients"]) == (new, dormant)


@pytest.mark.parametrize(
    ("start", "end", "counted"),
    [("2025-02-01", "2025-02-28", 1), ("2024-02-29", "2024-02-29", 0), ("2024-02-01", "2024-02-29", 0),
     ("2025-02-28", "2025-02-28", 1)],
)  # fmt: skip
def test_the_year_before_of_february_ends_with_february(pandas_firm, start, end, counted):
    """An invoice of 29 February 2024 is of the February before that of 2025, though it has one day more."""
    work = [("2024-02-29", "u1", "c1", "m1", "billable", 1.0, 100.0, "i1")]
    given = given_frames(pandas_firm, work) | {
        "invoices": pandas_firm.invoices(("i1", "2024-02-29", "final", None, "c1", 100.0, 0.0))
    }
    matters = pandas_firm.matters(**FIRM | {"opened": ["2020-01-01"] * 5})
    row = new_business(**given | {"matters": matters}, by=None, start=start, end=end).iloc[0]
    assert row["fees_before_amount"] == 100.0 * counted


@pytest.mark.slow
@QUICK
@given(book=BOOKS, by=st.sampled_from(["practice_area", "originator", "client", "matter", "cf_tier", "responsible"]))
@pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning")
def test_rows_re_add_and_fees_are_those_of_originators(pandas_firm, book, by):
    entries, bills, costs, fees = frames(pandas_firm, book)
    given = {"time_entries": entries, "invoices": bills, "expenses": costs, "fixed_fees": fees}
    given["matters"] = pandas_firm.matters(**FIRM)
    options = {"start": "2026-09-01", "end": "2026-10-31", "largest": 1}
    rows, whole = (new_business(**given, by=keys, **options) for keys in (by, None))
    days = {"start": "2026-09-01", "end": "2026-10-31"}
    sums = [name for name in rows.columns if name.endswith(("_amount", "_matters"))]
    sums += ["new_clients", "dormant_clients"] if by == "client" else []
    for name in sums:
        assert rows[name].sum() == pytest.approx(whole[name].iloc[0], abs=1e-6), name
    fees_amount = contribution(**given, by="originator", **days)["fees_amount"].sum()
    assert whole["fees_amount"].iloc[0] == pytest.approx(fees_amount, abs=1e-6)
    by_client = contribution(**given, by="client", **days).dropna(subset=["client_id"])["fees_amount"]
    largest = max(by_client.max() if len(by_client) else 0.0, 0.0)
    assert whole["largest_amount"].iloc[0] == pytest.approx(largest, abs=1e-6)


@pytest.fixture(scope="module")
def book(october_book):
    return october_book


def test_a_books_new_business_is_the_databases(book, sql):
    """Fees of final invoices less their expenses; first and last days; matters opened: all calculated by SQL."""
    span = {"start": "2026-01-01", "end": "2026-10-31"}
    matters = sql(
        "select practice_area_id, sum(opened between '2026-01-01' and '2026-10-31'), sum(opened is null) "
        "from matter group by 1"
    )
    opened, undated = (sum(row[column] or 0 for row in matters) for column in (1, 2))
    assert opened
    fees = """
        select i.client_id, sum(i.amount - coalesce((select sum(amount) from expense e
            where e.invoice_id = i.invoice_id), 0)) / 1e4
        from invoice i where invoice_state = 'final' and invoice_date between ? and ? group by 1 order by 2 desc
        """
    now, before = sql(fees, "2026-01-01", "2026-10-31"), sql(fees, "2025-01-01", "2025-10-31")
    days = sql(
        """
        select client_id, min(first), max(last) from (
          select client_id, min(opened) as first, null as last from matter group by 1
          union all
          select client_id, min(date), max(case when date <= '2026-10-31' then date end)
          from time_entry join matter using (matter_id) group by 1
          union all
          select client_id, min(invoice_date), null from invoice group by 1
        ) group by 1
        """
    )
    new = {client for client, first, _ in days if first and "2025-11-01" <= first <= "2026-10-31"}
    by_area = book.new_business(**span).set_index("practice_area_id")["opened_matters"]
    assert {area: by_area[area] for area, _, _ in matters if area} == {
        area: float(count or 0) for area, count, _ in matters if area
    }
    row = book.new_business(by=None, **span).iloc[0]
    total, past = (sum(amount for _, amount in rows) for rows in (now, before))
    share, share_before = (sum(amount for _, amount in rows[:10]) for rows in (now, before))
    assert new
    assert row.drop(["client_since", "last_work_date"]).to_dict() == pytest.approx(
        {
            "opened_matters": opened,
            "undated_matters": undated,
            "fees_amount": total,
            "new_client_amount": sum(amount for client, amount in now if client in new),
            "new_client_share": sum(amount for client, amount in now if client in new) / total,
            "largest_amount": share,
            "largest_share": share / total,
            "fees_before_amount": past,
            "largest_before_amount": share_before,
            "largest_share_before": share_before / past,
            "largest_share_change": share / total - share_before / past,
            "new_clients": len(new),
            "dormant_clients": sum(last is not None and last < "2025-11-01" for _, _, last in days),
        }
    )


@pytest.mark.slow
def test_loads_that_do_not_reach_back_are_refused(book, client):
    """At least two years of work are needed to see whether a client is new."""
    items = {name: getattr(book, name) for name in ("expenses", "fixed_fees", "matters")}
    short = client.time_entries("2025-01-01", "2026-10-31")
    with pytest.raises(ParameterError, match="new_business needs all time entries from 2024-11-01 to 2026-10-31"):
        new_business(short, invoices=book.invoices, **items, start="2026-10")
    with pytest.raises(ParameterError, match="new_business needs all invoices from 2025-10-01 to 2026-10-31"):
        new_business(book.time_entries, invoices=client.invoices("2026-10"), **items, start="2026-10")
    archived = client.matters(archived=False)
    with pytest.raises(ParameterError, match="needs all matters, but matters was loaded with archived="):
        new_business(book.time_entries, invoices=book.invoices, **items | {"matters": archived}, start="2026-10")


def test_frames_without_a_past_make_every_client_new_and_say_so(pandas_firm):
    given = given_frames(pandas_firm)
    entries, invoices, matters = given["time_entries"], given["invoices"], given["matters"]
    given |= {
        "time_entries": entries[entries["date"] >= "2026-01-01"],
        "invoices": invoices[invoices["invoice_date"] >= "2026-01-01"],
        "matters": matters[matters["opened"] >= "2026-01-01"],
    }
    with pytest.warns(IncompleteDataWarning, match="is of 2026-10-01, .* so every client counts as new"):
        new_business(**given, start="2026-10")


def test_hidden_rates_leave_the_fees_known(pandas_firm):
    with pytest.warns(RatesHiddenWarning):
        (row,) = run(pandas_firm, [(*each[:6], None, each[7]) for each in WORK], by=None)
    assert (row["fees_amount"], row["new_client_amount"], row["largest_share"]) == (800.0, 200.0, 0.75)


@pytest.mark.parametrize("by", ["user", "role", "month", ["client", "year"]])
def test_people_and_periods_are_no_keys(pandas_firm, by):
    frames = given_frames(pandas_firm) | {"users": pandas_firm.users()}
    with pytest.raises(ParameterError, match="has a key of people or a period"):
        new_business(**frames, start="2026-10", by=by)


def test_wrong_arguments_are_refused(pandas_firm):
    given = given_frames(pandas_firm)
    for largest in (0, 1.5, True):
        with pytest.raises(ParameterError, match="must be a whole number of clients above 0"):
            new_business(**given, start="2026-10", largest=largest)
    with pytest.raises(ParameterError, match="new_business needs a first and a last day"):
        new_business(**given, start="2026-10-01")
    with pytest.raises(MissingColumnError, match="matters has no column 'opened'"):
        new_business(**given | {"matters": given["matters"].drop(columns="opened")}, start="2026-10")
    instants = given["matters"].assign(opened=pd.to_datetime(given["matters"]["opened"]).dt.tz_localize("UTC"))
    with pytest.raises(ParameterError, match="opened is an instant"):
        new_business(**given | {"matters": instants}, start="2026-10")


@pytest.fixture
def without_load(book):
    """The firm's frames without information about their load, as from files."""
    names = ("time_entries", "invoices", "expenses", "fixed_fees", "matters")
    loaded = {name: getattr(book, name) for name in names}
    return {name: pd.DataFrame({column: frame[column] for column in frame}) for name, frame in loaded.items()}
