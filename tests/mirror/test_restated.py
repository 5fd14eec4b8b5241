"""A closed month that moved is restated by parts that add up to the change, and are those of SQL."""

from __future__ import annotations

import contextlib
import random
import uuid

import numpy as np
import pandas as pd
import pytest

import billframes as bf
from billframes import mirror
from billframes.mirror.restated import CAUSES, FIGURES
from billframes.sandbox import Sandbox
from tests.mirror.restated_sql import KEYS, restated_in_sql, versions_in_sql

FIRST, LAST = "2026-09-01", "2026-09-30"


def found_in(rows, key):
    """Return the parts that are not 0, by figure, key and cause."""
    keys = rows[rows.columns[1]].fillna("").astype(str) if key else pd.Series("", rows.index)
    return {
        (row["figure"], id_, cause): row[cause]
        for id_, row in zip(keys, rows.to_dict("records"), strict=True)
        for cause in ("then", "now", *CAUSES)
        if abs(row[cause]) > 0.004
    }


def assert_is_as_in_sql(m, keys):
    sql = versions_in_sql(m.as_of("2026-09 close"), m)
    for key in keys:
        rows = m.restated("2026-09 close", by=key)
        parts, found = restated_in_sql(sql, key, FIRST, LAST), found_in(rows, key)
        for at in parts.keys() | found.keys():
            assert found.get(at, 0.0) == pytest.approx(parts.get(at, 0.0), abs=0.005), (key, at)
        assert np.allclose(rows[[*CAUSES]].sum(axis=1), rows["change"], atol=1e-6)


class Colleague:
    """Someone who edits September after its close, one thing a turn."""

    def __init__(self, firm, client, seed: int) -> None:
        self.firm, self.client, self.random = firm, client, random.Random(seed)
        self.matters = client.matters(archived=False)

    def night(self, edits: int) -> None:
        entries = self.client.time_entries("2026-08-20", "2026-10-10", billed=False)
        self.entries = [
            row for _, row in entries.sample(3 * edits, random_state=self.random.randrange(9**9)).iterrows()
        ]
        self.invoices = self.client.invoices("2026-09", invoice_state="final").query("amount > 50")
        others = (self.create, self.delete, self.bill, self.void, self.reduce, self.credit)
        for _ in range(edits):
            self.random.choice((*[self.change] * 4, *others))()

    def entry(self):
        """Return an entry that nobody else has edited or billed this night."""
        return self.entries.pop()

    def one(self, frame):
        return frame.iloc[self.random.randrange(len(frame))]

    def change(self) -> None:
        entry = self.entry()
        # Some records change in several ways at once.
        fields = {
            "hours": round(self.random.uniform(0.1, 6), 1),
            "rate": round(self.random.uniform(150, 500), 2),
            "date": self.random.choice(["2026-08-31", "2026-09-15", "2026-10-02"]),
            "billing_type": self.random.choice(["billable", "nonBillable"]),
            "matter_id": self.one(self.matters)["matter_id"],
        }
        chosen = self.random.sample(sorted(fields), self.random.choice([1, 1, 2, 3]))
        self.client.time_entries.update(entry["time_entry_id"], **{name: fields[name] for name in chosen})

    def create(self) -> None:
        matter, user = self.one(self.matters)["matter_id"], self.entry()["user_id"]
        self.client.time_entries.create(
            matter_id=matter, date="2026-09-28", description="Late", hours=1.3, user_id=user
        )
        self.client.fixed_fees.create(matter_id=matter, date="2026-09-28", description="Late fee", amount=250.0)

    def delete(self) -> None:
        self.client.time_entries.delete(self.entry()["time_entry_id"])

    def bill(self) -> None:
        client = self.entry()["client_id"]
        with contextlib.suppress(bf.errors.ParameterError):
            # All of the client's entries may have been deleted or billed this night.
            made = self.firm.admin.create_invoice(
                client, through="2026-10-05", invoice_date="2026-09-30", write_down=33.33
            )
            self.firm.admin.move(made["invoiceId"], "final")
        self.entries = [each for each in self.entries if each["client_id"] != client]

    def invoice(self):
        found = self.one(self.invoices)
        self.invoices = self.invoices[self.invoices["invoice_id"] != found["invoice_id"]]
        return found

    def void(self) -> None:
        self.firm.admin.void(self.invoice()["invoice_id"])

    def reduce(self) -> None:
        owed = self.invoice()
        if owed["balance"] > 1:
            self.firm.admin.write_off(owed["invoice_id"], round(owed["balance"] / 3, 2))

    def credit(self) -> None:
        """Write a credit note without items, which the bookkeeper of the sandbox can't."""
        of = self.invoice()["invoice_id"]
        with self.firm.admin._store.write_transaction() as (connection, at):
            id_, number = str(uuid.UUID(int=self.random.getrandbits(128))), self.random.randrange(10**9)
            connection.execute(
                "INSERT INTO invoice SELECT ?, client_id, 'CN-' || ?, invoice_date, 'final', due_date, -500000, "
                "-500000, ?, ? FROM invoice WHERE invoice_id = ?",
                (id_, number, at, at, of),
            )
            connection.execute(
                "INSERT INTO invoice_matter SELECT ?, matter_id, 0 FROM invoice_matter WHERE "
                "invoice_id = ? AND position = 0",
                (id_, of),
            )


