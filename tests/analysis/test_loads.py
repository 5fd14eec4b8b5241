"""Frames whose load is too narrow for an analysis are refused, or warned of with the analysis' name."""

from __future__ import annotations

import uuid

import pandas as pd
import polars as pl
import pytest

from billframes import analysis
from billframes.analysis import (
    aging,
    budget_burn,
    contribution,
    profitability,
    realization,
    timekeeping_lag,
    utilization,
    wip,
)
from billframes.config.firm import FirmSettings
from billframes.errors import IncompleteDataWarning, ParameterError
from billframes.loading.load_info import as_whole, load_info
from tests.firms import make_firm, on

ITEMS = ("time_entries", "expenses", "fixed_fees")
KINDS = ("time_entries", "invoices", "expenses", "fixed_fees")
MONTH = "2026-10"


@pytest.fixture(scope="module")
def of_month(client):
    """The same frames, loaded for one month."""
    return {to: {name: getattr(client, name)(MONTH, to=to) for name in KINDS} for to in ("pandas", "arrow", "polars")}


@pytest.mark.parametrize("to", ["pandas", "arrow", "polars"])
@pytest.mark.parametrize("name", ["realization", "write_downs", "effective_rates", "contribution", "profitability"])
def test_work_and_invoices_loaded_for_one_month_are_refused(name, to, whole, of_month):
    with pytest.raises(ParameterError, match=r"time_entries was loaded for 2026-10-01 to 2026-10-31 only.*bf\.book"):
        getattr(analysis, name)(**of_month[to], start=MONTH, matters=whole[to]["matters"])


@pytest.mark.parametrize("name", ["realization", "profitability"])
def test_work_of_one_month_lacks_the_rest_of_its_invoices(name, whole, of_month):
    frames = whole["pandas"] | {"time_entries": of_month["pandas"]["time_entries"]}
    frames.pop("users")
    with pytest.raises(ParameterError, match="needs all work on invoices with the work counted"):
        getattr(analysis, name)(**frames, start=MONTH, basis="work_date")


def test_other_analyses_refuse_frames_of_one_month_too(of_month, whole):
    month, settings = of_month["pandas"], FirmSettings(budgets={"m": 1.0})
    with pytest.raises(ParameterError, match="reconcile needs all work on the invoices counted"):
        analysis.reconcile(**month)
    with pytest.raises(ParameterError, match="billing_lag needs all work on the invoices counted"):
        analysis.billing_lag(month["time_entries"], invoices=month["invoices"], start=MONTH)
    with pytest.raises(ParameterError, match="budget_burn needs all invoices, whenever they were made"):
        budget_burn(**month, settings=settings)
    with pytest.raises(ParameterError, match="fixed_fee_realization needs all time entries"):
        analysis.fixed_fee_realization(month["time_entries"], fixed_fees=month["fixed_fees"], start=MONTH)
    items = {name: month[name] for name in ITEMS}
    owed, matters = whole["pandas"]["invoices"], whole["pandas"]["matters"]
    with pytest.raises(ParameterError, match="overdue_invoices needs all time entries up to 2026-10-31"):
        analysis.overdue_invoices(owed, time_entries=month["time_entries"], as_of="2026-10-31")
    with pytest.raises(ParameterError, match="stale needs all time entries up to 2026-10-31"):
        analysis.stale(**items, invoices=owed, matters=matters, as_of="2026-10-31")
    with pytest.raises(ParameterError, match="aging needs all work on the invoices counted"):
        aging(whole["pandas"]["invoices"], as_of="2026-10-31", by="matter", **items)


@pytest.mark.parametrize("to", ["pandas", "arrow", "polars"])
def test_work_in_progress_of_one_month_is_not_work_in_progress(to, of_month, whole):
    with pytest.raises(ParameterError, match="wip needs all time entries up to 2026-10-31"):
        wip(**of_month[to] | {"invoices": whole[to]["invoices"]}, as_of="2026-10-31")


@pytest.mark.parametrize("to", ["pandas", "arrow", "polars"])
def test_receivables_of_one_months_invoices_are_not_the_receivables(to, of_month):
    with pytest.raises(ParameterError, match=r"aging needs all invoices .* Load invoices\(\) without dates"):
        aging(of_month[to]["invoices"], as_of="2026-10-31")


