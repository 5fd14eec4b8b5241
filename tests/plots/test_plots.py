"""Charts show the numbers of the result, the largest first, and leave pyplot alone."""

from __future__ import annotations

import datetime as dt
import html
import inspect
import io
import itertools
import sys

import matplotlib as mpl
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure

from billframes import plots
from billframes.analysis import bridge
from billframes.analysis.declare.lookup import measures
from billframes.errors import MissingColumnError, ParameterError, UnknownNameError
from billframes.plots.axes import fit_narrow
from billframes.widgets.pictures import svg_address
from tests.firms import add, make_firm
from tests.report.test_firms import report_of

CHARTS = [getattr(plots, name) for name in plots.__all__]


def call_of(draw):
    """How users call what the chart shows; figures of several analyses are in the package itself."""
    return f"billframes.{'' if draw.__name__ == 'figures' else 'analysis.'}{draw.__name__}"


def every_measure(rows: int) -> pd.DataFrame:
    """A result with every measure, one row per client: it fits the chart of every analysis."""
    keys = pd.DataFrame({"client_name": [f"Client {number} of a rather long name, Inc." for number in range(rows)]})
    values = {name: [10.0 + number for number in range(rows)] for name in ("0-30", "31+", *measures())}
    return keys.join(pd.DataFrame(values))


@pytest.fixture(scope="module")
def book():
    """A firm of five clients, the first of which has an unused credit."""
    credit = {"invoice_id": "i9", "invoice_number": "9", "invoice_state": "final", "amount": -700.0, "balance": -700.0}
    days = {"invoice_date": dt.date(2026, 10, 5), "due_date": dt.date(2026, 11, 5)}
    return report_of(add(make_firm(taxes=(0.0,) * 5), "invoices", credit | days)).book


@pytest.fixture
def hours() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "user_id": ["u1", "u2", None],
            "user_name": ["Ada", "Ben", "Unassigned"],
            "billable_hours": [100.0, 0.0, 3.0],
            "client_hours": [132.0, 0.0, 3.0],
            "capacity_hours": [176.0, 88.0, None],
            "utilization": [0.75, 0.0, None],
        }
    )


@pytest.fixture
def fees() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "month": ["2026-08", "2026-09", "2026-10"],
            "worked_amount": [100_000.0, 0.0, 200_000.0],
            "billed_amount": [90_000.0, -500.0, 210_000.0],
            "billing_realization": [0.9, None, 1.05],
        }
    )


UNITS = {"k": 1e3, "m": 1e6, "%": 0.01, "": 1.0}


def tick(text: str) -> float:
    """Read the label of a tick."""
    number = text.rstrip("km%")
    return float(number.replace("−", "-").replace(",", "")) * UNITS[text[len(number) :]]


@pytest.mark.slow
@pytest.mark.sweep
@pytest.mark.parametrize(
    "largest", [3.0, 9.0, 17.0, 22.0, 44.0, 1_100.0, 1_900.0, 14_000.0, 230_000.0, 1.6e6, 1.95e6, 2.4e7]
)
@pytest.mark.parametrize("kind", ["realization", "utilization", "effective_rates"])
def test_the_label_of_a_tick_shows_its_position(kind, largest):
    rows = every_measure(3)
    for low, narrow in itertools.product((largest / 3, -largest / 3), (False, True)):
        values = {name: [largest, low, largest / 7] for name in rows if name != "client_name"}
        ax = getattr(plots, kind)(rows.assign(**values))
        if narrow:
            fit_narrow(ax)
        ax.figure.canvas.draw()
        labels = [(each.get_position()[0], each.get_text()) for each in ax.get_xticklabels()]
        assert len(labels) > 3
        assert [tick(text) for _, text in labels] == pytest.approx([place for place, _ in labels], rel=1e-9, abs=1e-9)


def test_the_label_of_a_tick_shows_its_position_if_the_axis_does_not_begin_at_0():
    for before, after in ((0.8811, 0.8852), (0.5, 0.52), (0.9, -0.2)):
        ends = {"before_ratio": before, "after_ratio": after, "change_ratio": after - before}
        ax = plots.bridge(pd.DataFrame({"client_name": ["Acme"], **{name: [each] for name, each in ends.items()}}))
        ax.figure.canvas.draw()
        for label in ax.get_xticklabels():
            assert tick(label.get_text()) == pytest.approx(label.get_position()[0], abs=1e-9)


