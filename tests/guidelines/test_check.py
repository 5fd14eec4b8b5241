"""Findings of guidelines: the made-up client's sample, each rule on small work, and mistakes in files."""

from __future__ import annotations

from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import billframes as bf
from billframes.errors import ConfigError, IncompleteDataWarning, MissingColumnError, ParameterError, RatesHiddenWarning

from .sample import AS_OF, ENTRIES, TERN, expected, frames

SILENCE = "3 of 27 narratives were not judged: 1 other language, 1 unclear language and 1 empty"


def check(given, guidelines=TERN, **options):
    with pytest.warns(IncompleteDataWarning, match=SILENCE):
        return bf.Guidelines.read(guidelines).check(given, as_of=AS_OF, **options)


@pytest.fixture(scope="module")
def findings():
    return check(frames())


def rows_of(findings):
    items = findings.dropna(subset="item_id")
    return sorted((row.item_id, row.rule, row.severity, str(row.at_risk)) for row in items.itertuples())


def test_each_item_of_the_sample_has_the_findings_that_it_must_have(findings):
    assert rows_of(findings) == expected()
    (row,) = findings[findings["item_id"].isna()].to_dict("records")
    assert (row["rule"], row["severity"]) == ("invoice", "review")
    assert row["problem"] == "work of January 2026 is unbilled; the limit was 2026-03-02"


def test_an_item_with_two_findings_counts_once_with_the_largest(findings):
    total = bf.Guidelines.summary(findings).iloc[-1]
    assert (total["items"], total["findings"], total["at_risk"]) == (15, 17, Decimal("2027.00"))
    second = findings[findings["item_id"] == "t03"].assign(rule="travel", at_risk=Decimal("637.50"))
    total = bf.Guidelines.summary(pd.concat([findings, second])).iloc[-1]
    assert (total["items"], total["at_risk"]) == (15, Decimal("2345.75"))


def test_findings_show_words_and_no_narratives(findings):
    shown = findings.to_csv() + bf.Guidelines.summary(findings).to_csv()
    assert [text for text in ENTRIES["description"].dropna() if len(text.split()) > 2 and text in shown] == []


@pytest.mark.parametrize("engine", ["polars", "arrow"])
def test_other_engines_give_the_same_rows(engine, findings):
    convert = {"polars": pl.from_pandas, "arrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False)}[
        engine
    ]
    pd.testing.assert_frame_equal(check({name: convert(each) for name, each in frames().items()}), findings)


def test_findings_without_rows_have_the_same_columns(tmp_path, findings):
    found = one_rule(tmp_path, "entry_hours", 'max = 24\nseverity = "review"', [{}])
    assert found.empty
    pd.testing.assert_series_equal(found.dtypes, findings.dtypes)


def entries(*rows):
    """Time entries or expenses; each row changes an ordinary one."""
    usual = {"kind": "time", "date": "2026-03-02", "user": "mara.vance@example.com", "role": "principal"}
    usual |= {"matter": "2026-014", "hours": 1.0, "rate": 400.0, "description": "Draft answer to complaint"}
    made = pd.DataFrame([usual | {"item_id": f"x{nth}"} | row for nth, row in enumerate(rows, start=1)])
    return made.assign(amount=(made["hours"] * made["rate"]).where(made["kind"] == "time", made["rate"]))


def one_rule(folder, kind, text, rows, *, top="", given=None, **options):
    path = folder / "rule.toml"
    path.write_text(f'client = "TERN"\nlanguage = "en"\n{top}\n[{kind}]\n{text}', "utf-8")
    return bf.Guidelines.read(path).check(given or frames(entries(*rows)), as_of=AS_OF, **options)


