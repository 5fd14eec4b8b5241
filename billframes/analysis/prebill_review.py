"""Pre-bill review: what a partner reads before bills go out, item by item, with what looks wrong.

The invoice's figures are those of `reconcile`, what its client owes is that of `aging`, and flags come from
`duplicates`, `code_check` and the rule of `timekeeping_lag` for late entries.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, cast

import narwhals.stable.v2 as nw
import pyarrow as pa
from narwhals.stable.v2.typing import IntoFrameT

from billframes._names import closest
from billframes.analysis.aging import aging
from billframes.analysis.allocation import PREBILL
from billframes.analysis.arguments import read_date, time_zone_of
from billframes.analysis.code_check import code_check
from billframes.analysis.column_types import IDS, ITEMS, Frame, as_arrow
from billframes.analysis.duplicates import duplicates
from billframes.analysis.engine import collect, from_arrow, join_by_id, sum_by, to_dicts
from billframes.analysis.frames import from_native, select_columns, to_native
from billframes.analysis.guards import already_checked
from billframes.analysis.metrics import Measure, shared
from billframes.analysis.reconcile import reconcile
from billframes.analysis.spec import Analysis, BookArgument, FromBook, TableSpec
from billframes.config.firm import FirmSettings
from billframes.errors import ParameterError
from billframes.periods import DateLike, local_day

__all__ = ["ANALYSIS", "prebill_review"]

C = nw.col

_TEXT, _MONEY, _DATE = pa.string(), pa.float64(), pa.timestamp("us")
_OF_INVOICE = ("items_amount", "unexplained_amount")
_SCHEMA = {
    **dict.fromkeys(("invoice_id", "invoice_number"), _TEXT),
    "invoice_date": _DATE,
    **dict.fromkeys(("invoice_state", "client_id", "client_name", "matter_id", "matter_name"), _TEXT),
    **dict.fromkeys(("responsible_id", "responsible_name", "item", "item_id"), _TEXT),
    "date": _DATE,
    **dict.fromkeys(("user_id", "user_name", "description", "billing_type"), _TEXT),
    **dict.fromkeys(("hours", "rate", "item_amount"), _MONEY),
    **dict.fromkeys(("activity_code", "task_code", "flags"), _TEXT),
    **dict.fromkeys(("invoice_amount", *_OF_INVOICE, "client_overdue"), _MONEY),
}
_SHOWN = ("date", "user_id", "user_name", "matter_id", "matter_name", "description")
_OF_TIME = ("billing_type", "hours", "rate", "amount", "activity_code", "task_code", "created_at")
# As in `timekeeping_lag`.
_LATE = 7
_BLANK = re.compile(r"[\W_]*")


def prebill_review(
    time_entries: IntoFrameT,
    invoices: IntoFrameT,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    *,
    invoice: str | Collection[str] | None = None,
    responsible: str | None = None,
    as_of: DateLike | None = None,
    hours_a_day: float = 12.0,
    matters: IntoFrameT | None = None,
    codes: IntoFrameT | None = None,
    code_sets: IntoFrameT | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT:
    """
    Draft, review and approved invoices, a row an item, with narratives and flags.

    An invoice without items has one row, without an item. Narratives are confidential: no report and no export has
    these rows unless it is asked for them.

    Parameters
    ----------
    time_entries : frame
        All of them, with `time_entry_id`, `date`, `user_id`, `matter_id`, `description`, `billing_type`, `hours`,
        `amount` and `invoice_id`; names, `rate`, `created_at` and codes are used if they are there.
    invoices : frame
        All of them, with `invoice_id`, `invoice_date`, `invoice_state`, `due_date`, `amount`, `balance`, `client_id`
        and `client_name`; `invoice_number` is used if it is there.
    expenses, fixed_fees : frame, optional
        With `expense_id` or `fixed_fee_id`, `date`, `matter_id`, `amount` and `invoice_id`. None is taken as none at
        all, with a warning.
    invoice : str or collection of str, optional
        Numbers or ids of the invoices; all that are not final by default.
    responsible : str, optional
        The responsible lawyer's name, surname or id: invoices with an item on one of their matters, whole. Needs
        `matters`.
    as_of : str or date, optional
        The day on which what the client owes is overdue; without, `client_overdue` is missing.
    hours_a_day : float
        More hours of one person on one day are flagged, whatever they were for.
    matters : frame, optional
        With `matter_id`, `responsible_id` and `responsible_name`, and for `codes` the LEDES configuration.
    codes, code_sets : frame, optional
        As in `code_check`; without `codes` no codes are checked.
    settings : FirmSettings, optional
        The time zone for the day on which an entry was made; nothing else of them is used.

    Returns
    -------
    frame
        Of the kind passed in, by invoice (client, number, id), then item by date: `invoice_id`, `invoice_number`,
        `invoice_date`, `invoice_state`, `client_id`, `client_name`, `matter_id`, `matter_name`, `responsible_id`,
        `responsible_name` (of the item's matter), `item` ("time_entry", "expense" or "fixed_fee"), `item_id`, `date`,
        `user_id`, `user_name`, `description`, `billing_type`, and as float64 `hours`, `rate`, `item_amount`; then
        `activity_code`, `task_code`, and

        - `flags`: text, separated by "; ", missing if there is nothing: "possible duplicate" (see `duplicates`),
          "entered 9 days later" (more than 7), "16 hours on that day" (more than `hours_a_day`), "task code missing"
          and the like (see `code_check`), "no narrative", "dated after the invoice", "no amount"
        - `invoice_amount`, `items_amount`, `unexplained_amount`: of the invoice, as in `reconcile`, the same in each of
          its rows; so is `client_overdue`, what the client owes and has been due, as in `aging`

    Raises
    ------
    ParameterError
        There is no such invoice or responsible lawyer, the invoice is final, a frame was loaded for too short a period,
        or frames are of different engines.
    MissingColumnError
        A column is missing.

    Warns
    -----
    RatesHiddenWarning, IncompleteDataWarning
        As in `reconcile`, `aging` and `code_check`.

    Notes
    -----
    Flags are worked out in Python over the items on prebills, so on lazy frames these are collected. The result is of
    the kind passed in, lazy if that was.

    Examples
    --------
    A draft of 300 for a call that is there twice:

    >>> import pandas as pd
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
    >>> result = prebill_review(entries, invoices, none, none)
    >>> result[["description", "item_amount", "flags"]]
      description  item_amount               flags
    0        Call        200.0  possible duplicate
    1       call.        200.0  possible duplicate
    >>> result[["invoice_amount", "unexplained_amount"]]
       invoice_amount  unexplained_amount
    0           300.0              -100.0
    1           300.0              -100.0
    """
    natives: dict[str, Any] = {
        "time_entries": time_entries,
        "invoices": invoices,
        "expenses": expenses,
        "fixed_fees": fixed_fees,
        "matters": matters,
    }
    frames = from_native(**natives)
    day = None if as_of is None else read_date(as_of, "as_of")
    settings = time_zone_of(settings)
    heads = _heads(frames["invoices"], invoice)
    items = [row for name in ITEMS if name in frames for row in _items(frames[name], name, heads)]
    people = _people(frames.get("matters"), responsible)
    kept = _of_responsible(heads, items, people, responsible)
    with already_checked(natives, frames):
        _add_figures(kept, natives, day, settings)
    items = [row for row in items if row["invoice_id"] in kept]
    entries = frames["time_entries"]
    wrong = {} if codes is None else _wrong_codes(items, natives, entries, codes=codes, code_sets=code_sets)
    _flag(items, natives, entries, kept, hours_a_day, settings, wrong)
    rows = [
        {name: row.get(name) for name in _SCHEMA} | people.get(row["matter_id"], {}) | kept[row["invoice_id"]]
        for row in [*items, *_empty(kept, items)]
    ]
    table = pa.Table.from_pylist(sorted(rows, key=_place), pa.schema(_SCHEMA))
    return cast("IntoFrameT", to_native(from_arrow(frames["time_entries"], table), time_entries))


_Rows = list[dict[str, Any]]


def _heads(invoices: Frame, asked: str | Collection[str] | None) -> dict[str, dict[str, Any]]:
    """Return the prebills, all or those asked for, by id."""
    columns = ("invoice_id", "invoice_date", "invoice_state", "client_id", "client_name", "amount")
    heads = select_columns(invoices, "invoices", columns, ("invoice_number", "matter_id"))
    if asked is None:
        rows = to_dicts(heads.filter(C("invoice_state").is_in(PREBILL)))
    else:
        names = [asked] if isinstance(asked, str) else [str(each) for each in asked]
        numbered = [name for name in ("invoice_id", "invoice_number") if name in heads.collect_schema()]
        rows = to_dicts(
            heads.filter(nw.any_horizontal(*[C(name).is_in(names) for name in numbered], ignore_nulls=True))
        )
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
        raise ParameterError(f"There is no invoice {name!r} among those passed; it takes a number or an id.")
    if len(found) > 1:
        raise ParameterError(f"{len(found)} invoices have the number {name!r}; give the id of one.")
    state = found[0]["invoice_state"]
    if state not in PREBILL:
        raise ParameterError(f"Invoice {name!r} is {state}; only draft, review and approved ones can be reviewed.")


def _items(frame: Frame, name: str, heads: Mapping[str, Any]) -> _Rows:
    """List the items on the prebills."""
    id_ = IDS[name]
    needed = ("invoice_id", "matter_id", *(("hours", "billing_type") if name == "time_entries" else ()), "amount")
    rows = select_columns(frame, name, needed, (id_, *_SHOWN, *_OF_TIME))
    return [
        row | {"item": id_.removesuffix("_id"), "item_id": row.get(id_), "item_amount": row["amount"]}
        for row in to_dicts(join_by_id(rows, _ids(rows, heads), "invoice_id", "inner"))
    ]


def _ids(frame: Frame, values: Iterable[str], column: str = "invoice_id") -> Frame:
    """Make a frame of ids, of the same engine as `frame`."""
    return from_arrow(frame, pa.table({column: pa.array(list(values), pa.string())}))


def _empty(kept: Mapping[str, Any], items: _Rows) -> _Rows:
    """Return a row for each prebill without items."""
    itemized = {row["invoice_id"] for row in items}
    return [{"invoice_id": id_, "item_id": None, "matter_id": None} for id_ in kept if id_ not in itemized]


def _people(matters: Frame | None, responsible: str | None) -> dict[str, dict[str, Any]]:
    """Return who is responsible for each matter."""
    if matters is None:
        if responsible is not None:
            raise ParameterError(f"responsible={responsible!r} needs matters= (the loader matters()).")
        return {}
    columns = ("matter_id", "responsible_id", "responsible_name")
    rows = to_dicts(select_columns(matters, "matters", columns))
    return {row.pop("matter_id"): row for row in rows}


def _of_responsible(
    heads: Mapping[str, dict[str, Any]], items: _Rows, people: Mapping[str, dict[str, Any]], responsible: str | None
) -> dict[str, dict[str, Any]]:
    """Keep the invoices with an item on a matter of one person, all of them if no one is named."""
    if responsible is None:
        return dict(heads)
    wanted = responsible.casefold()
    names = {row["responsible_id"]: row["responsible_name"] for row in people.values() if row["responsible_id"]}
    found = {id_ for id_, name in names.items() if wanted in (id_.casefold(), (name or "").casefold())}
    # A surname is enough if only one person has it.
    found = found or {id_ for id_, name in names.items() if f" {wanted} " in f" {(name or '').casefold()} "}
    if len(found) != 1:
        known = sorted(filter(None, names.values()))
        many = f"{len(found)} people are called {responsible!r}; give the id of one."
        none = f"No matter has the responsible lawyer {responsible!r}.{closest(responsible, known)}"
        raise ParameterError(many if found else none)
    theirs = {matter for matter, row in people.items() if row["responsible_id"] in found}
    on_theirs = {row["invoice_id"] for row in items if row["matter_id"] in theirs}
    return {id_: head for id_, head in heads.items() if id_ in on_theirs or head["_matter"] in theirs}


def _add_figures(
    kept: dict[str, dict[str, Any]], natives: Mapping[str, Any], day: dt.date | None, settings: FirmSettings
) -> None:
    """Add the figures of `reconcile` and of `aging` to the invoices."""
    names = ("time_entries", "invoices", "expenses", "fixed_fees")
    compared = nw.from_native(reconcile(*[natives[name] for name in names]))
    figures = as_arrow(cast("Frame", compared)).select("invoice_id", *_OF_INVOICE)
    for row in to_dicts(join_by_id(figures, _ids(figures, kept), "invoice_id", "inner")):
        kept[row.pop("invoice_id")] |= row
    overdue = {}
    if day is not None:
        aged = aging(natives["invoices"], as_of=day, by="client", settings=settings)
        overdue = {row["client_id"]: row["overdue"] for row in to_dicts(cast("Frame", nw.from_native(aged)))}
    for head in kept.values():
        nothing = None if day is None or head["client_id"] is None else 0.0
        head["client_overdue"] = overdue.get(head["client_id"], nothing)


def _flag(
    items: _Rows,
    natives: Mapping[str, Any],
    entries: Frame,
    heads: Mapping[str, Any],
    most: float,
    settings: FirmSettings,
    wrong_codes: Mapping[str, list[str]],
) -> None:
    """Say of each item what looks wrong."""
    time = [row for row in items if row["item"] == "time_entry"]
    twice = _twice(time, entries, natives["time_entries"])
    days = _hours_by_day(time, entries)
    for row in items:
        checks = {
            "no narrative": not _BLANK.sub("", row.get("description") or ""),
            "dated after the invoice": _is_after(row.get("date"), heads[row["invoice_id"]]["invoice_date"]),
        }
        if row["item"] == "time_entry":
            hours = days.get((row.get("user_id"), row.get("date")), 0.0)
            checks |= {
                "possible duplicate": row["item_id"] in twice,
                f"{hours:g} hours on that day": hours > most,
                "no amount": row["billing_type"] == "billable" and row["amount"] is None and row["hours"] != 0,
            }
        flags = [flag for flag, is_so in checks.items() if is_so]
        if row["item"] == "time_entry":
            flags += [*_late(row, settings), *wrong_codes.get(row["item_id"], ())]
        row["flags"] = "; ".join(flags) or None


def _is_after(day: dt.datetime | None, other: dt.datetime | None) -> bool:
    return day is not None and other is not None and day > other


def _late(row: Mapping[str, Any], settings: FirmSettings) -> Iterator[str]:
    made, dated = row.get("created_at"), row.get("date")
    if made is not None and dated is not None:
        days = (local_day(made, settings.time_zone) - dated.date()).days
        if days > _LATE:
            yield f"entered {days} days later"


def _near(time: _Rows, entries: Frame, key: str, columns: Iterable[str]) -> Frame:
    """Select the time entries that share a matter or a person with those on prebills."""
    values = sorted({row[key] for row in time if row.get(key) is not None})
    return join_by_id(select_columns(entries, "time_entries", columns), _ids(entries, values, key), key, "inner")


def _twice(time: _Rows, entries: Frame, native: Any) -> set[str]:
    """Return the ids of entries that have another like them, on whatever invoice."""
    if not time:
        return set()
    columns = ("time_entry_id", "user_id", "matter_id", "date", "hours", "description")
    near = to_native(_near(time, entries, "matter_id", columns), native)
    found = cast("Frame", nw.from_native(duplicates(near))).select("time_entry_id")
    return {row["time_entry_id"] for row in to_dicts(found)}


def _hours_by_day(time: _Rows, entries: Frame) -> dict[tuple[Any, Any], float]:
    """Add up the hours of each person and day, on all matters."""
    if not time:
        return {}
    near = _near(time, entries, "user_id", ("user_id", "date", "hours"))
    rows = to_dicts(collect(sum_by(near, ["user_id", "date"], ["hours"])))
    return {(row["user_id"], row["date"]): round(row["hours"], 6) for row in rows if row["hours"] is not None}


def _wrong_codes(items: _Rows, natives: Mapping[str, Any], entries: Frame, **lists: Any) -> dict[str, list[str]]:
    """Return what `code_check` finds, by the id of the time entry."""
    names = {"time_entry_id": _TEXT, "date": _DATE, "matter_id": _TEXT, "activity_code": _TEXT, "task_code": _TEXT}
    time = [row for row in items if row["item"] == "time_entry"]
    table = from_arrow(entries, pa.Table.from_pylist([{name: row.get(name) for name in names} for row in time],
                                                     pa.schema(names)))  # fmt: skip
    found: dict[str, list[str]] = defaultdict(list)
    checked = code_check(to_native(table, natives["time_entries"]), natives["matters"], **lists)
    for row in to_dicts(cast("Frame", nw.from_native(checked))):
        problem = {"unknown": "is unknown", "not selectable": "can't be selected"}.get(row["problem"], row["problem"])
        found[row["item_id"]].append(f"{row['field'].replace('_', ' ')} {problem}")
    return found


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    texts = [row[name] or "" for name in ("client_name", "invoice_number", "invoice_id")]
    return *texts, row["item"] is None, row["date"] is None, row["date"], row["item"] or "", row["item_id"] or ""


ANALYSIS = Analysis(
    name="prebill_review",
    question="What should be changed on an invoice before it goes out?",
    summary=(
        "It lists the items of draft, review and approved invoices with their narratives. It flags what looks wrong: "
        "duplicates, late entries, long days, codes that a client's system would refuse."
    ),
    example=(
        'A draft of 300 has a call of 0.5 hours worth 200 twice. Both are flagged "possible duplicate"; the invoice is '
        "100 below its items."
    ),
    formula="a row an item on an invoice that is not final; `unexplained_amount` = amount − items, as in reconcile",
    left_out=(
        "Final invoices, and work on no invoice.",
        "Codes of expenses and fixed fees: the lists of the billing system do not have them.",
    ),
    cannot_tell=(
        "Whether a flag is a mistake: two calls of the same length on one day do happen.",
        "Which items a discount on the invoice is for.",
    ),
    columns=(
        *shared("item", "item_id"),
        Measure("description", "Narrative", "text", "What was done, in full."),
        *shared("hours"),
        Measure("rate", "Rate", "rate", "Rate of the entry."),
        Measure("item_amount", "Item’s amount", "money", "Worth of the item.", adds_up=True, missing_is_none=True),
        Measure("flags", "Flags", "text", "What looks wrong; missing if nothing does."),
        Measure("invoice_amount", "Invoice", "money", "Amount of the invoice, the same in each of its rows."),
        *shared("items_amount", "unexplained_amount"),
        Measure("client_overdue", "Client’s overdue", "money", "What the client owes and has been due."),
    ),
    table=TableSpec(
        title="Pre-bill review",
        columns=("description", "hours", "rate", "item_amount", "flags"),
        keys=("invoice_number", "date", "user_name", "matter_name"),
        cents=True,
    ),
    book=FromBook(
        first="responsible",
        defaults={
            "as_of": BookArgument(
                lambda book, _last: book.loaded_on("invoices"),
                "If it is not given, a book passes the day the invoices were loaded.",
            )
        },
        note="Of all invoices that are not final, whatever their date.",
    ),
)
