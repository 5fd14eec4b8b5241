"""A frame is shown with names and figures first and ids last, and is not changed."""

from __future__ import annotations

import datetime as dt
import functools
import io
import operator
import re

import pandas as pd
import pytest
from bs4 import BeautifulSoup

import billframes as bf
from billframes._shared.format import format_number
from billframes.analysis.data.distinct_names import DistinctNames
from billframes.analysis.declare.lookup import analyses, heading_of
from billframes.analysis.results.result_rows import read_result
from billframes.display import exported
from billframes.loading.record import Record
from billframes.schema.resources import RESOURCES

COLUMNS = ["date", "client_name", "matter_name", "user_name", "hours", "rate", "amount"]


@pytest.fixture(scope="module")
def entries(client):
    return client.time_entries("2026-10", limit=30)


def cells(shown):
    """The texts of the HTML table, by row."""
    page = BeautifulSoup(shown._repr_html_(), "html.parser")
    return [[each.get_text() for each in row.find_all(["th", "td"])] for row in page.find_all("tr")]


def test_dates_names_and_figures_come_first_and_ids_last(entries):
    before = entries.copy()
    shown = bf.show(entries)
    assert shown.columns[: len(COLUMNS)] == COLUMNS
    ids = [name for name in entries.columns if name.endswith("_id")]
    assert shown.columns[-len(ids) :] == ids
    assert shown.columns.index("invoice_amount") > shown.columns.index("description")
    assert sorted(shown.columns) == sorted(entries.columns)
    pd.testing.assert_frame_equal(entries, before)


@pytest.mark.parametrize(
    ("loader", "first"),
    [
        ("matters", ["name", "opened", "client_name", "responsible_name"]),
        ("invoices", ["invoice_date", "due_date", "invoice_number", "client_name", "matter_name", "amount", "balance"]),
        ("expenses", ["date", "client_name", "matter_name", "user_name", "amount"]),
        ("users", ["name"]),
        ("practice_areas", ["label"]),
    ],
)
def test_each_list_begins_with_names_and_dates(client, loader, first):
    frame = getattr(client, loader)()
    shown = bf.show(frame, 1)
    assert shown.columns[: len(first)] == first
    ids = [name for name in frame.columns if name.endswith(("_id", "_ids"))]
    assert shown.columns[-len(ids) :] == ids


def test_the_key_of_a_result_is_before_its_figures():
    assert bf.show(pd.DataFrame({"role": ["attorney"], "client_hours": [1.5]})).columns == ["role", "client_hours"]


@pytest.mark.parametrize("to", ["pandas", "polars", "arrow"])
def test_every_kind_of_frame_is_shown_in_the_same_way(client, entries, to):
    frame = client.time_entries("2026-10", limit=30, to=to)
    assert cells(bf.show(frame, 5)) == cells(bf.show(entries, 5))


def test_a_lazy_frame_is_not_counted():
    import polars as pl

    shown = bf.show(pl.LazyFrame({"client_id": ["c1"], "hours": [1.25]}), 5)
    assert cells(shown) == [["Hours", "Client id"], ["1.25", "c1"]]
    assert repr(shown).endswith("1 row; there may be more")


def test_numbers_dates_and_missing_values_are_formatted():
    frame = pd.DataFrame(
        {
            "worked_amount": [1234.5, None],
            "client_hours": [0.25, -1.0],
            "billing_realization": [0.834, float("nan")],
            "my_number": [1234567.125, 2.0],
            "billed": [True, False],
            "created_at": pd.to_datetime(["2026-10-31T17:05:00Z", None]),
            "seen": [dt.date(2026, 10, 1), None],
            "tags": [["a", "b"], []],
        }
    )
    rows = [dict(zip(bf.show(frame).columns, row, strict=True)) for row in cells(bf.show(frame))[1:]]
    assert rows[0] == {
        "worked_amount": "1,234.50",
        "client_hours": "0.25",
        "billing_realization": "83.4%",
        "my_number": "1,234,567.125",
        "billed": "yes",
        "created_at": "2026-10-31 17:05 UTC",
        "seen": "2026-10-01",
        "tags": "a; b",
    }
    assert [rows[1][name] for name in ("worked_amount", "client_hours", "billing_realization")] == ["–", "−1.00", "–"]
    assert [rows[1][name] for name in ("billed", "created_at", "seen", "tags")] == ["no", "–", "–", "–"]