PARALEGAL, ATTORNEY = {"user": "tobin.polk@example.com"}, {"user": "new.person@example.com"}
COST = {"kind": "expense", "hours": None, "description": "Dinner"}
RULES = {
    "separators": (
        "block",
        'find = "separators"\ntasks = 2\nseverity = "cut"',
        [{"description": "Draft reply and review exhibits"}, {"description": "Draft reply; review exhibits"}],
        {"x2": "400.00"},
    ),
    "allocated times refused": (
        "block",
        'find = "separators"\ntasks = 2\nallocated = "refuse"\nseverity = "refused"',
        [{"description": "Draft reply (.5); review exhibits (.5)"}],
        {"x1": "400.00"},
    ),
    "free hours": (
        "block",
        'find = "separators"\ntasks = 2\nfree_hours = 0.5\nseverity = "cut"',
        [
            {"description": "Draft reply; review exhibits", "hours": 0.3},
            {"description": "Draft memo; call court", "hours": 0.2, "date": "2026-03-03"},
            {"description": "Draft memo; review it again", "hours": 0.4, "date": "2026-03-03"},
        ],
        {"x2": "80.00", "x3": "160.00"},
    ),
    "except": (
        "barred",
        'own_words = ["hearing"]\nexcept = ["motion"]\nseverity = "refused"',
        [{"description": "Attend hearing"}, {"description": "Attend hearing on motion"}],
        {"x1": "400.00"},
    ),
    "own words in another language": (
        "barred",
        'own_words = ["telefonat"]\nwords = ["clerical"]\nseverity = "refused"',
        [{"description": "Telefonat mit dem Mandanten"}, {"description": "Calendar mit dem Mandanten von der Akte"}],
        {"x1": "400.00"},
    ),
    "frozen rates": (
        "rates",
        'frozen_since = 2026-03-01\nseverity = "cut"',
        [{"date": "2026-02-01", "rate": 380.0}, {}],
        {"x2": "20.00"},
    ),
    "a person before the role": (
        "rates",
        'severity = "cut"\napproved = [{role = "principal", rate = 390}, {user = "u1", rate = 395}]',
        [{}, ATTORNEY],
        {"x1": "5.00"},
    ),
    "most people": (
        "staff",
        'max_people = 1\nseverity = "refused"',
        [{}, PARALEGAL | {"date": "2026-03-01", "rate": 100.0}],
        {"x1": "400.00"},
    ),
    "people by role": (
        "staff",
        'max_by_role = {attorney = 0, principal = 1}\nseverity = "review"',
        [{}, ATTORNEY],
        {"x2": "0.00"},
    ),
    "people allowed": (
        "staff",
        'users_allowed = ["mara.vance@example.com"]\nseverity = "cut"\nshare = 0.25',
        [{}, ATTORNEY],
        {"x2": "100.00"},
    ),
    "a limit a day": (
        "expense",
        'own_words = ["dinner"]\nmax_day = 75\nseverity = "cut"',
        [COST | {"rate": 60.0}, COST | {"rate": 40.0}, COST | {"rate": 70.0, "date": "2026-03-03"}],
        {"x1": "15.00", "x2": "10.00"},
    ),
    "the usual rate for travel": (
        "travel",
        'words = ["travel"]\npay = 0.5\nseverity = "cut"',
        [{"date": "2026-02-01"}, {"description": "Travel to court", "hours": 2.0}],
        {"x2": "400.00"},
    ),
    "travel alone": (
        "travel",
        'words = ["travel"]\nalone = true\nseverity = "review"',
        [{"description": "Travel to court"}, {"description": "Travel to court; attend hearing"}],
        {"x2": "0.00"},
    ),
    "a minimum": (
        "increment",
        'minimum = 0.2\nseverity = "cut"',
        [{"hours": 0.1}, {"hours": 0.2}, {"hours": -0.1}],
        {"x1": "40.00"},
    ),
    "tenths": ("increment", 'hours = 0.1\nseverity = "cut"', [{"hours": each / 10} for each in range(1, 30)], {}),
    "long entries": ("entry_hours", 'max = 8\nseverity = "cut"', [{"hours": 8.0}, {"hours": 9.5}], {"x2": "600.00"}),
    "days on a matter": (
        "day_hours",
        'max = 10\nacross = "matter"\nseverity = "cut"',
        [{"hours": 6.0}, {"hours": 6.0}],
        {"x1": "400.00", "x2": "400.00"},
    ),
    "days in the firm": (
        "day_hours",
        'max = 10\nacross = "firm"\nseverity = "review"',
        [{"hours": 6.0}, {"hours": 6.0}],
        {"x1": "0.00", "x2": "0.00"},
    ),
    "approval of each entry": (
        "approval",
        'own_words = ["draft"]\nover_amount = 500\nper = "entry"\nseverity = "cut"',
        [{}, {"hours": 2.0}],
        {"x2": "300.00"},
    ),
    "approval by month": (
        "approval",
        'own_words = ["draft"]\nover_hours = 1\nper = "matter and month"\nseverity = "refused"',
        [{"date": "2026-02-01"}, {"date": "2026-02-02"}, {}],
        {"x2": "400.00"},
    ),
    "an approver in the text": (
        "approval",
        'own_words = ["draft"]\nnamed = true\nseverity = "refused"',
        [{}, {"description": "Draft answer per J. Orr"}, {"description": "Draft answer approved by client"}],
        {"x1": "400.00"},
    ),
    "codes": ("codes", 'task = true\nallowed = ["L"]\nseverity = "review"', [{}], {"x1": "0.00"}),
    "equal entries": (
        "duplicates",
        'days = 3\nacross = "matter"\nseverity = "refused"',
        [{}, ATTORNEY | {"date": "2026-03-04", "description": "draft  Answer to complaint."}, {"date": "2026-03-20"}],
        {"x2": "400.00"},
    ),
    "work before the matter": (
        "matter",
        'before_opened = true\nseverity = "refused"',
        [{"date": "2025-10-31"}, {"date": "2025-11-01"}],
        {"x1": "400.00"},
    ),
    "wording": (
        "wording",
        'if_words = ["research"]\nmust = ["statute"]\nmin_chars = 10\nseverity = "review"',
        [
            {"description": "Research statute of limitations"},
            {"description": "Research venue"},
            {"description": "Draft"},
        ],
        {"x2": "0.00"},
    ),
    "weekends": ("calendar", 'weekends = true\nseverity = "review"', [{}, {"date": "2026-03-07"}], {"x2": "0.00"}),
    "people at one event": (
        "meetings",
        'max_people = 1\nseverity = "review"',
        [
            {"description": "Attend deposition of Quillfeather"},
            ATTORNEY | {"description": "Attend Quillfeather deposition of owner"},
            *(
                {
                    "description": f"Draft part{'abcdefghij'[n % 10]}{'klmnopqrst'[n // 10]}ular clause",
                    "date": "2026-03-10",
                }
                for n in range(100)
            ),
        ],
        {"x1": "0.00", "x2": "0.00"},
    ),
    "the age of expenses": (
        "age",
        'max_days = 10\non = "expenses"\nseverity = "refused"',
        [{"date": "2026-01-01"}, COST | {"rate": 5.0}],
        {"x2": "5.00"},
    ),
    "few words": (
        "vague",
        'min_words = 3\nseverity = "review"',
        [{"description": "Draft the brief"}, {"description": "Draft brief"}],
        {"x2": "0.00"},
    ),
    "a credit is not at risk": ("entry_hours", 'max = 0\nseverity = "refused"', [{"rate": -400.0}], {"x1": "0.00"}),
    "halves of a cent": ("entry_hours", 'max = 0\nshare = 0.5\nseverity = "cut"', [{"rate": 100.01}], {"x1": "50.01"}),
}


