"""The forecast of cash stands beside other figures: the analysis's own amounts, and a reason where it is not known."""

from __future__ import annotations

import warnings

import pytest

import billframes as bf
from billframes.errors import ParameterError

NAME, COLUMN = "cash_forecast.cash_amount", "cash_forecast_cash_amount"
pytestmark = pytest.mark.filterwarnings(
    "ignore:The range has never been compared:billframes.errors.IncompleteDataWarning"
)


@pytest.fixture(scope="module")
def book(client):
    return bf.book("2026-10", client=client)


@pytest.mark.slow
def test_it_is_that_of_the_next_13_weeks(book):
    expected = book.cash_forecast(horizons=(13,))["cash_amount"].item()
    found = book.figures("receivables", NAME)
    assert found[COLUMN].item() == pytest.approx(expected)
    assert found["receivable_amount"].item() == pytest.approx(book.aging(by=None)["total"].item())
    assert found.attrs["missing"] == {}


def test_clients_are_those_of_the_forecast_and_add_up(book):
    rows = book.cash_forecast(by="client", horizons=(13,)).set_index("client_id")["cash_amount"]
    found = book.figures(NAME, "billed_amount", by="client")
    beside = found.dropna(subset="client_id").set_index("client_id")[COLUMN]
    assert beside.reindex(rows.index.dropna()).to_dict() == pytest.approx(rows[rows.index.notna()].to_dict())
    assert found[COLUMN].sum() == pytest.approx(rows.sum()) == pytest.approx(found.attrs["total"][COLUMN])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("period", "options", "reason"),
    [
        ("2026-10", {"by": "user"}, "A forecast of cash is known in total and by client only."),
        ("2026-10", {"by": ["client", "month"]}, "A forecast of cash is known in total and by client only."),
        ("2026-08", {}, "as_of=2026-08-31 is before the load"),
    ],
)
def test_where_it_is_not_known_it_is_missing_with_the_reason_or_refused_alone(client, period, options, reason):
    book = bf.book(period, client=client)
    found = book.figures("billed_amount", NAME, **options)
    assert found[COLUMN].isna().all()
    assert found["billed_amount"].sum() > 0
    assert found.attrs["missing"][COLUMN].startswith(reason)
    with pytest.raises(ParameterError, match=reason[:30]):
        book.figures(NAME, **options)


def test_without_an_earlier_figure_it_is_not_compared(book):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = book.figures("billed_amount", NAME, compare="previous")
    assert found[f"{COLUMN}_previous"].isna().all()
    assert f"{COLUMN}_previous" in found.attrs["missing"]


def test_its_explanation_says_the_weeks_and_what_it_cannot_tell():
    text = str(bf.explain(NAME))
    assert "within 13 weeks" in text
    assert "Promises, disputes and payment plans" in text
