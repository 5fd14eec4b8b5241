"""Every cell has the value that was sent, for random records made from the declaration.

The expected cells are derived here from the JSON, by the rules of `docs/frames.md`, without billframes' own decoding.
"""

from __future__ import annotations

import datetime as dt

import httpx
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import billframes as bf
from billframes.schema import resources as declared
from billframes.schema.records import ClientBalances, CodeSet
from billframes.schema.sources import fields_of
from tests.conftest import FakeServer
from tests.examples import examples
from tests.record_strategies import (
    NAMES,
    Instant,
    RawNumber,
    custom_values,
    definitions,
    dumps,
    is_struct,
    numbers,
    records,
    wire_names,
)

LISTS = [each for each in declared.RESOURCES if each.name != "codes"]
DTYPES = {
    "id": "str",
    "text": "str",
    "enum": "category",
    "date": "datetime64[us]",
    "instant": "datetime64[us, UTC]",
    "time": "time64[us][pyarrow]",
    "flag": "boolean",
    "texts": "object",
}
CUSTOM = {"text": "text", "number": "number", "boolean": "flag", "date": "date", "enum": "enum"}
BUCKETS = {
    "A": ("current", "overdue0To30", "overdue30To60", "overdue60To90", "overdueOver90"),
    "B": ("overdue30", "overdue60", "overdue90"),
}
EPOCH = dt.date(1970, 1, 1)
pytestmark = pytest.mark.filterwarnings("ignore::billframes.errors.BillframesWarning")


class Expected:
    """The expected column: its kind, its declared values, whether it is required, and its cells by id."""

    def __init__(self, kind, known=(), required=False):
        self.kind, self.known, self.required, self.cells = kind, known, required, {}

    @property
    def dtype(self):
        return "bool" if self.kind == "flag" and self.required else DTYPES.get(self.kind, "float64")

    @property
    def categories(self):
        return [*self.known, *sorted({cell for cell in self.cells.values() if cell not in {None, *self.known}})]


def plain(value, kind, values=()):
    """Return the cell of a JSON value."""
    if isinstance(value, RawNumber):
        return float(value.text)
    if isinstance(value, Instant):
        return value.microseconds
    if value is None or kind not in {"enum", "date", "time"}:
        return value
    if kind == "enum":
        same = [each for each in values if each == value] or [
            each for each in values if each.casefold() == value.casefold()
        ]
        return (same or [value])[0]
    if kind == "date":
        return (dt.date.fromisoformat(value) - EPOCH).days
    hours, minutes, seconds = (*value.split(":"), "0")[:3]
    whole, _, decimals = seconds.partition(".")
    return dt.time(int(hours), int(minutes), int(whole), int(decimals[:6].ljust(6, "0") or 0))


def put_together(sent, name):
    """Return an embedded object's field; a full name is made from its parts if necessary."""
    value = sent.get(name)
    if name == "name" and ("firstName" in sent or "lastName" in sent):
        return value or " ".join(filter(None, (sent.get("firstName"), sent.get("lastName")))) or value
    if name == "label" and "name" in sent:
        return value or sent["name"] or value
    return value


def declared_columns(resource, select):
    """Return every declared column: its name, the expected column, and the function that reads its value."""
    names = wire_names(resource.record)
    for field in fields_of(resource.record):
        if field.name == "custom_fields" or field.notes.get("select", None) not in {None, *select}:
            continue
        if not is_struct(field.type):
            kind = "texts" if field.is_list else field.notes.get("kind", "text")
            column = Expected(kind, field.notes.get("values", ()), not field.nullable)
            yield field.name, column, lambda row, key=names[field.name]: row.get(key)
            continue
        prefix = {"meta": "", "ledes_configuration": "ledes"}.get(field.name, field.name)
        prefix = prefix.removesuffix("s") if field.is_list else prefix
        inner = wire_names(field.type)
        for part in fields_of(field.type):
            if part.notes.get("hidden") or part.name == "custom_fields":
                continue
            name = part.name if not prefix or part.name.startswith(f"{prefix}_") else f"{prefix}_{part.name}"
            kind = "texts" if field.is_list or part.is_list else part.notes.get("kind", "text")
            many = field.is_list

            def find(row, key=names[field.name], part=inner[part.name], many=many):
                sent = row.get(key)
                if sent is None:
                    return None
                return [put_together(each, part) for each in sent] if many else put_together(sent, part)

            yield name + ("s" if many else ""), Expected(kind, part.notes.get("values", ())), find


def custom_columns(fields):
    """Return the custom fields' columns by id; of two that would have the same name, the first has it."""
    names = {}
    for field in fields:
        name = NAMES[field["name"]] or f"cf_{field['id']}"
        while name in names.values():
            name += f"_{field['id']}"
        names[field["id"]] = name
    columns = {}
    for field in fields:
        labels = tuple(dict.fromkeys(each["label"] for each in field.get("options") or ()))
        columns[field["id"]] = names[field["id"]], Expected(CUSTOM[field["valueType"].lower()], labels)
    return columns


