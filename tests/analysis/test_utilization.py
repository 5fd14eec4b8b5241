"""Client hours ÷ available hours, compared with figures worked out by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from billframes.analysis import utilization
from billframes.config.firm import FirmSettings
from billframes.errors import IncompleteDataWarning, MissingColumnError, ParameterError

# The settings of these tests end people's time at the firm while they still have hours.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*before user_start or after user_end:billframes.errors.IncompleteDataWarning"),
    pytest.mark.filterwarnings("ignore:Without users=:billframes.errors.IncompleteDataWarning"),
]

COLUMNS = [
    "billable_hours",
    "fixed_fee_hours",
    "non_billable_hours",
    "total_hours",
    "client_hours",
    "capacity_hours",
    "utilization",
    "idle_capacity_hours",
    "unknown_hours",
]
WORK = (
    ("2026-10-01", "u1", "c1", "m1", "billable", 60.0, 6000.0, "i1"),
    ("2026-10-31", "u1", "c1", "m1", "fixedFee", 20.0, None, None),
    ("2026-10-02", "u1", "c1", "m1", "nonBillable", 5.0, None, None),
    ("2026-10-02", "u1", "c1", "m4", "billable", 3.0, 300.0, None),
    ("2026-10-04", "u1", "c2", "m2", "billable", -2.0, -200.0, None),
    ("2026-10-05", "u1", "c3", "m3", "nonBillable", 10.0, None, None),
    ("2026-10-05", "u9", "c3", "m2", "billable", 8.0, 800.0, None),
    ("2026-10-05", "u3", "c3", "m4", "nonBillable", 40.0, None, None),
    ("2026-09-30", "u1", "c1", "m1", "billable", 100.0, 100.0, None),
    ("2026-11-01", "u1", "c1", "m1", "billable", 100.0, 100.0, None),
)


def by_user(firm, **options):
    result = utilization(firm.entries(*WORK), start="2026-10", users=firm.users(), matters=firm.matters(), **options)
    return {row["user_name"]: row for row in firm.rows(result)}


def test_the_worked_table(firm):
    """October 2026 has 22 working days: 176 hours. Both ends count; internal and non-billable hours do not."""
    rows = by_user(firm)
    assert list(rows["Ada"]) == ["user_id", "user_name", *COLUMNS]
    assert list(rows) == ["Ada", "Ben", "Guest"]
    ada = [61.0, 20.0, 15.0, 96.0, 78.0, 176.0, 78 / 176, 0.0, 0.0]
    assert [rows["Ada"][name] for name in COLUMNS] == pytest.approx(ada)
    assert [rows["Ben"][name] for name in COLUMNS] == [0.0, 0.0, 0.0, 0.0, 0.0, 176.0, 0.0, 176.0, 0.0]
    assert rows["Guest"]["client_hours"] == 8.0


def test_the_period_ends_on_as_of_for_hours_and_capacity_alike(firm):
    """From 1 to 4 October are two working days; the 31st has not come yet."""
    ada = by_user(firm, as_of="2026-10-04")["Ada"]
    assert [ada[name] for name in ("total_hours", "client_hours", "capacity_hours")] == [66.0, 58.0, 16.0]
    assert by_user(firm, as_of="2026-12-31") == by_user(firm)
    target = FirmSettings(targets={"u1": {"hours": 220, "period": "month"}})
    ada = by_user(firm, as_of="2026-10-04", settings=target)["Ada"]
    assert [ada["target_hours"], ada["pace"]] == pytest.approx([20.0, 2.9])


@pytest.mark.parametrize("by", [None, "user", "month"])
def test_before_the_period_nobody_has_hours(firm, by):
    rows = by_user_total(firm, by=by, as_of="2026-09-30")
    assert [row["capacity_hours"] for row in rows] == {None: [0.0], "user": [0.0, 0.0], "month": []}[by]
    assert {row["utilization"] for row in rows} <= {None}


def test_idle_capacity_is_that_of_people_without_any_entry_and_re_adds(firm):
    (whole,) = by_user_total(firm, by=None, start="2026-09-15", end="2026-11-02")
    assert (whole["idle_capacity_hours"], whole["capacity_hours"]) == (35 * 8.0, 3 * 35 * 8.0)
    months = by_user_total(firm, by="month", start="2026-09-15", end="2026-11-02")
    assert [row["idle_capacity_hours"] for row in months] == [12 * 8.0, 22 * 8.0, 8.0]
    (active,) = by_user_total(firm, by=None, roster="active")
    assert active["idle_capacity_hours"] == 0.0
    assert {row["idle_capacity_hours"] for row in by_user_total(firm, by="client")} == {None}


def test_options_choose_the_time_that_counts(firm):
    assert by_user(firm, include_fixed_fee=False)["Ada"]["client_hours"] == 58.0
    assert by_user(firm, include_probono=True)["Ada"]["client_hours"] == 88.0


def test_the_active_roster_has_only_people_with_entries(firm):
    """An accountant's internal hours are left out by both rosters."""
    assert list(by_user(firm, roster="active")) == ["Ada", "Guest"]