@pytest.fixture(scope="module")
def closed(writer, tmp_path_factory):
    """A mirror whose September was closed."""
    m = mirror(tmp_path_factory.mktemp("restated") / "firm", client=writer)
    m.refresh()
    m.tag("2026-09 close")
    return m


@pytest.mark.slow
@pytest.mark.parametrize(("nights", "edits"), [(2, 30), pytest.param(365, 3, marks=pytest.mark.sweep(keep=0))])
def test_after_nights_with_edits_each_part_is_that_of_sql(closed, firm, writer, nights, edits):
    colleague = Colleague(firm, writer, nights)
    for _ in range(nights):
        colleague.night(edits)
        closed.refresh()
    # Each key of a year; after two nights, one of each kind.
    assert_is_as_in_sql(closed, KEYS if nights > 2 else (None, "client", "practice_area"))
    whole = closed.restated("2026-09 close").set_index("figure")
    assert (whole[[*CAUSES]].drop(columns="moved").abs() > 0.005).any().all()
    book = closed.book("2026-09")
    then = closed.as_of("2026-09 close").book("2026-09")
    for column, of in (("then", then), ("now", book)):
        figures = of.figures(*[each for each in FIGURES if each != "cohort_amount"]).iloc[0]
        assert whole[column].drop("cohort_amount").to_dict() == pytest.approx(figures.to_dict())


