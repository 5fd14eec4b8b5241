"""A wrong argument raises ParameterError before any request; the message names it and says what is accepted."""

from __future__ import annotations

import datetime as dt
import uuid

import numpy as np
import pandas as pd
import pytest

import billframes as bf
from tests.conftest import entry, paged


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"start": 20269}, ["start=20269", "A year has four digits"]),
        ({"start": "FY2026"}, ["start='FY2026'", "fiscal_year_start="]),
        ({"start": "2026-10-02", "end": "2026-10-01"}, ["start=2026-10-02", "end=2026-10-01"]),
        ({"start": "2026-10", "end": "2026-10-31"}, ["start='2026-10'", "end"]),
        ({"end": "2026-10"}, ["end='2026-10'"]),
        ({"billing_type": "billible"}, ["billing_type='billible'", "'nonBillable'", "Did you mean 'billable'"]),
        ({"fixed_fee_id": ["a"]}, ["fixed_fee_id"]),
        ({"modified_since": "yesterday"}, ["modified_since"]),
        ({"to": "panda"}, ["to='panda'", "Did you mean 'pandas'"]),
    ],
)
def test_a_wrong_argument_is_named_before_any_request(fake, connect, arguments, message):
    with pytest.raises(bf.errors.ParameterError) as raised:
        connect().time_entries(**arguments)
    assert all(words in str(raised.value) for words in message), str(raised.value)
    assert fake.requests == []


@pytest.mark.parametrize(
    ("start", "end", "sent"),
    [
        ("2026", None, ("2026-01-01", "2026-12-31")),
        ("2026-Q3", None, ("2026-07-01", "2026-09-30")),
        ("2026-q1", None, ("2026-01-01", "2026-03-31")),
        ("2024-02", None, ("2024-02-01", "2024-02-29")),
        ("9999-12", None, ("9999-12-01", "9999-12-31")),
        ("2026-10-05", None, ("2026-10-05", None)),
        (None, "2026-10-05", (None, "2026-10-05")),
        (dt.date(2026, 10, 1), dt.datetime(2026, 10, 2, 23, 59), ("2026-10-01", "2026-10-02")),
        (pd.Timestamp("2026-10-01"), np.datetime64("2026-10-02"), ("2026-10-01", "2026-10-02")),
        ("2026-10-01T10:00:00Z", "2026-10-01", ("2026-10-01", "2026-10-01")),
    ],
)
def test_periods_and_dates_become_inclusive_ends(fake, connect, start, end, sent):
    fake.answers["/v2/time-entries"] = paged([])
    connect().time_entries(start, end)
    assert (fake.query().get("startDate"), fake.query().get("endDate")) == sent


def test_ids_may_be_uuids(fake, connect):
    fake.answers["/v2/time-entries"] = paged([])
    number = uuid.uuid4()
    connect().time_entries(matter_id=number, billed=np.True_)
    assert fake.query()["matterId"] == str(number)
    assert fake.query()["billed"] == "true"


def test_enums_and_names_are_accepted_in_any_case_and_in_snake_case(fake, connect):
    fake.answers["/v2/time-entries"] = paged([])
    connect().time_entries(billing_type="FIXEDFEE", select="fixed_fee", sort="-Date")
    assert fake.query()["billingType"] == "fixedFee"
    assert fake.query()["select"] == "fixedFee"
    assert fake.query()["sort"] == "-date"


@pytest.mark.parametrize("name", ["invoice_number", "invoiceNumber", "INVOICENUMBER", "invoicenumber"])
def test_a_sort_of_invoices_is_accepted_in_any_case_and_in_snake_case(fake, connect, name):
    fake.answers["/v2/invoices"] = paged([])
    connect().invoices(sort=f"-{name},ClientName", select="-META")
    assert fake.query()["sort"] == "-invoicenumber,client.name"
    assert fake.query()["select"] == "client,matter,-meta"


@pytest.mark.parametrize("name", ["FIXEDFEE", "fixedfee", "FixedFee", "fixed_fee"])
def test_a_select_name_is_accepted_in_any_case(fake, connect, name):
    fake.answers["/v2/time-entries"] = paged([])
    connect().time_entries(select=name)
    assert fake.query()["select"] == "fixedFee"


def test_names_that_are_not_in_the_description_are_sent_unchanged(fake, connect):
    fake.answers["/v2/time-entries"] = paged([])
    connect().time_entries(select=["fixed_fee", "Xyz", "meta", "-qQ"], sort="-rank,date")
    assert fake.query()["select"] == "meta,fixedFee,Xyz,-qQ"
    assert fake.query()["sort"] == "-rank,date"


def test_rows_keep_the_servers_order_for_a_sort_that_only_it_knows(fake, connect):
    rows = [entry(number, date=f"2026-10-{day:02}") for number, day in enumerate([3, 1, 2])]
    fake.answers["/v2/time-entries"] = lambda request: paged(rows)(request)
    frame = connect(page_size=4).time_entries(select="", sort="rank")
    assert frame["time_entry_id"].tolist() == ["t0000", "t0001", "t0002"]
    assert {request.url.params["sort"] for request in fake.requests} == {"rank"}