def test_names_in_the_html_run_nothing():
    frame = pd.DataFrame({"<b>x</b>": ["<script>alert(1)</script>"], "client_name": ['"><img src=x onerror=alert(1)>']})
    page = BeautifulSoup(bf.show(frame)._repr_html_(), "html.parser")
    assert page.find_all(["script", "img", "b"]) == []
    assert "<script>alert(1)</script>" in page.get_text()


def test_the_number_of_rows_is_shown(entries):
    assert repr(bf.show(entries[["date", "hours"]], 3)).endswith("the first 3 of 30 rows")
    assert "the first 3 of 30 rows" in bf.show(entries, 3)._repr_html_()
    assert repr(bf.show(entries[["date"]].head(1))).endswith("\n1 row")
    [headings] = cells(bf.show(entries, 0))
    assert headings[:6] == ["Date", "Client", "Matter", "Timekeeper", "Hours", "Rate"]
    assert headings[6] == "Amount"


@pytest.mark.parametrize("width", [30, 80, 140, 1000])
def test_a_terminal_shows_the_columns_that_fit(entries, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    *lines, note = repr(bf.show(entries, 3)).split("\n")
    assert len(lines) == 4
    assert max(map(len, lines)) <= width
    shown = len(bf.show(entries, 3).columns) - int((re.search(r"(\d+) more column", note) or [0, 0])[1])
    assert len(note) <= max(width, len("the first 3 of 30 rows; 30 more columns: …"))
    assert shown == {30: 1, 80: 5, 140: 10, 1000: len(entries.columns)}[width]


def test_a_terminal_shows_keys_and_then_the_main_figures_of_an_analysis(monkeypatch):
    """Receivables have columns for ages, and what is owed and overdue behind them. Other frames keep their order."""
    monkeypatch.setenv("COLUMNS", "60")
    days = pd.to_datetime(["2026-09-01", "2026-10-01"])
    invoice = {"invoice_id": ["i1"], "invoice_state": ["final"], "invoice_date": days[:1], "due_date": days[1:]}
    invoices = pd.DataFrame(invoice | {"client_id": ["c1"], "client_name": ["Acme Holdings"], "balance": [123456.0]})
    aging = bf.analysis.aging(invoices, as_of="2026-10-31", by="client")
    heads, *_, note = repr(bf.show(aging)).split("\n")
    assert heads.split() == ["Client", "Current", "1–30", "days", "Total", "Overdue"]
    assert note == "1 row; 7 more columns: 31–60 days, 61–90 days, 91+ days, …"
    own = pd.DataFrame(aging.to_dict("list"))
    assert repr(bf.show(own)).split("\n")[0].split()[-2:] == ["61–90", "days"]


def test_own_columns_are_formatted_by_the_last_word_of_their_names():
    own = {"lost_amount": [1234.5], "own_hours": [2.0], "own_ratio": [0.25], "own_rate": [300.0], "rank": [3]}
    shown = bf.show(pd.DataFrame(own))
    assert dict(zip(shown.columns, cells(shown)[1], strict=True)) == {
        "lost_amount": "1,234.50",
        "own_hours": "2.00",
        "own_ratio": "25.0%",
        "own_rate": "300.00",
        "rank": "3",
    }


def test_an_index_with_a_name_is_shown_as_a_column(entries):
    sums = entries.groupby("client_name")[["hours"]].sum()
    assert bf.show(sums).columns == ["client_name", "hours"]
    wide = entries.pivot_table(
        index="user_name", columns="billing_type", values=["hours"], aggfunc="sum", observed=True
    )
    assert bf.show(wide).columns[0] == "user_name"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (([1],), "frame is a list; show takes"),
        ((pd.DataFrame(), -1), "rows=-1"),
        ((pd.DataFrame(), "5"), "rows='5'"),
        ((pd.DataFrame([[1, 2]], columns=["a", "a"]),), "Two columns of the frame have the same name"),
    ],
)
def test_a_wrong_frame_or_number_of_rows_is_refused(given, said):
    with pytest.raises(bf.errors.ParameterError) as raised:
        bf.show(*given)
    assert str(raised.value).startswith(said)