@pytest.mark.parametrize("name", RULES)
@pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning")
def test_a_rule_finds_these_items_with_these_amounts(name, tmp_path):
    kind, text, rows, amounts = RULES[name]
    found = one_rule(tmp_path, kind, text, rows)
    assert dict(zip(found["item_id"], found["at_risk"].map(str), strict=True)) == amounts
    assert found["fix"].notna().all()
    assert found["value"].notna().all()


def test_budgets_are_a_row_for_each_matter_with_the_part_beyond(tmp_path):
    rows = [{"hours": 2.0, "date": f"2026-03-0{day}"} for day in (2, 3, 4)]
    text = 'amount = 2000\nwarn_at = [0.75]\nseverity = "refused"'
    found = one_rule(tmp_path, "budget", text, rows)
    assert found[["value", "at_risk", "matter_name"]].to_numpy().tolist() == [
        ["2,400.00 of 2,000.00 (120%)", Decimal("400.00"), "Lease dispute"]
    ]
    assert bf.Guidelines.summary(found).iloc[-1][["items", "at_risk"]].tolist() == [0, Decimal("400.00")]
    assert one_rule(tmp_path, "budget", text, rows[:2])["severity"].tolist() == ["review"]
    assert one_rule(tmp_path, "budget", text, rows[:1]).empty


