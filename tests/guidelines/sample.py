"""The made-up client's work as frames, with the findings that each item must have."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

FOLDER = Path(__file__).parent
TERN = FOLDER / "tern.toml"
AS_OF = "2026-03-31"
INVOICE = {"invoice_date": "datetime64[us]", "amount": "float64"}
ENTRIES = pd.read_csv(FOLDER / "entries.csv", dtype={"description": "str"})
USERS = {
    "u1": ("Mara", "Vance", "principal", "mara.vance@example.com"),
    "u2": ("Tobin", "Polk", "paralegal", "tobin.polk@example.com"),
    "u3": ("Nia", "Person", "attorney", "new.person@example.com"),
}


def expected() -> list[tuple[str, str, str, str]]:
    """Item, rule, severity and amount at risk of each finding on an item."""
    rows = ENTRIES.dropna(subset="expected")
    return sorted(
        (row.item_id, *each.split(":"))
        for row in rows.itertuples()
        for each in row.expected.split(";")
        if not row.expected.startswith("(")
    )


def frames(entries: pd.DataFrame = ENTRIES) -> dict[str, pd.DataFrame]:
    """The frames that the loaders would give."""
    ids = {email: id_ for id_, (*_, email) in USERS.items()}
    items = pd.DataFrame(
        {
            "item_id": entries["item_id"],
            "date": pd.to_datetime(entries["date"]).astype("datetime64[us]"),
            "matter_id": "m1",
            "client_id": "c1",
            "user_id": entries["user"].map(ids).astype("str"),
            "description": entries["description"],
            "amount": entries["amount"],
            "invoice_id": pd.Series([None] * len(entries), index=entries.index, dtype="str"),
            "invoice_number": pd.Series([None] * len(entries), index=entries.index, dtype="str"),
        }
    )
    is_time = entries["kind"] == "time"
    codes = dict.fromkeys(("activity_code", "task_code"), pd.Series(dtype="str"))
    time = items[is_time].assign(billing_type="billable", hours=entries["hours"], rate=entries["rate"], **codes)
    users = [(id_, *names, id_.upper()) for id_, names in USERS.items()]
    matter = {
        "matter_id": "m1",
        "name": "Lease dispute",
        "reference": "2026-014",
        "client_id": "c1",
        "client_name": "Tern Shipping plc",
        "client_reference": "TERN",
        "responsible_id": "u1",
        "responsible_name": "Mara Vance",
        "practice_area_label": "Litigation",
        "matter_type": "hourly",
        "archived": False,
        "opened": pd.Timestamp("2025-11-01"),
        "ledes_enabled": False,
        "ledes_activity_code_required": False,
        "ledes_task_code_required": False,
        "ledes_expense_code_required": False,
        "ledes_code_set_ids": None,
    }
    fees = items.iloc[:0].rename(columns={"item_id": "fixed_fee_id"})
    invoice = ["invoice_id", "invoice_number", "invoice_date", "invoice_state", "client_id", "matter_id", "amount"]
    return {
        "time_entries": time.rename(columns={"item_id": "time_entry_id"}),
        "expenses": items[~is_time].rename(columns={"item_id": "expense_id"}),
        "fixed_fees": fees,
        "invoices": pd.DataFrame({name: pd.Series(dtype=INVOICE.get(name, "str")) for name in invoice}),
        "matters": pd.DataFrame([matter]),
        "users": pd.DataFrame(
            [(a, b, c, d, e, f) for a, b, c, d, e, f in users],
            columns=["user_id", "first_name", "last_name", "role", "email", "initials"],
        ),
        "codes": pd.DataFrame(
            {name: pd.Series(dtype="str") for name in ("code_type", "code", "code_set_id", "selectable")}
        ),
    }
