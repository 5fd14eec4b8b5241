"""Random sequences of creates, updates, deletes, refusals and month-ends, compared with a plain model of the rules.

A normal run makes a few sequences; BILLFRAMES_SEQUENCES=500 in the environment makes so many.
"""

import os
import sqlite3
from contextlib import closing

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, event, settings
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, multiple, rule, run_state_machine_as_test

from billframes.errors import ParameterError
from tests.examples import example_count

from .model import ITEMS, KEEPS, ZERO, Model

KEYS = {
    "clients": "clientId",
    "matters": "matterId",
    "time-entries": "timeEntryId",
    "expenses": "expenseId",
    "fixed-fees": "fixedFeeId",
}
USERS = [f"b000000{n}-0000-4000-8000-000000000000" for n in (1, 2, 3, 9)]
AREAS = [f"2000000{n}-0000-4000-8000-000000000000" for n in (1, 2, 9)]
RATES = dict(zip(USERS[:3], (400, 250, 120), strict=True))
CALLERS = {"sandbox-full": USERS[0], "sandbox-service": None}

names = st.sampled_from(["Acme", "B", "Öl & Söhne", "", None])
texts = st.sampled_from(["R-1", "", "two\nlines", None])
dates = st.sampled_from(["2026-10-01", "2024-02-29", None])
users = st.sampled_from([*USERS, None])
amounts = st.sampled_from([0, 12.34, -5, 1e6, 0.0001, None])
entries = st.builds(
    lambda id_, value: {"id": id_, "value": value},
    st.sampled_from(["cf-since", "cf-tier", "cf-score", "cf-urgent"]),
    st.sampled_from(["2021-03-04", "Gold", "Silver", "7", 2.5, "-1e2", True, "false", None, "no"]),
)
fields = st.none() | st.lists(entries, max_size=2, unique_by=lambda each: each["id"])
contacts = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("companyName", "firstName", "lastName", "city"), st.sampled_from(["X", "", None]))
)


