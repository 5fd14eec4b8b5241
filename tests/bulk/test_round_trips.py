"""What `export(..., names=True)` writes is what `plan` reads: no false change, and the edits that were made."""

from __future__ import annotations

import pandas as pd
import pytest

import billframes as bf

# Texts that spreadsheets run, convert or cut, or that pandas reads as missing.
TEXTS = (
    "=1+1",
    "@here",
    "'quoted",
    "00042",
    "1E5",
    "TRUE",
    "2026-10-31",
    " space ",
    "a\r\nb; c",
    "Call;=1+1",
    "=a\n=b",
    "x" * 33_000,
    "N/A",
    "null",
)
LISTS = {
    "time_entries": {"start": "2026-10", "billed": False},
    "expenses": {"start": "2026-10", "billed": False},
    "fixed_fees": {"start": "2026-10", "billed": False},
    "matters": {},
    "clients": {},
}
EDITS = {"matters": "reference", "clients": "reference"}
WAYS = {
    "csv": ({}, pd.read_csv, {}),
    "csv, decimal comma": ({"decimal": ",", "delimiter": ";"}, pd.read_csv, {"decimal": ",", "sep": ";"}),
    "xlsx": ({}, pd.read_excel, {}),
}


@pytest.fixture(scope="module")
def odd(firm):
    """The firm, with records whose texts are odd."""
    client = firm.client
    matter = client.matters(archived=False).iloc[0]["matter_id"]
    user = client.users().iloc[0]["user_id"]
    for place, text in enumerate(TEXTS):
        on = {"matter_id": matter, "date": "2026-10-30", "description": text}
        client.time_entries.create(**on, user_id=user, hours=0.1 * (place + 1), rate=333.3333)
        client.expenses.create(**on, amount=0.1 * (place + 1))
        client.fixed_fees.create(**on, amount=1234567.89)
        contact = {"company_name": f"Odd {place}"}
        made = client.clients.create(name=f"Odd {place}", reference=text[:20], contact=contact)
        client.matters.create(
            name=text[:20].strip(), reference=text[:20], client_id=made.client_id, responsible_id=user
        )
    return client


def round_trip(client, name, way, path):
    writes, read, how = WAYS[way]
    frame = getattr(client, name)(**LISTS[name])
    out = path / f"{name}.{'xlsx' if way == 'xlsx' else 'csv'}"
    bf.export(frame, out, names=True, **writes)
    return frame, read(out, **how)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::billframes.errors.BillframesWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", LISTS)
def test_a_file_that_nobody_edited_has_no_change(odd, name, way, tmp_path):
    frame, back = round_trip(odd, name, way, tmp_path)
    assert sorted(back) == sorted(frame)
    counts = getattr(odd, name).plan(back).counts
    assert counts.pop("no change") == len(frame)
    assert not any(counts.values())
    # One edit is one change.
    column, id_ = EDITS.get(name, "description"), frame.columns[0]
    back[column] = back[column].astype("object")
    back.loc[0, column] = "Edited by hand"
    plan = getattr(odd, name).plan(back)
    assert plan.counts["update"] == 1
    changed = plan.frame[plan.frame["column"].notna()]
    assert changed[["id", "column", "after"]].to_numpy().tolist() == [[back.loc[0, id_], column, "Edited by hand"]]


def test_a_file_with_titles_is_refused_with_how_to_write_it(firm, tmp_path):
    bf.export(firm.client.expenses("2026-10"), tmp_path / "titles.csv")
    with pytest.raises(bf.errors.ParameterError, match=r"title 'Expense id' .*bf\.export\(frame, path, names=True\)"):
        firm.client.expenses.plan(pd.read_csv(tmp_path / "titles.csv"))
