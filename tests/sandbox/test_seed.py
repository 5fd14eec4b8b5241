"""The seeded firm: reproducible, consistent, and with an example of everything that the API allows."""

from __future__ import annotations

import sqlite3
import unicodedata

import pytest

from billframes.sandbox.schema import SCALE, SCHEMA
from billframes.sandbox.seed import seed_database
from billframes.sandbox.seed.data_files import load_toml

LAST = "2026-10-31T20:00:00.000000Z"
CENT = SCALE // 100
TABLES = ("time_entry", "expense", "fixed_fee")

# Invoices with the totals of their items.
ITEMS = """
    SELECT i.*,
        (SELECT coalesce(sum(amount), 0) FROM time_entry t WHERE t.invoice_id = i.invoice_id) AS worked,
        (SELECT coalesce(sum(amount), 0) FROM expense e WHERE e.invoice_id = i.invoice_id)
            + (SELECT coalesce(sum(amount), 0) FROM fixed_fee f WHERE f.invoice_id = i.invoice_id) AS costs,
        EXISTS (SELECT 1 FROM time_entry t WHERE t.invoice_id = i.invoice_id)
            + EXISTS (SELECT 1 FROM expense e WHERE e.invoice_id = i.invoice_id)
            + EXISTS (SELECT 1 FROM fixed_fee f WHERE f.invoice_id = i.invoice_id) AS kinds
    FROM invoice i
"""


def seeded_anew(seed=0):
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.executescript(SCHEMA)
    connection.execute("BEGIN")
    seed_database(connection, seed=seed)
    connection.execute("COMMIT")
    return connection


@pytest.fixture(scope="module")
def firm():
    connection = seeded_anew()
    yield connection
    connection.close()


@pytest.fixture
def rows(firm):
    return lambda query, *values: firm.execute(query, values).fetchall()


@pytest.fixture
def number(firm):
    return lambda query, *values: firm.execute(query, values).fetchone()[0]


def dump(connection):
    text = "\n".join(connection.iterdump())
    connection.close()
    return text


@pytest.mark.slow
def test_same_seed_same_firm(firm):
    """The same seed gives the same rows, byte for byte."""
    assert dump(seeded_anew()) == "\n".join(firm.iterdump())


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 7])
def test_other_seed_other_firm(firm, number, seed):
    """Another seed gives another firm, which is consistent, too."""
    other = seeded_anew(seed)
    assert other.execute("SELECT min(time_entry_id) FROM time_entry").fetchone()[0] != number(
        "SELECT min(time_entry_id) FROM time_entry"
    )
    wrong = f"SELECT count(*) FROM ({ITEMS}) WHERE kinds AND amount - costs > worked * 1.05"
    assert other.execute(wrong).fetchone()[0] == 0
    assert other.execute("SELECT count(*) FROM invoice WHERE amount = 0").fetchone()[0]
    assert other.execute("SELECT count(*) FROM invoice WHERE amount > 0 AND balance < 0").fetchone()[0] == 1
    assert other.execute("PRAGMA foreign_key_check").fetchall() == []
    other.close()