@pytest.mark.slow
def test_a_filter_that_leaves_work_out_is_refused(client, whole):
    frames = whole["pandas"]
    user = frames["users"]["user_id"].iloc[2]
    others = {name: frames[name] for name in ("invoices", "expenses", "fixed_fees", "matters")}
    for options in ({"user_id": user}, {"billing_type": "nonBillable"}, {"billed": False}, {"limit": 10}):
        (name,) = options
        with pytest.raises(ParameterError, match=f"time_entries was loaded with {name}=. Load time_entries without"):
            realization(client.time_entries(**options), **others, start=MONTH)
    items, final = {name: frames[name] for name in ITEMS}, client.invoices(invoice_state="final")
    with pytest.raises(ParameterError, match="wip needs all invoices, but invoices was loaded with invoice_state="):
        wip(**items, invoices=final, as_of="2026-10-31")


@pytest.mark.slow
def test_filters_that_leave_out_only_unneeded_records_are_accepted(client, whole):
    frames = whole["pandas"]
    others = {name: frames[name] for name in ("expenses", "fixed_fees", "matters")}
    everything = realization(frames["time_entries"], invoices=frames["invoices"], **others, start=MONTH)
    needed = client.time_entries("2024-01-01", "2026-10-31", billing_type="billable", billed=True)
    pd.testing.assert_frame_equal(
        realization(needed, invoices=client.invoices(MONTH), **others, start=MONTH), everything
    )
    one = frames["invoices"].query("invoice_state == 'final'")["client_id"].mode()[0]
    own = {name: getattr(client, name)(client_id=one) for name in KINDS}
    by_client = realization(frames["time_entries"], invoices=frames["invoices"], **others, by="client").set_index(
        "client_id"
    )
    alone = realization(**own, matters=frames["matters"])
    assert alone["billed_amount"].iloc[0] == pytest.approx(by_client.loc[one, "billed_amount"])


@pytest.mark.slow
def test_a_load_that_begins_less_than_two_years_earlier_is_warned_of(client, whole):
    frames = whole["pandas"]
    others = {name: frames[name] for name in ("invoices", "expenses", "fixed_fees")}
    with pytest.warns(IncompleteDataWarning, match="contribution: time entries were loaded for 2026-01-01"):
        contribution(client.time_entries("2026-01-01", "2026-10-31"), **others, start=MONTH)
    with pytest.warns(IncompleteDataWarning, match="aging: invoices were loaded from 2025-01-01 on, so older ones"):
        aging(client.invoices("2025-01-01"), as_of="2026-10-31")


@pytest.mark.slow
@pytest.mark.sweep(keep=1)
@pytest.mark.parametrize("to", ["pandas", "arrow", "polars"])
def test_a_load_that_begins_before_any_work_on_the_invoices_can_have_been_done_is_not_warned_of(client, whole, to):
    """No work waited a year for its invoice, and October’s first invoice is 21 months after the load."""
    others = {name: whole[to][name] for name in ("invoices", "matters")}
    items = {name: getattr(client, name)("2025-01-01", to=to) for name in ITEMS}
    pandas = whole["pandas"]["time_entries"].merge(whole["pandas"]["invoices"][["invoice_id"]], on="invoice_id")
    assert 300 < (pandas["invoice_date"] - pandas["date"]).max().days < 365
    for analysis_of in (realization, contribution):
        given = {name: frame for name, frame in (items | others).items() if name != "time_entries"}
        found = analysis_of(items["time_entries"], **given, start=MONTH)
        right = analysis_of(**whole[to], start=MONTH)
        pd.testing.assert_frame_equal(_pandas(found), _pandas(right))


def _pandas(frame):
    return frame if isinstance(frame, pd.DataFrame) else frame.to_pandas()


