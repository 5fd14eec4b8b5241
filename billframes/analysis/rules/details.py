"""Note keys that only some of the frames have."""

from __future__ import annotations

from collections.abc import Mapping

from billframes._shared.names import join_names
from billframes._shared.notes import Amount, Rule
from billframes.analysis.data.engine import collect_counts
from billframes.analysis.data.expressions import C, value_if
from billframes.analysis.declare.columns import Frame
from billframes.analysis.keys.groupby import Keys

_A_CENT = 0.005
_KINDS = {"time_entries": "time", "expenses": "expense", "fixed_fees": "fixed_fee", "invoices": "fees"}
_WORDS = {
    "time_entries": "time",
    "expenses": "expenses",
    "fixed_fees": "fixed fees",
    "invoices": "fees of invoices without time (such as credit notes)",
}
_DETAILS_NOT_IN_ALL = Rule(
    name="details_not_in_all",
    seen="{subject}: {column} is not a column of {frames}, so {parts} are in the row without a value.",
    remedy="Pass `{supplier}`= (the loader {supplier}()), from which all rows get the value.",
    unit="money",
)


def note_details(keys: Keys, rows: Frame, amounts: Mapping[str, str]) -> None:
    """
    Note keys that only some of the frames have, such as a client's custom field joined to the time entries only.

    `rows` are those of `work` that count. `amounts` are the frames whose rows can lack a key, each with the column of
    its amounts.
    """
    details = {each: frame for key in keys.keys for each, frame in key.details.items()}
    for column, supplier in details.items():
        if column == "matter_type" and column in keys.call.columns("matters"):
            continue
        lacking = [name for name in keys.sources.kinds_without(column) if name in amounts]
        id_ = f"{supplier.removesuffix('s')}_id"
        of_kind = {name: (C("kind") == _KINDS[name]) & ~C(id_).is_null() for name in lacking}
        sums = collect_counts((rows, {name: value_if(each, amounts[name]).sum() for name, each in of_kind.items()}))
        parts = [f"{_WORDS[name]} of {Amount(sums[name]):,.2f}" for name in lacking if abs(sums[name]) >= _A_CENT]
        if parts:
            frames = join_names([f"`{each}`" for each in lacking])
            words = {"column": f"`{column}`", "frames": frames, "supplier": supplier, "parts": join_names(parts)}
            total = sum(abs(sums[name]) for name in lacking)
            keys.call.notes.add(_DETAILS_NOT_IN_ALL, total, about=column, **words)