ORDER = {
    "matters before their client": "matter JOIN client c USING (client_id) WHERE matter.created_at < c.created_at",
    "matters opened before their client": "matter JOIN client c USING (client_id) WHERE opened < date(c.created_at)",
    "matters recorded before they were opened": "matter WHERE date(created_at) < opened",
    "invoices before their matters": """invoice i JOIN invoice_matter USING (invoice_id) JOIN matter m USING (matter_id)
        WHERE i.created_at < m.created_at OR invoice_date < m.opened""",
    "invoices before their client": "invoice i JOIN client c USING (client_id) WHERE i.created_at < c.created_at",
    **{
        f"{table} before its matter": f"""{table} t JOIN matter m USING (matter_id)
        WHERE date < m.opened OR date < date(m.created_at) OR t.created_at < m.created_at"""
        for table in ("time_entry", "expense", "fixed_fee")
    },
    "clients since later than recorded": """custom_value JOIN client ON client_id = record_id
        WHERE custom_field_id = 'cf-client-since' AND json_extract(value, '$') > date(created_at)""",
    "trials before their matter": """custom_value JOIN matter ON matter_id = record_id
        WHERE custom_field_id = 'cf-matter-trial' AND json_extract(value, '$') < opened""",
}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 7])
def test_clients_come_before_matters_and_matters_before_work(firm, seed):
    """No matter is dated before its client, and no work or bill before its matter was opened and created."""
    connection = seeded_anew(seed) if seed else firm
    found = {name: connection.execute(f"SELECT count(*) FROM {tables}").fetchone()[0] for name, tables in ORDER.items()}
    assert found == dict.fromkeys(ORDER, 0)
    assert connection.execute("SELECT count(*) FROM matter WHERE opened NOT NULL").fetchone()[0] > 150
    if connection is not firm:
        connection.close()


def test_the_firms_people_and_texts_are_those_of_the_data_files(rows):
    """Every person, named client, showcase matter, code and custom field of the TOML files is in the firm."""
    people = [(each["first_name"], each["last_name"], each["role"]) for each in load_toml("people")["staff"]]
    assert sorted(rows("SELECT first_name, last_name, role FROM user")) == sorted(people)
    for query, listed in (
        ("SELECT name FROM client", [each["name"] for each in load_toml("clients")["named"]]),
        ("SELECT name FROM matter", [each["name"] for each in load_toml("matters")["showcase"]]),
        ("SELECT label FROM practice_area", [each["label"] for each in load_toml("matters")["areas"]]),
        ("SELECT label FROM code", [label for each in load_toml("codes")["codes"] for _, label in each["codes"]]),
        ("SELECT name FROM custom_field", [each["name"] for each in load_toml("custom_fields")["fields"]]),
        ("SELECT description FROM expense", [each[0] for each in load_toml("work")["dispute_expenses"]]),
        ("SELECT description FROM time_entry", load_toml("work")["no_charge"]),
    ):
        assert set(listed) <= {value for (value,) in rows(query)}


def test_the_schema_is_unchanged(firm):
    """All dropped indexes exist again afterwards."""
    empty = sqlite3.connect(":memory:")
    empty.executescript(SCHEMA)
    query = "SELECT type, name, sql FROM sqlite_master ORDER BY type, name"
    assert firm.execute(query).fetchall() == empty.execute(query).fetchall()
    assert firm.execute("SELECT count(*) FROM setting").fetchone()[0] == 0
    empty.close()


def test_integrity(rows):
    """Every reference is valid."""
    assert rows("PRAGMA foreign_key_check") == []
    assert rows("PRAGMA integrity_check") == [("ok",)]


def test_sizes(number):
    """The small firm has about 25,000 time entries on 200 matters of 60 clients."""
    assert 22_000 < number("SELECT count(*) FROM time_entry") < 28_000
    assert number("SELECT count(*) FROM matter") == 200
    assert number("SELECT count(*) FROM client") == 60
    assert 13 <= number("SELECT count(DISTINCT user_id) FROM time_entry") <= 17


