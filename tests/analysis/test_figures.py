"""Figures side by side: each is that of its own analysis, and names, filters and comparisons mislead nobody."""

from __future__ import annotations

import math

import pandas as pd
import pytest

import billframes as bf
from billframes import FirmSettings, plots, tables
from billframes.analysis.results.figure_names import figure_names, find_figure
from billframes.analysis.results.figures_side_by_side import figures
from billframes.analysis.results.result_rows import key_columns
from billframes.errors import IncompleteDataWarning, ParameterError
from billframes.loading.load_info import attached
from tests.analysis import golden_firms
from tests.analysis.conftest import ENGINES, rows_of
from tests.analysis.golden_firms import KEYS
from tests.firms import add, make_firm, on

# Those of cash need payments of the books: tests/ledger/test_figures_of_cash.py.
# Cash and its forecast have tests of their own.
OF_FIRM = [each for each in figure_names().values() if not (each.analysis.needs_payments or each.analysis.is_forecast)]
COLUMNS = list(dict.fromkeys(each.column for each in OF_FIRM))
TIMES = {"month", "quarter", "year"}
DAYS = {"start": "2026-07-01", "end": "2026-10-31"}
FRAMES = ("time_entries", "expenses", "fixed_fees", "invoices", "matters", "users", "clients")
SUMS = {"client_hours", "billed_amount", "wip_amount", "receivable_amount"}

pytestmark = pytest.mark.filterwarnings("ignore::billframes.errors.BillframesWarning")


def firm(name, engine="pandas"):
    """Return the frames of a made-up firm of the golden results, and its settings."""
    made = {each: (make, settings) for each, make, settings in golden_firms.firms(None, FirmSettings())}
    make, settings = made[name]
    return {each: frame for each, frame in make(engine).items() if each in FRAMES}, settings


def check(name, engine, key):
    """Compare all figures, also those that other analyses have under the same name, with the analyses; count them."""
    frames, settings = firm(name, engine)
    by, compared = key.split() or None, 0
    result = figures(*COLUMNS, by=by, **DAYS, settings=settings, **frames)
    missing = attached(result, "missing") or {}
    rows = {identity(row, list(row)[: -len(COLUMNS)]): row for row in rows_of(result)}
    own = {}
    for each in OF_FIRM:
        analysis = each.analysis
        if analysis.name not in own and ("start" in analysis.takes or not TIMES & {*key.split()}):
            own[analysis.name] = own_rows(analysis, frames, settings, by)
        if own.get(analysis.name) is None:
            assert analysis.name not in own or each.column in missing or find_figure(each.column).analysis != analysis
            continue
        assert own[analysis.name].keys() <= rows.keys()
        for ids, row in rows.items():
            there, value = own[analysis.name].get(ids), row[each.column]
            wanted = there.get(each.measure.name) if there else (0.0 if each.measure.adds_up else None)
            unknown = there is None and value is None and (each.column in missing or each.measure.missing_is_none)
            assert unknown or is_near(value, wanted), (analysis.name, each.column, ids)
            compared += 1
    return compared


def own_rows(analysis, frames, settings, by):
    """Return the rows of an analysis by the ids of their keys; None if it does not know the keys."""
    given = {**frames, **DAYS, "as_of": DAYS["end"], "settings": settings, "by": by}
    takes = analysis.takes - ({"as_of"} if "start" in analysis.takes else set())
    try:
        rows = rows_of(analysis.function(**{name: each for name, each in given.items() if name in takes}))
    except ParameterError as error:
        if not str(error).startswith("by="):
            raise
        return None
    return {identity(row, key_columns(list(row), analysis)): row for row in rows}


def identity(row, keys):
    return tuple(row[key] for key in keys if not key.endswith(("_name", "_label")))


def is_near(one, other):
    if isinstance(one, float) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return one == other or (None not in (one, other) and pd.Timestamp(one) == pd.Timestamp(other))


@pytest.mark.slow
def test_each_figure_is_that_of_its_analysis():
    assert check("mixed", "pandas", "practice_area user") > 100


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "name", "keys"),
    [("pandas", "mixed", KEYS[::6]), ("polars", "taxed", ["client month"])],
)
def test_each_figure_is_that_of_its_analysis_on_every_engine(engine, name, keys):
    for key in keys:
        assert check(name, engine, key) > 100


@pytest.fixture(scope="module")
def book(client):
    return bf.book("2026-Q3", client=client)


