"""No pattern on strangers' texts takes time that grows faster than the text."""

from __future__ import annotations

import ast
import importlib
import re
import re._constants as op
import re._parser as parser
import signal
from collections import defaultdict
from pathlib import Path

import pytest

import billframes

ROOT = Path(billframes.__file__).parent
METHODS = {name: name for name in ("search", "match", "fullmatch", "sub")} | dict.fromkeys(
    ("subn", "split", "findall", "finditer"), "sub"
)
CLASSES = {op.CATEGORY_DIGIT: "1", op.CATEGORY_SPACE: " ", op.CATEGORY_WORD: "a", op.CATEGORY_NOT_DIGIT: "a"}
CLASSES |= {op.CATEGORY_NOT_SPACE: "a", op.CATEGORY_NOT_WORD: " "}
REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
# A quadratic pattern takes seconds for so many characters; a linear one, some milliseconds.
LENGTH, SECONDS = 40_000, 0.7


def patterns_of_the_package():
    """Return each pattern once, with the methods with which its module uses it, and where it is."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        if parts[-1] == "__main__":
            continue
        module = importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
        tree = ast.parse(path.read_text(encoding="utf-8"))
        used = defaultdict(set)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in METHODS:
                used[name_of(node.value)].add(METHODS[node.attr])
        others = set().union(*(methods for name, methods in used.items() if name != "re"))
        assigned = {
            node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        for name in sorted(assigned & vars(module).keys()):
            for pattern in held(vars(module)[name]):
                add(found, pattern, used.get(name) or others or {"sub"}, f"{path.name}: {name}")
        for pattern, method, line in literals(tree):
            add(found, pattern, {method}, f"{path.name}: {line}")
    return found


def name_of(value):
    """Return the name with which an expression such as `STYLES[style]` begins."""
    while isinstance(value, ast.Subscript):
        value = value.value
    return value.id if isinstance(value, ast.Name) else ""


def literals(tree):
    """Yield the patterns that are literals in calls such as `re.sub`; others are compiled once, at the top."""
    for call in ast.walk(tree):
        function = call.func if isinstance(call, ast.Call) else None
        is_of_re = isinstance(function, ast.Attribute) and name_of(function.value) == "re" and function.attr in METHODS
        if is_of_re and isinstance(call.args[0], ast.Constant):
            yield re.compile(call.args[0].value), METHODS[function.attr], call.lineno


def add(found, pattern, methods, where):
    kept = found.setdefault((pattern.pattern, pattern.flags), (pattern, set(), where))
    kept[1].update(methods)


def held(value, depth=0):
    """Yield the patterns in a value, also those in collections."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict | list | tuple | set | frozenset) and depth < 4:
        for each in [*value.values(), *value] if isinstance(value, dict) else value:
            yield from held(each, depth + 1)


def in_set(items, char):
    return any(
        ord(char) == value
        if kind is op.LITERAL
        else value[0] <= ord(char) <= value[1]
        if kind is op.RANGE
        else kind is op.CATEGORY and bool(re.match(f"[{CATEGORY_TEXT[value]}]", char))
        for kind, value in items
    )


CATEGORY_TEXT = {op.CATEGORY_DIGIT: r"\d", op.CATEGORY_SPACE: r"\s", op.CATEGORY_WORD: r"\w"}
CATEGORY_TEXT |= {op.CATEGORY_NOT_DIGIT: r"\D", op.CATEGORY_NOT_SPACE: r"\S", op.CATEGORY_NOT_WORD: r"\W"}


def char_of(items):
    """Return a character that a set matches."""
    wanted = items[0][0] is not op.NEGATE
    own = [chr(value if kind is op.LITERAL else value[0]) for kind, value in items if kind in (op.LITERAL, op.RANGE)]
    return next((char for char in [*"a1 -.A_\n(,;é\x01", *own] if in_set(items, char) == wanted), "a")


def sample(items, text, runs):
    """Return a text that the items match; collect what stands before each long repeat, and what it repeats."""
    for kind, value in items:
        if kind in (op.LITERAL, op.NOT_LITERAL):
            text += chr(value) if kind is op.LITERAL else "b"
        elif kind is op.IN:
            text += char_of(value)
        elif kind is op.ANY:
            text += "a"
        elif kind in REPEATS:
            least, most, inner = value
            one = sample(inner, "", [])
            if most >= 20:
                runs.extend((text, char) for char in [one, *chars(inner)] if char)
            sample(inner, text, runs)
            text += one * max(least, 1)
        elif kind in (op.SUBPATTERN, op.ATOMIC_GROUP, op.ASSERT):
            text = sample(value if kind is op.ATOMIC_GROUP else value[-1], text, runs)
        elif kind is op.BRANCH:
            text = max((sample(each, text, runs) for each in value[1]), key=len)
    return text


def chars(items):
    """Yield characters of all parts of a pattern."""
    for kind, value in items:
        if kind is op.LITERAL:
            yield chr(value)
        elif kind is op.IN:
            yield char_of(value)
            for each, inner in value:
                yield from [chr(inner)] if each is op.LITERAL else [CLASSES[inner]] if each is op.CATEGORY else []
        elif kind is op.ANY:
            yield from "a "
        elif kind in REPEATS:
            yield from chars(value[2])
        elif kind in (op.SUBPATTERN, op.ATOMIC_GROUP):
            yield from chars(value if kind is op.ATOMIC_GROUP else value[-1])
        elif kind is op.BRANCH:
            for each in value[1]:
                yield from chars(each)


def hostile_texts(pattern):
    """Yield long runs of the characters that a pattern repeats, after what it needs before them, and of all others."""
    tree = list(parser.parse(pattern.pattern, pattern.flags))
    runs = []
    whole = sample(tree, "", runs)
    letters = list(dict.fromkeys(chars(tree)))[:10]
    pairs = [one + other for one in letters for other in letters]
    texts = {(before, run, end) for before, run in runs for end in ("", "\0", "!")}
    texts |= {("", run, "\0") for run in [*letters, *pairs, whole, whole[:-1], *(whole + each * 3 for each in letters)]}
    for before, run, end in sorted(texts):
        if run:
            text = before + run * (LENGTH // len(run)) + end
            yield text if isinstance(pattern.pattern, str) else text.encode("utf-8", "replace")


class TooSlowError(Exception):
    pass


def stop(*_):
    raise TooSlowError


def first_slow_text(pattern, methods):
    previous = signal.signal(signal.SIGVTALRM, stop)
    try:
        for text in hostile_texts(pattern):
            for method in sorted(methods):
                signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
                try:
                    getattr(pattern, method)(*([text[:0]] if method == "sub" else []), text)
                except TooSlowError:
                    return f"{method} takes more than {SECONDS} s for {text[:60]!r}"
                finally:
                    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        return None
    finally:
        signal.signal(signal.SIGVTALRM, previous)


@pytest.mark.slow
def test_no_pattern_takes_longer_than_in_proportion_to_the_text():
    patterns = patterns_of_the_package()
    assert len(patterns) > 120
    slow = {place: first_slow_text(pattern, methods) for pattern, methods, place in patterns.values()}
    assert {place: text for place, text in slow.items() if text} == {}


@pytest.mark.slow
@pytest.mark.parametrize("text", [r"\s+report$", r"(\d+)\.?(\d*)x"])
def test_a_quadratic_pattern_would_be_found(text):
    assert first_slow_text(re.compile(text), {"search"}) is not None