@pytest.mark.slow
def test_work_of_the_period_only_is_refused_for_less_than_a_year_and_warned_of_for_more(client, whole):
    others = {name: whole["pandas"][name] for name in ("invoices", "expenses", "fixed_fees")}
    with pytest.raises(ParameterError, match="time_entries was loaded for 2026-01-01 to 2026-10-31 only"):
        contribution(client.time_entries("2026-01-01", "2026-10-31"), **others, start="2026-01-01", end="2026-10-31")
    with pytest.warns(IncompleteDataWarning, match="contribution: time entries were loaded for 2025-10-01"):
        contribution(client.time_entries("2025-10-01", "2026-10-31"), **others, start="2025-10-01", end="2026-10-31")
    # Without an end and without invoices, the last day that counts is unknown.
    none = others["invoices"].head(0)
    with pytest.raises(ParameterError, match="time_entries was loaded for 2026-01-01 to 2026-10-31 only"):
        realization(client.time_entries("2026-01-01", "2026-10-31"), invoices=none, start="2026-01-01")


def test_records_that_may_be_open_must_be_loaded_for_a_year(client):
    with pytest.warns(IncompleteDataWarning, match="aging: invoices were loaded from 2025-10-30 on"):
        aging(client.invoices("2025-10-30"), as_of="2026-10-31")
    with pytest.raises(ParameterError, match="aging needs all invoices up to 2026-10-31"):
        aging(client.invoices("2025-10-31"), as_of="2026-10-31")


BILLS = (("i1", "2026-10-05", "final", "2026-11-04", "c1", 1000.0, 0.0),)
WORK = (
    ("2026-09-01", "u1", "c1", "m1", "billable", 2.0, 600.0, "i1"),
    ("2026-09-02", "u2", "c1", "m1", "billable", 2.0, 500.0, "i1"),
)


OPEN_WORK = {"as_of": "2026-10-31"}
BESIDE_INVOICES = ("exposure", "stale", "overdue_invoices", "prebill_review")


def sheet(name, frames):
    return getattr(analysis, name)(**{each: frames[each] for each in (*KINDS, "matters")}, **OPEN_WORK)


@pytest.mark.parametrize("name", BESIDE_INVOICES)
def test_expenses_and_fixed_fees_that_are_swapped_are_refused(name, whole):
    frames = whole["pandas"]
    with pytest.raises(ParameterError, match="expenses has the column 'fixed_fee_id', .* the frame fixed_fees"):
        sheet(name, frames | {"expenses": frames["fixed_fees"], "fixed_fees": frames["expenses"]})


@pytest.mark.parametrize(
    ("name", "other"), [("expenses", "invoices"), ("fixed_fees", "time_entries"), ("invoices", "expenses")]
)
def test_a_frame_in_the_place_of_another_is_refused(name, other, whole):
    """With invoices passed as expenses, realization was −5 % without a warning."""
    frames = {each: whole["pandas"][each] for each in KINDS}
    with pytest.raises(ParameterError, match=f"{name} has the column '.*', so it seems to be the frame {other}"):
        realization(**frames | {name: frames[other]}, start=MONTH)


def test_holidays_of_other_years_only_are_warned_of(whole):
    frames = {each: whole["pandas"][each] for each in ("time_entries", "users", "matters")}
    with pytest.warns(IncompleteDataWarning, match="holidays, but none of 2026"):
        utilization(**frames, start=MONTH, settings=FirmSettings(holidays=["2025-12-25"]))


def test_years_before_the_data_need_no_holidays():
    firm = on(make_firm(), lambda table: table.to_pandas(date_as_object=False), whole=True)
    firm["time_entries"].attrs["load"]["period"] = {"start": None, "end": None}
    frames = {each: firm[each] for each in ("time_entries", "users", "matters")}
    settings = FirmSettings(holidays=["2025-12-25", "2026-12-25"])
    utilization(**frames, start="2024-01-01", end="2026-10-31", settings=settings)


def test_flags_that_became_numbers_are_refused(whole):
    """Some databases return true and false as 1 and 0. Without the error, no matter would be archived."""
    frames = whole["pandas"]
    archived = frames["matters"].assign(archived=frames["matters"]["archived"].astype(int))
    with pytest.raises(ParameterError, match="archived is of the type Int64, such as ., not true and false"):
        sheet("stale", frames | {"matters": archived})


def test_a_contingency_fee_above_the_worth_of_its_hours_gives_no_warning(firm):
    header = "invoice_id invoice_date invoice_state due_date client_id matter_id amount balance"
    bills = firm.frame(header, ("i1", "2026-10-05", "final", "2026-11-04", "c1", "m5", 90_000.0, 0.0))
    work, none = ("2026-09-01", "u1", "c1", "m5", "billable", 2.0, 600.0, "i1"), firm.items()
    (row,) = firm.rows(
        realization(firm.entries(work), expenses=none, fixed_fees=none, invoices=bills, matters=firm.matters())
    )
    assert (row["billed_amount"], row["left_out_billed_amount"]) == (0.0, 90_000.0)


