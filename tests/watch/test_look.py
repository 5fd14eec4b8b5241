"""What a watch finds equals the figures of a book."""

from __future__ import annotations

import datetime as dt

import pytest

import billframes as bf
from billframes.cli import main
from billframes.errors import ConfigError, ParameterError
from billframes.watch.look import look

DAY = dt.date(2026, 10, 31)
SPAN = {"start": DAY - dt.timedelta(89), "end": DAY}


def holding(watched, *rules, **settings):
    firm = bf.FirmSettings(watch=rules, time_zone="America/New_York", **settings)
    seen = look(watched, firm, {}, "")
    assert seen.unchecked == {}
    return seen.holding


@pytest.fixture(scope="module")
def book(watched):
    return watched.book("2026-10")


@pytest.mark.slow
def test_what_holds_is_beyond_its_number(watched, book):
    rules = [
        {"figure": "billing_realization", "by": "client", "below": 0.85},
        {"figure": "billing_realization", "below": 0.95},
        {"figure": "wip", "by": "responsible", "above": 100_000},
        {"figure": "same_day_ratio", "by": "user", "reaches": 0.5},
        {"figure": "overdue", "by": "client_cf_industry", "above": 20_000},
        {"figure": "contribution.share", "by": "client", "reaches": 0.05},
    ]
    found = holding(watched, *rules)
    for given in rules:
        figure, by = given["figure"], given.get("by")
        values = [each.value for each in found if (each.rule.figure, each.rule.by) == (figure, by or "")]
        (how,) = {*given} & {"below", "above", "reaches"}
        rows = book.figures(figure, by=by, **SPAN)
        all_ = rows[next(iter(rows.attrs["figures"]))]
        beyond = all_[all_ < given[how]] if how == "below" else all_[all_ > given[how]]
        assert values == pytest.approx(sorted(beyond, reverse=how != "below"))
        assert values


@pytest.mark.slow
def test_the_sentence_names_the_figure_the_group_the_days_and_the_cause(watched, book):
    rule = {"figure": "billing_realization", "by": "client", "below": 0.85, "least": {"worked_amount": 10_000}}
    row = book.figures("write_down_amount", "worked_amount", where={"client": "Granite"}, **SPAN).iloc[0]
    (text,) = [each.text for each in holding(watched, rule) if each.name.startswith("Granite")]
    assert text == (
        "Billing realization of Granite Mutual Insurance Company in the last 90 days is 72.7%, below 85.0%; "
        f"{row['write_down_amount']:,.0f} of {row['worked_amount']:,.0f} was written down."
    )
    small = holding(watched, {**rule, "least": {"worked_amount": 100_000}})
    assert [each.name for each in small] == ["Granite Mutual Insurance Company"]


def test_a_change_is_against_the_usual_of_twelve_months(watched, book):
    found = holding(watched, {"figure": "worked_amount", "by": "practice_area", "moved_by": 0.1, "days": 30})
    year = {"start": DAY - dt.timedelta(394), "end": DAY - dt.timedelta(30)}
    by = {"by": "practice_area"}
    usual = (
        book.figures("worked_amount", **by, **year)
        .fillna({"practice_area_id": ""})
        .set_index("practice_area_id")["worked_amount"]
    )
    usual *= 30 / 365
    now = book.figures("worked_amount", **by, start=DAY - dt.timedelta(29), end=DAY)
    now = (
        now.fillna({"practice_area_id": ""})
        .set_index("practice_area_id")["worked_amount"]
        .reindex(usual.index)
        .fillna(0.0)
    )
    moved = now[((now / usual - 1).abs() >= 0.1) & (usual > 0)]
    assert len(moved) > 1
    assert {each.key: each.value for each in found} == pytest.approx(moved.to_dict())
    assert {each.key: each.before for each in found} == pytest.approx(usual[moved.index].to_dict())


@pytest.mark.slow
def test_a_ratio_moves_by_points(watched):
    (found,) = holding(watched, {"figure": "billing_realization", "moved_by": 0.001})
    change = abs(found.value - found.before)
    assert f"by {change * 100:,.1f} pts to {found.value:.1%} (usual: {found.before:.1%})." in found.text


