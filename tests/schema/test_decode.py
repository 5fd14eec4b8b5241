"""A value of a response becomes the right cell, or a DecodeError that names resource, record and path."""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys

import httpx
import pandas as pd
import pytest

import billframes as bf
from tests.conftest import entries, entry, paged
from tests.record_strategies import RawNumber, dumps


@pytest.fixture
def load(fake, connect):
    """Return a function that loads time entries with the given changes."""

    def loading(*rows, **options):
        fake.answers["/v2/time-entries"] = paged([entry(i, **row) for i, row in enumerate(rows)])
        return connect().time_entries(**{"select": "", **options})

    return loading


def test_nested_references_flatten(load):
    row = {
        "client": {"name": "Acme", "reference": None},
        "matter": {"name": "Acme v. Bolt", "reference": "1001"},
        "user": {"name": "Ann Lee", "email": "x@example.com", "team": {"id": 3}},
        "invoiceId": "i1",
        "invoice": {"invoiceId": "i1", "invoiceNumber": "7", "invoiceDate": "2026-10-31", "invoiceState": "final"},
        "fixedFeeId": "f1",
        "fixedFee": {"id": "f1", "label": "Will", "amount": 1500},
        "meta": {"createdAt": "2026-10-01T09:00:00+02:00", "modifiedAt": "2026-10-02T09:00:00Z"},
    }
    frame = load(row, select=None)
    assert frame.loc[0, ["client_name", "matter_reference", "user_name", "invoice_number"]].tolist() == [
        "Acme",
        "1001",
        "Ann Lee",
        "7",
    ]
    assert frame.loc[0, ["fixed_fee_label", "fixed_fee_amount"]].tolist() == ["Will", 1500.0]
    assert pd.isna(frame.loc[0, "client_reference"])
    assert frame.loc[0, "created_at"] == pd.Timestamp("2026-10-01T07:00:00Z")


def test_a_missing_full_name_is_made_from_its_parts(load):
    assert load({"user": {"firstName": "Ann", "lastName": "Lee"}}, select="user").loc[0, "user_name"] == "Ann Lee"


@pytest.mark.parametrize("day", ["0001-01-01", "1900-02-28", "2024-02-29", "9999-12-31"])
def test_dates_of_any_year_are_kept(load, day):
    assert load({"date": day})["date"].dt.strftime("%Y-%m-%d").str.zfill(10).tolist() == [day]


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-10-01T09:00:00Z", "2026-10-01T09:00:00Z"),
        ("2026-10-01T09:00:00.1234567Z", "2026-10-01T09:00:00.123456Z"),
        ("2026-10-01T09:00:00-04:30", "2026-10-01T13:30:00Z"),
        ("2026-10-01T09:00:00", "2026-10-01T09:00:00Z"),
        ("2026-10-01T09:00Z", "2026-10-01T09:00:00Z"),
    ],
)
def test_instants_of_any_offset_and_precision(load, text, instant):
    frame = load({"meta": {"createdAt": text, "modifiedAt": text}}, select="meta")
    assert frame.loc[0, "modified_at"] == pd.Timestamp(instant)


@pytest.mark.parametrize("text", ["09:30:00", "09:30", "09:30:00.000"])
def test_a_time_of_day(load, text):
    assert load({"time": text}).loc[0, "time"] == dt.time(9, 30)


@pytest.mark.parametrize("written", ["100", "100.0", "1e2"])
def test_numbers_in_any_notation_are_read(fake, connect, written):
    body = json.dumps(paged([entry(amount="?")])(type("R", (), {"url": type("U", (), {"params": {}})})))
    fake.answers["/v2/time-entries"] = body.replace('"?"', written).encode()
    assert connect().time_entries(select="").loc[0, "amount"] == 100.0


def test_enum_text_is_matched_without_regard_to_case(load):
    assert load({"billingType": "NONBILLABLE"}).loc[0, "billing_type"] == "nonBillable"