def test_work_before_the_guidelines_counts_for_budgets_and_frozen_rates_and_is_not_reported(tmp_path):
    rows = [{"date": "2025-12-01", "rate": 300.0, "hours": 4.0}, {"date": "2026-01-10"}]
    top = "effective = 2026-01-01"
    found = one_rule(tmp_path, "budget", 'amount = 1500\nseverity = "refused"', rows, top=top)
    assert found[["value", "at_risk"]].to_numpy().tolist() == [["1,600.00 of 1,500.00 (107%)", Decimal("100.00")]]
    own_dates = 'amount = 1500\nseverity = "refused"\nfrom = 2026-01-01'
    assert one_rule(tmp_path, "budget", own_dates, rows, top=top).empty
    frozen = one_rule(tmp_path, "rates", 'frozen_since = 2025-06-01\nseverity = "cut"', rows, top=top)
    assert frozen.empty
    frozen = one_rule(tmp_path, "rates", 'frozen_since = 2026-01-01\nseverity = "cut"', rows, top=top)
    assert dict(zip(frozen["item_id"], frozen["at_risk"], strict=True)) == {"x2": Decimal("100.00")}


def billed(*states, matter_ids=("m1",)):
    """Frames with one invoice for each state, each with one entry of January and one of February."""
    given = frames(entries(*({"date": day} for _ in states for day in ("2026-01-15", "2026-02-15"))))
    numbers = [f"{1000 + nth // 2}" for nth in range(2 * len(states))]
    time = given["time_entries"].assign(invoice_id=[f"i{each}" for each in numbers], invoice_number=numbers)
    invoices = pd.DataFrame(
        {
            "invoice_id": time["invoice_id"].unique(),
            "invoice_number": pd.unique(pd.Series(numbers)),
            "invoice_state": list(states),
            "invoice_date": pd.Timestamp("2026-03-20"),
            "client_id": "c1",
            "matter_id": "m1",
            "amount": 800.0,
        }
    )
    return given | {"time_entries": time, "invoices": invoices}


def test_items_of_invoices_are_checked_on_request_and_say_whether_they_can_be_changed(tmp_path):
    given = billed("draft", "final")
    rule = ("entry_hours", 'max = 0.5\nseverity = "review"', [])
    assert one_rule(tmp_path, *rule, given=given)["changeable"].tolist() == ["take it off the draft first"] * 2
    final = one_rule(tmp_path, *rule, given=given, invoice="1001")
    assert final[["invoice_number", "changeable"]].to_numpy().tolist() == [["1001", "no"]] * 2
    with pytest.raises(ParameterError, match="There is no invoice '9'"):
        one_rule(tmp_path, *rule, given=given, invoice="9")


