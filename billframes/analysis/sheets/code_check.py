"""Code check: LEDES codes that an e-billing system would refuse.

Codes are checked against the configuration of the matter and the firm's lists of codes. Only matters with LEDES
billing are checked, because other matters do not use the codes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw

from billframes._shared.notes import Notes
from billframes.analysis.data.call import Call
from billframes.analysis.data.engine import stack, to_dicts
from billframes.analysis.data.expressions import C, in_period, map_values, null_column
from billframes.analysis.data.native import require, select_columns
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.declare.metrics import Measure, shared_measures
from billframes.analysis.declare.spec import Analysis, FromBook
from billframes.analysis.rules.codes import UNCHECKED_ITEMS, UNKNOWN_SETS
from billframes.analysis.rules.loads import ITEM_FILTERS, need_period
from billframes.errors import MissingColumnError
from billframes.periods import DateLike, Period
from billframes.schema.records import LEDES_CODES

# For each kind of item: its id, and its fields with the type of code and the setting of the matter that requires it.
_WORK = {name: LEDES_CODES[name] for name in ("activity_code", "task_code")}
_ITEMS: dict[str, tuple[str, dict[str, tuple[str, str]]]] = {
    "time_entries": ("time_entry_id", _WORK),
    "fixed_fees": ("fixed_fee_id", _WORK),
    "expenses": ("expense_id", {"expense_code": LEDES_CODES["expense_code"]}),
}
_FLAGS = tuple(flag for _, flag in LEDES_CODES.values())
_SHOWN = ("user_id", "user_name", "matter_id", "matter_name", "invoice_id")
_SEP = "\n"


@dataclass(frozen=True, slots=True)
class _Rules:
    """
    The LEDES configuration of each matter, and the codes.

    `codes` has, by type and code, the ids of the code sets that contain the code, and whether it is selectable there.
    """

    matters: Mapping[str, Mapping[str, Any]]
    codes: Mapping[tuple[str, str], Mapping[str, bool]]

    def problem(self, matter_id: str | None, kind: str, required: str, code: str | None) -> str | None:
        """Return the first problem of a code; None if it has no problem."""
        matter = self.matters.get(matter_id or "")
        if matter is None or matter["ledes_enabled"] is not True:
            return None
        if not code:
            return "missing" if matter[required] is True else None
        sets = self.codes.get((kind, code))
        if sets is None:
            return "unknown"
        allowed = matter["ledes_code_set_ids"]
        selectable = [value for set_id, value in sets.items() if allowed is None or set_id in allowed]
        if not selectable:
            return "outside the code sets"
        return None if any(selectable) else "not selectable"


@sheet("time_entries", "expenses?", "fixed_fees?", "matters", "codes", "code_sets?", settings=False)
def code_check(call: Call, *, start: DateLike | None = None, end: DateLike | None = None) -> Frame:
    """
    Find LEDES codes that are required and missing, unknown, outside the matter's code sets or not selectable.

    Checks items of every billing type on matters with LEDES billing. An item has at most one finding per field: a
    required code is `missing`; it is `unknown` to all code sets, or `outside the code sets` of the matter, of which an
    empty list accepts none; or it is a heading, and `not selectable`.

    Parameters
    ----------
    time_entries : frame
        With `time_entry_id`, `date`, `matter_id`, `activity_code` and `task_code`.
    expenses : frame, optional
        With `expense_id`, `date`, `matter_id` and `expense_code`.
    fixed_fees : frame, optional
        With `fixed_fee_id`, `date`, `matter_id`, `activity_code` and `task_code`. The API's lists of expenses and fixed
        fees have no codes; single records have them (`expenses.get(id)`).
    matters : frame
        With `matter_id`, `ledes_enabled`, `ledes_activity_code_required`, `ledes_task_code_required`,
        `ledes_expense_code_required` and `ledes_code_set_ids` (the loader's `select` "ledesConfiguration").
    codes : frame
        With `code_type`, `code`, `code_set_id` and `selectable`; a missing value counts as selectable.
    code_sets : frame, optional
        With `code_set_id`, to check that the code sets of the matters exist.

    Examples
    --------
    >>> entries = pd.DataFrame({
    ...     "time_entry_id": ["t1", "t2"], "date": pd.to_datetime(["2026-10-01"] * 2), "matter_id": ["m1"] * 2,
    ...     "activity_code": ["A101", None], "task_code": ["L100", "L110"],
    ... })
    >>> matters = pd.DataFrame({
    ...     "matter_id": ["m1"], "ledes_enabled": [True], "ledes_activity_code_required": [True],
    ...     "ledes_task_code_required": [True], "ledes_expense_code_required": [False],
    ...     "ledes_code_set_ids": [["ACT", "LIT"]],
    ... })
    >>> codes = pd.DataFrame({
    ...     "code_type": ["activity", "task", "task"], "code": ["A101", "L100", "L110"],
    ...     "code_set_id": ["ACT", "LIT", "LIT"], "selectable": [True, False, True],
    ... })
    >>> code_check(entries, matters=matters, codes=codes)[["item_id", "field", "code", "problem"]]
      item_id          field  code         problem
    0      t1      task_code  L100  not selectable
    1      t2  activity_code   NaN         missing
    """
    period = call.period(start, end)
    need_period(call, _ITEMS, period, ITEM_FILTERS)
    items = {name: call.whole(name) for name in _ITEMS if name in call}
    for name, frame in items.items():
        _check_columns(frame, name)
    rules = _rules(call)
    _note_unknown_sets(rules, call)
    parts = [part for name, frame in items.items() for part in _findings(call, name, frame, rules, period)]
    return stack(parts).sort("date", "item", "item_id", "field")


def _check_columns(frame: Frame, name: str) -> None:
    id_, fields = _ITEMS[name]
    there = column_names(frame)
    missing = [field for field in fields if field not in there]
    if missing and name != "time_entries":
        raise MissingColumnError(
            f"{name} has no column {', '.join(map(repr, missing))}, because the API's list has no codes. Single "
            f"records have them ({name}.get(id)): add them as columns, or omit {name}=."
        )
    require(frame, name, (id_, "date", "matter_id", *fields))


def _rules(call: Call) -> _Rules:
    configured = ("matter_id", "ledes_enabled", *_FLAGS, "ledes_code_set_ids")
    rows = to_dicts(call.select("matters", configured))
    sets: dict[tuple[str, str], dict[str, bool]] = {}
    for row in to_dicts(call.select("codes", ("code_type", "code", "code_set_id", "selectable"))):
        sets.setdefault((row["code_type"], row["code"]), {})[row["code_set_id"]] = row["selectable"] is not False
    return _Rules({row["matter_id"]: row for row in rows}, sets)


def _findings(call: Call, name: str, frame: Frame, rules: _Rules, period: Period) -> Iterable[Frame]:
    id_, fields = _ITEMS[name]
    selected = select_columns(frame, name, (id_, "date", "matter_id", *fields), _SHOWN)[0]
    items = in_period(selected, "date", period)
    there = column_names(items)
    absent = {each: null_column(nw.String) for each in _SHOWN if each not in there}
    items = items.with_columns(**absent) if absent else items
    for nth, (field, (kind, required)) in enumerate(fields.items()):
        combinations = to_dicts(items.with_columns(_one=nw.lit(1.0)).group_by("matter_id", field).agg(C("_one").sum()))
        if nth == 0:
            _note_unknown_matters(combinations, rules, name, call.notes)
        problems = {
            _key(row["matter_id"], row[field]): problem
            for row in combinations
            if (problem := rules.problem(row["matter_id"], kind, required, row[field]))
        }
        key = nw.concat_str(C("matter_id").fill_null(""), nw.lit(_SEP), C(field).fill_null(""))
        found = items.with_columns(_key=key).with_columns(problem=map_values("_key", problems, None, nw.String))
        yield found.filter(~C("problem").is_null()).select(
            nw.lit(id_.removesuffix("_id")).alias("item"),
            C(id_).alias("item_id"),
            "date",
            *_SHOWN,
            nw.lit(field).alias("field"),
            C(field).alias("code"),
            "problem",
        )


def _key(matter_id: str | None, code: str | None) -> str:
    return f"{matter_id or ''}{_SEP}{code or ''}"


def _note_unknown_matters(combinations: Iterable[dict[str, Any]], rules: _Rules, name: str, notes: Notes) -> None:
    def unknown(matter_id: str | None) -> bool:
        matter = rules.matters.get(matter_id or "")
        return matter is None or matter["ledes_enabled"] is None

    count = sum(row["_one"] for row in combinations if unknown(row["matter_id"]))
    notes.add(UNCHECKED_ITEMS, count, about=name, kind=name.replace("_", " "))


def _note_unknown_sets(rules: _Rules, call: Call) -> None:
    if "code_sets" not in call:
        return
    there = {row["code_set_id"] for row in to_dicts(call.select("code_sets", ("code_set_id",)))}
    unknown = {
        each: matter_id
        for matter_id, matter in rules.matters.items()
        if matter["ledes_enabled"] is True
        for each in matter["ledes_code_set_ids"] or ()
        if each not in there
    }
    words = {"sets": ", ".join(sorted(unknown)), "example": min(unknown.values(), default="")}
    call.notes.add(UNKNOWN_SETS, len(unknown), **words)


ANALYSIS = Analysis(
    function=code_check,
    question="Which items on LEDES matters have codes that the client's system would refuse?",
    summary=(
        "It lists time entries, expenses and fixed fees whose LEDES codes a client's billing system would "
        "refuse. Only matters with LEDES enabled are checked."
    ),
    example=(
        "A matter requires activity and task codes from its code sets. An entry with the task code L100, which is not "
        "selectable, is one finding. An entry without an activity code is another."
    ),
    formula="one row per item and field whose code is missing, unknown, outside the code sets or not selectable",
    left_out=("items on matters without LEDES billing",),
    cannot_tell=("codes of expenses and fixed fees in lists: only single records have them",),
    own=("expenses", "fixed_fees"),
    rows="one row per finding, sorted by date, item, id and field (names and invoice are missing if the items don't "
    "have them):",
    keys=("item", "item_id", "date", *_SHOWN),
    arguments={"start": "By the items' dates."},
    columns=(
        *shared_measures("item", "item_id"),
        Measure("field", "Field", "text", "The field of the finding."),
        Measure("code", "Code", "text", "The code in the field; missing if the field is empty."),
        Measure("problem", "Problem", "text", "The problem of the code."),
    ),
    book=FromBook(
        ends_with_load=False,
        not_passed=("expenses", "fixed_fees"),
        note="The API's lists of expenses and fixed fees have no codes, so a book passes none.",
    ),
)
