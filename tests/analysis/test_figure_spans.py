"""Figures of several spans, of weeks, and of the largest groups within a group equal those of calls one by one."""

from __future__ import annotations

import datetime as dt
import itertools
import random

import numpy as np
import pandas as pd
import pytest

import billframes as bf
from billframes import plots, tables
from billframes.analysis.results.figures_side_by_side import figures
from billframes.errors import NoDataError, ParameterError
from tests.analysis.conftest import ENGINES, rows_of
from tests.analysis.test_figures import FRAMES, identity, is_near
from tests.firms import make_firm, on

FIGURES = ("client_hours", "billed_amount", "billing_realization", "wip", "target_hours", "median_lag_days")
COLUMNS = [*FIGURES[:3], "wip_amount", *FIGURES[4:]]
FIRST, LAST = dt.date(2024, 1, 2), dt.date(2026, 10, 31)

pytestmark = pytest.mark.filterwarnings("ignore::billframes.errors.BillframesWarning")


@pytest.fixture(scope="module")
def book(client):
    return bf.book("2026-10", client=client)


def frames_on(engine, **firm):
    made = on(make_firm(3, taxes=(0.0, 0.1), **firm), ENGINES[engine])
    return {name: each for name, each in made.items() if name in FRAMES}


def check_spans(call, spans, by, columns=COLUMNS):
    """Compare a call of several spans with a call of each."""
    together = {
        identity(row, [each for each in row if each.endswith("_id")]): row for row in rows_of(call(spans=spans))
    }
    compared = 0
    for label, span in spans.items():
        start, end = span if isinstance(span, tuple) else (span, None)
        for row in rows_of(call(start=start, end=end)):
            ids = identity(row, [each for each in row if each.endswith("_id")])
            for name in columns:
                assert is_near(together[ids][f"{name}_{label}"], row[name]), (label, ids, name)
                compared += row[name] is not None
    assert compared > 2 * len(spans)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_spans_are_those_of_calls_one_by_one(book, seed):
    chance = random.Random(seed)
    ends = [sorted(chance.choices(range(FIRST.toordinal(), LAST.toordinal()), k=2)) for _ in range(3)]
    spans = {f"s{nth}": tuple(map(dt.date.fromordinal, each)) for nth, each in enumerate(ends)} | {"q": "2026-Q2"}
    by = chance.choice(["user", "practice_area", None])
    where = chance.choice([None, {"role": "attorney"}])
    check_spans(lambda **days: book.figures(*FIGURES, by=by, where=where, **days), spans, by)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["pandas[pyarrow]", "polars lazy", "duckdb"])
def test_spans_and_weeks_on_every_engine(engine):
    frames = frames_on(engine)
    spans = {"week": ("2026-10-19", "2026-10-23"), "year": ("2026-01-01", "2026-10-23")}
    names = ("client_hours", "billed_amount")
    check_spans(lambda **days: figures(*names, by="user", **days, **frames), spans, "user", names)
    weeks = rows_of(figures("client_hours", "wip", by="week", start="2025-12-15", end="2026-01-14", **frames))
    assert [row["week"] for row in weeks] == ["2025-W51", "2025-W52", "2026-W01", "2026-W02", "2026-W03"]
    ends = ["2025-12-21", "2025-12-28", "2026-01-04", "2026-01-11", "2026-01-14"]
    for row, end in zip(weeks, ends, strict=True):
        start = max(dt.date.fromisocalendar(*map(int, row["week"].split("-W")), 1), dt.date(2025, 12, 15))
        (own,) = rows_of(figures("client_hours", "wip", start=start, end=end, **frames))
        assert is_near(row["client_hours"], own["client_hours"])
        assert is_near(row["wip_amount"], own["wip_amount"])


def test_weeks_are_those_of_the_iso_calendar(book):
    entries = book.time_entries
    iso = entries["date"].dt.isocalendar()
    own = entries.groupby(iso["year"].astype(str) + "-W" + iso["week"].astype(str).str.zfill(2))["hours"].sum()
    found = book.utilization(by="week", start=FIRST, end=LAST).set_index("week")
    pd.testing.assert_series_equal(found["total_hours"], own.reindex(found.index), check_names=False)
    days = {f"{day:%G-W%V}": day for day in map(dt.date.fromordinal, range(FIRST.toordinal(), LAST.toordinal() + 1))}
    assert [*found.index] == [*days]
    lengths = book.utilization(by=["week", "month"], start=FIRST, end=LAST).groupby("week")["capacity_hours"].sum()
    pd.testing.assert_series_equal(lengths, found["capacity_hours"])
    both = book.figures("wip", by=["month", "week"], start="2026-08-17", end="2026-09-13")
    assert both["wip_amount"].notna().all()
    assert both["week"].tolist() == ["2026-W34", "2026-W35", "2026-W36", "2026-W36", "2026-W37"]


def largest(rows, before, key, most):
    """Return the sums of the largest groups and of the others, calculated by hand."""
    found = {}
    for group, own in rows.groupby(before, dropna=False) if before else [((), rows)]:
        sums = own.groupby(key, dropna=False)["client_hours"].sum().sort_values(ascending=False, kind="stable")
        found[group] = [*sums.head(most), *([sums.iloc[most:].sum()] if len(sums) > most else [])]
    return found