def test_an_unknown_enum_value_is_kept_with_one_warning(load):
    with pytest.warns(bf.errors.UnknownValueWarning, match="'courtesy'") as given:
        frame = load({"billingType": "courtesy"}, {"billingType": "courtesy"}, {})
    assert len(given) == 1
    assert frame["billing_type"].tolist() == ["courtesy", "courtesy", "billable"]
    assert frame["billing_type"].cat.categories.tolist() == ["nonBillable", "billable", "fixedFee", "courtesy"]


def test_unknown_properties_are_ignored(load):
    assert "novelty" not in load({"novelty": {"deep": [1]}})


@pytest.mark.parametrize(
    "text", ["", "  ", "<script>alert(1)</script>", "مكتب المحاماة", "𝔘\u0000\u2028", "x" * 20_000]
)
def test_text_of_any_kind_is_kept(load, text):
    assert load({"description": text}).loc[0, "description"] == text


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"hours": "1.5"}, "$.data[1].hours"),
        ({"hours": None}, "$.data[1].hours"),
        ({"billed": "yes"}, "$.data[1].billed"),
        ({"date": "2026-13-01"}, "$.data[1].date"),
        ({"client": "Acme"}, "$.data[1].client"),
        ({"time": "noon"}, "$.data[1].time: the value is not a time"),
    ],
)
def test_a_wrong_type_names_resource_record_and_path(load, changes, path):
    with pytest.raises(bf.errors.DecodeError) as raised:
        load({}, changes)
    assert "time_entries" in str(raised.value)
    assert "t0001" in str(raised.value)
    assert path in str(raised.value)


def test_a_missing_required_field_is_named(fake, connect):
    row = entry(7)
    del row["matterId"]
    fake.answers["/v2/time-entries"] = paged([row])
    with pytest.raises(bf.errors.DecodeError, match=r"time_entries: record t0007 .*\$\.data\[0\].*matterId"):
        connect().time_entries(select="")


def test_values_stay_out_of_error_messages_and_chains(load):
    with pytest.raises(bf.errors.DecodeError) as raised:
        load({"description": "privileged", "hours": "x"})
    assert "privileged" not in str(raised.value)
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None


def test_a_truncated_body_is_a_transport_error(fake, connect):
    fake.answers["/v2/time-entries"] = b'{"data": ['
    with pytest.raises(bf.errors.TransportError, match=r"time_entries: .*it ends in the middle"):
        connect(retries=0).time_entries(select="")


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"rows": []}', b'{"data": {}}', b"\xff", b"NaN"])
def test_a_body_that_is_not_the_apis_is_a_decode_error(fake, connect, body):
    fake.answers["/v2/time-entries"] = body
    with pytest.raises(bf.errors.DecodeError, match="time_entries"):
        connect().time_entries()


def test_an_invoice_may_have_no_matter(fake, connect):
    invoice = {
        "invoiceId": "i1",
        "clientId": "c1",
        "matterId": None,
        "invoiceDate": "2026-10-31",
        "amount": 5,
        "balance": 5,
        "invoiceNumber": "7",
        "invoiceState": "draft",
    }
    fake.answers["/v2/invoices"] = paged([invoice])
    assert connect().invoices(select="")["matter_id"].isna().all()


FIELDS = [
    {"id": "1", "entity": "matter", "name": "Court", "valueType": "text"},
    {"id": "2", "entity": "matter", "name": "Budget (USD)", "valueType": "number"},
    {"id": "3", "entity": "matter", "name": "Insured", "valueType": "boolean"},
    {"id": "4", "entity": "matter", "name": "Trial", "valueType": "date"},
    {
        "id": "5",
        "entity": "matter",
        "name": "Phase",
        "valueType": "enum",
        "options": [{"optionId": "a", "label": "Late"}, {"optionId": "b", "label": "Early"}],
    },
    {"id": "6", "entity": "matter", "name": "Name", "valueType": "text"},
    {"id": "7", "entity": "matter", "name": "Team!", "valueType": "text"},
    {"id": "8", "entity": "matter", "name": "crew", "valueType": "text"},
]
VALUES = [
    {"id": "1", "name": "Court", "valueType": "text", "value": "High Court"},
    {"id": "2", "name": "Budget (USD)", "valueType": "number", "value": 1000},
    {"id": "3", "name": "Insured", "valueType": "boolean", "value": False},
    {"id": "4", "name": "Trial", "valueType": "date", "value": "2027-03-01"},
    {"id": "5", "name": "Phase", "valueType": "enum", "value": "Early", "optionId": "b"},
]