@pytest.mark.slow
def test_a_book_has_the_figures_of_its_methods(book):
    result = book.figures(
        "client_hours", "billed_amount", "billing_realization", "wip", "receivables", by="practice_area"
    )
    assert list(result)[2:] == [
        "client_hours",
        "billed_amount",
        "billing_realization",
        "wip_amount",
        "receivable_amount",
    ]
    for name, column, own in [
        ("realization", "billed_amount", "billed_amount"),
        ("wip", "wip_amount", "total"),
        ("aging", "receivable_amount", "total"),
        ("utilization", "client_hours", "client_hours"),
    ]:
        rows = getattr(book, name)("practice_area").set_index("practice_area_label")[own]
        found = result.set_index("practice_area_label")[column]
        pd.testing.assert_series_equal(found, rows.reindex(found.index).fillna(0.0), check_names=False)


def test_balances_by_month_are_those_at_the_end_of_each(book):
    result = book.figures("wip", "receivables", "billed_amount", by="month", start="2026-09-01", end="2026-10-31")
    ends = [book.wip(as_of=day)["total"].iloc[0] for day in ("2026-09-30", "2026-10-31")]
    assert result["wip_amount"].tolist() == pytest.approx(ends)
    assert pd.isna(result["receivable_amount"].iloc[0])
    assert result["receivable_amount"].iloc[1] == pytest.approx(book.aging(as_of="2026-10-31")["total"].iloc[0])
    assert result.attrs["missing"]["receivable_amount"].startswith("Balances of earlier days are not known")
    assert result.attrs["total"]["wip_amount"] is None
    assert result.attrs["total"]["billed_amount"] == pytest.approx(result["billed_amount"].sum())


@pytest.mark.slow
def test_all_values_of_a_filter_add_up_to_the_whole(book):
    areas = [*book.figures("billed_amount", by="practice_area")["practice_area_label"]]
    names = ("billed_amount", "worked_amount", "client_hours", "wip")
    parts = [book.figures(*names, by="user", where={"practice_area": area}) for area in areas]
    whole = book.figures(*names, by="user").set_index("user_id")
    numbers = whole.select_dtypes("number")
    added = pd.concat(parts).groupby("user_id", dropna=False)[[*numbers]].sum()
    pd.testing.assert_frame_equal(added.reindex(numbers.index).fillna(0.0), numbers, atol=1e-9)
    several = book.figures("billing_realization", where={"practice_area": areas[:2]})
    own = book.realization("practice_area").head(2)
    assert several["billing_realization"][0] == pytest.approx(own["billed_amount"].sum() / own["worked_amount"].sum())


def test_the_largest_groups_are_kept_and_the_others_added_up(book):
    result = book.figures("billed_amount", "billing_realization", "median_lag_days", by="client", top=3)
    own = book.realization("client").sort_values("billed_amount", ascending=False)
    assert result["client_id"].tolist()[:3] == own["client_id"].tolist()[:3]
    assert pd.isna(result["client_id"].iloc[3])
    assert result["client_name"].iloc[3].startswith("Others (")
    rest = own.iloc[3:]
    assert result["billed_amount"].iloc[3] == pytest.approx(rest["billed_amount"].sum())
    assert result["billing_realization"].iloc[3] == pytest.approx(
        rest["billed_amount"].sum() / rest["worked_amount"].sum()
    )
    assert pd.isna(result["median_lag_days"].iloc[3])
    assert result.attrs["missing"]["median_lag_days"] == "That of several rows can't be calculated from theirs."


@pytest.mark.slow
def test_a_period_that_is_not_over_is_compared_with_the_same_days(client):
    quarter = bf.book("2026-Q4", client=client)
    with pytest.warns(
        IncompleteDataWarning, match=r"^receivable_amount_year_ago is missing .* mirror.as_of\(day\).book"
    ):
        result = quarter.figures("billed_amount", "receivables", by="user", compare="year_ago").set_index("user_id")
    before = quarter.realization("user", start="2025-10-01", end="2025-10-31").set_index("user_id")["billed_amount"]
    found = result["billed_amount_year_ago"]
    pd.testing.assert_series_equal(found, before.reindex(found.index).fillna(0.0), check_names=False)
    assert (result["billed_amount_since_year_ago"] - (result["billed_amount"] - found)).abs().max() < 1e-9
    assert result["receivable_amount_year_ago"].isna().all()
    first = bf.book("2024-01", client=client).figures("billed_amount", compare="previous")
    assert pd.isna(first["billed_amount_previous"][0])
    assert first.attrs["missing"]["billed_amount_previous"] == "The data begin on 2024-01-02."


