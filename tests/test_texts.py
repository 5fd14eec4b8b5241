"""Numbers, dates, names and cells are written and read as people expect."""

from __future__ import annotations

import datetime as dt
import zlib
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from billframes._shared.export import excel_text, file_name, neutralize, to_csv
from billframes._shared.find_named import find_named
from billframes._shared.format import (
    count_of,
    enum_label,
    format_change,
    format_number,
    format_rounded,
    format_value,
    label_of,
    long_date,
    long_span,
    month_name,
    short_date,
)
from billframes._shared.messages import clean_text, shorten, wrapped
from billframes._shared.names import (
    as_given,
    closest,
    distinct_names,
    first_few,
    holds_several,
    join_names,
    snake_case,
    type_in_words,
    with_article,
)
from billframes._shared.notes import Count
from billframes._shared.workbook_sheets import _column_number
from billframes.book.slices import add_keys, keep_rows
from billframes.bulk.apply import _create_states
from billframes.bulk.cells import cells_equal, read_cell, text_of_cell
from billframes.bulk.columns import EditColumn
from billframes.bulk.comparison import _periods
from billframes.config.credentials import is_loopback
from billframes.config.firm import FirmSettings, describe_settings
from billframes.config.secret import Secret
from billframes.days import Period, local_day, month_end, period_before, year_before
from billframes.ebilling.amounts import money, money_text, number, number_text, rate_text, read_number, spread
from billframes.ebilling.plain_text import plain_text
from billframes.ebilling.profile import look_up
from billframes.errors import unknown_name
from billframes.guidelines.check import _cents
from billframes.guidelines.file import rule_title
from billframes.loading.convert import to_pandas
from billframes.loading.ids import path_segment
from billframes.mirror.balances import next_to_check
from billframes.mirror.bucket import BucketOptions
from billframes.mirror.catalogue import checked_span, format_span
from billframes.mirror.deletions import _join_spans
from billframes.mirror.tables import partition_of
from billframes.paging.keys import surely_differ
from billframes.plots.axes import format_hours, format_money, format_percent, shorten_label
from billframes.plots.drawing import axis_title
from billframes.schema.instants import read_times
from billframes.schema.json_text import cut_midnights, parse_day
from billframes.schema.records import ExpenseList
from billframes.schema.sources import json_path, sources_of
from billframes.tables.table import with_titles
from billframes.transport.pacing import pause_after
from billframes.transport.reasons import end_sentence, reason_of, trace_id_of
from billframes.transport.request import BodyTooLargeError, RawResponse, absolute_path, read_body
from billframes.transport.retry import RetryBudget, retry_after
from billframes.transport.unanswered_updates import has_values

DAY, OCTOBER = dt.date(2026, 10, 3), Period(dt.date(2026, 10, 1), dt.date(2026, 10, 31))
PEOPLE = [("u1", "Miriam Harrow", "m@x.com"), ("u2", "Ada Ruiz", "a@x.com")]
LONG = "Realization, utilization, work in progress, receivables and their changes by client, matter."
HOURS, TEXT = EditColumn("hours", "hours"), EditColumn("task_code", "text")