def matter(**changes):
    return {
        "matterId": "m1",
        "name": "Acme v. Bolt",
        "matterType": "hourly",
        "archived": False,
        "clientId": "c1",
        "client": {"name": "Acme"},
        "responsibleId": "u1",
        "originatorIds": [],
        **changes,
    }


@pytest.fixture
def load_matters(fake, connect):
    def loading(*rows):
        fake.answers["/v2/custom-fields"] = {"data": FIELDS}
        fake.answers["/v2/matters"] = paged(list(rows))
        return connect().matters(select="customFields")

    return loading


@pytest.mark.parametrize(
    ("originators", "names"),
    [
        ([{"userId": "U2", "name": "Ben"}, {"userId": "u1", "name": "Ada"}], ["Ada", "Ben"]),
        ([{"userId": "u2", "name": "Ben"}], [None, "Ben"]),
        ([{"name": "Ben"}, {"name": "Ada"}], ["Ben", "Ada"]),
    ],
    ids=["other order", "one missing", "without ids"],
)
def test_names_of_originators_are_in_the_order_of_their_ids(fake, connect, originators, names):
    fake.answers["/v2/matters"] = paged([matter(originatorIds=["u1", "u2"], originators=originators)])
    frame = connect().matters(select="originator")
    assert frame.loc[0, "originator_ids"] == ["u1", "u2"]
    assert frame.loc[0, "originator_names"] == names


@pytest.mark.parametrize("where", ["record", "meta"])
def test_custom_fields_become_typed_columns_from_record_or_meta(load_matters, where):
    meta = {"createdAt": "2026-01-01T00:00:00Z", "modifiedAt": "2026-01-01T00:00:00Z"}
    row = matter(customFields=VALUES) if where == "record" else matter(meta={**meta, "customFields": VALUES})
    frame = load_matters(row)
    assert frame.filter(like="cf_").dtypes.astype(str).to_dict() == {
        "cf_court": "str",
        "cf_budget_usd": "float64",
        "cf_insured": "boolean",
        "cf_trial": "datetime64[us]",
        "cf_phase": "category",
        "cf_name": "str",
        "cf_team": "str",
        "cf_crew": "str",
    }
    assert frame.loc[0, ["cf_court", "cf_budget_usd", "cf_insured", "cf_phase"]].tolist() == [
        "High Court",
        1000.0,
        False,
        "Early",
    ]
    assert frame.loc[0, "cf_trial"] == pd.Timestamp("2027-03-01")
    assert frame["cf_phase"].cat.categories.tolist() == ["Late", "Early"]
    assert frame.attrs["custom_fields"]["cf_budget_usd"] == {"id": "2", "name": "Budget (USD)", "type": "number"}


def test_a_field_without_values_has_its_column(load_matters):
    empty, full = load_matters(matter(customFields=[])), load_matters(matter(customFields=VALUES))
    assert empty.dtypes.astype(str).to_dict() == full.dtypes.astype(str).to_dict()


@pytest.mark.parametrize(
    "second",
    [VALUES, VALUES[::-1], VALUES[1:], [*VALUES, VALUES[1]], [VALUES[0], *VALUES]],
    ids=["same order", "other order", "one fewer", "one twice", "first twice"],
)
def test_custom_fields_are_read_in_any_order(load_matters, second):
    first = [{**VALUES[0], "value": "Low Court"}, {**VALUES[1], "value": 7}, *VALUES[2:]]
    frame = load_matters(matter(customFields=first), matter(matterId="m2", customFields=second)).set_index("matter_id")
    court = "High Court" if VALUES[0] in second else "missing"
    assert frame["cf_court"].fillna("missing").to_dict() == {"m1": "Low Court", "m2": court}
    assert frame["cf_budget_usd"].to_dict() == {"m1": 7.0, "m2": 1000.0}
    assert frame["cf_phase"].to_dict() == {"m1": "Early", "m2": "Early"}