def test_the_whole_firm_is_one_row(firm):
    total = by_user_total(firm, by=None)
    assert len(total) == 1
    assert total[0]["capacity_hours"] == 3 * 176.0
    assert total[0]["utilization"] == pytest.approx(86.0 / 528.0)


def by_user_total(firm, entries=None, **options):
    entries = firm.entries(*WORK) if entries is None else entries
    options = {"start": "2026-10"} | options
    return firm.rows(utilization(entries, users=firm.users(), matters=firm.matters(), **options))


def test_months_have_their_own_capacity(firm):
    rows = by_user_total(firm, by="month", start="2026-09-15", end="2026-11-02")
    assert [(row["month"], row["capacity_hours"]) for row in rows] == [
        ("2026-09", 3 * 12 * 8.0),
        ("2026-10", 3 * 22 * 8.0),
        ("2026-11", 3 * 1 * 8.0),
    ]
    quarters = by_user_total(firm, by=["quarter", "user"], start="2026-09-15", end="2026-11-02")
    assert [(row["quarter"], row["user_name"]) for row in quarters][:4] == [
        ("2026-Q3", "Ada"),
        ("2026-Q3", "Ben"),
        ("2026-Q3", "Guest"),
        ("2026-Q4", "Ada"),
    ]
    assert sum(row["capacity_hours"] for row in quarters) == 3 * 35 * 8.0
    years = by_user_total(firm, by="year", start="2026-09-15", end="2026-11-02")
    assert [(row["year"], row["client_hours"]) for row in years] == [(2026, 286.0)]


def test_roles_and_users_own_columns_have_capacity(firm):
    roles = {row["role"]: row["capacity_hours"] for row in by_user_total(firm, by="role")}
    assert roles == {"attorney": 176.0, "principal": 176.0, "Unknown": 176.0}
    offices = {row["cf_office"]: row["capacity_hours"] for row in by_user_total(firm, by="cf_office")}
    assert offices == {"Bonn": 176.0, "Kiel": 176.0, "Unassigned": 176.0}
    assert {row["user_cf_office"] for row in by_user_total(firm, by="user_cf_office")} == set(offices)


def test_keys_of_the_work_have_no_capacity(firm):
    """Two clients of one name stay two rows, and the hours re-add."""
    rows = by_user_total(firm, by="client")
    assert [(row["client_id"], row["client_name"], row["client_hours"]) for row in rows] == [
        ("c1", "Acme", 80.0),
        ("c2", "Acme", -2.0),
        ("c3", "Zenith", 8.0),
    ]
    assert {row["capacity_hours"] for row in rows} == {None}
    assert {row["utilization"] for row in rows} == {None}
    areas = by_user_total(firm, by="practice_area")
    assert [(row["practice_area_id"], row["practice_area_label"]) for row in areas] == [
        ("p1", "Corporate"),
        (None, "Unassigned"),
    ]


