"""Docs, docstrings, comments and messages are in plain English: phrases that must be read twice do not come back."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
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
    r"\bthe worth\b|\bworth of\b": "value",
    r"\b(alone|hours) (changed|moved) (it|them) by\b": "More hours explain 167,458 of it",
    r", of which (…|[\d,.]+) for\b": "name the part in a sentence of its own",
    r"\bbeside last (month|year)\b": "the month, the month before",
    r"\bthese invoices have none\b": "say what the invoices lack",
    r"\bcounted leaves out\b|\bcounts leave out\b": "… is not counted",
    r"\b(has|have|of|on) (its|their) own date\b": "Hours count on the day of work, fees on the day of the invoice",
    r"\bas calculated by (its|their) own\b": "name the analysis",
    r"\bis not changed since (its|their) own\b": "say what the server does",
    r"\bare sent as described\b": "… have their client",
    r"\bfigures of one day\)": "needs a day, not a period",
    r"\bof an open period\b|\bleaves an end open\b": "needs a first and a last day, such as …",
    r"\bcounts? as no rows\b": "is treated as empty",
    r"\bboth [\w ]+ by \w+ and by its\b": "must differ as text and as a number",
    r"\bfilters take (whole|shares)\b": "filters keep whole invoices",
    r"\bOf lazy frames\b": "From lazy frames, only sums are collected",
    r"\bbring nothing new\b|\bas soon as as\b": "returns no new records",
    r"\band so do the users\b": "as do, also",
    r"\bWhether \w+ \w+ are left out\b": "Skip … if true",
    r"\bwould mislead outside\b": "say where the title is used",
    r"\bno row of totals\b": "Totals are a separate call, without `by`.",
    r"\binvoices? of fixed fees only\b": "an invoice with only fixed fees",
    r"\bLittle of\b|\blittle of recent\b": "Recent invoices are mostly still open.",
    r"\bbears? only (its|their)\b": "is split between",
    r"(?<!changed)(?<!cut), on purpose\b": "left out deliberately",
    r"\b(is|are) only a question\b": "may be wrong; check it",
    r"\btime belong to no matter\b": "counts for the client, not for a matter",
    r"\bwho may have left\b": "Nobody recorded time for them.",
    r"\b[Aa] sum of your own\b": "Your own SQL may count other records.",
    r"\b(tells?|told) a (cause|problem) once\b": "Each problem is reported once per call.",
    r"\b[Hh]eads do not add up\b": "One person can be in several rows.",
    r"\bagainst what came\b": "compared with what came in",
    r"\bbooks would show\b": "no ledger: cash is not known",
    r"\bmissing in the time of\b": "Ada Stone's time lacks 35 hours.",
    r"\b1 (time entries|invoices|matters|people|days|items|rows)\b": "1 time entry",
}
OLD = (
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
    "hours alone changed them by +167,458.",
    "538,647 is 91 days old or more, of which 296,743 for Miriam Harrow.",
    "The month beside last month and the same month a year ago",
    "Time on contingency matters is left out; these invoices have none.",
    "Work in progress counted leaves out contingency matters",
    "Credits are deducted in the column of their own date",
    "in one row, as calculated by their own analyses",
    "strict: a record is not changed since its own modified date",
    "the client of matters and the invoice of items are sent as described",
    "an analysis with a period (balances and work in progress are figures of one day).",
    "A single day without `end` is the first day of an open period.",
    "start='2026-10', end=None leaves an end open; x needs both",
    "None counts as no rows, with a warning",
    "A run of digits must differ both digit by digit and by its value.",
    "client filters take whole invoices, and other filters take shares after the allocation.",
    "Of lazy frames only sums are collected.",
    "If a count between two catch-ups that bring nothing new equals the number",
    "as soon as as many records were received as every page counted",
    "if they worked for clients, and so do the users passed.",
    "Whether missing values are left out of the sum.",
    "Other names in the legend, for titles that would mislead outside the table.",
    "Each figure has its own date",
    "There is no row of totals, because a sum of the column would count it",
    "An invoice of fixed fees only has no billing realization",
    "Little of recent invoices is settled yet",
    "time bears only its share of a discount",
    "Not part of a figure, on purpose.",
    "A flag is only a question",
    "Fees of an invoice without billable time belong to no matter, even if the invoice names one",
    "people without entries, who may have left",
    "A sum of your own is not the library's figure",
    "Each call tells a cause once",
    "Heads do not add up",
    "a range that is not yet checked against what came",
    "the firm's books would show the cash",
    "35.0 hours are missing in the time of 1 person",
    "This table adds up the worth of billed work less the fees billed",
)
# Most texts have none of the phrases: one search of a whole text decides.
ANY = re.compile("|".join(f"(?:{each})" for each in PHRASES))


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Paragraphs of a page or a template, cells of a notebook; docstrings, comments and messages of a module."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        yield from enumerate("".join(cell["source"]) for cell in json.loads(source)["cells"])
    elif path.suffix != ".py":
        for paragraph in re.finditer(r"(?:.+\n?)+", source):
            yield source.count("\n", 0, paragraph.start()) + 1, paragraph.group()
    else:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.JoinedStr):
                parts = [str(each.value) if isinstance(each, ast.Constant) else "…" for each in node.values]
                yield node.lineno, "".join(parts)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.lineno, node.value
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string.lstrip("# ")


def modules() -> list[Path]:
    return sorted((ROOT / "billframes").rglob("*.py"))


def test_each_modules_docstring_states_its_purpose():
    openings = {path: ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) for path in modules()}
    assert [str(path) for path, opening in openings.items() if not opening or RIDDLE.match(opening)] == []


def test_docs_docstrings_and_messages_have_no_phrase_that_is_hard_to_read():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "notebooks").glob("*.ipynb")]
    pages += [path for end in ("html", "css", "j2") for path in (ROOT / "billframes").rglob(f"*.{end}")]
    found = [
        f"{path.relative_to(ROOT)}:{place}: {phrase.group()!r}: {better}"
        for path in [*sorted(pages), *modules()]
        if "generated" not in path.parts
        for place, text in ((place, " ".join(text.split())) for place, text in texts(path))
        if ANY.search(text)
        for pattern, better in PHRASES.items()
        for phrase in re.finditer(pattern, text)
    ]
    assert not found, "\n".join(found)


def test_the_phrases_are_found():
    assert [text for text in OLD if not RIDDLE.match(text) and not ANY.search(text)] == []
