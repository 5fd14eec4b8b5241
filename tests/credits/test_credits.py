"""Credits divide the fees of a period by the firm's rule: to the cent, and with what is nobody's first."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from billframes.config.firm import FirmSettings
from billframes.credits.page import credit_page
from billframes.errors import ConfigError, ParameterError
from billframes.ledger import read_ledger
from billframes.ledger.demo import sandbox_reports
from tests.credits.random_firms import book_of
from tests.firms import COLUMNS

RULE = {"firm": 0.1, "originating": 0.2, "responsible": 0.1}
LAWYERS = [{"user_id": each, "name": f"{each.title()} Stone", "email": f"{each}@f.example"} for each in ("ada", "ben")]
MATTER = {"matter_id": "m1", "name": "Acme v. Bolt", "reference": "1001-100", "client_id": "c", "responsible_id": "ada"}
MATTER |= {"originator_ids": ["ada", "ben"]}


def firm(*invoices, **rows):
    """One matter of Ada and Ben; an invoice has a day, its amount, and the value of each person's work."""
    records = {name: [] for name in COLUMNS} | {"users": LAWYERS, "matters": [MATTER]} | rows
    for number, (day, amount, work) in enumerate(invoices):
        on = {"invoice_id": f"i{number}", "client_id": "c"}
        bill = {"invoice_date": day, "amount": amount, "balance": 0.0, "invoice_state": "final"}
        records["invoices"] = [*records["invoices"], on | bill]
        records["time_entries"] = records["time_entries"] + [
            on
            | {"time_entry_id": f"{number}{user}", "user_id": user, "matter_id": "m1", "date": day, "hours": 1.0}
            | {"billing_type": "billable", "amount": value, "rate": value}
            for user, value in work.items()
        ]
    return records


def by_user(frame, column="credit_amount"):
    """The credits by person and role."""
    return {f"{row.user_name} {row.role}": getattr(row, column) for row in frame.itertuples() if getattr(row, column)}


def test_a_matters_fees_are_for_bringing_it_answering_for_it_and_the_work():
    book = book_of(firm(("2026-02-01", 900.0, {"ada": 750.0, "ben": 250.0})))
    found = book.credits(rule=RULE)
    assert by_user(found) == {
        "The firm firm": 90,
        "Ada Stone originating": 90,
        "Ada Stone responsible": 90,
        "Ada Stone working": 405,
        "Ben Stone originating": 90,
        "Ben Stone working": 135,
    }
    ada = found[(found["user_id"] == "ada") & (found["role"] == "originating")].iloc[0]
    assert (ada["base_amount"], ada["rate"]) == (900.0, 0.1)
    weighted = FirmSettings(originator_weights={"m1": {"Ada@f.example": 0.75, "ben": 0.25}}, credits=RULE)
    found = by_user(book_of(firm(("2026-02-01", 900.0, {"ben": 100.0})), weighted).credits())
    assert (found["Ada Stone originating"], found["Ben Stone originating"]) == (135, 45)


@pytest.mark.slow
def test_without_fees_there_are_no_credits():
    for by in ("user", "role", "matter"):
        assert book_of(firm()).credits(rule=RULE, compare=RULE | {"brackets": {"0": 0.3}}, by=by).empty


def test_cents_go_to_the_largest_remainder_and_add_up():
    book = book_of(firm(("2026-02-01", 100.01, {"ada": 100.0, "ben": 100.0}), ("2026-02-02", 0.01, {"ada": 1.0})))
    found = book.credits(rule={"originating": 1 / 3, "firm": 0.1})
    assert round(found["credit_amount"].sum(), 2) == 100.02
    assert found.attrs["credits"]["fees_amount"] == 100.02


def test_a_sunset_in_mid_period_ends_on_its_last_day():
    work = {"ada": 100.0}
    book = book_of(firm(("2026-02-28", 100.0, work), ("2026-03-01", 1000.0, work)))
    own = {"originating": {"Ben": 0.3}, "until": "2026-02-28"}
    found = by_user(book.credits(rule=RULE | {"matters": {"1001-100": own}}))
    assert (found["Ben Stone originating"], found["Ada Stone originating"]) == (30 + 100, 100)
    two = [own, {"originating": 0.0, "start": "2026-03-01"}]
    found = by_user(book.credits(rule=RULE | {"matters": {"m1": two}}))
    assert (found["Ben Stone originating"], "Ada Stone originating" in found) == (30, False)