def test_invoices_are_checked_by_their_dates_and_count_above_their_items(tmp_path):
    text = 'one_month = true\nmax_days_after_month = 30\nseverity = "cut"\nshare = 0.5'
    found = one_rule(tmp_path, "invoice", text, [], given=billed("final"), invoice="1000")
    assert found["problem"].tolist() == [
        "the invoice has work of several months",
        "the invoice is dated after the limit for its oldest work, 2026-03-02",
    ]
    assert found["at_risk"].tolist() == [Decimal("400.00")] * 2
    assert found["item_id"].isna().all()
    item = found.assign(item="time_entry", item_id="x1", at_risk=Decimal("150.00")).head(1)
    assert bf.Guidelines.summary(pd.concat([found, item])).iloc[-1]["at_risk"] == Decimal("400.00")


@pytest.mark.slow
def test_rules_apply_from_and_until_their_dates_and_only_to_their_scope(tmp_path):
    rows = [{}, PARALEGAL, {"date": "2026-03-10"}]
    for scope, items in {
        'roles = ["paralegal"]': ["x2"],
        'users = ["mara.vance@example.com"]': ["x1", "x3"],
        "from = 2026-03-03": ["x3"],
        "until = 2026-03-02": ["x1", "x2"],
        'practice_areas = ["Litigation"]': ["x1", "x2", "x3"],
        'matter_types = ["contingency"]': [],
        'matters = ["2026-014"]': ["x1", "x2", "x3"],
    }.items():
        found = one_rule(tmp_path, "entry_hours", f'max = 0.5\nseverity = "review"\n{scope}', rows)
        assert sorted(found["item_id"]) == items, scope


def test_another_currency_of_the_firm_refuses_all_items(tmp_path):
    given, text = frames(entries({}, {"hours": 2.0})), 'max = 24\nseverity = "review"'
    euros = bf.FirmSettings(currency="EUR")
    found = one_rule(tmp_path, "entry_hours", text, [], top='currency = "USD"', given=given, settings=euros)
    assert found["at_risk"].tolist() == [Decimal("800.00"), Decimal("400.00")]
    assert found["rule"].unique().tolist() == ["currency"]


def test_codes_of_expenses_are_read_one_by_one_or_their_lack_is_said(tmp_path, october_book):
    path = tmp_path / "granite.toml"
    path.write_text('client = "1004"\n[expense]\ncodes = ["E"]\nbarred = true\nseverity = "refused"', "utf-8")
    costs = october_book.expenses.query("client_reference == '1004' and invoice_state == 'final'")
    number = costs["invoice_number"].value_counts().index[0]
    found = bf.Guidelines.read(path).check(october_book, number)
    coded = october_book.client.expenses.get(found["item_id"].iloc[0]).expense_code
    assert found["value"].iloc[0] == coded
    assert coded.startswith("E")
    names = ("time_entries", "expenses", "fixed_fees", "invoices", "matters", "users", "codes")
    given = {name: getattr(october_book, name) for name in names}
    with pytest.warns(IncompleteDataWarning, match="expenses are not known, so rules with codes do not find them"):
        assert bf.Guidelines.read(path).check(given, number).empty


def test_narratives_of_fixed_fee_time_are_judged_only_on_request(tmp_path):
    given = frames(entries({"description": "Calendar deadlines"}))
    given["time_entries"] = given["time_entries"].assign(billing_type="fixedFee")
    rule = ("barred", 'words = ["clerical"]\nseverity = "refused"', [])
    with pytest.warns(IncompleteDataWarning, match="1 of 1 narratives"):
        assert one_rule(tmp_path, *rule, given=given).empty
    with pytest.warns(IncompleteDataWarning, match="For unclear ones, only word lists are used"):
        found = one_rule(tmp_path, *rule, given=given, top="fixed_fee_time = true")
    assert found["at_risk"].tolist() == [Decimal("0.00")]