def test_several_originators_share_and_re_add(firm):
    rows = {row["originator_name"]: row["client_hours"] for row in by_user_total(firm, by="originator")}
    assert rows == pytest.approx({"Ada": 40.0, "Ben": 46.0, "Unassigned": 0.0})
    weighted = FirmSettings(originator_weights={"m1": {"u2": 0.75, "u3": 0.25}})
    rows = by_user_total(firm, by="originator", settings=weighted)
    assert {row["originator_name"]: row["client_hours"] for row in rows} == pytest.approx(
        {"Ben": 60.0 + 6.0, "Cy": 20.0, "Unassigned": 0.0}
    )


def test_the_calendar_of_the_settings(firm):
    settings = FirmSettings(
        holidays=["2026-10-01", "2026-10-03"],
        user_hours={"ada@firm.example": 4.0},
        user_start={"u2": "2026-10-19"},
        user_end={"u9": "2026-10-02"},
        leave={"u2": ["2026-10-19", ("2026-10-24", "2026-10-27")]},
    )
    with pytest.warns(IncompleteDataWarning, match=r"settings name 1 user .*: u9 \(user_end\)"):
        rows = by_user(firm, settings=settings)
    assert rows["Ada"]["capacity_hours"] == 21 * 4.0
    assert rows["Ben"]["capacity_hours"] == (10 - 1 - 2) * 8.0
    assert rows["Guest"]["capacity_hours"] == 8.0


def test_without_capacity_utilization_is_missing(firm):
    rows = by_user(firm, settings=FirmSettings(user_end={"u1": "2026-09-30"}))
    assert rows["Ada"]["capacity_hours"] == 0.0
    assert rows["Ada"]["utilization"] is None
    assert rows["Ada"]["client_hours"] == 78.0


def test_targets_are_prorated_by_working_days(firm):
    """2026 has 261 working days, the first half of October 11 of its 22."""
    settings = FirmSettings(targets={"u1": {"hours": 1305, "period": "year"}, "u2": {"hours": 110, "period": "month"}})
    rows = by_user(firm, settings=settings)
    assert list(rows["Ada"])[-4:] == ["target_hours", "pace", "idle_capacity_hours", "unknown_hours"]
    assert rows["Ada"]["target_hours"] == pytest.approx(110.0)
    assert rows["Ada"]["pace"] == pytest.approx(78.0 / 110.0)
    assert rows["Guest"]["target_hours"] is None
    assert rows["Guest"]["pace"] is None
    half = by_user_total(firm, start="2026-10-01", end="2026-10-15", settings=settings)
    assert {row["user_name"]: row["target_hours"] for row in half}["Ben"] == pytest.approx(55.0)
    firm_wide = by_user_total(firm, by=None, settings=settings)[0]
    assert firm_wide["target_hours"] == pytest.approx(220.0)
    assert firm_wide["pace"] == pytest.approx(78.0 / 220.0)


def test_february(pandas_firm):
    rows = by_user_total(pandas_firm, start="2024-02", by=None)
    assert rows[0]["capacity_hours"] == 2 * 21 * 8.0
    assert rows[0]["utilization"] == 0.0


def test_no_entries_give_the_same_columns(firm):
    none = firm.entries()
    assert [row["client_hours"] for row in by_user_total(firm, none)] == [0.0, 0.0]
    alone = utilization(none, start="2026-10", by=None, matters=firm.matters())
    assert list(firm.rows(alone)[0]) == COLUMNS
    assert firm.rows(alone)[0]["utilization"] is None
    assert firm.rows(utilization(none, start="2026-10", by="client", matters=firm.matters())) == []


def test_an_entry_of_zero_hours_counts_as_an_entry(pandas_firm):
    entry = ("2026-10-01", "u2", "c1", "m1", "nonBillable", 0.0, None, None)
    rows = by_user_total(pandas_firm, pandas_firm.entries(entry), roster="active")
    assert [(row["user_name"], row["utilization"]) for row in rows] == [("Ben", 0.0)]