@pytest.fixture
def owed() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "client_id": ["c1", "c2"],
            "client_name": ["Acme", "Bolt"],
            "current": [60.0, -20.0],
            "1-30": [30.0, 0.0],
            "31-60": [0.0, 5.0],
            "61-90": [0.0, 0.0],
            "91+": [10.0, 0.0],
            "total": [100.0, -15.0],
            "overdue": [40.0, 5.0],
        }
    )


def names(ax) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def title(ax) -> str:
    return ax.get_title(loc="left")


def words(ax) -> list[str]:
    return [text.get_text() for text in ax.texts]


def lengths(container) -> list[float]:
    return [bar.get_width() for bar in container]


def heights(container) -> list[float]:
    return [bar.get_height() for bar in container]


@pytest.mark.parametrize("ax", [3, [1, 2], Figure()])
def test_what_is_not_axes_is_refused(hours, ax):
    with pytest.raises(ParameterError, match="it takes one Axes"):
        plots.utilization(hours, ax=ax)
    with pytest.raises(ParameterError, match="result is None; the chart takes a frame"):
        plots.utilization(None)


def test_people_are_bars_with_the_most_client_hours_at_the_top(hours):
    ax = plots.utilization(hours)
    available, client = ax.containers
    assert lengths(available) == [176.0, 0.0, 88.0]
    assert lengths(client) == [132.0, 3.0, 0.0]
    assert words(ax) == ["75.0%", "–", "0.0%"]
    assert names(ax) == ["Ada", "Unassigned", "Ben"]
    assert ax.yaxis_inverted()


def test_rows_are_sorted_by_size_unless_they_are_periods():
    rows = pd.DataFrame({"client_name": ["Acme", "Bolt", "Cole"], "0-30": [9.0, 30.0, 20.0], "total": 20.0})
    assert names(plots.wip(rows)) == ["Bolt", "Cole", "Acme"]
    times = rows.drop(columns="client_name")
    times.insert(0, "month", ["2026-08", "2026-09", "2026-10"])
    assert names(plots.wip(times)) == ["Aug 2026", "Sep 2026", "Oct 2026"]
    pairs = rows.assign(credit_amount=0.0, **{"91+": 0.0})
    pairs.insert(1, "month", "2026-10")
    assert names(plots.aging(pairs))[0] == "Bolt · 2026-10"


@pytest.mark.parametrize("name", ["savefig", "save", "to_png"])
def test_a_chart_says_what_saves_it(owed, name):
    with pytest.raises(UnknownNameError, match=f"The chart has no '{name}'. Did you mean 'figure.savefig'"):
        getattr(plots.aging(owed), name)


@pytest.mark.parametrize("draw", [each for each in CHARTS if each.__name__ not in {"bridge", "figures", "lockup"}])
def test_of_many_rows_the_largest_are_drawn_and_the_others_are_one_row(draw):
    """Each result has its largest row last, and one with a large negative amount, which must not be hidden either."""
    rows = every_measure(30)
    numbers = [name for name in rows if name != "client_name"]
    rows.loc[29, numbers] = 5_000.0
    rows.loc[7, numbers] = -900.0
    shown = names(draw(rows))
    assert len(shown) == 20
    assert shown[0].startswith("Client 29 ")
    assert shown[-1] == "11 others"
    assert sum(each.startswith("Client 7 ") for each in shown) == 1


def test_others_have_a_bar_only_if_it_is_not_the_longest():
    rows = pd.DataFrame({"client_name": [f"Client {nth}" for nth in range(40)], "fees_amount": 10.0, "share": 0.025})
    rows = rows.assign(running_share=[(nth + 1) / 40 for nth in range(40)])
    ax = plots.contribution(rows)
    assert words(ax)[-1] == "210 · 52.5%"
    assert lengths(ax.containers[0])[-1] == 0.0
    assert list(ax.figure.axes[1].lines[0].get_xdata())[-1] == 1.0
    ax = plots.contribution(rows.assign(fees_amount=[1_000.0, *[1.0] * 39]))
    assert lengths(ax.containers[0])[-1] == 21.0


def test_a_title_has_the_days_and_the_currency(fees, book):
    month = book.realization(by="client")
    assert title(plots.realization(month)) == "Value of time billed and fees billed by client, October 2026"
    assert title(plots.realization(month, currency="EUR")).endswith(" by client, October 2026, EUR")
    assert title(plots.utilization(book.utilization(), currency="EUR")).endswith(" by timekeeper, October 2026")
    assert title(plots.aging(book.aging())) == "Receivables by days past due, 31 October 2026"
    assert title(plots.lockup(book.lockup())) == "Days of fees tied up, 31 October 2026"
    change = book.bridge("billing_realization", before="2026-09")
    assert title(plots.bridge(change)) == (
        "Billing realization, from before to after by client\nSeptember 2026 to October 2026"
    )
    assert title(plots.realization(fees)) == "Value of time billed and fees billed by month"


