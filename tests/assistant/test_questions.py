"""Twenty questions of partners are answered by the tools alone, and each number is the notebook's."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import billframes as bf
from billframes._shared.notes import Notes, collect_notes
from billframes.analysis.results.figure_names import find_figure
from billframes.assistant.text_of_data import safe_text

QUESTIONS = tomllib.loads(Path(__file__).with_name("questions.toml").read_text(encoding="utf-8"))["questions"]


def frame_of(answer):
    return pd.DataFrame(answer["rows"], columns=[each["name"] for each in answer["columns"]])


def assert_same_numbers(answer, expected):
    """Compare what is shown with the notebook's result: money to the cent, ratios to four digits."""
    shown, expected = frame_of(answer), expected.head(len(answer["rows"])).reset_index(drop=True)
    numbers = [name for name in shown if pd.api.types.is_numeric_dtype(expected[name])]
    assert numbers
    for name in numbers:
        given = shown[name].to_numpy("float64", na_value=np.nan)
        np.testing.assert_allclose(given, expected[name].to_numpy("float64", na_value=np.nan), rtol=0, atol=0.05001)
        unit = next(each["unit"] for each in answer["columns"] if each["name"] == name)
        digits = {"ratio": 4, "points": 4, "multiple": 3, "days": 1}.get(unit, 2)
        np.testing.assert_allclose(given, expected[name].astype("float64").round(digits), rtol=0, atol=1e-9)


def test_there_are_twenty_questions():
    assert len({each["asked"] for each in QUESTIONS}) == 20


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: each["asked"])
def test_the_answer_has_the_numbers_of_the_notebook(question, ask, book_of):
    arguments = question["arguments"]
    answer = ask(question["tool"], **arguments)
    with collect_notes(Notes("page")) as notes:
        check(question["tool"], arguments, answer, book_of(arguments["period"]))
    assert [each["text"] for each in answer.get("notes", [])] == [each["text"] for each in notes.data()]


def check(tool, arguments, answer, book):
    if tool == "figures":
        options = {name: arguments.get(name) for name in ("by", "where", "compare", "top")}
        if not {"month", "quarter"} & {*(options["by"] or ["month"])}:
            options["top"] = options["top"] or 25
        expected = book.figures(*arguments["measures"], **options)
        for name, value in expected.attrs["total"].items():
            assert (answer["total"][name] is None) == (value is None), name
            assert value is None or answer["total"][name] == pytest.approx(value, abs=0.0051)
        assert answer["from"] == expected.attrs["figures"]
        for name in answer["rows_add_up"]:
            assert sum(frame_of(answer)[name]) == pytest.approx(answer["total"][name], abs=0.01 * len(answer["rows"]))
    elif tool == "records":
        column = find_figure(arguments["measure"]).column
        whole = book.figures(arguments["measure"])[column].iloc[0]
        assert answer["total"] == pytest.approx(whole, abs=0.0051)
        key = answer["columns"][0]["name"]
        expected = pd.concat(
            [book.invoices] if key == "invoice_id" else [getattr(book, name) for name in ("time_entries", "fixed_fees")]
        )
        shown = frame_of(answer)
        assert list(shown[column]) == sorted(shown[column], key=abs, reverse=True)
        assert answer["counted"] >= len(shown)
        if key == "invoice_id":
            balances = expected.set_index(key)["balance"]
            assert list(balances[shown[key]]) == pytest.approx(list(shown[column]))
        return
    else:
        options = {name: arguments[name] for name in ("by", "measure") if name in arguments}
        expected = getattr(book, arguments["name"])(**options)
        assert answer["rows_in_all"] == len(expected)
        ids = [name for name in expected.columns if name.endswith("_id")][:1]
        if ids and "by" in arguments:
            expected = expected.set_index(ids).loc[frame_of(answer)[ids[0]]].reset_index()
    assert_same_numbers(answer, expected)


@pytest.mark.parametrize("question", QUESTIONS[:1] + QUESTIONS[12:16], ids=lambda each: each["asked"])
def test_an_answer_says_what_it_means(question, ask):
    answer = ask(question["tool"], **question["arguments"])
    assert answer["provenance"]["data_of"] == "2026-10-31"
    assert answer["provenance"]["period"] == ["2026-10-01", "2026-10-31"]
    assert answer["provenance"]["period_is_over"]
    for name, each in answer["definitions"].items():
        declared = bf.explain(name)
        # Texts that are only about arguments are for notebooks.
        assert 0 < len(each["left_out"]) <= len(declared.left_out)
        assert 0 < len(each["cannot_tell"]) <= len(declared.cannot_tell)
        assert each["formula"] == safe_text(declared.formula, 1_500)


def test_rows_that_overlap_have_no_total(ask):
    """Cash by Christmas has the cash by November in it."""
    answer = ask("analysis", name="cash_forecast", period="2026-10")
    assert len(answer["rows"]) > 1
    assert answer["total"] == {}