def test_an_invoice_written_up_a_little_gives_no_warning(firm):
    none = firm.items()
    bills = firm.invoices(("i1", "2026-10-05", "final", "2026-11-04", "c1", 1200.0, 0.0))
    (row,) = firm.rows(
        realization(firm.entries(*WORK), expenses=none, fixed_fees=none, invoices=bills, matters=firm.matters())
    )
    assert row["billing_realization"] == pytest.approx(1200 / 1100)


@pytest.mark.parametrize("to", ["pandas", "arrow", "polars"])
def test_one_persons_hours_are_divided_by_that_persons_capacity(client, to, whole):
    frames = whole[to]
    users = client.users()
    user, name = users[["user_id", "name"]].iloc[2]
    people = {"users": frames["users"], "matters": frames["matters"], "start": MONTH}
    every = utilization(frames["time_entries"], **people)
    row = client.time_entries(MONTH, user_id=user, to=to)
    alone = utilization(row, **people, by=None)
    rows = {
        "pandas": lambda each: each,
        "arrow": lambda each: each.to_pandas(),
        "polars": lambda each: each.to_pandas(),
    }
    every, alone = rows[to](every), rows[to](alone)
    # Engines add in any order.
    assert alone["utilization"].tolist() == pytest.approx(every.loc[every["user_name"] == name, "utilization"].tolist())


def test_hours_of_one_client_are_not_divided_by_the_firms_capacity(client, whole):
    frames = whole["pandas"]
    one = frames["time_entries"]["client_id"].iloc[0]
    people = {"users": frames["users"], "matters": frames["matters"], "start": MONTH}
    with pytest.raises(ParameterError, match="utilization needs all time entries, .* loaded with client_id="):
        utilization(client.time_entries(MONTH, client_id=one), **people)
    by_client = utilization(client.time_entries(MONTH, client_id=one), **people, by="client")
    assert by_client["capacity_hours"].isna().all()


def test_hours_of_another_period_than_the_one_loaded_are_refused(client, whole):
    frames, entries = whole["pandas"], client.time_entries(MONTH)
    people = {"users": frames["users"], "matters": frames["matters"], "start": "2026-Q4"}
    for name in ("utilization", "leverage", "missing_time"):
        with pytest.raises(ParameterError, match=f"{name} needs all time entries from 2026-10-01 to 2026-12-31"):
            getattr(analysis, name)(entries, **people)
    for name in ("timekeeping_lag", "duplicates"):
        with pytest.raises(ParameterError, match=f"{name} needs all time entries from 2026-10-01 to 2026-12-31"):
            getattr(analysis, name)(entries, start="2026-Q4")


def test_balances_changed_after_as_of_are_warned_of(firm):
    header = "invoice_id invoice_date invoice_state due_date client_id amount balance created_at"
    rows = [("i1", "2026-09-01", "final", "2026-10-01", "c1", 100.0, 100.0, "2026-11-02T08:00:00+00:00")]
    bills = firm.frame(header, *rows)
    changed = _renamed(bills, "created_at", "modified_at")
    aging(changed, as_of="2026-11-02")
    with pytest.warns(IncompleteDataWarning, match=r"last changed \(2026-11-02\)\. Balances are as loaded"):
        aging(changed, as_of="2026-10-31")


def _renamed(frame, before, after):
    import narwhals.stable.v2 as nw

    return nw.from_native(frame).rename({before: after}).to_native()


def test_a_frame_says_how_it_was_loaded(client):
    user = client.users()["user_id"].iloc[0]
    for to in ("pandas", "arrow", "polars"):
        info = load_info(client.time_entries(MONTH, user_id=[user], billed=True, limit=5, to=to))
        assert (str(info.start), str(info.end), info.rows) == ("2026-10-01", "2026-10-31", 5)
        assert info.arguments == {"user_id": user, "billed": True, "limit": 5}
    assert load_info(client.time_entries(MONTH, to="polars").head(3)) is None
    assert load_info(pd.DataFrame()) is None