_MONEY = ("invoice.amount", "invoice.balance", "expense.amount", "fixed_fee.amount")
_SHAPE = "____-__-__T__:__:__.______Z"
_KNOWN = "(SELECT code FROM code WHERE kind = '{}')"
NEVER = {
    **{
        f"{table} changed after the last day, or before it was created": f"{table}"
        f" WHERE modified_at > '{LAST}' OR modified_at < created_at"
        for table in ("user", "client", "matter", "invoice", *TABLES)
    },
    **{
        f"{table} outside of the firm's years": f"{table} WHERE date NOT BETWEEN '2024-01-01' AND '2026-10-31'"
        for table in TABLES
    },
    "invoice outside of them": "invoice WHERE invoice_date NOT BETWEEN '2024-01-01' AND '2026-10-31'",
    "instant of another shape": f"time_entry WHERE NOT (created_at LIKE '{_SHAPE}' AND modified_at LIKE '{_SHAPE}')",
    "time of another shape": "time_entry WHERE time NOT LIKE '__:__:00'",
    "billable time without rate or amount": "time_entry WHERE billing_type = 'billable' AND rate + amount IS NULL",
    "other time with one": "time_entry WHERE billing_type != 'billable' AND (rate NOT NULL OR amount NOT NULL)",
    **{f"{each} with a part of a cent": "{} WHERE {} % {}".format(*each.split("."), CENT) for each in _MONEY},
    **{
        f"{table} created after its invoice": f"{table} t JOIN invoice i USING (invoice_id)"
        " WHERE t.created_at >= i.created_at"
        for table in TABLES
    },
    **{
        f"{table} on an invoice of other matters": f"""{table} t WHERE invoice_id NOT NULL AND NOT EXISTS (
            SELECT 1 FROM invoice_matter m WHERE m.invoice_id = t.invoice_id AND m.matter_id = t.matter_id)"""
        for table in TABLES
    },
    "invoice for a matter of another client": """invoice i JOIN invoice_matter USING (invoice_id)
        JOIN matter m USING (matter_id) WHERE m.client_id != i.client_id""",
    "invoice without a first matter": """invoice WHERE invoice_id NOT IN (
        SELECT invoice_id FROM invoice_matter WHERE position = 0)""",
    "invoice that is due but not final, or the reverse": "invoice"
    " WHERE (invoice_state = 'final') != (due_date NOT NULL)",
    "payment of an invoice that is not final": "invoice WHERE invoice_state != 'final' AND balance != amount",
    "invoice number twice": "invoice GROUP BY invoice_number HAVING count(*) > 1",
    "unknown task code": f"time_entry WHERE task_code NOT IN {_KNOWN.format('task')}",
    "unknown activity code": f"time_entry WHERE activity_code NOT IN {_KNOWN.format('activity')}",
    "unknown expense code": f"expense WHERE expense_code NOT IN {_KNOWN.format('expense')}",
    "LEDES without code sets": "matter WHERE ledes_enabled AND ledes_code_sets = '[]'",
    "time under a fee of another matter, or of another type": """time_entry t JOIN fixed_fee f USING (fixed_fee_id)
        WHERE t.matter_id != f.matter_id OR billing_type != 'fixedFee'""",
    "enum value that is not an option": """custom_value JOIN custom_field ON id = custom_field_id
        WHERE (value_type = 'enum') != (value IS NULL)""",
}
SOME = {
    **{
        f"{table} of an archived matter": f"{table} JOIN matter USING (matter_id) WHERE archived"
        for table in TABLES[:2]
    },
    "invoice of an archived matter": "invoice_matter JOIN matter USING (matter_id) WHERE archived",
    "expense of the firm, paid by check": "expense WHERE user_id IS NULL AND check_number NOT NULL",
    "expense of the firm, paid otherwise": "expense WHERE user_id IS NULL AND check_number IS NULL",
    "expense of a user": "expense WHERE user_id NOT NULL",
    "final invoice of zero with work": f"({ITEMS}) WHERE amount = 0 AND worked > 0 AND invoice_state = 'final'",
    "invoice of fixed fees only": f"""({ITEMS}) WHERE worked = 0 AND costs > 0
        AND invoice_id IN (SELECT invoice_id FROM fixed_fee)
        AND invoice_id NOT IN (SELECT invoice_id FROM expense WHERE invoice_id NOT NULL)""",
    "invoice with items of three matters": """time_entry WHERE invoice_id NOT NULL
        GROUP BY invoice_id HAVING count(DISTINCT matter_id) = 3""",
    "entry without hours on an invoice": "time_entry WHERE hours = 0 AND invoice_id NOT NULL",
    "negative entry on an invoice": "time_entry WHERE hours < 0 AND amount < 0 AND invoice_id NOT NULL",
    "time without charge on an invoice": """time_entry JOIN matter USING (matter_id)
        WHERE billing_type = 'nonBillable' AND matter_type = 'hourly' AND invoice_id NOT NULL""",
    "fixed-fee time under a fee": "time_entry WHERE billing_type = 'fixedFee' AND fixed_fee_id NOT NULL",
    "fixed-fee time under none": "time_entry WHERE billing_type = 'fixedFee' AND fixed_fee_id IS NULL",
    "fixed fee of the firm": "fixed_fee WHERE user_id IS NULL",
    "fixed fee of a user": "fixed_fee WHERE user_id NOT NULL",
    "client without custom values": "client WHERE client_id NOT IN (SELECT record_id FROM custom_value)",
    "heading on an entry, by mistake": "time_entry WHERE task_code = 'L100'",
    "matter without originators": "matter WHERE matter_id NOT IN (SELECT matter_id FROM matter_originator)",
    "matter without reference": "matter WHERE reference IS NULL",
}