@pytest.mark.parametrize(
    ("names", "options", "said"),
    [
        (["biled_amount"], {}, "There is no figure 'biled_amount'. Did you mean 'billed_amount'?"),
        (
            ["billable_hours"],
            {},
            "'billable_hours' does not say which figure is meant. Write one of: 'utilization.bill",
        ),
        (["total"], {}, "Write one of: 'wip_amount' (.*); 'receivable_amount'"),
        (["lockup_days"], {}, "'lockup_days' can't stand beside other figures; call book.lockup(…)."),
        (
            ["cash_forecast_record.cash_amount"],
            {},
            "can't stand beside other figures; call book.cash_forecast_record(…).",
        ),
        (["realization"], {}, "'realization' is an analysis. Write the names of its figures"),
        ([], {}, "figures needs the names of figures"),
        (["fees"], {}, "There is no figure 'fees'. Did you mean 'fees_amount'?"),
        (["fees net billed"], {}, "There is no figure 'fees net billed'."),
        (["write_offs"], {}, "Did you mean 'written_off_amount'?"),
        (["billed fees"], {}, "Did you mean 'billed_amount'?"),
        (["leakage"], {}, "Did you mean 'write_down_amount'?"),
        (["hours"], {}, "'client_hours' (.*); 'wip.hours' (Hours of the"),
        ([["wip", "receivables"]], {}, "'receivables'. is not the name of a figure; write names, such as"),
        ([pd.DataFrame({"wip": [1.0]})], {}, "figure (a DataFrame) is not the name of a figure; write names, such"),
        (
            ["wip"],
            {"where": {"client": "Nobody"}},
            "where={'client': 'Nobody'}: No client has the name",
        ),
        (["wip"], {"where": {"client": []}}, "has no values, so "),
        (["wip"], {"where": "client"}, "where takes keys with their values"),
        (["receivables"], {"by": ["billing_type", "client"], "top": 2}, "by='billing_type'"),
        (["wip"], {"where": {"month": "2026-10"}}, "days are chosen by start= and end="),
        (["wip"], {"by": "colour"}, "by='colour' is neither a short name nor a column"),
        (["wip"], {"top": 3}, "top= needs rows to choose from: pass by="),
        (["wip"], {"by": "month", "compare": "previous"}, "compare= is for rows without weeks, months"),
        (["wip"], {"compare": "previous", "as_of": "2026-10-01"}, "leave out as_of="),
        (["client_hours"], {"start": "2031"}, "The period begins on 1 January 2031, after the day of the data"),
    ],
)
def test_what_can_mislead_is_refused_in_a_sentence(book, names, options, said):
    with pytest.raises(ParameterError, match=said.replace("(", r"\(").replace(")", r"\)").replace(r"\(.*\)", "(.*)")):
        book.figures(*names, **options)


def test_a_figure_without_the_keys_is_missing_with_the_reason(book):
    result = book.figures("receivables", "billed_amount", by="billing_type")
    assert result["receivable_amount"].isna().all()
    assert result.attrs["missing"] == {"receivable_amount": "It is not known by billing_type."}


def test_tables_charts_and_explanations_show_figures(book):
    result = book.figures("billed_amount", "billing_realization", "wip", by="practice_area")
    text = tables.figures(result).as_raw_html()
    total = book.realization(by=None)["billing_realization"][0]
    assert f"{total:.1%}" in text
    assert f"{total:.1%}" not in tables.figures(result.head(2)).as_raw_html()
    ax = plots.figures(result)
    assert ax.get_title(loc="left") == "Fees billed, work in progress and billing realization by practice area"
    assert "contribution.billed_amount" in repr(bf.explain("billed_amount"))
    assert "wip_amount" in repr(bf.explain("figures"))


@pytest.mark.slow
def test_made_up_firms_have_right_figures_or_a_reason():
    """One warning a cause, the trade's words in filters, and nothing known before the first record."""
    frames = {name: each for name, each in on(make_firm(2), ENGINES["pandas"]).items() if name in FRAMES}
    days = {"start": "2025-10", "compare": "previous"}
    first = figures("client_hours", "billed_amount", **days, **frames)
    assert first["client_hours_previous"].isna().all()
    assert first.attrs["missing"]["client_hours_previous"] == "The data begin on 2025-10-01."
    partner = figures("wip", by="partner", where={"lawyer": "Person 0"}, start="2026-10", **frames)
    assert partner["responsible_name"].tolist() == ["Person 0"]
    twice = {name: pd.concat([each, each]) for name, each in frames.items()}
    with pytest.warns(IncompleteDataWarning) as said:
        doubled = figures("wip", "billed_amount", "client_hours", start="2026-10", **twice)
    texts = [str(each.message) for each in said]
    assert len(texts) == len(set(texts))
    assert doubled["wip_amount"][0] == figures("wip", start="2026-10", **frames)["wip_amount"][0]
    hidden = {name: each for name, each in on(make_firm(hidden=True), ENGINES["pandas"]).items() if name in FRAMES}
    known = figures("billed_amount", "worked_amount", "wip", by="user", start="2026-10", **hidden)
    assert known["billed_amount"].notna().all()
    assert {*known.attrs["missing"]} == {"worked_amount", "wip_amount"}