@pytest.mark.parametrize("place", [0, 3])
def test_an_error_names_the_place_of_a_custom_value_in_its_record(load_matters, place):
    wrong = VALUES[1:]
    wrong.insert(place, {**VALUES[0], "value": 5})
    with pytest.raises(
        bf.errors.DecodeError, match=rf"record m2 .*\$\.data\[1\]\.customFields\[{place}\]\.value: text exp"
    ):
        load_matters(matter(customFields=VALUES), matter(matterId="m2", customFields=wrong))


def test_a_custom_value_of_another_type_is_a_decode_error(load_matters):
    wrong = {"id": "2", "name": "Budget (USD)", "valueType": "number", "value": "1000"}
    with pytest.raises(bf.errors.DecodeError, match="m1"):
        load_matters(matter(customFields=[wrong]))


def test_a_value_of_an_undefined_field_is_warned_about(load_matters):
    stray = {"id": "99", "name": "New", "valueType": "text", "value": "x"}
    with pytest.warns(bf.errors.UnknownValueWarning, match="99"):
        load_matters(matter(customFields=[stray]))


def test_details_missing_on_every_row_are_named_once(fake, connect):
    fake.answers["/v2/time-entries"] = paged([entry()])
    with pytest.warns(bf.errors.DetailsMissingWarning, match="client, matter, user, meta") as given:
        connect().time_entries()
    assert len(given) == 1


EDGES = [
    ("0001-01-01T00:00:00+14:00", -62135647200000000),
    ("0001-01-01T00:00:00.1234567+14:00", -62135647199876544),
    ("9999-12-31T23:59:59.9999999Z", 253402300799999999),
    ("9999-12-31T23:59:59.9999999-12:00", 253402343999999999),
]


@pytest.mark.parametrize(("text", "microseconds"), EDGES)
@pytest.mark.parametrize("to", ["pandas", "arrow", "polars"])
def test_instants_near_the_years_1_and_9999_are_kept(load, text, microseconds, to):
    """In UTC they may be outside the years 1 to 9999, which no datetime can represent."""
    frame = load({"meta": {"createdAt": text, "modifiedAt": text}}, select="meta", to=to)
    column = {
        "pandas": lambda: frame["created_at"].astype("int64").tolist(),
        "arrow": lambda: frame["created_at"].cast("int64").to_pylist(),
        "polars": lambda: frame["created_at"].to_physical().to_list(),
    }[to]()
    assert column == [microseconds]
    assert str(frame)


def test_a_record_keeps_the_time_zone_of_such_an_instant(fake, connect):
    meta = {"createdAt": "0001-01-01T00:00:00+14:00", "modifiedAt": "9999-12-31T23:59:59-12:00"}
    fake.answers["/v2/clients/c1"] = {"data": {"clientId": "c1", "name": "Acme", "contact": {}, "meta": meta}}
    record = connect().clients.get("c1")
    assert record.meta.created_at.isoformat() == "0001-01-01T00:00:00+14:00"


def test_unknown_enum_values_are_kept_and_sorted(load):
    rows = [{"billingType": "courtesy"}, {"billingType": "Courtesy"}, {"billingType": "barter"}]
    with pytest.warns(bf.errors.UnknownValueWarning):
        frame, turned = load(*rows), load(*reversed(rows))
    assert frame["billing_type"].tolist() == ["courtesy", "Courtesy", "barter"]
    assert frame["billing_type"].dtype == turned["billing_type"].dtype