def test_the_firm_has_no_record_against_the_rules_and_some_of_each_odd_kind(rows):
    """Derived values, references, dates and money are right, and each edge case that the API allows is there."""
    assert {name for name, tables in NEVER.items() if rows(f"SELECT 1 FROM {tables}")} == set()
    assert {name for name, tables in SOME.items() if not rows(f"SELECT 1 FROM {tables} LIMIT 1")} == set()
    assert len(rows("SELECT DISTINCT invoice_state FROM invoice")) == 4


def test_time_is_worth_hours_times_rate(rows):
    """A billable entry's amount is hours times rate, rounded to the cent, halves away from zero."""
    for hours, rate, amount in rows("SELECT hours, rate, amount FROM time_entry WHERE billing_type = 'billable'"):
        sign = -1 if hours < 0 else 1
        cents = (2 * abs(hours) * rate + SCALE * CENT) // (2 * SCALE * CENT)
        assert amount == sign * cents * CENT


def test_invoices_add_up(rows):
    """An invoice's amount is its net time fees, expenses and fixed fees; net is never much more than worked."""
    for row in rows(f"SELECT amount, worked, costs FROM ({ITEMS}) WHERE kinds"):
        amount, worked, costs = row
        net = amount - costs
        assert 0 <= net <= worked * 1.03 + CENT
        assert net == worked or worked > 0


def test_realization_is_believable(number):
    """Over the years nine tenths of the worked fees are billed, less in family and employment than in IP."""
    whole = f"SELECT 1.0 * sum(amount - costs) / sum(worked) FROM ({ITEMS}) WHERE invoice_state = 'final' AND kinds"
    assert 0.88 < number(whole) < 0.95


def test_every_age_is_owed(rows):
    """On the last day there are receivables not yet due and up to 30, 60, 90 and more days overdue."""
    late = "julianday('2026-10-31') - julianday(due_date)"
    bucket = f"max(0, min(4, (CAST({late} AS INTEGER) + 29) / 30))"
    query = f"SELECT {bucket}, sum(balance) FROM invoice WHERE due_date NOT NULL GROUP BY 1"
    owed = dict(rows(query))
    assert set(owed) == {0, 1, 2, 3, 4}
    assert min(owed.values()) > 1_000 * SCALE


def test_associates_are_busier_than_principals(rows):
    """Client hours a year: principals about 1,000, associates 1,200 to 1,850."""
    query = """SELECT last_name, sum(hours) / 10000.0 FROM time_entry JOIN user USING (user_id)
        WHERE role = ? AND billing_type != 'nonBillable' AND date LIKE '2024%' GROUP BY 1"""
    assert all(800 < hours < 1_150 for _, hours in rows(query, "principal"))
    full_time = {name: hours for name, hours in rows(query, "attorney") if name != "Fontaine"}
    assert all(1_100 < hours < 1_850 for hours in full_time.values())