def test_groups_of_one_period_are_compared_and_unknown_sums_stay_unknown():
    frames = {name: each for name, each in on(make_firm(2), ENGINES["pandas"]).items() if name in FRAMES}
    entries = frames["time_entries"]
    days = {"start": "2026-10", "compare": "previous"}
    early = entries[(entries["matter_id"] != "m1") | (entries["date"] < "2026-10-01")]
    late = entries[(entries["matter_id"] != "m1") | (entries["date"] >= "2026-10-01")]
    for shown, (now, before) in ((early, (False, True)), (late, (True, False))):
        given = {**frames, "time_entries": shown}
        row = figures("client_hours", by="matter", where={"matter": "m1"}, **days, **given).iloc[0]
        assert (row["client_hours"] > 0, row["client_hours_previous"] > 0) == (now, before)
        assert row["client_hours_since_previous"] == row["client_hours"] - row["client_hours_previous"]
    hidden = entries.assign(amount=entries["amount"].mask(entries["user_id"] == "u0"))
    given = {**frames, "time_entries": hidden}
    rows = figures("worked_amount", "client_hours", by="user", **days, **given).set_index("user_id")
    unknown = rows.loc["u0"].filter(like="worked_amount")
    assert unknown.isna().all()
    assert rows["worked_amount"].notna().any()


def two_people(engine="pandas"):
    """Return the frames of a firm with a client and a person without work."""
    tables = add(make_firm(), "clients", {"client_id": "c9", "name": "Idle"})
    made = on(add(tables, "users", {"user_id": "u9", "name": "Cy Idle"}), ENGINES[engine])
    return {name: made[name] for name in FRAMES}


@pytest.mark.slow
@pytest.mark.sweep
@pytest.mark.parametrize("engine", ["pandas", "polars lazy"])
@pytest.mark.parametrize(
    "where",
    [{"client": "Idle"}, {"client": "c9"}, {"user": "Cy Idle"}, {"user": "u9"}, {"user": "idle"}, {"user": "Cy"}],
)
def test_clients_and_people_without_rows_are_0_also_from_frames(engine, where):
    """They were refused, although a book returns 0."""
    rows = rows_of(figures("billed_amount", "wip", where=where, start="2026-10", **two_people(engine)))
    assert rows == [{"billed_amount": 0.0, "wip_amount": 0.0}]
    with pytest.raises(ParameterError, match="No client has the name, reference or id 'Nobody'"):
        figures("billed_amount", where={"client": "Nobody"}, start="2026-10", **two_people(engine))


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["pandas", "polars lazy"])
def test_a_part_of_a_name_filters_if_it_fits_one_record_of_the_firm(engine):
    made = on(make_firm(), ENGINES[engine])
    frames = {name: made[name] for name in FRAMES}
    whole = rows_of(figures("billed_amount", where={"client": "c0"}, start="2026-10", **frames))
    assert whole[0]["billed_amount"] > 0
    for text in ("0", "client 0", " CLIENT 0 "):
        assert rows_of(figures("billed_amount", where={"client": text}, start="2026-10", **frames)) == whole
    # Clients without rows in the period count, too.
    tables = add(make_firm(), "clients", {"client_id": "c9", "name": "Zero (0), Inc.", "reference": "B9"})
    made = on(tables, ENGINES[engine])
    with pytest.raises(ParameterError, match=r"'0'\}: 2 clients fit '0'; give one of .*B9 \(Zero \(0\), Inc\.\)"):
        figures("billed_amount", where={"client": "0"}, start="2026-10", **{name: made[name] for name in FRAMES})


@pytest.mark.slow
def test_a_figure_that_is_a_date_stays_one_if_rows_are_added_up_and_is_none_to_choose_by():
    """Dates and missing numbers were one column, which no Arrow table holds."""
    options = {"by": "client", "start": "2026-10", **two_people()}
    for more in ({"where": {"user": ["u0", "u1"]}}, {"top": 1}, {"top": 1, "where": {"matter": ["m0", "m1"]}}):
        assert figures("wip", "oldest_date", **more, **options)["oldest_date"].dtype.kind == "M"
    with pytest.raises(ParameterError, match="top= chooses by the first figure, and 'oldest_date' is a date"):
        figures("oldest_date", "wip", top=1, **options)
