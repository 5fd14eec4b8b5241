"""Files with tax are written only if the items and their tax make the invoice to the cent."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from billframes.config.firm import FirmSettings
from billframes.ebilling import LedesFile, LedesProfile, ledes, ledes_check, ledes_format, read_ledes
from billframes.errors import ConfigError, LedesError, ParameterError

from .firm import PROFILE, frames
from .taxed_firms import check_firm

VAT = [{"type": "VAT", "rate": 0.2}]
FIRM = {"name": "Vance Polk LLP", "address_1": "1 Mill Street", "city": "Northtown", "postcode": "AB1", "country": "GB"}
INTERNATIONAL = replace(PROFILE, format="98BI V2", currency="GBP", account_type="O", firm=FIRM)
ITEMS = ([(2.5, 400.0, 1000.0), (1.2, 150.0, 156.0)], [85.4])
TAXES = ["line_item_tax_rate", "line_item_tax_total", "line_item_tax_type"]


def invoice_of(amount, *items, **options):
    return frames(*(items or ITEMS), amount=amount, **options)


def rejections(given, profile, **options):
    with pytest.raises(LedesError) as error:
        ledes(given, "96542", profile=profile, **options)
    assert error.value.findings.equals(ledes_check(given, "96542", profile=profile, notes=True, **options))
    return error.value.findings.query("severity == 'rejected'")["problem"].tolist()


@pytest.mark.parametrize(
    ("tax", "amount", "net", "taxes"),
    [
        (VAT, 1489.68, "1241.40", ["200.00", "31.20", "17.08"]),
        ([{"type": "HST", "rate": 0.13}], 1402.78, "1241.40", ["130.00", "20.28", "11.10"]),
        ([{"type": "VAT", "rate": 0.2, "on": "fees"}], 1472.6, "1241.40", ["200.00", "31.20", "0.00"]),
        ([{"type": "VAT", "rate": 0.2, "codes": ["E1"]}], 1258.48, "1241.40", ["0.00", "0.00", "17.08"]),
        ([{"type": "VAT", "rate": 0.2, "matters": ["0528"], "from": "2026-11-05"}], 1489.68, "1241.40", None),
        ([{"type": "VAT", "rate": 0.1, "until": "2026-11-04"}, *VAT], 1489.68, "1241.40", None),
        ([{"type": "VAT", "rate": 0}], 1241.4, "1241.40", ["0.00", "0.00", "0.00"]),
        ([], 1241.4, "1241.40", ["0.00", "0.00", "0.00"]),
    ],
)
def test_each_line_has_its_tax(tax, amount, net, taxes):
    file = ledes(invoice_of(amount), "96542", profile=replace(INTERNATIONAL, tax=tax))
    assert file.lines["line_item_tax_total"].tolist() == (taxes or ["200.00", "31.20", "17.08"])
    assert set(file.lines["invoice_total"]) == {f"{amount:.2f}"}
    assert set(file.lines["invoice_net_total"]) == {net}
    assert ledes_format(file.text) == "98BI"
    assert ledes_check(file.text).empty
    assert LedesFile(read_ledes(file.text)).text == file.text


def test_a_line_of_98bi_has_all_52_fields():
    address = {"name": "Tern Shipping plc", "city": "Easthaven", "country": "GB", "tax_id": "XX1"}
    profile = replace(INTERNATIONAL, tax=VAT, client_address=address, po_numbers={"0528": "PO-9"})
    file = ledes(invoice_of(1489.68), "96542", profile=profile)
    assert file.text.split("\r\n")[2] == (
        "20261105|96542|00711|0528|1489.68|20261001|20261002||1|F|2.50||1200.00|20261001|L110||A102|AL|Draft motion|"
        "24-6437381|400.00|Lovelace, Ada|PARTNR||PO-9|XX1|Smith v. Jones|248.28|1241.40|GBP|Lovelace|Ada|O|"
        "Vance Polk LLP|1 Mill Street||Northtown||AB1|GB|Tern Shipping plc|||Easthaven|||GB|0.2|200.00|VAT||[]"
    )


def test_the_clients_frame_has_the_clients_address():
    clients = {"client_id": "c1", "name": "Tern", "contact_street": "9 Quay Road\nFloor 2", "contact_zip": "EH9"}
    clients |= {"contact_city": "Easthaven", "contact_state": None, "contact_country": "United Kingdom"}
    given = {**invoice_of(1489.68), "clients": pd.DataFrame([clients])}
    line = ledes(given, "96542", profile=replace(INTERNATIONAL, tax=VAT)).lines.iloc[0].fillna("")
    address = [line[f"client_{name}"] for name in ("name", "address_1", "address_2", "city", "postcode", "country")]
    assert address == ["Tern", "9 Quay Road", "Floor 2", "Easthaven", "EH9", ""]


def test_the_firms_taxes_are_the_default_and_those_on_one_line_are_one():
    firm = FirmSettings(taxes=[{"name": "GST", "rate": 0.05}, {"name": "PST", "rate": 0.08, "on": ["time"]}])
    file = ledes(invoice_of(1395.95), "96542", profile=INTERNATIONAL, settings=firm)
    assert file.lines[TAXES].to_numpy().tolist() == [
        ["0.13", "130.00", "GST+PST"],
        ["0.13", "20.28", "GST+PST"],
        ["0.05", "4.27", "GST"],
    ]
    assert rejections(invoice_of(1395.95), replace(INTERNATIONAL, tax=[]), settings=firm) == [
        "the invoice is above its items"
    ]


@pytest.mark.parametrize(("clients", "rate"), [({"except_clients": ["c1"]}, "0"), ({"except_clients": ["c2"]}, "0.05")])
def test_a_tax_of_the_firm_is_not_on_the_lines_of_clients_without_it(clients, rate):
    firm = FirmSettings(taxes=[{"name": "GST", "rate": 0.05, **clients}])
    amount = 1241.4 if rate == "0" else 1303.47
    assert set(ledes(invoice_of(amount), "96542", profile=INTERNATIONAL, settings=firm).lines[TAXES[0]]) == {rate}


@pytest.mark.parametrize("adjustments", ["refuse", "lines", "invoice"])
def test_a_tax_that_does_not_explain_the_invoice_is_one_sentence(adjustments):
    profile = replace(INTERNATIONAL, tax=VAT, adjustments=adjustments)
    for amount in (1500.0, 1241.4):
        sentence = f"the invoice is {amount:,.2f}; items 1,241.40 and VAT 248.28 make 1,489.68"
        assert rejections(invoice_of(amount), profile) == [sentence]


def test_half_a_cent_a_line_is_added_to_the_largest_tax_and_reported():
    given = invoice_of(14.98, [(1.0, 4.16, 4.16)] * 3)
    file = ledes(given, "96542", profile=replace(INTERNATIONAL, tax=VAT))
    assert file.lines["line_item_tax_total"].tolist() == ["0.84", "0.83", "0.83"]
    assert file.findings[["field", "value"]].to_numpy().tolist() == [["49 LINE_ITEM_TAX_TOTAL", "0.84, not 0.83"]]
    assert len(rejections(invoice_of(14.97 + 0.03, [(1.0, 4.16, 4.16)] * 3), replace(INTERNATIONAL, tax=VAT))) == 1


def test_a_write_down_has_its_own_tax():
    profile = replace(INTERNATIONAL, tax=VAT, adjustments="invoice")
    line = ledes(invoice_of(1369.68), "96542", profile=profile).lines.iloc[-1]
    assert line[["line_item_adjustment_amount", "line_item_tax_total", "line_item_total"]].tolist() == [
        "-100.00",
        "-20.00",
        "-120.00",
    ]
    spread = ledes(invoice_of(1369.68), "96542", profile=replace(profile, adjustments="lines")).lines
    assert spread["line_item_tax_total"].tolist() == ["182.70", "28.50", "17.08"]
    noted = ledes_check(invoice_of(1369.68), "96542", profile=profile, notes=True)
    assert noted["value"].tolist() == ["100.00 less than the items, without tax"]
    mixed = [{"type": "VAT", "rate": 0.2, "matters": ["0528"]}]
    given = invoice_of(500.0, [(1.0, 350.0, 350.0), {"matter_id": "m2"}])
    assert rejections(given, replace(profile, tax=mixed)) == [
        "the fees have several tax rates, so that the tax on the write-down is not known"
    ]


def test_1998b_has_one_line_of_tax_if_the_profile_names_its_code():
    profile = replace(PROFILE, tax=VAT)
    assert rejections(invoice_of(1489.68), profile) == ["the invoice is above its items"]
    file = ledes(invoice_of(1489.68), "96542", profile=replace(profile, tax_lines="E124"))
    last = file.lines.iloc[-1]
    assert last[["line_item_expense_code", "line_item_description", "line_item_total"]].tolist() == [
        "E124",
        "VAT",
        "248.28",
    ]
    assert len(file.lines) == 4
    assert {number: str(tax) for number, tax in file.taxes.items()} == {"96542": "248.28"}
    assert ledes_check(file.text).empty


def test_a_credit_note_with_tax_is_one_adjustment():
    profile = replace(INTERNATIONAL, tax=VAT, adjustments="invoice", credit_notes=True)
    file = ledes(invoice_of(-1302.48, [], []), "96542", profile=profile)
    assert file.lines[["line_item_adjustment_amount", "line_item_tax_total"]].to_numpy().tolist() == [
        ["-1085.40", "-217.08"]
    ]
    assert file.findings["field"].tolist() == ["5 INVOICE_TOTAL"]
    assert rejections(invoice_of(-1302.48, [], []), replace(profile, credit_notes=False)) == [
        "the invoice is a credit note"
    ]


def test_a_currency_that_is_not_the_firms_is_refused():
    settings = FirmSettings(currency="USD")
    profile = replace(INTERNATIONAL, tax=[])
    with pytest.raises(LedesError) as error:
        ledes(invoice_of(1241.4), "96542", profile=profile, settings=settings)
    sentence = "30 INVOICE_CURRENCY: the profile's currency is GBP, and that of the firm's settings is USD."
    assert str(error.value).startswith(f"No LEDES file was made. {sentence} Correct currency in the profile.")


def test_98bi_reports_fixed_fees_and_names_in_other_scripts():
    profile = replace(INTERNATIONAL, tax=[])
    given = frames([(1.0, 350.0, 350.0)], [], [1000.0], matters={"m1": {"name": "法"}})
    found = ledes_check(given, "96542", profile=profile, notes=True)
    assert found[["field", "severity"]].to_numpy().tolist() == [
        ["27 MATTER_NAME", "often rejected"],
        ["10 EXP/FEE/INV_ADJ_TYPE", "note"],
    ]


def test_unbilled_work_is_checked_for_the_profiles_format():
    given = invoice_of(0.0, [{"invoice_id": None}])
    assert ledes_check(given, profile=replace(INTERNATIONAL, tax=VAT)).empty
    lacking = ledes_check(given, profile=replace(INTERNATIONAL, firm={}))
    assert lacking["field"].tolist() == ["34 LAW_FIRM_NAME"]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"format": "98BI"}, r"format='98BI' is not known; .* Did you mean '98BI V2'"),
        ({"format": "98BI V2", "account_type": "O"}, "98BI V2 needs currency"),
        ({"format": "98BI V2", "currency": "GBP"}, "98BI V2 needs account_type"),
        ({"currency": "pounds"}, "currency='pounds' is not a currency code"),
        ({"account_type": "X"}, "account_type='X' is not known"),
        ({"firm": {"citty": "York"}}, r"firm has an unknown key 'citty'. Did you mean 'city'"),
        ({"firm": {"country": "England"}}, r"firm.country='England' has 7 characters"),
        ({"client_address": {"country": "gb"}}, r"client_address.country='gb' is not a code"),
        ({"firm": "York"}, "firm='York' is not a table"),
        ({"tax": [{"type": "VAT", "rate": 20}]}, r"tax\[0\] has rate=20, .* Write 20% as 0.2"),
        ({"tax": [{"type": "VAT"}]}, r"tax\[0\] has no rate"),
        ({"tax": [{"rate": 0.2}]}, r"tax\[0\] has no type"),
        ({"tax": [{"type": "VAT", "rate": 0.2, "form": "2026-01-01"}]}, r"unknown key 'form'. Did you mean 'from'"),
        ({"tax": [{"type": "VAT", "rate": 0.2, "on": "time"}]}, "on='time'; it takes one of"),
        ({"tax": [{"type": "MwSt. für alles", "rate": 0.2}]}, "it takes at most 20 ASCII"),
        ({"tax": {"type": "VAT", "rate": 0.2}}, "write each tax as"),
        ({"tax": [0.2]}, r"tax\[0\]=0.2 is not a tax"),
        (
            {"tax": [{"type": "VAT", "rate": 0.2, "from": "2027-01-01", "until": "2026-01-01"}]},
            r"tax\[0\] has from=2027-01-01, which is after until=2026-01-01",
        ),
        ({"credit_notes": "yes"}, "credit_notes='yes' is neither true nor false"),
        ({"format": "98BI V2", "currency": "GBP", "account_type": "O", "tax_lines": "E124"}, "Keep one of the two"),
    ],
)
def test_a_wrong_key_is_one_sentence(keys, said):
    with pytest.raises(ParameterError, match=said) as error:
        LedesProfile(law_firm_id="24", **keys)
    assert "\n" not in str(error.value)


def test_a_file_of_a_profile_has_taxes_as_tables(tmp_path):
    path = tmp_path / "tern.toml"
    text = 'law_firm_id = "24"\nformat = "98BI V2"\ncurrency = "GBP"\naccount_type = "O"\n'
    path.write_text(f'{text}[firm]\nname = "Firm"\n[[tax]]\ntype = "VAT"\nrate = 0.2\nfrom = 2026-01-01\n')
    expected = LedesProfile(
        law_firm_id="24",
        format="98BI V2",
        currency="GBP",
        account_type="O",
        firm={"name": "Firm"},
        tax=[{"type": "VAT", "rate": 0.2, "from": "2026-01-01"}],
    )
    assert LedesProfile.load(path) == expected
    path.write_text(f"{text}[[tax]]\ntype = 'VAT'\nrate = 0.2\ntax_on_tax = true\n")
    with pytest.raises(ConfigError, match="unknown key 'tax_on_tax'"):
        LedesProfile.load(path)


@pytest.mark.parametrize("seed", range(30))
def test_a_random_firms_file_agrees_to_the_cent(seed):
    assert check_firm(seed) in {"written", "refused"}