def expect(resource, rows, select, fields):
    """Return the expected frame, column by column."""
    columns = {}
    for name, column, find in declared_columns(resource, select):
        column.cells = {row[resource.id]: plain(find(row), column.kind, column.known) for row in rows}
        columns[name] = column
    for key, (name, column) in (custom_columns(fields) if "customFields" in select else {}).items():
        for row in rows:
            sent = row.get("customFields") or (row.get("meta") or {}).get("customFields") or ()
            value = next((each for each in sent if each["id"] == key), {})
            # These records have only the first option; its label replaces a value that is null.
            label = column.known[0] if "optionId" in value else None
            shown = label if value.get("value") is None else value["value"]
            column.cells[row[resource.id]] = plain(shown, column.kind, column.known)
        columns[name] = column
    return columns


def cells_of(column, kind):
    """Return a frame's column as a list: instants in microseconds, dates in days, None if missing."""
    if isinstance(column, pa.ChunkedArray):
        whole = {"instant": pa.int64(), "date": pa.int32()}.get(kind)
        return (column.cast(whole) if whole else column).to_pylist()
    if isinstance(column, pd.Series):
        missing = [False] * len(column) if kind == "texts" else column.isna()
        if kind in {"instant", "date"}:
            whole = column.astype("int64") // (86_400_000_000 if kind == "date" else 1)
            return [None if gone else value for value, gone in zip(whole, missing, strict=True)]
        if kind == "texts":
            return column.tolist()
        return [None if gone else value for value, gone in zip(column, missing, strict=True)]
    import polars as pl

    return (
        column.cast({"instant": pl.Int64, "date": pl.Int32}[kind]) if kind in {"instant", "date"} else column
    ).to_list()


@pytest.fixture(scope="module")
def server():
    """A fake server and a client of it."""
    fake = FakeServer()
    with bf.Client("https://billing.test", "t0ken", transport=httpx.MockTransport(fake), retries=0) as client:
        yield fake, client


@st.composite
def lists(draw, resource):
    """Draw the records of a list, the custom fields, and the selected details."""
    fields = draw(definitions(resource.entity)) if resource.entity else []
    rows = draw(st.lists(records(resource.record), max_size=6))
    # A record without its id is refused; see test_bad_input.
    rows = list({row[resource.id]: row for row in rows if row[resource.id]}.values())
    for row in rows:
        where = draw(st.sampled_from(["record", "meta", "empty", "none"])) if resource.entity else "none"
        if where == "record":
            row["customFields"] = draw(custom_values(fields))
        elif where == "meta" and row.get("meta"):
            row["meta"] = {**row["meta"], "customFields": draw(custom_values(fields))}
        elif where == "empty":
            row["customFields"] = draw(st.sampled_from([None, []]))
    some = st.lists(st.sampled_from(resource.select), unique=True) if resource.select else st.just([])
    select = draw(st.just(list(resource.select)) | some)
    return rows, fields, select


def serve(fake, resource, rows, fields, size):
    """Serve a list in pages, an empty one as null or as an empty array."""

    def page(request):
        offset = int(request.url.params.get("offset", 0))
        if resource.name == "custom_fields":
            kept = [row for row in rows if row["entity"].lower() == request.url.params["entity"]]
        else:
            kept = sorted(rows, key=lambda row: row[resource.date]) if resource.date else rows
        part = kept[offset : offset + size] if resource.paginated else kept
        # Several pages have no total: random rows have no order by which windows or key ranges could be proved.
        where = {"pagination": {"limit": size, "offset": offset, "total": len(kept)}} if len(kept) < size else {}
        return dumps({"data": part or None, **(where if resource.paginated else {})}).encode()

    fake.answers = {
        "/v2/custom-fields": dumps({"data": fields}).encode(),
        resource.path: page,
    }


@pytest.mark.slow
@pytest.mark.parametrize("resource", LISTS, ids=lambda each: each.name)
def test_every_cell_has_the_value_that_was_sent(server, resource):
    fake, client = server

    @examples(8)
    @given(lists(resource), st.integers(1, 4))
    def check(made, size):
        rows, fields, select = made
        if resource.name == "custom_fields":
            rows = [row for row in rows if row["entity"].lower() in {"client", "matter", "user"}]
        serve(fake, resource, rows, fields, size)
        options = {"select": select} if resource.select else {}
        columns = expect(resource, rows, select, fields)
        for to in ("pandas", "arrow", "polars"):
            frame = getattr(client, resource.name)(to=to, **options)
            compare(frame, columns, resource)

    check()


