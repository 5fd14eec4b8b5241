"""Four weeks of a firm: a rule begins, holds and ends, and each is said once."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

RULES = """
[[watch]]
figure = "wip"
by = "client"
above = 100000

[[watch]]
figure = "wip"
by = "matter"
rose_by = 0.2
against = "last run"
least = { wip = 20000 }

[[watch]]
rule = "old_drafts"
days = 30

[[watch]]
rule = "no_time"
days = 5
"""
PRIYA = "Priya Raman"


def names(findings: list[dict]) -> list[str]:
    return [each["name"] for each in findings]


@pytest.mark.slow
def test_four_weeks_of_a_firm(firm):
    firm.rules(RULES)
    firm.night(0)
    first = firm.report()
    assert names(first["new"])[:2] == ["Quinn, Irene", "Draft bill 11774"]
    assert (first["still"], first["ended"], first["unchecked"]) == ([], [], [])
    page = (Path(__file__).parents[2] / "docs" / "reference" / "watch.md").read_text(encoding="utf-8")
    in_json = page.partition("In JSON,")[2]
    assert [each for each in (*first, *first["new"][0]) if f"`{each}`" not in in_json] == []
    code, text = firm.watch()
    assert code == 0
    assert "(Since 31 October 2026.)" in text

    # Nobody enters time for a week, and drafts grow older.
    firm.night(7)
    code, text = firm.watch()
    assert code == 3
    assert f"{PRIYA} has recorded no time on the last 5 working days.\n" in text
    assert "is 33 days old, more than\n  30; Samuel Okonkwo is responsible." in text

    # Priya works on one matter, and the oldest draft is sent.
    m, admin = firm.mirror, firm.sandbox.admin
    work = m.book("2026-10").figures("wip", by="matter").set_index("matter_name")["wip_amount"]
    matter = "Freedom-to-operate review"
    ids = m.matters().set_index("name")["matter_id"]
    user = m.users().set_index("name")["user_id"][PRIYA]
    for day in range(9, 14):
        new = {"date": dt.date(2026, 11, day), "description": "Opinion", "hours": 8.0, "rate": 900}
        firm.client.time_entries.create(matter_id=ids[matter], billing_type="billable", acting_user=user, **new)
    (bill,) = m.invoices().query("invoice_number == '11774'")["invoice_id"]
    admin.move(bill, "approved")
    admin.move(bill, "final")
    firm.night(8)
    third = firm.report()
    assert names(third["new"])[0] == matter
    assert third["new"][0]["before"] == pytest.approx(work[matter])
    assert third["new"][0]["value"] == pytest.approx(work[matter] + 5 * 8 * 900)
    assert {"Draft bill 11774", PRIYA} == {*names(third["ended"])}
    since = {each["name"]: each["since"] for each in third["still"]}
    assert since["Quinn, Irene"] == "2026-10-31"
    assert since["Hannah Levy"] == since["Draft bill 11787"] == "2026-11-07"

    # A rise since the last run is new once, and the rest still holds.
    firm.night(7)
    fourth = firm.report()
    assert names(fourth["new"]) == [PRIYA]
    assert fourth["ended"] == []
    assert len(fourth["still"]) == len(third["still"]) + len(third["new"]) - 1
    assert [each["watch"] for each in (first, third, fourth)] == [1, 4, 5]

    # A rule that is no longer in the settings has ended, and says so.
    firm.rules(RULES.partition("[[watch]]\nrule")[0])
    fifth = firm.report()
    assert len(fifth["ended"]) == len(fourth["still"]) + 1 - 1
    assert all("Its rule is no longer in the settings" in each["text"] for each in fifth["ended"])
    assert names(fifth["still"]) == ["Quinn, Irene"]


@pytest.mark.slow
def test_the_usual_balance_of_receivables_is_that_of_earlier_versions(firm):
    firm.rules('[[watch]]\nfigure = "overdue"\nmoved_by = 0.001\n')
    firm.night(0)
    assert "Not checked (1)\n- 'overdue' has a usual balance only in a mirror" in firm.watch()[1]
    for days in (92, 89, 92, 92):
        firm.night(days)
    (found,) = firm.report()["new"]
    versions = {1: "2026-10-31", 2: "2027-01-31", 3: "2027-04-30", 4: "2027-07-31", 5: "2027-10-31"}
    overdue = [
        firm.mirror.as_of(number).book(day, day).figures("overdue")["overdue"].iloc[0]
        for number, day in versions.items()
    ]
    assert found["before"] == pytest.approx(sum(overdue[:4]) / 4)
    assert found["value"] == pytest.approx(overdue[4])
