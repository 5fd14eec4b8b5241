"""Credits as a page that partners read: what is nobody's, whose the fees are, what another rule changes, and each
person's statement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from billframes._shared.format import MISSING, count_of, format_number
from billframes._shared.names import join_names
from billframes.config.credits import CreditRule
from billframes.credits.calculation import FIRM, NO_ONE
from billframes.credits.rules import describe_rule, percent
from billframes.report.html import templates
from billframes.report.prebill_sheets import about_sheet, workbook_of

ROLE_TITLES = {"originating": "Originating", "responsible": "Responsible", "working": "Work", "firm": "Firm"}
BASE_TITLES = {"billed": "fees billed", "collected": "fees collected"}
AMOUNT_TITLES = {
    "credit_amount": "Credit",
    "payout_amount": "Payout",
    "difference_amount": "Difference",
    "compared_amount": "Other rule",
    "compared_payout_amount": "Payout, other rule",
}
_LACKS = {"originating": "no originator", "responsible": "no responsible lawyer", "working": "no person"}
_SHARED_BY = {
    "value": "by the value of the time that they cover",
    "hours": "by the hours that they cover",
    "responsible": "to the responsible lawyer, because they cover no time",
}
_MOST, _MOST_MATTERS = 15, 10
_CHANGE, _WHOSE, _MATTER = "difference_amount", ["user_id", "user_name"], ["matter_id", "matter_name"]


def credit_page(
    rows: pd.DataFrame,
    *,
    details: Mapping[str, str],
    period: str,
    firm: str,
    rules: Sequence[tuple[str, CreditRule]],
    **more: Any,
) -> str:
    """
    Return the page of credits by matter, person and role.

    `details` has the client and the reference of a matter by its id, `rules` the rules with their names,
    and `more` the `settings`, `notes` and a `remark` in words.
    """
    about = rows.attrs["credits"]
    columns = [name for name in AMOUNT_TITLES if name in rows]
    rows = rows.fillna({"matter_id": "", "user_id": ""})
    people = rows[rows["user_id"] != ""]
    named = people.groupby(_WHOSE, sort=False)["credit_amount"].sum().sort_values(ascending=False)
    page: str = (
        templates()
        .get_template("credits.html")
        .render(
            firm=firm,
            period=period,
            findings=list(_findings(rows, about)),
            rules=[(name, describe_rule(rule)) for name, rule in rules],
            nobody=_nobody(rows, details),
            overview=_overview(rows, columns),
            moved=_moved(rows, details) if _CHANGE in rows else None,
            statements=[_statement(people, user, name, columns, details) for user, name in named.index],
            fixed_fees=[f"{_money(each)} {_SHARED_BY[how]}" for how, each in about["fixed_fees"].items() if each],
            compared=_CHANGE in rows,
            **more,
        )
    )
    return page


def _findings(rows: pd.DataFrame, about: Mapping[str, Any]) -> Any:
    sums = rows.groupby("user_name")["credit_amount"].sum()
    people = rows[rows["user_id"] != ""]
    count = people["user_id"].nunique()
    total, firm, nobody = (_money(each) for each in (about["fees_amount"], sums.get(FIRM, 0.0), sums.get(NO_ONE, 0.0)))
    yield (
        f"Of {total} of {BASE_TITLES[about['base']]}, {nobody} belongs to nobody, {firm} to the firm, and the rest to "
        f"{count_of(count, 'person', 'people')}."
    )
    if _CHANGE in rows:
        change = people.groupby(_WHOSE)[_CHANGE].sum().sort_values().droplevel("user_id")
        ends = [(name, each) for name, each in [*change.head(1).items(), *change.tail(1).items()] if abs(each) >= 1]
        parts = [f"{name} would have {_money(abs(each))} {'less' if each < 0 else 'more'}" for name, each in ends]
        yield (
            f"Under the other rule, {join_names(parts)}." if parts else "Under the other rule, nobody's credit changes."
        )


def _nobody(rows: pd.DataFrame, details: Mapping[str, str]) -> dict[str, Any]:
    own = rows[rows["user_name"] == NO_ONE]
    lacks = own.groupby(_MATTER)["role"].agg(lambda roles: join_names([_LACKS[each] for each in roles]))
    sums = own.groupby(_MATTER)["credit_amount"].sum().sort_values(key=abs, ascending=False, kind="stable")
    table = [
        _row(name, details.get(matter, ""), [lacks[matter, name], _money(amount)])
        if matter
        else _row("On no matter", "", ["credit notes, and invoices without items", _money(amount)])
        for matter, name, amount in sums.head(_MOST).reset_index().itertuples(index=False, name=None)
    ]
    if len(rest := sums.iloc[_MOST:]):
        table.append(_row(count_of(len(rest), "other matter"), "", ["", _money(rest.sum())]))
    total = ["", _money(sums.sum())]
    return {"heads": ["Matter", "What it lacks", "Credit"], "words": 1, "rows": table, "total": total}


def _overview(rows: pd.DataFrame, columns: list[str]) -> dict[str, Any]:
    roles = [role for role in ("originating", "responsible", "working") if (rows["role"] == role).any()]
    by_role = rows.groupby([*_WHOSE, "role"], observed=True)["credit_amount"].sum().unstack(fill_value=0)  # noqa: PD010
    sums = rows.groupby(_WHOSE)[columns].sum().join(by_role).reset_index()
    sums["place"] = sums["user_name"].map({NO_ONE: 0, FIRM: 1}).where(sums["user_id"] == "", 2)
    sums = sums.sort_values(["place", "credit_amount"], ascending=[True, False])
    shown = [*columns, *roles]
    table = [
        _row(
            each["user_name"],
            "",
            ["" if each["place"] == 1 and name in roles else _amount(name, each[name]) for name in shown],
        )
        for each in sums.to_dict("records")
    ]
    heads = ["Person", *(AMOUNT_TITLES[name] for name in columns), *(ROLE_TITLES[role] for role in roles)]
    return {"heads": heads, "words": 0, "rows": table, "total": [_amount(name, sums[name].sum()) for name in shown]}


def _moved(rows: pd.DataFrame, details: Mapping[str, str]) -> dict[str, Any]:
    """Return the ten matters of which most moves from one to another, with whose credit changes most."""
    sums = rows.groupby([*_MATTER, *_WHOSE], sort=False)[_CHANGE].sum().reset_index()
    gains = sums[_CHANGE].clip(lower=0).groupby([sums[each] for each in _MATTER]).sum()
    table = []
    for matter, name in gains[gains >= 1].nlargest(_MOST_MATTERS).index:
        own = sums[sums["matter_id"] == matter].sort_values(_CHANGE, key=abs, ascending=False, kind="stable")
        own = own[own[_CHANGE].abs() >= 1]
        changes = "; ".join(f"{each.user_name} {_signed(each.difference_amount)}" for each in own.head(3).itertuples())
        more = "; …" if len(own) > 3 else ""
        table.append(_row(name, details.get(matter, ""), [_money(gains[matter, name]), f"{changes}{more}"]))
    total = [_money(gains.sum()), "all matters"]
    return {"heads": ["Matter", "Moved", "Whose credit changes"], "words": 2, "rows": table, "total": total}


def _statement(
    rows: pd.DataFrame, user: str, name: str, columns: list[str], details: Mapping[str, str]
) -> dict[str, Any]:
    """Return one person's credits by role, and the ten matters that make most of them, or of the difference."""
    own = rows[rows["user_id"] == user]
    roles = []
    for role, each in own.groupby("role", observed=True):
        base = each["base_amount"].sum()
        rate = (each["rate"] * each["base_amount"]).sum() / base if base else None
        shares = percent(rate) if rate is not None else MISSING
        roles.append(
            _row(ROLE_TITLES[str(role)], "", [_cents(base), shares, *(_cents(each[c].sum()) for c in columns)])
        )
    made_by = _CHANGE if _CHANGE in rows else "credit_amount"
    matters = own.groupby(_MATTER, sort=False)[columns].sum().reset_index()
    matters = matters.sort_values(made_by, key=abs, ascending=False, kind="stable")
    table = [
        _row(each["matter_name"], details.get(each["matter_id"], ""), [_cents(each[c]) for c in columns])
        for each in matters.head(_MOST_MATTERS).to_dict("records")
    ]
    rest = matters.iloc[_MOST_MATTERS:]
    if len(rest):
        table.append(_row(count_of(len(rest), "other matter"), "", [_cents(rest[c].sum()) for c in columns]))
    titles, total = [AMOUNT_TITLES[c] for c in columns], [_cents(own[c].sum()) for c in columns]
    return {
        "name": name,
        "roles": {"heads": ["For", "Fees", "Share", *titles], "words": 0, "rows": roles, "total": ["", "", *total]},
        "matters": {"heads": ["Matter", *titles], "words": 0, "rows": table, "total": total},
    }