@pytest.mark.parametrize(("before", "key"), [*itertools.permutations(("user", "client", "practice_area"), 2)])
def test_the_largest_groups_of_each_group_and_the_others_add_up(book, before, key):
    names = ("client_hours", "worked_amount", "billed_amount", "billing_realization")
    every = book.figures(*names, by=[before, key])
    for most in (1, 4):
        found = book.figures(*names, by=[before, key], top={key: most})
        sums = found.groupby(f"{before}_id", dropna=False, sort=False)
        wanted = largest(every, f"{before}_id", f"{key}_id", most)
        for group, own in sums:
            np.testing.assert_allclose(own["client_hours"], wanted[group])
        whole = every.groupby(f"{before}_id", dropna=False)[[*names[:3]]].sum()
        pd.testing.assert_frame_equal(sums[[*names[:3]]].sum().sort_index(), whole.sort_index(), atol=0.001)
        ratios = found["billed_amount"] / found["worked_amount"]
        known = found["billing_realization"].notna() & found["client_hours"].gt(0)
        label = found.columns[3]
        others = found[known & found[label].str.startswith("Others (")]
        assert len(others) or key == "practice_area"
        np.testing.assert_allclose(others["billing_realization"], ratios[others.index], rtol=1e-9)


def test_several_keys_have_their_largest_groups_and_months_their_own(book):
    both = book.figures("client_hours", by=["client", "matter"], top={"matter": 1, "client": 2})
    assert both.groupby("client_name", sort=False).size().tolist() == [2, 2, 2]
    assert both["client_name"].iloc[-1] == "Others (32)"
    whole = book.figures("client_hours")["client_hours"][0]
    assert both["client_hours"].sum() == pytest.approx(whole)
    months = book.figures("client_hours", by=["month", "client"], top={"client": 1}, start="2026-Q3")
    each = [
        book.figures("client_hours", by="client", top=1, start=month)["client_name"][0]
        for month in ("2026-07", "2026-09")
    ]
    assert months.loc[months["month"].isin(["2026-07", "2026-09"]), "client_name"].tolist()[::2] == each
    one = book.figures("client_hours", by="client", top=3)
    pd.testing.assert_frame_equal(book.figures("client_hours", by="client", top={"client": 3}), one)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"spans": {"week": "2026-W99"}}, "spans={'week': …}: start='2026-W99' is not a date or period"),
        ({"spans": {"old": "2010"}}, "spans={'old': …}: The period ends on 31 December 2010, before the first day of"),
        ({"spans": {"later": "2031"}}, "spans={'later': …}: The period begins on 1 January 2031, after the day of the"),
        ({"spans": {"x": ("2026-10-05", "2026-10-01")}}, "spans={'x': …}: start=2026-10-05 is after end=2026-10-01"),
        ({"spans": {"x": (None, "2026-10-01")}}, "spans={'x': …}: it takes a period such as '2026-10', or a first and"),
        ({"spans": {}}, "spans={} must have labels with their periods, such as {'week': ("),
        ({"spans": {1: "2026"}}, "spans={1: '2026'} must have labels"),
        ({"spans": ["2026"]}, "spans=['2026'] must have labels"),
        ({"spans": {"previous": "2026-09"}}, "the column 'client_hours_previous' has another meaning. Choose another"),
        ({"spans": {"x": "2026"}, "compare": "previous"}, "compare= is for one period: leave out spans=."),
        ({"spans": {"x": "2026"}, "start": "2026-10"}, "spans= takes the place of start= and end=: leave them out."),
        (
            {"top": {"mater": 3}, "by": ["user", "matter"]},
            "top={'mater': …} is not one of the keys to choose from. Did",
        ),
        ({"top": {"month": 3}, "by": ["user", "month"]}, "top={'month': …} is not one of the keys to choose from."),
        ({"top": {"user": 0}, "by": "user"}, "top['user']=0 must be a whole number of groups above 0."),
        ({"top": {"user": 1}}, "top={'user': …} is not one of the keys to choose from. by= has none."),
        ({"top": {}, "by": "user"}, "top={} has no keys"),
    ],
)
def test_what_can_mislead_is_refused_in_a_sentence(book, options, said):
    with pytest.raises(ParameterError) as error:
        book.figures("client_hours", **options)
    assert said in str(error.value)


def test_a_label_that_is_a_key_and_a_span_before_the_frames_are_refused():
    frames = frames_on("pandas")
    entries = frames["time_entries"].assign(client_hours_x="a")
    with pytest.raises(ParameterError, match="the column 'client_hours_x' has another meaning"):
        figures("client_hours", by="client_hours_x", spans={"x": "2026-10"}, **frames | {"time_entries": entries})
    with pytest.raises(NoDataError, match="spans={'x': …}: The period ends on 31 December 2010"):
        figures("client_hours", spans={"x": "2010"}, **frames)


def test_tables_charts_and_displays_show_spans_with_their_units(book):
    spans = {"week": ("2026-10-19", "2026-10-23"), "to_date": ("2026-01-01", "2026-10-23")}
    result = book.figures("client_hours", "utilization", by="role", spans=spans)
    text = tables.figures(result).as_raw_html()
    assert "Client hours, to date" in text
    total = book.utilization(by=None, start="2026-10-19", end="2026-10-23")["utilization"][0]
    assert f"{total:.1%}" in text
    assert f"{total:.1%}" not in tables.figures(result.head(2)).as_raw_html()
    assert f"{result['utilization_week'][0]:.1%}" in bf.show(result)._repr_html_()
    ax = plots.figures(result)
    assert ax.get_title(loc="left").startswith("Client hours, week")