def test_a_rule_of_a_person_is_between_those_of_the_matter_and_the_firm():
    book = book_of(firm(("2026-02-01", 1000.0, {"ben": 100.0})))
    of_ada = RULE | {"users": {"Ada": {"originating": 0.4, "responsible": 0.05}}}
    found = by_user(book.credits(rule=of_ada))
    assert (found["Ada Stone originating"], found["Ada Stone responsible"]) == (200, 50)
    assert (found["Ben Stone originating"], found["Ben Stone working"]) == (100, 550)
    found = by_user(book.credits(rule=of_ada | {"matters": {"m1": {"originating": 0.1}}}))
    assert (found["Ada Stone originating"], found["Ada Stone responsible"]) == (50, 50)


def test_what_nobody_brought_and_credit_notes_come_first():
    unbrought = [MATTER | {"originator_ids": []}]
    records = firm(("2026-02-01", 1000.0, {"ada": 100.0}), ("2026-02-02", -100.0, {}), matters=unbrought)
    found = book_of(records).credits(rule=RULE)
    assert by_user(found.head(3)) == {"No one originating": 180, "No one responsible": -10, "No one working": -60}
    assert found["user_name"].iloc[3] == "The firm"
    assert found["credit_amount"].sum() == 900
    matters = book_of(records).credits(rule=RULE, by="matter")
    assert matters.groupby("matter_name")["credit_amount"].sum().to_dict() == {"Acme v. Bolt": 1000, "No matter": -100}


@pytest.mark.parametrize(
    ("work", "expected", "how"),
    [
        ([("ada", 1.0, 300.0), ("ben", 3.0, 100.0)], {"Ada": 750, "Ben": 250}, "value"),
        ([("ada", 1.0, 300.0), ("ben", 3.0, None)], {"Ada": 250, "Ben": 750}, "hours"),
        ([("ada", 0.0, None)], {"Ada": 1000}, "responsible"),
        ([], {"Ada": 1000}, "responsible"),
    ],
)
def test_a_fixed_fee_is_shared_by_the_time_it_covers(work, expected, how):
    fee = {"fixed_fee_id": "f1", "matter_id": "m1", "client_id": "c", "user_id": "ben", "date": "2026-01-01"}
    covered = [
        {"time_entry_id": f"f{number}", "fixed_fee_id": "f1", "user_id": user, "hours": hours, "amount": amount}
        | {"billing_type": "fixedFee", "date": "2025-12-01", "client_id": "c", "matter_id": "m1"}
        for number, (user, hours, amount) in enumerate(work)
    ]
    records = firm(("2026-02-01", 1000.0, {}), fixed_fees=[fee | {"invoice_id": "i0", "amount": 1000.0}])
    found = book_of(records | {"time_entries": covered}).credits(rule={})
    assert by_user(found) == {f"{name} Stone working": each for name, each in expected.items()}
    assert found.attrs["credits"]["fixed_fees"][how] == 1000


def test_brackets_are_of_the_credit_of_the_fiscal_year():
    work = {"ada": 1.0}
    records = firm(("2026-03-31", 800.0, work), ("2026-04-30", 400.0, work), ("2026-07-01", 400.0, work))
    settings = FirmSettings(fiscal_year_start="07", credits={"brackets": {"0": 0.3, "1,000": 0.5}})
    book = book_of(records, settings, end=pd.Timestamp("2026-08-31").date())
    paid = book.credits(start="2026-04-01", end="2026-08-31")
    # 200 of 400 are in the first bracket, after 800 of the same year; July begins another year.
    assert by_user(paid, "payout_amount") == {"Ada Stone working": 200 * 0.3 + 200 * 0.5 + 400 * 0.3}
    assert by_user(paid) == {"Ada Stone working": 800}
    compared = book.credits(compare={"brackets": {"0": 0.5}}, start="2026-07-01", end="2026-08-31")
    assert by_user(compared, "compared_payout_amount") == {"Ada Stone working": 200}