@pytest.mark.slow
def test_the_usual_balance_is_the_mean_of_four_months_ends(watched, book):
    ends = [dt.date(2025, 10, 31), dt.date(2026, 1, 31), dt.date(2026, 4, 30), dt.date(2026, 7, 31)]
    usual = sum(book.figures("wip", as_of=day)["wip_amount"].iloc[0] for day in ends) / 4
    (found,) = holding(watched, {"figure": "wip", "moved_by": 0.001})
    assert found.before == pytest.approx(usual)


@pytest.mark.slow
def test_a_group_that_is_gone_since_the_last_run_has_fallen_to_0(watched):
    rule = {"figure": "wip", "by": "matter", "fell_by": 0.5, "against": "last run", "least": {"wip": 20_000}}
    firm = bf.FirmSettings(watch=[rule])
    (figures,) = look(watched, firm, {}, "").figures.values()
    (key, (name, value)), *others = figures.items()
    last = {**figures, key: (name, value * 3 + 60_000), "gone": ("Old matter", 30_000.0), "small": ("Tiny", 10_000.0)}
    found = look(watched, firm, {firm.watch[0]: last}, "24 October 2026").holding
    assert [each.name for each in found] == [name, "Old matter"]
    assert found[1].text == (
        "Work in progress of Old matter fell by 100.0% to 0 (last watch, 24 October 2026: 30,000)."
    )
    assert others


def test_what_the_mirror_does_not_know_is_not_checked_and_says_why(watched):
    rules = (
        {"figure": "receivables", "rose_by": 0.1},
        {"figure": "wip", "by": "client_cf_industri", "above": 2},
        {"figure": "margin_ratio", "below": 0.2},
    )
    seen = look(watched, bf.FirmSettings(watch=rules), {}, "")
    balance, key, margin = seen.unchecked.values()
    assert "a mirror with versions of a year; it has none of 31 July 2026 or the week after" in balance
    assert "by='client_cf_industri' is neither a short name nor a column" in key
    assert "'margin_ratio' is not known" in margin
    assert any("have no cost rate in the settings" in each for each in seen.notes)


@pytest.mark.slow
def test_named_rules(watched, book):
    matters = book.time_entries["matter_id"].value_counts().index[:2]
    settings = {
        "budgets": dict.fromkeys(matters, 1000.0),
        "standard_rates": dict.fromkeys(book.users["user_id"], 400),
    }
    rules = ({"rule": "budget_used", "matter": matters[0]}, {"rule": "old_drafts", "days": 20})
    rules += ({"rule": "no_time", "days": 2}, {"rule": "fixed_fee_hours"}, {"rule": "old_data", "days": 1e-9})
    found = holding(watched, *rules, **settings)
    by_rule = {rule["rule"]: [each for each in found if each.rule.rule == rule["rule"]] for rule in rules}
    (budget,) = by_rule["budget_used"]
    firm = bf.FirmSettings(budgets={matters[0]: 1000.0})
    assert budget.key == matters[0]
    assert budget.value == watched.book("2026-10", settings=firm).budget_burn()["budget_burn"].iloc[0]
    drafts = book.invoices[book.invoices["invoice_state"].isin(["draft", "review", "approved"])]
    old = drafts[drafts["invoice_date"] < "2026-10-11"]
    assert {each.key for each in by_rule["old_drafts"]} == {*old["invoice_id"]}
    last = book.time_entries.groupby("user_id")["date"].max()
    # One person never recorded time.
    silent = {*last[last < "2026-10-29"].index} | ({*book.users["user_id"]} - {*last.index})
    assert {each.key for each in by_rule["no_time"]} <= silent
    assert {*last[last < "2026-10-29"].index} <= {each.key for each in by_rule["no_time"]}
    fee = by_rule["fixed_fee_hours"][0]
    hours = book.time_entries.query("fixed_fee_id == @fee.key")["hours"].sum()
    assert fee.value == pytest.approx(400 * hours / book.fixed_fees.set_index("fixed_fee_id")["amount"][fee.key])
    (data,) = by_rule["old_data"]
    assert data.text.startswith("The data are ")


def test_a_draft_bill_is_that_of_the_lawyer_of_its_largest_item(watched, book):
    found = holding(watched, {"rule": "old_drafts", "days": 1})
    items = book.prebill_review().sort_values("item_amount", ascending=False, kind="stable")
    lawyers = items.drop_duplicates("invoice_id").set_index("invoice_id")["responsible_name"].dropna()
    named = [each for each in found if each.key in lawyers]
    assert named
    assert [each.key for each in named if not each.text.endswith(f"; {lawyers[each.key]} is responsible.")] == []


