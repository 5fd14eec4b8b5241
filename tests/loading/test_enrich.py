"""The details of matters, clients and users are joined; the rows and their order don't change."""

from __future__ import annotations

import pandas as pd
import pytest

import billframes as bf


def test_rows_order_index_and_columns_stay(client):
    frame = client.time_entries("2026-10").iloc[::-3]
    joined = bf.enrich(frame, client=client)
    pd.testing.assert_frame_equal(joined[frame.columns.tolist()], frame)
    assert {"matter_type", "practice_area_label", "responsible_name", "user_role", "client_contact_email"} <= {*joined}
    assert any(name.startswith("matter_cf_") for name in joined)
    assert any(name.startswith("client_cf_") for name in joined)


def test_details_are_those_of_the_id(client):
    joined = bf.enrich(client.time_entries("2026-10"), by="matter", client=client)
    matters = client.matters().set_index("matter_id")
    assert joined["matter_type"].tolist() == matters.loc[joined["matter_id"], "matter_type"].tolist()


def test_a_missing_or_unknown_id_has_missing_details(client):
    expenses = client.expenses()
    joined = bf.enrich(expenses, by="user", client=client)
    assert joined.loc[expenses["user_id"].isna(), "user_role"].isna().all()
    assert joined.loc[expenses["user_id"].notna(), "user_role"].notna().all()
    stray = bf.enrich(pd.DataFrame({"matter_id": pd.array(["?"], dtype="str")}), matters=client.matters(), by="matter")
    assert stray["matter_archived"].isna().all()


def test_dtypes_do_not_depend_on_the_rows(client):
    matters = client.matters()
    frame = client.time_entries("2026-10")
    some, none = (bf.enrich(each, by="matter", matters=matters) for each in (frame, frame.iloc[:0]))
    assert some.dtypes.equals(none.dtypes)


def test_custom_fields_are_listed_by_their_new_names(client):
    joined = bf.enrich(client.time_entries(limit=5), by="matter", client=client)
    assert {name for name in joined if name.startswith("matter_cf_")} == set(joined.attrs["custom_fields"])


def test_the_kind_of_frame_does_not_change(client):
    expected = bf.enrich(client.time_entries("2026-10-01", "2026-10-02"), client=client)
    for to in ("polars", "arrow"):
        joined = bf.enrich(client.time_entries("2026-10-01", "2026-10-02", to=to), client=client)
        assert type(joined).__module__.startswith({"polars": "polars", "arrow": "pyarrow"}[to])
        assert joined.shape == expected.shape


def test_wrong_arguments_are_named(client):
    with pytest.raises(bf.errors.MissingColumnError, match="matter_id"):
        bf.enrich(pd.DataFrame({"x": [1]}), client=client)
    with pytest.raises(bf.errors.ParameterError, match="Did you mean 'matter'"):
        bf.enrich(pd.DataFrame({"matter_id": ["m"]}), by="mater", client=client)
    with pytest.raises(bf.errors.ParameterError, match=r"by=\(\) names nothing to join"):
        bf.enrich(pd.DataFrame({"matter_id": ["m"]}), by=(), client=client)
    twice = pd.DataFrame({"matter_id": ["m", "m"]})
    with pytest.raises(bf.errors.ParameterError, match="twice"):
        bf.enrich(twice, by="matter", matters=twice.assign(opened=1))