@pytest.mark.slow
def test_parts_have_the_record_the_person_and_the_day(closed, writer):
    entry = writer.time_entries("2026-09", billed=False, billing_type="billable").iloc[0]
    other = writer.matters(archived=False).query("matter_type == 'hourly' and client_id != @entry.client_id").iloc[0]
    # Moved to another month and matter at once.
    writer.time_entries.update(entry["time_entry_id"], date="2026-10-02", matter_id=other["matter_id"])
    closed.refresh()
    parts = closed.restated("2026-09 close", "client_hours", "cohort_amount", records=True)
    of_entry = parts[parts["record_id"] == entry["time_entry_id"]]
    assert of_entry[["figure", "cause", "user_id", "client_id", "amount"]].to_numpy().tolist() == [
        ["client_hours", "redated", entry["user_id"], entry["client_id"], -entry["hours"]],
        ["cohort_amount", "redated", entry["user_id"], entry["client_id"], -entry["amount"]],
    ]
    # The day on which it counted.
    assert of_entry["date"].tolist() == [entry["date"]] * 2
    sums, whole = parts.groupby("figure")["amount"].sum(), closed.restated("2026-09 close").set_index("figure")
    for figure, amount in sums.items():
        assert amount == pytest.approx(whole.loc[figure, "change"])


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (("2026-09 closed",), "MirrorError", "has no tag '2026-09 closed'.*Did you mean '2026-09 close'"),
        (("2020-01-31", "client_hours"), "MirrorError", "goes back to 2026-10-31"),
        ((1,), "ParameterError", "1 names no month; pass the period, such as start='2026-09'"),
        (
            ("2026-09 close", "cohort_amonut"),
            "ParameterError",
            "no figure 'cohort_amonut'. Did you mean 'cohort_amount'",
        ),
        (("2026-09 close", "wip"), "ParameterError", "'wip_amount' is a balance of a day"),
        (("2026-09 close", "billing_realization"), "ParameterError", "'billing_realization' is not a sum of records"),
        (("2026-09 close", "capacity_hours"), "ParameterError", "'capacity_hours' is not a sum of records"),
    ],
)
def test_what_can_not_be_restated_is_refused_in_one_sentence(closed, arguments, error, text):
    start = {"start": "2026-09"} if arguments[0] == "2020-01-31" else {}
    with pytest.raises(getattr(bf.errors, error), match=text) as caught:
        closed.restated(*arguments, **start)
    assert "\n" not in str(caught.value)


def test_unknown_keys_and_options_are_refused_with_the_nearest_name(closed):
    with pytest.raises(bf.errors.ParameterError, match="'cleint'.*Did you mean 'client'"):
        closed.restated("2026-09 close", by="cleint")
    with pytest.raises(bf.errors.ParameterError, match="takes no 'matter_typs'. Did you mean 'matter_types'"):
        closed.restated("2026-09 close", matter_typs=["hourly"])
    with pytest.raises(bf.errors.ParameterError, match="after the one that is read"):
        closed.as_of(1).restated(closed.version, start="2026-09")


@pytest.mark.slow
def test_a_month_with_35_edits_is_restated_to_the_cent(tmp_path):
    """The entries are those of the prototype that the parts were designed with."""
    with Sandbox() as firm, bf.Client(firm.base_url, firm.tokens["full"], progress=False) as client:
        m = mirror(tmp_path / "firm", client=client)
        m.refresh()
        m.tag("2026-09 close")
        entries = client.time_entries("2026-09", billed=False)
        chosen = entries.sample(30, random_state=3).reset_index(drop=True)
        update = client.time_entries.update
        for place, (id_, hours, rate, matter) in enumerate(
            zip(chosen["time_entry_id"], chosen["hours"], chosen["rate"], chosen["matter_id"], strict=True)
        ):
            if place < 8:
                update(id_, hours=round(hours + 0.5, 1))
            elif place < 14:
                update(id_, date="2026-10-02")
            elif place < 18:
                client.time_entries.delete(id_)
            elif place < 22:
                update(id_, rate=rate * 0.9 if pd.notna(rate) else 200)
            elif place < 26:
                update(id_, billing_type="nonBillable")
            else:
                update(id_, matter_id=next(each for each in entries["matter_id"].iloc[[5, 50]] if each != matter))
        for matter, user in chosen[["matter_id", "user_id"]].head(5).itertuples(index=False):
            client.time_entries.create(matter_id=matter, date="2026-09-28", description="Late", hours=1.3, user_id=user)
        m.refresh()
        rows = m.restated("2026-09 close").set_index("figure").round(2)
    parts = {"entered_late": 780.0, "deleted": -3052.0, "redated": -2176.0, "retyped": -2560.65}
    parts |= {"hours_changed": 655.25, "repriced": -15.39, "moved": 0.0, "invoice_changed": 0.0}
    assert rows.loc["cohort_amount", [*parts]].to_dict() == parts
    assert rows.loc["cohort_amount", "change"] == -6368.79
    assert (rows["change"] == rows[[*CAUSES]].sum(axis=1).round(2)).all()
