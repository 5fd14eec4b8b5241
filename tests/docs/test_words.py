"""Docstrings, comments, messages and docs are in plain English: phrases that must be read twice do not come back."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Still to be reworded; what is listed here is not checked.
PENDING: tuple[str, ...] = ()
# A module's docstring says what the module does or holds: "Keep request URLs out of logs", not "What of a request is…".
RIDDLE = re.compile(r"(What|Which|Who|Whose|How|Where|Whatever|Whoever|From) ")
# A phrase, and what to write in its place.
PHRASES = {
    r"told apart": "distinguished, separated",
    r"(?<!to )\bgo(es)? before\b": "takes precedence over",
    r"(?<!there )(?<!There )\b(is|are|was|were) no (?!longer|more|less|later|earlier|limit)[a-z]": "is not a",
    r"\basked for are\b": "the requested … are",
    r"\b[Tt]he one door\b": "converts",
    r"\bLooks what became\b": "finds out whether",
    r"\bstays? \w+ where\b": "stays … if",
    r"\bNobody has a turn\b": "check again after waiting",
    r"\bcounted the whole list alike\b": "reported the same total",
    r"\bsays something wins\b": "each setting is taken from the first source that has it",
    r"\bclears what may be null\b": "clears a nullable field",
    r"\bis not a ratio of\b": "don't divide one by the other",
    r"\band (its|their) kin\b": "and the like",
    r"\bhas no say\b": "is ignored",
    r"\bNone where\b": "None if",
    r"\bwhere (not given|none is given)\b": "if omitted",
    r"\bwhere (it|there|they|none|nothing|nobody) (is|are|was|were|has|have) (no\b|none|not|nothing|left|given)": "if",
    r"\bnobody knows\b": "is unknown",
    r"\bif it is none\b": "if it is not one",
    r"\b([Aa]|[Oo]ne) (row|page|file|sheet|line|request|column|test|record) an? [a-z]+": "one row per …",
    r"\b(once|one) a (process|load|refresh|bill|session|run)\b": "once per …",
    r"\b(asks?|asked|asking) away\b": "excludes, excluded",
    r"\b(says?|said|saying|tells?|told) of\b": "states, describes",
    r"\b(is|are|was|were) told\b": "receives, is shown",
    r"\b[Tt]he wire\b": "the API",
    r"\banew\b": "again",
    r"\bas ever\b": "as usual",
    r"\bas (it|they) stands?\b": "unchanged, as it is",
    r"\b(go|goes|went|going) on\b": "continues",
    r"\bat hand\b": "available",
    r"\bjust (so|what)\b": "leave it out",
    r"\b(mend|mends|mended|mending)\b": "correct, repair",
    r"\bpass(ed|es) over\b": "skip, ignore",
    r"\b(with no|without a) word\b": "without a warning",
    r"\bwitness(es)?\b": "check, evidence",
    r"\bbeneath\b": "below, before",
    r"\bwhat (is|are) asked\b": "the requested …",
    r"\b[Bb]illed fees\b": "fees billed",
}


def is_pending(path: Path) -> bool:
    return path.relative_to(ROOT).as_posix().startswith(PENDING)


MODULES = [path for path in sorted((ROOT / "billframes").rglob("*.py")) if not is_pending(path)]
PAGES = [
    path
    for path in (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")))
    if "generated" not in path.parts and not is_pending(path)
]


def texts(path: Path) -> list[tuple[int, str]]:
    """Lines of a page; strings and comments of a module."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return list(enumerate(source.splitlines(), 1))
    strings = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = [(each.start[0], each.string.lstrip("# ")) for each in tokens if each.type == tokenize.COMMENT]
    return [(node.lineno, node.value) for node in strings if isinstance(node.value, str)] + comments


def test_a_modules_docstring_states_its_purpose():
    openings = {path: ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) for path in MODULES}
    assert [path for path, opening in openings.items() if not opening or RIDDLE.match(opening)] == []


def test_no_phrase_is_hard_to_read():
    found = [
        f"{path.relative_to(ROOT)}:{line}: {phrase.group()!r}: {better}"
        for path in (*PAGES, *MODULES)
        for line, text in texts(path)
        for pattern, better in PHRASES.items()
        for phrase in [re.search(pattern, " ".join(text.split()))]
        if phrase
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "rows told apart by key",
        "'x' is no folder",
        "None where it failed",
        "goes before",
        "What of a request is seen by others…",
        "The one door between users' frames and the analyses.",
        "What repeats is kept once.",
        "What belongs together: the requests of one load, which end together.",
        "Looks what became of a write: an answer where it happened…",
        "Those of `coded` stay enums where they are that…",
        "Nobody has a turn before it comes…",
        "How many records came that were not here, or not in that version.",
        "Who spent it; the firm where it is left out.",
        "every answer of a key cover counted the whole list alike, as many as came",
        "the first of these that says something wins, each by itself",
        "A null clears what may be null and keeps what may not",
        "about different work, so one is not a ratio of the other",
        "A row a matter, and a column a bucket.",
        "Start the bundled sandbox, once a process.",
        "Return the names asked for and those asked away.",
        "What a frame says of its load.",
        "What a load tells its progress to: it is told rows done and in all.",
        "Check a loader's arguments and put them into the wire's words.",
        "Return the page with its generated part made anew.",
        "Type checkers read it as it stands.",
        "The reader goes on as if the server had granted fewer.",
        "tax, an increase and items that are not at hand look the same",
        "Return a pandas frame that counts as loaded just so.",
        "codes are mended while the work is fresh",
        "with `matter_id`, `client_id` or `user_id`; those it lacks are passed over",
        "Values that are unknown never change a figure without a word.",
        "Ask the sandbox's own database: the other witness.",
        "So nothing is taken away beneath a spread.",
        "Other errors are shown as ever.",
        "Settlement is the part of the billed fees that is no longer open.",
    ],
)
def test_the_phrases_are_found(text):
    assert RIDDLE.match(text) or any(re.search(pattern, text) for pattern in PHRASES)