def test_a_table_is_not_exported_and_its_frame_is_named(october_book, tmp_path):
    pytest.importorskip("great_tables")
    table = bf.tables.aging(october_book.aging(by="client"))
    with pytest.raises(bf.errors.ParameterError, match="a TitledTable; export takes .* pass the frame it shows"):
        bf.export(table, tmp_path / "aging.xlsx")


def labels_and_values(html):
    return {row.th.get_text(): row.td.get_text() for row in BeautifulSoup(html, "html.parser").find_all("tr")}


def test_a_record_shows_labelled_fields_with_ids_last(client, entries):
    fields = labels_and_values(client.time_entries.get(entries["time_entry_id"].iloc[0])._repr_html_())
    row = entries.iloc[0]
    assert fields["Hours"] == f"{row['hours']:.2f}"
    assert fields["User"] == row["user_name"]
    assert fields["Billed"] == ("yes" if row["billed"] else "no")
    assert fields["Client"].replace("\u2068", "").startswith(row["client_name"])
    assert row["client_reference"] in fields["Client"]
    assert list(fields)[-1] == "Fixed fee id"
    assert all(label.endswith(" id") for label in list(fields)[-6:])


@pytest.mark.parametrize("name", ["כהן", "כהן Ltd", "Cohen כהן 7"])
def test_a_name_with_any_right_to_left_letter_does_not_turn_the_reference_behind_it_around(name):
    client = Record("client", {"name": name, "reference": "C-1 (a)"})
    assert f"\u2068{name}\u2069 (C-1 (a))" in repr(Record("matter", {"client": client}))


@pytest.mark.parametrize("resource", [each for each in RESOURCES if each.detail], ids=lambda each: each.name)
def test_a_single_record_begins_with_its_id(resource):
    assert resource.detail.__struct_fields__[0] == resource.id_column


def test_a_records_custom_fields_have_the_firms_own_names(client):
    matters = client.matters()
    one = matters[matters["cf_court"].notna()].iloc[0]
    fields = labels_and_values(client.matters.get(one["matter_id"])._repr_html_())
    assert fields["Court"] == one["cf_court"]
    assert not [label for label in fields if label.startswith("Cf")]


def test_a_book_shows_its_period_settings_and_loaded_frames_without_loading(client):
    book = bf.book("2026-10", client=client)
    fields = labels_and_values(book._repr_html_())
    assert fields["Period"] == "2026-10-01 to 2026-10-31"
    assert fields["Settings"].startswith("No firm settings: 8 hours a day")
    assert fields["Loaded"].startswith("nothing yet")
    assert "realization" in fields["Analyses"]
    assert set(vars(book)) == {
        "period",
        "settings",
        "_client",
        "_data",
        "_frames",
        "_client_items",
        "_denied",
        "_named",
    }
    users = len(book.users)
    assert labels_and_values(book._repr_html_())["Loaded"] == f"users ({users})"


@pytest.mark.parametrize("unit", ["money", "cents", "hours", "ratio", "points"])
def test_a_total_is_shown_the_same_for_every_order_of_its_amounts(unit):
    """The totals end in a half of what is shown, and the sums differ from them in their last digits only."""
    amounts = [0.1, 0.7, 1235.35, 0.3, 99.9, -0.1, 0.25, 3.0] * 7
    step = {"money": 0.5, "cents": 0.005, "hours": 0.05, "ratio": 0.0005, "points": 0.0005}[unit]
    total = round(sum(amounts)) + step
    # One by one, as engines add; Python's own sum is compensated from 3.12 on.
    added = functools.partial(functools.reduce, operator.add)
    sums = [added(sorted([*amounts, total - added(amounts)], key=key)) for key in (None, abs, lambda each: -each, str)]
    assert len(set(sums)) > 1
    assert {format_number(each, unit) for each in sums} == {format_number(total, unit)}


def test_namesakes_have_their_ids_beside_them():
    frame = pd.DataFrame(
        {"client_id": ["c1", "c2", "c3"], "client_name": ["Acme", "Acme", "Bolt"], "hours": [1.0, 2, 3]}
    )
    assert [row[0] for row in cells(bf.show(frame))[1:]] == ["Acme (c1)", "Acme (c2)", "Bolt"]