TEXTS = [
    (format_number, (1234567.4, "money"), "1,234,567"),
    (format_number, (1234.5, "cents"), "1,234.50"),
    (format_number, (-0.0001, "money"), "0"),
    (format_number, (485224.5, "money"), "485,225"),
    (format_number, (0.1285, "ratio"), "12.9%"),
    (format_number, (0.25, "hours"), "0.3"),
    (format_number, (-12.04, "hours"), "−12.0"),
    (format_number, (2.456, "multiple"), "2.46"),
    (format_number, (float("nan"), "money"), "–"),
    (format_number, (-0.031, "points"), "−3.1 pts"),
    (format_number, (0.5, "count"), "0.5"),
    (format_value, (DAY, "date"), "3 Oct 2026"),
    (format_value, (0.25, "hours"), "0.3"),
    (format_value, (None, "text"), "–"),
    (format_rounded, (0.1 + 0.15, "{:.1f}"), "0.3"),
    (format_rounded, (1.005, "{:.2f}"), "1.01"),
    (format_rounded, (-2.5, "{:.0f}"), "-3"),
    (format_change, (110.0, 100.0, "money"), "+10.0%"),
    (format_change, (0.80, 0.85, "ratio"), "−5.0 pts"),
    (format_change, (5.0, 0.0, "hours"), "–"),
    (format_change, (100.0, 100.0, "money"), "0.0%"),
    (format_change, (30_000.0, 410.0, "money"), "n/a"),
    (count_of, (1, "item"), "1 item"),
    (count_of, (1200, "item"), "1,200 items"),
    (count_of, (2, "person", "people"), "2 people"),
    (enum_label, ("nonBillable",), "Non-billable"),
    (enum_label, ("fixedFee",), "Fixed fee"),
    (month_name, (DAY,), "October 2026"),
    (long_date, (DAY,), "3 October 2026"),
    (short_date, (DAY,), "3 Oct 2026"),
    (long_span, (OCTOBER,), "1 October 2026 to 31 October 2026"),
    (long_span, (Period(),), "the beginning to today"),
    (label_of, ("billing_type",), "Billing type"),
    (snake_case, ("overdue0To30",), "overdue0_to30"),
    (snake_case, ("Client since (year)",), "client_since_year"),
    (with_article, ("expense",), "an expense"),
    (with_article, ("user",), "a user"),
    (type_in_words, (1,), "an int"),
    (type_in_words, (None,), "None"),
    (as_given, ("id", ["x"]), "id=['x']"),
    (as_given, ("id", ["x"] * 900), "id (a list)"),
    (closest, ("billible", ["billable", "fixedFee"]), " Did you mean 'billable'?"),
    (closest, ("state", ["start", "invoice_state"]), " Did you mean 'invoice_state'?"),
    (closest, ("stop", ["start", "end", "to"]), " Did you mean 'end'?"),
    (closest, ("xyz", ["start"]), ""),
    (first_few, (["u1", "u2", "u3"], 2), "u1, u2 and 1 more"),
    (first_few, (["u1"],), "u1"),
    (join_names, (["hours", "rate", "date"],), "hours, rate and date"),
    (join_names, (["hours"],), "hours"),
    ("{n} {n:entry|entries}".format, (), "1 entry", {"n": Count(1)}),
    ("{n} {n:entry|entries}".format, (), "1,200 entries", {"n": Count(1200)}),
    (clean_text, ("Acme\x1b[2J\x1b]0;pwned\x07 Inc\x08\x85",), "Acme Inc\n"),
    (clean_text, ("one\r\ntwo\u202egnp.exe",), "one\ntwognp.exe"),
    (shorten, (f"month='{'9' * 5000}' is no month.",), f"month='{'9' * 60}… (5,000 characters)' is no month."),
    (neutralize, ("=1+1",), "'=1+1"),
    (neutralize, (-5.0,), -5.0),
    (excel_text, ("Call\r\nBrief",), "Call\nBrief"),
    (file_name, ("Realization: client ../Söhne & Cie", "csv"), "realization-client-sohne-cie.csv"),
    (money_text, (Decimal(-70),), "-70.00"),
    (money_text, (None,), ""),
    (number_text, (Decimal(2),), "2.00"),
    (number_text, (Decimal("0.3330"),), "0.333"),
    (rate_text, (Decimal("0.20"),), "0.2"),
    (rate_text, (Decimal("0.000"),), "0"),
    (look_up, ({"Ada@Firm.example": "A1"}, "u1", "ada@firm.example"), "A1"),
    (look_up, ({}, "u1"), ""),
    (rule_title, ("day_hours",), "hours of one day"),
    (rule_title, ("All",), "All"),
    (format_span, (dt.timedelta(hours=47),), "47.0 hours"),
    (format_span, (dt.timedelta(hours=60),), "2.5 days"),
    (Secret("t0ken").mask_in, ("The key t0ken has expired.",), "The key *** has expired."),
    (text_of_cell, (1.50,), "1.5"),
    (text_of_cell, (DAY,), "2026-10-03"),
    (text_of_cell, (True,), "True"),
    (format_money, (12_500,), "12.5k"),
    (format_money, (-2_000,), "−2k"),
    (format_money, (1_250_000,), "1.25m", {"exact": True}),
    (format_hours, (1250.4,), "1,250"),
    (format_percent, (0.745,), "74.5%"),
    (format_percent, (float("nan"),), "–"),
    (format_percent, (0.8825,), "88.25%", {"exact": True}),
    (shorten_label, ("Stonebridge Development Corp.", 22), "Stonebridge Developme…"),
    (shorten_label, ("Granite Mutual Insurance Company (1007)", 22), "Granite Mutual… (1007)"),
    (axis_title, ("rate", "USD"), "Rate (USD an hour)"),
    (axis_title, ("money",), "Amount"),
    (with_titles, ("`unbilled_amount` is time without `billing_type`",), "unbilled is time without billing type"),
    (path_segment, ("1b5c 2f", "id"), "1b5c%202f"),
    (absolute_path, ("//elsewhere.test",), "/elsewhere.test"),
    (end_sentence, ("The matter is closed",), "The matter is closed."),
    (end_sentence, ("Is it closed?",), "Is it closed?"),
    (reason_of, (RawResponse(400, {}, b'{"error": {"message": "It is closed."}}'),), "It is closed."),
    (reason_of, (RawResponse(400, {}, b'{"errors": {"hours": ["Too many.", "No."]}}'),), "hours: Too many. No."),
    (trace_id_of, (RawResponse(500, {"x-acme-request-id": "r7"}, b""),), "r7"),
    (trace_id_of, (RawResponse(500, {}, b'{"title": "Failed.", "traceId": "00-ab"}'),), "00-ab"),
    (describe_settings, (FirmSettings(hours_per_day=7.5),), "Firm settings: 7.5 hours a day, Mon to Fri."),
]