@pytest.mark.slow
def test_leave_is_not_time_that_is_missing(watched, book):
    rule = {"rule": "no_time", "days": 2}
    (someone, *_) = holding(watched, rule)
    leave = {someone.key: [("2026-06-01", "2026-10-31")]}
    assert someone.key not in {each.key for each in holding(watched, rule, leave=leave)}


REFUSED = [
    (
        {"figure": "biling_realization", "below": 0.85},
        "no figure 'biling_realization'. Did you mean 'billing_realization'",
    ),
    ({"figure": "wip", "by": "cleint", "above": 1}, "by='cleint' is not a key of the watch. Did you mean 'client'"),
    ({"figure": "wip", "by": "month", "above": 1}, "by='month' is not a key of the watch"),
    ({"figure": "wip", "abov": 1}, "unknown key 'abov'. Did you mean 'above'"),
    ({"figure": "wip"}, r"watch\[0\] has no threshold; give it one of below, above"),
    ({"figure": "wip", "above": 1, "below": 2}, "has below and above; a rule has one of them"),
    ({"figure": "wip", "above": 1, "least": {"wip": -5}}, r"watch\[0\].least\['wip'\]=-5 takes a number above 0"),
    ({"figure": "wip", "above": 1, "least": {"wpi": 5}}, "no figure 'wpi'. Did you mean 'wip'"),
    ({"figure": "wip", "rose_by": 20}, "an amount changes by a share, such as 0.2"),
    ({"figure": "billing_realization", "below": 85}, "too large for a ratio; write 85% as 0.85"),
    ({"figure": "wip", "above": 1, "against": "last run"}, "has against, but above compares with a number"),
    ({"figure": "wip", "rose_by": 0.1, "against": "last runs"}, "Did you mean 'last run'"),
    ({"figure": "wip", "above": 1, "days": 1.5}, "takes a whole number of days"),
    ({"figure": "collected_amount", "above": 1}, "'collected_amount' is a date, a forecast or of payments"),
    ({"figure": "last_work_date", "above": 1}, "'last_work_date' is a date"),
    ({"above": 1}, "has no figure; write a figure, or a rule: budget_used, old_drafts"),
    ({"rule": "old_draft", "days": 3}, "Did you mean 'old_drafts'"),
    ({"rule": "old_drafts"}, r"watch\[0\] \(old_drafts\) has no days"),
    ({"rule": "old_drafts", "days": 0}, "takes a number above 0"),
    ({"rule": "no_time", "share": 1}, "unknown key 'share'"),
    ({"rule": "budget_used"}, "budget_used needs budgets in the firm's settings"),
    ({"rule": "fixed_fee_hours"}, "fixed_fee_hours needs standard_rates"),
    ("wip", "'wip' is not a rule; it takes"),
]


@pytest.mark.parametrize(("rule", "message"), REFUSED)
def test_a_wrong_rule_is_refused_when_the_settings_are_read(rule, message):
    with pytest.raises(ParameterError, match=message):
        bf.FirmSettings(watch=[rule])


def test_a_rule_of_a_matter_without_a_budget_and_a_repeated_rule_are_refused():
    with pytest.raises(ParameterError, match="matter='m-1' has no budget. Did you mean 'm1'"):
        bf.FirmSettings(budgets={"m1": 1.0}, watch=[{"rule": "budget_used", "matter": "m-1"}])
    with pytest.raises(ParameterError, match=r"watch\[1\] is there twice"):
        bf.FirmSettings(watch=[{"figure": "wip", "above": 1}] * 2)


def test_a_file_with_a_wrong_rule_is_named(tmp_path, watched, capsys):
    path = tmp_path / "firm.toml"
    path.write_text('[[watch]]\nfigure = "wpi"\nabove = 1\n')
    with pytest.raises(ConfigError, match=r"firm.toml: watch\[0\]: There is no figure 'wpi'"):
        bf.FirmSettings.load(path)
    assert main(["watch", "--mirror", watched.path, "--settings", str(path)]) == 1
    assert capsys.readouterr().err.count("\n") == 1
    path.write_text('currency = "USD"\n')
    assert main(["watch", "--mirror", watched.path, "--settings", str(path)]) == 1
    assert "has no [[watch]]" in capsys.readouterr().err