def test_a_custom_field_with_two_definitions_is_an_error(fake, connect):
    field = {"id": "7", "entity": "matter", "name": "Team", "valueType": "text"}
    fake.answers["/v2/custom-fields"] = {"data": [field, field]}
    with pytest.raises(bf.errors.PagingError, match="custom_fields: a record is twice in one response"):
        connect().matters()


def test_custom_fields_of_the_metadata_are_used_if_the_records_own_are_empty(load_matters):
    meta = {"createdAt": "2026-01-01T00:00:00Z", "modifiedAt": "2026-01-01T00:00:00Z", "customFields": VALUES}
    assert load_matters(matter(customFields=[], meta=meta)).loc[0, "cf_court"] == "High Court"


def test_custom_fields_of_one_name_are_both_in_a_record(fake, connect):
    values = [{"id": key, "name": "Team", "valueType": "text", "value": key} for key in ("7", "8")]
    client = {"clientId": "c1", "name": "Acme", "contact": {}, "customFields": values}
    fake.answers["/v2/clients/c1"] = {"data": client}
    record = connect().clients.get("c1")
    assert record.custom_fields == {"7": "7", "8": "8"}
    assert (record.cf_team_7, record.cf_team_8) == ("7", "8")


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"limit": 0, "offset": 0, "total": 1}, "limit 0"),
        ({"limit": 1, "offset": -1, "total": 1}, "offset -1"),
        ({"limit": 1, "offset": 0, "total": -1}, "total -1"),
        ({"limit": 1, "offset": 0, "total": 10**12}, "total 1000000000000"),
    ],
)
def test_an_impossible_pagination_is_a_decode_error(fake, connect, where, message):
    fake.answers["/v2/time-entries"] = {"data": [entry()], "pagination": where}
    with pytest.raises(bf.errors.DecodeError, match=message):
        connect().time_entries(select="")


def test_an_empty_list_may_state_a_limit_of_zero(fake, connect):
    fake.answers["/v2/practice-areas"] = {"data": [], "pagination": {"limit": 0, "offset": 0, "total": 0}}
    assert connect().practice_areas().empty


HALF = "\ud83d"


def test_half_a_character_is_read_as_the_replacement_character_and_its_records_are_named_once(fake, connect):
    rows = entries(120)
    for number, row in enumerate(rows):
        row["description"] = f"Call {HALF}" if number in {3, 100} else "Call 😀 \\ud83d"
    fake.answers["/v2/time-entries"] = paged(rows)
    with pytest.warns(bf.errors.UnknownValueWarning) as caught:
        frame = connect(page_size=50).time_entries(select="")
    assert [str(each.message).partition(".")[0] for each in caught] == [
        "time_entries: records t0003, t0100 have half of a character in a text, such as half of an emoji that was cut "
        "off"
    ]
    descriptions = frame.set_index("time_entry_id")["description"]
    assert descriptions["t0003"] == descriptions["t0100"] == "Call \ufffd"
    assert (descriptions.drop(["t0003", "t0100"]) == "Call 😀 \\ud83d").all()


@pytest.mark.parametrize("wrap", [lambda row: [row], lambda row: {"timeEntries": [row]}])
def test_half_a_character_is_read_in_lists_of_other_forms(fake, connect, wrap):
    pages = {"0": json.dumps(wrap(entry(description=HALF))).encode()}
    fake.answers["/v2/time-entries"] = lambda request: httpx.Response(
        200, content=pages.get(request.url.params["offset"], b"[]")
    )
    with pytest.warns(bf.errors.UnknownValueWarning, match="record t0001 has half of a character"):
        frame = connect().time_entries(select="")
    assert frame["description"].tolist() == ["\ufffd"]


def test_half_a_character_is_read_in_a_single_record(fake, connect):
    record = entry(description=HALF, user={"name": "A"}, matter={"name": "M"}, client={"name": "C"}, meta={})
    fake.answers["/v2/time-entries/t0001"] = {"data": {**record, "meta": None}}
    with pytest.warns(bf.errors.UnknownValueWarning, match="record t0001 has"):
        assert connect().time_entries.get("t0001").description == "\ufffd"


