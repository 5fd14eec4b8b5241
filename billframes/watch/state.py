"""The state of a watch: its last report, whether it was printed, and the figures that the next one compares with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from billframes._shared.export import write
from billframes.analysis.results.figure_names import find_figure
from billframes.config.watch import CHANGES, LAST_RUN, Rule
from billframes.errors import MirrorError
from billframes.report import rules
from billframes.watch.look import Named, Seen, limit_of, verb_of, what_of

# Increased when the state or the report changes in such a way that an older billframes would misread it.
FORMAT = 1
_NAME = "state.json"


class Finding(msgspec.Struct):
    """What holds: the rule as in the settings, the id and name of its group, the day since which, and the sentence."""

    rule: dict[str, Any]
    key: str
    name: str
    value: float
    before: float | None
    since: str
    text: str

    @property
    def identity(self) -> tuple[str, str]:
        """What is the same in two reports."""
        return str(self.rule), self.key


class Unchecked(msgspec.Struct):
    """A rule that could not be checked, and why."""

    rule: dict[str, Any]
    text: str


class Report(msgspec.Struct):
    """One report: `watch` is its number, `data` the day of the data, and `again` whether it may have been read."""

    format: int
    watch: int
    again: bool
    mirror: str
    version: int
    data: str
    currency: str
    new: list[Finding]
    still: list[Finding]
    ended: list[Finding]
    unchecked: list[Unchecked]
    notes: list[str]


class State(msgspec.Struct):
    """The last report, and the figures of rules against the last run: the rule, and the figures by key."""

    format: int
    printed: bool
    report: Report
    figures: list[tuple[dict[str, Any], Named]]


class _Format(msgspec.Struct):
    format: int


def read_state(folder: Path) -> State | None:
    """Read the state; None before the first watch. Raise `MirrorError` if it can't be used."""
    file = folder / _NAME
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return None
    try:
        written = msgspec.json.decode(content, type=_Format).format
        if written <= FORMAT:
            return msgspec.json.decode(content, type=State)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise MirrorError(
            f"{file} is damaged. Restore it, or remove it: the next watch then reports all that holds as new."
        ) from error
    raise MirrorError(
        f"{file} was written by a later release of billframes (format {written}, this one reads up to {FORMAT}). "
        "Upgrade billframes; nothing was changed."
    )


def write_state(folder: Path, state: State) -> None:
    """Write the state as a whole or not at all."""
    write(folder / _NAME, msgspec.json.encode(state), private=True, durable=True)


def figures_of_last(state: State | None, watched: Iterable[Rule]) -> dict[Rule, Named]:
    """Return the figures of the last run by rule."""
    known = {str(rule): figures for rule, figures in (state.figures if state else [])}
    return {rule: known[name] for rule in watched if (name := str(declared(rule))) in known}


def next_state(seen: Seen, last: State | None, watched: Sequence[Rule], about: Mapping[str, Any]) -> State:
    """Compare what holds with the last report."""
    before = {each.identity: each for each in ([*last.report.new, *last.report.still] if last else [])}
    # A rise since the last run is over in the next one.
    before = {name: each for name, each in before.items() if each.rule.get("against") != LAST_RUN}
    new, still, ended = list[Finding](), list[Finding](), list[Finding]()
    for held in seen.holding:
        found = Finding(
            rule=declared(held.rule), key=held.key, name=held.name, value=held.value, before=held.before,
            since=seen.day.isoformat(), text=held.text,
        )  # fmt: skip
        known = before.pop(found.identity, None)
        found.since = known.since if known else found.since
        (still if known else new).append(found)
    unchecked = [Unchecked(declared(rule), text) for rule, text in seen.unchecked.items()]
    by_name = {str(declared(rule)): rule for rule in watched}
    for each in before.values():
        rule = by_name.get(str(each.rule))
        if rule in seen.unchecked:
            still.append(each)
        else:
            ended.append(msgspec.structs.replace(each, text=_ended(each, rule, seen)))
    earlier = figures_of_last(last, watched)
    figures = [
        (declared(rule), seen.figures.get(rule, {}) or earlier.get(rule, {}))
        for rule in watched
        if rule.against == LAST_RUN
    ]
    number = last.report.watch + 1 if last else 1
    report = Report(
        format=FORMAT, watch=number, again=False, data=seen.day.isoformat(), new=new, still=still, ended=ended,
        unchecked=unchecked, notes=seen.notes, **about,
    )  # fmt: skip
    return State(format=FORMAT, printed=False, report=report, figures=figures)


def declared(rule: Rule) -> dict[str, Any]:
    """Return what a rule has beyond the defaults."""
    usual = vars(Rule())
    return {name: value for name, value in vars(rule).items() if value != usual[name]}


def _ended(finding: Finding, rule: Rule | None, seen: Seen) -> str:
    """Say what is now, if the figure is known; else repeat what was."""
    if rule is None:
        return f"{finding.text} (Its rule is no longer in the settings.)"
    if finding.key not in seen.figures.get(rule, {}):
        return finding.text
    value = seen.figures[rule][finding.key][1]
    what, unit = what_of(rule, finding.name), find_figure(rule.figure).measure.unit
    if rule.how in CHANGES:
        return f"{what} {verb_of(rule)} {rules.number(value, unit)}; it no longer stands out."
    return rules.beyond(what, value, unit, f"no longer {limit_of(rule)}", verb=verb_of(rule))