def payments(records, *rows, **days):
    names = ["payment_date", "kind", "invoice_id", "amount", "fee_amount"]
    more = "invoice_number invoice_date client_id client_name customer expense_amount tax_amount matched_by reference"
    frame = pd.DataFrame(rows, columns=names).assign(**dict.fromkeys([*more.split(), "account"]), from_trust=False)
    frame = frame.assign(payment_date=pd.to_datetime(frame["payment_date"]), ledger_row=range(len(frame)))
    frame.attrs["payments"] = {"file": "sales.csv", "start": "2026-01-01", "end": "2026-06-30"} | days
    return frame.assign(expense_amount=0.0, tax_amount=0.0)


def test_collected_fees_count_on_the_day_of_the_payment():
    records = firm(("2025-11-01", 300.0, {"ada": 100.0, "ben": 50.0}), ("2026-02-01", 80.0, {"ben": 1.0}))
    paid = payments(
        records,
        ("2026-02-01", "cash", "i0", 100.0, 100.0),
        ("2026-03-01", "cash", "i0", 100.01, 100.01),
        ("2026-03-01", "write_off", "i1", 80.0, 80.0),
        ("2026-03-02", "cash", "gone", 7.0, 7.0),
        ("2026-07-02", "cash", "i1", 80.0, 80.0),
    )
    sunset = {"originating": {"Ben": 0.1}, "until": "2026-02-28"}
    rule = {"base": "collected", "matters": {"m1": sunset}}
    found = book_of(records).credits(rule=rule, payments=paid)
    assert by_user(found) == {
        "No one working": 7,
        "Ada Stone working": 60 + 66.67,
        "Ben Stone originating": 10,
        "Ben Stone working": 30 + 33.34,
    }
    with pytest.raises(ParameterError, match="these are from 1 February 2026 to 30 June 2026"):
        book_of(records).credits(rule=rule, payments=payments(records, start="2026-02-01"))
    with pytest.raises(ParameterError, match="needs payments="):
        book_of(records).credits(rule=RULE, base="collected")
    with pytest.raises(ParameterError, match="fees collected and the other of fees billed; pass base="):
        book_of(records).credits(rule=rule, compare=RULE, payments=paid)


@pytest.mark.slow
def test_collected_credits_of_the_sandbox_add_up_to_collected(client, tmp_path):
    import billframes as bf

    book = bf.book("2026-10", client=client)
    paid = book.payments(read_ledger(sandbox_reports(tmp_path)["payments"]))
    found = book.credits(rule=RULE, base="collected", payments=paid)
    total = book.fees_collected(paid, by=None)["collected_amount"].sum()
    assert round(found["credit_amount"].sum(), 2) == round(total, 2) > 0
    by_matter = book.credits(rule=RULE, base="collected", payments=paid, by="matter")
    matters = book.fees_collected(paid, by="matter").set_index("matter_id")["collected_amount"]
    credited = by_matter.groupby("matter_id", dropna=False)["credit_amount"].sum()
    # Each payment is rounded to cents once.
    assert credited.sub(matters, fill_value=0.0).abs().max() < 0.05


@pytest.fixture(scope="module")
def year(client):
    import billframes as bf

    return bf.book("2026-01-01", "2026-10-31", client=client)


@pytest.mark.slow
def test_the_sandboxs_firm_under_20_and_15_percent_for_originators(year):
    found = year.credits(rule=RULE, compare=RULE | {"originating": 0.15})
    assert round(found["credit_amount"].sum(), 2) == round(found["compared_amount"].sum(), 2) == 4_629_170.17
    change = found.groupby("user_name")["difference_amount"].sum().round()
    assert change["Dolores Abernathy-Cruz"] == change.min() == -45_849
    # Covered time moves 43,750 of fixed fees from nobody to those who did the work.
    assert change["Priya Raman"] == change.max() == 20_110
    assert round(found["difference_amount"].sum(), 2) == 0
    nobody = found[found["user_name"] == "No one"]["credit_amount"].sum()
    fees = year.fixed_fees
    unassigned = fees[fees["user_id"].isna() & (fees["invoice_state"] == "final")]
    unassigned = unassigned[unassigned["invoice_date"].between("2026-01-01", "2026-10-31")]["amount"].sum()
    assert round(nobody + 0.6 * unassigned) == 88_006
    assert (year.matters["originator_ids"].map(len) == 0).sum() == 35