def credit_workbook(
    rows: pd.DataFrame, *, details: Mapping[str, str], rules: Sequence[tuple[str, CreditRule]], settings: str
) -> bytes:
    """Return the credits as an Excel workbook: by person and role, by matter, and what is nobody's."""
    keys = {"user_name": ("Person", "text", 26), "role": ("For", "text", 14), "base_amount": ("Fees", "money", 15)}
    amounts = {name: (title, "money", 15) for name, title in AMOUNT_TITLES.items() if name in rows}
    matter = {"matter_name": ("Matter", "text", 34), "detail": ("Client and reference", "text", 34)}
    rows = rows.assign(role=rows["role"].map(ROLE_TITLES), detail=rows["matter_id"].map(dict(details)).fillna(""))
    numbers = ["base_amount", *amounts]
    people = rows.groupby(["user_id", "user_name", "role"], dropna=False, sort=False, observed=True)[numbers].sum()
    nobody = rows[rows["user_name"] == NO_ONE].sort_values("credit_amount", key=abs, ascending=False, kind="stable")
    rate = {"rate": ("Share", "ratio", 10)}
    about = pd.DataFrame({"settings": [*(f"{name}: {describe_rule(rule)}." for name, rule in rules), settings]})
    sheets = [
        ("Nobody", matter | {"role": keys["role"], "credit_amount": amounts["credit_amount"]}, nobody),
        ("People", keys | amounts, people.reset_index()),
        ("Matters", matter | keys | rate | amounts, rows),
        ("About", about_sheet("")[1], about),
    ]
    return workbook_of("Credits", sheets)


def _row(name: str, detail: str, cells: list[str]) -> dict[str, Any]:
    return {"name": name, "detail": detail, "cells": cells}


def _money(amount: float) -> str:
    return format_number(float(amount), "money")


def _cents(amount: float) -> str:
    return format_number(float(amount), "cents")


def _signed(amount: float) -> str:
    return f"{'+' if amount >= 0 else ''}{_money(amount)}"


def _amount(column: str, amount: float) -> str:
    return _signed(amount) if column == _CHANGE and abs(amount) >= 1 else _money(amount)