def test_a_frame_cut_with_as_whole_counts_as_whole(client):
    entries = client.time_entries(MONTH, billed=True)
    cut = as_whole(entries.iloc[:10])
    assert (load_info(cut).rows, load_info(cut).arguments, load_info(cut).start) == (10, {}, None)
    assert load_info(cut).time == load_info(entries).time
    assert load_info(entries).rows == len(entries)


CENTS = {
    "time_entries": ("amount rate", r"\d+ invoices bill about a hundredth of .* The time entries may be in cents"),
    "invoices": ("amount balance", r"\d+ invoices bill about a hundred times .* The invoices may be in cents"),
    "expenses": ("amount", r"expenses of [\d,.]+ are on \d+ invoices that bill .* The expenses may be in cents"),
    "fixed_fees": ("amount", r"fixed fees of [\d,.]+ are on \d+ invoices that bill .* The fixed fees may be in cents"),
}


def test_a_years_pay_as_the_cost_of_an_hour_is_warned_of(whole):
    frames = {each: whole["pandas"][each] for each in (*KINDS, "matters")}
    user = frames["time_entries"]["user_id"].iloc[0]
    people = dict.fromkeys(frames["time_entries"]["user_id"].unique(), 150.0)
    profitability(**frames, start=MONTH, settings=FirmSettings(cost_rates=people))
    with pytest.warns(IncompleteDataWarning, match=f"cost_rates of the settings .*: {user}: 180,000.00. .*a year"):
        profitability(**frames, start=MONTH, settings=FirmSettings(cost_rates=people | {user: 180_000}))
    dated = people | {user: {"2024-01-01": 400, "2026-01-01": 40_000}}
    with pytest.warns(IncompleteDataWarning, match=f"standard_rates of the settings .*: {user}: 40,000.00. .*Divide"):
        realization(**frames, start=MONTH, settings=FirmSettings(standard_rates=dated))


def test_a_creation_time_without_a_time_zone_is_warned_of_if_the_firm_is_not_in_utc(whole):
    entries = whole["pandas"]["time_entries"].query("date >= '2026-10-01'")
    plain = entries.assign(created_at=entries["created_at"].dt.tz_localize(None))
    timekeeping_lag(plain, start=MONTH)
    with pytest.warns(IncompleteDataWarning, match="created_at has no time zone, so UTC is assumed"):
        timekeeping_lag(plain, start=MONTH, settings=FirmSettings(time_zone="America/New_York"))


def test_the_warning_of_an_unknown_invoice_names_it(whole):
    frames = {each: whole["pandas"][each] for each in KINDS}
    filled = frames["time_entries"].fillna({"invoice_id": "1.0"}).assign(billed=True)
    with pytest.warns(IncompleteDataWarning, match=r"name an invoice .* passed \(for example invoice_id '1.0'\)"):
        wip(**frames | {"time_entries": filled}, as_of="2026-10-31")


def test_work_in_progress_long_after_the_load_is_warned_of(whole):
    frames = {each: whole["pandas"][each] for each in KINDS}
    wip(**frames, as_of="2026-11-30")
    with pytest.warns(IncompleteDataWarning, match=r"wip: as_of=2027-01-31 is 92 days after the load \(2026-10-31\)"):
        wip(**frames, as_of="2027-01-31")


def test_users_loaded_by_role_are_warned_of(client, whole):
    frames = {each: whole["pandas"][each] for each in ("time_entries", "matters")}
    with pytest.warns(IncompleteDataWarning, match="utilization: users was loaded with role=, so other timekeepers"):
        utilization(**frames, users=client.users(role="attorney"), start=MONTH)


def test_days_after_the_load_have_no_missing_time(whole):
    frames = {each: whole["pandas"][each] for each in ("time_entries", "matters", "users")}
    october = analysis.missing_time(**frames, start=MONTH)
    pd.testing.assert_frame_equal(analysis.missing_time(**frames, start="2026-Q4"), october)
    with pytest.raises(ParameterError, match="begins on 1 November 2026, after the day of the data, 31 October 2026"):
        analysis.missing_time(**frames, start="2026-11")


def without_load(frames):
    """Return pandas frames that do not remember their load, as after a merge or from a file."""
    return {name: pd.DataFrame({column: frame[column] for column in frame}) for name, frame in frames.items()}


