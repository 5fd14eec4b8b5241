"""Prebill review: the items of invoices that are not final yet, with findings for items that should be checked.

The amounts of invoices are calculated by `reconcile`, and the client's overdue balance by `aging`. Flags come from
`duplicates`, `code_check` and the limit for late entries of `timekeeping_lag`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping
from typing import Any

import narwhals.stable.v2 as nw
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from billframes._shared.find_named import find_named
from billframes.analysis.data.arguments import read_date
from billframes.analysis.data.call import Call
from billframes.analysis.data.engine import eager_from_arrow, ids_frame, join_by_id, to_dicts
from billframes.analysis.data.expressions import C
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import ITEMS, Frame, column_names
from billframes.analysis.declare.metrics import Measure, shared_measures
from billframes.analysis.declare.spec import Analysis, BookArgument, FromBook, TableSpec
from billframes.analysis.facts.responsible import responsible_of_matters
from billframes.analysis.rules.codes import UNCHECKED_CODES
from billframes.analysis.sheets._prebill_flags import ITEM_SCHEMA, GuidelineFindings, flags, items_on, look_up
from billframes.errors import ParameterError
from billframes.periods import DateLike

PREBILL = ("draft", "review", "approved")
_TEXT = pa.string()
_INVOICE_SUMS = ("items_amount", "unexplained_amount")
_RESPONSIBLE = ("responsible_id", "responsible_name")


@sheet("time_entries", "expenses?", "fixed_fees?", "invoices", "matters?", "codes?", "code_sets?")
def prebill_review(
    call: Call,
    *,
    invoice: str | Collection[str] | None = None,
    responsible: str | None = None,
    as_of: DateLike | None = None,
    hours_per_day: float = 12.0,
    guidelines: pd.DataFrame | None = None,
) -> Frame:
    """
    Items of draft, review and approved invoices, one row each, with narratives and findings.

    An invoice without items has one row, without the columns of the item. Narratives are confidential.

    `findings` are texts separated by "; ": "possible duplicate" (see `duplicates`), "entered 9 days later" (more than
    7), "16 hours on that day" (more than `hours_per_day`), "task code missing" and similar (see `code_check`), "no
    narrative", "dated after the invoice", "no amount"; and those of guidelines, such as "clerical work (5.1), at risk
    75.00", in place of the same finding of others. `at_risk` is there only with `guidelines`. The amounts of the
    invoice (as in `reconcile`) and `client_overdue` (as in `aging`) are the same in all its rows.

    Parameters
    ----------
    time_entries : frame
        All of them, with `time_entry_id`, `date`, `user_id`, `matter_id`, `description`, `billing_type`, `hours`,
        `amount` and `invoice_id`; optionally with names, `rate`, `created_at` and codes.
    invoices : frame
        All of them, with `invoice_id`, `invoice_date`, `invoice_state`, `due_date`, `amount`, `balance`, `client_id`
        and `client_name`; optionally with `invoice_number`.
    matters : frame, optional
        With `matter_id`, `responsible_id` and `responsible_name`, and for `codes` the LEDES configuration.
    codes, code_sets : frame, optional
        As in `code_check`. If `codes` is omitted, codes are not checked.
    invoice : str or collection of str, optional
        Numbers or ids of the invoices; all invoices that are not final by default.
    responsible : str, optional
        A lawyer's name, surname or id: only invoices with an item on this lawyer's matters. Requires `matters`.
    as_of : str or date, optional
        The day for which the client's overdue balance is calculated. If omitted, `client_overdue` is missing.
    hours_per_day : float
        Time is flagged if a person has more hours than this on one day, on all matters together.
    guidelines : DataFrame, optional
        The result of `Guidelines.check` for the same invoices. Its findings join the others.

    Examples
    --------
    >>> entries = pd.DataFrame({
    ...     "time_entry_id": ["t1", "t2"], "date": pd.to_datetime(["2026-10-01"] * 2), "user_id": ["u1"] * 2,
    ...     "matter_id": ["m1", "m1"], "description": ["Call", "call."], "billing_type": ["billable", "billable"],
    ...     "hours": [0.5, 0.5], "amount": [200.0, 200.0], "invoice_id": ["i1", "i1"],
    ... })
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1"], "invoice_number": ["1001"], "invoice_date": pd.to_datetime(["2026-10-31"]),
    ...     "invoice_state": ["draft"], "due_date": pd.to_datetime([None]), "client_id": ["c1"],
    ...     "client_name": ["Acme"], "amount": [300.0], "balance": [300.0],
    ... })
    >>> none = pd.DataFrame({"invoice_id": [], "matter_id": [], "amount": []})
    >>> result = prebill_review(entries, expenses=none, fixed_fees=none, invoices=invoices)
    >>> result[["description", "item_amount", "findings", "unexplained_amount"]]
      description  item_amount            findings  unexplained_amount
    0        Call        200.0  possible duplicate              -100.0
    1       call.        200.0  possible duplicate              -100.0
    """
    day = None if as_of is None else read_date(as_of, "as_of")
    call.leave_out_people()
    prebills = _prebills(call, invoice)
    zone = call.settings.time_zone
    items = pa.concat_tables([items_on(prebills, call, name, zone) for name in ITEMS if name in call])
    if responsible is not None and "matters" not in call:
        raise ParameterError(f"responsible={responsible!r} needs matters= (the loader matters()).")
    people = responsible_of_matters(call) if "matters" in call else {}
    prebills = _prebills_of(prebills, items, people, responsible)
    _add_figures(prebills, call, day)
    items = items.filter(pc.is_in(items["invoice_id"], value_set=pa.array(list(prebills), _TEXT))).combine_chunks()
    call.notes.add(UNCHECKED_CODES, len(items) if "codes" in call and "matters" not in call else 0)
    rows, of_clients = _rows(items, prebills, people), GuidelineFindings(guidelines)
    rows = rows.append_column("findings", flags(rows, call, hours_per_day, of_clients))
    rows = rows.append_column("at_risk", look_up(rows["item_id"], of_clients.at_risk, pa.float64()))
    schema = pa.schema([each for each in ANALYSIS.schema if each.name != "at_risk" or guidelines is not None])
    table = rows.select(schema.names).cast(schema)
    texts = {name: pc.fill_null(table[name], "") for name in ("client_name", "invoice_number", "invoice_id")}
    order = pa.table({**texts, **{name: table[name] for name in ("date", "item", "item_id")}})
    table = table.take(pc.sort_indices(order, sort_keys=[(name, "ascending") for name in order.column_names]))
    return eager_from_arrow(call["time_entries"], table)


_Rows = list[dict[str, Any]]


def _prebills(call: Call, requested: str | Collection[str] | None) -> dict[str, dict[str, Any]]:
    columns = ("invoice_id", "invoice_date", "invoice_state", "client_id", "client_name", "amount")
    selected = call.select("invoices", columns, ("invoice_number", "matter_id"))
    if requested is None:
        rows = to_dicts(selected.filter(C("invoice_state").is_in(PREBILL)))
    else:
        names = [requested] if isinstance(requested, str) else [str(each) for each in requested]
        there = column_names(selected)
        keys = [C(name).is_in(names) for name in ("invoice_id", "invoice_number") if name in there]
        rows = to_dicts(selected.filter(nw.any_horizontal(*keys, ignore_nulls=True)))
        for name in names:
            _check_found(name, [row for row in rows if name in (row["invoice_id"], row.get("invoice_number"))])
    return {
        row["invoice_id"]: {
            **{name: row.get(name) for name in ("invoice_number", "invoice_date", "invoice_state", "client_id")},
            "client_name": row["client_name"] or row["client_id"],
            "invoice_amount": row["amount"],
            "_matter": row.get("matter_id"),
        }
        for row in rows
    }


def _check_found(name: str, found: _Rows) -> None:
    if not found:
        raise ParameterError(f"There is no invoice {name!r} among those passed; pass a number or an id.")
    if len(found) > 1:
        raise ParameterError(f"{len(found)} invoices have the number {name!r}; pass the id of one.")
    state = found[0]["invoice_state"]
    if state not in PREBILL:
        raise ParameterError(f"Invoice {name!r} is {state}; only draft, review and approved ones can be reviewed.")


def _rows(items: pa.Table, prebills: Mapping[str, Mapping[str, Any]], people: Mapping[str, Any]) -> pa.Table:
    """Add a row for each invoice without items, and the columns of invoices and of the lawyers of matters."""
    with_items = set(items["invoice_id"].unique().to_pylist())
    empty = pa.table({"invoice_id": pa.array([id_ for id_ in prebills if id_ not in with_items], _TEXT)})
    rows = pa.concat_tables([items, empty], promote_options="default").combine_chunks()
    for field in ANALYSIS.schema:
        if field.name not in (*ITEM_SCHEMA, "findings", "at_risk"):
            id_, known = ("matter_id", people) if field.name in _RESPONSIBLE else ("invoice_id", prebills)
            values = {each: row.get(field.name) for each, row in known.items()}
            rows = rows.append_column(field.name, look_up(rows[id_], values, field.type))
    return rows


def _prebills_of(
    prebills: dict[str, dict[str, Any]], items: pa.Table, people: Mapping[str, dict[str, Any]], responsible: str | None
) -> dict[str, dict[str, Any]]:
    """Keep the draft bills with an item on a matter of the responsible lawyer; all of them if None."""
    if responsible is None:
        return prebills
    names = {row["responsible_id"]: row["responsible_name"] or "" for row in people.values() if row["responsible_id"]}
    lawyer, _ = find_named(responsible, [(id_, name, "") for id_, name in names.items()], "responsible lawyer")
    matters = {matter for matter, row in people.items() if row["responsible_id"] == lawyer}
    their_items = items.filter(pc.is_in(items["matter_id"], value_set=pa.array(list(matters), _TEXT)))
    invoices = set(their_items["invoice_id"].to_pylist())
    return {id_: row for id_, row in prebills.items() if id_ in invoices or row["_matter"] in matters}


def _add_figures(prebills: dict[str, dict[str, Any]], call: Call, day: dt.date | None) -> None:
    figures = call.ask("reconcile").select("invoice_id", *_INVOICE_SUMS)
    for row in to_dicts(join_by_id(figures, ids_frame(figures, "invoice_id", prebills), "invoice_id", "inner")):
        prebills[row.pop("invoice_id")] |= row
    overdue = {}
    if day is not None:
        aged = call.ask("aging", "invoices", as_of=day, by="client")
        overdue = {row["client_id"]: row["overdue"] for row in to_dicts(aged)}
    for row in prebills.values():
        default = None if day is None or row["client_id"] is None else 0.0
        row["client_overdue"] = overdue.get(row["client_id"], default)


ANALYSIS = Analysis(
    function=prebill_review,
    question="What should be changed on an invoice before it is sent?",
    summary=(
        "It lists the items of draft, review and approved invoices with their narratives. It flags items that should "
        "be checked: duplicates, late entries, long days, and codes that a client's system would refuse."
    ),
    example=(
        'A draft of 300 has a call of 0.5 hours worth 200 twice. Both are flagged "possible duplicate", and the amount '
        "of the invoice is 100 less than its items."
    ),
    formula="one row per item on an invoice that is not final; "
    "`unexplained_amount` = amount − tax − items, as in reconcile",
    left_out=(
        "Final invoices, and work on no invoice.",
        "Codes of expenses and fixed fees: lists of the billing system do not have them.",
    ),
    cannot_tell=(
        "Whether a flagged item is a mistake: two calls of the same length on one day are possible.",
        "Which items a discount on the invoice is for.",
    ),
    own=("as_of", "matters"),
    rows="by invoice (client, number, id), then item by date:",
    keys=(
        *("invoice_id", "invoice_number", "invoice_date", "invoice_state", "client_id", "client_name", "matter_id"),
        *("matter_name", "responsible_id", "responsible_name", "item", "item_id", "date", "user_id", "user_name"),
        *("description", "billing_type", "hours", "rate", "item_amount", "activity_code", "task_code"),
    ),
    arguments={"settings": "Used are the time zone, for the day on which an entry was made, and `taxes`."},
    columns=(
        *shared_measures("item", "item_id"),
        Measure("description", "Narrative", "text", "Description of the work, in full."),
        *shared_measures("hours"),
        Measure("rate", "Rate", "rate", "Rate of the entry."),
        Measure("item_amount", "Item’s amount", "money", "Value of the item.", adds_up=True, missing_is_none=True),
        Measure("findings", "Findings", "text", "What should be checked; missing if nothing was found."),
        Measure(
            "at_risk",
            "At risk",
            "money",
            "The part of the amount that the client may refuse or cut by its guidelines.",
            adds_up=True,
            missing_is_none=True,
        ),
        Measure("invoice_amount", "Invoice amount", "money", "Amount of the invoice, the same in each of its rows."),
        *shared_measures("items_amount", "unexplained_amount"),
        Measure("client_overdue", "Client’s overdue", "money", "The overdue balances of the client."),
    ),
    table=TableSpec(
        title="Prebill review",
        columns=("description", "hours", "rate", "item_amount", "at_risk", "findings"),
        optional=("at_risk",),
        keys=("invoice_number", "date", "user_name", "matter_name"),
        cents=True,
    ),
    book=FromBook(
        first="responsible",
        defaults={
            "as_of": BookArgument(
                lambda book, _period: book.loaded_on("invoices"),
                "By default, a book passes the day the invoices were loaded.",
            )
        },
        note="It lists all invoices that are not final, of any date.",
    ),
)