def test_hidden_rates_leave_amounts_missing_and_say_so(tmp_path):
    given = frames(entries({}, {"hours": 9.0}))
    given["time_entries"] = given["time_entries"].assign(rate=float("nan"), amount=float("nan"))
    with pytest.warns(RatesHiddenWarning, match="amounts at risk that include them are missing"):
        found = one_rule(tmp_path, "entry_hours", 'max = 8\nseverity = "cut"', [], given=given)
    assert found["at_risk"].tolist() == [None]
    assert bf.Guidelines.summary(found)["at_risk"].tolist() == [None, None]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("[increment]", "[incremnt]"), r"unknown key 'incremnt'. Did you mean 'increment'\?"),
        (("max = 12", "maximum = 12"), r"\[day_hours\] has an unknown key 'maximum'. Did you mean 'max'\?"),
        (('severity = "cut"\nclause = "4.1"', ""), r"\[increment\] has no severity"),
        (('severity = "cut"\nclause = "4.1"', 'severity = "refused"\nshare = 0.5'), "share is only for 'cut'"),
        (("hours = 0.1", 'hours = "0.1"'), r"hours = '0.1'; it takes a number of 0 or more"),
        (("max_days = 90", "max_days = 90.5"), "it takes a whole number"),
        (("effective = 2026-01-01", 'effective = "2026-01-01"'), "it takes a date without quotes"),
        (('clause = "4.1"', "clause = 4.1"), "it takes a text in quotes"),
        (('words = ["clerical"]', 'words = ["clericl"]'), r"no word list 'clericl'. Did you mean 'clerical'\?"),
        (('own_words = ["organize', 'own_words = [1, "organize'), "it takes a list of texts"),
        (('own_words = ["organize', 'own_words = ["(a+)+$", "organize'), "which is not a word"),
        (('own_words = ["organize', 'own_words = ["~ a", "organize'), "a '~' that is not between two words"),
        (('language = "en"', 'language = "de"'), r"language = 'de'; it takes 'en'"),
        (('language = "en"\n', ""), r"\[block\] uses word lists of a language"),
        (('words = ["clerical"]\n', ""), r"\[barred\] needs words, own_words or codes"),
        (('per = "matter"\n', ""), r"\[approval\] has a limit, but no per"),
        (
            ('across = "client"', 'across = "clients"'),
            r"it takes 'matter' or 'client' or 'firm'. Did you mean 'client'\?",
        ),
        (('severity = "review"\nclause = "5.5"', 'severity = "cut"'), "takes only severity = 'review'"),
        (
            ('{ role = "paralegal", rate = 150', '{ role = "paralegal", user = "x", rate = 150'),
            "needs user or role, and only one",
        ),
        (
            ('{ role = "paralegal", rate = 150', '{ role = "paralegal", rat = 150'),
            r"unknown key 'rat'. Did you mean 'rate'\?",
        ),
        (("[increment]\nhours", "increment = 5\n[x]\nhours"), "unknown key 'x'"),
        (("[increment]", "[[increment"), "can't be read as billing guidelines"),
        (
            ("[increment]", "[increment]\nfrom = 2026-02-01\nuntil = 2026-01-31"),
            "from = 2026-02-01, which is after until",
        ),
        (
            ("effective = 2026-01-01", "effective = 2026-02-01\nuntil = 2026-01-31"),
            "effective = 2026-02-01, which is after",
        ),
        (
            ('{ role = "paralegal", rate = 150', '{ role = "paralegal", until = 2020-01-01, rate = 150'),
            "a row has from = 2025-01-01, which is after until = 2020-01-01",
        ),
    ],
)
def test_a_mistake_in_a_file_is_one_sentence_before_any_work(change, said, tmp_path):
    text = TERN.read_text("utf-8")
    assert change[0] in text
    path = tmp_path / "tern.toml"
    path.write_text(text.replace(*change, 1), "utf-8")
    with pytest.raises(ConfigError, match=said) as caught:
        bf.Guidelines.read(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("Tern Shipping plc", "Tern Shiping"), r"no such client. Did you mean 'Tern Shipping plc'\?"),
        (('user = "mara.vance', 'user = "mara.vanse'), r"no such user. Did you mean 'mara.vance@example.com'\?"),
        (('role = "paralegal"', 'role = "paralegl"'), r"no such role. Did you mean 'paralegal'\?"),
        (('matter = "2026-014"', 'matter = "2026-015"'), r"no such matter. Did you mean '2026-014'\?"),
        (("[increment]", '[increment]\npractice_areas = ["Tax"]'), "no such practice area"),
        (("[increment]", '[staff]\nstart_field = "cf_start"\nseverity = "review"\n[increment]'), "not a column"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(change, said, tmp_path):
    path = tmp_path / "tern.toml"
    path.write_text(TERN.read_text("utf-8").replace(*change, 1), "utf-8")
    with pytest.raises(ConfigError, match=said):
        bf.Guidelines.read(path).check(frames(), as_of=AS_OF)


@pytest.mark.parametrize(
    ("rule", "keys", "said"),
    [
        ("budget", 'field = "reference"', "with values such as '2026-014', not amounts"),
        ("matter", 'closed_field = "name"', "with values such as 'Lease dispute', not dates"),
        ("staff", 'start_field = "initials"', "with values such as 'U1', not dates"),
    ],
)
def test_a_field_with_values_of_another_kind_is_refused(rule, keys, said, tmp_path):
    with pytest.raises(ConfigError, match=said):
        one_rule(tmp_path, rule, f'{keys}\nseverity = "review"', [{}])


def test_two_files_for_one_client_need_matters_of_their_own(tmp_path):
    for name in ("a.toml", "b.toml"):
        tmp_path.joinpath(name).write_text(TERN.read_text("utf-8"), "utf-8")
    with pytest.raises(ConfigError, match=r"are both for Tern Shipping plc \(2026-014\); give each its own matters"):
        bf.Guidelines.read(tmp_path).check(frames(), as_of=AS_OF)


@pytest.mark.slow
def test_guidelines_are_those_of_a_folder_or_of_several_files(findings, tmp_path):
    tmp_path.joinpath("tern.toml").write_text(TERN.read_text("utf-8"), "utf-8")
    pd.testing.assert_frame_equal(check(frames(), tmp_path), findings)
    other = tmp_path / "acme.toml"
    other.write_text('client = "Acme"\n[entry_hours]\nmax = 10\nseverity = "review"')
    assert [each.client for each in bf.Guidelines.read(TERN, other).files] == ["Tern Shipping plc", "Acme"]
    assert len(bf.Guidelines.read(tmp_path, TERN).files) == 3


def test_other_mistakes_of_a_call_are_one_sentence(tmp_path):
    with pytest.raises(ConfigError, match="has no guideline file"):
        bf.Guidelines.read(tmp_path).check(frames(), as_of=AS_OF)
    with pytest.raises(ParameterError, match="Guidelines.read takes files and folders; one of them is an int"):
        bf.Guidelines.read(TERN, 5)
    for nothing in ((), ("",)):
        with pytest.raises(ParameterError, match="There is no path of guidelines: pass a file or a folder"):
            bf.Guidelines.read(*nothing)
    with pytest.raises(ParameterError, match="as_of= is needed"):
        bf.Guidelines.read(TERN).check(frames())
    given = frames()
    without = {"time_entries": given["time_entries"].drop(columns="description")}
    with pytest.raises(MissingColumnError, match="description"):
        bf.Guidelines.read(TERN).check(given | without, as_of=AS_OF)
    with pytest.raises(MissingColumnError, match="pass the result of Guidelines.check"):
        bf.Guidelines.summary(pd.DataFrame({"a": [1]}))
    with pytest.raises(ParameterError, match="There is no word list 'clericl'. Did you mean 'clerical'"):
        bf.Guidelines.words("clericl")


def test_the_prebill_review_shows_the_findings_in_place_of_its_own(tmp_path):
    given = billed("draft")
    time = given["time_entries"].assign(date=pd.Timestamp("2026-03-02"), description="Draft answer", hours=13.0)
    time["created_at"] = pd.Timestamp("2026-03-30", tz="UTC")
    given["time_entries"] = time.assign(rate=time["amount"] / time["hours"])
    given["invoices"] = given["invoices"].assign(due_date=pd.NaT, balance=0.0, client_name="Tern Shipping plc")
    frames_of_review = {name: given[name] for name in ("expenses", "fixed_fees", "invoices", "matters")}
    path = tmp_path / "tern.toml"
    path.write_text(
        'client = "TERN"\n[duplicates]\ndays = 0\nacross = "user"\nseverity = "refused"\nclause = "4.5"\n'
        '[day_hours]\nmax = 12\nacross = "client"\nseverity = "cut"\n'
        '[recording]\nmax_days = 7\nseverity = "review"\n',
        "utf-8",
    )
    found = bf.Guidelines.read(path).check(given, as_of=AS_OF)
    plain = bf.analysis.prebill_review(given["time_entries"], **frames_of_review)
    joined = bf.analysis.prebill_review(given["time_entries"], **frames_of_review, guidelines=found)
    assert plain["findings"].tolist() == ["possible duplicate; 26 hours on that day; entered 28 days later"] * 2
    assert joined["findings"].tolist() == [
        "possible duplicate; hours of one day, at risk 215.38; late entries",
        "equal entries (4.5), at risk 400.00; hours of one day, at risk 215.38; late entries",
    ]
    assert joined["at_risk"].tolist() == [215.38, 400.0]
    assert [name for name in joined if name not in plain] == ["at_risk"]
    with pytest.raises(ParameterError, match="guidelines= takes the result of Guidelines.check"):
        bf.analysis.prebill_review(given["time_entries"], **frames_of_review, guidelines=path)


def test_e_bills_show_what_may_be_refused_or_cut_as_often_rejected(tmp_path):
    given = billed("final", "final")
    given["matters"] = given["matters"].assign(ledes_enabled=True)
    path = tmp_path / "tern.toml"
    rules = '[entry_hours]\nmax = 0.5\nseverity = "cut"\nclause = "4"\n[invoice]\none_month = true\nseverity = "cut"\n'
    path.write_text(f'client = "TERN"\n{rules}[codes]\ntask = true\nseverity = "review"\n', "utf-8")
    found = bf.Guidelines.read(path).check(given, ["1000", "1001"], as_of=AS_OF)
    with_them = bf.ebilling.ledes_check(given, "1000", guidelines=found)
    added = with_them[with_them["field"] == "client guidelines"]
    assert set(added["severity"]) == {"often rejected"}
    assert added["item_id"].isna().sum() == 1
    assert sorted(added["item_id"].dropna()) == ["x1", "x2"]
    assert "the entry is longer than 0.5 h (clause 4)" in set(added["problem"])
    plain = bf.ebilling.ledes_check(given, "1000")
    pd.testing.assert_frame_equal(with_them.drop(added.index).reset_index(drop=True), plain)
    with pytest.raises(ParameterError, match="guidelines= takes the result of Guidelines.check"):
        bf.ebilling.ledes_check(given, "1000", guidelines="tern.toml")


def test_guidelines_are_shown_in_one_line():
    guidelines = bf.Guidelines.read(TERN)
    assert repr(guidelines) == "<billframes guidelines of Tern Shipping plc>"
    assert repr(guidelines.files[0]).startswith("<billframes guidelines of Tern Shipping plc, ")


@pytest.mark.parametrize("invoice", [0, 1.5])
def test_an_invoice_of_another_kind_is_taken_as_a_number(invoice):
    with pytest.raises(ParameterError, match=f"There is no invoice '{invoice}' among"):
        bf.Guidelines.read(TERN).check(frames(), invoice, as_of=AS_OF)