def test_people_join_and_leave(rows):
    """One attorney left in mid-2025 and one joined in 2026; neither has time before or after."""
    query = "SELECT min(date), max(date) FROM time_entry JOIN user USING (user_id) WHERE last_name = ?"
    assert rows(query, "O\u2019Rourke")[0][1] <= "2025-06-30"
    assert rows(query, "Szab\u00f3")[0][0] >= "2026-03-02"


def test_users_without_time(rows):
    """A principal emeritus, the operator and the accountant have no time."""
    found = rows("SELECT role FROM user WHERE user_id NOT IN (SELECT user_id FROM time_entry) ORDER BY 1")
    assert found == [("accountant",), ("operator",), ("principal",)]
    assert len(rows("SELECT DISTINCT role FROM user")) == 6


def test_credentials(rows):
    """Three tokens: a principal's, an attorney's without the scope, and one without a user."""
    query = "SELECT token, role, scopes FROM credential LEFT JOIN user USING (user_id) ORDER BY token"
    assert rows(query) == [
        ("sandbox-full", "principal", "read.rates"),
        ("sandbox-norates", "attorney", ""),
        ("sandbox-service", None, "read.rates"),
    ]


def test_a_matter_with_nothing_but_an_invoice(number):
    """One matter has an invoice and no items at all."""
    query = """SELECT count(DISTINCT matter_id) FROM matter JOIN invoice_matter USING (matter_id)
        WHERE NOT EXISTS (SELECT 1 FROM time_entry t WHERE t.matter_id = matter.matter_id)
        AND NOT EXISTS (SELECT 1 FROM expense e WHERE e.matter_id = matter.matter_id)
        AND NOT EXISTS (SELECT 1 FROM fixed_fee f WHERE f.matter_id = matter.matter_id)
        AND name = 'Balance carried over from former system'"""
    assert number(query) == 1


def test_an_empty_matter_and_a_client_without_matters(rows, number):
    """One matter has no activity, and the last client has no matters, so both can be deleted."""
    (matter,) = rows("SELECT matter_id FROM matter WHERE name LIKE '%(on hold)'")
    for table in ("time_entry", "expense", "fixed_fee", "invoice_matter"):
        assert rows(f"SELECT * FROM {table} WHERE matter_id = ?", *matter) == []
    assert number("SELECT count(*) FROM client WHERE client_id NOT IN (SELECT client_id FROM matter)") >= 1


def test_heading_codes(rows):
    """Headings are not selectable and are their tasks' parents."""
    headings = {code for (code,) in rows("SELECT code FROM code WHERE NOT selectable")}
    assert {"L100", "L200", "L300", "L400", "L500", "P200"} <= headings
    assert {code for (code,) in rows("SELECT DISTINCT parent_code FROM code WHERE parent_code NOT NULL")} == headings


def test_ledes_matters(rows):
    """The required codes of matters with LEDES are mostly present and sometimes missing."""
    query = """SELECT sum(task_code IS NULL), count(*) FROM time_entry JOIN matter USING (matter_id)
        WHERE ledes_task_required"""
    ((missing, total),) = rows(query)
    assert 0 < missing < total * 0.05


def test_originators(rows):
    """Some matters have several originators."""
    counts = {count for (count,) in rows("SELECT count(*) FROM matter_originator GROUP BY matter_id")}
    assert {1, 2, 3} <= counts


def test_no_practice_area(rows):
    """Some matters with time have no practice area, and one practice area has no matters."""
    query = "SELECT * FROM matter JOIN time_entry USING (matter_id) WHERE practice_area_id IS NULL AND matter_type = ?"
    assert rows(query, "hourly")
    used = "SELECT practice_area_id FROM matter WHERE practice_area_id NOT NULL"
    assert rows(f"SELECT label FROM practice_area WHERE practice_area_id NOT IN ({used})") == [("Bankruptcy",)]
    assert rows("SELECT label FROM practice_area WHERE is_default") == [("Litigation",)]


def test_every_matter_type(rows):
    """All five matter types have time."""
    query = "SELECT DISTINCT matter_type FROM matter JOIN time_entry USING (matter_id) ORDER BY 1"
    assert [kind for (kind,) in rows(query)] == ["contingency", "fixedFee", "hourly", "internal", "probono"]


