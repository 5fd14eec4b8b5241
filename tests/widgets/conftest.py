"""Frames to filter: a small one with every kind of column, and the sandbox's own, joined with its details."""

from __future__ import annotations

import pandas as pd
import pytest

import billframes as bf

HOSTILE_NAME = "<script>alert('x')</script> & Söhne $5 $6"


@pytest.fixture
def work() -> pd.DataFrame:
    """Six entries: two clients of one name, one named like a script, missing values, and all types of custom fields."""
    frame = pd.DataFrame(
        {
            "date": pd.to_datetime(
                ["2026-08-31", "2026-09-01", "2026-09-30", "2026-10-01", None, "2026-10-31"]
            ).as_unit("us"),
            "client_id": pd.array(["c1", "c2", "c3", "c1", "c2", None], dtype="str"),
            "client_name": pd.array(["Acme", "Acme", HOSTILE_NAME, "Acme", "Acme", None], dtype="str"),
            "client_reference": pd.array(["A-1", "A-2", "B-1", "A-1", "A-2", None], dtype="str"),
            "description": ["a", "b", "c", "d", "e", "f"],
            "hours": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
            "billing_type": pd.Categorical(
                ["billable", "fixedFee", "billable", "nonBillable", "billable", "billable"],
                ["billable", "nonBillable", "fixedFee"],
            ),
            "billed": [True, False, True, False, False, True],
            "matter_cf_budget": [100.0, 200.0, None, 300.0, 250.5, None],
            "matter_cf_insured": pd.array([True, None, False, True, None, False], dtype="boolean"),
            "client_cf_since": pd.to_datetime(["2001-02-03", None, "2010-01-01", None, None, None]).as_unit("us"),
            "cf_office": pd.array(["Bern", 'Basel "old"', None, "Bern", "Chur\\", "Bern"], dtype="str"),
        }
    )
    frame.attrs["custom_fields"] = {"matter_cf_budget": {"id": "f1", "name": "Budget", "type": "number"}}
    return frame


@pytest.fixture(scope="session")
def entries(client) -> pd.DataFrame:
    """The sandbox's time entries with the columns of their matters, clients and people."""
    return bf.enrich(client.time_entries(), client=client)