def compare(frame, columns, resource):
    assert list(getattr(frame, "column_names", frame.columns)) == list(columns)
    key = next(iter(columns))
    order = cells_of(frame[key], "id")
    assert sorted(order) == sorted(columns[key].cells)
    for name, column in columns.items():
        cells = cells_of(frame[name], column.kind)
        assert cells == [column.cells[row] for row in order], name
        if isinstance(frame, pd.DataFrame):
            assert str(frame[name].dtype) == column.dtype, name
            if column.kind == "enum":
                assert frame[name].cat.categories.tolist() == column.categories, name
    if resource.order:
        by = [columns[declared_name(each)] for each in resource.order]
        assert order == sorted(order, key=lambda row: (*(each.cells[row] for each in by), row))


def declared_name(wire):
    return {"invoiceDate": "invoice_date"}.get(wire, wire)


def attribute(value, field):
    """Return the record attribute of a JSON value; an instant is independent of its time zone."""
    if isinstance(value, list):
        return [attribute(each, field) for each in value]
    if isinstance(value, dict):
        names = wire_names(field.type)
        parts = [each for each in fields_of(field.type) if each.name != "custom_fields"]
        return {each.name: attribute(put_together(value, names[each.name]), each) for each in parts}
    if isinstance(value, Instant):
        return value.microseconds
    if value is not None and field.notes.get("kind") == "date":
        return dt.date.fromisoformat(value)
    return plain(value, field.notes.get("kind", "text"), field.notes.get("values", ()))


def moments(value):
    """Return a record's values, with its instants as microseconds since 1970."""
    if isinstance(value, dict):
        return {name: moments(each) for name, each in value.items() if name != "custom_fields"}
    if isinstance(value, list):
        return [moments(each) for each in value]
    if isinstance(value, dt.datetime):
        start = dt.datetime(1970, 1, 1)
        return (value.replace(tzinfo=None) - start - value.utcoffset()) // dt.timedelta(microseconds=1)
    return value


@pytest.mark.parametrize("resource", [each for each in LISTS if each.detail], ids=lambda each: each.name)
def test_every_value_of_a_record_was_sent(server, resource):
    fake, client = server

    @examples(8)
    @given(records(resource.detail))
    def check(sent):
        sent = {**sent, resource.id: "r1"}
        fake.answers = {f"{resource.path}/r1": dumps({"data": sent}).encode()}
        record = getattr(client, resource.name).get("r1")
        names = wire_names(resource.detail)
        assert moments(record.to_dict()) == {
            field.name: attribute(sent.get(names[field.name]), field)
            for field in fields_of(resource.detail)
            if field.name != "custom_fields"
        }
        assert repr(record)
        assert record._repr_html_()

    check()


@examples(8)
@given(
    st.fixed_dictionaries(
        {
            **{kind: st.lists(records(declared.CODES.record), max_size=4) for kind in ("activity", "task", "expense")},
            "codeSets": st.lists(records(CodeSet), max_size=3),
        }
    )
)
def test_every_code_and_code_set_has_the_values_that_were_sent(server, sent):
    fake, client = server
    fake.answers = {"/v2/codes": dumps({"data": sent}).encode()}
    rows = [(kind, code) for kind in ("activity", "task", "expense") for code in sent[kind]]
    sets = {each["codeSetId"]: each["label"] for each in sent["codeSets"]}
    labels = {(kind, code["codeSetId"], code["code"]): code["label"] for kind, code in rows}
    for to in ("pandas", "arrow", "polars"):
        codes, code_sets = client.codes(to=to), client.code_sets(to=to)
        for name, kind, cells in [
            ("code_type", "enum", [kind for kind, _ in rows]),
            ("code", "text", [code["code"] for _, code in rows]),
            ("code_set_label", "text", [sets.get(code["codeSetId"]) for _, code in rows]),
            ("parent_code", "text", [code.get("parentCode") for _, code in rows]),
            ("parent_label", "text", [labels.get((k, c["codeSetId"], c.get("parentCode"))) for k, c in rows]),
            ("selectable", "flag", [code.get("selectable") for _, code in rows]),
        ]:
            assert cells_of(codes[name], kind) == cells
        for name, wire in [("code_set_id", "codeSetId"), ("label", "label"), ("description", "description")]:
            assert cells_of(code_sets[name], "text") == [each[wire] for each in sent["codeSets"]]


@examples(8)
@given(st.lists(records(ClientBalances), max_size=3), st.sampled_from(["A", "B"]), st.data())
def test_every_balance_has_the_value_that_was_sent(server, made, which, data):
    fake, client = server
    names = BUCKETS[which]
    fake.answers, sent = {}, {}
    for number, row in enumerate(made):
        sent[f"c{number}"] = {**row, **{name: data.draw(numbers) for name in names}}
        fake.answers[f"/v2/clients/c{number}/balances"] = dumps({"data": sent[f"c{number}"]}).encode()
    for to in ("pandas", "arrow", "polars"):
        frame = client.client_balances(list(sent), to=to)
        assert cells_of(frame["client_id"], "id") == list(sent)
        for column, wire in wire_names(ClientBalances).items():
            assert cells_of(frame[column], "money") == [plain(row.get(wire), "money") for row in sent.values()]