def test_credit_notes(rows):
    """Credit notes are final invoices below zero without items, some with a credit still open."""
    found = rows(f"SELECT amount, balance, kinds, invoice_state FROM ({ITEMS}) WHERE amount < 0")
    assert len(found) == 5
    assert all(kinds == 0 and state == "final" and amount <= balance <= 0 for amount, balance, kinds, state in found)
    assert sum(balance < 0 for _, balance, *_ in found) == 2


def test_an_overpaid_invoice(number):
    """One invoice was paid twice: its amount is positive, its balance negative."""
    assert number("SELECT count(*) FROM invoice WHERE amount > 0 AND balance < 0") == 1


def test_references_null_empty_and_set(rows):
    """Client references are null, empty, or set."""
    kinds = {kind for (kind,) in rows("SELECT DISTINCT coalesce(reference = '', 'null') FROM client")}
    assert kinds == {"null", 1, 0}


def test_two_clients_of_one_name(rows):
    """Two clients have the same name, and both have invoices."""
    query = (
        "SELECT count(DISTINCT client_id) FROM client JOIN invoice USING (client_id) WHERE name = 'Northfork Capital'"
    )
    assert rows(query) == [(2,)]


def test_names_in_other_letters(rows):
    """A client's name is in Arabic script; others have ampersands, apostrophes, quotes and accents."""
    names = [name for (name,) in rows("SELECT name FROM client")]
    assert any(unicodedata.name(name[0]).startswith("ARABIC") for name in names)
    assert any({"&", "\u2019", "\u201c", "\u00e9"} <= set(name) for name in names)


def test_custom_fields_of_all_types(rows):
    """There are fields of all five types with values, and one field without values."""
    assert len(rows("SELECT DISTINCT value_type FROM custom_field JOIN custom_value ON id = custom_field_id")) == 5
    unfilled = rows("SELECT name FROM custom_field WHERE id NOT IN (SELECT custom_field_id FROM custom_value)")
    assert unfilled == [("Preferred language",)]
    assert len(rows("SELECT DISTINCT entity FROM custom_field")) == 3


def test_options_never_used(rows):
    """Some options of enum fields are not used."""
    chosen = "SELECT option_id FROM custom_value WHERE option_id NOT NULL"
    unused = rows(f"SELECT label FROM custom_field_option WHERE option_id NOT IN ({chosen})")
    assert {"Public sector", "Appeal", "Boston"} <= {label for (label,) in unused}


def test_work_in_progress_gets_old(number):
    """Some unbilled time is older than a quarter, most of it on the contingency case."""
    query = """SELECT sum(amount) FROM time_entry JOIN matter USING (matter_id)
        WHERE invoice_id IS NULL AND date < '2026-07-31' AND matter_type {} 'contingency'"""
    assert number(query.format("=")) > 150_000 * SCALE
    assert number(query.format("!=")) > 20_000 * SCALE


def test_october_is_half_billed(number):
    """Of the last month's time, some is unbilled and some on invoices that are not final; none is on a final one."""
    query = """SELECT count(*) FROM time_entry LEFT JOIN invoice USING (invoice_id)
        WHERE date >= '2026-10-01' AND billing_type = 'billable' AND {}"""
    assert number(query.format("invoice_id IS NULL")) > 100
    assert number(query.format("invoice_state IN ('draft', 'review', 'approved')")) > 100
    assert number(query.format("invoice_state = 'final'")) == 0


def test_time_is_written_down_late(number):
    """Most entries are created within a day of the work, some more than a week later, none before."""
    lag = "julianday(substr(created_at, 1, 10)) - julianday(date)"
    assert number(f"SELECT min({lag}) FROM time_entry") == 0
    assert 0.6 < number(f"SELECT avg(({lag}) <= 1) FROM time_entry") < 0.95
    assert 0.01 < number(f"SELECT avg(({lag}) > 7) FROM time_entry") < 0.15