def test_json_that_is_broken_otherwise_is_refused_although_it_has_half_a_character(fake, connect):
    body = json.dumps({"data": [entry(description=HALF)]}).replace('"hours"', "hours")
    fake.answers["/v2/time-entries"] = body.encode()
    with pytest.raises(bf.errors.DecodeError, match="not valid JSON"):
        connect().time_entries(select="")


@pytest.mark.parametrize("body", [b"<html>", b"\xff", b"[]", b"7", b'{"status": 7}', b'{"version": "1"}'])
def test_a_health_check_that_is_not_the_apis_is_a_decode_error(fake, connect, body):
    fake.answers["/up"] = body
    with pytest.raises(bf.errors.DecodeError, match="health"):
        connect(health_path="/up").health()


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"time": "noon"}, r"at \$\.data\.time: the value is not a time"),
        (
            {"meta": {"createdAt": "soon", "modifiedAt": "soon"}},
            r"at \$\.data\.meta\.createdAt: the value is not a date-time",
        ),
        ({"hours": "1.5"}, r"\$\.data\.hours"),
        ({"hours": RawNumber("1e400")}, r"\$\.data\.hours"),
    ],
)
def test_a_wrong_value_in_a_single_record_names_resource_record_and_path(fake, connect, changes, path):
    row = entry(timeEntryId="t1", user={}, matter={}, client={}, **changes)
    fake.answers["/v2/time-entries/t1"] = dumps({"data": row}).encode()
    with pytest.raises(bf.errors.DecodeError, match=rf"^time_entries: record t1 breaks the API's description.*{path}"):
        connect().time_entries.get("t1")


def test_a_record_has_the_name_made_from_its_parts_too(fake, connect):
    row = entry(timeEntryId="t1", user={"firstName": "Ann", "lastName": "Lee"}, matter={}, client={})
    fake.answers["/v2/time-entries/t1"] = {"data": row}
    assert connect().time_entries.get("t1").user.name == "Ann Lee"


def test_unknown_values_of_merged_loads_are_sorted(fake, connect):
    def serve(request):
        entity = request.url.params["entity"]
        stray = {"client": "zeta", "matter": "alpha", "user": "text"}[entity]
        return {"data": [{"id": entity, "entity": entity, "name": "Field", "valueType": stray}]}

    fake.answers["/v2/custom-fields"] = serve
    with pytest.warns(bf.errors.UnknownValueWarning):
        frame = connect().custom_fields()
    assert frame["value_type"].cat.categories.tolist()[-2:] == ["alpha", "zeta"]


_FIRST_LOADS_AT_ONCE = """
import sys, threading, msgspec
from billframes.schema.decode import decode_single, decoder

sys.setswitchinterval(1e-6)
LEAVES = ["L1: a: str | None = None", "L2: a: L1 | None = None; b: list[L1] | None = None",
          "L3: a: L2 | None = None; b: L1 | None = None"]
for _ in range(60):
    names = {"msgspec": msgspec}
    kinds = [f"T{number}: id: str = ''; x: L3 | None = None; y: list[L2] | None = None" for number in range(8)]
    for name, _, fields in (each.partition(": ") for each in LEAVES + kinds):
        exec(f"class {name}(msgspec.Struct):\\n    " + fields.replace("; ", "\\n    "), names)
    gate = threading.Barrier(8)
    def load(number, kind):
        gate.wait()
        if number % 2:
            decode_single(b'{"data": {"x": {"a": {"a": {"a": "q"}}, "b": {}}}}', kind, "things")
        else:
            decoder(kind)
    threads = [threading.Thread(target=load, args=(number, names[f"T{number}"])) for number in range(8)]
    [each.start() for each in threads]
    [each.join() for each in threads]
"""


@pytest.mark.slow
def test_the_first_loads_of_a_process_can_run_at_once():
    """A report loads resources in threads. Their declarations share references, with which msgspec could crash."""
    done = subprocess.run([sys.executable, "-c", _FIRST_LOADS_AT_ONCE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