def changed(frames, name, column, change):
    values = frames[name][column]
    return frames | {name: frames[name].assign(**{column: values.map(change, na_action="ignore").astype(object)})}


@pytest.mark.parametrize("change", [str.upper, "{} ".format, "{{{}}}".format, lambda text: text.replace("-", "")])
@pytest.mark.parametrize(
    ("name", "column"), [("users", "user_id"), ("matters", "matter_id"), ("expenses", "invoice_id")]
)
def test_ids_that_are_written_differently_are_refused(name, column, change, whole):
    frames = changed(without_load(whole["pandas"]), name, column, change)
    with pytest.raises(ParameterError, match=f"{column} is written in different ways: .*{name} has"):
        realization(**frames, start=MONTH, by=["role", "responsible"])
    polars = {each: pl.from_pandas(frame[[key for key in frame if not key.startswith("originator")]])
              for each, frame in frames.items()}  # fmt: skip
    with pytest.raises(ParameterError, match=f"{column} is written in different ways"):
        realization(**polars, start=MONTH)


def test_ids_can_be_uuid_objects_as_databases_give_them(whole):
    frames = without_load(whole["pandas"])
    expected = realization(**frames, start=MONTH, by=["role", "practice_area"])
    for name, column in (("users", "user_id"), ("matters", "matter_id"), ("invoices", "invoice_id")):
        frames = changed(frames, name, column, uuid.UUID)
    pd.testing.assert_frame_equal(realization(**frames, start=MONTH, by=["role", "practice_area"]), expected)


def test_a_load_without_time_entries_is_not_warned_of(client, whole):
    frames = {each: whole["pandas"][each] for each in KINDS}
    wip(**frames | {"time_entries": client.time_entries(None, "1990-01-31")}, as_of="1990-01-31")


def test_hours_that_are_durations_and_days_that_are_numbers_are_refused_with_a_conversion_that_works(whole):
    frames = {each: whole["pandas"][each] for each in ("time_entries", "matters", "users")}
    entries = frames["time_entries"]
    for column, other, words in (
        ("hours", pd.to_timedelta(entries["hours"], unit="h"), r"frame\['hours'\].dt.total_seconds\(\) / 3600"),
        ("date", entries["date"].dt.strftime("%Y%m%d").astype(int), r"frame\['date'\].*format='%Y%m%d'"),
    ):
        with pytest.raises(ParameterError, match=words):
            utilization(**frames | {"time_entries": entries.assign(**{column: other})}, start=MONTH)


@pytest.mark.slow
@pytest.mark.sweep
@pytest.mark.parametrize(("name", "key"), [("users", "role"), ("matters", "responsible"), ("matters", "originator")])
@pytest.mark.parametrize("to", [lambda frame: frame, pl.from_pandas, lambda frame: pl.from_pandas(frame).lazy()])
def test_users_or_matters_of_another_firm_are_warned_of(name, key, to, whole):
    frames = without_load(whole["pandas"])
    frames["matters"] = frames["matters"].drop(columns="originator_names")
    others = changed(frames, name, f"{name.removesuffix('s')}_id", lambda _: str(uuid.uuid4()))
    for given in (others, frames | {name: frames[name].iloc[:4]}):
        firm = {each: to(frame) for each, frame in given.items()}
        with pytest.warns(IncompleteDataWarning, match=rf"by='{key}.*': \d+ of \d+ {name} are not among the {name}"):
            aging(**firm, as_of="2026-10-31", by=key)
    aging(**{each: to(frame) for each, frame in frames.items()}, as_of="2026-10-31", by=key)


def test_clients_of_another_firm_are_warned_of(client, whole):
    clients = client.clients()
    invoices = without_load(whole["pandas"])["invoices"]
    key = f"client_{next(column for column in clients if column.startswith('cf_'))}"
    aging(invoices, as_of="2026-10-31", by=key, clients=clients)
    others = changed({"clients": clients}, "clients", "client_id", lambda _: str(uuid.uuid4()))["clients"]
    with pytest.warns(IncompleteDataWarning, match=rf"by='{key}': (\d+) of \1 clients are not among"):
        aging(invoices, as_of="2026-10-31", by=key, clients=others)