@pytest.mark.slow
def test_namesakes_have_the_references_that_the_report_shows(client, tmp_path):
    """In the sandbox's firm, two clients and a third of the matters share a name with others."""
    book = bf.book("2026-10", client=client)
    in_report = DistinctNames(book.clients, book.matters, book.users)
    frames = {name: getattr(book, name) for name in ("expenses", "fixed_fees", "invoices")}
    of_frames = bf.analysis.wip(book.time_entries, **frames, as_of="2026-10-31", by="matter")
    for result in (book.wip(by="matter"), book.figures("wip_amount", by="matter"), book.aging(by="client"), of_frames):
        column = str(result.columns[1])
        expected = in_report(result)[column]
        if result is of_frames:
            # It knows only those in its rows.
            expected = expected[result[column].duplicated(keep=False)]
        assert expected.str.contains(r" \(\d").any()
        bf.export(result, tmp_path / "r.csv")
        written = pd.read_csv(tmp_path / "r.csv", dtype=str)[heading_of(column)]
        for texts in (pd.Series(named(bf.show(result, len(result)), heading_of(column))), written):
            assert texts[expected.index].tolist() == expected.tolist()
    twins = book.aging(by="client").pipe(lambda rows: rows[rows["client_name"].duplicated(keep=False)])
    assert named(bf.show(twins.head(1)), "Client") == in_report(twins)["client_name"].tolist()[:1]
    assert read_result(twins, ["total"], "aging").labels == in_report(twins)["client_name"].tolist()


def named(shown, heading):
    head, *rows = cells(shown)
    return [row[head.index(heading)] for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize("to", ["pandas", "polars"])
def test_exports_have_titles_order_and_rounded_numbers(client, tmp_path, to):
    pytest.importorskip("xlsxwriter")
    pytest.importorskip("openpyxl")
    result = bf.analysis.realization(
        client.time_entries(to=to), invoices=client.invoices(to=to), expenses=client.expenses(to=to),
        fixed_fees=client.fixed_fees(to=to), matters=client.matters(select="practiceArea", to=to),
        start="2026-10", by="practice_area",
    )  # fmt: skip
    bf.export(result, tmp_path / "r.csv")
    bf.show(result, 1).to_excel(tmp_path / "r.xlsx")
    bf.export(result, tmp_path / "r.html")
    written, sheet = pd.read_csv(tmp_path / "r.csv"), pd.read_excel(tmp_path / "r.xlsx")
    assert list(written)[:2] == ["Practice area", heading_of("worked_amount")]
    assert list(sheet) == list(written)
    fees = pd.Series(result["billed_amount"].to_list())
    assert written["Fees billed"].tolist() == sheet["Fees billed"].tolist() == [round(each, 2) for each in fees]
    assert f">{format_number(fees[0], 'cents')}<" in (tmp_path / "r.html").read_text()
    with pytest.raises(bf.errors.ParameterError, match="must end with"):
        bf.export(result, tmp_path / "r.docx")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::billframes.errors.BillframesWarning")
def test_the_result_of_each_analysis_is_exported_with_titles_and_formats(october_book):
    openpyxl = pytest.importorskip("openpyxl")
    done = []
    for name in analyses():
        try:
            result = getattr(october_book, name)()
        except bf.errors.ParameterError:
            # It needs the firm's books or a mirror.
            continue
        done.append(name)
        sheet = openpyxl.load_workbook(io.BytesIO(exported(result.head(20), ".xlsx"))).active
        headings, *rows = sheet.iter_rows()
        assert len(rows) == min(len(result), 20), name
        assert not [each.value for each in headings if "_" in each.value], name
        numbers = [cell for row in rows[:5] for cell in row if isinstance(cell.value, int | float)]
        assert not [cell.coordinate for cell in numbers if cell.number_format == "General"], name
        assert not [cell.value for cell in numbers if len(repr(cell.value).partition(".")[2]) > 4], name
    assert len(done) > 25


def test_the_message_about_a_missing_folder_names_the_argument(tmp_path):
    with pytest.raises(bf.errors.ParameterError, match="^path=.*nowhere"):
        bf.export(pd.DataFrame({"hours": [1.0]}), tmp_path / "nowhere" / "x.csv")