def test_an_entry_without_a_user_is_a_row_without_capacity(firm):
    entry = ("2026-10-01", None, "c1", "m1", "billable", 3.0, None, None)
    rows = by_user_total(firm, firm.entries(entry))
    last = next(row for row in rows if row["user_id"] is None)
    assert (last["user_name"], last["client_hours"], last["utilization"]) == ("Unassigned", 3.0, None)


def test_a_matter_type_on_the_entries_needs_no_matters(pandas_firm):
    entries = pandas_firm.entries(*WORK).assign(matter_type="internal")
    rows = utilization(entries, start="2026-10", users=pandas_firm.users())
    assert set(rows["client_hours"]) == {0.0}


def test_roles_of_the_settings_take_precedence(firm):
    rows = by_user(firm, settings=FirmSettings(roles={"u2": "operator", "u3": "timekeeper"}))
    assert list(rows) == ["Ada", "Cy", "Guest"]


def test_unknown_matters_are_counted_and_warned_about(firm):
    entry = ("2026-10-01", "u1", "c1", "m99", "billable", 3.0, None, None)
    with pytest.warns(IncompleteDataWarning, match="1 time entry is on matters of unknown type"):
        rows = by_user_total(firm, firm.entries(entry), by="matter_type")
    assert [(row["matter_type"], row["client_hours"]) for row in rows] == [("Unknown", 3.0)]


def test_lists_in_object_columns_work(pandas_firm):
    """Frames made by hand can have Python lists in a column."""
    matters = pandas_firm.matters()
    for name in ("originator_ids", "originator_names"):
        matters[name] = pd.Series([list(v) if hasattr(v, "__iter__") else None for v in matters[name]], dtype=object)
    rows = utilization(pandas_firm.entries(*WORK), start="2026-10", by="originator", matters=matters)
    assert rows["client_hours"].tolist() == pytest.approx([40.0, 46.0, 0.0])


def test_inputs_are_left_alone(pandas_firm):
    entries, users, matters = pandas_firm.entries(*WORK), pandas_firm.users(), pandas_firm.matters()
    before = [each.copy(deep=True) for each in (entries, users, matters)]
    utilization(entries, start="2026-10", users=users, matters=matters, by=["role", "month"])
    for one, other in zip(before, (entries, users, matters), strict=True):
        pd.testing.assert_frame_equal(one, other)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "practise_area"}, "Did you mean 'practice_area'"),
        ({"by": "cf_nothing"}, "neither a short name nor a column"),
        ({"start": "2026-10-01"}, "needs a first and a last day"),
        ({"roster": "everyone"}, "roster='everyone'"),
        ({"settings": FirmSettings(roles={"x@y.example": "attorney"})}, "no user has that e-mail"),
    ],
)
def test_bad_arguments(pandas_firm, options, message):
    with pytest.raises(ParameterError, match=message):
        by_user_total(pandas_firm, **options)


def test_missing_columns_and_frames_say_what_supplies_them(pandas_firm):
    entries = pandas_firm.entries(*WORK)
    with pytest.raises(MissingColumnError, match=r"No frame has the matter types.*matters\(\)"):
        utilization(entries, start="2026-10")
    with pytest.raises(MissingColumnError, match=r"no column 'hours'; it has .*time_entries\(\) supplies"):
        utilization(entries.drop(columns="hours"), start="2026-10", matters=pandas_firm.matters())
    with pytest.raises(MissingColumnError, match=r"by='role' needs 'role'.*users="):
        utilization(entries, start="2026-10", matters=pandas_firm.matters(), by="role")
    settings = FirmSettings(user_hours={"ada@firm.example": 4})
    with pytest.raises(ParameterError, match="pass users="):
        utilization(entries, start="2026-10", matters=pandas_firm.matters(), settings=settings)


def test_mixed_engines_are_refused(pandas_firm):
    import pyarrow as pa

    matters = pa.table({"matter_id": ["m1"], "matter_type": ["hourly"]})
    with pytest.raises(ParameterError, match="time_entries is pandas, matters is pyarrow"):
        utilization(pandas_firm.entries(*WORK), start="2026-10", matters=matters)
    with pytest.raises(ParameterError, match="time_entries is a list"):
        utilization([1], start="2026-10")