def test_the_credits_of_one_partner_are_those_added_up_by_hand(year):
    """Every step from the loaded frames, for someone who brings, answers for and does work."""
    entries, invoices, matters = year.time_entries, year.invoices, year.matters.set_index("matter_id")
    final = invoices[(invoices["invoice_state"] == "final") & (invoices["invoice_date"] >= "2026-01-01")]
    final = final.set_index("invoice_id")
    items = pd.concat([year.expenses, year.fixed_fees]).groupby("invoice_id")["amount"].sum()
    net = final["amount"].sub(items.reindex(final.index).fillna(0.0))
    work = entries[(entries["billing_type"] == "billable") & entries["invoice_id"].isin(final.index)]
    value = work.groupby("invoice_id")["amount"].sum()
    fees = work.assign(fee=work["amount"] * work["invoice_id"].map(net / value))[["matter_id", "user_id", "fee"]]
    fixed = year.fixed_fees[year.fixed_fees["invoice_id"].isin(final.index)]
    covered = entries.groupby(["fixed_fee_id", "user_id"])["hours"].sum().reset_index()
    covered["part"] = covered["hours"] / covered.groupby("fixed_fee_id")["hours"].transform("sum")
    shared = fixed.drop(columns="user_id").merge(covered, on="fixed_fee_id", how="left")
    shared["user_id"] = shared["user_id"].fillna(shared["matter_id"].map(matters["responsible_id"]))
    shared["fee"] = shared["amount"] * shared["part"].fillna(1.0)
    fees = pd.concat([fees, shared[["matter_id", "user_id", "fee"]]])
    by_matter = fees.groupby("matter_id")["fee"].sum()
    found = year.credits(rule=RULE)
    for person in ("Samuel Okonkwo", "Dolores Abernathy-Cruz", "Hannah Levy"):
        user = year.users.set_index("name").loc[person, "user_id"]
        brought = matters["originator_ids"].map(lambda people, user=user: list(people).count(user) / (len(people) or 1))
        expected = {
            "originating": 0.2 * (by_matter * brought.reindex(by_matter.index)).sum(),
            "responsible": 0.1 * by_matter[matters["responsible_id"].reindex(by_matter.index) == user].sum(),
            "working": 0.6 * fees[fees["user_id"] == user]["fee"].sum(),
        }
        own = found[found["user_id"] == user].set_index("role")["credit_amount"]
        for role, amount in expected.items():
            assert own[role] == pytest.approx(amount, abs=0.5), (person, role)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"firm": 0.5, "originating": 0.6}, "add up to 1.1; they can be 1 at most"),
        ({"firm": 10}, "firm=10 is not a share from 0 to 1. Write 10% as 0.1."),
        ({"firm": "a tenth"}, "firm='a tenth' is not a number"),
        ({"orginating": 0.1}, "unknown key 'orginating'. Did you mean 'originating'?"),
        ({"base": "bill"}, "base='bill' is not known. Did you mean 'billed'? It takes 'billed', 'collected'."),
        ({"users": {"Ada": {"originating": 1.0}}, "firm": 0.1}, "add up to 1.1"),
        ({"users": {"Ada": {"firm": 0.1}}}, "unknown key 'firm'"),
        ({"users": {"Ada": {"originating": {"Ben": 0.1}}}}, "a person has one, such as 0.15"),
        ({"users": {"Adda": {"originating": 0.1}}}, "No user has the name, reference or id 'Adda'. Did you mean 'Ada"),
        ({"users": {"Stone": {"originating": 0.1}}}, "2 users fit 'Stone'"),
        ({"matters": {"1001-101": {"firm": 0.1}}}, "No matter has the name, reference or id '1001-101'"),
        ({"matters": {"m1": {"originating": {"Harrow": 0.1}}}}, "No user has the name, reference or id 'Harrow'"),
        ({"matters": {"m1": {"originating": {"Ada": 0.1, "ada": 0.1}}}}, "'ada' is named twice"),
        ({"matters": {"m1": {"originating": {"Ada": 0.9}}}, "firm": 0.2}, "matters['m1']: firm, originating and"),
        ({"matters": {"m1": {"originating": {}}}}, "names nobody"),
        ({"matters": {"originating": 0.1}}, "is not a rule of its own; write it below its name"),
        ({"matters": 0.1}, "is not a table of rules by name"),
        ({"matters": {"m1": {}, "1001-100": {}}}, "The matter '1001-100' has two rules for all days"),
        (
            {"matters": {"m1": [{"until": "2026-03-01"}, {"start": "2026-03-01"}]}},
            "matters['m1'] has two rules for 2026-03-01; end one (until) before the other starts.",
        ),
        ({"matters": {"m1": {"start": "2026-03-02", "until": "2026-03-01"}}}, "after its last day (2026-03-01)"),
        ({"matters": {"m1": {"until": "soon"}}}, "until='soon'"),
        ({"brackets": {"100": 0.1}}, "begins at 100; add '0'"),
        ({"brackets": {"0": 0.1, "many": 0.2}}, "has 'many', which is not a credit from 0 up"),
        ({"brackets": 0.1}, "is not a table such as"),
        (0.2, "rule=0.2 is not a rule such as"),
        (None, "rule is missing, and the firm's settings have no [credits]"),
    ],
)
def test_a_bad_rule_is_refused_in_one_sentence(rule, message):
    with pytest.raises(ParameterError, match=re.escape(message)) as caught:
        book_of(firm(("2026-02-01", 1.0, {"ada": 1.0}))).credits(rule=rule)
    assert len(re.findall(r"\w[.?](?= [A-Z])", str(caught.value))) <= 2
    if rule is not None:
        with pytest.raises(ParameterError):
            book_of(firm()).credits(rule={}, compare=rule)


