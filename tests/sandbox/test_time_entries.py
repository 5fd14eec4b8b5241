"""GET /v2/time-entries and /v2/time-entries/{id}, compared with the API description's own sentences."""

import pytest

ALL = "client,matter,user,meta,fixedFee"


def test_client_of_an_entry_is_its_matters(api):
    """clientId (R), client (R)."""
    assert [row["clientId"] for row in api.rows("time-entries", matterId="a3")] == [api.id("c2")] * 2


def test_start_and_end_date_are_inclusive(api):
    """startDate (date, inclusive), endDate (date, inclusive)."""
    assert api.ids("time-entries", startDate="2026-10-02") == "e2 e3 e5"
    assert api.ids("time-entries", endDate="2026-09-30") == "e1 e4"
    assert api.ids("time-entries", startDate="2026-10-02", endDate="2026-10-02") == "e2 e3"
    assert api.ids("time-entries", startDate="2026-10-03", endDate="2026-10-02") == ""


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"userId": "b1"}, "e1 e4"),
        ({"matterId": "a1"}, "e1 e2"),
        ({"clientId": "c1"}, "e1 e2 e3"),
        ({"fixedFeeId": "f2"}, "e3"),
        ({"billingType": "billable"}, "e1 e2 e5"),
        ({"billingType": "nonBillable"}, "e4"),
        ({"clientId": "c1", "billed": "false", "billingType": "billable"}, "e2"),
        ({"userId": "b3"}, ""),
    ],
)
def test_filters(api, filters, expected):
    """userId, matterId, clientId, fixedFeeId (uuid), billingType (nonBillable, billable, fixedFee), billed."""
    assert api.ids("time-entries", **filters) == expected


def test_billed_in_any_invoice_state(api):
    """The `billed` flag is true when the item is on an invoice in any invoice state."""
    assert api.ids("time-entries", billed="true") == "e1 e5"
    assert api.ids("time-entries", billed="false") == "e4 e2 e3"
    assert {row["invoice"]["invoiceState"] for row in api.rows("time-entries", billed="true")} == {"final", "draft"}


def test_details_come_via_select(api):
    """select: comma-separated names of additional detail to include."""
    bare, full = api.rows("time-entries")[0], api.rows("time-entries", select=ALL)[0]
    assert not {"client", "matter", "user", "meta", "fixedFee"} & set(bare)
    assert full["client"] == {"name": "Acme", "reference": "C-1"}
    assert full["matter"] == {"name": "Lawsuit", "reference": "M-1"}
    assert full["user"]["name"] == "Ada Oak"
    assert full["meta"] == {"createdAt": "2026-04-01T10:00:00.000000Z", "modifiedAt": "2026-04-02T10:00:00.000000Z"}


def test_a_name_with_minus_is_excluded(api):
    """A name prefixed with `-` is excluded."""
    row = api.rows("time-entries", select="client,matter,-client")[0]
    assert "client" not in row
    assert "matter" in row


def test_fixed_fee_reference(api):
    """FixedFeeReference: id (uuid, R), label (string min 1, R), amount (number, R)."""
    (row,) = api.rows("time-entries", select="fixedFee", fixedFeeId="f2")
    assert row["fixedFee"] == {"id": api.id("f2"), "label": "Filing", "amount": 250.0}


def test_invoice_reference_comes_with_billed_entries(api):
    """InvoiceReference (embedded form): invoiceId, invoiceNumber, ..., invoiceBalance (number); all required."""
    billed, *_ = api.rows("time-entries", billed="true")
    assert billed["invoice"] == {
        "invoiceId": api.id("11"),
        "invoiceNumber": "1001",
        "invoiceDate": "2026-05-01",
        "invoiceState": "final",
        "invoiceAmount": 1000.0,
        "invoiceBalance": 1000.0,
    }
    assert all("invoice" not in row for row in api.rows("time-entries", billed="false"))


def test_rates_only_on_billable_entries(api):
    """rate and amount: provided only when billingType is billable."""
    shown = {row["description"]: (row.get("rate"), row.get("amount")) for row in api.rows("time-entries")}
    assert shown["Draft complaint"] == (400.0, 500.0)
    for row in api.rows("time-entries", billingType="fixedFee") + api.rows("time-entries", billingType="nonBillable"):
        assert not {"rate", "amount"} & set(row)


def test_rates_need_the_scope(api):
    """... and only when the credential has the `read.rates` scope; otherwise they are omitted."""
    for row in [
        *api.rows("time-entries", token="sandbox-norates"),
        api.record("time-entries", "e1", token="sandbox-norates"),
    ]:
        assert not {"rate", "amount"} & set(row)
    assert api.record("time-entries", "e1", token="sandbox-service")["rate"] == 400.0


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("date", "e1 e4 e2 e3 e5"),
        ("-date", "e5 e2 e3 e4 e1"),
        ("hours", "e4 e2 e5 e1 e3"),
        ("description", "e2 e1 e3 e4 e5"),
        ("created", "e1 e3 e2 e4 e5"),
        ("date,-hours", "e1 e4 e3 e2 e5"),
    ],
)
def test_sort(api, sort, expected):
    """sort (date, hours, description, created); comma-separated, prefix `-` for descending."""
    assert api.ids("time-entries", sort=sort) == expected


def test_modified_since_is_strict(api):
    """modifiedSince: only records whose ModifiedDate is after this instant."""
    assert api.ids("time-entries", modifiedSince="2026-10-02T10:00:00.123456Z") == "e4 e3 e5"
    assert api.ids("time-entries", modifiedSince="2026-10-02T10:00:00.123455Z") == "e4 e2 e3 e5"
    assert api.ids("time-entries", modifiedSince="2026-10-04T12:00:00+02:00") == "e5"


def test_single_entry_carries_its_references(api):
    """TimeEntryDetail: user (R), matter (R), client (R)."""
    entry = api.record("time-entries", "e1")
    assert entry["user"]["initials"] == "AO"
    assert entry["time"] == "09:30:00"
    assert (entry["activityCode"], entry["taskCode"]) == ("A103", "L110")
    assert "createdAt" in entry["meta"]
    assert api.record("time-entries", "e3")["fixedFee"]["label"] == "Filing"