@pytest.mark.parametrize("name", ["aging", "exposure", "lockup", "wip"])
def test_the_parts_of_a_stack_add_up_to_the_figure_beside_it(book, name):
    ax = getattr(plots, name)(getattr(book, name)(by="client"))
    parts = [sum(bars[row].get_width() for bars in ax.containers) for row in range(len(ax.texts))]
    shown = [float(text.replace(",", "").replace("−", "-").split()[0]) for text in words(ax)]
    assert len(parts) == 5
    assert shown == pytest.approx(parts, abs=0.51)


def test_money_by_age_has_unused_credits_and_adds_up_to_its_total(book):
    whole = plots.aging(book.aging())
    assert sum(heights(whole.containers[0])) == pytest.approx(float(book.aging()["total"].iloc[0]))
    assert [label.get_text() for label in whole.get_xticklabels()][-1] == "Unused credits"


def test_without_available_hours_only_client_hours_are_drawn(hours):
    ax = plots.utilization(hours.assign(capacity_hours=None, utilization=None))
    assert [lengths(bars) for bars in ax.containers] == [[132.0, 3.0, 0.0]]
    assert words(ax) == ["132.0", "3.0", "0.0"]
    assert ax.get_title(loc="left") == "Client hours by timekeeper"


def test_months_are_columns_in_time(fees):
    ax = plots.realization(fees)
    worked, billed = ax.containers
    assert heights(worked) == [100_000.0, 0.0, 200_000.0]
    assert heights(billed) == [90_000.0, -500.0, 210_000.0]
    assert words(ax) == ["90.0%", "–", "105.0%"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["Aug\n2026", "Sep\n2026", "Oct\n2026"]


def test_a_part_of_nothing_is_not_drawn_as_a_dark_line():
    columns = {"0-30": [5.0, 0.0], "31-60": [5.0, 20.0], "61+": [0.0, 3.0], "total": [10.0, 23.0]}
    drawn = plots.wip(pd.DataFrame({"month": ["2026-09", "2026-10"], **columns}))
    edges = [(bar.get_width() > 0, bar.get_linewidth() > 0) for part in drawn.containers for bar in part]
    assert edges == [(True, True), (False, False), (True, True), (True, True), (False, False), (True, True)]


def test_an_axis_names_its_unit(fees, hours, owed):
    assert plots.realization(fees).get_ylabel() == "Amount"
    assert plots.utilization(hours).get_xlabel() == "Hours"
    whole = plots.aging(owed.drop(columns=["client_id", "client_name"]).iloc[:1])
    assert (whole.get_xlabel(), whole.get_ylabel()) == ("Days past due", "Amount")


def test_hidden_rates_leave_billed_fees(fees):
    ax = plots.realization(fees.assign(worked_amount=None, billing_realization=None))
    assert words(ax) == ["90k", "−500", "210k"]
    assert ax.get_title(loc="left") == "Fees billed by month"


def test_receivables_are_stacked_by_age_and_credits_lie_left_of_zero(owed):
    ax = plots.aging(owed)
    assert [lengths(bars) for bars in ax.containers] == [[60, -20], [30, 0], [0, 5], [0, 0], [10, 0]]
    starts = [[bar.get_x() for bar in bars] for bars in ax.containers]
    assert starts[1] == [60.0, 0.0]
    assert words(ax) == ["100", "−15"]


def test_receivables_of_the_firm_are_one_column_per_bucket(owed):
    whole = owed.drop(columns=["client_id", "client_name"]).iloc[:1]
    ax = plots.aging(whole)
    assert heights(ax.containers[0]) == [60.0, 30.0, 0.0, 0.0, 10.0]
    assert words(ax)[0] == "60\n60.0%"


def test_a_picture_has_its_whole_legend_beside_long_names(owed):
    figure = Figure(figsize=(6.0, 3.0), layout="none")
    ax = plots.aging(owed.assign(client_name=["Acme " * 8, "Bolt"]), figure.add_subplot())
    svg_address(ax)
    legend = ax.get_legend().get_window_extent()
    assert legend.x1 == pytest.approx(figure.bbox.x1)
    assert 0 < legend.x0 < ax.bbox.x0


def test_buckets_of_the_invoice_date_say_so(owed):
    ax = plots.aging(owed.drop(columns="current").rename(columns={"1-30": "0-30"}))
    assert ax.get_title(loc="left") == "Receivables by client, by days since the invoice date"


def test_two_keys_are_joined_and_equal_names_have_ids_or_numbers(owed):
    ax = plots.aging(owed.assign(client_name="Acme"))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["Acme (c1)", "Acme (c2)"]
    ax = plots.aging(owed.assign(client_name="Acme").drop(columns="client_id"))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["Acme", "Acme (2)"]
    both = owed.drop(columns="client_id").assign(role=["attorney", "principal"])
    both = both[["client_name", "role", *both.columns[1:-1]]]
    ax = plots.aging(both)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["Acme · attorney", "Bolt · principal"]


@pytest.mark.parametrize("name", ["A $5 and $6 Co", "<b>", "a_b^c"])
def test_names_are_drawn_as_they_are(hours, name):
    ax = plots.utilization(hours.assign(user_name=name))
    buffer = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none"}):
        ax.figure.savefig(buffer, format="svg")
    assert f">{html.escape(name)}<" in buffer.getvalue()


def test_axes_that_are_passed_are_used(hours):
    mine = Figure().add_subplot()
    assert plots.utilization(hours, ax=mine) is mine


def test_a_chart_shows_itself_in_a_notebook(hours):
    assert plots.utilization(hours)._repr_png_().startswith(b"\x89PNG")


def test_a_saved_chart_has_its_whole_title_and_legend(owed):
    long = owed.assign(client_name=["The Long-Named Mutual Fire and Marine Insurance Company", "Acme"])
    figure = plots.aging(long).figure
    saved, cut = io.BytesIO(), io.BytesIO()
    figure.savefig(saved, format="png", dpi=100)
    figure.savefig(cut, format="png", dpi=100, bbox_inches=None)
    assert figure.axes[0].get_legend().get_window_extent().x1 > figure.bbox.x1
    assert width_of(saved) >= figure.get_tightbbox().width * 100 > width_of(cut) == 720


def width_of(png: io.BytesIO) -> int:
    return int.from_bytes(png.getvalue()[16:20], "big")


def test_labels_of_percentages_do_not_overlap():
    names = [f"{'W' * 31} {each}" for each in range(8)]
    changes = [-0.448, 0.32, -0.32, -0.32, -0.256, 0.256, 0.192, 0.192]
    made = [
        pd.DataFrame(
            {"client_name": names, "worked_amount": 100.0, "billed_amount": billed, "billing_realization": 0.0}
        )
        for billed in (92.3, [92.3 + 100 * each for each in changes])
    ]
    ax = plots.bridge(bridge(*made))
    ax.figure.savefig(io.BytesIO(), format="png")
    boxes = [each.get_window_extent() for each in ax.get_xticklabels() if each.get_text()]
    assert len(boxes) > 3
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


def test_an_empty_result_is_an_empty_chart(hours, fees, owed):
    for draw, frame in ((plots.utilization, hours), (plots.realization, fees), (plots.aging, owed)):
        assert words(draw(frame.iloc[:0])) == []


def test_all_engines_give_the_same_chart(hours, owed):
    assert words(plots.utilization(pl.from_pandas(hours))) == ["75.0%", "–", "0.0%"]
    assert words(plots.aging(pl.from_pandas(owed).lazy())) == ["100", "−15"]
    assert words(plots.aging(pl.from_pandas(owed).to_arrow())) == ["100", "−15"]


@pytest.mark.parametrize("draw", CHARTS)
def test_a_frame_of_something_else_says_what_is_missing(draw):
    with pytest.raises(MissingColumnError, match=rf"pass a result of {call_of(draw)}\(\). It has: hours"):
        draw(pd.DataFrame({"hours": [1.0]}))
    with pytest.raises(ParameterError, match=rf"takes a frame, the result of {call_of(draw)}\(\)"):
        draw([1.0])


@pytest.mark.slow
@pytest.mark.sweep
@pytest.mark.parametrize("rows", [0, 1, 60])
@pytest.mark.parametrize("draw", CHARTS)
def test_every_chart_draws_none_one_and_many_rows_on_axes_that_are_passed(draw, rows):
    mine = Figure(layout="constrained").add_subplot()
    assert draw(every_measure(rows), ax=mine) is mine
    # A waterfall has its two ends as rows, too, and adds up what is after its eleventh step.
    shown = min(rows, 12) + 2 if draw is plots.bridge else min(rows, 20)
    assert len(mine.get_yticklabels()) == shown
    mine.figure.canvas.draw()


def test_a_waterfall_of_a_ratio_steps_from_group_to_group():
    parts = bridge_of([0.9, 0.5], [0.8, 0.7])
    ax = plots.bridge(parts)
    assert words(ax) == ["70.0%", "+10.0 pts", "−5.0 pts", "75.0%"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["Before", "Bolt", "Acme", "After"]
    rise, fall = ax.containers
    assert [(bar.get_x(), bar.get_width()) for bar in (*rise, *fall)] == [
        pytest.approx((0.7, 0.1)),
        pytest.approx((0.8, -0.05)),
    ]
    low, high = ax.get_xlim()
    assert low < 0.7 < 0.8 < high


def bridge_of(before: list[float], after: list[float]) -> pd.DataFrame:
    """The bridge of two clients that have half of the work each."""
    made = [
        pd.DataFrame(
            {"client_name": ["Acme", "Bolt"], "worked_amount": 100.0, "billed_amount": [100 * r for r in each]}
        )
        for each in (before, after)
    ]
    return bridge(*(each.assign(billing_realization=0.0) for each in made))


def test_a_waterfall_of_fees_steps_from_hours_to_mix():
    parts = pd.DataFrame({f"{each}_change_amount": [1000.0, 500.0] for each in ("hours", "rate", "realization", "mix")})
    ax = plots.bridge(parts.assign(before_amount=100.0, after_amount=3100.0))
    assert [label.get_text() for label in ax.get_yticklabels()][1:-1] == [
        "Due to hours",
        "Due to rate",
        "Due to realization",
        "Due to the mix of work",
    ]
    assert words(ax) == ["200", "+1,500", "+1,500", "+1,500", "+1,500", "6,200"]


def test_after_eleven_steps_the_others_are_one():
    ax = plots.bridge(every_measure(60).assign(change_ratio=0.01))
    assert [label.get_text() for label in ax.get_yticklabels()][-2:] == ["49 others", "After"]
    assert words(ax)[-2] == "+49.0 pts"


def test_a_budget_is_a_mark_and_words_stay_clear_of_it():
    used = every_measure(1).assign(budget_amount=1e6, unknown_amount=0.0, budget_burn=0.125)
    ax = plots.budget_burn(used)
    assert words(ax) == ["12.5%"]
    assert ax.texts[0].xy[0] == 1e6
    assert [text.get_text() for text in ax.get_legend().get_texts()][:2] == ["Budget", "Fees billed to date"]
    assert "Unknown invoices" not in [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_loss_lies_left_of_zero():
    ax = plots.profitability(every_measure(1).assign(fees_amount=100.0, profit_amount=-50.0, margin_ratio=-0.5))
    assert [lengths(bars) for bars in ax.containers] == [[100.0], [-50.0]]
    assert words(ax) == ["−50.0%"]


def test_a_point_before_the_work_is_not_cut_off():
    ax = plots.timekeeping_lag(every_measure(1).assign(median_lag_days=-3.0, p90_lag_days=4.0))
    assert ax.get_xlim()[0] < -3.0


def test_hidden_rates_show_the_lag_by_hours():
    ax = plots.billing_lag(every_measure(2).assign(amount_weighted_lag_days=None))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["Mean lag", "Lag weighted by hours"]


def test_fixed_fees_without_standard_rates_say_what_an_hour_brought():
    hidden = every_measure(1).assign(standard_amount=None, fixed_fee_realization=None, effective_rate=250.0)
    assert words(plots.fixed_fee_realization(hidden)) == ["250 an hour"]


@pytest.mark.parametrize("draw", CHARTS)
def test_each_chart_has_a_docstring_and_the_same_signature(draw):
    given = "result: 'Any', ax: 'Axes | None' = None, *, currency: 'str' = ''"
    assert str(inspect.signature(draw)) == f"({given}) -> 'Axes'"
    assert (draw.__module__, draw.__qualname__) == ("billframes.plots", draw.__name__)
    for part in (f"Draw a result of `{call_of(draw)}`: ", "of any engine."):
        assert part in inspect.getdoc(draw)


def test_pyplot_is_left_alone():
    assert "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()


WORDS = {
    "aging": ("11", "Receivables by client, by days past due"),
    "billing_lag": ("11.0 days", "Days from work to invoice by client"),
    "budget_burn": ("1100.0%", "Budget used by client"),
    "contribution": ("11 · 1100.0%", "All fees (bars) and running share (line) by client"),
    "days_to_pay": ("11.0", "Days to pay by client"),
    "effective_rates": ("11 · 1100.0%", "What an hour of billable time brought by client"),
    "exposure": ("11", "Work in progress and receivables by client"),
    "fees_collected": ("11", "Fees collected by client"),
    "fixed_fee_realization": ("1100.0%", "Fixed fees and the value of their hours by client"),
    "leverage": ("11.00", "Client hours of principals and non-principals, and their ratio by client"),
    "lockup": ("11.0 days", "Days of fees tied up by client"),
    "profitability": ("1100.0%", "All fees, profit and margin by client"),
    "realization": ("1100.0%", "Value of time billed and fees billed by client"),
    "timekeeping_lag": ("1100.0% late", "Days from work to entry by client"),
    "utilization": ("1100.0%", "Client hours and available hours by client"),
    "write_downs": ("11 · 1100.0%", "Write-downs (bars) and running share (line) by client"),
}
"""The words beside the largest row of `every_measure`, and the title."""
EXAMPLES = {
    "bridge": (
        {
            "client_name": ["Acme", "Bolt"],
            "change_ratio": [-0.089, -0.051],
            "before_part": [720.0, 120.0],
            "before_whole": [800.0, 200.0],
            "before_ratio": [0.9, 0.6],
            "after_part": [400.0, 300.0],
            "after_whole": [500.0, 500.0],
            "after_ratio": [0.8, 0.6],
        },
        ["84.0%", "−8.9 pts", "−5.1 pts", "70.0%"],
        "From before to after by client",
    ),
    "cash_forecast": (
        {
            "horizon": ["by 28 Nov 2026", "by 26 Dec 2026"],
            "cash_amount": [300.0, 500.0],
            "low_amount": [200.0, 400.0],
            "high_amount": [450.0, 620.0],
            "open_cash_amount": [250.0, 300.0],
            "unbilled_cash_amount": [50.0, 150.0],
            "future_cash_amount": [0.0, 50.0],
        },
        ["300", "500"],
        "Cash expected by period",
    ),
    "cash_forecast_record": (
        {
            "forecast": ["1 May 2026, 13 weeks", "29 May 2026, 13 weeks"],
            "cash_amount": [300.0, 320.0],
            "low_amount": [240.0, 250.0],
            "high_amount": [380.0, 400.0],
            "received_amount": [310.0, 200.0],
            "error": [0.033, -0.375],
        },
        ["310 came, 3.3% off", "200 came, −37.5% off"],
        "Forecasts beside what came: inside the range 1 of 2 times",
    ),
    "compare": (
        {"month": ["2026-09", "2026-10"], "year_ago_amount": [100.0, 100.0], "now_amount": [120.0, 90.0]},
        ["120", "90"],
        "Beside the year before by month",
    ),
    "new_business": (
        {
            "practice_area_label": ["Corporate", "Litigation"],
            "opened_matters": [3.0, 1.0],
            "fees_amount": [1000.0, 0.0],
            "new_client_amount": [250.0, 0.0],
            "new_client_share": [0.25, None],
        },
        ["25.0%", "1 opened"],
        "All fees, and those of new clients by practice area",
    ),
    "scorecard": (
        {
            "user_name": ["Ada", "Ben"],
            "utilization": [0.5, 0.0],
            "peer_utilization": [0.25, 0.25],
            "billing_realization": [0.9, None],
            "peer_billing_realization": [0.9, 0.9],
        },
        ["50.0%", "0.0%"],
        "Utilization and that of peers by timekeeper",
    ),
    "wip": (
        {"0-30": [60.0], "31-60": [30.0], "61+": [10.0], "total": [100.0]},
        ["60\n60.0%", "30\n30.0%", "10\n10.0%"],
        "Work in progress by days since the work",
    ),
}
"""Results in the order of time, of one row, or without a figure: their words, and the title."""


@pytest.mark.parametrize("name", WORDS)
def test_a_chart_of_clients_has_these_words_and_this_title(name):
    ax = getattr(plots, name)(every_measure(2))
    assert (words(ax)[0], title(ax)) == WORDS[name]


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_chart_has_these_words_and_this_title(name):
    result, *wanted = EXAMPLES[name]
    ax = getattr(plots, name)(pd.DataFrame(result))
    assert [words(ax), title(ax)] == wanted