def test_a_file_has_the_rule_in_its_table(tmp_path):
    path = tmp_path / "rule.toml"
    path.write_text(
        '[credits]\nfirm = 0.1\n[credits.matters."1001-100"]\nuntil = 2027-06-30\noriginating = {Ada = 0.2}'
    )
    book = book_of(firm(("2026-02-01", 100.0, {"ben": 1.0})))
    assert by_user(book.credits(rule=path))["Ada Stone originating"] == 20
    path.write_text("[credits]\nfirm = 2")
    for text, message in (
        ("[credits]\nfirm = 2", "rule.toml: credits.firm=2"),
        ("firm = 0.1", r"no table \[credits\]"),
    ):
        path.write_text(text)
        with pytest.raises(ConfigError, match=message):
            book.credits(rule=str(path))
    with pytest.raises(ConfigError, match="can't be read as a rule for credits"):
        book.credits(rule=tmp_path / "none.toml")


def test_settings_have_the_rule(tmp_path):
    path = tmp_path / "firm.toml"
    path.write_text("[credits]\nfirm = 0.1\noriginating = 0.2\n[credits.brackets]\n0 = 0.3\n250_000 = 0.4")
    firm_settings = FirmSettings.load(path)
    assert firm_settings.credits.brackets == {0: 0.3, 250_000: 0.4}
    with pytest.raises(ParameterError, match="credits: firm, originating and responsible add up to 1.5"):
        FirmSettings(credits={"firm": 1, "originating": 0.5})


def test_the_changes_of_two_people_of_one_name_are_not_added_up():
    people = {
        "user_id": ["u1", "u2"],
        "user_name": ["Ann Lee"] * 2,
        "role": pd.Categorical(["working"] * 2, ["working"]),
    }
    amounts = {"base_amount": [500.0] * 2, "rate": [1.0] * 2, "credit_amount": [500.0] * 2}
    other = {"compared_amount": [400.0, 600.0], "difference_amount": [-100.0, 100.0]}
    rows = pd.DataFrame({"matter_id": ["m1"] * 2, "matter_name": ["Will"] * 2, **people, **amounts, **other})
    rows.attrs["credits"] = {"base": "billed", "fees_amount": 1_000.0, "fixed_fees": {}}
    page = credit_page(rows, details={}, period="", firm="", rules=[], settings="", notes=[], remark="")
    assert "Ann Lee would have 100 less and Ann Lee would have 100 more" in page
    assert "Ann Lee −100; Ann Lee +100" in page