class Writes(RuleBasedStateMachine):
    """One sequence, over HTTP."""

    api = firm = None
    clients, matters, fees = Bundle("clients"), Bundle("matters"), Bundle("fees")
    others, invoices = Bundle("others"), Bundle("invoices")

    def __init__(self):
        super().__init__()
        with closing(sqlite3.connect(self.firm)) as empty, closing(sqlite3.connect(self.api.database)) as current:
            empty.backup(current)
        self.model = Model(RATES, set(AREAS[:2]))
        self.start()

    def start(self):
        """Create a client, a matter, and an item of each kind, so that more calls of a sequence succeed."""
        client = self.create("clients", {"name": "First", "contact": {"companyName": "F"}}).values[0]
        matter = {"name": "M", "clientId": client[1], "responsibleId": USERS[0]}
        self.started = {"clients": client, "matters": self.create("matters", matter).values[0]}
        item = {"matterId": self.started["matters"][1], "date": "2026-10-01", "description": "D"}
        for kind, more in (("fixed-fees", {"amount": 5}), ("expenses", {"amount": 1}), ("time-entries", {"hours": 1})):
            self.started[kind] = self.create(kind, item | more).values[0]

    @initialize(target=clients)
    def first_client(self):
        return self.started["clients"]

    @initialize(target=matters)
    def first_matter(self):
        return self.started["matters"]

    @initialize(target=fees)
    def first_fee(self):
        return self.started["fixed-fees"]

    @initialize(target=others)
    def first_items(self):
        return multiple(self.started["expenses"], self.started["time-entries"])

    def create(self, kind, body, token="sandbox-full", header=None):
        expected, row = self.model.create(kind, body, CALLERS[token], header)
        before = {each[KEYS[kind]] for each in self.api.rows(kind)}
        headers = {"x-service-userid": header} if header else {}
        answer = self.api.send("POST", kind, body, token=token, headers=headers)
        assert answer.status_code == expected, (body, answer.text)
        event(f"{answer.request.method} {kind} {expected}")
        made = [each[KEYS[kind]] for each in self.api.rows(kind) if each[KEYS[kind]] not in before]
        assert len(made) == (expected == 200)
        for id_ in made:
            self.model.rows[kind][id_] = row
            self.compare(kind, id_)
            assert bool(answer.content) == (kind not in ("expenses", "fixed-fees"))
        return multiple(*((kind, id_) for id_ in made))

    def change(self, target, body):
        kind, id_ = target
        before = self.seen(kind, id_)
        expected = self.model.update(kind, id_, body)
        answer = self.api.send("PUT", f"{kind}/{id_}", body)
        assert answer.status_code == expected, (body, answer.text)
        event(f"{answer.request.method} {kind} {expected}")
        if expected == 200:
            assert bool(answer.content) == (kind in ("clients", "matters"))
            self.compare(kind, id_)
            assert self.seen(kind, id_)["meta"]["modifiedAt"] > before["meta"]["modifiedAt"]
        else:
            assert self.seen(kind, id_) == before

    def seen(self, kind, id_):
        answer = self.api.call(f"/v2/{kind}/{id_}")
        assert answer.status_code == (200 if id_ in self.model.rows[kind] else 404)
        return answer.json().get("data")

    def compare(self, kind, id_):
        record, row = self.seen(kind, id_), self.model.rows[kind][id_]
        holder = record["meta"] if kind == "clients" else record
        fields_ = {each["id"]: each["value"] for each in holder.get("customFields") or ()}
        for name, value in row.items():
            if name == "customFields":
                assert fields_ == value
            elif name not in ("rateGroupId", "originatorId"):
                assert record.get(name) == value, (name, record, row)
        if kind in ITEMS:
            assert record["billed"] == bool(row["invoiceId"])
        if kind == "time-entries":
            assert ("rate" in record) == ("amount" in record) == (row["billingType"] == "billable")

    @rule(
        target=clients,
        body=st.fixed_dictionaries(
            {},
            optional={"name": names, "reference": texts, "notes": texts, "contact": contacts, "customFields": fields},
        ),
    )
    def create_client(self, body):
        return self.create("clients", body)

    @rule(
        client=clients,
        body=st.fixed_dictionaries(
            {},
            optional={"name": names, "reference": texts, "notes": texts, "contact": contacts, "customFields": fields},
        ),
    )
    def update_client(self, client, body):
        self.change(client, body)

    @rule(
        target=matters,
        client=clients,
        user=st.sampled_from(USERS[:3]),
        body=st.fixed_dictionaries(
            {"matterType": st.sampled_from(["hourly", "fixedFee", "contingency", "probono", "internal"])},
            optional={
                "reference": texts,
                "opened": dates,
                "archived": st.booleans(),
                "practiceAreaId": st.sampled_from([*AREAS, None]),
                "rateGroupId": users,
                "responsibleId": users,
                "customFields": fields,
            },
        ),
    )
    def create_matter(self, client, user, body):
        return self.create("matters", {"name": "M", "clientId": client[1], "responsibleId": user} | body)

    @rule(
        matter=matters,
        client=clients,
        body=st.fixed_dictionaries(
            {},
            optional={
                "name": names,
                "reference": texts,
                "opened": dates,
                "archived": st.none() | st.booleans(),
                "practiceAreaId": st.sampled_from([*AREAS, ZERO, None]),
                "responsibleId": users,
                "customFields": fields,
            },
        ),
        moves=st.booleans(),
    )
    def update_matter(self, matter, client, body, moves):
        self.change(matter, body | ({"clientId": client[1]} if moves else {}))

    @rule(
        target=others,
        matter=matters,
        fee=st.none() | fees,
        token=st.sampled_from(sorted(CALLERS)),
        header=users,
        body=st.fixed_dictionaries(
            {"date": dates, "description": names, "hours": st.sampled_from([0, 0.25, 1.5, -2, 0.0167])},
            optional={
                "userId": users,
                "time": st.sampled_from(["09:30:00", None]),
                "rate": st.sampled_from([0, 99.99, 333, None]),
                "billingType": st.sampled_from(["billable", "nonBillable", "fixedFee"]),
                "taskCode": st.sampled_from(["L110", "L100", None]),
            },
        ),
    )
    def create_entry(self, matter, fee, token, header, body):
        body = body | {"matterId": matter[1], "fixedFeeId": fee and fee[1]}
        return self.create("time-entries", body, token, header)

    @rule(target=others, matter=matters, hours=st.sampled_from([1, 0.3]))
    def create_good_entry(self, matter, hours):
        body = {"matterId": matter[1], "date": "2026-10-01", "description": "W", "hours": hours}
        return self.create("time-entries", body)

    @rule(
        target=others,
        kind=st.just("expenses"),
        matter=matters,
        body=st.fixed_dictionaries(
            {"date": dates, "description": names, "amount": amounts},
            optional={"userId": users, "expenseCode": st.sampled_from(["E101", "L110", None])},
        ),
    )
    def create_expense(self, kind, matter, body):
        return self.create(kind, body | {"matterId": matter[1]})

    @rule(
        target=fees,
        matter=matters,
        body=st.fixed_dictionaries(
            {"date": st.just("2026-10-02"), "description": st.just("Fee"), "amount": amounts},
            optional={"userId": users, "taskCode": st.sampled_from(["L110", "L100", None])},
        ),
    )
    def create_fee(self, matter, body):
        return self.create("fixed-fees", body | {"matterId": matter[1]})

    @rule(
        item=st.one_of(others, fees),
        matter=st.none() | matters,
        fee=st.sampled_from(["", ZERO, None]) | fees,
        body=st.fixed_dictionaries(
            {},
            optional={
                "date": dates,
                "description": names,
                "userId": users,
                "hours": st.sampled_from([0, 0.25, 8, None]),
                "rate": st.sampled_from([10, 0.01, None]),
                "billingType": st.sampled_from(["billable", "nonBillable", "fixedFee", None]),
                "amount": amounts,
                "taskCode": st.sampled_from(["L110", "L100", None]),
                "expenseCode": st.sampled_from(["E101", "X", None]),
            },
        ),
    )
    def update_item(self, item, matter, fee, body):
        own = {"date", "description", "userId"} | OWN[item[0]]
        body = {name: value for name, value in body.items() if name in own}
        if matter:
            body["matterId"] = matter[1]
        if fee != "" and item[0] == "time-entries":
            body["fixedFeeId"] = fee[1] if isinstance(fee, tuple) else fee
        self.change(item, body)

    @rule(target_=st.one_of(clients, matters))
    def delete_party(self, target_):
        self.delete(*target_)

    @rule(target_=st.one_of(others, fees))
    def delete_item(self, target_):
        self.delete(*target_)

    def delete(self, kind, id_):
        expected = self.model.delete(kind, id_)
        answer = self.api.send("DELETE", f"{kind}/{id_}")
        event(f"DELETE {kind} {expected}")
        assert (answer.status_code, answer.content == b"") == (expected, expected == 200)
        self.seen(kind, id_)

    @rule(target=invoices, matter=matters)
    def bill(self, matter):
        row = self.model.rows["matters"].get(matter[1])
        client = ("clients", row["clientId"] if row else matter[1])
        drafted = self.model.bill(client[1])
        if drafted is None:
            with pytest.raises(ParameterError):
                self.api.sandbox.admin.create_invoice(client[1])
            return multiple()
        total, taken = drafted
        invoice = self.api.sandbox.admin.create_invoice(client[1])
        assert invoice["amount"] == float(total)
        matters = {self.model.rows[kind][id_]["matterId"] for kind, id_ in taken}
        self.model.invoices[invoice["invoiceId"]] = {"clientId": client[1], "matters": matters}
        for kind, id_ in taken:
            self.model.rows[kind][id_]["invoiceId"] = invoice["invoiceId"]
            self.compare(kind, id_)
        return invoice["invoiceId"]

    @rule(invoice=invoices)
    def void(self, invoice):
        if self.model.invoices.pop(invoice, None) is None:
            return
        self.api.sandbox.admin.void(invoice)
        for kind in ITEMS:
            for row in self.model.rows[kind].values():
                if row["invoiceId"] == invoice:
                    row["invoiceId"] = None

    def teardown(self):
        for kind in KEEPS:
            assert {row[KEYS[kind]] for row in self.api.rows(kind)} == set(self.model.rows[kind])
            for id_ in self.model.rows[kind]:
                self.compare(kind, id_)
        assert {row["invoiceId"] for row in self.api.rows("invoices")} == set(self.model.invoices)


OWN = {
    "time-entries": {"hours", "rate", "billingType", "taskCode"},
    "expenses": {"amount", "expenseCode"},
    "fixed-fees": {"amount", "taskCode"},
}


@pytest.fixture
def firm_without_work(firm, tmp_path):
    path = tmp_path / "empty.db"
    path.write_bytes(firm.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        for table in ("time_entry", "expense", "fixed_fee", "invoice_matter", "invoice", "matter_originator"):
            connection.execute(f"DELETE FROM {table}")
        for table in ("matter", "client", "custom_value"):
            connection.execute(f"DELETE FROM {table}")
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


@pytest.mark.slow
def test_random_sequences(writable_api, firm_without_work):
    """The server and a plain model of the rules agree on every status and every record."""
    machine = type("Sequence", (Writes,), {"api": writable_api, "firm": firm_without_work})
    sequences = int(os.environ.get("BILLFRAMES_SEQUENCES", example_count(10)))
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    run_state_machine_as_test(
        machine,
        settings=settings(max_examples=sequences, stateful_step_count=30, deadline=None, suppress_health_check=checks),
    )