VALUES = [
    (find_named, ("harrow", PEOPLE, "person"), PEOPLE[0][:2]),
    (find_named, ("A@X.COM", PEOPLE, "person"), PEOPLE[1][:2]),
    (holds_several, (["u1"],), True),
    (holds_several, ("u1",), False),
    (distinct_names, (["A", "A", "B"], ["c1", "c2", "c3"], ["A-1", None, "B-1"]), ["A (A-1)", "A (c2)", "B"]),
    (distinct_names, (["A", "A"], ["m1", "m2"], ["001", "001"]), ["A (m1)", "A (m2)"]),
    (money, (114.015,), Decimal("114.02")),
    (money, (-0.005,), Decimal("-0.01")),
    (money, (float("nan"),), None),
    (number, (1 / 3,), Decimal("0.3333")),
    (read_number, ("630.",), Decimal(630)),
    (read_number, (".5",), Decimal("0.5")),
    (read_number, ("1,000",), None),
    (spread, (Decimal("-1.00"), [Decimal("1.00")] * 3), [Decimal(each) for each in ("-0.34", "-0.33", "-0.33")]),
    (is_loopback, ("127.0.0.1",), True),
    (is_loopback, ("127.0.0.example.com",), False),
    (Period.stated, ({"start": "2026-10-01", "end": None},), Period(dt.date(2026, 10, 1))),
    (local_day, (dt.datetime(2026, 10, 31, 23, 30, tzinfo=dt.UTC), "Europe/Berlin"), dt.date(2026, 11, 1)),
    (month_end, (dt.date(2024, 2, 3),), dt.date(2024, 2, 29)),
    (year_before, (dt.date(2025, 2, 1), dt.date(2025, 2, 28)), Period(dt.date(2024, 2, 1), dt.date(2024, 2, 29))),
    (period_before, (OCTOBER, DAY), Period(dt.date(2026, 9, 1), dt.date(2026, 9, 3))),
    (read_cell, (TEXT, 110.0), "110"),
    (read_cell, (EditColumn("date", "date"), "2026-10-03"), DAY),
    (read_cell, (HOURS, float("nan")), None),
    (cells_equal, (HOURS, 0.1 + 0.2, 0.3), True),
    (cells_equal, (TEXT, "=1", "'=1"), True),
    (cells_equal, (TEXT, "00042", read_cell(TEXT, 42)), True),
    (cells_equal, (TEXT, None, "L110"), False),
    (_periods, ({DAY: 2, dt.date(2026, 8, 30): 1},), [(dt.date(2026, 8, 30), DAY, 3)]),
    (_periods, ({DAY: 2, dt.date(2024, 5, 1): 1},), [(dt.date(2024, 5, 1),) * 2 + (1,), (DAY, DAY, 2)]),
    (_create_states, (1, 1), ["done"]),
    (_create_states, (0, 1), ["missing"]),
    (_create_states, (2, 1), ["uncertain"]),
    (_create_states, (1, 2), ["done", "missing"]),
    (_column_number, ("AA",), 27),
    (_column_number, ("XFD",), 16384),
    (next_to_check, ("abcdefghi", "g", dt.timedelta(hours=1)), list("hiabc")),
    (checked_span, ("keep", "2 days"), dt.timedelta(days=2)),
    (add_keys, ("user", ["responsible"]), ["user", "responsible"]),
    (add_keys, (None, ["responsible"]), "responsible"),
    (surely_differ, ("Abel & Co.", "Baker"), True),
    (surely_differ, ("Søren", "Soren"), False),
    (surely_differ, ("Lot 2", "Lot 02"), False),
    (parse_day, ("2026-10-03T00:00:00.0000000Z",), DAY),
    (cut_midnights, (b'{"date": "2026-10-01T00:00:00Z"}',), b'{"date": "2026-10-01"}'),
    (cut_midnights, (b'{"opened": "2026-10-01T09:00:00"}',), b'{"opened": "2026-10-01T09:00:00"}'),
    (read_body, ([b'{"data"', b": null}"], "", 100), b'{"data": null}'),
    (retry_after, ("7",), 7.0),
    (retry_after, ("Sat, 31 Oct 2026 20:00:30 GMT", "Sat, 31 Oct 2026 20:00:00 GMT"), 30.0),
    (has_values, ({"hours": 2, "activityCode": None}, {"hours": 2.0, "description": "Call"}), True),
    (has_values, ({"customFields": [{"id": "f1", "value": "7"}]}, {"meta": {"customFields": []}}), False),
    (_join_spans, ([(4, 4), (0, 1), (2, 2)],), [(0, 2), (4, 4)]),
]


