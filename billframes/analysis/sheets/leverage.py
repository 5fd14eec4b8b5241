"""Leverage: client hours, and people, for each hour, and each person, of the principals."""

from __future__ import annotations

from typing import Any, Literal

from billframes.analysis.data.call import Call
from billframes.analysis.data.engine import collect_counts
from billframes.analysis.data.expressions import RESIDUE, C, as_float, value_if
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import ENUMS, UNKNOWN, Frame
from billframes.analysis.declare.metrics import Measure, ratio_measure, sum_measure
from billframes.analysis.declare.spec import Analysis, ChartSpec, FromBook, TableSpec
from billframes.analysis.keys.by import By, names_in
from billframes.analysis.keys.groupby import Keys
from billframes.analysis.rules.loads import need_period
from billframes.analysis.rules.people import UNKNOWN_ROLE
from billframes.errors import MissingColumnError
from billframes.periods import DateLike

_HOURS = ("principal_hours", "non_principal_hours", "unknown_role_hours")
_HEADS = ("principals", "non_principals", "unknown_role_people")
_ROLE = C("role").fill_null(UNKNOWN)
_PRINCIPAL, _NO_ROLE = _ROLE == "principal", ~_ROLE.is_in(ENUMS["role"])
_ROLES = (_PRINCIPAL, ~_PRINCIPAL & ~_NO_ROLE, _NO_ROLE)
_FIGURES = {name: ("client_hours", value_if(role, "client_hours")) for name, role in zip(_HOURS, _ROLES, strict=True)}


@sheet("time_entries", "matters?", "users?", "clients?")
def leverage(
    call: Call,
    *,
    start: DateLike,
    end: DateLike | None = None,
    by: By = None,
    include_fixed_fee: bool = True,
    include_probono: bool = False,
    roster: Literal["timekeepers", "active"] = "timekeepers",
) -> Frame:
    """
    Client hours of non-principals ÷ client hours of principals, and the same ratio of people.

    Client hours are those of `utilization`. People count with client hours only. Everyone whose role is known and is
    not principal is a non-principal, for example also an accountant. People of unknown role are in separate columns and
    in neither ratio.

    Parameters
    ----------
    time_entries : frame
        With `date`, `user_id`, `matter_id`, `hours` and `billing_type`; of any period, it is filtered here.
    users : frame, optional
        With `user_id`, `name` and `role`. Required unless the settings have `roles`, or the entries have a column
        `user_role`.

    Examples
    --------
    >>> entries = pd.DataFrame({
    ...     "date": pd.to_datetime(["2026-10-01"] * 3), "user_id": ["u1", "u2", "u3"],
    ...     "matter_id": ["m1"] * 3, "hours": [10.0, 24.0, 6.0], "billing_type": ["billable"] * 3,
    ... })
    >>> matters = pd.DataFrame({"matter_id": ["m1"], "matter_type": ["hourly"]})
    >>> users = pd.DataFrame({
    ...     "user_id": ["u1", "u2", "u3"], "name": ["Ada", "Ben", "Cy"],
    ...     "role": ["principal", "attorney", "paralegal"],
    ... })
    >>> leverage(entries, start="2026-10", users=users, matters=matters)[
    ...     ["principal_hours", "non_principal_hours", "hours_leverage", "heads_leverage"]]
       principal_hours  non_principal_hours  hours_leverage  heads_leverage
    0             10.0                 30.0             3.0             2.0
    """
    need_period(call, ("time_entries",), call.period(start, end), ("user_id",))
    keys, names = Keys.of(call, by), names_in(by)
    entries, users = call.columns("time_entries"), call.columns("users")
    if not ("role" in users or "user_role" in entries or call.settings.roles):
        raise MissingColumnError(
            "leverage needs to know who is a principal: pass users= with 'user_id' and 'role' (from the loader "
            "users()), or settings with roles."
        )
    options: dict[str, Any] = {"start": start, "end": end, "roster": roster}
    options |= {"include_fixed_fee": include_fixed_fee, "include_probono": include_probono}
    people = call.ask("utilization", by=[*names, "user", "role"], figures=_FIGURES, **options)
    totals = keys.combine([_by_role(people)], (*_HOURS, *_HEADS))
    hours = C("unknown_role_hours")
    count = collect_counts((totals, {"hours": value_if(~hours.is_nan(), hours).sum()}))
    call.notes.add(UNKNOWN_ROLE, count["hours"])
    return keys.labelled(totals, ANALYSIS.measure_names, named=True)


def _by_role(people: Frame) -> Frame:
    """Count each person in the column of their role."""
    counts = C("client_hours").abs() > RESIDUE
    heads = {name: as_float(role & counts) for name, role in zip(_HEADS, _ROLES, strict=True)}
    return people.with_columns(**heads, role=_ROLE)


ANALYSIS = Analysis(
    function=leverage,
    by_period=False,
    question="How many client hours do non-principals work for each hour of a principal?",
    summary=(
        "It divides the client hours of everyone else by the client hours of principals. It also divides the number of "
        "other people by the number of principals."
    ),
    example="A principal has 10 client hours, an attorney 24 and a paralegal 6: 3 hours to one, and 2 people to one.",
    formula="client hours of non-principals ÷ client hours of principals; people: non-principals ÷ principals",
    numerator="client hours (or number) of everyone with client hours whose role is known and is not principal",
    denominator="client hours (or number) of principals",
    left_out=("people of unknown role: they are in `unknown_role_hours` and `unknown_role_people`",),
    cannot_tell=("the earlier role of a person: roles are those of today, or of the settings",),
    own=("users",),
    arguments={"settings": "`roles` take precedence over the users list."},
    columns=(
        sum_measure("principal_hours", "Principals’ hours", "hours", "Client hours of principals."),
        sum_measure(
            "non_principal_hours",
            "Non-principals’ hours",
            "hours",
            "Client hours of everyone whose role is known and is not principal.",
        ),
        sum_measure(
            "unknown_role_hours", "Hours of unknown role", "hours", "Client hours of people whose role is unknown."
        ),
        ratio_measure(
            "hours_leverage",
            "Leverage in hours",
            "non_principal_hours / principal_hours",
            unit="multiple",
        ),
        Measure("principals", "Principals", "count", "Principals with client hours in the row."),
        Measure(
            "non_principals", "Non-principals", "count", "People of another known role with client hours in the row."
        ),
        Measure("unknown_role_people", "People of unknown role", "count", "People whose role is unknown."),
        Measure(
            "heads_leverage",
            "Leverage in people",
            "multiple",
            "Number of non-principals ÷ number of principals.",
            parts=("non_principals", "principals"),
        ),
    ),
    table=TableSpec(
        title="Leverage",
        columns=(
            *("principal_hours", "non_principal_hours", "hours_leverage", "principals", "non_principals"),
            *("heads_leverage", "unknown_role_hours", "unknown_role_people"),
        ),
    ),
    chart=ChartSpec(
        kind="stacks",
        title="Client hours of principals and non-principals, and their ratio",
        columns=("principal_hours", "non_principal_hours", "unknown_role_hours"),
        words=["{hours_leverage}"],
        unless_zero=("unknown_role_hours",),
        shows="client hours of principals (pale), of non-principals, and of people of unknown role (dark).",
        more="The text beside a bar is non-principals' hours ÷ principals' hours, without people of unknown role.",
    ),
    book=FromBook(),
)
