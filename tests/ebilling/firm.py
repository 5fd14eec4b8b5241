"""A made-up client with one invoice, as frames. Tests change the values that they are about."""

from __future__ import annotations

import pandas as pd

from billframes.ebilling import LedesProfile

PROFILE = LedesProfile(law_firm_id="24-6437381")
LIT = ["ACT", "LIT", "EXP"]
USERS = (
    ("u1", "Ada", "Lovelace", "principal", "ada@firm.example", "AL", "T-1"),
    ("u2", "Bo", "Berg", "attorney", "bo@firm.example", "BB", None),
    ("u3", "Cy", "Clay", "timekeeper", "cy@firm.example", None, None),
)
CODES = (
    ("task", "L110", "LIT", True),
    ("task", "L100", "LIT", False),
    ("activity", "A102", "ACT", True),
    ("expense", "E101", "EXP", True),
    ("task", "P100", "PRJ", True),
)
TEXTS = "str"


def frames(times=(), expenses=(), fees=(), *, amount=None, matters=(), users=(), **invoice):
    """
    Frames of one invoice: time is (hours, rate, amount), expenses and fees are amounts, or dicts of columns.

    The invoice's amount is the sum of its items unless it is given; `matters` and `users` change records by id.
    """
    entries = [time_entry(nth, each) for nth, each in enumerate(times, start=1)]
    costs = [cost("expense", nth, each, expense_code="E101") for nth, each in enumerate(expenses, start=1)]
    fixed = [cost("fixed_fee", nth, each, task_code="L110", activity_code="A102") for nth, each in enumerate(fees, 1)]
    items = [*(each for each in entries if each["billing_type"] == "billable"), *costs, *fixed]
    worth = round(sum(each["amount"] or 0 for each in items), 2) if amount is None else amount
    bill = {"invoice_id": "i1", "invoice_number": "96542", "invoice_date": "2026-11-05", "invoice_state": "final"}
    bill |= {"client_id": "c1", "matter_id": "m1", "amount": worth, **invoice}
    columns = {"invoices": bill, "time_entries": time_entry(0, (0.0, 0.0, 0.0)), "expenses": cost("expense", 0, 0.0)}
    columns["fixed_fees"] = cost("fixed_fee", 0, 0.0) | {"task_code": None, "activity_code": None}
    columns["expenses"] |= {"expense_code": None}
    rows = {"invoices": [bill], "time_entries": entries, "expenses": costs, "fixed_fees": fixed}
    made = {name: frame(rows[name], columns[name]) for name in rows}
    codes = pd.DataFrame(CODES, columns=["code_type", "code", "code_set_id", "selectable"])
    return made | {"matters": matter_rows(dict(matters)), "users": user_rows(dict(users)), "codes": codes}


def frame(rows, columns):
    """A frame with all columns, also without rows, with the dtypes of the loaders."""
    made = pd.DataFrame(rows, columns=list(columns))
    numbers = {name: "float64" for name in ("hours", "rate", "amount") if name in made}
    texts = {name: TEXTS for name in made if name not in numbers and "date" not in name}
    made = made.astype(numbers | texts)
    return made.assign(**{name: pd.to_datetime(made[name]) for name in made if "date" in name})


def time_entry(nth, given):
    values = given if isinstance(given, dict) else dict(zip(("hours", "rate", "amount"), given, strict=True))
    shared = {"time_entry_id": f"t{nth}", "date": "2026-10-01", "matter_id": "m1", "client_id": "c1", "user_id": "u1"}
    shared |= {"description": "Draft motion", "hours": 1.0, "rate": 350.0, "amount": 350.0, "invoice_id": "i1"}
    return shared | {"billing_type": "billable", "activity_code": "A102", "task_code": "L110"} | values


def cost(kind, nth, given, **codes):
    values = given if isinstance(given, dict) else {"amount": given}
    shared = {f"{kind}_id": f"{kind[0]}{nth}", "date": "2026-10-02", "matter_id": "m1", "client_id": "c1"}
    return shared | {"user_id": "u1", "description": "Copies", "amount": 0.0, "invoice_id": "i1", **codes} | values


def matter_rows(changes):
    base = {"name": "Smith v. Jones", "client_id": "c1", "client_reference": "00711", "client_name": "Granite"}
    flags = {f"ledes_{each}_code_required": False for each in ("activity", "task", "expense")}
    base |= {"responsible_id": "u1", "responsible_name": "Ada Lovelace", "ledes_enabled": True, **flags}
    base |= {"cf_client_no": "423-987", "ledes_code_set_ids": LIT}
    own = {"m1": {"reference": "0528"}, "m2": {"reference": "0529"}}
    return pd.DataFrame([{"matter_id": id_, **base, **own[id_], **changes.get(id_, {})} for id_ in own])


def user_rows(changes):
    names = ["user_id", "first_name", "last_name", "role", "email", "initials", "cf_own_id"]
    rows = [dict(zip(names, each, strict=True)) for each in USERS]
    return pd.DataFrame([{**row, **changes.get(row["user_id"], {})} for row in rows])