@pytest.mark.parametrize("case", [*TEXTS, *VALUES], ids=lambda case: getattr(case[0], "__name__", None))
def test_a_value_is_written_or_read(case):
    function, given, expected, *named = case
    assert function(*given, **(named[0] if named else {})) == expected


def test_long_texts_are_cut_or_broken(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert wrapped(LONG, "figures    ").splitlines() == [f"figures    {LONG[:65]}", f"           {LONG[66:]}"]
    assert len(shorten("x" * 1_000_000)) == 4000
    assert excel_text("word " * 10_000).endswith("rd wor […] (cut: an Excel cell holds no more)")


def test_text_is_converted_to_ascii():
    assert plain_text("Café – “Zürich”\nbrief").text == 'Cafe - "Zurich" brief'
    assert (plain_text("Review [] of 法").foreign, plain_text("A|B").text) == ("法", "A/B")


def test_columns_and_frames_are_converted():
    rows = pd.DataFrame({"client_name": ["=1+1", "A;=B", None], "hours": [-1.5, 2.0, None]})
    assert to_csv(rows).decode("utf-8-sig").splitlines()[1:] == ['"\'=1+1",-1.5', '"A;\'=B",2.0', ","]
    assert _cents(pd.Series([318.745, np.nan])).tolist() == [Decimal("318.75"), None]
    dates = pa.chunked_array([pa.array(["2026-10-31"]).cast(pa.date32())])
    assert partition_of(dates, "month").to_pylist() == ["2026-10"]


def test_frames_keep_the_rows_and_types_that_are_meant():
    rows = pd.DataFrame({"responsible_id": ["u1", None], "total": [1.0, 2.0]})
    assert keep_rows(rows, {"responsible_id": None})["total"].tolist() == [2.0]
    table = pa.table({"date": pa.array([None], pa.date32()), "billed": pa.array([None], pa.bool_())})
    assert to_pandas(table).dtypes.astype(str).tolist() == ["datetime64[us]", "boolean"]
    assert read_times(["08:30", None]).to_pylist() == [dt.time(8, 30), None]
    source = next(each for each in sources_of(ExpenseList) if each.column.name == "modified_at")
    assert json_path(ExpenseList, source) == "meta.modifiedAt"


def test_requests_are_bounded():
    with pytest.raises(BodyTooLargeError):
        read_body([zlib.compress(b" " * 1000)], "deflate", 100)
    assert [round(pause_after(number) / 1.05) for number in (1, 2, 3)] == [1, 3, 9]
    budget = RetryBudget()
    assert sum(budget.spend(timed_out=False) for _ in range(200)) == 100


def test_messages_hide_credentials_and_suggest_names():
    options = BucketOptions({"AWS_REGION": "eu-west-1", "AWS_SECRET_ACCESS_KEY": "wJalr"})
    assert repr(options) == "{'AWS_REGION': 'eu-west-1', 'AWS_SECRET_ACCESS_KEY': Secret(***)}"
    assert "Did you mean 'time_entries'?" in str(unknown_name("billframes", "time_entires", ["time_entries"]))
